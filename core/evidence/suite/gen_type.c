/* Types of generated programs: made once each, so that equal types are equal pointers. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "evidence/suite/gen.h"

static const char *const scalar_name[S_KINDS] = {"bool", "i32", "u32", "i64", "u64", "f32"};

uint32_t gen_below(gen *g, uint32_t n)
{
	return (uint32_t)((gen_u64(g) >> 32) * n >> 32);
}

int gen_chance(gen *g, uint32_t percent)
{
	return gen_below(g, 100) < percent;
}

const char *gen_name(gen *g, const char *stem)
{
	return gen_text(g, "%s%d", stem, g->names++);
}

const char *gen_text(gen *g, const char *format, ...)
{
	char few[2000], *text = few;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(few, sizeof(few), format, args);
	va_end(args);
	if (n < (int)sizeof(few))
		return pctl_arena_dup(g->a, few);
	/* The body of a function, written in place. */
	text = pctl_arena_alloc(g->a, (size_t)n + 1);
	if (text == NULL)
		return "";
	va_start(args, format);
	vsnprintf(text, (size_t)n + 1, format, args);
	va_end(args);
	return text;
}

static gtype *intern(gen *g, const char *name, int *is_new)
{
	gtype *t;

	*is_new = 0;
	for (uint32_t i = 0; i < g->n_types; i++) {
		if (strcmp(g->types[i]->name, name) == 0)
			return g->types[i];
	}
	t = pctl_arena_alloc(g->a, sizeof(*t));
	t->name = name;
	*is_new = 1;
	if (g->n_types < G_TYPES)
		g->types[g->n_types++] = t;
	return t;
}

static uint32_t round_up(uint32_t n, uint32_t to)
{
	return (n + to - 1) / to * to;
}

const gtype *gen_scalar(gen *g, uint32_t scalar)
{
	int is_new;
	gtype *t = intern(g, scalar_name[scalar], &is_new);

	if (is_new) {
		t->kind = G_SCALAR;
		t->scalar = scalar;
		t->width = 1;
		t->size = t->align = t->stride = scalar == S_I64 || scalar == S_U64 ? 8 : 4;
		t->has_bool = scalar == S_BOOL;
		t->leaf = gen_text(g, "p_%s", t->name);
	}
	return t;
}

const gtype *gen_vector(gen *g, uint32_t scalar, uint32_t width)
{
	const gtype *s = gen_scalar(g, scalar);
	int is_new;
	gtype *t = intern(g, gen_text(g, "vec%u<%s>", width, s->name), &is_new);

	if (is_new) {
		t->kind = G_VECTOR;
		t->scalar = scalar;
		t->width = width;
		t->elem = s;
		t->count = width;
		t->size = width * s->size;
		t->align = t->stride = (width == 3 ? 4 : width) * s->size;
		t->has_bool = s->has_bool;
		t->depth = 1;
		t->leaf = gen_text(g, "%s(p_%s)", t->name, s->name);
	}
	return t;
}

const gtype *gen_shape(gen *g, uint32_t scalar, uint32_t width)
{
	return width == 1 ? gen_scalar(g, scalar) : gen_vector(g, scalar, width);
}

const gtype *gen_matrix(gen *g, uint32_t scalar, uint32_t columns, uint32_t rows)
{
	const gtype *column = gen_vector(g, scalar, rows);
	int is_new;
	gtype *t =
		intern(g, gen_text(g, "mat%ux%u<%s>", columns, rows, scalar_name[scalar]), &is_new);

	if (is_new) {
		const char *args = column->leaf;

		t->kind = G_MATRIX;
		t->scalar = scalar;
		t->width = rows;
		t->columns = t->count = columns;
		t->elem = column;
		t->align = column->align;
		t->size = t->stride = columns * column->stride;
		t->depth = 2;
		for (uint32_t i = 1; i < columns; i++)
			args = gen_text(g, "%s, %s", args, column->leaf);
		t->leaf = gen_text(g, "%s(%s)", t->name, args);
	}
	return t;
}

const gtype *gen_array(gen *g, const gtype *elem, uint32_t count)
{
	int is_new;
	gtype *t = intern(g,
			  count == 0 ? gen_text(g, "array<%s>", elem->name)
				     : gen_text(g, "array<%s, %u>", elem->name, count),
			  &is_new);

	if (is_new) {
		t->kind = count == 0 ? G_RUNTIME : G_ARRAY;
		t->elem = elem;
		t->count = count;
		t->align = elem->align;
		t->stride = round_up(elem->size, elem->align);
		t->size = count * t->stride;
		t->has_bool = elem->has_bool;
		t->depth = elem->depth + 1;
		t->leaf = gen_text(g, "%s()", t->name);
	}
	return t;
}

const gtype *gen_struct(gen *g, const char *name, const gtype **member, uint32_t n)
{
	uint32_t *offset = pctl_arena_array(g->a, n + 1u, sizeof(*offset)), at = 0;
	int is_new;
	gtype *t = intern(g, name, &is_new);

	t->kind = G_STRUCT;
	t->count = n;
	t->member = member;
	t->offset = offset;
	for (uint32_t i = 0; i < n; i++) {
		at = round_up(at, member[i]->align);
		offset[i] = at;
		at += member[i]->size;
		t->align = member[i]->align > t->align ? member[i]->align : t->align;
		t->has_bool |= member[i]->has_bool;
		t->depth = member[i]->depth >= t->depth ? member[i]->depth + 1 : t->depth;
	}
	t->size = round_up(at, t->align);
	t->stride = t->size;
	t->leaf = gen_text(g, "%s()", name);
	return t;
}

uint32_t gen_width(const gtype *t)
{
	return t->kind == G_SCALAR ? 1 : t->kind == G_VECTOR ? t->width : 0;
}

int gen_is_integer(const gtype *t)
{
	return gen_width(t) != 0 && t->scalar != S_BOOL && t->scalar != S_F32;
}

int gen_is_float(const gtype *t)
{
	return gen_width(t) != 0 && t->scalar == S_F32;
}

int gen_may_use(const gen *g, uint32_t scalar)
{
	return scalar == S_F32 ? g->floats : g->wide || (scalar != S_I64 && scalar != S_U64);
}

int gen_is_signed(const gtype *t)
{
	return t->scalar == S_I32 || t->scalar == S_I64;
}

uint32_t gen_bits(const gtype *t)
{
	return t->scalar == S_I64 || t->scalar == S_U64 ? 64 : 32;
}

uint32_t gen_any_scalar(gen *g, int with_bool)
{
	static const uint32_t often[] = {S_U32, S_U32, S_I32, S_I32, S_U32, S_I64, S_U64, S_BOOL};
	uint32_t s;

	if (g->floats && gen_chance(g, 45))
		return S_F32;
	do {
		s = often[gen_below(g, 8)];
	} while ((s == S_BOOL && !with_bool) || !gen_may_use(g, s));
	return s;
}

const gtype *gen_any_simple(gen *g)
{
	return gen_shape(g, gen_any_scalar(g, 1), gen_chance(g, 60) ? 1 : 2 + gen_below(g, 3));
}

/* Mostly few, so that arrays of arrays stay small. */
static uint32_t any_count(gen *g, int depth)
{
	static const uint32_t many[] = {7, 8, 8, 16, 17, 32};

	return depth == 0 && !g->floats && gen_chance(g, 15) ? many[gen_below(g, 6)]
							     : 1 + gen_below(g, 5);
}

static const gtype *any(gen *g, int with_bool, int depth)
{
	uint32_t pick = gen_below(g, 100);

	if (pick < 40 || depth > 2)
		return gen_scalar(g, gen_any_scalar(g, with_bool));
	if (pick < 65)
		return gen_vector(g, gen_any_scalar(g, with_bool), 2 + gen_below(g, 3));
	if (pick < 75)
		return gen_matrix(g, gen_any_scalar(g, 0), 2 + gen_below(g, 3),
				  2 + gen_below(g, 3));
	if (pick < 88)
		return gen_array(g, any(g, with_bool, depth + 1), any_count(g, depth));
	for (uint32_t tries = 0; tries < 20; tries++) {
		const gtype *t = g->types[gen_below(g, g->n_types)];

		if (t->kind == G_STRUCT && t->depth + (uint32_t)depth <= 5 &&
		    (with_bool || !t->has_bool))
			return t;
	}
	return gen_scalar(g, S_U32);
}

const gtype *gen_any_type(gen *g, int with_bool)
{
	return any(g, with_bool, 0);
}

const gtype *gen_any_shared(gen *g)
{
	return any(g, 0, 0);
}

const gtype *gen_any_whole(gen *g, int with_bool)
{
	static const uint32_t counts[] = {2, 3, 4, 4, 5, 8, 16, 32};

	for (uint32_t tries = 0; tries < 8 && gen_chance(g, 70); tries++) {
		const gtype *t = any(g, with_bool, 0);

		if (t->kind == G_ARRAY || t->kind == G_STRUCT)
			return t;
	}
	return gen_array(g, gen_scalar(g, gen_any_scalar(g, 0)),
			 counts[gen_below(g, g->floats ? 6 : 8)]);
}
