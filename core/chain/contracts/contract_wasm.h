/* Contracts as WebAssembly: one call of one module over the call interface of contract.h, in Wasmtime's library, which is
 * loaded at run time. Deterministic: fuel is counted, floats have one NaN, the depth of calls is counted in the metered module, and code
 * runs in Wasmtime's portable interpreter, which has one program for all machines. */
#ifndef PIPECTL_CHAIN_CONTRACTS_CONTRACT_WASM_H
#define PIPECTL_CHAIN_CONTRACTS_CONTRACT_WASM_H

#include "chain/contracts/contract.h"
#include "chain/contracts/contract_module.h"

#define PCTL_WASM_VERSION 50u /* of Wasmtime: the only one that is taken */
#define PCTL_WASM_PAGE (64u << 10)
#define PCTL_WASM_MEMORY_MAX \
	(PCTL_CONTRACT_PAGES_MAX * PCTL_WASM_PAGE) /* bytes of a contract's memory */
/* All that the counted depth can use, and room for what runs around it. */
#define PCTL_WASM_STACK_MAX ((size_t)PCTL_CONTRACT_DEPTH * PCTL_CONTRACT_DEPTH_BYTES + (1u << 20))
#define PCTL_WASM_CALL "call"

typedef struct pctl_wasm pctl_wasm;
typedef struct pctl_wasm_module pctl_wasm_module;

/* Load the library at `path`; it stays loaded until the process ends. PC6120. */
pctl_status pctl_wasm_open(const char *path, const pctl_call *call, pctl_wasm **out);
void pctl_wasm_close(pctl_wasm *w); /* NULL is fine */

/* The text format as a module, released with free(). PC6121. */
pctl_status pctl_wasm_assemble(pctl_wasm *w, const char *text, size_t n, const pctl_call *call,
			       uint8_t **out, size_t *n_out);

/* A module that can be called: judged and metered (contract_module.h), validated by Wasmtime as it was and compiled as it is metered. The
 * bytes are copied. PC6121. */
pctl_status pctl_wasm_compile(pctl_wasm *w, const uint8_t *module, size_t n, const pctl_call *call,
			      pctl_wasm_module **out);
void pctl_wasm_release(pctl_wasm_module *m); /* before its runtime is closed; NULL is fine */

#define PCTL_WASM_WORDS 96u

/*
 * function   the export to call, "": PCTL_WASM_CALL
 * argument   put into memory that the module's "alloc" gives, if there is any
 * fuel       that may be used
 * used       set in any case: what was used, of host functions too; all where it ran out
 * returned   set when the function returned
 * code       0: it returned 0; else why not (PC6121 no such function, PC6122, PC6123, PC6124), in the same words everywhere
 */
typedef struct pctl_wasm_run {
	const char *function;
	const uint8_t *argument;
	uint64_t n_argument;
	int32_t returned;
	uint32_t code;
	uint64_t fuel, used;
	char words[PCTL_WASM_WORDS];
} pctl_wasm_run;

/* Run one call in a fresh instance. An outcome of the contract's is in `run`; the status is trouble of this node alone: the host's, or
 * PC6128. */
pctl_status pctl_wasm_call(pctl_wasm_module *m, pctl_contract_host *host, pctl_wasm_run *run,
			   const pctl_call *call);

#endif
