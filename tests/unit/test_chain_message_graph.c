/* Questions about the graph and their answers: both ways, and every field of an answer wrong in turn (those of questions:
 * tests/integration/node/graph.py). */
#include "test_chain_message.h"

static const uint8_t some[] = "here";
static const pctl_msg_bytes proofs[] = {{some, 4}, {some, 1}};
static const pctl_msg_graph_input inputs[] = {{3, 0, CID, ID_A}, {6, 0, "job:" ID_A, ID_A}};
static const pctl_msg_graph_rank ranks[] = {{"a", 7}, {"b", 0}};

static pctl_request edges(void)
{
	return (pctl_request){.kind = PCTL_MSG_GRAPH,
			      .as.graph = {.op = PCTL_GRAPH_EDGES,
					   .role = PCTL_EDGE_ROLE_VIA,
					   .kinds = PCTL_MESSAGE_KINDS_MAX,
					   .limit = PCTL_MESSAGE_GRAPH_PROVED,
					   .name = "account:ada",
					   .height = 4,
					   .from_clock = 1,
					   .to_clock = INT64_MAX,
					   .next = {some, 4},
					   .prove = 1}};
}

static pctl_request others(uint32_t op, const char *name)
{
	return (pctl_request){.kind = PCTL_MSG_GRAPH, .as.graph = {.op = op, .name = name}};
}

static pctl_msg_graph_edge an_edge(void)
{
	return (pctl_msg_graph_edge){9, 2, 3, 7, 1, CID, CID, "account:ada", ""};
}

static pctl_msg_graph_job a_job(void)
{
	return (pctl_msg_graph_job){.job_id = ID_A,
				    .sender = "ada",
				    .shader_cid = CID,
				    .output_cid = CID,
				    .error = "",
				    .gas_used = 5,
				    .clock = 6,
				    .height = 7,
				    .ended = 8,
				    .inputs = inputs,
				    .n_inputs = 2,
				    .status = PCTL_JOB_COMPLETE};
}

/* Those of one edge or one job, which live until the next call. */
static pctl_response with_edge(pctl_msg_graph_edge e)
{
	static pctl_msg_graph_edge kept;

	kept = e;
	return (pctl_response){.kind = PCTL_MSG_GRAPH,
			       .as.graph = {.height = 3,
					    .edges = &kept,
					    .ranks = ranks,
					    .proofs = proofs,
					    .n_edges = 1,
					    .n_ranks = 2,
					    .n_proofs = 2,
					    .next = {some, 4}}};
}

static pctl_response with_job(pctl_msg_graph_job j)
{
	static pctl_msg_graph_job kept;

	kept = j;
	return (pctl_response){.kind = PCTL_MSG_GRAPH,
			       .as.graph = {.height = 3, .cut = 1, .jobs = &kept, .n_jobs = 1}};
}

static void test_chain_message_graph__good_messages_pass_both_ways(void **state)
{
	pctl_request q[] = {edges(), others(PCTL_GRAPH_HISTORY, CID),
			    others(PCTL_GRAPH_DEPENDENTS, "job:" ID_A), others(PCTL_GRAPH_JOBS, ""),
			    others(PCTL_GRAPH_RANK, CID)};

	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++)
		request_passes(&q[i]);
	{
		pctl_response edge = with_edge(an_edge()), job = with_job(a_job());
		pctl_response none = {.kind = PCTL_MSG_GRAPH, .as.graph = {.epoch = 5}};

		response_passes(&edge);
		response_passes(&job);
		response_passes(&none);
	}
}

#define WRONG_EDGE(change, code, field)                                      \
	do {                                                                 \
		pctl_msg_graph_edge e = an_edge();                           \
		e.change;                                                    \
		WRONG_RESPONSE(with_edge(e), graph.height = 3, code, field); \
	} while (0)
#define WRONG_JOB(change, code, field)                                      \
	do {                                                                \
		pctl_msg_graph_job j = a_job();                             \
		j.change;                                                   \
		WRONG_RESPONSE(with_job(j), graph.height = 3, code, field); \
	} while (0)

static void test_chain_message_graph__answers_refuse_every_field(void **state)
{
	static const pctl_msg_graph_rank twice[] = {{"a", 1}, {"a", 2}};
	static const pctl_msg_graph_input odd[] = {{3, 0, "a\n", ""}}, of[] = {{3, 0, CID, "x"}};

	(void)state;
	WRONG_EDGE(kind = 10, PC5730_MESSAGE_OPERATION, "graph.edges[0]");
	WRONG_EDGE(kind = 0, PC5730_MESSAGE_OPERATION, "graph.edges[0]");
	WRONG_EDGE(source = "", PC5784_MESSAGE_MISSING, "graph.edges[0]");
	WRONG_EDGE(target = "a\n", PC5788_MESSAGE_TEXT, "graph.edges[0]");
	WRONG_EDGE(number = 0, PC5784_MESSAGE_MISSING, "graph.edges[0]");
	WRONG_EDGE(height = 0, PC5784_MESSAGE_MISSING, "graph.edges[0]");
	WRONG_EDGE(clock = 1ull << 63, PC5793_MESSAGE_NUMBER, "graph.edges[0]");
	WRONG_JOB(job_id = "x", PC5787_MESSAGE_HASH, "graph.jobs[0]");
	WRONG_JOB(status = PCTL_JOB_PENDING, PC5795_MESSAGE_STATUS, "graph.jobs[0]");
	WRONG_JOB(sender = "A", PC5785_MESSAGE_SENDER, "graph.jobs[0]");
	WRONG_JOB(output_cid = "", PC5784_MESSAGE_MISSING, "graph.jobs[0]");
	WRONG_JOB(error = "why", PC5795_MESSAGE_STATUS, "graph.jobs[0]");
	WRONG_JOB(clock = 0, PC5784_MESSAGE_MISSING, "graph.jobs[0]");
	WRONG_JOB(ended = 1ull << 63, PC5793_MESSAGE_NUMBER, "graph.jobs[0]");
	WRONG_JOB(inputs = odd; j.n_inputs = 1, PC5788_MESSAGE_TEXT, "graph.jobs[0]");
	WRONG_JOB(inputs = of; j.n_inputs = 1, PC5787_MESSAGE_HASH, "graph.jobs[0]");
	WRONG_RESPONSE(with_edge(an_edge()), graph.ranks = twice, PC5792_MESSAGE_ORDER,
		       "graph.ranks[1]");
	WRONG_RESPONSE(with_edge(an_edge()), graph.height = 1ull << 63, PC5793_MESSAGE_NUMBER,
		       "graph.height");
	WRONG_RESPONSE(with_edge(an_edge()), graph.next.n = PCTL_MESSAGE_NEXT_MAX + 1u,
		       PC5789_MESSAGE_COUNT, "graph.next");
}

PCTL_TESTS_MAIN(cmocka_unit_test(test_chain_message_graph__good_messages_pass_both_ways),
		cmocka_unit_test(test_chain_message_graph__answers_refuse_every_field))
