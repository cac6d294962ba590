/* `pipectl graph`: edges, histories, what depends on a name, jobs by clock and ranks of neighbours, of this home's chain or of
 * a node's. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chain.h"
#include "chain/graph/edges.h"
#include "chain/node/ask.h"
#include "foundation/base/hex.h"
#include "foundation/base/num.h"

#define TIMEOUT_MS 30000u

/* ---- asking -------------------------------------------------------------------------------- */

static pctl_status read_clocks(pctl_app *app, pctl_msg_graph *q)
{
	const char *text = pctl_option_value(&app->line, "--clocks");
	const char *dots = text == NULL ? NULL : strstr(text, "..");

	if (text == NULL)
		return PCTL_OK;
	if (dots == NULL || !pctl_num_parse_u64(text, (size_t)(dots - text), &q->from_clock) ||
	    !pctl_num_parse_u64(dots + 2, strlen(dots + 2), &q->to_clock) || q->to_clock == 0)
		return pctl_refuse(app->call, PC10_USAGE,
				   "--clocks takes two numbers, as 3..17, not \"%s\"", text);
	return PCTL_OK;
}

static pctl_status read_next(pctl_app *app, pctl_msg_graph *q)
{
	const char *text = pctl_option_value(&app->line, "--next");
	const size_t n = text == NULL ? 0 : strlen(text);
	uint8_t *bytes;

	if (text == NULL)
		return PCTL_OK;
	bytes = pctl_arena_alloc(app->arena, n / 2 + 1);
	if (bytes == NULL)
		return pctl_no_memory(app->call, "a question");
	if (n == 0 || n % 2 != 0 || !pctl_hex_parse(text, n / 2, bytes))
		return pctl_refuse(app->call, PC10_USAGE,
				   "--next takes the hex digits that an "
				   "answer ended with");
	q->next = (pctl_msg_bytes){bytes, n / 2};
	return PCTL_OK;
}

static pctl_status read_kinds(pctl_app *app, pctl_msg_graph *q)
{
	const char *word;

	for (uint32_t i = 0; (word = pctl_option_at(&app->line, "--kind", i)) != NULL; i++) {
		uint32_t kind = 1;

		while (pctl_edge_name(kind) != NULL && strcmp(pctl_edge_name(kind), word) != 0)
			kind++;
		if (pctl_edge_name(kind) == NULL)
			return pctl_refuse(
				app->call, PC10_USAGE,
				"--kind takes upload, implements, input, executed, output, "
				"parent, link, alias or deprecated, not \"%s\"",
				word);
		q->kinds |= 1u << kind;
	}
	return PCTL_OK;
}

/* What of the edges is named: at most one of these. */
static pctl_status read_role(pctl_app *app, pctl_msg_graph *q)
{
	static const char *const options[] = {"--from", "--to", "--via", "--job", "--block"};
	const char *block = pctl_option_value(&app->line, "--block");

	for (uint32_t i = 0; i < 5; i++) {
		const char *value = pctl_option_value(&app->line, options[i]);

		if (value == NULL)
			continue;
		if (q->role != 0)
			return pctl_refuse(app->call, PC10_USAGE,
					   "give one of --from, --to, --via, --job and --block");
		q->role = i + 1;
		q->name = value;
	}
	if (block == NULL)
		return PCTL_OK;
	if (pctl_option_has(&app->line, "--height"))
		return pctl_refuse(app->call, PC10_USAGE, "--block says the height");
	q->name = "";
	return pctl_app_number(app, "--block", 0, &q->height);
}

static pctl_status read_question(pctl_app *app, uint32_t op, pctl_msg_graph *q)
{
	uint64_t limit = 0;
	pctl_status status = pctl_app_number(app, "--limit", 0, &limit);

	*q = (pctl_msg_graph){.op = op,
			      .name = app->line.n_arguments == 0 ? "" : app->line.arguments[0]};
	if (status == PCTL_OK && limit > PCTL_MESSAGE_GRAPH_MAX)
		return pctl_refuse(app->call, PC10_USAGE, "--limit takes at most %u",
				   PCTL_MESSAGE_GRAPH_MAX);
	q->limit = (uint32_t)limit;
	if (status == PCTL_OK)
		status = pctl_app_number(app, "--height", 0, &q->height);
	if (status == PCTL_OK)
		status = read_next(app, q);
	if (status == PCTL_OK && (op == PCTL_GRAPH_EDGES || op == PCTL_GRAPH_JOBS))
		status = read_clocks(app, q);
	if (status == PCTL_OK && op == PCTL_GRAPH_EDGES)
		status = read_kinds(app, q);
	return status == PCTL_OK && op == PCTL_GRAPH_EDGES ? read_role(app, q) : status;
}

static pctl_status ask_node(pctl_app *app, const char *path, const pctl_request *r,
			    pctl_response *out)
{
	const char *why = "";
	int fd;
	const int ok =
		pctl_ask_open(path, &fd, &why) && pctl_ask(fd, r, TIMEOUT_MS, app->call, out, &why);

	if (fd >= 0)
		close(fd);
	if (!ok)
		return pctl_refuse(app->call, PC5839_DATA_PEER, "%s: %s", path, why);
	if (out->kind == PCTL_MSG_ERROR)
		return pctl_refuse(app->call, out->as.error.code, "%s", out->as.error.message);
	return out->kind == PCTL_MSG_GRAPH ? PCTL_OK
					   : pctl_refuse(app->call, PC5839_DATA_PEER,
							 "%s: it answered another question", path);
}

static pctl_status ask_home(pctl_app *app, const pctl_request *r, pctl_response *out)
{
	pctl_chain *c = NULL;
	pctl_status status = pctl_app_chain(app, NULL, &c);

	if (status == PCTL_OK)
		status = pctl_chain_answer(c, r, app->call, out);
	pctl_chain_close(c);
	return status;
}

/* ---- printing ------------------------------------------------------------------------------ */

static void print_edge(pctl_app *app, const pctl_msg_graph_edge *e)
{
	pctl_json *j = &app->document;

	if (!app->json) {
		printf("%" PRIu64 " %s %s -> %s%s%s%s%s block %" PRIu64 " clock %" PRIu64 "%s\n",
		       e->number, pctl_edge_name(e->kind), e->source, e->target,
		       e->via[0] == '\0' ? "" : " via ", e->via, e->job[0] == '\0' ? "" : " by ",
		       e->job, e->height, e->clock, e->is_gone ? " taken back" : "");
		return;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_u64(j, "number", e->number);
	pctl_json_kv_string(j, "kind", pctl_edge_name(e->kind));
	pctl_json_kv_string(j, "source", e->source);
	pctl_json_kv_string(j, "target", e->target);
	pctl_json_kv_string(j, "via", e->via);
	pctl_json_kv_string(j, "job", e->job);
	pctl_json_kv_u64(j, "block", e->height);
	pctl_json_kv_u64(j, "clock", e->clock);
	pctl_json_kv_bool(j, "gone", e->is_gone != 0);
	pctl_json_object_end(j);
}

static const char *const states[] = {"pending", "executing", "complete", "failed"};

static void print_input(pctl_app *app, const pctl_msg_graph_input *in)
{
	pctl_json *j = &app->document;

	if (!app->json) {
		printf("  %s %s%s%s\n", in->kind == PCTL_EDGE_PARENT ? "after" : "took", in->name,
		       in->maker[0] == '\0' ? " given" : " <- job:", in->maker);
		return;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "kind", pctl_edge_name(in->kind));
	pctl_json_kv_string(j, "name", in->name);
	pctl_json_kv_string(j, "maker", in->maker);
	pctl_json_object_end(j);
}

static void print_job(pctl_app *app, const pctl_msg_graph_job *m)
{
	pctl_json *j = &app->document;

	if (!app->json) {
		printf("job:%s %s clock %" PRIu64 " block %" PRIu64 "..%" PRIu64
		       " by %s shader %s gas %" PRIu64 "%s%s%s%s\n",
		       m->job_id, states[m->status & 3], m->clock, m->height, m->ended, m->sender,
		       m->shader_cid, m->gas_used, m->output_cid[0] == '\0' ? "" : " -> ",
		       m->output_cid, m->error[0] == '\0' ? "" : ": ", m->error);
	} else {
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "job", m->job_id);
		pctl_json_kv_string(j, "state", states[m->status & 3]);
		pctl_json_kv_string(j, "sender", m->sender);
		pctl_json_kv_string(j, "shader", m->shader_cid);
		pctl_json_kv_string(j, "output", m->output_cid);
		pctl_json_kv_u64(j, "gas_used", m->gas_used);
		pctl_json_kv_u64(j, "clock", m->clock);
		pctl_json_kv_u64(j, "block", m->height);
		pctl_json_kv_u64(j, "ended", m->ended);
		pctl_json_kv_string(j, "error", m->error);
		pctl_json_key(j, "inputs");
		pctl_json_array_begin(j);
	}
	for (uint32_t i = 0; i < m->n_inputs; i++)
		print_input(app, &m->inputs[i]);
	if (app->json) {
		pctl_json_array_end(j);
		pctl_json_object_end(j);
	}
}

static void print_ranks(pctl_app *app, const pctl_msg_graph_response *m)
{
	pctl_json *j = &app->document;

	if (app->json) {
		pctl_json_kv_u64(j, "epoch", m->epoch);
		pctl_json_key(j, "ranks");
		pctl_json_array_begin(j);
	}
	for (uint32_t i = 0; i < m->n_ranks; i++) {
		if (!app->json) {
			printf("rank %s %" PRIu64 "\n", m->ranks[i].name, m->ranks[i].rank);
			continue;
		}
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "name", m->ranks[i].name);
		pctl_json_kv_u64(j, "rank", m->ranks[i].rank);
		pctl_json_object_end(j);
	}
	if (app->json)
		pctl_json_array_end(j);
}

static pctl_status print_answer(pctl_app *app, uint32_t op, const pctl_msg_graph_response *m)
{
	pctl_json *j = &app->document;
	pctl_str_buf next = PCTL_STR_BUF_INIT;
	const int is_edges = op == PCTL_GRAPH_EDGES || op == PCTL_GRAPH_RANK;

	pctl_hex_add(&next, m->next.data, m->next.n);
	if (next.failed)
		return pctl_no_memory(app->call, "an answer");
	if (app->json) {
		pctl_json_kv_u64(j, "height", m->height);
		pctl_json_key(j, is_edges ? "edges" : "jobs");
		pctl_json_array_begin(j);
	}
	for (uint32_t i = 0; i < m->n_edges; i++)
		print_edge(app, &m->edges[i]);
	for (uint32_t i = 0; i < m->n_jobs; i++)
		print_job(app, &m->jobs[i]);
	if (app->json)
		pctl_json_array_end(j);
	if (op == PCTL_GRAPH_RANK)
		print_ranks(app, m);
	if (app->json) {
		pctl_json_kv_u64(j, "cut", m->cut);
		pctl_json_kv_string(j, "next", m->next.n == 0 ? "" : next.data);
	} else {
		if (m->cut != 0)
			printf("cut %" PRIu64 "\n", m->cut);
		if (m->next.n != 0)
			printf("next %s\n", next.data);
	}
	pctl_str_drop(&next);
	return PCTL_OK;
}

/* An answer of nothing is no line of the answer: which block it is of is said beside it. */
static void say_nothing(const pctl_app *app, uint32_t op, const pctl_msg_graph_response *m)
{
	if (app->json || app->quiet || m->n_edges + m->n_jobs + m->n_ranks != 0)
		return;
	fprintf(stderr, "no %s, as of block %" PRIu64 "\n",
		op == PCTL_GRAPH_EDGES	? "edges"
		: op == PCTL_GRAPH_RANK ? "ranks"
					: "jobs",
		m->height);
}

/* ---- the verbs ----------------------------------------------------------------------------- */

static pctl_status ask(pctl_app *app, uint32_t op)
{
	const char *node = pctl_option_value(&app->line, "--node");
	pctl_request r = {.kind = PCTL_MSG_GRAPH};
	pctl_response out = {.kind = 0};
	pctl_status status = read_question(app, op, &r.as.graph);

	if (status == PCTL_OK)
		status = node == NULL ? ask_home(app, &r, &out) : ask_node(app, node, &r, &out);
	if (status == PCTL_OK)
		status = print_answer(app, op, &out.as.graph);
	if (status == PCTL_OK)
		say_nothing(app, op, &out.as.graph);
	pctl_response_destroy(&out);
	return status;
}

pctl_status pctl_verb_graph_edges(pctl_app *app)
{
	return ask(app, PCTL_GRAPH_EDGES);
}

pctl_status pctl_verb_graph_history(pctl_app *app)
{
	return ask(app, PCTL_GRAPH_HISTORY);
}

pctl_status pctl_verb_graph_dependents(pctl_app *app)
{
	return ask(app, PCTL_GRAPH_DEPENDENTS);
}

pctl_status pctl_verb_graph_jobs(pctl_app *app)
{
	return ask(app, PCTL_GRAPH_JOBS);
}

pctl_status pctl_verb_graph_rank(pctl_app *app)
{
	return ask(app, PCTL_GRAPH_RANK);
}
