/* The builder's types: made unique, laid out by WGSL's rules. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "compiler/ir/builder.h"

struct type_key {
	const pctl_builder *b;
	const pctl_type *t;
};

static int same_type(const void *ctx, uint32_t id)
{
	const struct type_key *key = ctx;
	const pctl_builder *b = key->b;

	return pctl_type_same(key->t, b->members.items, b->strings.data, &b->types.items[id],
			      b->members.items, b->strings.data);
}

static uint32_t intern(pctl_builder *b, pctl_type t)
{
	struct type_key key = {b, &t};
	uint32_t hash, id;

	if (b->no_memory)
		return 0;
	if (!pctl_type_layout(b->types.items, b->types.n, &t)) {
		pctl_builder_break(b, "a type that has no layout");
		return 0;
	}
	hash = pctl_type_hash(&t, b->members.items, b->strings.data);
	id = pctl_index_find(&b->type_index, hash, same_type, &key);
	if (id != PCTL_NONE)
		return id;
	if (!PCTL_BUILDER_PUSH(b, types, t))
		return 0;
	if (!pctl_index_add(&b->type_index, hash, b->types.n - 1))
		b->no_memory = 1;
	return b->types.n - 1;
}

uint32_t pctl_builder_type(pctl_builder *b, const pctl_type *t)
{
	return intern(b, *t);
}

uint32_t pctl_build_scalar(pctl_builder *b, uint8_t scalar)
{
	pctl_type t = {.kind = PCTL_TYPE_SCALAR, .scalar = scalar};

	return intern(b, t);
}

uint32_t pctl_build_vector(pctl_builder *b, uint8_t scalar, uint32_t width)
{
	pctl_type t = {.kind = PCTL_TYPE_VECTOR, .scalar = scalar};

	if (width < 2 || width > 4) {
		pctl_builder_break(b, "a vector's width is 2, 3 or 4");
		return 0;
	}
	t.width = (uint8_t)width;
	t.elem = pctl_build_scalar(b, scalar);
	return intern(b, t);
}

uint32_t pctl_build_matrix(pctl_builder *b, uint8_t scalar, uint32_t columns, uint32_t rows)
{
	pctl_type t = {.kind = PCTL_TYPE_MATRIX, .scalar = scalar};

	if (columns < 2 || columns > 4 || rows < 2 || rows > 4) {
		pctl_builder_break(b, "a matrix has 2, 3 or 4 columns and rows");
		return 0;
	}
	t.width = (uint8_t)rows;
	t.columns = (uint8_t)columns;
	t.elem = pctl_build_vector(b, scalar, rows);
	return intern(b, t);
}

uint32_t pctl_build_array(pctl_builder *b, uint32_t elem, uint32_t count, uint32_t count_spec)
{
	pctl_type t = {.kind = PCTL_TYPE_ARRAY, .elem = elem, .count_spec = count_spec};

	if (!count && !count_spec)
		t.kind = PCTL_TYPE_RUNTIME_ARRAY;
	else if (!count_spec)
		t.count = count;
	return intern(b, t);
}

uint32_t pctl_build_atomic(pctl_builder *b, uint8_t scalar)
{
	pctl_type t = {.kind = PCTL_TYPE_ATOMIC, .scalar = scalar};

	t.elem = pctl_build_scalar(b, scalar);
	return intern(b, t);
}

static int is_power_of_two(uint32_t x)
{
	return x && !(x & (x - 1));
}

/* Lay out one member behind `end`; 1 and the new end. */
static int place_member(pctl_builder *b, const pctl_member_spec *s, pctl_type *t, uint64_t *end)
{
	pctl_member m = {.type = s->type};
	const pctl_type *mt = pctl_build_type_at(b, s->type);
	uint32_t align;
	uint64_t offset;

	if (!mt || !mt->align)
		return 0;
	align = s->align ? s->align : mt->align;
	if (!is_power_of_two(align) || align % mt->align || (s->size && s->size < mt->size))
		return 0;
	offset = s->offset == PCTL_OFFSET_AUTO ? pctl_num_align(*end, align) : s->offset;
	if (offset < *end || offset % align)
		return 0;
	*end = offset + (s->size ? s->size : mt->size);
	if (*end > INT32_MAX)
		return 0;
	m.name = pctl_build_string(b, s->name);
	m.offset = (uint32_t)offset;
	m.flags = (s->size ? PCTL_MEMBER_EXPLICIT_SIZE : 0) |
		  (s->align ? PCTL_MEMBER_EXPLICIT_ALIGN : 0);
	if (align > t->align)
		t->align = align;
	return PCTL_BUILDER_PUSH(b, members, m);
}

uint32_t pctl_build_struct(pctl_builder *b, const pctl_member_spec *members, uint32_t n)
{
	pctl_type t = {.kind = PCTL_TYPE_STRUCT, .count = n};
	uint32_t before = b->types.n, id, i;
	uint64_t end = 0;

	t.first_member = b->members.n;
	for (i = 0; i < n; i++) {
		if (!place_member(b, &members[i], &t, &end)) {
			pctl_builder_break(
				b,
				"a struct member with an impossible type, size, align or offset");
			b->members.n = t.first_member;
			return 0;
		}
	}
	if (!n) {
		pctl_builder_break(b, "a struct without members");
		return 0;
	}
	t.size = (uint32_t)pctl_num_align(end, t.align);
	/* A struct that ends in a runtime array has no size of its own. */
	if (b->types.items[members[n - 1].type].kind == PCTL_TYPE_RUNTIME_ARRAY)
		t.size = 0;
	id = intern(b, t);
	if (b->types.n == before)
		b->members.n = t.first_member;
	return id;
}

const pctl_type *pctl_build_type_at(const pctl_builder *b, uint32_t type)
{
	return type < b->types.n ? &b->types.items[type] : NULL;
}

const pctl_member *pctl_build_member_at(const pctl_builder *b, uint32_t type, uint32_t i)
{
	const pctl_type *t = pctl_build_type_at(b, type);

	if (!t || t->kind != PCTL_TYPE_STRUCT || i >= t->count)
		return NULL;
	return &b->members.items[t->first_member + i];
}
