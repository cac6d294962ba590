/* ieee.add sub mul div fma sqrt neg abs min max: arithmetic with one rounding, and what moves or
 * picks bits. */
#include "ieee.h"

static uint32_t eval_fma(const ieee_ask *a)
{
	return ieee_real_fma(a->reals, a->x, a->form);
}

static uint32_t eval_neg(const ieee_ask *a)
{
	return a->x[0] ^ ieee_sign(a->form);
}

static uint32_t eval_abs(const ieee_ask *a)
{
	return a->x[0] & ~ieee_sign(a->form);
}

static uint32_t eval_min(const ieee_ask *a)
{
	return ieee_extreme(a->x[0], a->x[1], -1, a->form);
}

static uint32_t eval_max(const ieee_ask *a)
{
	return ieee_extreme(a->x[0], a->x[1], 1, a->form);
}

#define ROW_REAL2(id, e, fn)                         \
	static const ieee_row id##_row = {           \
		.wgsl = IEEE_SAME(IEEE_FN2, #id, e), \
		.eval = ieee_eval_real2,             \
		.real2 = fn,                         \
	}
#define ROW(id, FN, e, answer)                 \
	static const ieee_row id##_row = {     \
		.wgsl = IEEE_SAME(FN, #id, e), \
		.eval = answer,                \
	}

ROW_REAL2(add, "a + b", mpfr_add);
ROW_REAL2(sub, "a - b", mpfr_sub);
ROW_REAL2(mul, "a * b", mpfr_mul);
ROW_REAL2(div, "a / b", mpfr_div);
ROW(fma, IEEE_FN3, "fma(a, b, c)", eval_fma);
IEEE_ROW_REAL1(sqrt, "sqrt", mpfr_sqrt);
ROW(neg, IEEE_FN1, "-x", eval_neg);
ROW(abs, IEEE_FN1, "abs(x)", eval_abs);
ROW(min, IEEE_FN2, "min(a, b)", eval_min);
ROW(max, IEEE_FN2, "max(a, b)", eval_max);

static const pctl_law add_laws[] = {
	IEEE_LAW(PCTL_LAW_COMMUTATIVE),
	IEEE_LAW_SAID("add(a, b) = sub(a, neg(b))"),
	{.law = PCTL_LAW_IDENTITY, .a = 0x80000000},
	IEEE_LAW_SAID("finite a: add(a, neg(a)) = +0"),
	IEEE_LAW_SAID("finite a, b <= c: add(a, b) <= add(a, c)"),
};
static const pctl_law sub_laws[] = {
	IEEE_LAW_SAID("sub(a, b) = add(a, neg(b))"),
	IEEE_LAW_SAID("number a: sub(a, +0) = a"),
	IEEE_LAW_SAID("finite a: sub(a, a) = +0"),
	IEEE_LAW_SAID("finite a, finite b: ne(sub(a, b), +0) = ne(a, b)"),
	IEEE_LAW_SAID("number a, number b, ne(a, b) = 1: sub(b, a) = neg(sub(a, b))"),
};
static const pctl_law mul_laws[] = {
	IEEE_LAW(PCTL_LAW_COMMUTATIVE),
	{.law = PCTL_LAW_IDENTITY, .a = 0x3f800000},
	IEEE_LAW_SAID("mul(a, 2) = add(a, a)"),
	IEEE_LAW_SAID("number mul(a, b): mul(neg(a), b) = neg(mul(a, b))"),
};
static const pctl_law div_laws[] = {
	IEEE_LAW_SAID("number a: div(a, 1) = a"),
	IEEE_LAW_SAID("finite a, ne(a, +0) = 1: div(a, a) = 1"),
	IEEE_LAW_SAID("div(a, 2) = mul(a, 0.5)"),
	IEEE_LAW_SAID("div(a, 0.25) = mul(a, 4)"),
	IEEE_LAW_SAID("number div(a, b): div(neg(a), b) = neg(div(a, b))"),
};
static const pctl_law fma_laws[] = {
	IEEE_LAW_SAID("fma(a, b, c) = fma(b, a, c)"),
	IEEE_LAW_SAID("fma(a, 1, c) = add(a, c)"),
	IEEE_LAW_SAID("fma(a, b, -0) = mul(a, b)"),
	IEEE_LAW_SAID("number fma(a, b, c), ne(fma(a, b, c), +0) = 1: fma(neg(a), b, neg(c)) = "
		      "neg(fma(a, b, c))"),
};
static const pctl_law sqrt_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("x < -0: sqrt(x) = NaN"),
	IEEE_LAW_SAID("finite x: sqrt(mul(abs(x), -0)) = -0"),
	IEEE_LAW_SAID("normal mul(x, x): sqrt(mul(x, x)) = abs(x)"),
};
static const pctl_law neg_laws[] = {
	IEEE_LAW(PCTL_LAW_INVOLUTION),
	IEEE_LAW_SAID("neg(x) != x"),
	IEEE_LAW_SAID("abs(neg(x)) = abs(x)"),
	IEEE_LAW_SAID("f32 | u32(neg(x)) = int.xor(u32(x), 0x80000000)"),
};
static const pctl_law abs_laws[] = {
	IEEE_LAW_SAID("abs(abs(x)) = abs(x)"),
	IEEE_LAW_SAID("abs(neg(x)) = abs(x)"),
	IEEE_LAW_SAID("number x: abs(x) = max(x, neg(x))"),
	IEEE_LAW_SAID("f32 | u32(abs(x)) = int.and(u32(x), 0x7fffffff)"),
};
static const pctl_law min_laws[] = {
	IEEE_LAW(PCTL_LAW_COMMUTATIVE),
	IEEE_LAW(PCTL_LAW_ASSOCIATIVE),
	IEEE_LAW(PCTL_LAW_IDEMPOTENT),
	IEEE_LAW_SAID("number a: min(a, NaN) = a"),
	IEEE_LAW_SAID("number a, number b: min(a, b) <= a"),
	IEEE_LAW_SAID("number a, number b: neg(min(a, b)) = max(neg(a), neg(b))"),
};
static const pctl_law max_laws[] = {
	IEEE_LAW(PCTL_LAW_COMMUTATIVE),
	IEEE_LAW(PCTL_LAW_ASSOCIATIVE),
	IEEE_LAW(PCTL_LAW_IDEMPOTENT),
	IEEE_LAW_SAID("number a: max(a, NaN) = a"),
	IEEE_LAW_SAID("number a, number b: max(a, b) >= a"),
	IEEE_LAW_SAID("number a: max(a, neg(a)) = abs(a)"),
};

static const pctl_example add_classes[] = {
	{"zeros", {0x00000000, 0x80000000}},
	{"negative zeros", {0x80000000, 0x80000000}},
	{"normals", {0x3f800000, 0x40490fdb}},
	{"a tie", {0x4b800000, 0x3f800000}},
	{"above a tie", {0x4b800000, 0x3f800001}},
	{"exact cancellation", {0x3fc00000, 0xbfc00000}},
	{"cancellation to a subnormal", {0x00800001, 0x80800000}},
	{"subnormals", {0x00000001, 0x007fffff}},
	{"far apart", {0x7f000000, 0x00000001}},
	{"infinity and a number", {0x7f800000, 0xff7fffff}},
	{"opposite infinities", {0x7f800000, 0xff800000}},
	{"NaN with a payload", {0x7f800001, 0x3f800000}},
};
static const pctl_example mul_classes[] = {
	{"zero and a negative number", {0x00000000, 0xbf800000}},
	{"normals", {0x3fc00000, 0x40490fdb}},
	{"a tie", {0x3f800001, 0x3fc00000}},
	{"to a subnormal", {0x00ffffff, 0x3f000000}},
	{"subnormal and normal", {0x00000003, 0x3f400000}},
	{"to zero", {0x00000001, 0x3f000000}},
	{"overflow", {0x7f000000, 0xc0000000}},
	{"zero and infinity", {0x00000000, 0x7f800000}},
	{"NaN with a payload and a sign", {0xffc12345, 0x3f800000}},
};
static const pctl_example div_classes[] = {
	{"exact", {0x40c00000, 0x40400000}},
	{"inexact", {0x3f800000, 0x40400000}},
	{"by zero", {0xbf800000, 0x00000000}},
	{"zero by zero", {0x80000000, 0x00000000}},
	{"infinity by infinity", {0x7f800000, 0xff800000}},
	{"by infinity", {0x3f800000, 0xff800000}},
	{"subnormal quotient", {0x00800000, 0x40000000}},
	{"subnormal divisor", {0x3f800000, 0x00000001}},
	{"NaN", {0x7fc00000, 0x3f800000}},
};
static const pctl_example fma_classes[] = {
	{"one rounding, not two", {0x3f800800, 0x3f800800, 0xbf800000}},
	{"product beyond the range", {0x7f000000, 0x40000000, 0xff7fffff}},
	{"exact cancellation", {0x40000000, 0x3f800000, 0xc0000000}},
	{"a zero's sign", {0x00000000, 0xbf800000, 0x00000000}},
	{"subnormal", {0x00800000, 0x3f000000, 0x80000001}},
	{"zero and infinity", {0x00000000, 0x7f800000, 0x3f800000}},
	{"infinity less infinity", {0x7f800000, 0x3f800000, 0xff800000}},
	{"NaN added", {0x00000000, 0x7f800000, 0x7fc00000}},
};
static const pctl_example sqrt_classes[] = {
	{"zero", {0x00000000}},	    {"negative zero", {0x80000000}},	 {"exact", {0x40800000}},
	{"inexact", {0x40000000}},  {"subnormal", {0x00000001}},	 {"negative", {0xbf800000}},
	{"infinity", {0x7f800000}}, {"negative infinity", {0xff800000}}, {"NaN", {0x7f800001}},
};
static const pctl_example neg_classes[] = {
	{"zero", {0x00000000}},		{"negative zero", {0x80000000}},
	{"normal", {0x3f800000}},	{"subnormal", {0x80000001}},
	{"infinity", {0xff800000}},	{"NaN with a payload", {0x7f800001}},
	{"negative NaN", {0xffc00000}},
};
static const pctl_example min_classes[] = {
	{"numbers", {0x3f800000, 0xc0000000}},
	{"zeros", {0x00000000, 0x80000000}},
	{"subnormals", {0x00000001, 0x80000001}},
	{"infinities", {0x7f800000, 0xff800000}},
	{"NaN and a number", {0x7f800001, 0x40000000}},
	{"a number and NaN", {0x40000000, 0xffc00000}},
	{"two NaNs", {0x7fc00001, 0xff800001}},
};
static const pctl_example add_bounds[] = {
	{"largest and half its last place", {0x7f7fffff, 0x73000000}},
	{"largest and just below", {0x7f7fffff, 0x72ffffff}},
	{"largest subnormal and the smallest", {0x007fffff, 0x00000001}},
	{"smallest twice", {0x00000001, 0x00000001}},
};
static const pctl_example mul_bounds[] = {
	{"smallest by half", {0x00000001, 0x3f000000}},
	{"smallest by just over half", {0x00000001, 0x3f000001}},
	{"largest by just over one", {0x7f7fffff, 0x3f800001}},
	{"rounds up to the smallest normal", {0x00ffffff, 0x3f000000}},
};
static const pctl_example div_bounds[] = {
	{"largest by the smallest", {0x7f7fffff, 0x00000001}},
	{"smallest by the largest", {0x00000001, 0x7f7fffff}},
	{"just below one", {0x3f7fffff, 0x3f800001}},
};
static const pctl_example fma_bounds[] = {
	{"smallest squared beside one", {0x00000001, 0x00000001, 0x3f800000}},
	{"largest squared less the largest", {0x7f7fffff, 0x7f7fffff, 0xff7fffff}},
	{"a tie broken by the product", {0x00000001, 0x00000001, 0x3f800001}},
};
static const pctl_example sqrt_bounds[] = {
	{"largest", {0x7f7fffff}},
	{"smallest normal", {0x00800000}},
	{"largest subnormal", {0x007fffff}},
	{"just below one", {0x3f7fffff}},
};
static const pctl_example neg_bounds[] = {{"smallest", {0x00000001}}, {"largest", {0x7f7fffff}}};
static const pctl_example min_bounds[] = {
	{"neighbours", {0x3f800000, 0x3f800001}},
	{"extremes", {0x7f7fffff, 0xff7fffff}},
};

#define sub_classes add_classes
#define sub_bounds add_bounds
#define abs_classes neg_classes
#define abs_bounds neg_bounds
#define max_classes min_classes
#define max_bounds min_bounds

static const kit_op ops[] = {
	IEEE_OP("add", "a + b", "y = a + b rounded to nearest even; " IEEE_CANONICAL,
		ieee_binary_in, ieee_out, add),
	IEEE_OP("sub", "a - b", "y = a - b rounded to nearest even; " IEEE_CANONICAL,
		ieee_binary_in, ieee_out, sub),
	IEEE_OP("mul", "a * b", "y = a * b rounded to nearest even; " IEEE_CANONICAL,
		ieee_binary_in, ieee_out, mul),
	IEEE_OP("div", "a / b",
		"y = a / b rounded to nearest even; a number by zero is infinite, 0/0 is "
		"NaN;\n" IEEE_CANONICAL,
		ieee_binary_in, ieee_out, div),
	IEEE_OP("fma", "a * b + c with one rounding",
		"y = a * b + c, exact until one rounding to nearest even; " IEEE_CANONICAL,
		ieee_ternary_in, ieee_out, fma),
	IEEE_OP("sqrt", "square root",
		"y = the root of x rounded to nearest even; sqrt(-0) = -0; " IEEE_CANONICAL,
		ieee_unary_in, ieee_out, sqrt),
	IEEE_OP("neg", "the other sign", "y = x with its sign bit turned, of a NaN too",
		ieee_unary_in, ieee_out, neg),
	IEEE_OP("abs", "without its sign", "y = x with its sign bit cleared, of a NaN too",
		ieee_unary_in, ieee_out, abs),
	IEEE_OP("min", "the smaller number",
		"y = minimumNumber(a, b): -0 is below +0, a NaN loses to a number, two NaNs give\n"
		"the canonical one",
		ieee_binary_in, ieee_out, min),
	IEEE_OP("max", "the larger number",
		"y = maximumNumber(a, b): +0 is above -0, a NaN loses to a number, two NaNs give\n"
		"the canonical one",
		ieee_binary_in, ieee_out, max),
};

const kit_family ieee_arith_family = {ops, NULL, KIT_COUNT(ops), 0};
