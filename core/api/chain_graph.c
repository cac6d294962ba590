/* The chain: questions about what was made from what; see pipectl/chain.h. The answers are the chain's own. */
#include <stdlib.h>

#include "api/chain_private.h"
#include "chain/graph/edges.h"

_Static_assert(PIPECTL_GRAPH_EDGES == PCTL_GRAPH_EDGES &&
		       PIPECTL_GRAPH_HISTORY == PCTL_GRAPH_HISTORY &&
		       PIPECTL_GRAPH_DEPENDENTS == PCTL_GRAPH_DEPENDENTS &&
		       PIPECTL_GRAPH_JOBS == PCTL_GRAPH_JOBS &&
		       PIPECTL_GRAPH_RANK == PCTL_GRAPH_RANK,
	       "operations are the message's");
_Static_assert(PIPECTL_GRAPH_FROM == PCTL_EDGE_ROLE_SOURCE &&
		       PIPECTL_GRAPH_TO == PCTL_EDGE_ROLE_TARGET &&
		       PIPECTL_GRAPH_VIA == PCTL_EDGE_ROLE_VIA &&
		       PIPECTL_GRAPH_BY == PCTL_EDGE_ROLE_JOB &&
		       PIPECTL_GRAPH_BLOCK == PCTL_EDGE_ROLE_BLOCK_MADE,
	       "roles are the message's");
_Static_assert(PIPECTL_EDGE_UPLOAD == PCTL_EDGE_UPLOAD &&
		       PIPECTL_EDGE_IMPLEMENTS == PCTL_EDGE_IMPLEMENTS &&
		       PIPECTL_EDGE_INPUT == PCTL_EDGE_INPUT &&
		       PIPECTL_EDGE_EXECUTED == PCTL_EDGE_EXECUTED &&
		       PIPECTL_EDGE_OUTPUT == PCTL_EDGE_OUTPUT &&
		       PIPECTL_EDGE_PARENT == PCTL_EDGE_PARENT &&
		       PIPECTL_EDGE_LINK == PCTL_EDGE_LINK &&
		       PIPECTL_EDGE_ALIAS == PCTL_EDGE_ALIAS &&
		       PIPECTL_EDGE_DEPRECATED == PCTL_EDGE_DEPRECATED,
	       "kinds are the graph's");

struct pipectl_chain_graph {
	pipectl *p;
	pctl_response answer;
};

static pctl_status take(const pctl_call *call, const pipectl_graph_question *q, pctl_request *out)
{
	*out = (pctl_request){.kind = PCTL_MSG_GRAPH};
	if (q->op < PIPECTL_GRAPH_EDGES || q->op > PIPECTL_GRAPH_RANK)
		return pipectl_misused(call, "there is no such question about the graph");
	if (q->n_next != 0 && q->next == NULL)
		return pipectl_misused(call, "the bytes of `next` are counted, and there are none");
	out->as.graph = (pctl_msg_graph){.op = q->op,
					 .role = q->role,
					 .kinds = q->kinds,
					 .limit = q->limit,
					 .name = q->name == NULL ? "" : q->name,
					 .height = q->height,
					 .from_clock = q->from_clock,
					 .to_clock = q->to_clock,
					 .next = {q->next, q->n_next},
					 .prove = q->proves};
	return pctl_request_check(out, call);
}

pctl_status pipectl_chain_graph_ask(pipectl_chain *c, const pipectl_graph_question *question,
				    pipectl_chain_graph **out)
{
	const pctl_call *call = &c->p->call;
	pipectl_chain_graph *g = NULL;
	pipectl_graph_question q;
	pctl_request r;
	pctl_status status = pipectl_chain_begin(c, NULL, 0);

	*out = NULL;
	if (status == PCTL_OK)
		status = PIPECTL_TAKE(call, &q, question);
	if (status == PCTL_OK)
		status = take(call, &q, &r);
	if (status == PCTL_OK && (g = calloc(1, sizeof(*g))) == NULL)
		status = pctl_no_memory(call, "an answer about the graph");
	if (status == PCTL_OK) {
		g->p = c->p;
		status = pctl_chain_answer(c->chain, &r, call, &g->answer);
	}
	status = pipectl_end(c->p, status);
	if (status == PCTL_OK)
		*out = g;
	else
		pipectl_chain_graph_release(g);
	return status;
}

void pipectl_chain_graph_release(pipectl_chain_graph *g)
{
	if (g == NULL)
		return;
	pctl_response_destroy(&g->answer);
	free(g);
}

/* ---- what it says --------------------------------------------------------------------------- */

static const char *or_none(const char *text)
{
	return text[0] == '\0' ? NULL : text;
}

/* Whether there is an i-th of n: PC0011. */
static pctl_status within(const pipectl_chain_graph *g, uint32_t i, uint32_t n)
{
	const pctl_status status = pipectl_begin(g->p, NULL, NULL);

	return status == PCTL_OK && i >= n
		       ? pipectl_misused(&g->p->call, "the answer ends before that")
		       : status;
}

pctl_status pipectl_chain_graph_page(const pipectl_chain_graph *g, pipectl_graph_page *out)
{
	const pctl_msg_graph_response *m = &g->answer.as.graph;
	const pipectl_graph_page page = {.head = PCTL_HEAD(pipectl_graph_page),
					 .height = m->height,
					 .epoch = m->epoch,
					 .cut = m->cut,
					 .n_edges = m->n_edges,
					 .n_jobs = m->n_jobs,
					 .n_ranks = m->n_ranks,
					 .n_proofs = m->n_proofs,
					 .next = m->next.n == 0 ? NULL : m->next.data,
					 .n_next = m->next.n};
	const pctl_status status = pipectl_begin(g->p, NULL, NULL);

	return status == PCTL_OK ? PIPECTL_GIVE(&g->p->call, out, &page) : status;
}

pctl_status pipectl_chain_graph_edge(const pipectl_chain_graph *g, uint32_t i,
				     pipectl_graph_edge *out)
{
	const pctl_msg_graph_response *m = &g->answer.as.graph;
	pipectl_graph_edge e = {.head = PCTL_HEAD(pipectl_graph_edge)};
	const pctl_status status = within(g, i, m->n_edges);

	if (status != PCTL_OK)
		return status;
	e.number = m->edges[i].number;
	e.height = m->edges[i].height;
	e.clock = m->edges[i].clock;
	e.kind = m->edges[i].kind;
	e.is_gone = m->edges[i].is_gone;
	e.source = m->edges[i].source;
	e.target = m->edges[i].target;
	e.via = or_none(m->edges[i].via);
	e.job = or_none(m->edges[i].job);
	return PIPECTL_GIVE(&g->p->call, out, &e);
}

pctl_status pipectl_chain_graph_job(const pipectl_chain_graph *g, uint32_t i,
				    pipectl_graph_job *out)
{
	const pctl_msg_graph_response *m = &g->answer.as.graph;
	pipectl_graph_job j = {.head = PCTL_HEAD(pipectl_graph_job)};
	const pctl_status status = within(g, i, m->n_jobs);

	if (status != PCTL_OK)
		return status;
	j.id = m->jobs[i].job_id;
	j.sender = m->jobs[i].sender;
	j.shader = m->jobs[i].shader_cid;
	j.output = or_none(m->jobs[i].output_cid);
	j.error = or_none(m->jobs[i].error);
	j.gas_used = m->jobs[i].gas_used;
	j.clock = m->jobs[i].clock;
	j.height = m->jobs[i].height;
	j.ended = m->jobs[i].ended;
	j.state = m->jobs[i].status + PIPECTL_JOB_PENDING;
	j.n_inputs = m->jobs[i].n_inputs;
	return PIPECTL_GIVE(&g->p->call, out, &j);
}

pctl_status pipectl_chain_graph_input(const pipectl_chain_graph *g, uint32_t job, uint32_t i,
				      pipectl_graph_input *out)
{
	const pctl_msg_graph_response *m = &g->answer.as.graph;
	pipectl_graph_input in = {.head = PCTL_HEAD(pipectl_graph_input)};
	pctl_status status = within(g, job, m->n_jobs);

	if (status == PCTL_OK)
		status = within(g, i, m->jobs[job].n_inputs);
	if (status != PCTL_OK)
		return status;
	in.kind = m->jobs[job].inputs[i].kind;
	in.name = m->jobs[job].inputs[i].name;
	in.maker = or_none(m->jobs[job].inputs[i].maker);
	return PIPECTL_GIVE(&g->p->call, out, &in);
}

pctl_status pipectl_chain_graph_rank(const pipectl_chain_graph *g, uint32_t i,
				     pipectl_graph_rank *out)
{
	const pctl_msg_graph_response *m = &g->answer.as.graph;
	pipectl_graph_rank r = {.head = PCTL_HEAD(pipectl_graph_rank)};
	const pctl_status status = within(g, i, m->n_ranks);

	if (status != PCTL_OK)
		return status;
	r.name = m->ranks[i].name;
	r.rank = m->ranks[i].rank;
	return PIPECTL_GIVE(&g->p->call, out, &r);
}

pctl_status pipectl_chain_graph_proof(const pipectl_chain_graph *g, uint32_t i,
				      pipectl_graph_proof *out)
{
	const pctl_msg_graph_response *m = &g->answer.as.graph;
	pipectl_graph_proof proof = {.head = PCTL_HEAD(pipectl_graph_proof)};
	const pctl_status status = within(g, i, m->n_proofs);

	if (status != PCTL_OK)
		return status;
	proof.text = (const char *)m->proofs[i].data;
	proof.n_bytes = m->proofs[i].n;
	return PIPECTL_GIVE(&g->p->call, out, &proof);
}
