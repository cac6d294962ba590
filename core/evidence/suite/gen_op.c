/* Operators, conversions and builtin functions of generated programs. */
#include <string.h>

#include "evidence/suite/gen.h"

node *gen_two(gen *g, const gtype *t, const char *format, const gtype *a, const gtype *b, int depth)
{
	/* One side is never constant; which one is chosen. */
	int first = gen_chance(g, 50);
	node *x = first ? gen_runtime(g, a, depth) : gen_expr(g, a, depth);
	node *y = first ? gen_expr(g, b, depth) : gen_runtime(g, b, depth);

	return gen_node(g, t, format, x, y, NULL);
}

static node *arithmetic(gen *g, const gtype *t, int depth)
{
	static const char *const ops[] = {"+", "-", "*", "/", "%"};
	const char *op = ops[gen_below(g, 5)];
	const gtype *a = t, *b = t;
	node *right;

	if (t->kind == G_VECTOR && gen_chance(g, 30)) {
		if (gen_chance(g, 50))
			a = t->elem;
		else
			b = t->elem;
	}
	if (op[0] == '/' || op[0] == '%') {
		right = gen_divisor(g, op, b, a, depth);
		return gen_node(g, t, gen_text(g, "($ %s $)", op), gen_runtime(g, a, depth), right,
				NULL);
	}
	return gen_two(g, t, gen_text(g, "($ %s $)", op), a, b, depth);
}

static node *shift(gen *g, const gtype *t, int depth)
{
	const char *op = gen_chance(g, 50) ? "<<" : ">>";
	node *right = gen_divisor(g, op, gen_shape(g, S_U32, gen_width(t)), t, depth);

	return gen_node(g, t, gen_text(g, "($ %s $)", op), gen_runtime(g, t, depth), right, NULL);
}

static node *elementwise(gen *g, const gtype *t, int depth)
{
	static const char *const one[] = {
		"abs",	       "countOneBits",	  "countLeadingZeros", "countTrailingZeros",
		"reverseBits", "firstLeadingBit", "firstTrailingBit",  "sign"};
	uint32_t pick = gen_below(g, 12);

	if (pick < 8) {
		if (pick == 7 && !gen_is_signed(t))
			pick = 0;
		return gen_node(g, t, gen_text(g, "%s($)", one[pick]), gen_runtime(g, t, depth),
				NULL, NULL);
	}
	if (pick < 11)
		return gen_two(g, t, pick == 8 ? "max($, $)" : "min($, $)", t, t, depth);
	return gen_node(g, t, "clamp($, $, $)", gen_runtime(g, t, depth), gen_runtime(g, t, depth),
			gen_expr(g, t, depth));
}

static node *bit_field(gen *g, const gtype *t, int depth)
{
	const gtype *u32 = gen_scalar(g, S_U32);
	const char *field;
	node *at = NULL, *n;

	if (gen_chance(g, 30)) {
		uint32_t offset = gen_below(g, 33);

		field = gen_text(g, "%uu, %uu", offset, gen_below(g, 33 - offset));
	} else {
		at = gen_runtime(g, u32, depth - 1);
		field = gen_text(g, gen_chance(g, 50) ? "$ %% 40u, %uu" : "$, %uu",
				 gen_below(g, 33));
	}
	if (gen_chance(g, 50)) {
		n = gen_node(g, t, gen_text(g, "extractBits($, %s)", field),
			     gen_runtime(g, t, depth), at, NULL);
	} else {
		n = gen_node(g, t, gen_text(g, "insertBits($, $, %s)", field),
			     gen_runtime(g, t, depth), gen_expr(g, t, depth), at);
	}
	return n;
}

static node *cast(gen *g, const gtype *t, int depth)
{
	const gtype *from;

	do {
		from = gen_shape(g, gen_any_scalar(g, 1), gen_width(t));
	} while (gen_is_float(from) && gen_bits(t) == 64);
	/* What does not fit is refused in a const-expression. */
	if (gen_is_float(from))
		return gen_node(g, t, gen_text(g, "%s($)", t->name), gen_runtime(g, from, depth),
				NULL, NULL);
	return gen_node(g, t, gen_text(g, "%s($)", t->name), gen_expr(g, from, depth), NULL, NULL);
}

static node *bitcast(gen *g, const gtype *t, int depth)
{
	uint32_t total = gen_width(t) * gen_bits(t), scalar, bits;

	do {
		scalar = gen_any_scalar(g, 0);
		bits = gen_bits(gen_scalar(g, scalar));
	} while (total % bits != 0 || total / bits > 4);
	return gen_node(g, t, gen_text(g, "bitcast<%s>($)", t->name),
			gen_expr(g, gen_shape(g, scalar, total / bits), depth), NULL, NULL);
}

static node *selection(gen *g, const gtype *t, int depth)
{
	const gtype *cond =
		gen_shape(g, S_BOOL, gen_width(t) > 1 && gen_chance(g, 60) ? gen_width(t) : 1);

	return gen_node(g, t, "select($, $, $)", gen_expr(g, t, depth), gen_expr(g, t, depth),
			gen_runtime(g, cond, depth));
}

static node *swizzle(gen *g, const gtype *t, int depth)
{
	const gtype *from = gen_vector(g, t->scalar, 2 + gen_below(g, 3));
	const char *letters = gen_chance(g, 70) ? "xyzw" : "rgba";
	char text[5] = "";

	for (uint32_t i = 0; i < gen_width(t); i++)
		text[i] = letters[gen_below(g, from->width)];
	return gen_node(g, t, gen_text(g, "$.%s", text), gen_expr(g, from, depth), NULL, NULL);
}

static node *product(gen *g, const gtype *t, int depth)
{
	uint32_t n = 2 + gen_below(g, 3), s = t->scalar;

	if (t->kind == G_SCALAR)
		return gen_two(g, t, "dot($, $)", gen_vector(g, s, n), gen_vector(g, s, n), depth);
	if (t->kind == G_VECTOR && gen_chance(g, 50))
		return gen_two(g, t, "($ * $)", gen_matrix(g, s, n, t->width), gen_vector(g, s, n),
			       depth);
	if (t->kind == G_VECTOR)
		return gen_two(g, t, "($ * $)", gen_vector(g, s, n), gen_matrix(g, s, t->width, n),
			       depth);
	return gen_two(g, t, "($ * $)", gen_matrix(g, s, n, t->width),
		       gen_matrix(g, s, t->columns, n), depth);
}

static node *matrix(gen *g, const gtype *t, int depth)
{
	switch (gen_below(g, 6)) {
	case 0:
		return gen_two(g, t, "($ + $)", t, t, depth);
	case 1:
		return gen_two(g, t, "($ - $)", t, t, depth);
	case 2:
		return gen_two(g, t, "($ * $)", t, gen_scalar(g, t->scalar), depth);
	case 3:
		return gen_two(g, t, "($ * $)", gen_scalar(g, t->scalar), t, depth);
	case 4:
		return gen_node(g, t, "transpose($)",
				gen_expr(g, gen_matrix(g, t->scalar, t->width, t->columns), depth),
				NULL, NULL);
	default:
		return product(g, t, depth);
	}
}

static node *packed(gen *g, const gtype *t, int depth)
{
	const gtype *u32 = gen_scalar(g, S_U32);
	int is_signed = gen_is_signed(t);

	if (t->kind == G_SCALAR && t->scalar == S_U32 && gen_chance(g, 60)) {
		static const char *const name[] = {"pack4xU8($)", "pack4xI8($)", "pack4xU8Clamp($)",
						   "pack4xI8Clamp($)"};
		uint32_t which = gen_below(g, 4);

		return gen_node(g, t, name[which],
				gen_runtime(g, gen_vector(g, which % 2 ? S_I32 : S_U32, 4), depth),
				NULL, NULL);
	}
	if (t->kind == G_SCALAR)
		return gen_two(g, t, is_signed ? "dot4I8Packed($, $)" : "dot4U8Packed($, $)", u32,
			       u32, depth);
	return gen_node(g, t, is_signed ? "unpack4xI8($)" : "unpack4xU8($)",
			gen_runtime(g, u32, depth), NULL, NULL);
}

static node *truth(gen *g, const gtype *t, int depth)
{
	static const char *const compare[] = {"<", "<=", ">", ">=", "==", "!="};
	static const char *const logic[] = {"&", "|", "==", "!=", "&&", "||"};
	const gtype *of;

	if (t->kind == G_SCALAR && g->touches && gen_chance(g, 12))
		return gen_node(g, t, gen_chance(g, 50) ? "($ && touch($))" : "($ || touch($))",
				gen_runtime(g, t, depth), gen_expr(g, gen_scalar(g, S_U32), depth),
				NULL);
	switch (gen_below(g, 8)) {
	case 0:
		return gen_node(g, t, "(!$)", gen_expr(g, t, depth), NULL, NULL);
	case 1:
	case 2:
		return gen_two(
			g, t,
			gen_text(g, "($ %s $)", logic[gen_below(g, t->kind == G_SCALAR ? 6 : 4)]),
			t, t, depth);
	case 3:
		of = gen_vector(g, S_BOOL, 2 + gen_below(g, 3));
		if (t->kind == G_SCALAR)
			return gen_node(g, t, gen_chance(g, 50) ? "all($)" : "any($)",
					gen_expr(g, of, depth), NULL, NULL);
		return selection(g, t, depth);
	case 4:
		return cast(g, t, depth);
	default:
		of = gen_shape(g, gen_any_scalar(g, 0), gen_width(t));
		return gen_two(g, t, gen_text(g, "($ %s $)", compare[gen_below(g, 6)]), of, of,
			       depth);
	}
}

static node *integer(gen *g, const gtype *t, int depth)
{
	static const char *const bitwise[] = {"&", "|", "^"};
	uint32_t pick = gen_below(g, 100);

	if (pick < 28)
		return arithmetic(g, t, depth);
	if (pick < 38)
		return gen_two(g, t, gen_text(g, "($ %s $)", bitwise[gen_below(g, 3)]), t, t,
			       depth);
	if (pick < 48)
		return shift(g, t, depth);
	if (pick < 60)
		return elementwise(g, t, depth);
	if (pick < 65)
		return gen_is_signed(t) && gen_chance(g, 50)
			       ? gen_node(g, t, "(-$)", gen_runtime(g, t, depth), NULL, NULL)
			       : gen_node(g, t, "(~$)", gen_expr(g, t, depth), NULL, NULL);
	if (pick < 73)
		return cast(g, t, depth);
	if (pick < 78)
		return bitcast(g, t, depth);
	if (pick < 85)
		return selection(g, t, depth);
	if (pick < 90)
		return swizzle(g, t, depth);
	if (pick < 93)
		return product(g, t, depth);
	if (gen_bits(t) == 32 && pick < 97)
		return bit_field(g, t, depth);
	if (gen_bits(t) == 32 && (t->kind == G_SCALAR || t->width == 4))
		return packed(g, t, depth);
	return arithmetic(g, t, depth);
}

node *gen_operation(gen *g, const gtype *t, int depth)
{
	depth--;
	if (t->kind == G_MATRIX)
		return matrix(g, t, depth);
	if (t->scalar == S_BOOL)
		return truth(g, t, depth);
	if (t->kind == G_SCALAR && t->scalar == S_U32 && g->n_lengths != 0 && gen_chance(g, 4)) {
		node *n = gen_node(g, t, g->lengths[gen_below(g, g->n_lengths)], NULL, NULL, NULL);

		n->constant = 0;
		return n;
	}
	return gen_is_float(t) ? gen_float_operation(g, t, depth) : integer(g, t, depth);
}
