/* Modules of the state, compiled, for the files of this folder. */
#ifndef PIPECTL_CHAIN_CONTRACTS_CONTRACT_RUNTIME_H
#define PIPECTL_CHAIN_CONTRACTS_CONTRACT_RUNTIME_H

#include "chain/contracts/contract_wasm.h"
#include "chain/contracts/contracts.h"

/* The chain's runtime; PC6128 where this node has none. */
pctl_status pctl_contract_wasm(pctl_chain *c, const pctl_call *call, pctl_wasm **out);
/* The module of a contract that is state; the chain keeps it, until others were asked for. PC6128, PC5838. */
pctl_status pctl_contract_compiled(pctl_chain *c, const char *cid, const pctl_call *call,
				   pctl_wasm_module **out);

#endif
