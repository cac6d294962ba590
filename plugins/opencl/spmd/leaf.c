/* The scalars of a type, its leaves, in order of memory. */
#include "spmd/internal.h"

#include <string.h>

static uint32_t part_type(const pctl_program *p, uint32_t type, uint32_t i)
{
	const pctl_type *t = &p->types[type];

	return t->kind == PCTL_TYPE_STRUCT ? p->members[t->first_member + i].type : t->elem;
}

/* Cut at a million, so that products of counts stay numbers. */
uint32_t spmd_leaves(const pctl_program *p, uint32_t type)
{
	const pctl_type *t = &p->types[type];
	uint64_t n = 0;

	switch (t->kind) {
	case PCTL_TYPE_SCALAR:
	case PCTL_TYPE_ATOMIC:
		return 1;
	case PCTL_TYPE_STRUCT:
		for (uint32_t i = 0; i < t->count; i++)
			n += spmd_leaves(p, part_type(p, type, i));
		break;
	case PCTL_TYPE_VOID:
		return 0;
	default:
		n = (uint64_t)emit_part_count(p, type) * spmd_leaves(p, t->elem);
		break;
	}
	return n < 1000000 ? (uint32_t)n : 1000000;
}

uint32_t spmd_leaf_of_part(const pctl_program *p, uint32_t type, uint32_t i)
{
	const pctl_type *t = &p->types[type];
	uint32_t n = 0;

	if (t->kind != PCTL_TYPE_STRUCT)
		return i * spmd_leaves(p, t->elem);
	for (uint32_t k = 0; k < i; k++)
		n += spmd_leaves(p, part_type(p, type, k));
	return n;
}

uint32_t spmd_leaf(const spmd *s, uint32_t type, uint32_t k, uint64_t *offset, text *path)
{
	const pctl_program *p = s->e.p;

	if (offset)
		*offset = 0;
	while (p->types[type].kind != PCTL_TYPE_SCALAR && p->types[type].kind != PCTL_TYPE_ATOMIC) {
		uint32_t i = 0;

		if (p->types[type].kind != PCTL_TYPE_STRUCT)
			i = k / spmd_leaves(p, p->types[type].elem);
		else
			while (k >= spmd_leaf_of_part(p, type, i + 1))
				i++;
		k -= spmd_leaf_of_part(p, type, i);
		if (offset)
			*offset += p->types[type].kind == PCTL_TYPE_VECTOR
					   ? (uint64_t)i * pctl_scalar_bytes(p->types[type].scalar)
					   : pctl_type_part_offset(p, type, i);
		if (path)
			emit_part(&s->e, path, type, i);
		type = part_type(p, type, i);
	}
	return type;
}

const char *spmd_element(const spmd *s, uint32_t type)
{
	const char *first = NULL;
	uint32_t wide = 0, is_mixed = 0, n;

	while (s->e.p->types[type].kind == PCTL_TYPE_ARRAY)
		type = s->e.p->types[type].elem;
	n = spmd_leaves(s->e.p, type);
	for (uint32_t k = 0; k < n; k++) {
		const uint8_t scalar = s->e.p->types[spmd_leaf(s, type, k, NULL, NULL)].scalar;
		const char *name = emit_scalar_name(scalar);

		wide += pctl_scalar_bits(scalar) == 64;
		is_mixed |= first && strcmp(first, name) != 0;
		first = name;
	}
	return !is_mixed ? first : wide ? "ulong" : "uint";
}
