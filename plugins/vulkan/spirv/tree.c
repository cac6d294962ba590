/* Moving whole values between memory and ids: plain loads and stores, and the leaf by leaf walk
 * that carries a composite between laid-out memory and a plain value. */
#include "spirv/spirv.h"

/* Under the Vulkan memory model only non-private accesses take part in synchronisation. */
uint32_t pctl_spv_memory_operand(const pctl_spv *e, SpvStorageClass class)
{
	if (!e->vulkan_model ||
	    (class != SpvStorageClassStorageBuffer && class != SpvStorageClassWorkgroup))
		return SpvMemoryAccessMaskNone;
	return SpvMemoryAccessNonPrivatePointerMask;
}

uint32_t pctl_spv_raw_load(pctl_spv *e, uint32_t type, uint32_t pointer, SpvStorageClass class)
{
	const uint32_t access = pctl_spv_memory_operand(e, class);

	return access ? PCTL_SPV_VALUE(e, SpvOpLoad, type, pointer, access)
		      : PCTL_SPV_VALUE(e, SpvOpLoad, type, pointer);
}

void pctl_spv_raw_store(pctl_spv *e, uint32_t pointer, uint32_t value, SpvStorageClass class)
{
	const uint32_t access = pctl_spv_memory_operand(e, class);

	if (access)
		PCTL_SPV_EFFECT(e, SpvOpStore, pointer, value, access);
	else
		PCTL_SPV_EFFECT(e, SpvOpStore, pointer, value);
}

uint32_t pctl_spv_variable(pctl_spv *e, uint32_t type, uint32_t initial)
{
	const uint32_t pointer = pctl_spv_pointer(e, SpvStorageClassFunction, type);
	const uint32_t id = pctl_spv_id(e);

	if (initial)
		PCTL_SPV_PUT(e, &e->variables, SpvOpVariable, pointer, id, SpvStorageClassFunction,
			     initial);
	else
		PCTL_SPV_PUT(e, &e->variables, SpvOpVariable, pointer, id, SpvStorageClassFunction);
	return id;
}

/* ---- counted loops ---- */

void pctl_spv_for(pctl_spv *e, uint32_t first, uint32_t limit, uint32_t step, pctl_spv_counted *out)
{
	const uint32_t u32 = pctl_spv_type(e, 32, 1);
	const uint32_t body = pctl_spv_id(e);
	uint32_t before, inside;

	out->header = pctl_spv_id(e);
	out->go_on = pctl_spv_id(e);
	out->merge = pctl_spv_id(e);
	out->next = pctl_spv_id(e);
	if (!e->block)
		pctl_spv_label(e, pctl_spv_id(e));
	before = e->block;
	pctl_spv_branch(e, out->header);
	pctl_spv_label(e, out->header);
	out->i = PCTL_SPV_VALUE(e, SpvOpPhi, u32, first, before, out->next, out->go_on);
	inside = PCTL_SPV_VALUE(e, SpvOpULessThan, pctl_spv_type(e, 1, 1), out->i, limit);
	PCTL_SPV_PUT(e, &e->body, SpvOpLoopMerge, out->merge, out->go_on, SpvLoopControlMaskNone);
	pctl_spv_branch_if(e, inside, body, out->merge, 0);
	pctl_spv_label(e, body);
	out->step = step;
}

void pctl_spv_end_for(pctl_spv *e, const pctl_spv_counted *c)
{
	pctl_spv_branch(e, c->go_on);
	pctl_spv_label(e, c->go_on);
	PCTL_SPV_PUT(e, &e->body, SpvOpIAdd, pctl_spv_type(e, 32, 1), c->next, c->i, c->step);
	pctl_spv_branch(e, c->header);
	pctl_spv_label(e, c->merge);
}

/* ---- trees ---- */

static uint32_t part_pointer(pctl_spv *e, uint32_t part_type, uint32_t pointer, uint32_t index,
			     SpvStorageClass class)
{
	return PCTL_SPV_VALUE(e, SpvOpAccessChain,
			      pctl_spv_pointer(e, class, e->explicit_layout[part_type]), pointer,
			      index);
}

static uint32_t n_parts(const pctl_type *t)
{
	return t->kind == PCTL_TYPE_MATRIX ? t->columns : t->count;
}

static uint32_t part_type(const pctl_spv *e, const pctl_type *t, uint32_t i)
{
	return t->kind == PCTL_TYPE_STRUCT ? e->p->members[t->first_member + i].type : t->elem;
}

static int by_loop(const pctl_spv *e, const pctl_type *t)
{
	return t->kind == PCTL_TYPE_ARRAY &&
	       (uint64_t)e->leaves[t->elem] * t->count > PCTL_SPV_UNROLL && t->count > 1;
}

/* bool has no layout: in a block it is u32, 0 or 1. Of u16, a block has the lower half. */
static uint32_t leaf_load(pctl_spv *e, uint32_t type, pctl_spv_shape s, uint32_t pointer,
			  SpvStorageClass class)
{
	const uint32_t x = pctl_spv_raw_load(e, e->explicit_layout[type], pointer, class);

	if (s.is_narrow)
		return PCTL_SPV_VALUE(e, SpvOpUConvert, e->plain[type], x);
	if (s.bits != 1)
		return x;
	return PCTL_SPV_VALUE(e, SpvOpINotEqual, pctl_spv_type(e, 1, s.width), x,
			      pctl_spv_const(e, 32, s.width, 0));
}

static void leaf_store(pctl_spv *e, pctl_spv_shape s, uint32_t pointer, uint32_t value,
		       SpvStorageClass class)
{
	const pctl_spv_shape word = {.bits = 32, .width = s.width};

	if (s.is_narrow)
		value = PCTL_SPV_VALUE(e, SpvOpUConvert, pctl_spv_type(e, 16, s.width), value);
	if (s.bits == 1)
		value = pctl_spv_select(e, word, value, pctl_spv_const(e, 32, s.width, 1),
					pctl_spv_const(e, 32, s.width, 0));
	pctl_spv_raw_store(e, pointer, value, class);
}

uint32_t pctl_spv_tree_load(pctl_spv *e, uint32_t type, uint32_t pointer, SpvStorageClass class)
{
	const pctl_type *t = &e->p->types[type];
	pctl_spv_words parts = {0};
	pctl_spv_counted loop;
	pctl_spv_shape s;
	uint32_t i, id, to, room;

	if (pctl_spv_shape_get(e->p, type, &s))
		return leaf_load(e, type, s, pointer, class);
	if (by_loop(e, t)) {
		room = pctl_spv_variable(e, e->plain[type], 0);
		pctl_spv_for(e, pctl_spv_u32(e, 0), pctl_spv_u32(e, t->count), pctl_spv_u32(e, 1),
			     &loop);
		id = pctl_spv_tree_load(e, t->elem,
					part_pointer(e, t->elem, pointer, loop.i, class), class);
		to = pctl_spv_pointer(e, SpvStorageClassFunction, e->plain[t->elem]);
		to = PCTL_SPV_VALUE(e, SpvOpAccessChain, to, room, loop.i);
		pctl_spv_raw_store(e, to, id, SpvStorageClassFunction);
		pctl_spv_end_for(e, &loop);
		return pctl_spv_raw_load(e, e->plain[type], room, SpvStorageClassFunction);
	}
	for (i = 0; i < n_parts(t); i++) {
		const uint32_t pt = part_type(e, t, i);

		id = part_pointer(e, pt, pointer, pctl_spv_u32(e, i), class);
		id = pctl_spv_tree_load(e, pt, id, class);
		pctl_spv_append(e, &parts, &id, 1);
	}
	id = pctl_spv_value(e, SpvOpCompositeConstruct, e->plain[type], parts.at, parts.n);
	free(parts.at);
	return id;
}

void pctl_spv_tree_store(pctl_spv *e, uint32_t type, uint32_t pointer, uint32_t value,
			 SpvStorageClass class)
{
	const pctl_type *t = &e->p->types[type];
	pctl_spv_counted loop;
	pctl_spv_shape s;
	uint32_t i, from, room, x;

	if (pctl_spv_shape_get(e->p, type, &s)) {
		leaf_store(e, s, pointer, value, class);
		return;
	}
	if (by_loop(e, t)) {
		room = pctl_spv_variable(e, e->plain[type], 0);
		pctl_spv_raw_store(e, room, value, SpvStorageClassFunction);
		pctl_spv_for(e, pctl_spv_u32(e, 0), pctl_spv_u32(e, t->count), pctl_spv_u32(e, 1),
			     &loop);
		from = pctl_spv_pointer(e, SpvStorageClassFunction, e->plain[t->elem]);
		from = PCTL_SPV_VALUE(e, SpvOpAccessChain, from, room, loop.i);
		x = pctl_spv_raw_load(e, e->plain[t->elem], from, SpvStorageClassFunction);
		pctl_spv_tree_store(e, t->elem, part_pointer(e, t->elem, pointer, loop.i, class), x,
				    class);
		pctl_spv_end_for(e, &loop);
		return;
	}
	for (i = 0; i < n_parts(t); i++) {
		const uint32_t pt = part_type(e, t, i);

		x = PCTL_SPV_VALUE(e, SpvOpCompositeExtract, e->plain[pt], value, i);
		pctl_spv_tree_store(e, pt, part_pointer(e, pt, pointer, pctl_spv_u32(e, i), class),
				    x, class);
	}
}
