/* Bonds by height, and bonds on their way back; see stake.h. */
#include "chain/ledger/stake.h"

#include <inttypes.h>
#include <string.h>

#include "chain/ledger/ledger_private.h"
#include "chain/state/amount.h"
#include "chain/state/cursor.h"

#define ALL "" /* in place of an account: all bonds together */

/* ---- reading ------------------------------------------------------------------------------- */

/* The amounts that a statement gives in its first column; takes the statement, and passes an earlier failure on. */
static pctl_status sum(pctl_chain_state *s, sqlite3_stmt *stmt, pctl_status status,
		       const pctl_call *call, uint64_t *out)
{
	uint64_t amount;
	int more = 1;

	*out = 0;
	while (status == PCTL_OK) {
		status = pctl_cursor_next(s, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		status = pctl_cursor_amount(stmt, 0, call, &amount);
		if (status == PCTL_OK && !pctl_amount_add(out, amount))
			status = pctl_refuse(call, PC5719_LEDGER_BROKEN,
					     "all bonds together are 2^64 or more");
	}
	sqlite3_finalize(stmt);
	return status;
}

pctl_status pctl_stake_leaving(pctl_chain_state *s, const char *account, const pctl_call *call,
			       uint64_t *out)
{
	sqlite3_stmt *stmt = NULL;
	const pctl_status status =
		account == NULL
			? pctl_cursor_open(s, call, &stmt, "SELECT amount FROM unbondings", "")
			: pctl_cursor_open(s, call, &stmt,
					   "SELECT amount FROM unbondings WHERE account = ?", "t",
					   account);

	return sum(s, stmt, status, call, out);
}

/* The last row of `account` before a height, 0 in *found without one. */
static pctl_status row_before(pctl_chain_state *s, const char *account, uint64_t height,
			      const pctl_call *call, uint64_t *out, int *found)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status =
		pctl_cursor_keep(s, call, &stmt,
				 "SELECT bond FROM stakes WHERE account = ? AND height < ? "
				 "ORDER BY height DESC LIMIT 1",
				 "th", account, height);

	*out = 0;
	*found = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, found);
	if (status == PCTL_OK && *found)
		status = pctl_cursor_amount(stmt, 0, call, out);
	pctl_cursor_done(stmt);
	return status;
}

/* Without a row the bond never changed under version 2. */
static pctl_status as_found(pctl_chain_state *s, const char *account, const pctl_call *call,
			    uint64_t *out)
{
	pctl_ledger_account a;
	sqlite3_stmt *stmt = NULL;
	pctl_status status;

	if (account[0] == '\0') {
		status = pctl_cursor_open(s, call, &stmt, "SELECT bond FROM accounts", "");
		return sum(s, stmt, status, call, out);
	}
	status = pctl_ledger_load(s, account, call, &a);
	*out = a.bond;
	return status;
}

pctl_status pctl_stake_at(pctl_chain_state *s, const char *account, uint64_t height,
			  const pctl_call *call, uint64_t *out)
{
	const char *name = account == NULL ? ALL : account;
	int found;
	pctl_status status = row_before(s, name, height, call, out, &found);

	return status == PCTL_OK && !found ? as_found(s, name, call, out) : status;
}

pctl_status pctl_stake_check_floor(pctl_chain_state *s, const char *account, uint64_t since,
				   const pctl_params *p, const pctl_call *call)
{
	const uint64_t least = p->values[PCTL_PARAM_STAKE_FLOOR];
	pctl_ledger_account a;
	uint64_t then = 0;
	pctl_status status = pctl_ledger_account_read(s, account, call, &a);

	if (status == PCTL_OK)
		status = pctl_stake_at(s, account, since, call, &then);
	if (status == PCTL_OK && (then < least || a.bond < least))
		return pctl_refuse(call, PC5900_STAKE_FLOOR,
				   "%s has a bond of %" PRIu64 " and had one of %" PRIu64
				   " when block %" PRIu64 " began, %" PRIu64 " are asked for",
				   account, a.bond, then, since, least);
	return status;
}

/* ---- changes ------------------------------------------------------------------------------- */

static pctl_status put(pctl_chain_state *s, const char *account, uint64_t height, uint64_t bond,
		       const pctl_call *call)
{
	return pctl_cursor_write(s, call, "INSERT OR REPLACE INTO stakes VALUES (?, ?, ?)", "tha",
				 account, height, bond);
}

/* One line of the history: before its first row stands what version 2 found. */
static pctl_status note(pctl_chain_state *s, const char *account, uint64_t height, uint64_t before,
			uint64_t after, const pctl_call *call)
{
	uint64_t any;
	int found;
	pctl_status status = row_before(s, account, PCTL_CHAIN_HEIGHT_MAX, call, &any, &found);

	if (status == PCTL_OK && !found)
		status = put(s, account, 0, before, call);
	return status == PCTL_OK ? put(s, account, height, after, call) : status;
}

/* Before the account's row is written: its bond becomes `bond`. */
static pctl_status note_bond(pctl_chain_state *s, const pctl_ledger_account *a, uint64_t bond,
			     uint64_t height, const pctl_call *call)
{
	uint64_t all, after;
	pctl_status status = pctl_cursor_height(height, call);

	if (status == PCTL_OK)
		status = pctl_stake_at(s, NULL, PCTL_CHAIN_HEIGHT_MAX, call, &all);
	if (status != PCTL_OK)
		return status;
	/* The account's own part of it is a.bond; all bonds are at most the supply. */
	after = all - a->bond + bond;
	status = note(s, ALL, height, all, after, call);
	return status == PCTL_OK ? note(s, a->name, height, a->bond, bond, call) : status;
}

/* Write an account whose bond was changed to `bond`. */
static pctl_status store_bond(pctl_chain_state *s, pctl_ledger_account *a, uint64_t bond,
			      uint64_t height, const pctl_call *call)
{
	pctl_status status = note_bond(s, a, bond, height, call);

	a->bond = bond;
	return status == PCTL_OK ? pctl_ledger_store(s, a, call) : status;
}

pctl_status pctl_stake_bond(pctl_chain_state *s, uint64_t height, const char *account,
			    uint64_t amount, const pctl_call *call)
{
	pctl_ledger_account a;
	uint64_t bond;
	pctl_status status = pctl_ledger_account_read(s, account, call, &a);

	bond = a.bond;
	if (status == PCTL_OK)
		status = pctl_ledger_check_amount(amount, call);
	if (status == PCTL_OK)
		status = pctl_ledger_take(&a.balance, amount, account, "balance", call);
	if (status == PCTL_OK)
		status = pctl_ledger_add(&bond, amount, "the bond", call);
	return status == PCTL_OK ? store_bond(s, &a, bond, height, call) : status;
}

pctl_status pctl_stake_unbond(pctl_chain_state *s, uint64_t height, const char *account,
			      uint64_t amount, const pctl_params *p, const pctl_call *call)
{
	const uint64_t due = height + p->values[PCTL_PARAM_UNBONDING_BLOCKS];
	sqlite3_stmt *stmt = NULL;
	pctl_ledger_account a;
	uint64_t bond, there = 0;
	pctl_status status = pctl_ledger_account_read(s, account, call, &a);

	bond = a.bond;
	if (status == PCTL_OK)
		status = pctl_ledger_check_amount(amount, call);
	if (status == PCTL_OK)
		status = pctl_ledger_take(&bond, amount, account, "bond", call);
	if (status == PCTL_OK)
		status = pctl_cursor_height(due, call);
	if (status != PCTL_OK)
		return status;
	status = pctl_cursor_open(s, call, &stmt,
				  "SELECT amount FROM unbondings WHERE account = ? AND height = ?",
				  "th", account, due);
	status = sum(s, stmt, status, call, &there);
	if (status == PCTL_OK)
		status = pctl_ledger_add(&there, amount, "what is on its way back", call);
	if (status == PCTL_OK)
		status = store_bond(s, &a, bond, height, call);
	return status == PCTL_OK
		       ? pctl_cursor_write(s, call,
					   "INSERT OR REPLACE INTO unbondings VALUES (?, ?, ?)",
					   "tha", account, due, there)
		       : status;
}

/* ---- rows on their way back ---------------------------------------------------------------- */

typedef struct leaving {
	char account[PCTL_ACCOUNT_SIZE];
	uint64_t height, amount;
} leaving;

/* The first row of a statement over account, height, amount; takes the statement. */
static pctl_status first(pctl_chain_state *s, sqlite3_stmt *stmt, pctl_status status,
			 const pctl_call *call, leaving *out, int *found)
{
	memset(out, 0, sizeof(*out));
	*found = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, found);
	if (status == PCTL_OK && *found) {
		pctl_cursor_text(stmt, 0, out->account, sizeof(out->account));
		out->height = (uint64_t)sqlite3_column_int64(stmt, 1);
		status = pctl_cursor_amount(stmt, 2, call, &out->amount);
	}
	pctl_cursor_done(stmt);
	return status;
}

static pctl_status put_leaving(pctl_chain_state *s, const leaving *l, const pctl_call *call)
{
	return l->amount == 0
		       ? pctl_cursor_write(
				 s, call, "DELETE FROM unbondings WHERE account = ? AND height = ?",
				 "th", l->account, l->height)
		       : pctl_cursor_write(s, call,
					   "INSERT OR REPLACE INTO unbondings VALUES (?, ?, ?)",
					   "tha", l->account, l->height, l->amount);
}

pctl_status pctl_stake_release(pctl_chain_state *s, uint64_t height, const pctl_call *call)
{
	pctl_ledger_account a;
	pctl_status status = PCTL_OK;
	int more = 1;

	while (status == PCTL_OK) {
		sqlite3_stmt *stmt = NULL;
		leaving l;

		status = pctl_cursor_keep(s, call, &stmt,
					  "SELECT account, height, amount FROM unbondings WHERE "
					  "height <= ? ORDER BY height, account LIMIT 1",
					  "h", height);
		status = first(s, stmt, status, call, &l, &more);
		if (status != PCTL_OK || !more)
			break;
		status = pctl_ledger_account_read(s, l.account, call, &a);
		if (status == PCTL_OK)
			status = pctl_ledger_add(&a.balance, l.amount, "the balance", call);
		if (status == PCTL_OK)
			status = pctl_ledger_store(s, &a, call);
		l.amount = 0;
		if (status == PCTL_OK)
			status = put_leaving(s, &l, call);
	}
	return status;
}

/* ---- disputes ------------------------------------------------------------------------------ */

/* `amount` of what is on its way back, which has it, from the row that would be back last. */
static pctl_status take_leaving(pctl_chain_state *s, const char *account, uint64_t amount,
				const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	while (status == PCTL_OK && amount != 0) {
		sqlite3_stmt *stmt = NULL;
		uint64_t part;
		leaving l;
		int found;

		status = pctl_cursor_keep(s, call, &stmt,
					  "SELECT account, height, amount FROM unbondings WHERE "
					  "account = ? ORDER BY height DESC LIMIT 1",
					  "t", account);
		status = first(s, stmt, status, call, &l, &found);
		if (status == PCTL_OK && !found)
			status = pctl_refuse(call, PC5719_LEDGER_BROKEN,
					     "%s has not what is to be taken", account);
		if (status != PCTL_OK)
			break;
		part = amount < l.amount ? amount : l.amount;
		amount -= part;
		l.amount -= part;
		status = put_leaving(s, &l, call);
	}
	return status;
}

static uint64_t most_of(uint64_t gas, const pctl_params *p)
{
	uint64_t most;

	return pctl_num_mul(gas, p->values[PCTL_PARAM_SLASH_GAS], &most) ? most : UINT64_MAX;
}

pctl_status pctl_stake_slash(pctl_chain_state *s, uint64_t height,
			     const uint8_t job[PCTL_DIGEST_BYTES], const char *account,
			     uint64_t gas, uint64_t before, const pctl_params *p,
			     const pctl_call *call, uint64_t *out)
{
	const uint64_t most = most_of(gas, p);
	pctl_ledger_account a;
	pctl_ledger_totals was = {0, 0, 0}, t;
	uint64_t back = 0, all, amount, treasury, of_bond;
	pctl_status status = pctl_ledger_load(s, account, call, &a);

	*out = 0;
	if (status == PCTL_OK)
		status = pctl_stake_leaving(s, account, call, &back);
	all = a.bond;
	if (status == PCTL_OK)
		status = pctl_ledger_add(&all, back, "the stake", call);
	if (status == PCTL_OK)
		status = pctl_ledger_totals_read(s, call, &was);
	t = was;
	if (status != PCTL_OK || all == 0)
		return status;
	amount = pctl_amount_part_up(all, p->values[PCTL_PARAM_SLASH]);
	amount = amount < most ? amount : most;
	if (amount <= before)
		return PCTL_OK;
	amount -= before;
	treasury = pctl_amount_part(amount, p->values[PCTL_PARAM_SLASH_TREASURY]);
	of_bond = amount < a.bond ? amount : a.bond;
	status = pctl_ledger_add_totals(&t, treasury, amount - treasury, call);
	if (status == PCTL_OK)
		status = store_bond(s, &a, a.bond - of_bond, height, call);
	if (status == PCTL_OK)
		status = take_leaving(s, account, amount - of_bond, call);
	if (status == PCTL_OK)
		status = pctl_ledger_store_totals(s, &was, &t, call);
	if (status == PCTL_OK)
		status = pctl_cursor_write(s, call, "INSERT INTO slashes VALUES (?, ?, ?, ?, ?, ?)",
					   "dthaaa", job, account, height, amount, treasury,
					   amount - treasury);
	if (status == PCTL_OK)
		*out = amount;
	return status;
}
