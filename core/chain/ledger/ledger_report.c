/* Reading the ledger: the list of accounts, the invariant, and what blocks and accounts moved. */
#include "chain/ledger/ledger_private.h"

#include <inttypes.h>
#include <string.h>

#include "chain/ledger/stake.h"
#include "chain/state/amount.h"
#include "chain/state/cursor.h"

static pctl_status read_account(sqlite3_stmt *stmt, const pctl_call *call, pctl_ledger_account *out)
{
	pctl_status status;

	memset(out, 0, sizeof(*out));
	pctl_cursor_text(stmt, 0, out->name, sizeof(out->name));
	status = pctl_cursor_amount(stmt, 1, call, &out->balance);
	if (status == PCTL_OK)
		status = pctl_cursor_amount(stmt, 2, call, &out->reserved);
	if (status == PCTL_OK)
		status = pctl_cursor_amount(stmt, 3, call, &out->bond);
	return status;
}

pctl_status pctl_ledger_accounts(pctl_chain_state *s,
				 int (*visit)(void *ctx, const pctl_ledger_account *account),
				 void *ctx, const pctl_call *call)
{
	pctl_ledger_account account;
	sqlite3_stmt *stmt = NULL;
	int more = 1;
	pctl_status status = pctl_cursor_open(
		s, call, &stmt, "SELECT name, balance, reserved, bond FROM accounts ORDER BY name",
		"");

	while (status == PCTL_OK) {
		status = pctl_cursor_next(s, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		status = read_account(stmt, call, &account);
		if (status == PCTL_OK && visit(ctx, &account) != 0)
			break;
	}
	sqlite3_finalize(stmt);
	return status;
}

/* ---- the invariant ------------------------------------------------------------------------- */

static pctl_status sum_up(uint64_t *sum, uint64_t by, const pctl_call *call)
{
	return pctl_amount_add(sum, by)
		       ? PCTL_OK
		       : pctl_refuse(call, PC5719_LEDGER_BROKEN, "a sum is 2^64 or more");
}

/* Sum the amounts that a statement gives in its first column. */
static pctl_status sum_rows(pctl_chain_state *s, sqlite3_stmt *stmt, const pctl_call *call,
			    uint64_t *out)
{
	pctl_status status = PCTL_OK;
	uint64_t amount;
	int more = 1;

	*out = 0;
	while (status == PCTL_OK) {
		status = pctl_cursor_next(s, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		status = pctl_cursor_amount(stmt, 0, call, &amount);
		if (status == PCTL_OK)
			status = sum_up(out, amount, call);
	}
	return status;
}

/* An account's reserved gas is that of its jobs; what it holds goes to the sums. */
static pctl_status check_account(pctl_chain_state *s, const pctl_ledger_account *a,
				 const pctl_map *set_aside, const pctl_call *call, uint64_t *held,
				 uint64_t *reserved)
{
	const uint64_t *more = pctl_map_get(set_aside, a->name);
	sqlite3_stmt *stmt = NULL;
	uint64_t of_jobs = 0;
	pctl_status status =
		a->reserved == 0
			? PCTL_OK
			: pctl_cursor_open(s, call, &stmt,
					   "SELECT amount FROM reservations WHERE account = ?", "t",
					   a->name);

	if (status == PCTL_OK && stmt != NULL)
		status = sum_rows(s, stmt, call, &of_jobs);
	sqlite3_finalize(stmt);
	if (status == PCTL_OK && more != NULL)
		status = sum_up(&of_jobs, *more, call);
	if (status == PCTL_OK && of_jobs != a->reserved)
		return pctl_refuse(call, PC5719_LEDGER_BROKEN,
				   "%s has %" PRIu64 " reserved and jobs of %" PRIu64, a->name,
				   a->reserved, of_jobs);
	if (status == PCTL_OK)
		status = sum_up(held, a->balance, call);
	if (status == PCTL_OK)
		status = sum_up(held, a->bond, call);
	if (status == PCTL_OK)
		status = sum_up(held, a->reserved, call);
	if (status == PCTL_OK)
		status = sum_up(reserved, a->reserved, call);
	return status;
}

/* Reservations that no account's sum has counted belong to nobody. */
static pctl_status check_reservations(pctl_chain_state *s, const pctl_map *set_aside,
				      uint64_t reserved, const pctl_call *call)
{
	sqlite3_stmt *stmt = NULL;
	uint64_t of_jobs = 0;
	pctl_status status =
		pctl_cursor_open(s, call, &stmt, "SELECT amount FROM reservations", "");

	if (status == PCTL_OK)
		status = sum_rows(s, stmt, call, &of_jobs);
	sqlite3_finalize(stmt);
	for (uint32_t i = 0; status == PCTL_OK && i < pctl_map_count(set_aside); i++)
		status = sum_up(&of_jobs, *(const uint64_t *)pctl_map_value_at(set_aside, i), call);
	if (status == PCTL_OK && of_jobs != reserved)
		return pctl_refuse(call, PC5719_LEDGER_BROKEN,
				   "accounts have %" PRIu64 " reserved, jobs %" PRIu64, reserved,
				   of_jobs);
	return status;
}

static pctl_status check(pctl_chain_state *s, const pctl_map *set_aside, const pctl_call *call)
{
	pctl_ledger_account account;
	pctl_ledger_totals t;
	sqlite3_stmt *stmt = NULL;
	uint64_t held = 0, reserved = 0, leaving = 0;
	int more = 1;
	pctl_status status = pctl_ledger_totals_read(s, call, &t);

	if (status == PCTL_OK)
		status = pctl_cursor_open(
			s, call, &stmt,
			"SELECT name, balance, reserved, bond FROM accounts ORDER BY name", "");
	while (status == PCTL_OK) {
		status = pctl_cursor_next(s, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		status = read_account(stmt, call, &account);
		if (status == PCTL_OK)
			status = check_account(s, &account, set_aside, call, &held, &reserved);
	}
	sqlite3_finalize(stmt);
	if (status == PCTL_OK)
		status = check_reservations(s, set_aside, reserved, call);
	if (status == PCTL_OK)
		status = pctl_stake_leaving(s, NULL, call, &leaving);
	if (status == PCTL_OK)
		status = sum_up(&held, leaving, call);
	if (status == PCTL_OK)
		status = sum_up(&held, t.treasury, call);
	if (status == PCTL_OK)
		status = sum_up(&held, t.burned, call);
	if (status == PCTL_OK && held != t.supply)
		return pctl_refuse(call, PC5719_LEDGER_BROKEN,
				   "the supply is %" PRIu64 ", its parts add to %" PRIu64, t.supply,
				   held);
	return status;
}

pctl_status pctl_ledger_check(pctl_chain_state *s, const pctl_call *call)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_map *set_aside = pctl_map_create();
	pctl_status status = arena == NULL || set_aside == NULL
				     ? pctl_no_memory(call, "a ledger")
				     : pctl_ledger_sum_jobs(s, arena, set_aside, call);

	if (status == PCTL_OK)
		status = check(s, set_aside, call);
	pctl_map_destroy(set_aside);
	pctl_arena_destroy(arena);
	return status;
}

/* ---- reports ------------------------------------------------------------------------------- */

static pctl_status add_up(uint64_t *sum, uint64_t amount, const pctl_call *call)
{
	return pctl_amount_add(sum, amount) ? PCTL_OK
					    : pctl_refuse(call, PC5712_LEDGER_OVERFLOW,
							  "a sum of the report is 2^64 or more");
}

static pctl_status count_up(uint64_t *sum, sqlite3_stmt *stmt, int column, const pctl_call *call)
{
	uint64_t amount;
	const pctl_status status = pctl_cursor_amount(stmt, column, call, &amount);

	return status == PCTL_OK ? add_up(sum, amount, call) : status;
}

static pctl_status report_settlement(sqlite3_stmt *stmt, const pctl_call *call,
				     pctl_ledger_report *r)
{
	uint64_t *const sums[] = {&r->reserved, &r->charged, &r->split.executor, &r->split.treasury,
				  &r->split.burned};
	pctl_status status = PCTL_OK;

	for (int i = 0; status == PCTL_OK && i < 5; i++)
		status = count_up(sums[i], stmt, i, call);
	if (sqlite3_column_bytes(stmt, 5) != 0)
		r->settled++;
	else
		r->released++;
	r->refunded = r->reserved - r->charged;
	return status;
}

/* A job that has no settlement. */
static pctl_status report_job(void *ctx, const pctl_ledger_settled *job, const pctl_call *call)
{
	pctl_ledger_report *r = ctx;
	pctl_status status = add_up(&r->reserved, job->reserved, call);

	if (status == PCTL_OK)
		status = add_up(&r->charged, job->charged, call);
	if (status == PCTL_OK)
		status = add_up(&r->split.executor, job->split.executor, call);
	if (status == PCTL_OK)
		status = add_up(&r->split.treasury, job->split.treasury, call);
	if (status == PCTL_OK)
		status = add_up(&r->split.burned, job->split.burned, call);
	*(job->executor[0] != '\0' ? &r->settled : &r->released) += 1;
	r->refunded = r->reserved - r->charged;
	return status;
}

static pctl_status report_slash(sqlite3_stmt *stmt, const pctl_call *call, pctl_ledger_report *r)
{
	uint64_t *const sums[] = {&r->slashed, &r->slashed_treasury, &r->slashed_burned};
	pctl_status status = PCTL_OK;

	for (int i = 0; status == PCTL_OK && i < 3; i++)
		status = count_up(sums[i], stmt, i, call);
	r->slashes++;
	return status;
}

/* Every row of an open statement into the report; takes the statement, and passes an earlier failure on. */
static pctl_status report_rows(pctl_chain_state *s, pctl_status status, sqlite3_stmt *stmt,
			       pctl_status (*row)(sqlite3_stmt *stmt, const pctl_call *call,
						  pctl_ledger_report *r),
			       const pctl_call *call, pctl_ledger_report *r)
{
	int more = 1;

	while (status == PCTL_OK) {
		status = pctl_cursor_next(s, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		status = row(stmt, call, r);
	}
	sqlite3_finalize(stmt);
	return status;
}

#define SETTLEMENTS \
	"SELECT reserved, charged, to_executor, to_treasury, burned, executor FROM settlements "
#define SLASHES "SELECT amount, to_treasury, burned FROM slashes "

pctl_status pctl_ledger_block_report(pctl_chain_state *s, uint64_t height, const pctl_call *call,
				     pctl_ledger_report *out)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status = pctl_cursor_height(height, call);

	memset(out, 0, sizeof(*out));
	if (status != PCTL_OK)
		return status;
	status = pctl_cursor_open(s, call, &stmt, SETTLEMENTS "WHERE height = ? ORDER BY job", "h",
				  height);
	status = report_rows(s, status, stmt, report_settlement, call, out);
	if (status == PCTL_OK)
		status = pctl_ledger_jobs_of_block(s, height, report_job, out, call);
	if (status != PCTL_OK)
		return status;
	status = pctl_cursor_open(
		s, call, &stmt, SLASHES "WHERE height = ? ORDER BY verdict, account", "h", height);
	return report_rows(s, status, stmt, report_slash, call, out);
}

static pctl_status add_earned(void *ctx, const pctl_ledger_settled *job, const pctl_call *call)
{
	return add_up(ctx, job->split.executor, call);
}

static pctl_status read_earned(pctl_chain_state *s, const char *account, const pctl_call *call,
			       uint64_t *out)
{
	sqlite3_stmt *stmt = NULL;
	int more = 1;
	pctl_status status = pctl_cursor_open(
		s, call, &stmt,
		"SELECT to_executor FROM settlements WHERE executor = ? ORDER BY job", "t",
		account);

	*out = 0;
	while (status == PCTL_OK) {
		status = pctl_cursor_next(s, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		status = count_up(out, stmt, 0, call);
	}
	sqlite3_finalize(stmt);
	return status == PCTL_OK ? pctl_ledger_jobs_of_executor(s, account, add_earned, out, call)
				 : status;
}

pctl_status pctl_ledger_account_report(pctl_chain_state *s, const char *account,
				       const pctl_call *call, pctl_ledger_report *out,
				       uint64_t *earned)
{
	pctl_ledger_account a;
	sqlite3_stmt *stmt = NULL;
	pctl_status status = pctl_ledger_account_read(s, account, call, &a);

	memset(out, 0, sizeof(*out));
	*earned = 0;
	if (status != PCTL_OK)
		return status;
	status = pctl_cursor_open(s, call, &stmt, SETTLEMENTS "WHERE account = ? ORDER BY job", "t",
				  account);
	status = report_rows(s, status, stmt, report_settlement, call, out);
	if (status == PCTL_OK)
		status = pctl_ledger_jobs_of_account(s, account, report_job, out, call);
	if (status != PCTL_OK)
		return status;
	status = pctl_cursor_open(s, call, &stmt, SLASHES "WHERE account = ? ORDER BY verdict", "t",
				  account);
	status = report_rows(s, status, stmt, report_slash, call, out);
	return status == PCTL_OK ? read_earned(s, account, call, earned) : status;
}
