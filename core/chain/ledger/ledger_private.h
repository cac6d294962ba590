/* Rows of the ledger, shared by its moves. Internal to core/chain/ledger: inside a transaction, nothing is checked here but names. */
#ifndef PIPECTL_CHAIN_LEDGER_LEDGER_PRIVATE_H
#define PIPECTL_CHAIN_LEDGER_LEDGER_PRIVATE_H

#include "chain/ledger/ledger.h"

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

#endif
