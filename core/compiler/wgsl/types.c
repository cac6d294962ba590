/* Making and describing types. Each type exists once a compile, so pointers compare. */
#include <string.h>

#include "compiler/wgsl/compile.h"
#include "compiler/wgsl/float.h"

static uint32_t leaves_times(uint32_t leaves, uint64_t count)
{
	uint64_t n = (uint64_t)leaves * count;

	return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

void pctl_wgsl_types_init(struct wgsl *c)
{
	static const uint8_t scalars[] = {PCTL_SCALAR_BOOL,	 PCTL_SCALAR_I32,  PCTL_SCALAR_U32,
					  PCTL_SCALAR_I64,	 PCTL_SCALAR_U64,  PCTL_SCALAR_F16,
					  PCTL_SCALAR_F32,	 PCTL_SCALAR_BF16, PCTL_SCALAR_F64,
					  SCALAR_ABSTRACT_FLOAT, SCALAR_ABSTRACT};
	struct type_table *t = &c->types;
	uint32_t i, w, k;

	t->error.kind = TY_ERROR;
	t->none.kind = TY_VOID;
	for (i = 0; i < sizeof(scalars); i++) {
		uint32_t s = scalars[i];
		uint8_t shared = s != PCTL_SCALAR_BOOL && !pctl_wgsl_is_abstract_scalar(s);

		t->scalar[s] = (struct type){.kind = TY_SCALAR,
					     .scalar = (uint8_t)s,
					     .width = 1,
					     .plain = 1,
					     .shared = shared,
					     .leaves = 1};
		for (w = 2; w <= 4; w++) {
			t->vector[s][w] = t->scalar[s];
			t->vector[s][w].kind = TY_VECTOR;
			t->vector[s][w].width = (uint8_t)w;
			t->vector[s][w].leaves = w;
			t->vector[s][w].nesting = 1;
			t->vector[s][w].elem = &t->scalar[s];
		}
		for (k = 2; k <= 4 && s != PCTL_SCALAR_BOOL; k++)
			for (w = 2; w <= 4; w++) {
				struct type *m = &t->matrix[s][k][w];

				*m = t->vector[s][w];
				m->kind = TY_MATRIX;
				m->columns = (uint8_t)k;
				m->leaves = k * w;
				m->nesting = 2;
				m->elem = &t->vector[s][w];
			}
		t->atomic[s] = (struct type){.kind = TY_ATOMIC,
					     .scalar = (uint8_t)s,
					     .shared = 1,
					     .width = 1,
					     .elem = &t->scalar[s]};
	}
}

const struct type *pctl_wgsl_vector(struct wgsl *c, uint32_t scalar, uint32_t width)
{
	return &c->types.vector[scalar][width];
}

const struct type *pctl_wgsl_shape(struct wgsl *c, uint32_t scalar, uint32_t width)
{
	return width == 1 ? &c->types.scalar[scalar] : &c->types.vector[scalar][width];
}

const struct type *pctl_wgsl_matrix(struct wgsl *c, uint32_t scalar, uint32_t columns,
				    uint32_t rows)
{
	return &c->types.matrix[scalar][columns][rows];
}

/* Addresses decide only where in the table a type is looked for; nothing iterates over it. */
static uint32_t hash_type(const struct type *t)
{
	uint64_t h = (uint64_t)(uintptr_t)t->elem * 0x9e3779b97f4a7c15ull;

	h ^= ((uint64_t)t->count << 16 | (uint64_t)t->kind << 8 | (uint64_t)t->space << 4 |
	      t->access) *
	     0xc2b2ae3d27d4eb4full;
	h ^= (uint64_t)(uintptr_t)t->count_expr;
	h *= 0xff51afd7ed558ccdull;
	return (uint32_t)(h >> 32);
}

static struct type **find_slot(struct type_table *t, const struct type *want)
{
	uint32_t at = hash_type(want) & (t->cap_others - 1);

	for (; t->others[at]; at = (at + 1) & (t->cap_others - 1)) {
		const struct type *o = t->others[at];

		if (o->kind == want->kind && o->elem == want->elem && o->count == want->count &&
		    o->count_expr == want->count_expr && o->space == want->space &&
		    o->access == want->access)
			break;
	}
	return &t->others[at];
}

static const struct type *unique(struct wgsl *c, const struct type *want)
{
	struct type_table *t = &c->types;
	struct type **slot, **old = t->others;
	uint32_t i, old_cap = t->cap_others;

	if (t->n_others * 2 >= t->cap_others) {
		t->cap_others = old_cap ? old_cap * 2 : 256;
		t->others = pctl_wgsl_alloc(c, t->cap_others * sizeof(*t->others));
		for (i = 0; i < old_cap; i++)
			if (old[i])
				*find_slot(t, old[i]) = old[i];
	}
	slot = find_slot(t, want);
	if (!*slot) {
		*slot = WGSL_NEW(c, struct type);
		**slot = *want;
		t->n_others++;
	}
	return *slot;
}

const struct type *pctl_wgsl_array(struct wgsl *c, const struct type *elem, uint32_t count,
				   struct expr *count_expr)
{
	struct type t = {.kind = TY_ARRAY, .elem = elem, .count = count, .count_expr = count_expr};

	if (!count && !count_expr)
		t.kind = TY_RUNTIME_ARRAY;
	t.nesting = (uint8_t)(elem->nesting + 1);
	t.plain = elem->plain && count;
	t.shared = elem->shared && !count_expr;
	t.has_runtime = t.kind == TY_RUNTIME_ARRAY;
	t.leaves = t.plain ? leaves_times(elem->leaves, count) : 0;
	return unique(c, &t);
}

const struct type *pctl_wgsl_pointer(struct wgsl *c, const struct type *to, uint32_t space,
				     uint32_t access)
{
	struct type t = {
		.kind = TY_POINTER, .elem = to, .space = (uint8_t)space, .access = (uint8_t)access};

	return unique(c, &t);
}

struct type *pctl_wgsl_struct(struct wgsl *c, struct structure *s)
{
	struct type *t = WGSL_NEW(c, struct type);
	struct member *m;
	uint64_t leaves = 0;
	uint32_t i = 0;

	t->kind = TY_STRUCT;
	t->structure = s;
	t->plain = 1;
	t->shared = 1;
	s->at = pctl_wgsl_alloc(c, (s->n_members + 1) * sizeof(*s->at));
	for (m = s->members; m; m = m->next) {
		s->at[i++] = m;
		t->plain &= m->type->plain;
		t->shared &= m->type->shared;
		t->has_runtime |= m->type->has_runtime;
		if (m->type->nesting > t->nesting)
			t->nesting = m->type->nesting;
		m->first_leaf = (uint32_t)leaves;
		leaves += m->type->leaves;
	}
	t->nesting++;
	t->leaves = !t->plain ? 0 : leaves > UINT32_MAX ? UINT32_MAX : (uint32_t)leaves;
	return t;
}

/* A predeclared struct of two members, which no text can name. */
static struct type *pair(struct wgsl *c, const char *name, const char *first,
			 const struct type *first_type, const char *second,
			 const struct type *second_type)
{
	struct structure *s = WGSL_NEW(c, struct structure);
	struct decl *d = WGSL_NEW(c, struct decl);
	struct member *m[2];
	struct type *t;

	m[0] = WGSL_NEW(c, struct member);
	m[1] = WGSL_NEW(c, struct member);
	d->kind = DECL_STRUCT;
	d->state = DECL_DONE;
	d->sym = pctl_wgsl_intern(c, name, strlen(name));
	d->structure = s;
	s->decl = d;
	s->members = m[0];
	s->n_members = 2;
	m[0]->next = m[1];
	m[0]->sym = pctl_wgsl_intern(c, first, strlen(first));
	m[0]->type = first_type;
	m[1]->sym = pctl_wgsl_intern(c, second, strlen(second));
	m[1]->type = second_type;
	t = pctl_wgsl_struct(c, s);
	d->type = t;
	return t;
}

static uint32_t tile_size(uint32_t n)
{
	return (uint32_t)__builtin_ctz(n) - 2;
}

const struct type *pctl_wgsl_tile(struct wgsl *c, uint32_t scalar, uint32_t role, uint32_t columns,
				  uint32_t rows)
{
	struct type *t = &c->types.tile[role][scalar][tile_size(columns)][tile_size(rows)];

	*t = (struct type){.kind = TY_TILE,
			   .scalar = (uint8_t)scalar,
			   .width = (uint8_t)rows,
			   .columns = (uint8_t)columns,
			   .count = role,
			   .plain = 1,
			   .ir = t->ir};
	return t;
}

const struct type *pctl_wgsl_cas_result(struct wgsl *c, uint32_t scalar)
{
	if (!c->types.cas_result[scalar])
		c->types.cas_result[scalar] =
			pair(c,
			     pctl_wgsl_format(c, "__atomic_compare_exchange_result_%s",
					      pctl_scalar_name((uint8_t)scalar)),
			     "old_value", &c->types.scalar[scalar], "exchanged",
			     &c->types.scalar[PCTL_SCALAR_BOOL]);
	return c->types.cas_result[scalar];
}

const struct type *pctl_wgsl_split_result(struct wgsl *c, uint32_t which, const struct type *t)
{
	struct type **slot = &c->types.split_result[which][t->scalar][t->width];
	const char *name = pctl_scalar_name(t->scalar);

	if (*slot)
		return *slot;
	if (t->kind == TY_VECTOR)
		name = pctl_wgsl_format(c, "vec%u_%s", t->width, name);
	name = pctl_wgsl_format(c, "__%s_result_%s", which ? "frexp" : "modf", name);
	*slot = pair(c, name, "fract", t, which ? "exp" : "whole",
		     which ? pctl_wgsl_shape(c, PCTL_SCALAR_I32, t->width) : t);
	return *slot;
}

static const char *scalar_name(uint32_t scalar)
{
	return scalar == SCALAR_ABSTRACT	 ? "abstract-int"
	       : scalar == SCALAR_ABSTRACT_FLOAT ? "abstract-float"
						 : pctl_scalar_name((uint8_t)scalar);
}

static const char *space_name(uint32_t space)
{
	static const char *const names[] = {"?",	 "function", "private",
					    "workgroup", "uniform",  "storage"};

	return space < 6 ? names[space] : "?";
}

const char *pctl_wgsl_type_name(struct wgsl *c, const struct type *t)
{
	switch (t->kind) {
	case TY_SCALAR:
		return scalar_name(t->scalar);
	case TY_VECTOR:
		return pctl_wgsl_format(c, "vec%u<%s>", t->width, scalar_name(t->scalar));
	case TY_MATRIX:
		return pctl_wgsl_format(c, "mat%ux%u<%s>", t->columns, t->width,
					scalar_name(t->scalar));
	case TY_ARRAY:
		if (!t->count)
			return pctl_wgsl_format(c, "array<%s, (override)>",
						pctl_wgsl_type_name(c, t->elem));
		return pctl_wgsl_format(c, "array<%s, %u>", pctl_wgsl_type_name(c, t->elem),
					t->count);
	case TY_RUNTIME_ARRAY:
		return pctl_wgsl_format(c, "array<%s>", pctl_wgsl_type_name(c, t->elem));
	case TY_STRUCT:
		return pctl_wgsl_sym_text(c, t->structure->decl->sym);
	case TY_ATOMIC:
		return pctl_wgsl_format(c, "atomic<%s>", scalar_name(t->scalar));
	case TY_POINTER:
		return pctl_wgsl_format(
			c, "ptr<%s, %s%s>", space_name(t->space), pctl_wgsl_type_name(c, t->elem),
			t->space == PCTL_SPACE_STORAGE && t->access == PCTL_ACCESS_READ_WRITE
				? ", read_write"
				: "");
	case TY_TILE:
		return pctl_wgsl_format(c, "subgroup_matrix_%s<%s, %u, %u>",
					t->count == PCTL_TILE_LEFT    ? "left"
					: t->count == PCTL_TILE_RIGHT ? "right"
								      : "result",
					scalar_name(t->scalar), t->columns, t->width);
	case TY_VOID:
		return "nothing";
	default:
		return "?";
	}
}

const struct type *pctl_wgsl_with_scalar(struct wgsl *c, const struct type *t, uint32_t scalar)
{
	switch (t->kind) {
	case TY_SCALAR:
		return &c->types.scalar[scalar];
	case TY_VECTOR:
		return pctl_wgsl_vector(c, scalar, t->width);
	case TY_MATRIX:
		return pctl_wgsl_matrix(c, scalar, t->columns, t->width);
	case TY_ARRAY:
		return pctl_wgsl_array(c, pctl_wgsl_with_scalar(c, t->elem, scalar), t->count,
				       t->count_expr);
	default:
		return t;
	}
}

uint32_t pctl_wgsl_scalar_of(const struct type *t)
{
	while (t->kind == TY_ARRAY)
		t = t->elem;
	return t->kind == TY_SCALAR || t->kind == TY_VECTOR || t->kind == TY_MATRIX ? t->scalar : 0;
}

int pctl_wgsl_is_abstract(const struct type *t)
{
	return pctl_wgsl_is_abstract_scalar(pctl_wgsl_scalar_of(t));
}

const struct type *pctl_wgsl_concrete(struct wgsl *c, const struct type *t)
{
	const uint32_t scalar = pctl_wgsl_scalar_of(t);

	if (!pctl_wgsl_is_abstract_scalar(scalar))
		return t;
	return pctl_wgsl_with_scalar(c, t,
				     scalar == SCALAR_ABSTRACT ? PCTL_SCALAR_I32 : PCTL_SCALAR_F32);
}

int pctl_wgsl_is_abstract_scalar(uint32_t scalar)
{
	return scalar == SCALAR_ABSTRACT || scalar == SCALAR_ABSTRACT_FLOAT;
}

int pctl_wgsl_is_number(uint32_t scalar)
{
	return pctl_wgsl_is_integer(scalar) || pctl_wgsl_is_float(scalar);
}

int pctl_wgsl_is_integer(uint32_t scalar)
{
	return scalar == SCALAR_ABSTRACT ||
	       (scalar >= PCTL_SCALAR_I32 && scalar <= PCTL_SCALAR_U64);
}

uint32_t pctl_wgsl_parts(const struct type *t)
{
	switch (t->kind) {
	case TY_VECTOR:
		return t->width;
	case TY_MATRIX:
		return t->columns;
	case TY_ARRAY:
		return t->count;
	case TY_STRUCT:
		return t->structure->n_members;
	default:
		return 0;
	}
}

const struct type *pctl_wgsl_part(const struct type *t, uint32_t i)
{
	return t->kind == TY_STRUCT ? t->structure->at[i]->type : t->elem;
}

uint32_t pctl_wgsl_part_leaf(const struct type *t, uint32_t i)
{
	return t->kind == TY_STRUCT ? t->structure->at[i]->first_leaf : t->elem->leaves * i;
}
