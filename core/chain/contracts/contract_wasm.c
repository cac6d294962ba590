/* One call of a module: a fresh store with its limits, the four host functions, and what came of it. */
#include "chain/contracts/contract_wasm.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain/contracts/contract_library.h"

#define TABLE_ELEMENTS_MAX 10000
#define IMPORTS_FROM "pipectl"

/* One running call. has_trapped: a host function ended it; ran_dry: because it cost more fuel than was left. */
typedef struct running {
	const pctl_wasm *w;
	const wasmtime_functions *f;
	pctl_contract_host *host;
	const pctl_call *call;
	wasmtime_store_t *store;
	wasmtime_context_t *context;
	wasmtime_module_t *module;
	wasmtime_linker_t *linker;
	wasmtime_instance_t instance;
	int has_trapped, ran_dry;
} running;

/* ---- what host functions share -------------------------------------------------------------- */

static wasm_trap_t *trap(running *r, const char *words)
{
	r->has_trapped = 1;
	return r->f->wasmtime_trap_new(words, strlen(words));
}

/* The memory of whoever calls; NULL when it exports none. It may move when it grows: asked for at each call. */
static uint8_t *memory_of(const running *r, wasmtime_caller_t *caller, uint64_t *size)
{
	wasmtime_context_t *context = r->f->wasmtime_caller_context(caller);
	wasmtime_extern_t e;
	uint8_t *data = NULL;

	*size = 0;
	if (!r->f->wasmtime_caller_export_get(caller, "memory", 6, &e))
		return NULL;
	if (e.kind == WASMTIME_EXTERN_MEMORY) {
		data = r->f->wasmtime_memory_data(context, &e.of.memory);
		*size = r->f->wasmtime_memory_data_size(context, &e.of.memory);
	}
	r->f->wasmtime_extern_delete(&e);
	return data;
}

static int is_inside(int32_t pointer, int32_t n, uint64_t size)
{
	return (uint64_t)(uint32_t)pointer + (uint32_t)n <= size;
}

/* Take what a host function cost from the fuel, and end the call where the host cannot go on. */
static wasm_trap_t *settle(running *r, wasmtime_caller_t *caller, uint64_t before)
{
	wasmtime_context_t *context = r->f->wasmtime_caller_context(caller);
	const uint64_t cost = r->host->spent - before;
	uint64_t left = 0;
	wasmtime_error_t *e = r->f->wasmtime_context_get_fuel(context, &left);

	if (e == NULL)
		e = r->f->wasmtime_context_set_fuel(context, cost > left ? 0 : left - cost);
	if (e != NULL) {
		r->f->wasmtime_error_delete(e);
		return trap(r, "no fuel is counted");
	}
	if (r->host->failure != PCTL_OK)
		return trap(r, "the node cannot go on");
	r->ran_dry = cost > left;
	return r->ran_dry ? trap(r, "all fuel consumed by a host function") : NULL;
}

/* ---- the host functions --------------------------------------------------------------------- */

#define OUTSIDE(name) trap(r, name ": a pointer leaves the contract's memory")

static wasm_trap_t *on_submit(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *a,
			      size_t n_a, wasmtime_val_t *results, size_t n_results)
{
	running *r = env;
	const uint64_t before = r->host->spent;
	uint64_t size;
	uint8_t *memory = memory_of(r, caller, &size);

	(void)n_a;
	(void)n_results;
	if (memory == NULL || !is_inside(a[0].of.i32, a[1].of.i32, size) ||
	    !is_inside(a[2].of.i32, PCTL_CONTRACT_SUBMIT_BYTES, size))
		return OUTSIDE("gpu_submit");
	results[0].kind = WASM_I32;
	results[0].of.i32 =
		r->host->gpu_submit(r->host->ctx, memory + (uint32_t)a[0].of.i32,
				    (uint32_t)a[1].of.i32, memory + (uint32_t)a[2].of.i32);
	return settle(r, caller, before);
}

static wasm_trap_t *on_result(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *a,
			      size_t n_a, wasmtime_val_t *results, size_t n_results)
{
	running *r = env;
	const uint64_t before = r->host->spent;
	uint64_t size;
	uint8_t *memory = memory_of(r, caller, &size);

	(void)n_a;
	(void)n_results;
	if (memory == NULL || !is_inside(a[0].of.i32, PCTL_CONTRACT_ID_BYTES, size) ||
	    !is_inside(a[1].of.i32, a[2].of.i32, size))
		return OUTSIDE("gpu_result");
	results[0].kind = WASM_I32;
	results[0].of.i32 =
		r->host->gpu_result(r->host->ctx, memory + (uint32_t)a[0].of.i32,
				    memory + (uint32_t)a[1].of.i32, (uint32_t)a[2].of.i32);
	return settle(r, caller, before);
}

static wasm_trap_t *on_get(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *a,
			   size_t n_a, wasmtime_val_t *results, size_t n_results)
{
	running *r = env;
	const uint64_t before = r->host->spent;
	uint64_t size;
	uint8_t *memory = memory_of(r, caller, &size);

	(void)n_a;
	(void)n_results;
	if (memory == NULL || !is_inside(a[0].of.i32, a[1].of.i32, size) ||
	    !is_inside(a[2].of.i32, a[3].of.i32, size))
		return OUTSIDE("cas_get");
	results[0].kind = WASM_I64;
	results[0].of.i64 = r->host->cas_get(r->host->ctx, memory + (uint32_t)a[0].of.i32,
					     (uint32_t)a[1].of.i32, memory + (uint32_t)a[2].of.i32,
					     (uint32_t)a[3].of.i32);
	return settle(r, caller, before);
}

static wasm_trap_t *on_log(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *a,
			   size_t n_a, wasmtime_val_t *results, size_t n_results)
{
	running *r = env;
	const uint64_t before = r->host->spent;
	uint64_t size;
	uint8_t *memory = memory_of(r, caller, &size);

	(void)n_a;
	(void)results;
	(void)n_results;
	if (memory == NULL || !is_inside(a[0].of.i32, a[1].of.i32, size))
		return OUTSIDE("log");
	r->host->log(r->host->ctx, memory + (uint32_t)a[0].of.i32, (uint32_t)a[1].of.i32);
	return settle(r, caller, before);
}

static pctl_status define(running *r, const char *name, uint32_t n_parameters, uint32_t n_results,
			  uint8_t result, wasmtime_func_callback_t callback)
{
	wasm_valtype_t *kinds[4], *result_kind = NULL;
	wasm_valtype_vec_t parameters, results;
	wasm_functype_t *type;
	wasmtime_error_t *e;

	for (uint32_t i = 0; i < n_parameters; i++)
		kinds[i] = r->f->wasm_valtype_new(WASM_I32);
	if (n_results != 0)
		result_kind = r->f->wasm_valtype_new(result);
	r->f->wasm_valtype_vec_new(&parameters, n_parameters, kinds);
	r->f->wasm_valtype_vec_new(&results, n_results, &result_kind);
	type = r->f->wasm_functype_new(&parameters, &results);
	e = r->f->wasmtime_linker_define_func(r->linker, IMPORTS_FROM, strlen(IMPORTS_FROM), name,
					      strlen(name), type, callback, r, NULL);
	r->f->wasm_functype_delete(type);
	return wasm_error(r->w, e, PC1_INTERNAL, name, r->call);
}

static pctl_status define_all(running *r)
{
	pctl_status status = define(r, "gpu_submit", 3, 1, WASM_I32, on_submit);

	if (status == PCTL_OK)
		status = define(r, "gpu_result", 3, 1, WASM_I32, on_result);
	if (status == PCTL_OK)
		status = define(r, "cas_get", 4, 1, WASM_I64, on_get);
	if (status == PCTL_OK)
		status = define(r, "log", 2, 0, 0, on_log);
	return status;
}

/* ---- the call ------------------------------------------------------------------------------- */

/* Why it ended: the host's trouble before anything, then fuel, then the trap's own words. */
static pctl_status judge(running *r, wasmtime_error_t *e, wasm_trap_t *t, uint32_t code,
			 const char *what)
{
	wasm_byte_vec_t v;
	char words[512];
	uint8_t trap_code = 0;
	int dry;

	if (t == NULL) {
		if (e != NULL && r->host->failure != PCTL_OK) {
			r->f->wasmtime_error_delete(e);
			return r->host->failure;
		}
		/* A trap that a host function made comes back as an error. */
		if (r->has_trapped)
			code = r->ran_dry ? PC6123_CONTRACT_FUEL : PC6122_CONTRACT_TRAP;
		return wasm_error(r->w, e, code, what, r->call);
	}
	r->f->wasm_trap_message(t, &v);
	wasm_words(&v, words, sizeof(words));
	r->f->wasm_byte_vec_delete(&v);
	dry = r->f->wasmtime_trap_code(t, &trap_code) &&
	      trap_code == WASMTIME_TRAP_CODE_OUT_OF_FUEL;
	r->f->wasm_trap_delete(t);
	if (r->host->failure != PCTL_OK)
		return r->host->failure;
	return pctl_refuse(r->call, dry ? PC6123_CONTRACT_FUEL : PC6122_CONTRACT_TRAP, "%s: %s",
			   what, words);
}

/* Call an export of `n` i32 parameters that returns one i32. */
static pctl_status invoke(running *r, const char *name, const int32_t *values, size_t n,
			  int32_t *out)
{
	wasmtime_val_t args[2], result = {.kind = WASM_I32};
	wasmtime_extern_t e;
	wasm_trap_t *t = NULL;
	wasmtime_error_t *error;

	*out = 0;
	if (!r->f->wasmtime_instance_export_get(r->context, &r->instance, name, strlen(name), &e))
		return pctl_refuse(r->call, PC6121_CONTRACT_MODULE, "it exports no \"%s\"", name);
	if (e.kind != WASMTIME_EXTERN_FUNC) {
		r->f->wasmtime_extern_delete(&e);
		return pctl_refuse(r->call, PC6121_CONTRACT_MODULE, "\"%s\" is no function", name);
	}
	for (size_t i = 0; i < n; i++)
		args[i] = (wasmtime_val_t){.kind = WASM_I32, .of.i32 = values[i]};
	error = r->f->wasmtime_func_call(r->context, &e.of.func, args, n, &result, 1, &t);
	r->f->wasmtime_extern_delete(&e);
	if (error == NULL && t == NULL && result.kind == WASM_I32)
		*out = result.of.i32;
	return judge(r, error, t, PC6121_CONTRACT_MODULE, name);
}

static pctl_status put_argument(running *r, const pctl_wasm_run *run, int32_t *pointer)
{
	const int32_t n = (int32_t)run->n_argument;
	wasmtime_extern_t e;
	pctl_status status = invoke(r, "alloc", &n, 1, pointer);
	uint64_t size = 0;
	uint8_t *data = NULL;

	if (status != PCTL_OK)
		return status;
	if (r->f->wasmtime_instance_export_get(r->context, &r->instance, "memory", 6, &e)) {
		if (e.kind == WASMTIME_EXTERN_MEMORY) {
			data = r->f->wasmtime_memory_data(r->context, &e.of.memory);
			size = r->f->wasmtime_memory_data_size(r->context, &e.of.memory);
		}
		r->f->wasmtime_extern_delete(&e);
	}
	if (data == NULL || !is_inside(*pointer, n, size))
		return pctl_refuse(r->call, PC6122_CONTRACT_TRAP,
				   "alloc returned %" PRIu32 ", which has no room for %" PRId32
				   " bytes",
				   (uint32_t)*pointer, n);
	memcpy(data + (uint32_t)*pointer, run->argument, run->n_argument);
	return PCTL_OK;
}

static pctl_status prepare(running *r, const uint8_t *module, size_t n, const pctl_wasm_run *run)
{
	wasm_trap_t *t = NULL;
	wasmtime_error_t *e;
	pctl_status status =
		wasm_error(r->w, r->f->wasmtime_module_new(r->w->engine, module, n, &r->module),
			   PC6121_CONTRACT_MODULE, "the module", r->call);

	if (status != PCTL_OK)
		return status;
	r->store = r->f->wasmtime_store_new(r->w->engine, NULL, NULL);
	r->context = r->f->wasmtime_store_context(r->store);
	r->f->wasmtime_store_limiter(r->store, PCTL_WASM_MEMORY_MAX, TABLE_ELEMENTS_MAX, 1, 1, 1);
	status = wasm_error(r->w, r->f->wasmtime_context_set_fuel(r->context, run->fuel),
			    PC1_INTERNAL, "fuel", r->call);
	r->linker = r->f->wasmtime_linker_new(r->w->engine);
	if (status == PCTL_OK)
		status = define_all(r);
	if (status != PCTL_OK)
		return status;
	e = r->f->wasmtime_linker_instantiate(r->linker, r->context, r->module, &r->instance, &t);
	return judge(r, e, t, PC6121_CONTRACT_MODULE, "the module");
}

static pctl_status perform(running *r, pctl_wasm_run *run)
{
	const char *function = run->function == NULL ? PCTL_WASM_CALL : run->function;
	int32_t values[2] = {0, (int32_t)run->n_argument};
	pctl_status status = PCTL_OK;

	if (run->n_argument != 0)
		status = put_argument(r, run, &values[0]);
	if (status == PCTL_OK)
		status = invoke(r, function, values, 2, &run->returned);
	if (status == PCTL_OK && run->returned != 0)
		status = pctl_refuse(r->call, PC6124_CONTRACT_REFUSED, "%s returned %" PRId32,
				     function, run->returned);
	return status;
}

static void release(running *r, pctl_wasm_run *run)
{
	uint64_t left = run->fuel;

	if (r->context != NULL) {
		wasmtime_error_t *e = r->f->wasmtime_context_get_fuel(r->context, &left);

		if (e != NULL)
			r->f->wasmtime_error_delete(e);
	}
	run->used = run->fuel - left;
	if (r->linker != NULL)
		r->f->wasmtime_linker_delete(r->linker);
	if (r->store != NULL)
		r->f->wasmtime_store_delete(r->store);
	if (r->module != NULL)
		r->f->wasmtime_module_delete(r->module);
}

pctl_status pctl_wasm_call(pctl_wasm *w, const uint8_t *module, size_t n_module,
			   pctl_contract_host *host, pctl_wasm_run *run, const pctl_call *call)
{
	running r = {.w = w, .f = &w->f, .host = host, .call = call};
	pctl_status status;

	run->used = 0;
	run->returned = 0;
	if (n_module > PCTL_WASM_MODULE_MAX)
		return pctl_refuse(call, PC6121_CONTRACT_MODULE,
				   "%zu bytes, at most %u are allowed", n_module,
				   PCTL_WASM_MODULE_MAX);
	if (run->n_argument > PCTL_WASM_ARGUMENT_MAX)
		return pctl_refuse(call, PC6127_CONTRACT_ROOM,
				   "an argument of %" PRIu32 " bytes, at most %u are allowed",
				   run->n_argument, PCTL_WASM_ARGUMENT_MAX);
	status = prepare(&r, module, n_module, run);
	if (status == PCTL_OK)
		status = perform(&r, run);
	release(&r, run);
	return status;
}
