/* One call of a module: a fresh store with its limits, the host functions, and what came of it. */
#include "chain/contracts/contract_wasm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/contracts/contract_library.h"

#define IMPORTS_FROM "pipectl"

/* bytes: of the module as it is known by its CID. */
struct pctl_wasm_module {
	pctl_wasm *w;
	wasmtime_module_t *compiled;
	uint8_t *bytes;
	size_t n;
};

/* One running call. ended: the code by which a host function ended it, 0: none did. */
typedef struct running {
	const pctl_wasm_module *m;
	const wasmtime_functions *f;
	pctl_contract_host *host;
	pctl_wasm_run *run;
	const pctl_call *call;
	wasmtime_store_t *store;
	wasmtime_context_t *context;
	wasmtime_linker_t *linker;
	wasmtime_instance_t instance;
	uint32_t ended, lacks_fuel;
} running;

/* ---- what host functions share -------------------------------------------------------------- */

static wasm_trap_t *trap(running *r, uint32_t code, const char *words)
{
	r->ended = code;
	snprintf(r->run->words, sizeof(r->run->words), "%s", words);
	return r->f->wasmtime_trap_new(words, strlen(words));
}

/* pctl_contract_host.take_fuel */
static int take_fuel(void *of, uint64_t n)
{
	running *r = of;
	uint64_t left = 0;
	wasmtime_error_t *e = r->f->wasmtime_context_get_fuel(r->context, &left);

	if (e == NULL)
		e = r->f->wasmtime_context_set_fuel(r->context, n > left ? 0 : left - n);
	if (e != NULL) {
		r->host->failure = wasm_error(r->m->w, e, PC6128_CONTRACT_NODE, "fuel", r->call);
		return 0;
	}
	r->lacks_fuel |= n > left;
	return n <= left;
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

/* Whether the call goes on behind a host function. */
static wasm_trap_t *settle(running *r)
{
	if (r->host->failure != PCTL_OK)
		return trap(r, PC6128_CONTRACT_NODE, "the node cannot go on");
	return r->lacks_fuel ? trap(r, PC6123_CONTRACT_FUEL, "all fuel used up") : NULL;
}

/* ---- the host functions --------------------------------------------------------------------- */

#define OUTSIDE(name) trap(r, PC6122_CONTRACT_TRAP, name ": a pointer leaves the contract's memory")

/* What a callback has at hand: its arguments as unsigned numbers, and the range that the contract may name. */
#define CALLBACK(name)                                                      \
	static wasm_trap_t *on_##name(void *env, wasmtime_caller_t *caller, \
				      const wasmtime_val_t *a, size_t n_a,  \
				      wasmtime_val_t *results, size_t n_results)
#define BEGIN(name)                                    \
	running *r = env;                              \
	pctl_contract_host *h = r->host;               \
	uint64_t size;                                 \
	uint8_t *memory = memory_of(r, caller, &size); \
                                                       \
	(void)n_a;                                     \
	(void)n_results;                               \
	if (memory == NULL)                            \
	return OUTSIDE(name)
#define U32(i) ((uint32_t)a[i].of.i32)
#define AT(i) (memory + U32(i))
#define INSIDE(i, n) is_inside(a[i].of.i32, (int32_t)(n), size)

static wasm_trap_t *give_i32(running *r, wasmtime_val_t *results, int32_t v)
{
	results[0].kind = WASM_I32;
	results[0].of.i32 = v;
	return settle(r);
}

static wasm_trap_t *give_i64(running *r, wasmtime_val_t *results, int64_t v)
{
	results[0].kind = WASM_I64;
	results[0].of.i64 = v;
	return settle(r);
}

CALLBACK(gpu_submit)
{
	BEGIN("gpu_submit");
	if (!INSIDE(0, U32(1)) || !INSIDE(2, PCTL_CONTRACT_SUBMIT_BYTES))
		return OUTSIDE("gpu_submit");
	return give_i32(r, results, h->gpu_submit(h->ctx, AT(0), U32(1), AT(2)));
}

CALLBACK(gpu_result)
{
	BEGIN("gpu_result");
	if (!INSIDE(0, PCTL_CONTRACT_ID_BYTES) || !INSIDE(1, U32(2)))
		return OUTSIDE("gpu_result");
	return give_i32(r, results, h->gpu_result(h->ctx, AT(0), AT(1), U32(2)));
}

CALLBACK(cas_get)
{
	BEGIN("cas_get");
	if (!INSIDE(0, U32(1)) || !INSIDE(2, U32(3)))
		return OUTSIDE("cas_get");
	return give_i64(r, results, h->cas_get(h->ctx, AT(0), U32(1), AT(2), U32(3)));
}

CALLBACK(log)
{
	BEGIN("log");
	(void)results;
	if (!INSIDE(0, U32(1)))
		return OUTSIDE("log");
	h->log(h->ctx, AT(0), U32(1));
	return settle(r);
}

CALLBACK(row_get)
{
	BEGIN("row_get");
	if (!INSIDE(0, U32(1)) || !INSIDE(2, U32(3)))
		return OUTSIDE("row_get");
	return give_i64(r, results, h->row_get(h->ctx, AT(0), U32(1), AT(2), U32(3)));
}

CALLBACK(row_set)
{
	BEGIN("row_set");
	if (!INSIDE(0, U32(1)) || !INSIDE(2, U32(3)))
		return OUTSIDE("row_set");
	return give_i32(r, results, h->row_set(h->ctx, AT(0), U32(1), AT(2), U32(3)));
}

CALLBACK(row_drop)
{
	BEGIN("row_drop");
	if (!INSIDE(0, U32(1)))
		return OUTSIDE("row_drop");
	return give_i32(r, results, h->row_drop(h->ctx, AT(0), U32(1)));
}

CALLBACK(pay)
{
	BEGIN("pay");
	if (!INSIDE(0, U32(1)))
		return OUTSIDE("pay");
	return give_i32(r, results, h->pay(h->ctx, AT(0), U32(1), (uint64_t)a[2].of.i64));
}

CALLBACK(caller)
{
	BEGIN("caller");
	if (!INSIDE(0, U32(1)))
		return OUTSIDE("caller");
	return give_i32(r, results, h->caller(h->ctx, AT(0), U32(1)));
}

/* Of those that touch no memory. */
#define ASK(name)                                                         \
	CALLBACK(name)                                                    \
	{                                                                 \
		running *r = env;                                         \
                                                                          \
		(void)caller;                                             \
		(void)a;                                                  \
		(void)n_a;                                                \
		(void)n_results;                                          \
		return give_i64(r, results, r->host->name(r->host->ctx)); \
	}
ASK(paid)
ASK(height)

static wasm_valtype_t *type_of(const running *r, char letter)
{
	return r->f->wasm_valtype_new(letter == 'i' ? WASM_I32 : WASM_I64);
}

static pctl_status define(running *r, const char *name, const char *parameters, const char *result,
			  wasmtime_func_callback_t callback)
{
	wasm_valtype_t *kinds[4], *result_kind = NULL;
	wasm_valtype_vec_t takes, gives;
	wasm_functype_t *type;
	wasmtime_error_t *e;
	size_t n = strlen(parameters);

	for (size_t i = 0; i < n; i++)
		kinds[i] = type_of(r, parameters[i]);
	if (result[0] != '\0')
		result_kind = type_of(r, result[0]);
	r->f->wasm_valtype_vec_new(&takes, n, kinds);
	r->f->wasm_valtype_vec_new(&gives, result[0] != '\0', &result_kind);
	type = r->f->wasm_functype_new(&takes, &gives);
	e = r->f->wasmtime_linker_define_func(r->linker, IMPORTS_FROM, strlen(IMPORTS_FROM), name,
					      strlen(name), type, callback, r, NULL);
	r->f->wasm_functype_delete(type);
	return wasm_error(r->m->w, e, PC6128_CONTRACT_NODE, name, r->call);
}

static pctl_status define_all(running *r)
{
	pctl_status status = PCTL_OK;

#define CONTRACT_IMPORT(name, parameters, result) \
	if (status == PCTL_OK)                    \
		status = define(r, #name, parameters, result, on_##name);
#include "chain/contracts/contract_imports.def"
#undef CONTRACT_IMPORT
	return status;
}

/* ---- the call ------------------------------------------------------------------------------- */

/* Wasmtime's number of a trap, in words that are ours: they are part of what every node answers. */
static const char *trap_words(uint8_t code)
{
	static const char *const words[] = {
		"the stack ended",
		"memory out of bounds",
		"an atomic access that is not aligned",
		"a table out of bounds",
		"a call of a table's element that is not there",
		"a call of a table's element of another type",
		"an integer overflow",
		"an integer division by zero",
		"a float that no integer holds",
		"unreachable, or called too deep",
	};

	return code < sizeof(words) / sizeof(words[0]) ? words[code] : "a trap";
}

static pctl_status fails(running *r, uint32_t code, const char *words)
{
	r->run->code = code;
	snprintf(r->run->words, sizeof(r->run->words), "%s", words);
	return PCTL_OK;
}

/* What ended a call: the host's trouble before anything, then what a host function said, then a trap. An error of Wasmtime's own is this
 * node's: a module that was taken in links and has functions of the types that were asked for. */
static pctl_status judge(running *r, wasmtime_error_t *e, wasm_trap_t *t, const char *what)
{
	uint8_t code = 0xff;

	if (t != NULL) {
		if (!r->f->wasmtime_trap_code(t, &code))
			code = 0xff;
		r->f->wasm_trap_delete(t);
	}
	if (r->host->failure != PCTL_OK || r->ended != 0) {
		if (e != NULL)
			r->f->wasmtime_error_delete(e);
		r->run->code = r->ended;
		return r->host->failure;
	}
	if (e != NULL)
		return wasm_error(r->m->w, e, PC6128_CONTRACT_NODE, what, r->call);
	if (t == NULL)
		return PCTL_OK;
	return code == WASMTIME_TRAP_CODE_OUT_OF_FUEL
		       ? fails(r, PC6123_CONTRACT_FUEL, "all fuel used up")
		       : fails(r, PC6122_CONTRACT_TRAP, trap_words(code));
}

/* Call an export of `n` i32 parameters that returns one i32; an outcome where there is none. */
static pctl_status invoke(running *r, const char *name, const int32_t *values, size_t n,
			  int32_t *out)
{
	wasmtime_val_t args[2], result = {.kind = WASM_I32};
	wasmtime_extern_t e;
	wasm_trap_t *t = NULL;
	wasmtime_error_t *error;

	*out = 0;
	if (!pctl_contract_has(r->m->bytes, r->m->n, name, n == 1 ? "i" : "ii", "i") ||
	    !r->f->wasmtime_instance_export_get(r->context, &r->instance, name, strlen(name), &e))
		return fails(r, PC6121_CONTRACT_MODULE,
			     n == 1 ? "it exports no alloc of an i32 that returns one"
				    : "it exports no such function of two i32 that returns one");
	for (size_t i = 0; i < n; i++)
		args[i] = (wasmtime_val_t){.kind = WASM_I32, .of.i32 = values[i]};
	error = r->f->wasmtime_func_call(r->context, &e.of.func, args, n, &result, 1, &t);
	r->f->wasmtime_extern_delete(&e);
	if (error == NULL && t == NULL)
		*out = result.of.i32;
	return judge(r, error, t, name);
}

static pctl_status put_argument(running *r, int32_t *pointer)
{
	const int32_t n = (int32_t)r->run->n_argument;
	wasmtime_extern_t e;
	pctl_status status = invoke(r, "alloc", &n, 1, pointer);
	uint64_t size = 0;
	uint8_t *data = NULL;

	if (status != PCTL_OK || r->run->code != 0)
		return status;
	if (r->f->wasmtime_instance_export_get(r->context, &r->instance, "memory", 6, &e)) {
		if (e.kind == WASMTIME_EXTERN_MEMORY) {
			data = r->f->wasmtime_memory_data(r->context, &e.of.memory);
			size = r->f->wasmtime_memory_data_size(r->context, &e.of.memory);
		}
		r->f->wasmtime_extern_delete(&e);
	}
	if (data == NULL || !is_inside(*pointer, n, size))
		return fails(r, PC6122_CONTRACT_TRAP, "alloc returned no room for the argument");
	memcpy(data + (uint32_t)*pointer, r->run->argument, r->run->n_argument);
	return PCTL_OK;
}

static pctl_status prepare(running *r)
{
	pctl_wasm *w = r->m->w;
	wasm_trap_t *t = NULL;
	wasmtime_error_t *e;
	pctl_status status;

	r->store = r->f->wasmtime_store_new(w->engine, NULL, NULL);
	r->context = r->f->wasmtime_store_context(r->store);
	r->f->wasmtime_store_limiter(r->store, PCTL_WASM_MEMORY_MAX, PCTL_CONTRACT_ELEMENTS_MAX, 1,
				     1, 1);
	status = wasm_error(w, r->f->wasmtime_context_set_fuel(r->context, r->run->fuel),
			    PC6128_CONTRACT_NODE, "fuel", r->call);
	r->linker = r->f->wasmtime_linker_new(w->engine);
	if (status == PCTL_OK)
		status = define_all(r);
	if (status != PCTL_OK)
		return status;
	if (!take_fuel(r, PCTL_CONTRACT_FUEL_CALL + PCTL_CONTRACT_FUEL_CODE * (uint64_t)r->m->n +
				  r->run->n_argument))
		return r->host->failure != PCTL_OK
			       ? r->host->failure
			       : fails(r, PC6123_CONTRACT_FUEL, "all fuel used up");
	e = r->f->wasmtime_linker_instantiate(r->linker, r->context, r->m->compiled, &r->instance,
					      &t);
	return judge(r, e, t, "the module");
}

static pctl_status perform(running *r)
{
	pctl_wasm_run *run = r->run;
	const char *function = run->function[0] == '\0' ? PCTL_WASM_CALL : run->function;
	int32_t values[2] = {0, (int32_t)run->n_argument};
	pctl_status status = PCTL_OK;
	char words[PCTL_WASM_WORDS];

	if (run->n_argument != 0)
		status = put_argument(r, &values[0]);
	if (status == PCTL_OK && run->code == 0)
		status = invoke(r, function, values, 2, &run->returned);
	if (status != PCTL_OK || run->code != 0 || run->returned == 0)
		return status;
	snprintf(words, sizeof(words), "it returned %" PRId32, run->returned);
	return fails(r, PC6124_CONTRACT_REFUSED, words);
}

static void release(running *r)
{
	uint64_t left = 0;

	if (r->context != NULL && r->run->code != PC6123_CONTRACT_FUEL) {
		wasmtime_error_t *e = r->f->wasmtime_context_get_fuel(r->context, &left);

		if (e != NULL)
			r->f->wasmtime_error_delete(e);
	}
	r->run->used = r->run->fuel - left;
	if (r->linker != NULL)
		r->f->wasmtime_linker_delete(r->linker);
	if (r->store != NULL)
		r->f->wasmtime_store_delete(r->store);
}

pctl_status pctl_wasm_call(pctl_wasm_module *m, pctl_contract_host *host, pctl_wasm_run *run,
			   const pctl_call *call)
{
	running r = {.m = m, .f = &m->w->f, .host = host, .run = run, .call = call};
	pctl_status status;

	run->used = 0;
	run->returned = 0;
	run->code = 0;
	run->words[0] = '\0';
	host->take_fuel = take_fuel;
	host->fuel = &r;
	status = prepare(&r);
	if (status == PCTL_OK && run->code == 0)
		status = perform(&r);
	release(&r);
	host->take_fuel = NULL;
	host->fuel = NULL;
	return status;
}

/* ---- modules -------------------------------------------------------------------------------- */

static pctl_status compile(pctl_wasm_module *m, const pctl_call *call)
{
	const wasmtime_functions *f = &m->w->f;
	uint8_t *metered = NULL;
	size_t n = 0;
	pctl_status status = pctl_contract_meter(m->bytes, m->n, call, &metered, &n);

	/* As it is first: it may not name what metering adds. */
	if (status == PCTL_OK)
		status = wasm_error(m->w, f->wasmtime_module_validate(m->w->engine, m->bytes, m->n),
				    PC6121_CONTRACT_MODULE, "the module", call);
	if (status == PCTL_OK)
		status = wasm_error(m->w,
				    f->wasmtime_module_new(m->w->engine, metered, n, &m->compiled),
				    PC6121_CONTRACT_MODULE, "the module, metered", call);
	free(metered);
	return status;
}

pctl_status pctl_wasm_compile(pctl_wasm *w, const uint8_t *module, size_t n, const pctl_call *call,
			      pctl_wasm_module **out)
{
	pctl_wasm_module *m = calloc(1, sizeof(*m));
	pctl_status status;

	*out = NULL;
	if (m != NULL)
		m->bytes = malloc(n + 1);
	if (m == NULL || m->bytes == NULL) {
		free(m);
		return pctl_no_memory(call, "a module");
	}
	memcpy(m->bytes, module, n);
	m->n = n;
	m->w = w;
	status = compile(m, call);
	if (status == PCTL_OK)
		*out = m;
	else
		pctl_wasm_release(m);
	return status;
}

void pctl_wasm_release(pctl_wasm_module *m)
{
	if (m == NULL)
		return;
	if (m->compiled != NULL)
		m->w->f.wasmtime_module_delete(m->compiled);
	free(m->bytes);
	free(m);
}
