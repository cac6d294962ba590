/* What jobs are charged (ledger.h): accounts and totals are read once and written once for all of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain/ledger/ledger_private.h"
#include "chain/state/amount.h"
#include "chain/state/cursor.h"
#include "chain/state/tables.h"

struct pctl_ledger_tab {
	pctl_chain_state *s;
	uint64_t height;
	uint32_t has_totals, has_params;
	pctl_params params; /* in force at the height */
	pctl_ledger_totals totals, totals_were;
	pctl_arena *arena;
	pctl_map *accounts; /* by name; in the arena */
};

pctl_status pctl_ledger_tab_open(pctl_chain_state *s, uint64_t height, const pctl_call *call,
				 pctl_ledger_tab **out)
{
	pctl_ledger_tab *t = calloc(1, sizeof(*t));

	*out = t;
	if (t == NULL)
		return pctl_no_memory(call, "a ledger");
	t->s = s;
	t->height = height;
	t->arena = pctl_arena_create();
	t->accounts = pctl_map_create();
	if (t->arena != NULL && t->accounts != NULL)
		return PCTL_OK;
	pctl_ledger_tab_drop(t);
	*out = NULL;
	return pctl_no_memory(call, "a ledger");
}

void pctl_ledger_tab_drop(pctl_ledger_tab *t)
{
	if (t == NULL)
		return;
	pctl_map_destroy(t->accounts);
	pctl_arena_destroy(t->arena);
	free(t);
}

pctl_status pctl_ledger_tab_close(pctl_ledger_tab *t, const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < pctl_map_count(t->accounts); i++)
		status = pctl_ledger_store(t->s, pctl_map_value_at(t->accounts, i), call);
	if (status == PCTL_OK && t->has_totals)
		status = pctl_ledger_store_totals(t->s, &t->totals_were, &t->totals, call);
	pctl_ledger_tab_drop(t);
	return status;
}

/* ---- accounts ------------------------------------------------------------------------------ */

/* must: PC5714 where there is none; else one that is not there has nothing. */
static pctl_status account(pctl_ledger_tab *t, const char *name, int must, const pctl_call *call,
			   pctl_ledger_account **out)
{
	pctl_ledger_account read;
	pctl_status status = PCTL_OK;

	*out = pctl_map_get(t->accounts, name);
	if (*out != NULL)
		return PCTL_OK;
	status = must ? pctl_ledger_account_read(t->s, name, call, &read)
		      : pctl_ledger_load(t->s, name, call, &read);
	if (status != PCTL_OK)
		return status;
	*out = pctl_arena_alloc(t->arena, sizeof(**out));
	if (*out == NULL || !pctl_map_put(t->accounts, name, *out))
		return pctl_no_memory(call, "a ledger");
	**out = read;
	return PCTL_OK;
}

static pctl_status totals(pctl_ledger_tab *t, const pctl_call *call)
{
	pctl_status status;

	if (t->has_totals)
		return PCTL_OK;
	status = pctl_ledger_totals_read(t->s, call, &t->totals_were);
	t->totals = t->totals_were;
	t->has_totals = status == PCTL_OK;
	return status;
}

/* ---- a job --------------------------------------------------------------------------------- */

static pctl_status payer_of(pctl_ledger_tab *t, const char *name, uint64_t amount,
			    const pctl_call *call, pctl_ledger_account **out)
{
	const pctl_status status = account(t, name, 1, call, out);

	if (status == PCTL_OK && (*out)->reserved < amount)
		return pctl_refuse(call, PC5719_LEDGER_BROKEN,
				   "%s has %" PRIu64 " reserved and a job of %" PRIu64, name,
				   (*out)->reserved, amount);
	return status;
}

static pctl_status reservation_of(pctl_ledger_tab *t, const uint8_t job[PCTL_DIGEST_BYTES],
				  const pctl_call *call, pctl_ledger_account **payer,
				  uint64_t *amount)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1], name[PCTL_ACCOUNT_SIZE] = "";
	sqlite3_stmt *stmt = NULL;
	int found = 0;
	pctl_status status = pctl_cursor_keep(
		t->s, call, &stmt, "SELECT * FROM main.reservations WHERE job = ?", "d", job);

	*amount = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_row(t->s, stmt, PCTL_STATE_reservations, call, &found);
	if (status == PCTL_OK && !found)
		status = pctl_refuse(call, PC5716_LEDGER_NO_RESERVATION, "job %s",
				     pctl_digest_hex(job, hex));
	if (status == PCTL_OK) {
		pctl_cursor_text(stmt, 1, name, sizeof(name));
		status = pctl_cursor_amount(stmt, 2, call, amount);
	}
	pctl_cursor_done(stmt);
	return status == PCTL_OK ? payer_of(t, name, *amount, call, payer) : status;
}

/* What a job leaves behind: its reservation goes, its settlement stays for reports and against a second time. */
static pctl_status end_job(const pctl_ledger_tab *t, const uint8_t job[PCTL_DIGEST_BYTES],
			   const char *payer, const char *executor, uint64_t reserved,
			   uint64_t charged, const pctl_ledger_split *split, const pctl_call *call)
{
	pctl_status status =
		pctl_cursor_write(t->s, call, "DELETE FROM reservations WHERE job = ?", "d", job);

	if (status == PCTL_OK)
		status = pctl_cursor_write(
			t->s, call, "INSERT INTO settlements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			"dhttaaaaa", job, t->height, payer, executor, reserved, charged,
			split->executor, split->treasury, split->burned);
	return status;
}

void pctl_ledger_split_by(const pctl_params *p, uint64_t charged, pctl_ledger_split *out)
{
	out->executor = pctl_amount_part(charged, p->values[PCTL_PARAM_SPLIT_EXECUTOR]);
	out->treasury = pctl_amount_part(charged, p->values[PCTL_PARAM_SPLIT_TREASURY]);
	out->burned = charged - out->executor - out->treasury;
}

static pctl_status split_charge(pctl_ledger_tab *t, uint64_t charged, const pctl_call *call,
				pctl_ledger_split *out)
{
	pctl_status status = PCTL_OK;

	if (!t->has_params)
		status = pctl_params_in_force(t->s, t->height, call, &t->params);
	if (status != PCTL_OK)
		return status;
	t->has_params = 1;
	pctl_ledger_split_by(&t->params, charged, out);
	return PCTL_OK;
}

/* What is refused changes nothing. */
static pctl_status move(pctl_ledger_tab *t, pctl_ledger_account *payer, pctl_ledger_account *earner,
			uint64_t reserved, uint64_t charged, const pctl_ledger_split *split,
			const pctl_call *call)
{
	pctl_ledger_totals sums = t->totals;
	pctl_ledger_account pays = *payer, other = *earner, *earns = &other;
	pctl_status status = pctl_ledger_add_totals(&sums, split->treasury, split->burned, call);

	if (earner == payer)
		earns = &pays;
	pays.reserved -= reserved;
	if (status == PCTL_OK)
		status = pctl_ledger_add(&pays.balance, reserved - charged, "the balance", call);
	if (status == PCTL_OK)
		status = pctl_ledger_add(&earns->balance, split->executor, "the executor's balance",
					 call);
	if (status != PCTL_OK)
		return status;
	t->totals = sums;
	*payer = pays;
	if (earner != payer)
		*earner = other;
	return PCTL_OK;
}

static pctl_status charge(pctl_ledger_tab *t, pctl_ledger_account *payer, uint64_t reserved,
			  uint64_t charged, const char *executor, const pctl_call *call,
			  pctl_ledger_split *split)
{
	pctl_ledger_account *earner = NULL;
	pctl_status status = account(t, executor, 0, call, &earner);

	if (status == PCTL_OK && charged > reserved)
		return pctl_refuse(call, PC5717_LEDGER_CHARGE,
				   "%" PRIu64 " charged, %" PRIu64 " reserved", charged, reserved);
	if (status == PCTL_OK)
		status = split_charge(t, charged, call, split);
	if (status == PCTL_OK)
		status = totals(t, call);
	return status == PCTL_OK ? move(t, payer, earner, reserved, charged, split, call) : status;
}

pctl_status pctl_ledger_tab_settle(pctl_ledger_tab *t, const uint8_t job[PCTL_DIGEST_BYTES],
				   uint64_t charged, const char *executor, const pctl_call *call,
				   pctl_ledger_split *out)
{
	pctl_ledger_account *payer = NULL;
	pctl_ledger_split split = {0, 0, 0};
	uint64_t reserved;
	pctl_status status = reservation_of(t, job, call, &payer, &reserved);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = charge(t, payer, reserved, charged, executor, call, &split);
	if (status == PCTL_OK)
		status = end_job(t, job, payer->name, executor, reserved, charged, &split, call);
	if (status == PCTL_OK)
		*out = split;
	return status;
}

pctl_status pctl_ledger_tab_release(pctl_ledger_tab *t, const uint8_t job[PCTL_DIGEST_BYTES],
				    const pctl_call *call)
{
	const pctl_ledger_split nothing = {0, 0, 0};
	pctl_ledger_account *payer = NULL;
	uint64_t reserved;
	pctl_status status = pctl_cursor_height(t->height, call);

	if (status == PCTL_OK)
		status = reservation_of(t, job, call, &payer, &reserved);
	if (status == PCTL_OK)
		status = move(t, payer, payer, reserved, 0, &nothing, call);
	/* No executor: the mark of a job that never ran. */
	return status == PCTL_OK ? end_job(t, job, payer->name, "", reserved, 0, &nothing, call)
				 : status;
}

pctl_status pctl_ledger_tab_charge(pctl_ledger_tab *t, const char *payer, uint64_t reserved,
				   uint64_t charged, const char *executor, const pctl_call *call)
{
	pctl_ledger_split split = {0, 0, 0};
	pctl_ledger_account *from = NULL;
	const pctl_status status = payer_of(t, payer, reserved, call, &from);

	if (status != PCTL_OK)
		return status;
	return executor == NULL ? move(t, from, from, reserved, 0, &split, call)
				: charge(t, from, reserved, charged, executor, call, &split);
}

/* ---- one alone ----------------------------------------------------------------------------- */

static pctl_status ended(pctl_ledger_tab *t, pctl_status status, const pctl_call *call)
{
	if (status == PCTL_OK)
		return pctl_ledger_tab_close(t, call);
	pctl_ledger_tab_drop(t);
	return status;
}

pctl_status pctl_ledger_settle(pctl_chain_state *s, uint64_t height,
			       const uint8_t job[PCTL_DIGEST_BYTES], uint64_t charged,
			       const char *executor, const pctl_call *call, pctl_ledger_split *out)
{
	pctl_ledger_tab *t;
	const pctl_status status = pctl_ledger_tab_open(s, height, call, &t);

	memset(out, 0, sizeof(*out));
	return status == PCTL_OK
		       ? ended(t, pctl_ledger_tab_settle(t, job, charged, executor, call, out),
			       call)
		       : status;
}

pctl_status pctl_ledger_release(pctl_chain_state *s, uint64_t height,
				const uint8_t job[PCTL_DIGEST_BYTES], const pctl_call *call)
{
	pctl_ledger_tab *t;
	const pctl_status status = pctl_ledger_tab_open(s, height, call, &t);

	return status == PCTL_OK ? ended(t, pctl_ledger_tab_release(t, job, call), call) : status;
}
