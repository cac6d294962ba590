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

/* ---- messages ----------------------------------------------------------------------------- */

static pctl_status add_need(pctl_block_work *w, const char *reference)
{
	pctl_block_need need = {.is_made = 0};

	if (reference[0] == '\0' || pctl_block_job_of(reference) != NULL)
		return PCTL_OK;
	if (!pctl_cid_parse(reference, &need.cid) || !PCTL_VEC_PUSH(&w->needs, need))
		return pctl_no_memory(w->call, "a block");
	return PCTL_OK;
}

static pctl_status add_needs(pctl_block_work *w, const pctl_request *r)
{
	const pctl_msg_execute *m = &r->as.execute;
	const char *reference;
	uint32_t group, binding;
	pctl_status status;

	if (r->kind == PCTL_MSG_CALL)
		return add_need(w, r->as.call.contract);
	status = add_need(w, m->shader_cid);
	if (status == PCTL_OK)
		status = add_need(w, m->uniform_cid);
	for (uint32_t i = 0; status == PCTL_OK &&
			     (reference = pctl_block_reference(m, i, &group, &binding)) != NULL;
	     i++)
		status = add_need(w, reference);
	return status;
}

typedef struct messages {
	pctl_block_work *w;
	pctl_str_buf text;
	pctl_status status;
	uint32_t
		next; /* of the block's jobs: those before came with the messages before, or with none of this block */
} messages;

/* The message as the block has it, where it is that of a job which the block ends: jobs stand in the order in which their messages came. */
static const pctl_request *at_hand(messages *m, const uint8_t *bytes, uint64_t n)
{
	const pctl_block_work *w = m->w;
	const pctl_block_job *job;

	while (m->next < w->jobs.n && (w->jobs.items[m->next]->row.height != w->header.height ||
				       w->jobs.items[m->next]->row.origin == PCTL_ORIGIN_CONTRACT))
		m->next++;
	if (m->next == w->jobs.n)
		return NULL;
	job = w->jobs.items[m->next];
	if (job->row.n_message != n || memcmp(job->row.message, bytes, (size_t)n) != 0)
		return NULL;
	m->next++;
	return &job->message;
}

static pctl_status note_needs(messages *m, const uint8_t *bytes, uint64_t n)
{
	const pctl_request *seen;
	pctl_request r;
	pctl_status status;

	if (!pctl_request_tag_is(bytes, n, PCTL_MSG_EXECUTE) &&
	    !pctl_request_tag_is(bytes, n, PCTL_MSG_CALL))
		return PCTL_OK;
	seen = at_hand(m, bytes, n);
	if (seen != NULL)
		return add_needs(m->w, seen);
	status = pctl_request_decode(bytes, n, m->w->call, &r);
	if (status == PCTL_OK)
		status = add_needs(m->w, &r);
	pctl_request_destroy(&r);
	return status;
}

static int add_message(void *ctx, uint32_t origin, const uint8_t *bytes, uint64_t n)
{
	messages *m = ctx;

	m->w->n_messages++;
	m->status = pctl_block_message_text(origin & ~(uint32_t)PCTL_ORIGIN_REFUSED, bytes, n,
					    m->w->call, &m->text);
	if (m->status == PCTL_OK && !(origin & PCTL_ORIGIN_REFUSED))
		m->status = note_needs(m, bytes, n);
	return m->status != PCTL_OK;
}

static pctl_status write_messages(pctl_block_work *w)
{
	messages m = {.w = w, .text = PCTL_STR_BUF_INIT};
	pctl_status status = pctl_inbox_visit(w->s, add_message, &m, w->call);

	if (status == PCTL_OK)
		status = m.status;
	if (status == PCTL_OK)
		return put(w, PCTL_BLOCK_MESSAGES, &m.text);
	pctl_str_drop(&m.text);
	return status;
}

/* ---- results and clocks ------------------------------------------------------------------- */

static pctl_status write_results(pctl_block_work *w)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;

	for (uint32_t i = 0; i < w->ended.n; i++) {
		const pctl_chain_job *job = w->ended.items[i].row;
		pctl_block_result r = {.clock = job->clock,
				       .gas = job->gas_used,
				       .n_output = job->output_bytes,
				       .status = job->status,
				       .output = job->output,
				       .error = job->error};

		memcpy(r.id, job->id, sizeof(r.id));
		pctl_block_result_text(&r, &text);
		*(job->status == PCTL_JOB_COMPLETE ? &w->header.complete : &w->header.failed) += 1;
	}
	return put(w, PCTL_BLOCK_RESULTS, &text);
}

/* A line a clock: the clock and the jobs of this block that have it. From version 2 of the rules on results say it, and rows of the state
 * have the edges, so that neither is written a second time. */
static pctl_status write_clocks(pctl_block_work *w)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	char id[PCTL_JOB_TEXT_SIZE];

	if (w->params.values[PCTL_PARAM_RULES] != PCTL_RULES_RELEASED)
		return PCTL_OK;
	for (uint32_t i = 0; i < w->ended.n; i++) {
		const pctl_chain_job *job = w->ended.items[i].row;

		if (i == 0 || job->clock != w->ended.items[i - 1].row->clock)
			pctl_str_addf(&text, "%s%" PRIu64, i == 0 ? "" : "\n", job->clock);
		pctl_str_add_n(&text, " ", 1);
		pctl_str_add_n(&text, pctl_job_id_format(job->id, id), PCTL_JOB_TEXT_SIZE - 1);
	}
	if (text.n > 0)
		pctl_str_add_n(&text, "\n", 1);
	return put(w, PCTL_BLOCK_CLOCKS, &text);
}

/* ---- edges -------------------------------------------------------------------------------- */

static void add_word(pctl_str_buf *out, const char *word)
{
	pctl_str_add_n(out, " ", 1);
	pctl_str_add(out, word[0] == '\0' ? "-" : word);
}

void pctl_block_edge_text(const pctl_edge *e, pctl_str_buf *out)
{
	pctl_str_addf(out, "%" PRIu64, e->clock);
	add_word(out, pctl_edge_name(e->kind));
	add_word(out, e->source);
	add_word(out, e->target);
	add_word(out, e->via);
	add_word(out, e->job);
	pctl_str_add_n(out, "\n", 1);
}

static pctl_status write_edges(pctl_block_work *w)
{
	return w->params.values[PCTL_PARAM_RULES] == PCTL_RULES_RELEASED
		       ? put(w, PCTL_BLOCK_EDGES, &w->edges)
		       : PCTL_OK;
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

/* A job that ended while messages were taken in (cancelled, say) is stated from its row. */
static pctl_status state_row(pctl_block_work *w, const pctl_chain_job *row,
			     pctl_block_statement *out)
{
	pctl_block_job *job = pctl_arena_alloc(w->arena, sizeof(*job));
	pctl_status status;

	if (job == NULL)
		return pctl_no_memory(w->call, "a block");
	job->row = *row;
	job->error = row->error;
	status = pctl_request_decode(row->message, row->n_message, w->call, &job->message);
	if (status == PCTL_OK)
		status = state_job(w, job, out);
	pctl_request_destroy(&job->message);
	return status;
}

/* Statements in the order of the results. */
static pctl_status write_receipts(pctl_block_work *w)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_block_statement *items = pctl_arena_array(w->arena, w->ended.n, sizeof(*items));
	pctl_block_statements all = {.height = w->header.height, .items = items, .n = w->ended.n};
	pctl_status status = items == NULL ? pctl_no_memory(w->call, "a block") : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < w->ended.n; i++) {
		const pctl_block_ended *e = &w->ended.items[i];

		status = e->job != NULL ? state_job(w, e->job, &items[i])
					: state_row(w, e->row, &items[i]);
	}
	if (status == PCTL_OK)
		status = pctl_block_statements_text(&all, w->call, &text);
	if (status == PCTL_OK)
		return put(w, PCTL_BLOCK_RECEIPTS, &text);
	pctl_str_drop(&text);
	return status;
}

/* ---- the manifest ------------------------------------------------------------------------- */

static pctl_status add_made(pctl_block_work *w)
{
	for (uint32_t i = 0; i < w->n_order; i++) {
		const pctl_block_job *job = w->order[i];
		const pctl_block_need made = {job->output, job->row.output_bytes, 1, 0};

		if (!PCTL_VEC_PUSH(&w->needs, made))
			return pctl_no_memory(w->call, "a block");
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

/* Of bytes that were read to run a job, or that the store has, if need be after they were got from another node. */
static pctl_status needed_size(pctl_block_work *w, pctl_block_need *need)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_store *store = pctl_chain_store(w->chain);
	char text[PCTL_CID_TEXT_SIZE];
	const uint64_t *size = pctl_map_get(w->sizes, pctl_cid_format(&need->cid, text));
	pctl_blob blob;
	pctl_status status;

	if (size != NULL) {
		need->n_bytes = *size;
		return PCTL_OK;
	}
	status = pctl_store_size(store, &need->cid, &quiet, &need->n_bytes);
	if (status == PCTL_OK)
		return PCTL_OK;
	status = pctl_data_get(w->chain, &need->cid, w->call, &blob);
	if (status != PCTL_OK)
		return status;
	need->n_bytes = blob.n_bytes;
	pctl_blob_release(&blob);
	return PCTL_OK;
}

static pctl_status write_manifest(pctl_block_work *w)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status = add_made(w);

	if (w->needs.n > 1)
		qsort(w->needs.items, w->needs.n, sizeof(w->needs.items[0]), by_cid);
	for (uint32_t i = 0; status == PCTL_OK && i < w->needs.n; i++) {
		pctl_block_need *at = &w->needs.items[i];

		if (i > 0 && pctl_cid_compare(&at->cid, &at[-1].cid) == 0)
			continue;
		if (!at->is_made)
			status = needed_size(w, at);
		if (status == PCTL_OK)
			pctl_block_need_text(at, &text);
	}
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

/* The rows as they are now: that of this block comes with the next one. What is of the open block alone has been written down, and goes. */
static pctl_status write_tree(pctl_block_work *w)
{
	uint8_t root[PCTL_DIGEST_BYTES];
	pctl_status status = pctl_chain_clear_apart(w->s, w->call);

	if (status != PCTL_OK || w->params.values[PCTL_PARAM_RULES] == PCTL_RULES_RELEASED)
		return status;
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
