/* Ending a block: all of it in one transaction, which the commit of the history comes before and the ref after. */
#include "chain/blocks/block.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain/blocks/block_lines.h"
#include "chain/blocks/block_private.h"
#include "chain/epoch/epoch.h"
#include "chain/executor/executing.h"
#include "chain/state/cursor.h"
#include "chain/state/track.h"

#define EXECUTOR_FALLBACK "executor"

/* ---- rows --------------------------------------------------------------------------------- */

static pctl_status damaged(uint64_t height, const pctl_call *call)
{
	return pctl_refuse(call, PC5701_CHAIN_STATE, "the row of block %" PRIu64 " is damaged",
			   height);
}

static pctl_status read_row(sqlite3_stmt *stmt, const pctl_call *call, pctl_block_row *out)
{
	uint64_t *const numbers[] = {&out->height, &out->first_clock, &out->clock,   &out->complete,
				     &out->failed, &out->deferred,    &out->messages};
	char commit[PCTL_GITLOG_OID_TEXT_SIZE + 1];
	pctl_status status;

	for (int i = 0; i < 7; i++)
		*numbers[i] = (uint64_t)sqlite3_column_int64(stmt, i);
	status = pctl_cursor_amount(stmt, 7, call, &out->gas);
	pctl_cursor_text(stmt, 8, out->executor, sizeof(out->executor));
	pctl_cursor_text(stmt, 10, commit, sizeof(commit));
	if (status != PCTL_OK)
		return status;
	if (sqlite3_column_bytes(stmt, 9) != PCTL_DIGEST_BYTES ||
	    !pctl_gitlog_oid_parse(commit, &out->commit))
		return damaged(out->height, call);
	memcpy(out->root, sqlite3_column_blob(stmt, 9), PCTL_DIGEST_BYTES);
	return PCTL_OK;
}

#define COLUMNS                                                                                   \
	"height, first_clock, clock, complete, failed, deferred, messages, gas, executor, root, " \
	"git_commit"

/* *found is 0 and all of *out when there is no row. */
static pctl_status read_one(pctl_chain_state *s, const char *sql, uint64_t height,
			    const pctl_call *call, pctl_block_row *out, int *found)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status = pctl_cursor_open(s, call, &stmt, sql, "h", height);

	memset(out, 0, sizeof(*out));
	*found = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, found);
	if (status == PCTL_OK && *found)
		status = read_row(stmt, call, out);
	sqlite3_finalize(stmt);
	return status;
}

pctl_status pctl_blocks_read(pctl_chain_state *s, uint64_t height, const pctl_call *call,
			     pctl_block_row *out)
{
	int found = 0;
	pctl_status status = pctl_cursor_height(height, call);

	if (status == PCTL_OK)
		status = read_one(s, "SELECT " COLUMNS " FROM blocks WHERE height = ?", height,
				  call, out, &found);
	if (status == PCTL_OK && !found)
		return pctl_refuse(call, PC5852_BLOCK_UNKNOWN, "no finished block %" PRIu64,
				   height);
	return status;
}

pctl_status pctl_blocks_last(pctl_chain_state *s, const pctl_call *call, pctl_block_row *out)
{
	int found;

	return read_one(s,
			"SELECT " COLUMNS " FROM blocks WHERE height >= ? ORDER BY height DESC "
			"LIMIT 1",
			0, call, out, &found);
}

pctl_status pctl_blocks_add(pctl_chain_state *s, const pctl_block_header *h, uint64_t n_messages,
			    const pctl_gitlog_oid *oid, const pctl_call *call)
{
	char commit[PCTL_GITLOG_OID_TEXT_SIZE];

	return pctl_cursor_write(s, call,
				 "INSERT INTO blocks (" COLUMNS
				 ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
				 "hhhhhhhatdt", h->height, h->first_clock, h->clock, h->complete,
				 h->failed, h->deferred, n_messages, h->gas, h->executor, h->root,
				 pctl_gitlog_oid_format(oid, commit));
}

static pctl_status check_root(const char *text, uint64_t n, const uint8_t root[PCTL_DIGEST_BYTES],
			      const pctl_call *call)
{
	pctl_arena *a = pctl_arena_create();
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	pctl_block_header h;
	pctl_status status =
		a == NULL ? pctl_no_memory(call, "a block")
			  : pctl_record_read_exact(&pctl_block_header_type, "the last block", text,
						   n, a, call, &h);

	pctl_arena_destroy(a);
	if (status == PCTL_OK && strcmp(h.tree, pctl_digest_hex(root, hex)) != 0)
		return pctl_refuse(call, PC6141_TREE_NODE,
				   "the root of the tree is %s, in the record of block %" PRIu64
				   " it is %s",
				   hex, h.height, h.tree);
	return status;
}

pctl_status pctl_blocks_check_tree(pctl_chain *c, const pctl_block_row *last, const pctl_call *call)
{
	pctl_track *t = pctl_chain_track(pctl_cursor(c));
	pctl_gitlog *log = pctl_chain_log(c);
	uint8_t root[PCTL_DIGEST_BYTES];
	void *text = NULL;
	uint64_t n;
	pctl_status status;

	if (!pctl_track_is_on(t) || log == NULL || last->height == 0)
		return PCTL_OK;
	status = pctl_gitlog_read(log, &last->commit, pctl_block_file_name(PCTL_BLOCK_HEADER), call,
				  &text, &n);
	if (status == PCTL_OK)
		status = pctl_radix_root(pctl_track_tree(t), call, root);
	if (status == PCTL_OK)
		status = check_root(text, n, root, call);
	free(text);
	return status;
}

/* Who is paid answers for it: the bond that the parameters ask for. */
static pctl_status check_bond(pctl_block_work *w)
{
	const uint64_t least = w->params.values[PCTL_PARAM_EXECUTOR_BOND];
	pctl_ledger_account a = {.bond = 0};
	pctl_status status;

	if (least == 0)
		return PCTL_OK;
	status = pctl_ledger_account_read(w->s, w->header.executor, w->call, &a);
	if (status == PCTL_OK && a.bond < least)
		status = pctl_refuse(w->call, PC5864_BLOCK_BOND,
				     "account \"%s\" has a bond of %" PRIu64
				     ", an executor needs at least %" PRIu64,
				     w->header.executor, a.bond, least);
	return status;
}

/* ---- the steps ---------------------------------------------------------------------------- */

static pctl_status open_block(pctl_block_work *w, const pctl_msg_block *m, pctl_block_row *before)
{
	pctl_block_header *h = &w->header;
	const char *executor = EXECUTOR_FALLBACK;
	uint64_t clock = 0, position;
	pctl_status status = pctl_blocks_last(w->s, w->call, before);

	if (status == PCTL_OK)
		status = pctl_blocks_check_tree(w->chain, before, w->call);
	if (status != PCTL_OK)
		return status;
	if (m->executor != NULL && m->executor[0] != '\0')
		executor = m->executor;
	status = pctl_ledger_check_name(executor, w->call);
	if (status != PCTL_OK)
		return status;
	memcpy(h->executor, executor, strlen(executor) + 1);
	h->height = before->height + 1;
	h->first_clock = before->clock + 1;
	memcpy(h->previous, before->root, PCTL_DIGEST_BYTES);
	if (m->height != 0 && m->height != h->height)
		return pctl_refuse(w->call, PC5851_BLOCK_HEIGHT,
				   "block %" PRIu64 " cannot be ended: the open block is %" PRIu64,
				   m->height, h->height);
	status = pctl_cursor_height(h->height, w->call);
	if (status == PCTL_OK)
		status = pctl_params_in_force(w->s, h->height, w->call, &w->params);
	if (status == PCTL_OK)
		status = pctl_chain_follows(w->chain, &w->params, h->height, w->call);
	if (status == PCTL_OK)
		status = check_bond(w);
	if (status == PCTL_OK)
		status = pctl_params_block_budget(&w->params, w->call, &h->budget);
	if (status == PCTL_OK)
		status = pctl_jobs_last(w->s, w->call, &clock, &position);
	h->clock = clock > h->first_clock ? clock : h->first_clock;
	return status;
}

/* The commit, in the history or, without one, as it would be. */
static pctl_status commit_record(pctl_block_work *w, const pctl_block_row *before)
{
	pctl_gitlog *log = pctl_chain_log(w->chain);
	const pctl_gitlog_oid *parent = before->height == 0 ? NULL : &before->commit;
	pctl_gitlog_file files[PCTL_BLOCK_FILES];
	char text[PCTL_BLOCK_COMMIT_TEXT_SIZE];
	const uint32_t n = pctl_block_record_files(&w->record, files);
	pctl_status status = PCTL_OK;

	pctl_block_commit_text(&w->header, text);
	if (log == NULL || (w->watch != NULL && w->watch->record != NULL))
		status = pctl_gitlog_id(parent, files, n, text, w->header.clock, w->call,
					&w->commit);
	if (status == PCTL_OK && w->watch != NULL && w->watch->record != NULL)
		status = w->watch->record(w->watch->ctx, &w->record, &w->commit, w->call);
	if (status == PCTL_OK && log != NULL)
		status = pctl_gitlog_write(log, parent, files, n, text, w->header.clock, w->call,
					   &w->commit);
	return status == PCTL_OK ? pctl_chain_recorded(w->chain, &w->record, w->call) : status;
}

static pctl_status close_block(pctl_block_work *w, const pctl_block_row *before)
{
	char note[256] = "";
	pctl_status status = commit_record(w, before);

	if (status == PCTL_OK)
		status = pctl_blocks_add(w->s, &w->header, w->n_messages, &w->commit, w->call);
	return status == PCTL_OK ? pctl_chain_epoch(w->chain, w->header.height, w->call, note)
				 : status;
}

static pctl_status in_transaction(pctl_block_work *w, const pctl_msg_block *m)
{
	pctl_block_row before;
	pctl_status status = pctl_chain_hold(w->s, w->call);

	if (status == PCTL_OK)
		status = open_block(w, m, &before);
	if (status == PCTL_OK)
		status = pctl_block_select(w);
	if (status == PCTL_OK)
		status = pctl_block_execute(w);
	if (status == PCTL_OK)
		status = pctl_block_settle(w);
	if (status == PCTL_OK)
		status = pctl_block_write_record(w);
	return status == PCTL_OK ? close_block(w, &before) : status;
}

/* ---- the answer --------------------------------------------------------------------------- */

/* Jobs as a query of the block lists them later. */
static const char *const *copy_ended(const pctl_block_work *w, pctl_arena *a, uint32_t *n)
{
	char id[PCTL_JOB_TEXT_SIZE];
	const char **to;

	*n = w->ended.n < PCTL_MESSAGE_BLOCK_JOBS_MAX ? w->ended.n : PCTL_MESSAGE_BLOCK_JOBS_MAX;
	to = pctl_arena_array(a, *n, sizeof(*to));
	for (uint32_t i = 0; to != NULL && i < *n; i++)
		if ((to[i] = pctl_arena_dup(
			     a, pctl_job_id_format(w->ended.items[i].row->id, id))) == NULL)
			return NULL;
	return to;
}

static const char *const *copy_deferred(const pctl_block_work *w, pctl_arena *a)
{
	const char **to = pctl_arena_array(a, w->n_deferred, sizeof(*to));

	for (uint32_t i = 0; to != NULL && i < w->n_deferred; i++)
		if ((to[i] = pctl_arena_dup(a, w->deferred[i])) == NULL)
			return NULL;
	return to;
}

/* Ids and texts live in the response's own arena. */
static pctl_status answer(pctl_block_work *w, pctl_response *out)
{
	char root[PCTL_JOB_TEXT_SIZE], commit[PCTL_GITLOG_OID_TEXT_SIZE];
	pctl_arena *a = pctl_response_arena(out);
	pctl_msg_block_info *to = &out->as.block;

	if (a == NULL)
		return pctl_no_memory(w->call, "a block");
	out->kind = PCTL_MSG_BLOCK_END;
	to->height = w->header.height;
	to->final_clock = w->header.clock;
	to->state_root = pctl_arena_dup(a, pctl_job_id_format(w->header.root, root));
	to->commit = pctl_arena_dup(a, pctl_gitlog_oid_format(&w->commit, commit));
	to->jobs = copy_ended(w, a, &to->n_jobs);
	to->deferred = copy_deferred(w, a);
	to->n_deferred = w->n_deferred;
	to->gas_used = w->header.gas;
	to->gas_budget = w->header.budget;
	to->messages = w->n_messages;
	to->executor = pctl_arena_dup(a, w->header.executor);
	to->jobs_total = w->ended.n;
	to->deferred_total = w->header.deferred;
	return to->state_root == NULL || to->commit == NULL || to->jobs == NULL ||
			       to->deferred == NULL || to->executor == NULL
		       ? pctl_no_memory(w->call, "a block")
		       : PCTL_OK;
}

static void end_work(pctl_block_work *w)
{
	pctl_executing_end(w->executing);
	for (uint32_t i = 0; i < w->jobs.n; i++) {
		pctl_request_destroy(&w->jobs.items[i]->message);
		free(w->jobs.items[i]->kept);
	}
	free(w->jobs.items);
	free(w->ended.items);
	free(w->needs.items);
	pctl_str_drop(&w->edges);
	pctl_map_destroy(w->by_id);
	pctl_map_destroy(w->sizes);
	pctl_arena_destroy(w->arena);
	pctl_block_record_clear(&w->record);
}

/* The ref behind a block that is final. */
static void point(pctl_chain *c, uint64_t height, const pctl_gitlog_oid *commit,
		  const pctl_call *call)
{
	pctl_gitlog *log = pctl_chain_log(c);

	if (log != NULL && pctl_gitlog_point(log, commit, call) != PCTL_OK)
		pctl_warn_at(call, PC5861_BLOCK_POINT, NULL, NULL,
			     "block %" PRIu64 " is final; the ref follows at the next start",
			     height);
}

static pctl_status make(pctl_block_work *w, const pctl_msg_block *m, pctl_response *out)
{
	pctl_status status;

	w->arena = pctl_arena_create();
	w->by_id = pctl_map_create();
	w->sizes = pctl_map_create();
	if (w->arena == NULL || w->by_id == NULL || w->sizes == NULL)
		return pctl_no_memory(w->call, "a block");
	status = in_transaction(w, m);
	if (status == PCTL_OK && out != NULL)
		status = answer(w, out);
	if (status != PCTL_OK && out != NULL)
		pctl_response_destroy(out);
	return status;
}

static pctl_status end_block(pctl_block_work *w, const pctl_msg_block *m, pctl_response *out)
{
	pctl_status status = pctl_chain_begin(w->s, w->call);

	if (status != PCTL_OK)
		return status;
	status = make(w, m, out);
	if (status == PCTL_OK)
		status = pctl_chain_commit(w->s, w->call);
	if (status == PCTL_OK) {
		point(w->chain, w->header.height, &w->commit, w->call);
		return PCTL_OK;
	}
	pctl_chain_rollback(w->s);
	if (out != NULL)
		pctl_response_destroy(out);
	return status;
}

/* how: end_block, or make inside somebody's batch. */
static pctl_status with_work(pctl_chain *c, const pctl_request *r, const pctl_block_watch *watch,
			     pctl_status (*how)(pctl_block_work *w, const pctl_msg_block *m,
						pctl_response *out),
			     const pctl_call *call, pctl_response *out)
{
	pctl_block_work *w = calloc(1, sizeof(*w));
	pctl_status status;

	assert(r->kind == PCTL_MSG_BLOCK_END);
	if (out != NULL)
		memset(out, 0, sizeof(*out));
	if (w == NULL)
		return pctl_no_memory(call, "a block");
	w->chain = c;
	w->s = pctl_cursor(c);
	w->call = call;
	w->watch = watch;
	w->executing = PCTL_EXECUTING_NONE;
	status = how(w, &r->as.block, out);
	end_work(w);
	free(w);
	return status;
}

pctl_status pctl_block_end(pctl_chain *c, const pctl_request *r, const pctl_block_watch *watch,
			   const pctl_call *call, pctl_response *out)
{
	return with_work(c, r, watch, end_block, call, out);
}

pctl_status pctl_block_close(pctl_chain *c, const pctl_request *r, const pctl_call *call,
			     pctl_response *out)
{
	assert(c->batch == PCTL_BATCH_OPEN);
	return with_work(c, r, NULL, make, call, out);
}

pctl_status pctl_block_final(pctl_chain *c, uint64_t height, const pctl_gitlog_oid *commit,
			     const pctl_call *call)
{
	const pctl_status status = pctl_chain_batch_commit(c, call);

	if (status == PCTL_OK)
		point(c, height, commit, call);
	return status;
}

pctl_status pctl_chain_end_block(pctl_chain *c, const pctl_request *r, const pctl_call *call,
				 pctl_response *out)
{
	return pctl_block_end(c, r, NULL, call, out);
}
