/* Types and constants of a module, each declared once and in an order that depends on the program
 * alone. */
#include <stdlib.h>
#include <string.h>

#include "spirv/spirv.h"

/* ---- what is already declared ---- */

static uint32_t slot_of(const uint32_t key[4], uint32_t mask)
{
	uint64_t h = 0x9e3779b97f4a7c15ull;
	int i;

	for (i = 0; i < 4; i++)
		h = (h ^ key[i]) * 0xff51afd7ed558ccdull, h ^= h >> 32;
	return (uint32_t)h & mask;
}

static int map_grow(pctl_spv *e)
{
	const uint32_t capacity = e->map_capacity ? e->map_capacity * 2 : 256;
	pctl_spv_entry *grown = calloc(capacity, sizeof(*grown));
	uint32_t i, s;

	if (!grown) {
		pctl_spv_fail(e, PCTL_E_NOMEM);
		return 0;
	}
	for (i = 0; i < e->map_capacity; i++) {
		if (!e->map[i].id)
			continue;
		s = slot_of(e->map[i].key, capacity - 1);
		while (grown[s].id)
			s = (s + 1) & (capacity - 1);
		grown[s] = e->map[i];
	}
	free(e->map);
	e->map = grown;
	e->map_capacity = capacity;
	return 1;
}

/* The id that stands for (op, a, b, c); *fresh is 1 the first time, and the caller then declares
 * it. */
uint32_t pctl_spv_intern(pctl_spv *e, SpvOp op, uint32_t a, uint32_t b, uint32_t c, int *fresh)
{
	const uint32_t key[4] = {(uint32_t)op, a, b, c};
	uint32_t s;

	*fresh = 0;
	if (e->n_map * 2 >= e->map_capacity && !map_grow(e))
		return 0;
	s = slot_of(key, e->map_capacity - 1);
	while (e->map[s].id) {
		if (memcmp(e->map[s].key, key, sizeof(key)) == 0)
			return e->map[s].id;
		s = (s + 1) & (e->map_capacity - 1);
	}
	memcpy(e->map[s].key, key, sizeof(key));
	e->map[s].id = pctl_spv_id(e);
	e->n_map++;
	*fresh = 1;
	return e->map[s].id;
}

/* ---- scalars, vectors, pointers, constants ---- */

uint32_t pctl_spv_void(pctl_spv *e)
{
	int fresh;
	const uint32_t id = pctl_spv_intern(e, SpvOpTypeVoid, 0, 0, 0, &fresh);

	if (fresh)
		PCTL_SPV_PUT(e, &e->globals, SpvOpTypeVoid, id);
	return id;
}

static uint32_t vector_of(pctl_spv *e, uint32_t scalar, uint32_t width)
{
	int fresh;
	const uint32_t id = pctl_spv_intern(e, SpvOpTypeVector, scalar, width, 0, &fresh);

	if (fresh)
		PCTL_SPV_PUT(e, &e->globals, SpvOpTypeVector, id, scalar, width);
	return id;
}

uint32_t pctl_spv_type(pctl_spv *e, uint32_t bits, uint32_t width)
{
	int fresh;
	uint32_t id;

	if (width > 1)
		return vector_of(e, pctl_spv_type(e, bits, 1), width);
	id = pctl_spv_intern(e, SpvOpTypeInt, bits, 0, 0, &fresh);
	if (fresh && bits == 1)
		PCTL_SPV_PUT(e, &e->globals, SpvOpTypeBool, id);
	else if (fresh)
		PCTL_SPV_PUT(e, &e->globals, SpvOpTypeInt, id, bits, 0);
	return id;
}

uint32_t pctl_spv_shape_type(pctl_spv *e, pctl_spv_shape s)
{
	int fresh;
	uint32_t id;

	if (!s.is_float)
		return pctl_spv_type(e, s.bits, s.width);
	id = pctl_spv_intern(e, SpvOpTypeFloat, s.bits, 0, 0, &fresh);
	if (fresh)
		PCTL_SPV_PUT(e, &e->globals, SpvOpTypeFloat, id, s.bits);
	return s.width > 1 ? vector_of(e, id, s.width) : id;
}

uint32_t pctl_spv_pointer(pctl_spv *e, SpvStorageClass class, uint32_t type)
{
	int fresh;
	const uint32_t id = pctl_spv_intern(e, SpvOpTypePointer, (uint32_t) class, type, 0, &fresh);

	if (fresh)
		PCTL_SPV_PUT(e, &e->globals, SpvOpTypePointer, id, (uint32_t) class, type);
	return id;
}

uint32_t pctl_spv_const(pctl_spv *e, uint32_t bits, uint32_t width, uint64_t value)
{
	return pctl_spv_shape_const(e, (pctl_spv_shape){.bits = bits, .width = width}, value);
}

uint32_t pctl_spv_shape_const(pctl_spv *e, pctl_spv_shape s, uint64_t value)
{
	const uint32_t bits = s.bits, width = s.width;
	const uint32_t type = pctl_spv_shape_type(e, s);
	const uint32_t low = (uint32_t)value;
	const uint32_t high = bits == 64 ? (uint32_t)(value >> 32) : 0;
	uint32_t id, lane, i;
	uint32_t words[6];
	int fresh;

	if (width > 1) {
		s.width = 1;
		lane = pctl_spv_shape_const(e, s, value);
		id = pctl_spv_intern(e, SpvOpConstantComposite, type, lane, 0, &fresh);
		words[0] = type;
		words[1] = id;
		for (i = 0; i < width; i++)
			words[2 + i] = lane;
		if (fresh)
			pctl_spv_inst(e, &e->globals, SpvOpConstantComposite, words, 2 + width);
		return id;
	}
	id = pctl_spv_intern(e, SpvOpConstant, type, low, high, &fresh);
	if (!fresh)
		return id;
	if (bits == 1)
		PCTL_SPV_PUT(e, &e->globals, value ? SpvOpConstantTrue : SpvOpConstantFalse, type,
			     id);
	else if (bits == 64)
		PCTL_SPV_PUT(e, &e->globals, SpvOpConstant, type, id, low, high);
	else
		PCTL_SPV_PUT(e, &e->globals, SpvOpConstant, type, id, low);
	return id;
}

uint32_t pctl_spv_null(pctl_spv *e, uint32_t type)
{
	int fresh;
	const uint32_t id = pctl_spv_intern(e, SpvOpConstantNull, type, 0, 0, &fresh);

	if (fresh)
		PCTL_SPV_PUT(e, &e->globals, SpvOpConstantNull, type, id);
	return id;
}

/* ---- the program's types ---- */

int pctl_spv_shape_get(const pctl_program *p, uint32_t type, pctl_spv_shape *out)
{
	const pctl_type *t = &p->types[type];

	memset(out, 0, sizeof(*out));
	if (t->kind != PCTL_TYPE_SCALAR && t->kind != PCTL_TYPE_VECTOR &&
	    t->kind != PCTL_TYPE_ATOMIC)
		return 0;
	out->bits = pctl_scalar_bits(t->scalar);
	out->width = t->kind == PCTL_TYPE_VECTOR ? t->width : 1;
	out->is_signed = pctl_scalar_is_signed(t->scalar) != 0;
	out->is_float = t->scalar >= PCTL_SCALAR_F16 && t->scalar <= PCTL_SCALAR_F64;
	out->is_narrow = t->scalar == PCTL_SCALAR_U16;
	if (out->is_narrow)
		out->bits = 32;
	return 1;
}

int pctl_spv_is_block(const pctl_program *p, uint32_t type)
{
	const pctl_type *t = &p->types[type];

	return t->kind == PCTL_TYPE_STRUCT && t->count > 0 &&
	       p->types[p->members[t->first_member + t->count - 1].type].kind ==
		       PCTL_TYPE_RUNTIME_ARRAY;
}

static uint32_t saturate(uint64_t n)
{
	return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

/* Scalars and vectors in each type. */
static void count_leaves(const pctl_program *p, uint32_t *out)
{
	uint32_t t, m;
	uint64_t n;

	for (t = 1; t < p->n_types; t++) {
		const pctl_type *type = &p->types[t];

		n = 1;
		if (type->kind == PCTL_TYPE_MATRIX)
			n = type->columns;
		if (type->kind == PCTL_TYPE_ARRAY)
			n = (uint64_t)out[type->elem] * type->count;
		if (type->kind == PCTL_TYPE_STRUCT)
			for (m = 0, n = 0; m < type->count; m++)
				n += out[p->members[type->first_member + m].type];
		out[t] = saturate(n);
	}
}

uint32_t pctl_spv_instruction_count(const pctl_program *p)
{
	uint32_t *leaves = calloc(p->n_types, sizeof(*leaves));
	uint32_t *instruction_count = calloc(p->n_types, sizeof(*instruction_count));
	uint32_t t, m, i, most = UINT32_MAX;

	if (!leaves || !instruction_count)
		goto out;
	count_leaves(p, leaves);
	for (t = 1; t < p->n_types; t++) {
		const pctl_type *type = &p->types[t];
		uint64_t work = leaves[t];

		if (type->kind == PCTL_TYPE_ARRAY && work > PCTL_SPV_UNROLL)
			work = (uint64_t)instruction_count[type->elem] + 1;
		if (type->kind == PCTL_TYPE_STRUCT)
			for (m = 0, work = 0; m < type->count; m++)
				work += instruction_count[p->members[type->first_member + m].type];
		instruction_count[t] = saturate(work);
	}
	for (i = 0, most = 0; i < p->n_insts; i++) {
		if (instruction_count[p->insts[i].type] > most)
			most = instruction_count[p->insts[i].type];
		if (p->insts[i].n_args > most && p->insts[i].op != PCTL_OP_LOOKUP)
			most = p->insts[i].n_args;
	}
out:
	free(leaves);
	free(instruction_count);
	return most;
}

static void mark_parts(const pctl_program *p, uint8_t *used)
{
	uint32_t t, m;

	for (t = p->n_types; t-- > 1;) {
		const pctl_type *type = &p->types[t];

		if (!used[t])
			continue;
		if (type->kind == PCTL_TYPE_STRUCT)
			for (m = 0; m < type->count; m++)
				used[p->members[type->first_member + m].type] = 1;
		else if (type->kind != PCTL_TYPE_SCALAR)
			used[type->elem] = 1;
	}
}

int pctl_spv_blocks_hold_16(const pctl_program *p)
{
	uint8_t *used = calloc(p->n_types, 1);
	uint32_t i;
	int found = 0;

	if (!used)
		return 1;
	for (i = 0; i < p->n_vars; i++)
		used[p->vars[i].type] |= p->vars[i].space >= PCTL_SPACE_UNIFORM;
	mark_parts(p, used);
	for (i = 1; i < p->n_types; i++)
		found |= used[i] && p->types[i].kind == PCTL_TYPE_SCALAR &&
			 (p->types[i].scalar == PCTL_SCALAR_U16 ||
			  p->types[i].scalar == PCTL_SCALAR_F16);
	free(used);
	return found;
}

static uint32_t declare_struct(pctl_spv *e, const pctl_type *t, const uint32_t *ids,
			       int explicit_layout)
{
	pctl_spv_words w = {0};
	const uint32_t id = pctl_spv_id(e);
	uint32_t m;

	pctl_spv_append(e, &w, &id, 1);
	for (m = 0; m < t->count; m++) {
		const pctl_member *member = &e->p->members[t->first_member + m];

		pctl_spv_append(e, &w, &ids[member->type], 1);
		if (explicit_layout)
			PCTL_SPV_PUT(e, &e->decorations, SpvOpMemberDecorate, id, m,
				     SpvDecorationOffset, member->offset);
	}
	pctl_spv_inst(e, &e->globals, SpvOpTypeStruct, w.at, w.n);
	free(w.at);
	return id;
}

/* A matrix of integers does not exist in SPIR-V: it is an array of its columns, of floats too. */
static uint32_t declare(pctl_spv *e, uint32_t type, const uint32_t *ids, int explicit_layout)
{
	const pctl_type *t = &e->p->types[type];
	pctl_spv_shape s;
	uint32_t id, count;

	if (pctl_spv_shape_get(e->p, type, &s)) {
		if (explicit_layout && s.is_narrow)
			return pctl_spv_type(e, 16, s.width);
		if (explicit_layout && s.bits == 1)
			s.bits = 32;
		return pctl_spv_shape_type(e, s);
	}
	if (t->kind == PCTL_TYPE_STRUCT)
		return declare_struct(e, t, ids, explicit_layout);
	if (t->kind == PCTL_TYPE_TILE)
		return pctl_spv_tile_type(e, t);
	count = pctl_spv_u32(e, t->kind == PCTL_TYPE_MATRIX ? t->columns : t->count);
	id = pctl_spv_id(e);
	if (t->kind == PCTL_TYPE_RUNTIME_ARRAY)
		PCTL_SPV_PUT(e, &e->globals, SpvOpTypeRuntimeArray, id, ids[t->elem]);
	else
		PCTL_SPV_PUT(e, &e->globals, SpvOpTypeArray, id, ids[t->elem], count);
	if (explicit_layout)
		PCTL_SPV_PUT(e, &e->decorations, SpvOpDecorate, id, SpvDecorationArrayStride,
			     t->stride);
	return id;
}

/* Types are declared in the program's order, which has parts before wholes; only forms that are
 * used. */
int pctl_spv_types_declare(pctl_spv *e)
{
	const pctl_program *p = e->p;
	uint8_t *plain = calloc(p->n_types, 1);
	uint8_t *explicit_layout = calloc(p->n_types, 1);
	uint32_t i;

	if (!plain || !explicit_layout) {
		pctl_spv_fail(e, PCTL_E_NOMEM);
		goto out;
	}
	for (i = 0; i < p->n_vars; i++)
		(p->vars[i].space >= PCTL_SPACE_UNIFORM ? explicit_layout
							: plain)[p->vars[i].type] = 1;
	for (i = 0; i < p->n_locals; i++)
		plain[p->locals[i].type] = 1;
	for (i = 0; i < p->n_insts; i++)
		plain[p->insts[i].type] = 1;
	for (i = 0; i < p->n_functions; i++)
		plain[p->functions[i].return_type] = 1;
	count_leaves(p, e->leaves);
	mark_parts(p, plain);
	mark_parts(p, explicit_layout);
	for (i = 1; i < p->n_types; i++) {
		if (plain[i])
			e->plain[i] = declare(e, i, e->plain, 0);
		if (explicit_layout[i])
			e->explicit_layout[i] = declare(e, i, e->explicit_layout, 1);
	}
out:
	free(plain);
	free(explicit_layout);
	return e->status == PCTL_OK;
}
