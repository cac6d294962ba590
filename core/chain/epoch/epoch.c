/* The rank of the graph at the end of an epoch: the graph becomes bytes, the bytes become jobs like anybody's. All of it
 * is a function of the state; what speaks against a rank takes back all of it. */
#include "chain/epoch/epoch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/state/cursor.h"
#include "chain/epoch/snapshot.h"

#define GROUP 256u	 /* invocations of a workgroup, of both shaders */
#define SUM_BYTES 20u	 /* of a node in the output of spread.wgsl */
#define BINDING_GRAPH 2u /* of group 0 */

/* A CID or job:ID. */
typedef struct reference {
	char text[PCTL_CID_TEXT_SIZE + PCTL_JOB_TEXT_SIZE];
} reference;

/* What the jobs of one epoch share, and how far they are. */
typedef struct ranking {
	pctl_chain *c;
	pctl_chain_state *s;
	pctl_call call; /* the caller's, with a sink that keeps the first refusal */
	char *note;
	pctl_params params;
	pctl_epoch epoch;
	uint64_t gas_limit; /* of each job */
	char shaders[PCTL_EPOCH_SHADERS][PCTL_CID_TEXT_SIZE];
	uint32_t n_parts, most_edges; /* of a part */
	char parts[PCTL_SNAPSHOT_PARTS_MAX][PCTL_CID_TEXT_SIZE];
	reference ranks; /* of the iteration before */
} ranking;

static void keep_first(void *ctx, const pctl_diag *d)
{
	ranking *r = ctx;

	if (r->note[0] == '\0' && d->severity == PCTL_SEVERITY_ERROR)
		snprintf(r->note, PCTL_EPOCH_NOTE_SIZE, "PC%04" PRIu32 ": %s", d->code, d->message);
}

static int is_due(const pctl_params *p, uint64_t height)
{
	const uint64_t every = p->values[PCTL_PARAM_EPOCH_BLOCKS];

	return every != 0 && height % every == 0;
}

/* ---- what keeps a graph from being ranked, beside a refusal ----------------------------------- */

static pctl_status still_waiting(ranking *r, int *out)
{
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = pctl_cursor_open(
		r->s, &r->call, &stmt,
		"SELECT 1 FROM epochs e JOIN jobs j ON j.id = e.last_job WHERE j.status = 0", "");

	if (status == PCTL_OK)
		status = pctl_cursor_next(r->s, stmt, &r->call, &more);
	sqlite3_finalize(stmt);
	*out = more;
	return status;
}

/* ---- registering the shaders -------------------------------------------------------------------- */

static pctl_status is_registered(ranking *r, const char *cid, int *out)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status = pctl_cursor_open(r->s, &r->call, &stmt,
					      "SELECT 1 FROM shaders WHERE cid = ?", "t", cid);

	*out = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(r->s, stmt, &r->call, out);
	sqlite3_finalize(stmt);
	return status;
}

static pctl_status register_shader(ranking *r, int which)
{
	static const char *const tags[] = {"rank"};
	static const char *const descriptions[PCTL_EPOCH_SHADERS] = {
		[PCTL_EPOCH_SPREAD] = "rank of the graph: an iteration's sums",
		[PCTL_EPOCH_SETTLE] = "rank of the graph: an iteration's ranks",
		[PCTL_EPOCH_GATHER] = "rank of the graph: the sums of two parts as one"};
	const char *text = pctl_epoch_shader(which);
	const pctl_request q = {.kind = PCTL_MSG_UPLOAD,
				.as.upload = {.sender = PCTL_EPOCH_ACCOUNT,
					      .source = (const uint8_t *)text,
					      .n_source = strlen(text),
					      .description = descriptions[which],
					      .tags = tags,
					      .n_tags = 1,
					      .implements = ""}};
	int there = 0;
	pctl_cid cid;
	pctl_status status = pctl_cid_of(text, strlen(text), &r->call, &cid);

	if (status == PCTL_OK)
		status = is_registered(r, pctl_cid_format(&cid, r->shaders[which]), &there);
	if (status == PCTL_OK && !there)
		status = pctl_chain_submit(r->c, &q, PCTL_ORIGIN_EPOCH, &r->call, NULL);
	return status;
}

/* ---- the jobs ----------------------------------------------------------------------------------- */

static pctl_status share_gas(ranking *r)
{
	const uint64_t n_jobs = 2 * r->epoch.iterations * r->n_parts;
	uint64_t gas = r->params.values[PCTL_PARAM_EPOCH_GAS_LIMIT];
	pctl_ledger_account a;
	pctl_status status = pctl_ledger_account_read(r->s, PCTL_EPOCH_ACCOUNT, &r->call, &a);

	if (status != PCTL_OK)
		return status;
	gas = gas < a.balance ? gas : a.balance;
	r->gas_limit = gas / n_jobs;
	if (r->gas_limit == 0)
		return pctl_refuse(&r->call, PC5713_LEDGER_FUNDS,
				   "account \"%s\" has %" PRIu64 " gas for %" PRIu64 " jobs",
				   PCTL_EPOCH_ACCOUNT, gas, n_jobs);
	return PCTL_OK;
}

/* One job over `input` and `bound`; *output becomes what it gives. */
static pctl_status submit_job(ranking *r, int which, uint64_t lanes, const reference *input,
			      const char *bound, reference *output)
{
	const pctl_msg_binding binding = {0, BINDING_GRAPH, bound};
	const pctl_request q = {
		.kind = PCTL_MSG_EXECUTE,
		.as.execute = {.sender = PCTL_EPOCH_ACCOUNT,
			       .shader_cid = r->shaders[which],
			       .input = input->text,
			       .dispatch = {(uint32_t)((lanes + GROUP - 1) / GROUP), 1, 1},
			       .gas_limit = r->gas_limit,
			       .bindings = &binding,
			       .uniform_cid = "",
			       .output_bytes = which == PCTL_EPOCH_SETTLE
						       ? 8 * r->epoch.n_nodes
						       : SUM_BYTES * (r->epoch.n_nodes + 1),
			       .n_bindings = 1,
			       .entry = ""}};
	pctl_response answer = {.kind = 0};
	pctl_status status = pctl_chain_submit(r->c, &q, PCTL_ORIGIN_EPOCH, &r->call, &answer);

	if (status == PCTL_OK) {
		snprintf(output->text, sizeof(output->text), "job:%s", answer.as.execute.job_id);
		(void)pctl_job_id_parse(answer.as.execute.job_id, r->epoch.last);
	}
	pctl_response_destroy(&answer);
	return status;
}

/* The edges of a part, and with the first all nodes. */
static uint64_t lanes_of(const ranking *r, uint32_t part)
{
	const uint64_t left = r->epoch.n_edges - (uint64_t)part * r->most_edges;

	return (left < r->most_edges ? left : r->most_edges) + (part == 0 ? r->epoch.n_nodes : 0);
}

static pctl_status submit_iteration(ranking *r)
{
	reference sums, more;
	pctl_status status =
		submit_job(r, PCTL_EPOCH_SPREAD, lanes_of(r, 0), &r->ranks, r->parts[0], &sums);

	for (uint32_t part = 1; status == PCTL_OK && part < r->n_parts; part++) {
		const reference before = sums;

		status = submit_job(r, PCTL_EPOCH_SPREAD, lanes_of(r, part), &r->ranks,
				    r->parts[part], &more);
		if (status == PCTL_OK)
			status = submit_job(r, PCTL_EPOCH_GATHER, r->epoch.n_nodes + 1, &before,
					    more.text, &sums);
	}
	return status == PCTL_OK ? submit_job(r, PCTL_EPOCH_SETTLE, r->epoch.n_nodes, &sums,
					      r->parts[0], &r->ranks)
				 : status;
}

static pctl_status write_epoch(ranking *r)
{
	char names[PCTL_CID_TEXT_SIZE];
	const pctl_epoch *e = &r->epoch;

	return pctl_cursor_write(r->s, &r->call, "INSERT INTO epochs VALUES (?, ?, ?, ?, ?, ?, ?)",
				 "htthhhd", e->height, r->parts[0],
				 pctl_cid_format(&e->names, names), e->n_nodes, e->n_edges,
				 e->iterations, e->last);
}

static pctl_status submit_all(ranking *r)
{
	const int n_shaders =
		pctl_params_has_stakes(&r->params) ? PCTL_EPOCH_SHADERS : PCTL_EPOCH_GATHER;
	pctl_store *store = pctl_chain_store(r->c);
	pctl_cid empty;
	pctl_status status = pctl_store_put(store, "", 0, &r->call, &empty);

	if (status == PCTL_OK)
		pctl_cid_format(&empty, r->ranks.text);
	for (int i = 0; i < n_shaders && status == PCTL_OK; i++)
		status = register_shader(r, i);
	if (status == PCTL_OK)
		status = share_gas(r);
	for (uint64_t k = 0; k < r->epoch.iterations && status == PCTL_OK; k++)
		status = submit_iteration(r);
	return status == PCTL_OK ? write_epoch(r) : status;
}

static pctl_status put_part(ranking *r, const pctl_snapshot *graph, uint32_t part)
{
	uint8_t *bytes = NULL;
	uint64_t n;
	pctl_cid cid;
	pctl_status status = pctl_snapshot_part(graph, r->most_edges, part, &r->call, &bytes, &n);

	if (status == PCTL_OK)
		status = pctl_store_put(pctl_chain_store(r->c), bytes, n, &r->call, &cid);
	free(bytes);
	if (status == PCTL_OK)
		pctl_cid_format(&cid, r->parts[part]);
	return status;
}

static pctl_status put_graph(ranking *r)
{
	const int is_cut = pctl_params_has_stakes(&r->params);
	uint64_t most = 0;
	pctl_snapshot graph;
	pctl_status status;

	r->most_edges = is_cut ? (uint32_t)r->params.values[PCTL_PARAM_EPOCH_LINKS]
			       : PCTL_SNAPSHOT_EDGES_MAX;
	if (is_cut)
		most = (uint64_t)r->most_edges * PCTL_SNAPSHOT_PARTS_MAX;
	if (most > PCTL_SNAPSHOT_LINKS_MAX)
		most = PCTL_SNAPSHOT_LINKS_MAX;
	status = pctl_snapshot_take(r->s, r->epoch.height, (uint32_t)most, &r->call, &graph);
	r->n_parts = status == PCTL_OK ? pctl_snapshot_parts(&graph, r->most_edges) : 0;
	for (uint32_t i = 0; status == PCTL_OK && i < r->n_parts; i++)
		status = put_part(r, &graph, i);
	if (status == PCTL_OK)
		status = pctl_store_put(pctl_chain_store(r->c), graph.names, graph.n_names,
					&r->call, &r->epoch.names);
	if (status == PCTL_OK) {
		r->epoch.n_nodes = graph.n_nodes;
		r->epoch.n_edges = graph.n_edges;
	}
	pctl_snapshot_clear(&graph);
	return status;
}

static pctl_status rank(ranking *r)
{
	int waits = 0;
	pctl_status status = still_waiting(r, &waits);

	if (status == PCTL_OK && waits) {
		snprintf(r->note, PCTL_EPOCH_NOTE_SIZE,
			 "the jobs of an earlier rank are still in the queue");
		return PCTL_OK;
	}
	if (status == PCTL_OK)
		status = put_graph(r);
	if (status == PCTL_OK && r->epoch.n_nodes == 0) {
		snprintf(r->note, PCTL_EPOCH_NOTE_SIZE, "there is no link to rank");
		return PCTL_OK;
	}
	return status == PCTL_OK ? submit_all(r) : status;
}

/* Refusals every node comes to alike; all else is trouble of this node. */
static int is_refusal(pctl_status status)
{
	return status == PCTL_E_GAS || status == PCTL_E_LIMIT || status == PCTL_E_INVALID ||
	       status == PCTL_E_NOT_FOUND;
}

pctl_status pctl_chain_epoch(pctl_chain *c, uint64_t height, const pctl_call *call, char *note)
{
	ranking r = {.c = c, .s = pctl_cursor(c), .note = note};
	pctl_status status = pctl_params_in_force(r.s, height, call, &r.params);

	note[0] = '\0';
	if (status != PCTL_OK || !is_due(&r.params, height))
		return status;
	if (call != NULL)
		r.call = *call;
	r.call.head = (pctl_head)PCTL_HEAD(pctl_call);
	r.call.ctx = &r;
	r.call.diag = keep_first;
	r.call.cancelled = NULL;
	r.epoch.height = height;
	r.epoch.iterations = r.params.values[PCTL_PARAM_EPOCH_ITERATIONS];
	status = pctl_cursor_write(r.s, call, "SAVEPOINT epoch", "");
	if (status != PCTL_OK)
		return status;
	status = rank(&r);
	if (status != PCTL_OK && !is_refusal(status))
		return pctl_refuse(call, PC6103_EPOCH_FAILURE, "block %" PRIu64 ": %s", height,
				   note);
	if (status != PCTL_OK) {
		status = pctl_cursor_write(r.s, call, "ROLLBACK TO epoch", "");
		pctl_params_forget(r.s);
		if (note[0] == '\0')
			snprintf(note, PCTL_EPOCH_NOTE_SIZE, "the jobs were refused");
	}
	if (status == PCTL_OK)
		status = pctl_cursor_write(r.s, call, "RELEASE epoch", "");
	if (status == PCTL_OK && note[0] != '\0')
		pctl_warn_at(call, PC6101_EPOCH_SKIPPED, NULL, NULL,
			     "no rank after block %" PRIu64 ": %s", height, note);
	return status;
}

/* ---- reading ------------------------------------------------------------------------------------ */

#define EPOCH_COLUMNS                                                                         \
	"SELECT e.height, e.graph, e.names, e.nodes, e.edges, e.iterations, e.last_job FROM " \
	"epochs "                                                                             \
	"e JOIN jobs j ON j.id = e.last_job WHERE j.status = 2 AND "

/* The first row of a statement over these columns, which is finalised; *more 0: there is none. */
static pctl_status read_row(pctl_chain_state *s, sqlite3_stmt *stmt, pctl_status status,
			    const pctl_call *call, pctl_epoch *out, int *more)
{
	char graph[PCTL_CID_TEXT_SIZE], names[PCTL_CID_TEXT_SIZE];

	*more = 0;
	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, more);
	if (status == PCTL_OK && *more) {
		out->height = (uint64_t)sqlite3_column_int64(stmt, 0);
		pctl_cursor_text(stmt, 1, graph, sizeof(graph));
		pctl_cursor_text(stmt, 2, names, sizeof(names));
		out->n_nodes = (uint64_t)sqlite3_column_int64(stmt, 3);
		out->n_edges = (uint64_t)sqlite3_column_int64(stmt, 4);
		out->iterations = (uint64_t)sqlite3_column_int64(stmt, 5);
		if (!pctl_cid_parse(graph, &out->graph) || !pctl_cid_parse(names, &out->names) ||
		    sqlite3_column_bytes(stmt, 6) != (int)PCTL_DIGEST_BYTES)
			status = pctl_refuse(call, PC5701_CHAIN_STATE,
					     "the row of the rank of block %" PRIu64 " is damaged",
					     out->height);
		else
			memcpy(out->last, sqlite3_column_blob(stmt, 6), PCTL_DIGEST_BYTES);
	}
	sqlite3_finalize(stmt);
	return status;
}

pctl_status pctl_epoch_read(pctl_chain_state *s, uint64_t height, const pctl_call *call,
			    pctl_epoch *out)
{
	sqlite3_stmt *stmt = NULL;
	int more;
	pctl_status status = pctl_cursor_open(
		s, call, &stmt,
		EPOCH_COLUMNS "(?1 = 0 OR e.height = ?1) ORDER BY e.height DESC LIMIT 1", "h",
		height);

	status = read_row(s, stmt, status, call, out, &more);
	if (status == PCTL_OK && !more && height == 0)
		status = pctl_refuse(call, PC6102_EPOCH_NONE, "no epoch has a complete rank yet");
	else if (status == PCTL_OK && !more)
		status = pctl_refuse(call, PC6102_EPOCH_NONE,
				     "block %" PRIu64 " has no complete rank", height);
	return status;
}

pctl_status pctl_epoch_read_by(pctl_chain_state *s, uint64_t height, const pctl_call *call,
			       pctl_epoch *out)
{
	sqlite3_stmt *stmt = NULL;
	int more;
	pctl_status status = pctl_cursor_open(
		s, call, &stmt, EPOCH_COLUMNS "j.ended <= ?1 ORDER BY e.height DESC LIMIT 1", "h",
		height);

	status = read_row(s, stmt, status, call, out, &more);
	if (status == PCTL_OK && !more)
		status = pctl_refuse(call, PC6102_EPOCH_NONE,
				     "no epoch had a complete rank by block %" PRIu64, height);
	return status;
}
