/* Rows of the ledger, shared by its moves. Internal to core/chain/ledger: inside a transaction, nothing is checked here but names. */
#ifndef PIPECTL_CHAIN_LEDGER_LEDGER_PRIVATE_H
#define PIPECTL_CHAIN_LEDGER_LEDGER_PRIVATE_H

#include "chain/ledger/ledger.h"
#include "chain/ledger/params.h"
#include "foundation/base/arena.h"
#include "foundation/base/map.h"

/* An account that gets: one that is not there has nothing. PC5710. */
pctl_status pctl_ledger_load(pctl_chain_state *s, const char *name, const pctl_call *call,
			     pctl_ledger_account *out);
pctl_status pctl_ledger_store(pctl_chain_state *s, const pctl_ledger_account *a,
			      const pctl_call *call);
/* was: as they were read before; a chain that has anything has all three rows, and those that are the same are not written. */
pctl_status pctl_ledger_store_totals(pctl_chain_state *s, const pctl_ledger_totals *was,
				     const pctl_ledger_totals *t, const pctl_call *call);
/* PC5712 where the sum does not fit. */
pctl_status pctl_ledger_add(uint64_t *to, uint64_t by, const char *what, const pctl_call *call);
/* PC5713 where less is there; what: "balance", "bond". */
pctl_status pctl_ledger_take(uint64_t *from, uint64_t by, const char *name, const char *what,
			     const pctl_call *call);
/* PC5711 for 0. */
pctl_status pctl_ledger_check_amount(uint64_t amount, const pctl_call *call);
/* To the treasury and to what is burned. */
pctl_status pctl_ledger_add_totals(pctl_ledger_totals *t, uint64_t treasury, uint64_t burned,
				   const pctl_call *call);
/* How charged gas is split under these parameters (pctl_ledger_settle). */
void pctl_ledger_split_by(const pctl_params *p, uint64_t charged, pctl_ledger_split *out);

/* ---- jobs without a row here (ledger_jobs.c) ------------------------------------------------- */

/* What one had set aside, what of it was charged, and who was paid; executor "": it never ran. */
typedef struct pctl_ledger_settled {
	uint64_t reserved, charged;
	pctl_ledger_split split;
	char executor[PCTL_ACCOUNT_SIZE];
} pctl_ledger_settled;
typedef pctl_status (*pctl_ledger_settled_fn)(void *ctx, const pctl_ledger_settled *job,
					      const pctl_call *call);
/* Those that ended in a block, of an account as who pays, and those that it was paid for; in no order. */
pctl_status pctl_ledger_jobs_of_block(pctl_chain_state *s, uint64_t height,
				      pctl_ledger_settled_fn show, void *ctx,
				      const pctl_call *call);
pctl_status pctl_ledger_jobs_of_account(pctl_chain_state *s, const char *account,
					pctl_ledger_settled_fn show, void *ctx,
					const pctl_call *call);
pctl_status pctl_ledger_jobs_of_executor(pctl_chain_state *s, const char *account,
					 pctl_ledger_settled_fn show, void *ctx,
					 const pctl_call *call);
/* What they have set aside, added to the sum of each account (uint64_t, in the arena). PC5719 from 2^64 on. */
pctl_status pctl_ledger_sum_jobs(pctl_chain_state *s, pctl_arena *arena, pctl_map *by_account,
				 const pctl_call *call);

#endif
