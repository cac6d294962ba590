/* What surrounds the code of an entry point: bound variables, lengths, built-in inputs, and
 * workgroup memory set to zero before anything else runs. */
#include "spirv/spirv.h"

#define LARGEST_VECTOR 16u /* of llvmpipe's, of 4, 8 or 16 invocations */

int pctl_spv_interface_get(const pctl_program *p, const pctl_spv_options *opt,
			   pctl_spv_interface *out)
{
	uint32_t i;

	*out = (pctl_spv_interface){0};
	for (i = 0; i < p->n_insts; i++)
		out->has_tables |= p->insts[i].op == PCTL_OP_LOOKUP;
	for (i = 0; i < p->n_vars; i++) {
		const pctl_var *v = &p->vars[i];
		const pctl_type *t = &p->types[v->type];
		pctl_spv_binding *b;

		if (v->space != PCTL_SPACE_UNIFORM && v->space != PCTL_SPACE_STORAGE)
			break; /* bound variables are sorted first */
		if (i == PCTL_SPV_MAX_BINDINGS)
			return 0;
		b = &out->bindings[out->n_bindings++];
		b->group = v->group;
		b->binding = v->binding;
		b->writable = v->access != PCTL_ACCESS_READ;
		b->uniform = v->space == PCTL_SPACE_UNIFORM && t->size <= opt->uniform_bytes;
		b->fixed_bytes = t->size;
		if (t->kind == PCTL_TYPE_RUNTIME_ARRAY) {
			b->stride = t->stride;
		} else if (pctl_spv_is_block(p, v->type)) {
			const pctl_member *m = &p->members[t->first_member + t->count - 1];

			b->fixed_bytes = m->offset;
			b->stride = p->types[m->type].stride;
		}
		if (b->stride)
			b->length_slot = out->n_lengths++;
	}
	return 1;
}

/* ---- variables ---- */

static uint32_t block_type(pctl_spv *e, uint32_t type)
{
	uint32_t id = e->explicit_layout[type];
	int fresh = 1;

	if (pctl_spv_is_block(e->p, type)) {
		pctl_spv_intern(e, SpvOpDecorate, id, SpvDecorationBlock, 0, &fresh);
	} else {
		id = pctl_spv_id(e);
		PCTL_SPV_PUT(e, &e->globals, SpvOpTypeStruct, id, e->explicit_layout[type]);
		PCTL_SPV_PUT(e, &e->decorations, SpvOpMemberDecorate, id, 0, SpvDecorationOffset,
			     0);
	}
	if (fresh)
		PCTL_SPV_PUT(e, &e->decorations, SpvOpDecorate, id, SpvDecorationBlock);
	return id;
}

static void declare_bound(pctl_spv *e, uint32_t var)
{
	const pctl_spv_binding *b = &e->interface.bindings[var];
	const SpvStorageClass class = pctl_spv_class(e, var);
	const uint32_t pointer = pctl_spv_pointer(e, class, block_type(e, e->p->vars[var].type));
	const uint32_t id = pctl_spv_id(e);

	PCTL_SPV_PUT(e, &e->globals, SpvOpVariable, pointer, id, (uint32_t) class);
	PCTL_SPV_PUT(e, &e->decorations, SpvOpDecorate, id, SpvDecorationDescriptorSet, 0);
	PCTL_SPV_PUT(e, &e->decorations, SpvOpDecorate, id, SpvDecorationBinding, var);
	if (class == SpvStorageClassStorageBuffer) {
		/* A writable binding overlaps no other (backend.h), so nothing written is read
		 * elsewhere. */
		PCTL_SPV_PUT(e, &e->decorations, SpvOpDecorate, id, SpvDecorationRestrict);
		if (!b->writable)
			PCTL_SPV_PUT(e, &e->decorations, SpvOpDecorate, id,
				     SpvDecorationNonWritable);
		if (b->writable && e->storage_barrier && !e->vulkan_model)
			PCTL_SPV_PUT(e, &e->decorations, SpvOpDecorate, id, SpvDecorationCoherent);
	}
	e->vars[var] = id;
}

static void declare_push(pctl_spv *e)
{
	pctl_spv_words w = {0};
	const uint32_t u32 = pctl_spv_type(e, 32, 1);
	const uint32_t type = pctl_spv_id(e);
	uint32_t i, pointer;

	pctl_spv_append(e, &w, &type, 1);
	for (i = 0; i < e->interface.n_lengths; i++) {
		pctl_spv_append(e, &w, &u32, 1);
		PCTL_SPV_PUT(e, &e->decorations, SpvOpMemberDecorate, type, i, SpvDecorationOffset,
			     4 * i);
	}
	pctl_spv_inst(e, &e->globals, SpvOpTypeStruct, w.at, w.n);
	free(w.at);
	PCTL_SPV_PUT(e, &e->decorations, SpvOpDecorate, type, SpvDecorationBlock);
	pointer = pctl_spv_pointer(e, SpvStorageClassPushConstant, type);
	e->push = pctl_spv_id(e);
	PCTL_SPV_PUT(e, &e->globals, SpvOpVariable, pointer, e->push, SpvStorageClassPushConstant);
}

void pctl_spv_globals_declare(pctl_spv *e)
{
	uint32_t i, pointer, type;
	SpvStorageClass class;

	for (i = 0; i < e->p->n_vars; i++) {
		if (e->p->vars[i].space >= PCTL_SPACE_UNIFORM) {
			declare_bound(e, i);
			continue;
		}
		class = pctl_spv_class(e, i);
		type = e->plain[e->p->vars[i].type];
		pointer = pctl_spv_pointer(e, class, type);
		if (class == SpvStorageClassPrivate) {
			type = pctl_spv_null(e, type);
			e->vars[i] = pctl_spv_id(e);
			PCTL_SPV_PUT(e, &e->globals, SpvOpVariable, pointer, e->vars[i],
				     (uint32_t) class, type);
		} else {
			e->vars[i] = pctl_spv_id(e);
			PCTL_SPV_PUT(e, &e->globals, SpvOpVariable, pointer, e->vars[i],
				     (uint32_t) class);
		}
	}
	if (e->interface.n_lengths)
		declare_push(e);
}

/* Where an invocation is in a workgroup that the module lays out in one dimension: its place in the program's three. */
static uint32_t place_of_index(pctl_spv *e, uint32_t builtin)
{
	const uint32_t *size = e->p->entries[0].workgroup_size;
	const uint32_t u32 = pctl_spv_type(e, 32, 1), u3 = pctl_spv_type(e, 32, 3);
	uint32_t index = pctl_spv_builtin(e, PCTL_BUILTIN_LOCAL_INDEX), parts[3], i, id;

	for (i = 0; i < 2; i++) {
		parts[i] = PCTL_SPV_VALUE(e, SpvOpUMod, u32, index, pctl_spv_u32(e, size[i]));
		index = PCTL_SPV_VALUE(e, SpvOpUDiv, u32, index, pctl_spv_u32(e, size[i]));
	}
	parts[2] = index;
	id = pctl_spv_value(e, SpvOpCompositeConstruct, u3, parts, 3);
	if (builtin == PCTL_BUILTIN_LOCAL_ID)
		return id;
	for (i = 0; i < 3; i++)
		parts[i] = pctl_spv_u32(e, size[i]);
	index = pctl_spv_value(e, SpvOpCompositeConstruct, u3, parts, 3);
	index = PCTL_SPV_VALUE(e, SpvOpIMul, u3, pctl_spv_builtin(e, PCTL_BUILTIN_WORKGROUP_ID),
			       index);
	return PCTL_SPV_VALUE(e, SpvOpIAdd, u3, index, id);
}

uint32_t pctl_spv_builtin(pctl_spv *e, uint32_t builtin)
{
	static const uint32_t which[] = {0,
					 SpvBuiltInGlobalInvocationId,
					 SpvBuiltInLocalInvocationId,
					 SpvBuiltInLocalInvocationIndex,
					 SpvBuiltInWorkgroupId,
					 SpvBuiltInNumWorkgroups};
	const uint32_t type = pctl_spv_type(e, 32, builtin == PCTL_BUILTIN_LOCAL_INDEX ? 1 : 3);
	uint32_t pointer, id;

	if (builtin == 0 || builtin > PCTL_BUILTIN_NUM_WORKGROUPS) {
		pctl_spv_fail(e, PCTL_E_UNSUPPORTED);
		return 0;
	}
	if (e->is_flat && (builtin == PCTL_BUILTIN_LOCAL_ID || builtin == PCTL_BUILTIN_GLOBAL_ID))
		return place_of_index(e, builtin);
	if (!e->builtins[builtin]) {
		pointer = pctl_spv_pointer(e, SpvStorageClassInput, type);
		id = pctl_spv_id(e);
		e->builtins[builtin] = id;
		PCTL_SPV_PUT(e, &e->globals, SpvOpVariable, pointer, id, SpvStorageClassInput);
		PCTL_SPV_PUT(e, &e->decorations, SpvOpDecorate, id, SpvDecorationBuiltIn,
			     which[builtin]);
		pctl_spv_append(e, &e->inputs, &id, 1);
	}
	return PCTL_SPV_VALUE(e, SpvOpLoad, type, e->builtins[builtin]);
}

/* ---- workgroup memory ---- */

static uint32_t group_pointer(pctl_spv *e, uint32_t type)
{
	return pctl_spv_pointer(e, SpvStorageClassWorkgroup, e->plain[type]);
}

/* Each invocation clears every n-th element; arrays of arrays count as one long array. */
static void clear_array(pctl_spv *e, uint32_t var, uint32_t index, uint32_t n_invocations)
{
	const pctl_program *p = e->p;
	const uint32_t u32 = pctl_spv_type(e, 32, 1);
	uint32_t chain[17], lengths[16];
	uint32_t type = p->vars[var].type, depth = 0, total = 1, i, rest, to;
	pctl_spv_counted loop;

	while (p->types[type].kind == PCTL_TYPE_ARRAY && depth < 16 &&
	       p->types[type].count <= UINT32_MAX / 2 / total) {
		lengths[depth++] = p->types[type].count;
		total *= p->types[type].count;
		type = p->types[type].elem;
	}
	pctl_spv_for(e, index, pctl_spv_u32(e, total), pctl_spv_u32(e, n_invocations), &loop);
	rest = loop.i;
	for (i = depth; i-- > 1;) {
		chain[1 + i] = PCTL_SPV_VALUE(e, SpvOpUMod, u32, rest, pctl_spv_u32(e, lengths[i]));
		rest = PCTL_SPV_VALUE(e, SpvOpUDiv, u32, rest, pctl_spv_u32(e, lengths[i]));
	}
	chain[0] = e->vars[var];
	chain[1] = rest;
	to = pctl_spv_value(e, SpvOpAccessChain, group_pointer(e, type), chain, depth + 1);
	pctl_spv_raw_store(e, to, pctl_spv_null(e, e->plain[type]), SpvStorageClassWorkgroup);
	pctl_spv_end_for(e, &loop);
}

static int has_barrier(const pctl_program *p)
{
	for (uint32_t i = 0; i < p->n_insts; i++)
		if (p->insts[i].op == PCTL_OP_BARRIER || p->insts[i].op == PCTL_OP_LOAD_UNIFORM)
			return 1;
	return 0;
}

/* Vectors lie along the first dimension. Where that is no multiple of them, llvmpipe (Mesa 22.3) runs main for what fills up the
 * last one of each row, too, only without stores and with 0 for every load. So it stays in loops that the workgroup has left,
 * waits at their barriers, and the invocations beside it never come back. It knows where it is in its row, though: no
 * invocation leaves here. */
static void rest_leaves(pctl_spv *e, uint32_t row, uint32_t n)
{
	const uint32_t then = pctl_spv_id(e), merge = pctl_spv_id(e);
	const uint32_t u32 = pctl_spv_type(e, 32, 1);
	uint32_t beyond, at;

	if (row == n)
		at = pctl_spv_builtin(e, PCTL_BUILTIN_LOCAL_INDEX);
	else
		at = PCTL_SPV_VALUE(e, SpvOpCompositeExtract, u32,
				    pctl_spv_builtin(e, PCTL_BUILTIN_LOCAL_ID), 0);
	beyond = PCTL_SPV_VALUE(e, SpvOpUGreaterThanEqual, pctl_spv_type(e, 1, 1), at,
				pctl_spv_u32(e, row));
	pctl_spv_branch_if(e, beyond, then, merge, merge);
	pctl_spv_label(e, then);
	pctl_spv_effect(e, SpvOpReturn, NULL, 0);
	e->block = 0;
	pctl_spv_label(e, merge);
}

void pctl_spv_prologue(pctl_spv *e)
{
	const pctl_program *p = e->p;
	const pctl_entry *entry = &p->entries[0];
	const uint32_t n =
		entry->workgroup_size[0] * entry->workgroup_size[1] * entry->workgroup_size[2];
	const uint32_t row = e->is_flat ? n : entry->workgroup_size[0];
	uint32_t i, index = 0, first, then, merge, others = 0;

	if (e->opt->rest_leaves && row % LARGEST_VECTOR && has_barrier(p))
		rest_leaves(e, row, n);
	for (i = 0; i < p->n_vars; i++) {
		if (p->vars[i].space != PCTL_SPACE_WORKGROUP)
			continue;
		if (!index)
			index = pctl_spv_builtin(e, PCTL_BUILTIN_LOCAL_INDEX);
		if (p->types[p->vars[i].type].kind == PCTL_TYPE_ARRAY)
			clear_array(e, i, index, n);
		else
			others = 1;
	}
	if (others) {
		then = pctl_spv_id(e);
		merge = pctl_spv_id(e);
		first = PCTL_SPV_VALUE(e, SpvOpIEqual, pctl_spv_type(e, 1, 1), index,
				       pctl_spv_u32(e, 0));
		pctl_spv_branch_if(e, first, then, merge, merge);
		pctl_spv_label(e, then);
		for (i = 0; i < p->n_vars; i++)
			if (p->vars[i].space == PCTL_SPACE_WORKGROUP &&
			    p->types[p->vars[i].type].kind != PCTL_TYPE_ARRAY)
				pctl_spv_raw_store(e, e->vars[i],
						   pctl_spv_null(e, e->plain[p->vars[i].type]),
						   SpvStorageClassWorkgroup);
		pctl_spv_branch(e, merge);
		pctl_spv_label(e, merge);
	}
	if (index)
		pctl_spv_barrier(e, PCTL_BARRIER_WORKGROUP);
}
