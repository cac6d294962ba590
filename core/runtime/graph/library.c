/* The op source of a running host; see library.h. A library that cannot be loaded is reported once
 * and then has no ops. */
#include "runtime/graph/library.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/vec.h"

struct pctl_op_library {
	pctl_registry *registry;
	const pctl_call *call;
	pctl_op_source source;
	PCTL_VEC(pctl_op_ref) ops;
	uint32_t loaded;
	uint32_t reserved;
};

static void load_one(pctl_op_library *l, const pctl_plugin_info *info)
{
	pctl_oplib_instance lib;
	uint32_t n;

	if (pctl_registry_oplib(l->registry, info->id, l->call, &lib) != PCTL_OK)
		return;
	n = lib.table->op_count(lib.inst);
	for (uint32_t i = 0; i < n; i++) {
		pctl_op_ref op = {lib.table, lib.inst,	  lib.table->op_at(lib.inst, i), i, 0,
				  info->id,  info->sha256};

		if (op.desc != NULL)
			(void)PCTL_VEC_PUSH(&l->ops, op);
	}
}

static void load(pctl_op_library *l)
{
	if (l->loaded)
		return;
	l->loaded = 1;
	for (uint32_t i = 0; i < pctl_registry_count(l->registry); i++) {
		const pctl_plugin_info *info = pctl_registry_at(l->registry, i);

		if (info->kind == PCTL_PLUGIN_OPLIB && info->state == PCTL_PLUGIN_USABLE)
			load_one(l, info);
	}
}

static uint32_t count(void *ctx)
{
	pctl_op_library *l = ctx;

	load(l);
	return l->ops.n;
}

static void at(void *ctx, uint32_t i, pctl_op_ref *out)
{
	pctl_op_library *l = ctx;

	load(l);
	*out = l->ops.items[i];
}

pctl_op_library *pctl_op_library_create(pctl_registry *registry, const pctl_call *call)
{
	pctl_op_library *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->registry = registry;
	l->call = call;
	l->source = (pctl_op_source){l, count, at};
	return l;
}

void pctl_op_library_destroy(pctl_op_library *l)
{
	if (l != NULL)
		free(l->ops.items);
	free(l);
}

const pctl_op_source *pctl_op_library_source(const pctl_op_library *l)
{
	return &l->source;
}
