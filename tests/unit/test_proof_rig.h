/* What tests of proofs stand on: the op libraries int and ieee and the `cpu` backend, opened from the build tree through
 * their own symbols, a session and a bench on it. No worker, no registry. */
#ifndef PIPECTL_TESTS_UNIT_PROOF_RIG_H
#define PIPECTL_TESTS_UNIT_PROOF_RIG_H

#include "main.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "evidence/proof/law.h"
#include "evidence/proof/providers.h"

typedef struct proof_rig {
	pctl_diag_list *l;
	const pctl_call *call;
	pctl_session *session;
	pctl_evaluator *reference;
	pctl_proof_context context;
} proof_rig;

/* Libraries stay loaded and open until the program ends, as a host keeps them. */
typedef struct proof_plugin {
	const char *file, *interface;
	const void *table;
	pctl_instance *inst;
} proof_plugin;
static proof_plugin proof_libraries[] = {{"ops/int.so", PCTL_OPLIB_INTERFACE, NULL, NULL},
					 {"ops/ieee.so", PCTL_OPLIB_INTERFACE, NULL, NULL}};
static proof_plugin proof_cpu = {"plugins/cpu.so", PCTL_BACKEND_INTERFACE, NULL, NULL};

static void *proof_alloc(void *ctx, uint64_t n)
{
	(void)ctx;
	return calloc(1, n != 0 ? n : 1);
}

static void proof_release(void *ctx, void *p)
{
	(void)ctx;
	free(p);
}

static void proof_log(void *ctx, uint32_t level, const char *text)
{
	(void)ctx;
	(void)level;
	(void)text;
}

static const void *proof_service(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return NULL;
}

static const pctl_host proof_host = {.head = PCTL_HEAD(pctl_host),
				     .alloc = proof_alloc,
				     .release = proof_release,
				     .log = proof_log,
				     .get_service = proof_service};

static inline void proof_load(proof_plugin *p)
{
	char path[1024];
	const pctl_plugin *plugin;
	void *library;

	if (p->table != NULL)
		return;
	snprintf(path, sizeof(path), "%s/%s", PIPECTL_BINARY_DIR, p->file);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		fail_msg("%s", dlerror());
	plugin = dlsym(library, PCTL_PLUGIN_SYMBOL);
	assert_non_null(plugin);
	assert_int_equal(plugin->open(&proof_host, NULL, &p->inst), PCTL_OK);
	p->table = plugin->interface(p->inst, p->interface);
	assert_non_null(p->table);
}

static inline uint32_t proof_count(void *ctx)
{
	uint32_t n = 0;

	(void)ctx;
	for (uint32_t i = 0; i < 2; i++)
		n += ((const pctl_oplib *)proof_libraries[i].table)
			     ->op_count(proof_libraries[i].inst);
	return n;
}

static inline void proof_at(void *ctx, uint32_t i, pctl_op_ref *out)
{
	static const char *const names[] = {"int", "ieee"};

	(void)ctx;
	for (uint32_t k = 0; k < 2; k++) {
		const pctl_oplib *lib = proof_libraries[k].table;
		const uint32_t n = lib->op_count(proof_libraries[k].inst);

		if (i < n) {
			*out = (pctl_op_ref){.lib = lib,
					     .inst = proof_libraries[k].inst,
					     .desc = lib->op_at(proof_libraries[k].inst, i),
					     .index = i,
					     .plugin = names[k],
					     .digest = names[k]};
			return;
		}
		i -= n;
	}
}

static const pctl_op_source proof_source = {NULL, proof_count, proof_at};

static inline void proof_open(proof_rig *r)
{
	pctl_session_options o = {
		.device_kind = PCTL_DEVICE_REFERENCE, .name = "cpu:0", .id = "cpu:0"};

	memset(r, 0, sizeof(*r));
	for (uint32_t i = 0; i < 2; i++)
		proof_load(&proof_libraries[i]);
	proof_load(&proof_cpu);
	o.table = proof_cpu.table;
	o.inst = proof_cpu.inst;
	r->l = pctl_diag_list_create();
	r->call = pctl_diag_list_call(r->l);
	assert_int_equal(pctl_session_open(&o, r->call, &r->session), PCTL_OK);
	r->context.ops = &proof_source;
	r->context.kernels = pctl_kernels_create(&proof_source);
	assert_non_null(r->context.kernels);
	r->context.device = r->context.reference = r->session;
	r->context.seed = 1;
	r->context.cases = 5000;
	assert_int_equal(pctl_evaluator_reference(&r->context, r->call, &r->reference), PCTL_OK);
}

static inline void proof_close(proof_rig *r)
{
	pctl_evaluator_destroy(r->reference);
	pctl_session_close(r->session);
	pctl_kernels_destroy(r->context.kernels);
	pctl_diag_list_destroy(r->l);
}

static inline pctl_op_function proof_function(const char *name, uint32_t dtype)
{
	pctl_op_function f;

	if (!pctl_function_find(&proof_source, name, NULL, dtype, &f))
		fail_msg("there is no %s on dtype %u", name, dtype);
	return f;
}

/* The last diagnostic collected; NULL when there is none. */
static inline const pctl_diag *proof_last(const proof_rig *r)
{
	const uint32_t n = pctl_diag_list_count(r->l);

	return n == 0 ? NULL : pctl_diag_list_at(r->l, n - 1);
}

/* Columns of a test, released with proof_columns_free. */
static inline void proof_columns(pctl_column *c, uint32_t n, uint64_t elements)
{
	for (uint32_t i = 0; i < n; i++) {
		c[i] = (pctl_column){.n = elements, .data = malloc(elements * 16 + 16)};
		assert_non_null(c[i].data);
	}
}

static inline void proof_columns_free(pctl_column *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		free(c[i].data);
}

#endif
