/* Expressions of generated programs: literals, places, constructors; operators are gen_op.c's. What
 * WGSL refuses in constant expressions (overflow, division by zero, wide shifts, indices outside)
 * is kept out by never letting an operator have only constant operands. */
#include <inttypes.h>
#include <string.h>

#include "evidence/suite/gen.h"

static const char *zero_of(gen *g, const gtype *t)
{
	static const char *const text[S_KINDS] = {"false", "0i", "0u", "0li", "0lu", "0.0f"};

	return t->kind == G_SCALAR ? text[t->scalar] : gen_text(g, "%s()", t->name);
}

node *gen_node(gen *g, const gtype *t, const char *format, node *a, node *b, node *c)
{
	node *child[3] = {a, b, c};
	node *n = node_make(g->a, NODE_EXPR, format, child,
			    a == NULL	? 0
			    : b == NULL ? 1
			    : c == NULL ? 2
					: 3);

	n->type = t;
	n->zero = zero_of(g, t);
	n->leaf = t->leaf;
	n->constant = n->n != 0;
	for (uint32_t i = 0; i < n->n; i++)
		n->constant &= n->child[i]->constant;
	return n;
}

static node *plain(gen *g, const gtype *t, const char *text, int constant)
{
	node *n = gen_node(g, t, text, NULL, NULL, NULL);

	n->constant = (uint32_t)constant;
	return n;
}

static uint64_t interesting(gen *g, uint32_t bits)
{
	static const uint64_t values[] = {
		0,   1,	    2,	   3,	  4,	 7,	 8,	 15,	     16,
		31,  32,    33,	   63,	  64,	 65,	 127,	 128,	     255,
		256, 32767, 32768, 65535, 65536, 0x7fff, 0x8000, 0x12345678, 0xdeadbeef};
	uint32_t pick = gen_below(g, 10);
	uint64_t v;

	if (pick < 5)
		v = values[gen_below(g, sizeof(values) / sizeof(values[0]))];
	else if (pick < 7)
		v = gen_u64(g) >> gen_below(g, 64);
	else if (pick < 8)
		v = 1ull << gen_below(g, bits);
	else
		v = (1ull << (bits - 1)) + gen_below(g, 3) - 1;
	if (gen_chance(g, 25))
		v = 0 - v;
	return bits == 32 ? (uint32_t)v : v;
}

static const char *literal_text(gen *g, uint32_t scalar, uint64_t v)
{
	int64_t s = scalar == S_I32 ? (int64_t)(int32_t)(uint32_t)v : (int64_t)v;

	switch (scalar) {
	case S_BOOL:
		return v & 1 ? "true" : "false";
	case S_U32:
		return gen_text(g, gen_chance(g, 20) ? "0x%" PRIx64 "u" : "%" PRIu64 "u", v);
	case S_F32:
		return gen_float_literal(g);
	case S_U64:
		return gen_text(g, "%" PRIu64 "lu", v);
	case S_I32:
		return s == INT32_MIN ? "i32(-2147483648)"
		       : s < 0	      ? gen_text(g, "(-%" PRId64 "i)", -s)
				      : gen_text(g, "%" PRId64 "i", s);
	default:
		return s == INT64_MIN ? "i64(-9223372036854775807li - 1li)"
		       : s < 0	      ? gen_text(g, "(-%" PRId64 "li)", -s)
				      : gen_text(g, "%" PRId64 "li", s);
	}
}

static node *literal(gen *g, const gtype *t)
{
	return plain(g, t, literal_text(g, t->scalar, interesting(g, gen_bits(t))), 1);
}

/* What a device reads: elements of buffers, or what the invocation knows of itself; no compiler knows its value. */
static node *unknown(gen *g)
{
	const gtype *u32 = gen_scalar(g, S_U32), *found;

	for (uint32_t tries = 0; tries < 6 && g->n_buffers != 0; tries++) {
		node *n = gen_walk(g, &g->buffers[gen_below(g, g->n_buffers)], u32, 5, &found);

		if (n != NULL)
			return n;
	}
	return gen_runtime(g, u32, 1);
}

/* An index that is never outside, as the analysis can tell: an access by it has no guard. */
node *gen_proven(gen *g, uint32_t length, int depth)
{
	const gtype *u32 = gen_scalar(g, S_U32), *i32 = gen_scalar(g, S_I32);
	uint32_t log = 0;
	node *of = gen_chance(g, 60) ? unknown(g) : gen_runtime(g, u32, depth);

	while (2u << log <= length)
		log++;
	switch (gen_below(g, 8)) {
	case 0:
		return gen_node(g, u32, gen_text(g, "($ %% %uu)", length), of, NULL, NULL);
	case 1:
		return gen_node(g, u32, gen_text(g, "min($, %uu)", length - 1), of, NULL, NULL);
	case 2:
		if (log != 0)
			return gen_node(g, u32, gen_text(g, "($ >> %uu)", 32 - log), of, NULL,
					NULL);
		break;
	case 3:
		return gen_node(g, i32, gen_text(g, "(i32($) & %ui)", (1u << log) - 1), of, NULL,
				NULL);
	default:
		break;
	}
	return gen_node(g, u32, gen_text(g, "($ & %uu)", (1u << log) - 1), of, NULL, NULL);
}

/* An index for something of `length` elements: inside when it is a constant. */
node *gen_index(gen *g, uint32_t length, int depth)
{
	const gtype *u32 = gen_scalar(g, S_U32), *i32 = gen_scalar(g, S_I32);
	uint32_t pick = gen_below(g, 100);

	if (depth < 0)
		depth = 0;
	if (pick < 35 || g->fuel <= 0)
		return plain(g, u32, gen_text(g, "%uu", gen_below(g, length)), 1);
	if (pick < 48)
		return gen_proven(g, length, depth);
	if (pick < 60)
		return gen_node(g, u32, gen_text(g, "($ %% %uu)", length + gen_below(g, 2)),
				gen_runtime(g, u32, depth), NULL, NULL);
	if (pick < 70)
		return gen_node(g, u32, gen_text(g, "min($, %uu)", length - (length > 1)),
				gen_runtime(g, u32, depth), NULL, NULL);
	if (pick < 85)
		return gen_runtime(g, u32, depth);
	if (pick < 92)
		return gen_node(g, i32, gen_text(g, "($ %% %ui)", length),
				gen_runtime(g, i32, depth), NULL, NULL);
	return gen_runtime(g, i32, depth);
}

static node *extend(gen *g, node *base, const char *text, const gtype *t, node *index)
{
	node *n = gen_node(g, t, gen_text(g, index == NULL ? "$%s" : "$[$]", text), base, index,
			   NULL);

	n->constant = base->constant;
	return n;
}

node *gen_walk(gen *g, const gvar *v, const gtype *wanted, int steps, const gtype **out)
{
	static const char *const component[2] = {"xyzw", "rgba"};
	node *at = plain(g, v->type, v->name, (v->flags & V_CONST) != 0);
	const gtype *t = v->type;

	at->leaf = NULL;
	*out = t;
	while (t != wanted && steps-- > 0) {
		switch (t->kind) {
		case G_VECTOR:
			if (gen_chance(g, 50))
				at = extend(
					g, at,
					gen_text(
						g, ".%c",
						component[gen_below(g, 2)][gen_below(g, t->width)]),
					t->elem, NULL);
			else
				at = extend(g, at, "", t->elem, gen_index(g, t->width, 0));
			t = t->elem;
			break;
		case G_MATRIX:
		case G_ARRAY:
			at = extend(g, at, "", t->elem, gen_index(g, t->count, 1));
			t = t->elem;
			break;
		case G_RUNTIME:
			at = extend(g, at, "", t->elem,
				    g->gi != NULL && gen_chance(g, 40)
					    ? plain(g, gen_scalar(g, S_U32), g->gi, 0)
					    : gen_index(g, 64, 1));
			t = t->elem;
			break;
		case G_STRUCT: {
			uint32_t m = gen_below(g, t->count);

			at = extend(g, at, gen_text(g, ".m%u", m), t->member[m], NULL);
			t = t->member[m];
			break;
		}
		default:
			steps = 0;
		}
		*out = t;
		if (wanted == NULL && t->kind != G_RUNTIME && gen_chance(g, 40))
			break;
	}
	if (t->kind == G_RUNTIME || (wanted != NULL && t != wanted))
		return NULL;
	return at;
}

static node *from_variable(gen *g, const gtype *t)
{
	for (int tries = 0; tries < 12 && g->n_vars != 0; tries++) {
		const gtype *found;
		node *n = gen_walk(g, &g->vars[gen_below(g, g->n_vars)], t, 5, &found);

		if (n != NULL)
			return n;
	}
	return NULL;
}

static node *construct(gen *g, const gtype *t, int depth)
{
	node *n = node_make(g->a, NODE_EXPR, "", NULL, 0);
	const char *text = gen_text(g, "%s(", t->name);
	uint32_t constant = 1;

	n->type = t;
	n->zero = zero_of(g, t);
	n->leaf = t->leaf;
	if (t->kind == G_VECTOR && t->width > 2 && gen_chance(g, 25)) {
		uint32_t w = 2 + gen_below(g, t->width - 2);

		node_add(g->a, n, gen_expr(g, gen_shape(g, t->scalar, w), depth - 1));
		for (uint32_t i = w; i < t->width; i++)
			node_add(g->a, n, gen_expr(g, t->elem, depth - 1));
	} else if (t->kind == G_VECTOR && gen_chance(g, 15)) {
		node_add(g->a, n, gen_expr(g, t->elem, depth - 1));
	} else if (t->kind == G_MATRIX && gen_chance(g, 30)) {
		for (uint32_t i = 0; i < t->columns * t->width; i++)
			node_add(g->a, n, gen_expr(g, t->elem->elem, depth - 1));
	} else {
		for (uint32_t i = 0; i < t->count; i++)
			node_add(g->a, n,
				 gen_expr(g, t->kind == G_STRUCT ? t->member[i] : t->elem,
					  depth - 1));
	}
	for (uint32_t i = 0; i < n->n; i++) {
		text = gen_text(g, "%s%s$", text, i == 0 ? "" : ", ");
		constant &= n->child[i]->constant;
	}
	n->format = gen_text(g, "%s)", text);
	n->constant = constant;
	return n;
}

static node *leaf(gen *g, const gtype *t, int depth)
{
	node *n = NULL;

	if (gen_chance(g, t->kind == G_SCALAR ? 75 : 85))
		n = from_variable(g, t);
	if (n != NULL)
		return n;
	if (t->kind == G_SCALAR)
		return literal(g, t);
	if (gen_chance(g, g->fuel <= 0 ? 70 : t->kind == G_ARRAY && t->count > 8 ? 90 : 5))
		return plain(g, t, zero_of(g, t), 1);
	return construct(g, t, depth);
}

static node *call(gen *g, const gtype *t, int depth)
{
	for (uint32_t i = 0; i < g->n_funcs; i++) {
		const gfunc *f = &g->funcs[(i + gen_below(g, 8)) % g->n_funcs];
		const char *text;
		node *n;

		if (f->result != t || g->loops > 1)
			continue;
		n = gen_node(g, t, "", NULL, NULL, NULL);
		text = gen_text(g, "%s(", f->name);
		for (uint32_t k = 0; k < f->n_params; k++) {
			node_add(g->a, n, gen_expr(g, f->param[k], depth - 1));
			text = gen_text(g, "%s%s$", text, k == 0 ? "" : ", ");
		}
		n->format = gen_text(g, "%s)", text);
		return n;
	}
	return NULL;
}

node *gen_expr(gen *g, const gtype *t, int depth)
{
	node *n = NULL;

	g->fuel--;
	if (depth <= 0 || g->fuel <= 0)
		return leaf(g, t, depth);
	if (gen_chance(g, 12))
		n = call(g, t, depth);
	if (n == NULL && t->kind != G_ARRAY && t->kind != G_STRUCT && gen_chance(g, 80))
		n = gen_operation(g, t, depth);
	return n != NULL ? n : leaf(g, t, depth);
}

node *gen_runtime(gen *g, const gtype *t, int depth)
{
	node *n = gen_expr(g, t, depth);

	if (!n->constant)
		return n;
	n = from_variable(g, t);
	if (n != NULL && !n->constant)
		return n;
	return plain(g, t, t->leaf, 0);
}

/* The right side of / % << >>: a constant only when it is one that is allowed there. */
node *gen_divisor(gen *g, const char *op, const gtype *t, const gtype *left, int depth)
{
	node *n = gen_expr(g, t, depth);
	uint32_t v;

	if (!n->constant)
		return n;
	v = op[0] == '/' || op[0] == '%' ? 1 + gen_below(g, 200) : gen_below(g, gen_bits(left));
	n = plain(g, gen_scalar(g, t->scalar), literal_text(g, t->scalar, v), 1);
	if (t->kind == G_VECTOR)
		n = gen_node(g, t, gen_text(g, "%s($)", t->name), n, NULL, NULL);
	return n;
}
