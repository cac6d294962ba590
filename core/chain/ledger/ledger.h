/* The gas ledger: accounts with balance, reserved gas and bond, the treasury, and what was burned. All of it together,
 * with the bonds that are on their way back (stake.h), is the supply, which only a credit changes. */
#ifndef PIPECTL_CHAIN_LEDGER_LEDGER_H
#define PIPECTL_CHAIN_LEDGER_LEDGER_H

#include "chain/state/state.h"

#define PCTL_ACCOUNT_SIZE 65u /* 1 to 64 of [a-z0-9._-] and a NUL */

/*
 * Every function that changes the ledger runs inside an open transaction of state.h (an assertion), checks first and
 * writes last: after a refusal (a code from PC5710 on) no row has changed and the transaction can go on. After PC5701
 * or PC5703 the caller rolls back. Amounts never wrap: PC5712. Names are checked: PC5710. An unknown account that
 * gives is PC5714; one that gets begins there. `height` is that of the block that carries the step (PC5725 when it
 * cannot be kept) and decides the parameters in force.
 */

/* New supply for an account. PC5711 for 0, here and wherever an amount is asked for, unless it says otherwise. */
pctl_status pctl_ledger_credit(pctl_chain_state *s, const char *account, uint64_t amount,
			       const pctl_call *call);
/* PC5713 when the balance is below the amount. To oneself it changes nothing. */
pctl_status pctl_ledger_transfer(pctl_chain_state *s, const char *from, const char *to,
				 uint64_t amount, const pctl_call *call);

/* From a balance to the treasury, treasury_ppm of it rounded down; the rest is burned. 0 is allowed. PC5713. */
pctl_status pctl_ledger_pay(pctl_chain_state *s, const char *account, uint64_t amount,
			    uint64_t treasury_ppm, const pctl_call *call);

/* The same of an account as it was just read, which has that much or is refused, all of it burned; uses_number: and one sequence number is used up. */
struct pctl_ledger_account;
pctl_status pctl_ledger_burn(pctl_chain_state *s, struct pctl_ledger_account *account,
			     uint64_t amount, int uses_number, const pctl_call *call);

/* ---- gas of jobs --------------------------------------------------------------------------- */

/* Set gas aside when a job is submitted; 0 is allowed. PC5713, PC5715 (this id was reserved for before). */
pctl_status pctl_ledger_reserve(pctl_chain_state *s, const uint8_t job[PCTL_DIGEST_BYTES],
				const char *account, uint64_t amount, const pctl_call *call);

/*
 * The same of a job whose row says all of it, from version 2 of the rules on: it has neither a reservation nor a settlement, for what was set aside is
 * its gas_limit and tip, what it was charged follows from how it ended, and who got what from the block that ended it. Only rows of accounts change; that
 * no job is settled twice is its row's to say. set_aside: PC5713. give_back: of one that never ran, PC5719 where less is reserved.
 */
pctl_status pctl_ledger_set_aside(pctl_chain_state *s, const char *account, uint64_t amount,
				  const pctl_call *call);
pctl_status pctl_ledger_give_back(pctl_chain_state *s, const char *account, uint64_t amount,
				  const pctl_call *call);
/* 1 in *out where a job has a reservation of its own. */
pctl_status pctl_ledger_is_reserved(pctl_chain_state *s, const uint8_t job[PCTL_DIGEST_BYTES],
				    const pctl_call *call, int *out);

/* How charged gas was split. executor + treasury + burned is what was charged. */
typedef struct pctl_ledger_split {
	uint64_t executor, treasury, burned;
} pctl_ledger_split;

/*
 * Charge a job that ran and give back the rest of its reservation. With the parameters in force at `height`,
 *     executor = charged * split_executor_ppm / 10^6, rounded down
 *     treasury = charged * split_treasury_ppm / 10^6, rounded down
 *     burned   = the rest of charged: its own share and the 0 to 2 units that rounding left
 * Errors: PC5716, PC5717 (more than was reserved), PC5723 (no parameters).
 */
pctl_status pctl_ledger_settle(pctl_chain_state *s, uint64_t height,
			       const uint8_t job[PCTL_DIGEST_BYTES], uint64_t charged,
			       const char *executor, const pctl_call *call, pctl_ledger_split *out);
/* A job that never ran: all of its reservation goes back. PC5716. */
pctl_status pctl_ledger_release(pctl_chain_state *s, uint64_t height,
				const uint8_t job[PCTL_DIGEST_BYTES], const pctl_call *call);

/* The same for many jobs of one height: each moves what it moves alone, and rows of accounts and totals are written at close, or not
 * at all. Meanwhile nothing else may change or read them. The tab is gone after close and drop. */
typedef struct pctl_ledger_tab pctl_ledger_tab;
pctl_status pctl_ledger_tab_open(pctl_chain_state *s, uint64_t height, const pctl_call *call,
				 pctl_ledger_tab **out);
pctl_status pctl_ledger_tab_settle(pctl_ledger_tab *t, const uint8_t job[PCTL_DIGEST_BYTES],
				   uint64_t charged, const char *executor, const pctl_call *call,
				   pctl_ledger_split *out);
pctl_status pctl_ledger_tab_release(pctl_ledger_tab *t, const uint8_t job[PCTL_DIGEST_BYTES],
				    const pctl_call *call);
/* One whose row says all of it: `reserved` of it comes back to `payer`, but for what is charged. executor NULL: it never ran, and `charged` is 0. */
pctl_status pctl_ledger_tab_charge(pctl_ledger_tab *t, const char *payer, uint64_t reserved,
				   uint64_t charged, const char *executor, const pctl_call *call);
pctl_status pctl_ledger_tab_close(pctl_ledger_tab *t, const pctl_call *call);
void pctl_ledger_tab_drop(pctl_ledger_tab *t);

/* ---- bonds --------------------------------------------------------------------------------- */

/* From balance to bond, and back; PC5713. */
pctl_status pctl_ledger_bond(pctl_chain_state *s, const char *account, uint64_t amount,
			     const pctl_call *call);
pctl_status pctl_ledger_unbond(pctl_chain_state *s, const char *account, uint64_t amount,
			       const pctl_call *call);
/*
 * A verdict takes slash_ppm of the bond, rounded up; of that slash_treasury_ppm, rounded down, goes to the treasury
 * and the rest is burned. *out is what was taken. PC5713 (no bond), PC5718 (this verdict took from this account
 * before), PC5723.
 */
pctl_status pctl_ledger_slash(pctl_chain_state *s, uint64_t height,
			      const uint8_t verdict[PCTL_DIGEST_BYTES], const char *account,
			      const pctl_call *call, uint64_t *out);

/* ---- reading ------------------------------------------------------------------------------- */

/* PC5710 unless the name can be that of an account. */
pctl_status pctl_ledger_check_name(const char *name, const pctl_call *call);

typedef struct pctl_ledger_account {
	char name[PCTL_ACCOUNT_SIZE];
	uint64_t balance, reserved, bond;
} pctl_ledger_account;

/* PC5714 when there is none. */
pctl_status pctl_ledger_account_read(pctl_chain_state *s, const char *name, const pctl_call *call,
				     pctl_ledger_account *out);
/* All accounts in the order of their names, until `visit` answers other than 0. */
pctl_status pctl_ledger_accounts(pctl_chain_state *s,
				 int (*visit)(void *ctx, const pctl_ledger_account *account),
				 void *ctx, const pctl_call *call);

typedef struct pctl_ledger_totals {
	uint64_t supply, treasury, burned;
} pctl_ledger_totals;
pctl_status pctl_ledger_totals_read(pctl_chain_state *s, const pctl_call *call,
				    pctl_ledger_totals *out);

/* PC5719 unless supply = balances + reserved + bonds (those on their way back too) + treasury + burned, and each account's reserved gas is the sum of
 * its reservations and of what its jobs without one have set aside. */
pctl_status pctl_ledger_check(pctl_chain_state *s, const pctl_call *call);

/*
 * What jobs and verdicts moved. Sums over a long history may pass 64 bits, as gas goes round: PC5712 then.
 *
 * settled, released  jobs that ran, and that never did
 * reserved           of both; charged + refunded = reserved
 * slashed            taken from bonds; slashed_treasury + slashed_burned = slashed
 */
typedef struct pctl_ledger_report {
	uint64_t settled, released;
	uint64_t reserved, charged, refunded;
	pctl_ledger_split split;
	uint64_t slashes, slashed, slashed_treasury, slashed_burned;
} pctl_ledger_report;

/* Of one block. */
pctl_status pctl_ledger_block_report(pctl_chain_state *s, uint64_t height, const pctl_call *call,
				     pctl_ledger_report *out);
/* Of one account: as who pays (and whose bond is slashed); *earned is what it got as executor. */
pctl_status pctl_ledger_account_report(pctl_chain_state *s, const char *account,
				       const pctl_call *call, pctl_ledger_report *out,
				       uint64_t *earned);

#endif
