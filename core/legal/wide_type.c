/* Types without 64-bit integers that occupy the very same bytes. */
#include "legal/legal_parts.h"

#include <stdlib.h>

static int is_64(uint8_t scalar)
{
	return scalar == PCTL_SCALAR_I64 || scalar == PCTL_SCALAR_U64;
}

int legal_is_wide_scalar(const legal *l, uint32_t type)
{
	return l->is_wide[type] && l->p->types[type].kind == PCTL_TYPE_SCALAR;
}

int legal_is_wide_vector(const legal *l, uint32_t type)
{
	return l->is_wide[type] && l->p->types[type].kind == PCTL_TYPE_VECTOR;
}

/* Parts come before wholes. */
void legal_find_wide(legal *l)
{
	const pctl_program *p = l->p;

	for (uint32_t i = 1; i < p->n_types; i++) {
		const pctl_type *t = &p->types[i];

		if (t->kind == PCTL_TYPE_STRUCT) {
			for (uint32_t m = 0; m < t->count; m++)
				l->is_wide[i] |= l->is_wide[p->members[t->first_member + m].type];
		} else if (t->kind == PCTL_TYPE_ARRAY || t->kind == PCTL_TYPE_RUNTIME_ARRAY) {
			l->is_wide[i] = l->is_wide[t->elem];
		} else {
			l->is_wide[i] = (uint8_t)is_64(t->scalar);
		}
	}
}

int legal_is_wrapped(const legal *l, uint32_t type)
{
	return legal_is_wide_vector(l, type) && l->p->types[type].width == 3;
}

uint32_t legal_elem_type(legal *l, uint32_t type)
{
	const pctl_member_spec member = {.name = "lanes",
					 .type = legal_type(l, type),
					 .align = l->p->types[type].align,
					 .offset = PCTL_OFFSET_AUTO};

	return legal_is_wrapped(l, type) ? pctl_build_struct(l->b, &member, 1) : member.type;
}

/* Members keep their offsets; alignment and size of the whole are asked for where the parts no
 * longer bring them. */
static uint32_t struct_type(legal *l, const pctl_type *t)
{
	pctl_member_spec *specs = calloc(t->count, sizeof(*specs));
	uint64_t end = 0;
	uint32_t align = 1, type;

	if (!specs) {
		legal_refuse_memory(l);
		return 0;
	}
	for (uint32_t i = 0; i < t->count; i++) {
		const pctl_member *m = &l->p->members[t->first_member + i];
		const pctl_type *now;

		specs[i] = (pctl_member_spec){.name = pctl_str(l->p, m->name),
					      .type = legal_type(l, m->type),
					      .offset = m->offset};
		now = pctl_build_type_at(l->b, specs[i].type);
		if (now && now->align > align)
			align = now->align;
		end = (uint64_t)m->offset + (now ? now->size : 0);
	}
	if (align < t->align)
		specs[0].align = t->align;
	if (t->size && ((end + t->align - 1) & ~(uint64_t)(t->align - 1)) != t->size)
		specs[t->count - 1].size = t->size - specs[t->count - 1].offset;
	type = pctl_build_struct(l->b, specs, t->count);
	free(specs);
	return type;
}

static uint32_t make_type(legal *l, uint32_t type)
{
	const pctl_type *t = &l->p->types[type];

	switch (t->kind) {
	case PCTL_TYPE_SCALAR:
		return l->is_wide[type] ? l->t_u2 : pctl_build_scalar(l->b, t->scalar);
	case PCTL_TYPE_VECTOR:
		return l->is_wide[type] ? pctl_build_array(l->b, l->t_u2, t->width, 0)
					: pctl_build_vector(l->b, t->scalar, t->width);
	case PCTL_TYPE_MATRIX:
		return l->is_wide[type]
			       ? pctl_build_array(l->b, legal_elem_type(l, t->elem), t->columns, 0)
			       : pctl_build_matrix(l->b, t->scalar, t->columns, t->width);
	case PCTL_TYPE_ARRAY:
	case PCTL_TYPE_RUNTIME_ARRAY:
		return pctl_build_array(l->b, legal_elem_type(l, t->elem), t->count, 0);
	case PCTL_TYPE_STRUCT:
		return struct_type(l, t);
	case PCTL_TYPE_ATOMIC:
		return pctl_build_atomic(l->b, t->scalar);
	default:
		return 0;
	}
}

/* The depth of nesting is bounded by the verifier. */
uint32_t legal_type(legal *l, uint32_t type)
{
	if (type && !l->types[type])
		l->types[type] = make_type(l, type);
	return l->types[type];
}
