/* Contracts: programs that submit jobs and read their results. This is the call interface as a C ABI, four functions
 * over memory of the host's; it knows no WebAssembly (contract_wasm.h does). contract.md has the same as a contract sees
 * it, with every layout. */
#ifndef PIPECTL_CHAIN_CONTRACTS_CONTRACT_H
#define PIPECTL_CHAIN_CONTRACTS_CONTRACT_H

#include "chain/node/node.h"

#define PCTL_CONTRACT_ID_BYTES 64u     /* an id of a job, as hex digits without a NUL */
#define PCTL_CONTRACT_SUBMIT_BYTES 72u /* id and clock */
#define PCTL_CONTRACT_RESULT_BYTES 20u /* before the text */
#define PCTL_CONTRACT_SUBMITS_MAX 1024u
#define PCTL_CONTRACT_LOG_MAX 4096u   /* bytes of one text */
#define PCTL_CONTRACT_LOGS_MAX 65536u /* bytes of all texts of a call */

/* Fuel of a host function, beside a share of one a byte that it reads or writes. */
enum {
	PCTL_CONTRACT_FUEL_SUBMIT = 10000,
	PCTL_CONTRACT_FUEL_RESULT = 1000,
	PCTL_CONTRACT_FUEL_GET = 1000,
	PCTL_CONTRACT_FUEL_LOG = 100
};

/*
 * What a contract may ask for. Pointers are the host's, already checked against the contract's memory; integers are
 * least significant byte first.
 *
 * gpu_submit  an encoded MsgGpuExecute (messages.proto) without its sender, which is the contract's own account; with
 *             one it must be that. Writes the job's id (64 bytes) and its clock (8). 0, or minus a code: refused, and
 *             nothing changed
 * gpu_result  of the job with this id. Writes gas used (8 bytes), clock (8), length of the text (4) and the text: the
 *             output's CID when complete, the reason when failed, else none. The status (PCTL_JOB_*), or minus a code:
 *             PC5801 no such job, PC5787 no id, PC6127 no room (nothing was written)
 * cas_get     bytes of a CID of at most 1 MiB: as many as there is room for are written. The size of the whole, or minus
 *             PC5786: no CID. Bytes that this node lacks are trouble, since another node may have them
 * log         text for whoever called; no state. Too much of it is dropped
 *
 * spent    fuel that these calls cost so far
 * trouble  not PCTL_OK: this node cannot go on, and whatever ran ends without any effect. Asked after each call
 */
typedef struct pctl_contract_host {
	int32_t (*gpu_submit)(void *ctx, const uint8_t *message, uint32_t n,
			      uint8_t out[PCTL_CONTRACT_SUBMIT_BYTES]);
	int32_t (*gpu_result)(void *ctx, const uint8_t id[PCTL_CONTRACT_ID_BYTES], uint8_t *out,
			      uint32_t n_out);
	int64_t (*cas_get)(void *ctx, const uint8_t *cid, uint32_t n, uint8_t *out, uint32_t n_out);
	void (*log)(void *ctx, const uint8_t *text, uint32_t n);
	void *ctx;
	uint64_t spent;
	pctl_status failure;
} pctl_contract_host;

/*
 * service       the chain (node_chain.h), or what stands for it
 * account       the contract's own: for WebAssembly the CID of the module
 * caller        pays; NULL: nobody does
 * pay           gas that the caller gives to the contract's account first, in the same call; 0: none
 * fuel_per_gas  the caller pays fuel / fuel_per_gas, rounded up, to `paid`; 0: nothing
 * log           told of texts; may be NULL
 */
typedef struct pctl_contract_options {
	const pctl_node_service *service;
	const char *account, *caller, *paid;
	uint64_t pay, fuel_per_gas;
	void (*log)(void *ctx, const uint8_t *text, uint32_t n);
	void *log_ctx;
} pctl_contract_options;

typedef struct pctl_contract pctl_contract;

/* Begin one call: everything it submits is one batch. `call` and what `o` names live until its end. */
pctl_status pctl_contract_begin(const pctl_contract_options *o, const pctl_call *call,
				pctl_contract **out);
pctl_contract_host *pctl_contract_host_of(pctl_contract *c);
/* Ids of the jobs submitted so far, each of PCTL_CONTRACT_ID_BYTES and a NUL. */
uint32_t pctl_contract_jobs(const pctl_contract *c, const char (**out)[PCTL_CONTRACT_ID_BYTES + 1]);

/*
 * End the call: with PCTL_OK and without trouble the caller pays for `fuel`, and all of it becomes durable at once;
 * otherwise nothing of it ever was. *gas (may be NULL) is what was paid. Returns `status` where that is not PCTL_OK, the
 * trouble, or what kept it from being committed. The object is gone. NULL is fine.
 */
pctl_status pctl_contract_end(pctl_contract *c, pctl_status status, uint64_t fuel, uint64_t *gas);

#endif
