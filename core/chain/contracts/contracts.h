/* Contracts in the chain, from version 2 of the rules on: the messages `contract` and `call`, views, and what they leave in the state. A call is
 * executed where its message is taken in, in the order of the block. */
#ifndef PIPECTL_CHAIN_CONTRACTS_CONTRACTS_H
#define PIPECTL_CHAIN_CONTRACTS_CONTRACTS_H

#include "chain/chain_private.h"

#define PCTL_CONTRACT_VIEW_FUEL UINT64_C(10000000) /* most of a view */

/* ---- messages (chain_private.h has those that change state) ------------------------------------ */

/* Answer a view; `out` lies in the arena. PC6130, PC6133. */
pctl_status pctl_contract_view(pctl_chain *c, const pctl_msg_call *m, pctl_arena *arena,
			       const pctl_call *call, pctl_msg_call_response *out);

/* The end of a block: its calls are charged on its tab, and the rest of what they set aside goes back. */
pctl_status pctl_contracts_settle(pctl_chain_state *s, pctl_ledger_tab *tab, uint64_t height,
				  const char *executor, const pctl_call *call);

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct pctl_contract_row {
	char cid[PCTL_CID_TEXT_SIZE], sender[PCTL_ACCOUNT_SIZE];
	uint64_t height, n_bytes, n_rows, n_calls; /* rows that it keeps, calls of it */
} pctl_contract_row;

/* All, by CID, until `visit` answers other than 0; cid NULL, or that one (PC6130). */
pctl_status pctl_contracts_visit(pctl_chain_state *s, const char *cid,
				 int (*visit)(void *ctx, const pctl_contract_row *row), void *ctx,
				 const pctl_call *call);

/* As in the row; code 0: it is complete. */
typedef struct pctl_contract_call_row {
	uint8_t id[PCTL_DIGEST_BYTES];
	char sender[PCTL_ACCOUNT_SIZE], contract[PCTL_CID_TEXT_SIZE];
	uint64_t height, number, status, code, returned, fuel, gas, paid, n_jobs;
} pctl_contract_call_row;

/* PC6130. */
pctl_status pctl_calls_read(pctl_chain_state *s, const uint8_t id[PCTL_DIGEST_BYTES],
			    const pctl_call *call, pctl_contract_call_row *out);
/* Of a contract, the newest first, until `visit` answers other than 0. */
pctl_status pctl_calls_visit(pctl_chain_state *s, const char *contract,
			     int (*visit)(void *ctx, const pctl_contract_call_row *row), void *ctx,
			     const pctl_call *call);

#endif
