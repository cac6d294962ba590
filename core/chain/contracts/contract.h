/* Contracts: programs that are state, submit jobs, keep rows and move their gas while a message calls them. This is the call interface as a C
 * ABI, functions over memory of the host's; it knows no WebAssembly (contract_wasm.h does). contract.md has the same as a
 * contract sees it, with every layout; contract_imports.def the types. */
#ifndef PIPECTL_CHAIN_CONTRACTS_CONTRACT_H
#define PIPECTL_CHAIN_CONTRACTS_CONTRACT_H

#include "chain/chain_private.h"

#define PCTL_CONTRACT_ID_BYTES 64u     /* an id of a job, as hex digits without a NUL */
#define PCTL_CONTRACT_SUBMIT_BYTES 72u /* id and clock */
#define PCTL_CONTRACT_RESULT_BYTES 20u /* before the text */
#define PCTL_CONTRACT_GET_MAX (1u << 20)
#define PCTL_CONTRACT_KEY_MAX 64u /* bytes of a row's key, at least 1 */
#define PCTL_CONTRACT_ROW_MAX 4096u
#define PCTL_CONTRACT_LOG_MAX 4096u /* bytes of one text; PCTL_MESSAGE_LOGS_MAX of all of a call */

/* Fuel of a call (beside PCTL_CONTRACT_FUEL_CODE a byte of its module, which a node may have to compile, and one a byte of its argument), of a byte of a
 * module that is uploaded, and of the host functions, each taken before anything is done. What writes or submits pays besides, at the price of fuel, what the same costs in gas elsewhere: bytes of
 * a row as those of a blob for blob_blocks_max blocks, a shader that has to be looked at as a refusal. */
enum {
	PCTL_CONTRACT_FUEL_CALL = 200000,
	PCTL_CONTRACT_FUEL_CODE = 50,
	PCTL_CONTRACT_FUEL_UPLOAD = 500,
	PCTL_CONTRACT_FUEL_SUBMIT = 500000,
	PCTL_CONTRACT_FUEL_SUBMIT_BYTE = 20,
	PCTL_CONTRACT_FUEL_WRITE = 100000, /* row_set, row_drop, pay */
	PCTL_CONTRACT_FUEL_READ =
		50000, /* gpu_result, cas_get, row_get; and one a byte that it writes */
	PCTL_CONTRACT_FUEL_LOG = 200, /* and one a byte */
	PCTL_CONTRACT_FUEL_ASK = 200  /* caller, paid, height */
};

/*
 * What a contract may ask for. Pointers are the host's, already checked against the contract's memory; integers are
 * least significant byte first. What returns a signed number returns minus a code where it refused, and then nothing changed.
 *
 * gpu_submit  an encoded MsgGpuExecute (messages.proto) without its sender, which is the contract's own account; with
 *             one it must be that. Writes the job's id (64 bytes) and its clock (8). 0
 * gpu_result  of the job with this id, as the state has it: what ended in an earlier block. Writes gas used (8 bytes), clock (8), length of
 *             the text (4) and the text: the output's CID when complete, the reason when failed, else none. The status
 *             (PCTL_JOB_*); PC5801 no such job, PC5787 no id, PC6127 no room (nothing was written)
 * cas_get     bytes of a CID that are state, at most PCTL_CONTRACT_GET_MAX: as many as there is room for are written. The size of the whole;
 *             PC5786 no CID, PC6125
 * log         text for whoever called; no state. Too much of it is dropped
 * row_get     of the contract's own rows: as many bytes as there is room for are written. The size of the whole; PC6134
 * row_set     writes a row; 0, PC6127
 * row_drop    0, PC6134
 * pay         gas of the contract's account to another; 0, or as a message `ledger` is refused
 * caller      who sent the message ("" of a view), as many bytes as there is room for; its length
 * paid        gas that came with the call
 * height      of the open block
 *
 * take_fuel  set by whoever runs the contract: 0 where less than n is left, and then the call ends without going on
 * failure    not PCTL_OK: this node cannot go on, and nothing of the message is kept
 */
typedef struct pctl_contract_host {
	int32_t (*gpu_submit)(void *ctx, const uint8_t *message, uint32_t n,
			      uint8_t out[PCTL_CONTRACT_SUBMIT_BYTES]);
	int32_t (*gpu_result)(void *ctx, const uint8_t id[PCTL_CONTRACT_ID_BYTES], uint8_t *out,
			      uint32_t n_out);
	int64_t (*cas_get)(void *ctx, const uint8_t *cid, uint32_t n, uint8_t *out, uint32_t n_out);
	void (*log)(void *ctx, const uint8_t *text, uint32_t n);
	int64_t (*row_get)(void *ctx, const uint8_t *key, uint32_t n_key, uint8_t *out,
			   uint32_t n_out);
	int32_t (*row_set)(void *ctx, const uint8_t *key, uint32_t n_key, const uint8_t *value,
			   uint32_t n_value);
	int32_t (*row_drop)(void *ctx, const uint8_t *key, uint32_t n_key);
	int32_t (*pay)(void *ctx, const uint8_t *to, uint32_t n, uint64_t amount);
	int32_t (*caller)(void *ctx, uint8_t *out, uint32_t n_out);
	int64_t (*paid)(void *ctx);
	int64_t (*height)(void *ctx);
	void *ctx;
	int (*take_fuel)(void *fuel, uint64_t n);
	void *fuel;
	pctl_status failure;
} pctl_contract_host;

/*
 * One call, where a message stands. account: the contract's CID. caller NULL: a view, which changes nothing (PC6133). What is made
 * of it lies in t->arena, and lives as long.
 */
typedef struct pctl_contract_call {
	const pctl_taking *t;
	const char *account, *caller;
	uint64_t paid;
	pctl_contract_host host;
	const char **jobs; /* ids, in the order of their submits */
	pctl_msg_bytes *log;
	uint32_t n_jobs, n_log, n_logged, reserved;
} pctl_contract_call;

/* Gas of 1000 fuel where a message stands; 0: the chain takes no contracts. */
uint64_t pctl_contract_price(const pctl_taking *t);

/* NULL: no memory. */
pctl_contract_call *pctl_contract_begin(const pctl_taking *t, const char *account,
					const char *caller, uint64_t paid);

#endif
