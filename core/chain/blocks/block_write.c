/* The files of the block being ended, from its rows and its work. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/blocks/block_private.h"
#include "chain/data/data.h"
#include "chain/graph/edges.h"
#include "chain/state/cursor.h"
#include "chain/registry/rules.h"

static pctl_status put(pctl_block_work *w, uint32_t file, pctl_str_buf *text)
{
	const uint64_t n = text->n;

	if (text->data == NULL)
		pctl_str_add_n(text, "", 0);
	w->record.text[file] =
		text->failed || text->data != NULL ? pctl_str_finish(text) : calloc(1, 1);
	w->record.n_bytes[file] = n;
	return w->record.text[file] == NULL ? pctl_no_memory(w->call, "a block") : PCTL_OK;
}

/* A file whose lines a walk over rows gives. */
typedef struct lines {
	pctl_block_work *w;
	pctl_str_buf text;
	pctl_status status;
	uint64_t clock;
} lines;

static pctl_status end_lines(lines *l, uint32_t file, pctl_status status)
{
	if (status == PCTL_OK)
		status = l->status;
	if (status == PCTL_OK)
		return put(l->w, file, &l->text);
	pctl_str_drop(&l->text);
	return status;
}

/* ---- messages ----------------------------------------------------------------------------- */

static int add_message(void *ctx, uint32_t origin, const uint8_t *bytes, uint64_t n)
{
	lines *l = ctx;

	l->w->n_messages++;
	l->status = pctl_block_message_text(origin, bytes, n, l->w->call, &l->text);
	return l->status != PCTL_OK;
}

static pctl_status write_messages(pctl_block_work *w)
{
	lines l = {.w = w, .text = PCTL_STR_BUF_INIT};

	return end_lines(&l, PCTL_BLOCK_MESSAGES, pctl_inbox_visit(w->s, add_message, &l, w->call));
}

/* ---- results and clocks ------------------------------------------------------------------- */

static int add_result(void *ctx, const pctl_chain_job *job)
{
	lines *l = ctx;
	pctl_block_result r = {.clock = job->clock,
			       .gas = job->gas_used,
			       .n_output = job->output_bytes,
			       .status = job->status,
			       .output = job->output,
			       .error = job->error};

	memcpy(r.id, job->id, sizeof(r.id));
	pctl_block_result_text(&r, &l->text);
	*(job->status == PCTL_JOB_COMPLETE ? &l->w->header.complete : &l->w->header.failed) += 1;
	return 0;
}

static pctl_status write_results(pctl_block_work *w)
{
	lines l = {.w = w, .text = PCTL_STR_BUF_INIT};

	return end_lines(&l, PCTL_BLOCK_RESULTS,
			 pctl_jobs_ended_at(w->s, w->header.height, add_result, &l, w->call));
}

/* A line a clock: the clock and the jobs of this block that have it. */
static int add_clock(void *ctx, const pctl_chain_job *job)
{
	lines *l = ctx;
	char id[PCTL_JOB_TEXT_SIZE];

	if (l->clock != job->clock)
		pctl_str_addf(&l->text, "%s%" PRIu64, l->text.n == 0 ? "" : "\n", job->clock);
	l->clock = job->clock;
	pctl_str_add(&l->text, " ");
	pctl_str_add(&l->text, pctl_job_id_format(job->id, id));
	return 0;
}

static pctl_status write_clocks(pctl_block_work *w)
{
	lines l = {.w = w, .text = PCTL_STR_BUF_INIT};
	pctl_status status = pctl_jobs_ended_at(w->s, w->header.height, add_clock, &l, w->call);

	if (l.text.n > 0)
		pctl_str_add(&l.text, "\n");
	return end_lines(&l, PCTL_BLOCK_CLOCKS, status);
}

/* ---- edges -------------------------------------------------------------------------------- */

static int add_edge(void *ctx, const pctl_edge *e)
{
	lines *l = ctx;

	pctl_str_addf(&l->text, "%" PRIu64 " %s %s %s %s %s\n", e->clock, pctl_edge_name(e->kind),
		      e->source, e->target, e->via[0] == '\0' ? "-" : e->via,
		      e->job[0] == '\0' ? "-" : e->job);
	return 0;
}

static pctl_status write_edges(pctl_block_work *w)
{
	lines l = {.w = w, .text = PCTL_STR_BUF_INIT};

	return end_lines(&l, PCTL_BLOCK_EDGES,
			 pctl_edges_of_block(w->s, w->header.height, add_edge, &l, w->call));
}

/* ---- balances ----------------------------------------------------------------------------- */

static pctl_status add_balances(pctl_block_work *w, pctl_str_buf *text)
{
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = pctl_cursor_open(
		w->s, w->call, &stmt,
		"SELECT name, balance, reserved, bond, sequence FROM accounts WHERE name IN "
		"(SELECT account FROM touched) ORDER BY name",
		"");

	while (status == PCTL_OK &&
	       (status = pctl_cursor_next(w->s, stmt, w->call, &more)) == PCTL_OK && more) {
		char name[PCTL_ACCOUNT_SIZE];
		uint64_t amounts[3];

		pctl_cursor_text(stmt, 0, name, sizeof(name));
		for (int i = 0; status == PCTL_OK && i < 3; i++)
			status = pctl_cursor_amount(stmt, i + 1, w->call, &amounts[i]);
		if (status == PCTL_OK)
			pctl_str_addf(text,
				      "account %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
				      "\n",
				      name, amounts[0], amounts[1], amounts[2],
				      (uint64_t)sqlite3_column_int64(stmt, 4));
	}
	sqlite3_finalize(stmt);
	return status;
}

static pctl_status write_balances(pctl_block_work *w)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_ledger_totals totals;
	pctl_status status = pctl_ledger_totals_read(w->s, w->call, &totals);

	if (status == PCTL_OK) {
		pctl_str_addf(&text,
			      "supply %" PRIu64 "\ntreasury %" PRIu64 "\nburned %" PRIu64 "\n",
			      totals.supply, totals.treasury, totals.burned);
		status = add_balances(w, &text);
	}
	if (status == PCTL_OK)
		return put(w, PCTL_BLOCK_BALANCES, &text);
	pctl_str_drop(&text);
	return status;
}

/* ---- receipts ----------------------------------------------------------------------------- */

static pctl_status request_digest(pctl_block_work *w, const pctl_request *r,
				  uint8_t out[PCTL_DIGEST_BYTES])
{
	uint64_t n;
	const uint8_t *bytes = pctl_execute_bytes(r, &n);
	pctl_cid cid;
	pctl_status status = pctl_cid_of(bytes, n, w->call, &cid);

	if (status == PCTL_OK)
		memcpy(out, cid.digest, PCTL_DIGEST_BYTES);
	return status;
}

static pctl_status state_job(pctl_block_work *w, const pctl_block_job *job,
			     pctl_block_statement *out)
{
	const pctl_msg_execute *m = &job->message.as.execute;
	pctl_status status = request_digest(w, &job->message, out->request);

	memcpy(out->job, job->row.id, PCTL_DIGEST_BYTES);
	memcpy(out->groups, m->dispatch, sizeof(out->groups));
	out->error = job->error == NULL ? "" : job->error;
	out->gas = job->row.gas_used; /* of a refused one; of one of this block not known yet */
	if (status == PCTL_OK)
		status = pctl_cid_read(m->shader_cid, w->call, &out->program);
	if (status != PCTL_OK || job->error != NULL)
		return status;
	out->complete = 1;
	out->inputs = job->inputs;
	out->n_inputs = job->n_inputs;
	out->has_uniform = job->has_uniform;
	memcpy(out->uniform, job->uniform, PCTL_DIGEST_BYTES);
	out->output = job->output;
	out->n_output = job->row.output_bytes;
	out->gas = job->row.gas;
	return PCTL_OK;
}

/* Statements in the order of the results; a job that ended while messages were taken in (cancelled) is read from its
 * row. */
typedef struct stating {
	pctl_block_work *w;
	pctl_block_statement *items;
	uint32_t n, reserved;
	pctl_status status;
} stating;

static pctl_status state_row(stating *s, const pctl_chain_job *row, pctl_block_statement *out)
{
	pctl_block_job *job = pctl_arena_alloc(s->w->arena, sizeof(*job));
	pctl_status status;

	if (job == NULL)
		return pctl_no_memory(s->w->call, "a block");
	job->row = *row;
	job->row.message = NULL;
	job->error = pctl_arena_dup(s->w->arena, row->error);
	status = pctl_request_decode(row->message, row->n_message, s->w->call, &job->message);
	if (status == PCTL_OK)
		status = state_job(s->w, job, out);
	pctl_request_destroy(&job->message);
	return status;
}

static int add_statement(void *ctx, const pctl_chain_job *row)
{
	stating *s = ctx;
	char id[PCTL_JOB_TEXT_SIZE];
	const pctl_block_job *job = pctl_block_find(s->w, pctl_job_id_format(row->id, id));
	pctl_block_statement *out = &s->items[s->n++];

	s->status = job != NULL ? state_job(s->w, job, out) : state_row(s, row, out);
	return s->status != PCTL_OK;
}

static pctl_status write_receipts(pctl_block_work *w)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	stating s = {.w = w};
	pctl_block_statements all = {.height = w->header.height};
	pctl_status status;

	s.items = pctl_arena_array(w->arena, (size_t)(w->header.complete + w->header.failed),
				   sizeof(*s.items));
	if (s.items == NULL)
		return pctl_no_memory(w->call, "a block");
	status = pctl_jobs_ended_at(w->s, w->header.height, add_statement, &s, w->call);
	if (status == PCTL_OK)
		status = s.status;
	all.items = s.items;
	all.n = s.n;
	if (status == PCTL_OK)
		status = pctl_block_statements_text(&all, w->call, &text);
	if (status == PCTL_OK)
		return put(w, PCTL_BLOCK_RECEIPTS, &text);
	pctl_str_drop(&text);
	return status;
}

/* ---- the manifest ------------------------------------------------------------------------- */

typedef struct needs {
	pctl_block_work *w;
	PCTL_VEC(pctl_block_need) list;
	pctl_status status;
} needs;

static pctl_status add_need(needs *n, const char *reference)
{
	pctl_block_need need = {.is_made = 0};

	if (reference[0] == '\0' || pctl_block_job_of(reference) != NULL)
		return PCTL_OK;
	if (!pctl_cid_parse(reference, &need.cid) || !PCTL_VEC_PUSH(&n->list, need))
		return pctl_no_memory(n->w->call, "a block");
	return PCTL_OK;
}

static pctl_status add_needs(needs *n, const pctl_request *r)
{
	const pctl_msg_execute *m = &r->as.execute;
	const char *reference;
	uint32_t group, binding;
	pctl_status status;

	if (r->kind == PCTL_MSG_CALL)
		return add_need(n, r->as.call.contract);
	status = add_need(n, m->shader_cid);
	if (status == PCTL_OK)
		status = add_need(n, m->uniform_cid);
	for (uint32_t i = 0; status == PCTL_OK &&
			     (reference = pctl_block_reference(m, i, &group, &binding)) != NULL;
	     i++)
		status = add_need(n, reference);
	return status;
}

static int visit_needs(void *ctx, uint32_t origin, const uint8_t *bytes, uint64_t n_bytes)
{
	needs *n = ctx;
	pctl_request r;

	(void)origin;
	if (!pctl_request_tag_is(bytes, n_bytes, PCTL_MSG_EXECUTE) &&
	    !pctl_request_tag_is(bytes, n_bytes, PCTL_MSG_CALL))
		return 0;
	n->status = pctl_request_decode(bytes, n_bytes, n->w->call, &r);
	if (n->status == PCTL_OK)
		n->status = add_needs(n, &r);
	pctl_request_destroy(&r);
	return n->status != PCTL_OK;
}

static pctl_status add_made(needs *n)
{
	for (uint32_t i = 0; i < n->w->n_order; i++) {
		const pctl_block_job *job = n->w->order[i];
		const pctl_block_need made = {job->output, job->row.output_bytes, 1, 0};

		if (!PCTL_VEC_PUSH(&n->list, made))
			return pctl_no_memory(n->w->call, "a block");
	}
	return PCTL_OK;
}

/* By CID; of one that is needed and made, needed first: it was there before the block. */
static int by_cid(const void *a, const void *b)
{
	const pctl_block_need *x = a, *y = b;
	const int order = pctl_cid_compare(&x->cid, &y->cid);

	return order != 0 ? order : (int)x->is_made - (int)y->is_made;
}

/* Of bytes that this node lacks, after they were got from another. */
static pctl_status needed_size(needs *n, pctl_block_need *need)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_store *store = pctl_chain_store(n->w->chain);
	pctl_blob blob;
	pctl_status status = pctl_store_size(store, &need->cid, &quiet, &need->n_bytes);

	if (status == PCTL_OK)
		return PCTL_OK;
	status = pctl_data_get(n->w->chain, &need->cid, n->w->call, &blob);
	if (status == PCTL_OK)
		pctl_blob_release(&blob);
	return status == PCTL_OK ? pctl_store_size(store, &need->cid, n->w->call, &need->n_bytes)
				 : status;
}

static pctl_status spell_needs(needs *n, pctl_str_buf *text)
{
	pctl_status status = PCTL_OK;

	if (n->list.n > 1)
		qsort(n->list.items, n->list.n, sizeof(n->list.items[0]), by_cid);
	for (uint32_t i = 0; status == PCTL_OK && i < n->list.n; i++) {
		pctl_block_need *at = &n->list.items[i];

		if (i > 0 && pctl_cid_compare(&at->cid, &at[-1].cid) == 0)
			continue;
		if (!at->is_made)
			status = needed_size(n, at);
		if (status == PCTL_OK)
			pctl_block_need_text(at, text);
	}
	return status;
}

static pctl_status write_manifest(pctl_block_work *w)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	needs n = {.w = w};
	pctl_status status = pctl_inbox_visit(w->s, visit_needs, &n, w->call);

	if (status == PCTL_OK)
		status = n.status;
	if (status == PCTL_OK)
		status = add_made(&n);
	if (status == PCTL_OK)
		status = spell_needs(&n, &text);
	free(n.list.items);
	if (status == PCTL_OK)
		return put(w, PCTL_BLOCK_MANIFEST, &text);
	pctl_str_drop(&text);
	return status;
}

/* ---- all of them -------------------------------------------------------------------------- */

/* What the chain began with stands in its first block, so that its history is all that a replay needs. */
static pctl_status write_genesis(pctl_block_work *w)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_params p;
	pctl_status status;

	if (w->header.height != 1)
		return PCTL_OK;
	status = pctl_params_in_force(w->s, 0, w->call, &p);
	if (status != PCTL_OK)
		return status;
	pctl_block_genesis_text(&p, &text);
	return put(w, PCTL_BLOCK_GENESIS, &text);
}

/* The rows as they are now: that of this block and the clearing of its messages come with the next one. */
static pctl_status write_tree(pctl_block_work *w)
{
	uint8_t root[PCTL_DIGEST_BYTES];
	pctl_status status;

	if (w->params.values[PCTL_PARAM_RULES] == PCTL_RULES_RELEASED)
		return PCTL_OK;
	status = pctl_chain_tree_root(w->s, w->call, root);
	if (status == PCTL_OK)
		pctl_digest_hex(root, w->header.tree);
	return status;
}

pctl_status pctl_block_write_record(pctl_block_work *w)
{
	static pctl_status (*const steps[])(pctl_block_work *) = {
		write_genesis,	write_messages, write_results,	write_clocks, write_edges,
		write_balances, write_receipts, write_manifest, write_tree,
	};
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < sizeof(steps) / sizeof(steps[0]); i++)
		status = steps[i](w);
	return status == PCTL_OK ? pctl_block_record_close(&w->record, &w->header, w->call)
				 : status;
}
