/* Types: WGSL's layout rules, stepping down a type, and taking a memory instruction apart. */
#include <string.h>

#include "foundation/base/num.h"
#include "compiler/ir/tables.h"

static void vector_layout(pctl_type *t, uint8_t scalar, uint32_t width)
{
	uint32_t bytes = pctl_scalar_bytes(scalar);

	t->size = bytes * width;
	t->align = bytes * (width == 2 ? 2 : 4);
}

int pctl_type_layout(const pctl_type *types, uint32_t n_types, pctl_type *t)
{
	const pctl_type *elem = t->elem < n_types ? &types[t->elem] : NULL;
	uint64_t size;

	switch (t->kind) {
	case PCTL_TYPE_VOID:
		t->stride = t->size = t->align = 0;
		return 1;
	case PCTL_TYPE_SCALAR:
	case PCTL_TYPE_ATOMIC:
		t->stride = 0;
		t->size = t->align = pctl_scalar_bytes(t->scalar);
		return t->size != 0;
	case PCTL_TYPE_VECTOR:
		t->stride = 0;
		vector_layout(t, t->scalar, t->width);
		return t->size != 0;
	case PCTL_TYPE_MATRIX:
		vector_layout(t, t->scalar, t->width);
		if (!t->align)
			return 0;
		t->stride = (uint32_t)pctl_num_align(t->size, t->align);
		t->size = t->stride * t->columns;
		return 1;
	case PCTL_TYPE_ARRAY:
	case PCTL_TYPE_RUNTIME_ARRAY:
		if (!elem || !elem->align)
			return 0;
		t->align = elem->align;
		size = pctl_num_align(elem->size, elem->align);
		if (size > INT32_MAX)
			return 0;
		t->stride = (uint32_t)size;
		if (!pctl_num_mul(size, t->count, &size) || size > UINT32_MAX)
			return 0;
		t->size = (uint32_t)size;
		return 1;
	case PCTL_TYPE_STRUCT:
		return 1;
	case PCTL_TYPE_TILE:
		t->stride = 0;
		t->size = (uint32_t)t->width * t->columns * pctl_scalar_bytes(t->scalar) /
			  PCTL_TILE_LANES;
		t->align = t->scalar == PCTL_SCALAR_F64 ? 8 : 4;
		return t->size != 0;
	default:
		return 0;
	}
}

uint32_t pctl_type_hash(const pctl_type *t, const pctl_member *members, const char *strings)
{
	const uint32_t words[] = {t->kind,  t->scalar,	   t->width, t->columns, t->elem,
				  t->count, t->count_spec, t->size,  t->align};
	uint32_t h = pctl_index_hash(0, words, sizeof(words));
	uint32_t i;

	for (i = 0; t->kind == PCTL_TYPE_STRUCT && i < t->count; i++) {
		const pctl_member *m = &members[t->first_member + i];
		const uint32_t part[] = {m->type, m->offset, m->flags};

		h = pctl_index_hash(h, part, sizeof(part));
		h = pctl_index_hash(h, strings + m->name, strlen(strings + m->name));
	}
	return h;
}

int pctl_type_same(const pctl_type *a, const pctl_member *ma, const char *sa, const pctl_type *b,
		   const pctl_member *mb, const char *sb)
{
	uint32_t i;

	if (a->kind != b->kind || a->scalar != b->scalar || a->width != b->width ||
	    a->columns != b->columns || a->elem != b->elem || a->count != b->count ||
	    a->count_spec != b->count_spec || a->size != b->size || a->align != b->align)
		return 0;
	for (i = 0; a->kind == PCTL_TYPE_STRUCT && i < a->count; i++) {
		const pctl_member *x = &ma[a->first_member + i];
		const pctl_member *y = &mb[b->first_member + i];

		if (x->type != y->type || x->offset != y->offset || x->flags != y->flags ||
		    strcmp(sa + x->name, sb + y->name) != 0)
			return 0;
	}
	return 1;
}

uint32_t pctl_type_step(const pctl_program *p, uint32_t type, uint32_t word)
{
	const pctl_type *t;

	if (type >= p->n_types)
		return 0;
	t = &p->types[type];
	switch (t->kind) {
	case PCTL_TYPE_STRUCT:
		return word < t->count ? p->members[t->first_member + word].type : 0;
	case PCTL_TYPE_VECTOR:
	case PCTL_TYPE_MATRIX:
	case PCTL_TYPE_ARRAY:
	case PCTL_TYPE_RUNTIME_ARRAY:
		return t->elem;
	default:
		return 0;
	}
}

uint64_t pctl_type_part_offset(const pctl_program *p, uint32_t type, uint32_t i)
{
	const pctl_type *t = &p->types[type];

	switch (t->kind) {
	case PCTL_TYPE_STRUCT:
		return p->members[t->first_member + i].offset;
	case PCTL_TYPE_VECTOR:
		return (uint64_t)i * pctl_scalar_bytes(t->scalar);
	case PCTL_TYPE_MATRIX:
	case PCTL_TYPE_ARRAY:
	case PCTL_TYPE_RUNTIME_ARRAY:
		return (uint64_t)i * t->stride;
	default:
		return 0;
	}
}

int pctl_op_place_values(uint16_t op, uint8_t *n_values)
{
	const char *args = pctl_op_get(op)->args;
	uint8_t n = 0;

	/* Only values stand before a place. This is asked of every instruction by every pass. */
	while (args[n] == 'v')
		n++;
	*n_values = args[n] == 'g' ? n : 0;
	return args[n] == 'g';
}

int pctl_place_get(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
		   pctl_place *out)
{
	uint32_t type, i;

	memset(out, 0, sizeof(*out));
	if (!pctl_op_place_values(in->op, &out->n_values) || in->n_args <= out->n_values)
		return 0;
	out->root = pctl_arg(p, in, out->n_values);
	out->chain = in->first_arg + out->n_values + 1;
	out->n_chain = in->n_args - out->n_values - 1;
	if (out->root & PCTL_PLACE_LOCAL) {
		uint32_t local = out->root & ~PCTL_PLACE_LOCAL;

		if (local >= fn->n_locals)
			return 0;
		out->root_type = p->locals[fn->first_local + local].type;
		out->space = PCTL_SPACE_FUNCTION;
	} else {
		if (out->root >= p->n_vars)
			return 0;
		out->root_type = p->vars[out->root].type;
		out->space = p->vars[out->root].space;
	}
	type = out->root_type;
	for (i = 0; i < out->n_chain; i++) {
		type = pctl_type_step(p, type, p->words[out->chain + i]);
		if (!type)
			return 0;
	}
	out->end_type = type;
	return 1;
}
