/* Types without the wide scalars that occupy the very same bytes. */
#include "compiler/legalize/legal_parts.h"

int legal_is_int64_scalar(const legal *l, uint32_t type)
{
	return l->is_int64[type] && l->p->types[type].kind == PCTL_TYPE_SCALAR;
}

int legal_is_int64_vector(const legal *l, uint32_t type)
{
	return l->is_int64[type] && l->p->types[type].kind == PCTL_TYPE_VECTOR;
}

/* Parts come before wholes. */
void legal_find_int64(legal *l)
{
	const pctl_program *p = l->p;

	for (uint32_t i = 1; i < p->n_types; i++) {
		const pctl_type *t = &p->types[i];

		if (t->kind == PCTL_TYPE_STRUCT) {
			for (uint32_t m = 0; m < t->count; m++)
				l->is_int64[i] |= l->is_int64[p->members[t->first_member + m].type];
		} else if (t->kind == PCTL_TYPE_ARRAY || t->kind == PCTL_TYPE_RUNTIME_ARRAY) {
			l->is_int64[i] = l->is_int64[t->elem];
		} else {
			l->is_int64[i] = (uint8_t)((l->int64_scalars >> t->scalar) & 1u);
		}
	}
}

int legal_is_wrapped(const legal *l, uint32_t type)
{
	return legal_is_int64_vector(l, type) && l->p->types[type].width == 3;
}

uint32_t legal_elem_type(legal *l, uint32_t type)
{
	const pctl_member_spec member = {.name = "lanes",
					 .type = legal_type(l, type),
					 .align = l->p->types[type].align,
					 .offset = PCTL_OFFSET_AUTO};

	return legal_is_wrapped(l, type) ? pctl_build_struct(l->b, &member, 1) : member.type;
}

static uint32_t make_type(legal *l, uint32_t type)
{
	const pctl_type *t = &l->p->types[type];

	switch (t->kind) {
	case PCTL_TYPE_SCALAR:
		return l->is_int64[type] ? l->t_u2 : pctl_build_scalar(l->b, t->scalar);
	case PCTL_TYPE_VECTOR:
		return l->is_int64[type] ? pctl_build_array(l->b, l->t_u2, t->width, 0)
					 : pctl_build_vector(l->b, t->scalar, t->width);
	case PCTL_TYPE_MATRIX:
		return l->is_int64[type]
			       ? pctl_build_array(l->b, legal_elem_type(l, t->elem), t->columns, 0)
			       : pctl_build_matrix(l->b, t->scalar, t->columns, t->width);
	case PCTL_TYPE_ARRAY:
	case PCTL_TYPE_RUNTIME_ARRAY:
		return pctl_build_array(l->b, legal_elem_type(l, t->elem), t->count, 0);
	case PCTL_TYPE_STRUCT:
		return legal_struct(l, t, legal_type);
	case PCTL_TYPE_ATOMIC:
		return pctl_build_atomic(l->b, t->scalar);
	case PCTL_TYPE_TILE:
		return pctl_build_tile(l->b, t->scalar, t->count, t->columns, t->width);
	default:
		return 0;
	}
}

static uint32_t local(legal *l, uint32_t i)
{
	return legal_type(l, l->p->locals[l->fn->first_local + i].type);
}

const legal_rules legal_int64_rules = {
	.type = make_type, .local = local, .instruction = legal_int64_instruction};
