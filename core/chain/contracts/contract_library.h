/* What contract_library.c and contract_wasm.c share: the loaded library and its engine. */
#ifndef PIPECTL_CHAIN_CONTRACTS_CONTRACT_LIBRARY_H
#define PIPECTL_CHAIN_CONTRACTS_CONTRACT_LIBRARY_H

#include "chain/contracts/contract_wasm.h"
#include "chain/contracts/wasmtime_abi.h"

struct pctl_wasm {
	void *library;
	wasm_engine_t *engine;
	wasmtime_functions f;
};

/* Bytes as one line of text. */
void wasm_words(const wasm_byte_vec_t *v, char *out, size_t size);
/* PCTL_OK for NULL; else refuse with the error's words, and delete it. */
pctl_status wasm_error(const pctl_wasm *w, wasmtime_error_t *e, uint32_t code, const char *what,
		       const pctl_call *call);

#endif
