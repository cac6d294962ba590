/* Contracts as WebAssembly: one call of one module over the call interface of contract.h, in Wasmtime's library, which is
 * loaded at run time. Deterministic: fuel is counted, floats have one NaN, and code runs in Wasmtime's portable
 * interpreter, so that even the depth at which the stack ends is the same on every machine. */
#ifndef PIPECTL_CHAIN_CONTRACTS_CONTRACT_WASM_H
#define PIPECTL_CHAIN_CONTRACTS_CONTRACT_WASM_H

#include "chain/contracts/contract.h"

#define PCTL_WASM_VERSION 50u /* of Wasmtime: the only one that is taken */
#define PCTL_WASM_MODULE_MAX (1u << 20)
#define PCTL_WASM_ARGUMENT_MAX (1u << 20)
#define PCTL_WASM_MEMORY_MAX (16u << 20) /* bytes of a contract's memory */
#define PCTL_WASM_STACK_MAX (256u << 10)
#define PCTL_WASM_FUEL UINT64_C(100000000) /* of a call, when none is named */
#define PCTL_WASM_CALL "call"

typedef struct pctl_wasm pctl_wasm;

/* Load the library at `path`; it stays loaded until the process ends. PC6120. */
pctl_status pctl_wasm_open(const char *path, const pctl_call *call, pctl_wasm **out);
void pctl_wasm_close(pctl_wasm *w); /* NULL is fine */

/* The text format as a module, released with free(). PC6121. */
pctl_status pctl_wasm_assemble(pctl_wasm *w, const char *text, size_t n, const pctl_call *call,
			       uint8_t **out, size_t *n_out);

/*
 * function   the export to call, NULL: PCTL_WASM_CALL
 * argument   put into memory that the module's "alloc" gives, if there is any
 * fuel       that may be used
 * used       set in any case: what was used, of host functions too
 * returned   set when the function returned
 */
typedef struct pctl_wasm_run {
	const char *function;
	const uint8_t *argument;
	uint32_t n_argument;
	int32_t returned;
	uint64_t fuel, used;
} pctl_wasm_run;

/* Run one call in a fresh instance. PC6121 to PC6124, PC6127, the host's trouble. */
pctl_status pctl_wasm_call(pctl_wasm *w, const uint8_t *module, size_t n_module,
			   pctl_contract_host *host, pctl_wasm_run *run, const pctl_call *call);

#endif
