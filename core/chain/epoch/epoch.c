/* The rank of the graph at the end of an epoch: the graph becomes bytes, the bytes become jobs like anybody's. All of it
 * is a function of the state; what speaks against a rank takes back all of it. */
#include "chain/epoch/epoch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chain/state/cursor.h"
#include "chain/epoch/snapshot.h"
#include "chain_shaders.h"

#define GROUP 256u	 /* invocations of a workgroup, of both shaders */
#define SUM_BYTES 20u	 /* of a node in the output of spread.wgsl */
#define BINDING_GRAPH 2u /* of group 0 */

/* What the jobs of one epoch share, and how far they are. */
typedef struct ranking {
	pctl_chain *c;
	pctl_chain_state *s;
	pctl_call call; /* the caller's, with a sink that keeps the first refusal */
	char *note;
	pctl_params params;
	pctl_epoch epoch;
	uint64_t gas_limit; /* of each job */
	char graph[PCTL_CID_TEXT_SIZE], shaders[2][PCTL_CID_TEXT_SIZE];
	char input[PCTL_CID_TEXT_SIZE + PCTL_JOB_TEXT_SIZE]; /* of the next job */
} ranking;

static void keep_first(void *ctx, const pctl_diag *d)
{
	ranking *r = ctx;

	if (r->note[0] == '\0' && d->severity == PCTL_SEVERITY_ERROR)
		snprintf(r->note, PCTL_EPOCH_NOTE_SIZE, "PC%04" PRIu32 ": %s", d->code, d->message);
}

const char *pctl_epoch_shader(int is_settle)
{
	return is_settle ? KERNEL_SETTLE : KERNEL_SPREAD;
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

static pctl_status register_shader(ranking *r, int is_settle)
{
	static const char *const tags[] = {"rank"};
	const char *text = pctl_epoch_shader(is_settle);
	const pctl_request q = {
		.kind = PCTL_MSG_UPLOAD,
		.as.upload = {.sender = PCTL_EPOCH_ACCOUNT,
			      .source = (const uint8_t *)text,
			      .n_source = strlen(text),
			      .description = is_settle ? "rank of the graph: an iteration's ranks"
						       : "rank of the graph: an iteration's sums",
			      .tags = tags,
			      .n_tags = 1,
			      .implements = ""}};
	int there = 0;
	pctl_cid cid;
	pctl_status status = pctl_cid_of(text, strlen(text), &r->call, &cid);

	if (status == PCTL_OK)
		status = is_registered(r, pctl_cid_format(&cid, r->shaders[is_settle]), &there);
	if (status == PCTL_OK && !there)
		status = pctl_chain_submit(r->c, &q, PCTL_ORIGIN_EPOCH, &r->call, NULL);
	return status;
}

/* ---- the jobs ----------------------------------------------------------------------------------- */

static pctl_status share_gas(ranking *r)
{
	const uint64_t n_jobs = 2 * r->epoch.iterations;
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

static pctl_status submit_job(ranking *r, int is_settle)
{
	const pctl_msg_binding binding = {0, BINDING_GRAPH, r->graph};
	const uint64_t lanes = is_settle ? r->epoch.n_nodes : r->epoch.n_nodes + r->epoch.n_edges;
	const pctl_request q = {
		.kind = PCTL_MSG_EXECUTE,
		.as.execute = {.sender = PCTL_EPOCH_ACCOUNT,
			       .shader_cid = r->shaders[is_settle],
			       .input = r->input,
			       .dispatch = {(uint32_t)((lanes + GROUP - 1) / GROUP), 1, 1},
			       .gas_limit = r->gas_limit,
			       .bindings = &binding,
			       .uniform_cid = "",
			       .output_bytes = is_settle ? 8 * r->epoch.n_nodes
							 : SUM_BYTES * (r->epoch.n_nodes + 1),
			       .n_bindings = 1,
			       .entry = ""}};
	pctl_response answer = {.kind = 0};
	pctl_status status = pctl_chain_submit(r->c, &q, PCTL_ORIGIN_EPOCH, &r->call, &answer);

	if (status == PCTL_OK) {
		snprintf(r->input, sizeof(r->input), "job:%s", answer.as.execute.job_id);
		(void)pctl_job_id_parse(answer.as.execute.job_id, r->epoch.last);
	}
	pctl_response_destroy(&answer);
	return status;
}

static pctl_status write_epoch(ranking *r)
{
	char names[PCTL_CID_TEXT_SIZE];
	const pctl_epoch *e = &r->epoch;

	return pctl_cursor_write(r->s, &r->call, "INSERT INTO epochs VALUES (?, ?, ?, ?, ?, ?, ?)",
				 "htthhhd", e->height, r->graph, pctl_cid_format(&e->names, names),
				 e->n_nodes, e->n_edges, e->iterations, e->last);
}

static pctl_status submit_all(ranking *r)
{
	pctl_store *store = pctl_chain_store(r->c);
	pctl_cid empty;
	pctl_status status = pctl_store_put(store, "", 0, &r->call, &empty);

	if (status == PCTL_OK)
		pctl_cid_format(&empty, r->input);
	for (int i = 0; i < 2 && status == PCTL_OK; i++)
		status = register_shader(r, i);
	if (status == PCTL_OK)
		status = share_gas(r);
	for (uint64_t k = 0; k < 2 * r->epoch.iterations && status == PCTL_OK; k++)
		status = submit_job(r, (int)(k & 1));
	return status == PCTL_OK ? write_epoch(r) : status;
}

static pctl_status put_graph(ranking *r)
{
	pctl_store *store = pctl_chain_store(r->c);
	pctl_snapshot graph;
	pctl_status status = pctl_snapshot_take(r->s, r->epoch.height, &r->call, &graph);

	if (status == PCTL_OK)
		status = pctl_store_put(store, graph.graph, graph.n_graph, &r->call,
					&r->epoch.graph);
	if (status == PCTL_OK)
		status = pctl_store_put(store, graph.names, graph.n_names, &r->call,
					&r->epoch.names);
	if (status == PCTL_OK) {
		pctl_cid_format(&r->epoch.graph, r->graph);
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

pctl_status pctl_epoch_read(pctl_chain_state *s, uint64_t height, const pctl_call *call,
			    pctl_epoch *out)
{
	sqlite3_stmt *stmt = NULL;
	char graph[PCTL_CID_TEXT_SIZE], names[PCTL_CID_TEXT_SIZE];
	int more = 0;
	pctl_status status = pctl_cursor_open(
		s, call, &stmt,
		"SELECT e.height, e.graph, e.names, e.nodes, e.edges, e.iterations, "
		"e.last_job FROM "
		"epochs e JOIN jobs j ON j.id = e.last_job WHERE j.status = 2 AND "
		"(?1 = 0 OR e.height = ?1) ORDER BY e.height DESC LIMIT 1",
		"h", height);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && !more && height == 0)
		status = pctl_refuse(call, PC6102_EPOCH_NONE, "no epoch has a complete rank yet");
	else if (status == PCTL_OK && !more)
		status = pctl_refuse(call, PC6102_EPOCH_NONE,
				     "block %" PRIu64 " has no complete rank", height);
	if (status == PCTL_OK) {
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
