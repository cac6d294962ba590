/* Verifying blocks of this node against its own history, in a chain in memory. */
#include "chain/replay/verify.h"

#include "chain/chain_private.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/state/tables.h"
#include "chain/sync/snapshot.h"

/* ---- rows --------------------------------------------------------------------------------- */

static int same_value(sqlite3_stmt *a, sqlite3_stmt *b, int i)
{
	const int type = sqlite3_column_type(a, i);
	int n;

	if (type != sqlite3_column_type(b, i))
		return 0;
	if (type == SQLITE_INTEGER)
		return sqlite3_column_int64(a, i) == sqlite3_column_int64(b, i);
	n = sqlite3_column_bytes(a, i);
	if (n != sqlite3_column_bytes(b, i))
		return 0;
	return n == 0 ||
	       memcmp(sqlite3_column_blob(a, i), sqlite3_column_blob(b, i), (size_t)n) == 0;
}

/* A value for a message: at most 40 characters. */
static void show(sqlite3_stmt *stmt, int i, char *out, size_t n_out)
{
	const int n = sqlite3_column_bytes(stmt, i);
	const uint8_t *bytes = sqlite3_column_blob(stmt, i);
	size_t at = 0;

	switch (sqlite3_column_type(stmt, i)) {
	case SQLITE_INTEGER:
		snprintf(out, n_out, "%lld", (long long)sqlite3_column_int64(stmt, i));
		break;
	case SQLITE_TEXT:
		snprintf(out, n_out, "\"%.40s\"", (const char *)sqlite3_column_text(stmt, i));
		break;
	default:
		out[0] = '\0';
		for (int k = 0; k < n && k < 20 && at + 3 < n_out; k++)
			at += (size_t)snprintf(out + at, n_out - at, "%02x", bytes[k]);
	}
}

static pctl_status differs(const char *table, uint64_t row, sqlite3_stmt *a, sqlite3_stmt *b, int i,
			   const pctl_call *call)
{
	char key[96], x[96], y[96];

	show(a, 0, key, sizeof(key));
	show(a, i, x, sizeof(x));
	show(b, i, y, sizeof(y));
	return pctl_refuse(call, PC5857_BLOCK_STATE,
			   "table %s, row %" PRIu64 " (%s %s): %s is %s, from the history it is %s",
			   table, row, sqlite3_column_name(a, 0), key, sqlite3_column_name(a, i), x,
			   y);
}

static pctl_status compare_rows(pctl_chain_state *mine, sqlite3_stmt *a, sqlite3_stmt *b,
				const char *table, const pctl_call *call)
{
	for (uint64_t row = 1;; row++) {
		const int x = sqlite3_step(a), y = sqlite3_step(b);
		char key[96];

		if ((x != SQLITE_ROW && x != SQLITE_DONE) || (y != SQLITE_ROW && y != SQLITE_DONE))
			return pctl_chain_internal_failure(mine, "comparing states", call);
		if (x == SQLITE_DONE && y == SQLITE_DONE)
			return PCTL_OK;
		if (x != y) {
			show(x == SQLITE_ROW ? a : b, 0, key, sizeof(key));
			return pctl_refuse(call, PC5857_BLOCK_STATE,
					   "table %s, row %" PRIu64 " (%s): %s", table, row, key,
					   x == SQLITE_ROW ? "the row is in this state, but not in "
							     "the one that the history gives"
							   : "the row is missing in this state");
		}
		for (int i = 0; i < sqlite3_column_count(a); i++)
			if (!same_value(a, b, i))
				return differs(table, row, a, b, i, call);
	}
}

static pctl_status compare_table(pctl_chain_state *mine, pctl_chain_state *rebuilt,
				 const pctl_state_table *table, const pctl_call *call)
{
	sqlite3_stmt *a = NULL, *b = NULL;
	char sql[256];
	pctl_status status;

	snprintf(sql, sizeof(sql), "SELECT * FROM %s ORDER BY %s", table->name, table->key);
	if (sqlite3_prepare_v2(pctl_chain_db(mine), sql, -1, &a, NULL) != SQLITE_OK)
		status = pctl_chain_internal_failure(mine, "comparing states", call);
	else if (sqlite3_prepare_v2(pctl_chain_db(rebuilt), sql, -1, &b, NULL) != SQLITE_OK)
		status = pctl_chain_internal_failure(rebuilt, "comparing states", call);
	else
		status = compare_rows(mine, a, b, table->name, call);
	sqlite3_finalize(a);
	sqlite3_finalize(b);
	return status;
}

pctl_status pctl_state_compare(pctl_chain_state *a, pctl_chain_state *b, const pctl_call *call)
{
	uint32_t n;
	const pctl_state_table *tables = pctl_state_tables(&n);
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		status = compare_table(a, b, &tables[i], call);
	return status;
}

/* ---- the open block ----------------------------------------------------------------------- */

/* What this node took in since its last block is taken in again, so that the states can be compared as they are. */
typedef struct catching_up {
	pctl_chain *rebuilt;
	const pctl_call *call;
	pctl_status status;
} catching_up;

static int take_open(void *ctx, uint32_t origin, const uint8_t *bytes, uint64_t n)
{
	catching_up *k = ctx;
	pctl_request r;

	if (origin == PCTL_ORIGIN_EPOCH)
		return 0;
	origin &= ~(uint32_t)PCTL_ORIGIN_REFUSED;
	k->status = pctl_request_decode(bytes, n, k->call, &r);
	if (k->status == PCTL_OK)
		k->status = pctl_chain_apply_again(k->rebuilt, &r, origin, k->call);
	pctl_request_destroy(&r);
	if (k->status != PCTL_OK)
		k->status =
			pctl_refuse(k->call, PC5857_BLOCK_STATE,
				    "a message of the open block is refused when it is taken in "
				    "again");
	return k->status != PCTL_OK;
}

static pctl_status compare_present(pctl_chain *mine, pctl_chain *rebuilt, const pctl_call *call)
{
	catching_up k = {.rebuilt = rebuilt, .call = call};
	pctl_status status = pctl_chain_batch_begin(rebuilt, call), ended;

	if (status != PCTL_OK)
		return status;
	status = pctl_inbox_visit(pctl_cursor(mine), take_open, &k, call);
	if (status == PCTL_OK)
		status = k.status;
	ended = pctl_chain_batch_commit(rebuilt, call);
	if (status == PCTL_OK)
		status = ended;
	return status == PCTL_OK ? pctl_state_compare(pctl_cursor(mine), pctl_cursor(rebuilt), call)
				 : status;
}

/* ---- blocks ------------------------------------------------------------------------------- */

/* A chain in memory as it began, or as it was at a snapshot. */
static pctl_status begin(pctl_chain *c, const pctl_history *h, const pctl_verify_options *o,
			 const pctl_call *call, pctl_chain **out)
{
	pctl_chain_options options = {
		.store = pctl_chain_store(c), .kernels = o->kernels, .executor = o->executor};
	pctl_trusted trusted = {.is_root = 0};
	pctl_snapshot_report restored;
	pctl_params genesis;
	pctl_block_row row;
	uint64_t height;
	pctl_status status;

	options.wasm = c->wasm;
	if (pctl_chain_reference(c) != NULL) {
		options.reference = *pctl_chain_reference(c);
		options.reference.close = NULL; /* c closes it */
	}
	if (o->snapshot == NULL) {
		status = pctl_history_genesis(h, call, &genesis);
		options.genesis = &genesis;
		return status == PCTL_OK ? pctl_chain_open(&options, call, out) : status;
	}
	options.is_bare = 1;
	status = pctl_snapshot_height(o->snapshot, call, &height);
	if (status == PCTL_OK && height >= o->from)
		return pctl_refuse(call, PC6152_HISTORY_PRUNED,
				   "the snapshot is of block %" PRIu64
				   ": blocks behind it can be verified from it",
				   height);
	if (status == PCTL_OK)
		status = pctl_blocks_read(pctl_cursor(c), height, call, &row);
	if (status != PCTL_OK)
		return status;
	trusted.commit = row.commit;
	status = pctl_chain_open(&options, call, out);
	return status == PCTL_OK
		       ? pctl_snapshot_restore(*out, o->snapshot, &trusted, call, &restored)
		       : status;
}

static pctl_status rebuild(pctl_chain *c, const pctl_history *h, const pctl_verify_options *o,
			   const pctl_call *call, pctl_replay_report *report)
{
	const pctl_chain_replay_options replay = {.to = o->to,
						  .run_from = o->from,
						  .reference = o->reference,
						  .check = 1,
						  .progress = o->progress};
	pctl_chain *rebuilt = NULL;
	pctl_status status = begin(c, h, o, call, &rebuilt);

	if (status == PCTL_OK)
		status = pctl_replay(rebuilt, h, &replay, call, report);
	if (status == PCTL_OK && o->deep && o->to == pctl_history_last(h))
		status = compare_present(c, rebuilt, call);
	pctl_chain_close(rebuilt);
	return status;
}

pctl_status pctl_verify_blocks(pctl_chain *c, const pctl_verify_options *o, const pctl_call *call,
			       pctl_replay_report *report)
{
	pctl_history *h = NULL;
	pctl_block_row last;
	uint64_t n_commits;
	pctl_status status = pctl_blocks_last(pctl_cursor(c), call, &last);

	memset(report, 0, sizeof(*report));
	if (status == PCTL_OK && (o->from == 0 || o->from > o->to || o->to > last.height))
		return pctl_refuse(call, PC5852_BLOCK_UNKNOWN,
				   "no blocks %" PRIu64 " to %" PRIu64 ", the last one is %" PRIu64,
				   o->from, o->to, last.height);
	if (status == PCTL_OK && o->deep)
		status = pctl_gitlog_verify(pctl_chain_log(c), &last.commit, call, &n_commits);
	if (status == PCTL_OK)
		status = pctl_history_open(pctl_chain_log(c), &last.commit, call, &h);
	if (status == PCTL_OK && pctl_history_last(h) != last.height)
		status = pctl_refuse(call, PC5857_BLOCK_STATE,
				     "the state has %" PRIu64
				     " blocks, the history it names %" PRIu64,
				     last.height, pctl_history_last(h));
	if (status == PCTL_OK)
		status = rebuild(c, h, o, call, report);
	pctl_history_close(h);
	return status;
}
