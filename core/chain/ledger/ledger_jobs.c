/* Gas of jobs that have no row in the ledger, from version 2 of the rules on: what such a job has set aside and what it was charged
 * are read from its own row and from that of the block that ended it. */
#include "chain/ledger/ledger_private.h"
#include "chain/ledger/params.h"
#include "chain/messages/message.h"
#include "chain/state/amount.h"
#include "chain/state/cursor.h"

/* Without a row: one that was refused, or that was taken in under version 1, has one or the other. */
#define COLUMNS "SELECT j.sender, j.gas, j.gas_used, j.status, j.ended, j.message FROM jobs j "
#define HAS_NO_ROW                                                      \
	" AND NOT EXISTS (SELECT 1 FROM reservations WHERE job = j.id)" \
	" AND NOT EXISTS (SELECT 1 FROM settlements WHERE job = j.id)"

typedef struct job_gas {
	char sender[PCTL_ACCOUNT_SIZE];
	uint64_t gas, used, ended, reserved, tip;
	int status;
} job_gas;

static pctl_status read_job(sqlite3_stmt *stmt, const pctl_call *call, job_gas *out)
{
	pctl_request r = {.kind = 0};
	pctl_status status = pctl_cursor_amount(stmt, 1, call, &out->gas);

	pctl_cursor_text(stmt, 0, out->sender, sizeof(out->sender));
	out->status = sqlite3_column_int(stmt, 3);
	out->ended = (uint64_t)sqlite3_column_int64(stmt, 4);
	if (status == PCTL_OK)
		status = pctl_cursor_amount(stmt, 2, call, &out->used);
	if (status == PCTL_OK)
		status = pctl_request_decode(sqlite3_column_blob(stmt, 5),
					     (uint64_t)sqlite3_column_bytes(stmt, 5), call, &r);
	if (status == PCTL_OK) {
		out->tip = r.as.execute.tip;
		out->reserved = r.as.execute.gas_limit;
		if (!pctl_amount_add(&out->reserved, out->tip))
			status = pctl_refuse(call, PC5719_LEDGER_BROKEN,
					     "what a job has set aside is 2^64 or more");
	}
	pctl_request_destroy(&r);
	return status;
}

/* Show every job of a statement, which is taken, and an earlier failure passed on. */
static pctl_status show_jobs(pctl_chain_state *s, pctl_status status, sqlite3_stmt *stmt,
			     pctl_status (*show)(void *ctx, const job_gas *job,
						 const pctl_call *call),
			     void *ctx, const pctl_call *call)
{
	job_gas job;
	int more = 1;

	while (status == PCTL_OK) {
		status = pctl_cursor_next(s, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		status = read_job(stmt, call, &job);
		if (status == PCTL_OK)
			status = show(ctx, &job, call);
	}
	sqlite3_finalize(stmt);
	return status;
}

/* ---- what is set aside --------------------------------------------------------------------- */

typedef struct sums {
	pctl_arena *arena;
	pctl_map *by_account; /* uint64_t in the arena */
} sums;

static pctl_status add_reserved(void *ctx, const job_gas *job, const pctl_call *call)
{
	const sums *of = ctx;
	uint64_t *sum = pctl_map_get(of->by_account, job->sender);

	if (sum == NULL) {
		sum = pctl_arena_alloc(of->arena, sizeof(*sum));
		if (sum == NULL || !pctl_map_put(of->by_account, job->sender, sum))
			return pctl_no_memory(call, "a ledger");
		*sum = 0;
	}
	return pctl_amount_add(sum, job->reserved)
		       ? PCTL_OK
		       : pctl_refuse(call, PC5719_LEDGER_BROKEN, "a sum is 2^64 or more");
}

/* Until a job has ended; and where it is charged without having run, until the block has in which it did. */
pctl_status pctl_ledger_sum_jobs(pctl_chain_state *s, pctl_arena *arena, pctl_map *by_account,
				 const pctl_call *call)
{
	sums of = {arena, by_account};
	sqlite3_stmt *stmt = NULL;
	pctl_status status =
		pctl_cursor_open(s, call, &stmt, COLUMNS "WHERE j.status = 0" HAS_NO_ROW, "");

	status = show_jobs(s, status, stmt, add_reserved, &of, call);
	if (status != PCTL_OK)
		return status;
	status = pctl_cursor_open(
		s, call, &stmt,
		COLUMNS
		"WHERE j.ended > (SELECT coalesce(max(height), 0) FROM blocks) AND j.ended <> 0 "
		"AND j.gas_used <> x'0000000000000000'" HAS_NO_ROW,
		"");
	return show_jobs(s, status, stmt, add_reserved, &of, call);
}

/* ---- what was charged ---------------------------------------------------------------------- */

/* Who was paid for a block; "" while it is open. */
static pctl_status executor_of(pctl_chain_state *s, uint64_t height, const pctl_call *call,
			       char out[PCTL_ACCOUNT_SIZE])
{
	sqlite3_stmt *stmt = NULL;
	int found = 0;
	pctl_status status = pctl_cursor_keep(
		s, call, &stmt, "SELECT executor FROM blocks WHERE height = ?", "h", height);

	out[0] = '\0';
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &found);
	if (status == PCTL_OK && found)
		pctl_cursor_text(stmt, 0, out, PCTL_ACCOUNT_SIZE);
	pctl_cursor_done(stmt);
	return status;
}

typedef struct showing {
	pctl_chain_state *s;
	pctl_ledger_settled_fn show;
	void *ctx;
} showing;

/* What is not split yet is not shown. What ran was charged its tip, too. */
static pctl_status show_settled(void *ctx, const job_gas *job, const pctl_call *call)
{
	const showing *to = ctx;
	const int has_failed = job->status == PCTL_JOB_FAILED;
	pctl_ledger_settled is = {.reserved = job->reserved};
	pctl_params p;
	pctl_status status;

	if (has_failed && job->used == 0)
		return to->show(to->ctx, &is, call);
	status = executor_of(to->s, job->ended, call, is.executor);
	if (status != PCTL_OK || is.executor[0] == '\0')
		return status;
	is.charged = has_failed ? job->used : job->gas + job->tip;
	status = pctl_params_in_force(to->s, job->ended, call, &p);
	if (status != PCTL_OK)
		return status;
	pctl_ledger_split_by(&p, is.charged, &is.split);
	return to->show(to->ctx, &is, call);
}

pctl_status pctl_ledger_jobs_of_block(pctl_chain_state *s, uint64_t height,
				      pctl_ledger_settled_fn show, void *ctx, const pctl_call *call)
{
	showing to = {s, show, ctx};
	sqlite3_stmt *stmt = NULL;
	const pctl_status status = pctl_cursor_open(
		s, call, &stmt, COLUMNS "WHERE j.ended = ? AND j.ended <> 0" HAS_NO_ROW, "h",
		height);

	return show_jobs(s, status, stmt, show_settled, &to, call);
}

pctl_status pctl_ledger_jobs_of_account(pctl_chain_state *s, const char *account,
					pctl_ledger_settled_fn show, void *ctx,
					const pctl_call *call)
{
	showing to = {s, show, ctx};
	sqlite3_stmt *stmt = NULL;
	const pctl_status status = pctl_cursor_open(
		s, call, &stmt, COLUMNS "WHERE j.sender = ? AND j.ended <> 0" HAS_NO_ROW, "t",
		account);

	return show_jobs(s, status, stmt, show_settled, &to, call);
}

pctl_status pctl_ledger_jobs_of_executor(pctl_chain_state *s, const char *account,
					 pctl_ledger_settled_fn show, void *ctx,
					 const pctl_call *call)
{
	showing to = {s, show, ctx};
	sqlite3_stmt *stmt = NULL;
	const pctl_status status = pctl_cursor_open(
		s, call, &stmt,
		COLUMNS
		"JOIN blocks b ON b.height = j.ended WHERE b.executor = ? AND j.ended <> 0 AND "
		"j.gas_used <> x'0000000000000000'" HAS_NO_ROW,
		"t", account);

	return show_jobs(s, status, stmt, show_settled, &to, call);
}
