/* Wasmtime's library: found by its path, judged by its version, and set to what two strangers compute alike. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "chain/contracts/contract_library.h"

/* ---- words ---------------------------------------------------------------------------------- */

void wasm_words(const wasm_byte_vec_t *v, char *out, size_t size)
{
	size_t n = v->size < size ? v->size : size - 1;

	while (n > 0 && v->data[n - 1] == '\0')
		n--;
	for (size_t i = 0; i < n; i++)
		out[i] = (unsigned char)v->data[i] < 0x20 ? ' ' : v->data[i];
	out[n] = '\0';
}

pctl_status wasm_error(const pctl_wasm *w, wasmtime_error_t *e, uint32_t code, const char *what,
		       const pctl_call *call)
{
	wasm_byte_vec_t v;
	char words[512];

	if (e == NULL)
		return PCTL_OK;
	w->f.wasmtime_error_message(e, &v);
	wasm_words(&v, words, sizeof(words));
	w->f.wasm_byte_vec_delete(&v);
	w->f.wasmtime_error_delete(e);
	return pctl_refuse(call, code, "%s: %s", what, words);
}

/* ---- the library ---------------------------------------------------------------------------- */

static pctl_status find_functions(pctl_wasm *w, const char *path, const pctl_call *call)
{
	/* POSIX lets a symbol's address be a function's; C has no word for it. */
#define FIND(result, name, arguments)                                                         \
	do {                                                                                  \
		void *symbol = dlsym(w->library, #name);                                      \
		if (symbol == NULL)                                                           \
			return pctl_refuse(call, PC6120_CONTRACT_RUNTIME, "%s has no " #name, \
					   path);                                             \
		memcpy(&w->f.name, &symbol, sizeof(symbol));                                  \
	} while (0);
	WASMTIME_FUNCTIONS(FIND)
#undef FIND
	return PCTL_OK;
}

static pctl_status configure(const pctl_wasm *w, wasm_config_t *c, const pctl_call *call)
{
	const wasmtime_functions *f = &w->f;

	f->wasmtime_config_strategy_set(c, WASMTIME_STRATEGY_CRANELIFT);
	f->wasmtime_config_consume_fuel_set(c, true);
	/* The metered module makes every NaN the canonical one, in a tenth of the time (contract_body.c). */
	f->wasmtime_config_cranelift_nan_canonicalization_set(c, false);
	/* Nothing here is asynchronous, but the one is held against the other. */
	f->wasmtime_config_async_stack_size_set(c, 2 * PCTL_WASM_STACK_MAX);
	f->wasmtime_config_max_wasm_stack_set(c, PCTL_WASM_STACK_MAX);
	f->wasmtime_config_parallel_compilation_set(c, false);
	f->wasmtime_config_signals_based_traps_set(c, false);
	/* All of a memory is there from the beginning: what a machine lacks later could be seen by memory.grow. */
	f->wasmtime_config_memory_reservation_set(c, PCTL_WASM_MEMORY_MAX);
	f->wasmtime_config_memory_may_move_set(c, false);
	f->wasmtime_config_memory_guard_size_set(c, 0);
	/* What it takes to compile is to grow with the module alone. */
	f->wasmtime_config_cranelift_opt_level_set(c, WASMTIME_OPT_LEVEL_NONE);
	f->wasmtime_config_cranelift_regalloc_algorithm_set(c, WASMTIME_REGALLOC_SINGLE_PASS);
	f->wasmtime_config_wasm_multi_value_set(c, false);
	f->wasmtime_config_wasm_threads_set(c, false);
	f->wasmtime_config_wasm_tail_call_set(c, false);
	f->wasmtime_config_wasm_exceptions_set(c, false);
	f->wasmtime_config_wasm_gc_set(c, false);
	f->wasmtime_config_wasm_function_references_set(c, false);
	f->wasmtime_config_wasm_relaxed_simd_set(c, false);
	f->wasmtime_config_wasm_simd_set(c, false);
	f->wasmtime_config_wasm_multi_memory_set(c, false);
	f->wasmtime_config_wasm_memory64_set(c, false);
	f->wasmtime_config_wasm_wide_arithmetic_set(c, false);
	f->wasmtime_config_wasm_custom_page_sizes_set(c, false);
	f->wasmtime_config_wasm_stack_switching_set(c, false);
	/* One program for all machines. Where calls end is counted in it (contract_module.h), before its stack does. */
	return wasm_error(w, f->wasmtime_config_target_set(c, "pulley64"), PC6120_CONTRACT_RUNTIME,
			  "the portable interpreter", call);
}

static pctl_status make_engine(pctl_wasm *w, const pctl_call *call)
{
	wasm_config_t *config = w->f.wasm_config_new();
	pctl_status status = configure(w, config, call);

	if (status != PCTL_OK) {
		w->f.wasm_config_delete(config);
		return status;
	}
	w->engine = w->f.wasm_engine_new_with_config(config);
	return w->engine != NULL
		       ? PCTL_OK
		       : pctl_refuse(call, PC6120_CONTRACT_RUNTIME, "no engine could be made");
}

pctl_status pctl_wasm_open(const char *path, const pctl_call *call, pctl_wasm **out)
{
	pctl_wasm *w = calloc(1, sizeof(*w));
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (w == NULL)
		return pctl_no_memory(call, "a runtime");
	/* A name without a slash would be looked for elsewhere. */
	if (strchr(path, '/') == NULL)
		status = pctl_refuse(call, PC6120_CONTRACT_RUNTIME,
				     "\"%s\" is no path: it has no '/'", path);
	if (status == PCTL_OK)
		w->library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (status == PCTL_OK && w->library == NULL)
		status = pctl_refuse(call, PC6120_CONTRACT_RUNTIME, "%s", dlerror());
	if (status == PCTL_OK && dlsym(w->library, WASMTIME_VERSION_SYMBOL) == NULL)
		status = pctl_refuse(call, PC6120_CONTRACT_RUNTIME, "%s is not Wasmtime %u", path,
				     PCTL_WASM_VERSION);
	if (status == PCTL_OK)
		status = find_functions(w, path, call);
	if (status == PCTL_OK)
		status = make_engine(w, call);
	if (status == PCTL_OK)
		*out = w;
	else
		pctl_wasm_close(w);
	return status;
}

void pctl_wasm_close(pctl_wasm *w)
{
	if (w == NULL)
		return;
	if (w->engine != NULL)
		w->f.wasm_engine_delete(w->engine);
	if (w->library != NULL)
		dlclose(w->library);
	free(w);
}

pctl_status pctl_wasm_assemble(pctl_wasm *w, const char *text, size_t n, const pctl_call *call,
			       uint8_t **out, size_t *n_out)
{
	wasm_byte_vec_t v;
	pctl_status status;

	*out = NULL;
	*n_out = 0;
	status = wasm_error(w, w->f.wasmtime_wat2wasm(text, n, &v), PC6121_CONTRACT_MODULE,
			    "the text", call);
	if (status != PCTL_OK)
		return status;
	*out = malloc(v.size == 0 ? 1 : v.size);
	if (*out == NULL) {
		status = pctl_no_memory(call, "a module");
	} else {
		memcpy(*out, v.data, v.size);
		*n_out = v.size;
	}
	w->f.wasm_byte_vec_delete(&v);
	return status;
}
