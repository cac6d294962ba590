/* Operations on f32: arithmetic that a compiler would like to contract or reassociate, everything the strict rules
 * define bit by bit, and now and then an elementary function. */
#include "evidence/suite/gen.h"

#include <string.h>

/* Exact as text: hexadecimal; small whole numbers, halves, subnormals, the ends of the range. */
const char *gen_float_literal(gen *g)
{
	static const char *const often[] = {"0.0f",
					    "1.0f",
					    "0.5f",
					    "2.0f",
					    "0.1f",
					    "3.0f",
					    "1024.0f",
					    "0x1p-149f",
					    "0x1.fffffep127f",
					    "0x1p-126f",
					    "7.25f",
					    "0x1p24f",
					    "0x1.000002p0f",
					    "0x0.fffffep-126f",
					    "1e-3f"};
	const char *text;

	if (gen_chance(g, 60))
		text = often[gen_below(g, sizeof(often) / sizeof(often[0]))];
	else
		text = gen_text(g, "0x1.%06xp%df", gen_below(g, 1u << 23) << 1,
				gen_chance(g, 70) ? (int)gen_below(g, 16) - 8
						  : (int)gen_below(g, 250) - 125);
	return gen_chance(g, 30) ? gen_text(g, "(-%s)", text) : text;
}

static node *unary(gen *g, const gtype *t, const char *format, int depth)
{
	return gen_node(g, t, format, gen_runtime(g, t, depth), NULL, NULL);
}

static node *arithmetic(gen *g, const gtype *t, int depth)
{
	static const char *const ops[] = {"+", "+", "-", "*", "*", "/", "%"};
	const gtype *a = t, *b = t;

	if (t->kind == G_VECTOR && gen_chance(g, 30)) {
		if (gen_chance(g, 50))
			a = t->elem;
		else
			b = t->elem;
	}
	return gen_two(g, t, gen_text(g, "($ %s $)", ops[gen_below(g, gen_chance(g, 15) ? 7 : 6)]),
		       a, b, depth);
}

/* Products and sums of the same values next to each other. */
static node *contractible(gen *g, const gtype *t, int depth)
{
	static const char *const shapes[] = {"($ * $ + $)", "($ - $ * $)", "fma($, $, $)",
					     "($ + $ * $)", "($ * $ - $)"};

	return gen_node(g, t, shapes[gen_below(g, 5)], gen_runtime(g, t, depth),
			gen_runtime(g, t, depth), gen_expr(g, t, depth));
}

static node *elementary(gen *g, const gtype *t, int depth)
{
	static const char *const names[] = {"exp", "log",  "sin",  "cos",  "exp2", "log2",
					    "tan", "atan", "tanh", "asin", "acos", "sinh"};

	if (g->elementary == 0)
		return contractible(g, t, depth);
	g->elementary--;
	if (gen_chance(g, 20))
		return gen_two(g, t, gen_chance(g, 50) ? "pow($, $)" : "atan2($, $)", t, t, depth);
	return unary(g, t, gen_text(g, "%s($)", names[gen_below(g, 12)]), depth);
}

static node *from_integers(gen *g, const gtype *t, int depth)
{
	static const uint32_t scalars[] = {S_I32, S_U32, S_BOOL};
	const gtype *from = gen_shape(g, scalars[gen_below(g, 3)], gen_width(t));

	return gen_node(g, t, gen_text(g, "%s($)", t->name), gen_expr(g, from, depth), NULL, NULL);
}

/* Any bits: payloads of NaN move unchanged. Not of a const-expression, which may not be a NaN. */
static node *from_bits(gen *g, const gtype *t, int depth)
{
	const gtype *from = gen_shape(g, gen_chance(g, 50) ? S_U32 : S_I32, gen_width(t));

	return gen_node(g, t, gen_text(g, "bitcast<%s>($)", t->name), gen_runtime(g, from, depth),
			NULL, NULL);
}

static node *through_small(gen *g, const gtype *t, int depth)
{
	const char *small = gen_chance(g, 50) ? "f16" : "bf16";

	if (t->kind == G_VECTOR)
		return unary(g, t, gen_text(g, "%s(vec%u<%s>($))", t->name, t->width, small),
			     depth);
	return unary(g, t, gen_text(g, "f32(%s($))", small), depth);
}

/* Through f64: of numbers that f32 holds, of any bits, of integers; steps that a compiler would fuse, or round twice. */
static node *through_double(gen *g, const gtype *t, int depth)
{
	static const char *const shapes[] = {
		"%s(%s($) * %s($) + %s($))", "%s(fma(%s($), %s($), %s($)))",
		"%s(%s($) / %s($) - %s($))", "%s(sqrt(abs(%s($))) * %s($) - %s($))",
		"%s(max(%s($), floor(%s($))) + %s($))"};
	const char *wide = t->kind == G_VECTOR ? gen_text(g, "vec%u<f64>", t->width) : "f64";

	if (t->kind == G_SCALAR && gen_chance(g, 30))
		return gen_node(g, t,
				"f32(bitcast<f64>(vec2<u32>(bitcast<u32>($), bitcast<u32>($))) * "
				"0x1p-300lf + f64($))",
				gen_runtime(g, t, depth), gen_runtime(g, t, depth),
				gen_runtime(g, t, depth));
	return gen_node(g, t, gen_text(g, shapes[gen_below(g, 5)], t->name, wide, wide, wide),
			gen_runtime(g, t, depth), gen_runtime(g, t, depth),
			gen_runtime(g, t, depth));
}

static node *chosen(gen *g, const gtype *t, int depth)
{
	static const char *const compare[] = {"<", "<=", ">", ">=", "==", "!="};
	const gtype *truth = gen_shape(g, S_BOOL, gen_width(t));
	node *n = gen_two(g, truth, gen_text(g, "($ %s $)", compare[gen_below(g, 6)]), t, t, depth);

	return gen_node(g, t, "select($, $, $)", gen_expr(g, t, depth), gen_expr(g, t, depth), n);
}

static node *moved(gen *g, const gtype *t, int depth)
{
	const gtype *from = gen_vector(g, S_F32, 2 + gen_below(g, 3));
	char text[5] = "";

	for (uint32_t i = 0; i < gen_width(t); i++)
		text[i] = "xyzw"[gen_below(g, from->width)];
	return gen_node(g, t, gen_text(g, "$.%s", text), gen_expr(g, from, depth), NULL, NULL);
}

static node *product(gen *g, const gtype *t, int depth)
{
	const uint32_t n = 2 + gen_below(g, 3);

	if (t->kind == G_SCALAR)
		return gen_two(g, t, "dot($, $)", gen_vector(g, S_F32, n), gen_vector(g, S_F32, n),
			       depth);
	return gen_two(g, t, "($ * $)", gen_matrix(g, S_F32, n, t->width), gen_vector(g, S_F32, n),
		       depth);
}

node *gen_float_operation(gen *g, const gtype *t, int depth)
{
	static const char *const one[] = {"abs($)",   "sign($)",  "floor($)",	   "ceil($)",
					  "trunc($)", "round($)", "sqrt($)",	   "fract($)",
					  "(-$)",     "(-$)",	  "inverseSqrt($)"};
	const uint32_t pick = gen_below(g, 100);

	if (pick < 28)
		return arithmetic(g, t, depth);
	if (pick < 42)
		return contractible(g, t, depth);
	if (pick < 54)
		return unary(g, t, one[gen_below(g, 11)], depth);
	if (pick < 60)
		return gen_two(g, t, gen_chance(g, 50) ? "max($, $)" : "min($, $)", t, t, depth);
	if (pick < 63)
		return gen_node(g, t, "clamp($, $, $)", gen_runtime(g, t, depth),
				gen_runtime(g, t, depth), gen_expr(g, t, depth));
	if (pick < 70)
		return from_integers(g, t, depth);
	if (pick < 75)
		return from_bits(g, t, depth);
	if (pick < 79)
		return gen_chance(g, 50) ? through_small(g, t, depth) : through_double(g, t, depth);
	if (pick < 86)
		return chosen(g, t, depth);
	if (pick < 91)
		return moved(g, t, depth);
	if (pick < 96)
		return product(g, t, depth);
	if (pick < 97)
		return gen_node(g, t, "mix($, $, $)", gen_runtime(g, t, depth),
				gen_expr(g, t, depth), gen_runtime(g, t, depth));
	return elementary(g, t, depth);
}
