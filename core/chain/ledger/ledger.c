/* Moves of the ledger: each reads what it touches, checks all of it, and only then writes. */
#include "chain/ledger/ledger_private.h"

#include <inttypes.h>
#include <string.h>

#include "chain/state/amount.h"
#include "chain/ledger/params.h"
#include "chain/state/cursor.h"

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyz0123456789._-"

pctl_status pctl_ledger_check_name(const char *name, const pctl_call *call)
{
	const size_t n = strlen(name);

	if (n >= 1 && n < PCTL_ACCOUNT_SIZE && strspn(name, NAME_CHARS) == n)
		return PCTL_OK;
	return pctl_refuse(call, PC5710_LEDGER_NAME,
			   "\"%.80s\" is no account name: 1 to 64 of a-z, 0-9, '.', '_', '-'",
			   name);
}

pctl_status pctl_ledger_check_amount(uint64_t amount, const pctl_call *call)
{
	return amount != 0 ? PCTL_OK : pctl_refuse(call, PC5711_LEDGER_AMOUNT, "the amount is 0");
}

static pctl_status overflow(const char *what, uint64_t have, uint64_t by, const pctl_call *call)
{
	return pctl_refuse(call, PC5712_LEDGER_OVERFLOW,
			   "%s: the sum of %" PRIu64 " and %" PRIu64 " is 2^64 or more", what, have,
			   by);
}

pctl_status pctl_ledger_add(uint64_t *to, uint64_t by, const char *what, const pctl_call *call)
{
	return pctl_amount_add(to, by) ? PCTL_OK : overflow(what, *to, by, call);
}

pctl_status pctl_ledger_take(uint64_t *from, uint64_t by, const char *name, const char *what,
			     const pctl_call *call)
{
	return pctl_amount_sub(from, by)
		       ? PCTL_OK
		       : pctl_refuse(call, PC5713_LEDGER_FUNDS,
				     "%s has a %s of %" PRIu64 ", %" PRIu64 " are needed", name,
				     what, *from, by);
}

/* ---- accounts ------------------------------------------------------------------------------ */

/* Read an account; *found is 0, and all amounts are, when there is none. */
static pctl_status load(pctl_chain_state *s, const char *name, const pctl_call *call,
			pctl_ledger_account *out, int *found)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status = pctl_ledger_check_name(name, call);

	memset(out, 0, sizeof(*out));
	*found = 0;
	if (status != PCTL_OK)
		return status;
	memcpy(out->name, name, strlen(name));
	status = pctl_cursor_keep(s, call, &stmt,
				  "SELECT balance, reserved, bond FROM accounts WHERE name = ?",
				  "t", name);
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, found);
	if (status == PCTL_OK && *found) {
		status = pctl_cursor_amount(stmt, 0, call, &out->balance);
		if (status == PCTL_OK)
			status = pctl_cursor_amount(stmt, 1, call, &out->reserved);
		if (status == PCTL_OK)
			status = pctl_cursor_amount(stmt, 2, call, &out->bond);
	}
	pctl_cursor_done(stmt);
	return status;
}

/* For who gets: an account that is not there begins with nothing. */
pctl_status pctl_ledger_load(pctl_chain_state *s, const char *name, const pctl_call *call,
			     pctl_ledger_account *out)
{
	int found;

	return load(s, name, call, out, &found);
}

pctl_status pctl_ledger_account_read(pctl_chain_state *s, const char *name, const pctl_call *call,
				     pctl_ledger_account *out)
{
	int found;
	pctl_status status = load(s, name, call, out, &found);

	if (status == PCTL_OK && !found)
		return pctl_refuse(call, PC5714_LEDGER_ACCOUNT, "no account \"%s\"", name);
	return status;
}

pctl_status pctl_ledger_store(pctl_chain_state *s, const pctl_ledger_account *a,
			      const pctl_call *call)
{
	return pctl_cursor_write(
		s, call,
		"INSERT INTO accounts VALUES (?1, ?2, ?3, ?4, 0) ON CONFLICT (name) "
		"DO UPDATE SET balance = ?2, reserved = ?3, bond = ?4",
		"taaa", a->name, a->balance, a->reserved, a->bond);
}

/* ---- totals -------------------------------------------------------------------------------- */

static pctl_status read_total(sqlite3_stmt *stmt, const pctl_call *call, pctl_ledger_totals *out)
{
	char name[16];

	pctl_cursor_text(stmt, 0, name, sizeof(name));
	if (strcmp(name, "supply") == 0)
		return pctl_cursor_amount(stmt, 1, call, &out->supply);
	if (strcmp(name, "treasury") == 0)
		return pctl_cursor_amount(stmt, 1, call, &out->treasury);
	if (strcmp(name, "burned") == 0)
		return pctl_cursor_amount(stmt, 1, call, &out->burned);
	return pctl_refuse(call, PC5719_LEDGER_BROKEN, "a total named \"%s\"", name);
}

pctl_status pctl_ledger_totals_read(pctl_chain_state *s, const pctl_call *call,
				    pctl_ledger_totals *out)
{
	sqlite3_stmt *stmt = NULL;
	int more = 1;
	pctl_status status = pctl_cursor_keep(s, call, &stmt,
					      "SELECT name, amount FROM totals ORDER BY name", "");

	memset(out, 0, sizeof(*out));
	while (status == PCTL_OK) {
		status = pctl_cursor_next(s, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		status = read_total(stmt, call, out);
	}
	pctl_cursor_done(stmt);
	return status;
}

static pctl_status store_total(pctl_chain_state *s, const char *name, uint64_t was, uint64_t amount,
			       const pctl_call *call)
{
	return was == amount
		       ? PCTL_OK
		       : pctl_cursor_write(s, call, "UPDATE totals SET amount = ? WHERE name = ?",
					   "at", amount, name);
}

pctl_status pctl_ledger_store_totals(pctl_chain_state *s, const pctl_ledger_totals *was,
				     const pctl_ledger_totals *t, const pctl_call *call)
{
	pctl_status status;

	if (was->supply == 0)
		return pctl_cursor_write(s, call,
					 "INSERT OR REPLACE INTO totals VALUES ('burned', ?), "
					 "('supply', ?), ('treasury', ?)",
					 "aaa", t->burned, t->supply, t->treasury);
	status = store_total(s, "burned", was->burned, t->burned, call);
	if (status == PCTL_OK)
		status = store_total(s, "supply", was->supply, t->supply, call);
	return status == PCTL_OK ? store_total(s, "treasury", was->treasury, t->treasury, call)
				 : status;
}

pctl_status pctl_ledger_add_totals(pctl_ledger_totals *t, uint64_t treasury, uint64_t burned,
				   const pctl_call *call)
{
	pctl_status status = pctl_ledger_add(&t->treasury, treasury, "the treasury", call);

	return status == PCTL_OK ? pctl_ledger_add(&t->burned, burned, "burned gas", call) : status;
}

/* ---- credit, transfer ---------------------------------------------------------------------- */

pctl_status pctl_ledger_credit(pctl_chain_state *s, const char *account, uint64_t amount,
			       const pctl_call *call)
{
	pctl_ledger_account a;
	pctl_ledger_totals was = {0, 0, 0}, t;
	pctl_status status = pctl_ledger_load(s, account, call, &a);

	if (status == PCTL_OK)
		status = pctl_ledger_check_amount(amount, call);
	if (status == PCTL_OK)
		status = pctl_ledger_totals_read(s, call, &was);
	t = was;
	if (status == PCTL_OK)
		status = pctl_ledger_add(&t.supply, amount, "the supply", call);
	if (status == PCTL_OK)
		status = pctl_ledger_add(&a.balance, amount, "the balance", call);
	if (status == PCTL_OK)
		status = pctl_ledger_store(s, &a, call);
	return status == PCTL_OK ? pctl_ledger_store_totals(s, &was, &t, call) : status;
}

pctl_status pctl_ledger_transfer(pctl_chain_state *s, const char *from, const char *to,
				 uint64_t amount, const pctl_call *call)
{
	pctl_ledger_account a, b;
	pctl_status status = pctl_ledger_account_read(s, from, call, &a);

	if (status == PCTL_OK)
		status = pctl_ledger_load(s, to, call, &b);
	if (status == PCTL_OK)
		status = pctl_ledger_check_amount(amount, call);
	if (status == PCTL_OK)
		status = pctl_ledger_take(&a.balance, amount, from, "balance", call);
	if (status != PCTL_OK || strcmp(from, to) == 0)
		return status;
	status = pctl_ledger_add(&b.balance, amount, "the balance", call);
	if (status == PCTL_OK)
		status = pctl_ledger_store(s, &a, call);
	return status == PCTL_OK ? pctl_ledger_store(s, &b, call) : status;
}

/* store: of the account, whatever else that writes. */
static pctl_status
pay(pctl_chain_state *s, pctl_ledger_account *a, uint64_t amount, uint64_t treasury,
    pctl_status (*store)(pctl_chain_state *s, const pctl_ledger_account *a, const pctl_call *call),
    const pctl_call *call)
{
	pctl_ledger_totals was = {0, 0, 0}, t;
	pctl_status status = pctl_ledger_take(&a->balance, amount, a->name, "balance", call);

	if (status == PCTL_OK)
		status = pctl_ledger_totals_read(s, call, &was);
	t = was;
	if (status == PCTL_OK)
		status = pctl_ledger_add_totals(&t, treasury, amount - treasury, call);
	if (status == PCTL_OK)
		status = store(s, a, call);
	return status == PCTL_OK ? pctl_ledger_store_totals(s, &was, &t, call) : status;
}

pctl_status pctl_ledger_pay(pctl_chain_state *s, const char *account, uint64_t amount,
			    uint64_t treasury_ppm, const pctl_call *call)
{
	pctl_ledger_account a;
	const pctl_status status = pctl_ledger_account_read(s, account, call, &a);

	return status == PCTL_OK ? pay(s, &a, amount, pctl_amount_part(amount, treasury_ppm),
				       pctl_ledger_store, call)
				 : status;
}

static pctl_status store_used(pctl_chain_state *s, const pctl_ledger_account *a,
			      const pctl_call *call)
{
	return pctl_cursor_write(s, call,
				 "UPDATE accounts SET balance = ?2, reserved = ?3, bond = ?4, "
				 "sequence = sequence + 1 WHERE name = ?1",
				 "taaa", a->name, a->balance, a->reserved, a->bond);
}

pctl_status pctl_ledger_burn(pctl_chain_state *s, pctl_ledger_account *account, uint64_t amount,
			     int uses_number, const pctl_call *call)
{
	return pay(s, account, amount, 0, uses_number ? store_used : pctl_ledger_store, call);
}

/* ---- jobs ---------------------------------------------------------------------------------- */

static pctl_status check_new_job(pctl_chain_state *s, const uint8_t job[PCTL_DIGEST_BYTES],
				 const pctl_call *call)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	sqlite3_stmt *stmt = NULL;
	int found = 0;
	pctl_status status = pctl_cursor_keep(s, call, &stmt,
					      "SELECT 1 FROM reservations WHERE job = ? UNION ALL "
					      "SELECT 1 FROM settlements WHERE job = ?",
					      "dd", job, job);

	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &found);
	pctl_cursor_done(stmt);
	if (status == PCTL_OK && found)
		return pctl_refuse(call, PC5715_LEDGER_JOB_TWICE, "job %s",
				   pctl_digest_hex(job, hex));
	return status;
}

static pctl_status set_aside(pctl_chain_state *s, pctl_ledger_account *a, uint64_t amount,
			     const pctl_call *call)
{
	pctl_status status = pctl_ledger_take(&a->balance, amount, a->name, "balance", call);

	if (status == PCTL_OK)
		status = pctl_ledger_add(&a->reserved, amount, "reserved gas", call);
	return status == PCTL_OK ? pctl_ledger_store(s, a, call) : status;
}

pctl_status pctl_ledger_set_aside(pctl_chain_state *s, const char *account, uint64_t amount,
				  const pctl_call *call)
{
	pctl_ledger_account a;
	const pctl_status status = pctl_ledger_account_read(s, account, call, &a);

	return status == PCTL_OK ? set_aside(s, &a, amount, call) : status;
}

pctl_status pctl_ledger_give_back(pctl_chain_state *s, const char *account, uint64_t amount,
				  const pctl_call *call)
{
	pctl_ledger_account a;
	pctl_status status = pctl_ledger_account_read(s, account, call, &a);

	if (status == PCTL_OK && !pctl_amount_sub(&a.reserved, amount))
		status = pctl_refuse(call, PC5719_LEDGER_BROKEN,
				     "%s has %" PRIu64 " reserved and a job of %" PRIu64, account,
				     a.reserved, amount);
	if (status == PCTL_OK)
		status = pctl_ledger_add(&a.balance, amount, "the balance", call);
	return status == PCTL_OK ? pctl_ledger_store(s, &a, call) : status;
}

pctl_status pctl_ledger_is_reserved(pctl_chain_state *s, const uint8_t job[PCTL_DIGEST_BYTES],
				    const pctl_call *call, int *out)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status = pctl_cursor_keep(s, call, &stmt,
					      "SELECT 1 FROM reservations WHERE job = ?", "d", job);

	*out = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, out);
	pctl_cursor_done(stmt);
	return status;
}

pctl_status pctl_ledger_reserve(pctl_chain_state *s, const uint8_t job[PCTL_DIGEST_BYTES],
				const char *account, uint64_t amount, const pctl_call *call)
{
	pctl_ledger_account a;
	pctl_status status = pctl_ledger_account_read(s, account, call, &a);

	if (status == PCTL_OK)
		status = check_new_job(s, job, call);
	if (status == PCTL_OK)
		status = set_aside(s, &a, amount, call);
	if (status == PCTL_OK)
		status = pctl_cursor_write(s, call, "INSERT INTO reservations VALUES (?, ?, ?)",
					   "dta", job, account, amount);
	return status;
}

/* ---- bonds --------------------------------------------------------------------------------- */

pctl_status pctl_ledger_bond(pctl_chain_state *s, const char *account, uint64_t amount,
			     const pctl_call *call)
{
	pctl_ledger_account a;
	pctl_status status = pctl_ledger_account_read(s, account, call, &a);

	if (status == PCTL_OK)
		status = pctl_ledger_check_amount(amount, call);
	if (status == PCTL_OK)
		status = pctl_ledger_take(&a.balance, amount, account, "balance", call);
	if (status == PCTL_OK)
		status = pctl_ledger_add(&a.bond, amount, "the bond", call);
	return status == PCTL_OK ? pctl_ledger_store(s, &a, call) : status;
}

pctl_status pctl_ledger_unbond(pctl_chain_state *s, const char *account, uint64_t amount,
			       const pctl_call *call)
{
	pctl_ledger_account a;
	pctl_status status = pctl_ledger_account_read(s, account, call, &a);

	if (status == PCTL_OK)
		status = pctl_ledger_check_amount(amount, call);
	if (status == PCTL_OK)
		status = pctl_ledger_take(&a.bond, amount, account, "bond", call);
	if (status == PCTL_OK)
		status = pctl_ledger_add(&a.balance, amount, "the balance", call);
	return status == PCTL_OK ? pctl_ledger_store(s, &a, call) : status;
}

static pctl_status check_new_verdict(pctl_chain_state *s, const uint8_t verdict[PCTL_DIGEST_BYTES],
				     const char *account, const pctl_call *call)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	sqlite3_stmt *stmt = NULL;
	int found = 0;
	pctl_status status = pctl_cursor_keep(
		s, call, &stmt, "SELECT 1 FROM slashes WHERE verdict = ? AND account = ?", "dt",
		verdict, account);

	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &found);
	pctl_cursor_done(stmt);
	if (status == PCTL_OK && found)
		return pctl_refuse(call, PC5718_LEDGER_VERDICT,
				   "verdict %s has slashed account \"%s\" before",
				   pctl_digest_hex(verdict, hex), account);
	return status;
}

pctl_status pctl_ledger_slash(pctl_chain_state *s, uint64_t height,
			      const uint8_t verdict[PCTL_DIGEST_BYTES], const char *account,
			      const pctl_call *call, uint64_t *out)
{
	pctl_ledger_account a;
	pctl_ledger_totals was = {0, 0, 0}, t;
	pctl_params p;
	uint64_t amount, treasury;
	pctl_status status = pctl_ledger_account_read(s, account, call, &a);

	*out = 0;
	if (status == PCTL_OK)
		status = check_new_verdict(s, verdict, account, call);
	if (status == PCTL_OK && a.bond == 0)
		return pctl_refuse(call, PC5713_LEDGER_FUNDS, "%s has no bond to slash", account);
	if (status == PCTL_OK)
		status = pctl_params_in_force(s, height, call, &p);
	if (status == PCTL_OK)
		status = pctl_ledger_totals_read(s, call, &was);
	t = was;
	if (status != PCTL_OK)
		return status;
	amount = pctl_amount_part_up(a.bond, p.values[PCTL_PARAM_SLASH]);
	treasury = pctl_amount_part(amount, p.values[PCTL_PARAM_SLASH_TREASURY]);
	a.bond -= amount; /* a part of it */
	status = pctl_ledger_add_totals(&t, treasury, amount - treasury, call);
	if (status == PCTL_OK)
		status = pctl_ledger_store(s, &a, call);
	if (status == PCTL_OK)
		status = pctl_ledger_store_totals(s, &was, &t, call);
	if (status == PCTL_OK)
		status = pctl_cursor_write(s, call, "INSERT INTO slashes VALUES (?, ?, ?, ?, ?, ?)",
					   "dthaaa", verdict, account, height, amount, treasury,
					   amount - treasury);
	if (status == PCTL_OK)
		*out = amount;
	return status;
}
