/* Types of the float pass: f32 is u32, f64 is u64; 16-bit floats are u32 as values and in memory of the
 * invocation and the workgroup, u16 at the same bytes in storage and uniform memory. */
#include "compiler/legalize/float.h"

#include <stdlib.h>

static int is_16(uint8_t scalar)
{
	return scalar == PCTL_SCALAR_F16 || scalar == PCTL_SCALAR_BF16;
}

/* Parts come before wholes. */
void legal_float_find(legal *l)
{
	const pctl_program *p = l->p;
	legal_floats *x = l->floats;

	for (uint32_t i = 1; i < p->n_types; i++) {
		const pctl_type *t = &p->types[i];

		if (t->kind == PCTL_TYPE_STRUCT) {
			for (uint32_t m = 0; m < t->count; m++) {
				const uint32_t part = p->members[t->first_member + m].type;

				x->has16[i] |= x->has16[part];
			}
		} else if (t->kind == PCTL_TYPE_ARRAY || t->kind == PCTL_TYPE_RUNTIME_ARRAY) {
			x->has16[i] = x->has16[t->elem];
		} else {
			x->has16[i] = (uint8_t)is_16(t->scalar);
		}
	}
}

static int is_elementwise(const pctl_type *t)
{
	return t->kind == PCTL_TYPE_SCALAR || t->kind == PCTL_TYPE_VECTOR;
}

int legal_has_raw(const legal *l, uint32_t type)
{
	const pctl_type *t = &l->p->types[type];

	return is_elementwise(t) && (t->scalar == PCTL_SCALAR_F32 || t->scalar == PCTL_SCALAR_F64);
}

int legal_is_f64(const legal *l, uint32_t type)
{
	const pctl_type *t = &l->p->types[type];

	return is_elementwise(t) && t->scalar == PCTL_SCALAR_F64;
}

int legal_is_16(const legal *l, uint32_t type)
{
	const pctl_type *t = &l->p->types[type];

	return is_elementwise(t) && is_16(t->scalar);
}

uint32_t legal_width(const legal *l, uint32_t type)
{
	const pctl_type *t = &l->p->types[type];

	return t->kind == PCTL_TYPE_VECTOR ? t->width : 1;
}

static uint32_t raw_type(legal *l, int is_f64, uint32_t width)
{
	const uint8_t scalar = is_f64 ? PCTL_SCALAR_F64 : PCTL_SCALAR_F32;
	uint32_t *type = &l->floats->raw_types[is_f64][width];

	if (!*type)
		*type = width == 1 ? pctl_build_scalar(l->b, scalar)
				   : pctl_build_vector(l->b, scalar, width);
	return *type;
}

uint32_t legal_raw_type(legal *l, uint32_t type)
{
	return raw_type(l, legal_is_f64(l, type), legal_width(l, type));
}

uint32_t legal_raw_scalar(legal *l, uint32_t type)
{
	return raw_type(l, legal_is_f64(l, type), 1);
}

int legal_may_be_raw(const legal *l, uint32_t type)
{
	while (l->p->types[type].kind == PCTL_TYPE_ARRAY ||
	       l->p->types[type].kind == PCTL_TYPE_MATRIX)
		type = l->p->types[type].elem;
	return legal_has_raw(l, type);
}

static uint8_t scalar_of(uint8_t scalar, uint8_t for_16)
{
	if (scalar == PCTL_SCALAR_F32)
		return PCTL_SCALAR_U32;
	if (scalar == PCTL_SCALAR_F64)
		return PCTL_SCALAR_U64;
	return is_16(scalar) ? for_16 : scalar;
}

static uint32_t made(legal *l, uint32_t type, uint8_t for_16,
		     uint32_t (*part)(legal *l, uint32_t type))
{
	const pctl_type *t = &l->p->types[type];
	const uint8_t scalar = scalar_of(t->scalar, for_16);

	switch (t->kind) {
	case PCTL_TYPE_SCALAR:
		return pctl_build_scalar(l->b, scalar);
	case PCTL_TYPE_VECTOR:
		return pctl_build_vector(l->b, scalar, t->width);
	case PCTL_TYPE_MATRIX:
		/* There are no matrices of narrow integers; the stride is the same. */
		if (scalar == PCTL_SCALAR_U16)
			return pctl_build_array(l->b, part(l, t->elem), t->columns, 0);
		return pctl_build_matrix(l->b, scalar, t->columns, t->width);
	case PCTL_TYPE_ARRAY:
	case PCTL_TYPE_RUNTIME_ARRAY:
		return pctl_build_array(l->b, part(l, t->elem), t->count, 0);
	case PCTL_TYPE_ATOMIC:
		return pctl_build_atomic(l->b, t->scalar);
	case PCTL_TYPE_TILE:
		return pctl_build_tile(l->b, t->scalar, t->count, t->columns, t->width);
	default:
		return 0;
	}
}

/* A struct that grows, laid out anew. */
static uint32_t loose_struct(legal *l, const pctl_type *t)
{
	pctl_member_spec *specs = calloc(t->count, sizeof(*specs));
	uint32_t type;

	if (!specs) {
		legal_refuse_memory(l);
		return 0;
	}
	for (uint32_t i = 0; i < t->count; i++) {
		const pctl_member *m = &l->p->members[t->first_member + i];

		specs[i] = (pctl_member_spec){.name = pctl_str(l->p, m->name),
					      .type = legal_type(l, m->type),
					      .offset = PCTL_OFFSET_AUTO};
	}
	type = pctl_build_struct(l->b, specs, t->count);
	free(specs);
	return type;
}

uint32_t legal_float_type(legal *l, uint32_t type)
{
	const pctl_type *t = &l->p->types[type];

	if (t->kind == PCTL_TYPE_STRUCT)
		return l->floats->has16[type] ? loose_struct(l, t) : legal_struct(l, t, legal_type);
	return made(l, type, PCTL_SCALAR_U32, legal_type);
}

uint32_t legal_float_stored(legal *l, uint32_t type)
{
	const pctl_type *t = &l->p->types[type];

	if (!l->floats->has16[type])
		return legal_type(l, type);
	if (t->kind == PCTL_TYPE_STRUCT)
		return legal_struct(l, t, legal_stored_type);
	return made(l, type, PCTL_SCALAR_U16, legal_stored_type);
}

/* A matrix is an array of its columns. */
uint32_t legal_raw_twin(legal *l, uint32_t type)
{
	const pctl_type *t = &l->p->types[type];

	if (t->kind == PCTL_TYPE_ARRAY || t->kind == PCTL_TYPE_MATRIX)
		return pctl_build_array(l->b, legal_raw_twin(l, t->elem),
					t->kind == PCTL_TYPE_ARRAY ? t->count : t->columns, 0);
	return legal_raw_type(l, type);
}

uint32_t legal_float_local(legal *l, uint32_t local)
{
	const uint32_t type = l->p->locals[l->fn->first_local + local].type;

	return l->floats->local_raw[local] ? legal_raw_twin(l, type) : legal_type(l, type);
}
