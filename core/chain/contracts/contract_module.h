/* A module's bytes as they are judged and metered before Wasmtime sees them: sizes, imports, operations that cost more than their fuel says, and the
 * depth of calls, which is counted in the program itself. Not a validator: Wasmtime is. */
#ifndef PIPECTL_CHAIN_CONTRACTS_CONTRACT_MODULE_H
#define PIPECTL_CHAIN_CONTRACTS_CONTRACT_MODULE_H

#include <stddef.h>
#include <stdint.h>

#include "pipectl/host.h"

enum {
#define CONTRACT_LIMIT(id, name, most) PCTL_CONTRACT_##id##_MAX = most,
#include "chain/contracts/contract_limits.def"
#undef CONTRACT_LIMIT
	/* Units of depth that the functions open at once may have together, and bytes of stack for each: a frame of Wasmtime's interpreter has
	 * 8 bytes a value, and a function's units are 16, its locals, and half of its body's bytes, which is more values than it can have. */
	PCTL_CONTRACT_DEPTH = 1 << 18,
	PCTL_CONTRACT_DEPTH_BYTES = 64
};

/*
 * The metered module, released with free(): each function first takes its units from a global of its own, which nothing in the module
 * names, traps (unreachable) where less than none are left, and gives them back at its one end; behind each operation of floats that computes a NaN
 * becomes the canonical one; and memory.grow counts for as much as it costs. Custom sections are left out.
 *
 * PC6121: the bytes are no module, over a limit, or hold an operation that contracts do not have (those of bulk memory and tables,
 * references, vectors, threads, tail calls), an import that is none of contract_imports.def, or no memory of the name "memory".
 * Whoever takes the result lets Wasmtime validate the bytes themselves as well.
 */
pctl_status pctl_contract_meter(const uint8_t *module, size_t n, const pctl_call *call,
				uint8_t **out, size_t *n_out);

/* 1 where the module, which passed, exports a function of that name and of the type (letters as in contract_imports.def). */
int pctl_contract_has(const uint8_t *module, size_t n, const char *name, const char *parameters,
		      const char *result);

#endif
