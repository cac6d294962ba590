/* ieee.eq ne lt gt le ge isnan isinf: 1 or 0 of u32. */
#include "ieee.h"

/* 1 when one of the operands is NaN; else *order is -1, 0 or 1, zeros being equal. */
static int unordered(const ieee_ask *a, int *order)
{
	const uint32_t size = ieee_sign(a->form) - 1;

	*order = 0;
	if (ieee_is_nan(a->x[0], a->form) || ieee_is_nan(a->x[1], a->form))
		return 1;
	if (((a->x[0] | a->x[1]) & size) != 0)
		*order = ieee_order(a->x[0], a->x[1], a->form);
	return 0;
}

static uint32_t eval_eq(const ieee_ask *a)
{
	int order;

	return !unordered(a, &order) && order == 0;
}

static uint32_t eval_ne(const ieee_ask *a)
{
	int order;

	return unordered(a, &order) || order != 0;
}

static uint32_t eval_lt(const ieee_ask *a)
{
	int order;

	return !unordered(a, &order) && order < 0;
}

static uint32_t eval_gt(const ieee_ask *a)
{
	int order;

	return !unordered(a, &order) && order > 0;
}

static uint32_t eval_le(const ieee_ask *a)
{
	int order;

	return !unordered(a, &order) && order <= 0;
}

static uint32_t eval_ge(const ieee_ask *a)
{
	int order;

	return !unordered(a, &order) && order >= 0;
}

static uint32_t eval_isnan(const ieee_ask *a)
{
	return (uint32_t)ieee_is_nan(a->x[0], a->form);
}

static uint32_t eval_isinf(const ieee_ask *a)
{
	return (a->x[0] | ieee_sign(a->form)) == (ieee_infinity(a->form) | ieee_sign(a->form));
}

#define ROW(id, FN, condition)                          \
	static const ieee_row id##_row = {              \
		.wgsl = IEEE_TRUTH(FN, #id, condition), \
		.eval = eval_##id,                      \
		.out = PCTL_SCALAR_U32,                 \
	}

ROW(eq, IEEE_FN2, "a == b");
ROW(ne, IEEE_FN2, "a != b");
ROW(lt, IEEE_FN2, "a < b");
ROW(gt, IEEE_FN2, "a > b");
ROW(le, IEEE_FN2, "a <= b");
ROW(ge, IEEE_FN2, "a >= b");
ROW(isnan, IEEE_FN1, "x != x");
/* The widening to f32 is exact, so infinite is infinite in it. */
ROW(isinf, IEEE_FN1, "(bitcast<u32>(f32(x)) & 0x7fffffffu) == 0x7f800000u");

static const pctl_law eq_laws[] = {
	IEEE_LAW(PCTL_LAW_COMMUTATIVE),
	IEEE_LAW_SAID("number a: eq(a, a) = 1"),
	IEEE_LAW_SAID("eq(a, NaN) = 0"),
	IEEE_LAW_SAID("eq(a, b) = int.and(le(a, b), ge(a, b))"),
	IEEE_LAW_SAID("finite a: eq(mul(abs(a), -0), +0) = 1"),
};
static const pctl_law ne_laws[] = {
	IEEE_LAW(PCTL_LAW_COMMUTATIVE),
	{.law = PCTL_LAW_COMPLEMENT, .a = 1, .other = "ieee.eq"},
	IEEE_LAW_SAID("ne(a, a) = isnan(a)"),
};
static const pctl_law lt_laws[] = {
	{.law = PCTL_LAW_SELF_INVERSE, .a = 0},
	IEEE_LAW_SAID("lt(a, b) = gt(b, a)"),
	IEEE_LAW_SAID("lt(neg(a), neg(b)) = lt(b, a)"),
	IEEE_LAW_SAID("lt(a, NaN) = 0"),
	IEEE_LAW_SAID("number a, number b: int.add(int.add(lt(a, b), eq(a, b)), gt(a, b)) = 1"),
};
static const pctl_law gt_laws[] = {
	{.law = PCTL_LAW_SELF_INVERSE, .a = 0},
	IEEE_LAW_SAID("gt(a, b) = lt(b, a)"),
	IEEE_LAW_SAID("gt(a, NaN) = 0"),
	IEEE_LAW_SAID("a > -Inf: gt(a, -Inf) = 1"),
};
static const pctl_law le_laws[] = {
	IEEE_LAW_SAID("number a: le(a, a) = 1"),
	IEEE_LAW_SAID("le(a, b) = ge(b, a)"),
	IEEE_LAW_SAID("le(a, b) = int.or(lt(a, b), eq(a, b))"),
	IEEE_LAW_SAID("a <= b: le(a, b) = 1"),
};
static const pctl_law ge_laws[] = {
	IEEE_LAW_SAID("number a: ge(a, a) = 1"),
	IEEE_LAW_SAID("ge(a, b) = le(b, a)"),
	IEEE_LAW_SAID("ge(a, b) = int.or(gt(a, b), eq(a, b))"),
	IEEE_LAW_SAID("a >= b: ge(a, b) = 1"),
};
static const pctl_law isnan_laws[] = {
	IEEE_LAW_SAID("isnan(x) = ne(x, x)"),
	IEEE_LAW_SAID("isnan(neg(x)) = isnan(x)"),
	IEEE_LAW_SAID("number x: isnan(x) = 0"),
	IEEE_LAW_SAID("int.add(isnan(x), isinf(x)) <= 1"),
};
static const pctl_law isinf_laws[] = {
	IEEE_LAW_SAID("isinf(x) = eq(abs(x), +Inf)"),
	IEEE_LAW_SAID("isinf(neg(x)) = isinf(x)"),
	IEEE_LAW_SAID("finite x: isinf(x) = 0"),
};

static const pctl_example eq_classes[] = {
	{"equal", {0x3f800000, 0x3f800000}},
	{"below", {0x3f800000, 0x40000000}},
	{"above", {0x40000000, 0x3f800000}},
	{"zeros of both signs", {0x80000000, 0x00000000}},
	{"signs differ", {0xbf800000, 0x3f800000}},
	{"both negative", {0xc0000000, 0xbf800000}},
	{"subnormals", {0x00000001, 0x00000002}},
	{"subnormal and zero", {0x00000001, 0x00000000}},
	{"infinities", {0xff800000, 0x7f800000}},
	{"NaN and a number", {0x7fc00000, 0x3f800000}},
	{"a number and NaN", {0x3f800000, 0xff800001}},
	{"NaN twice", {0x7fc00000, 0x7fc00000}},
};
static const pctl_example isnan_classes[] = {
	{"zero", {0x80000000}},		{"subnormal", {0x00000001}},
	{"normal", {0x3f800000}},	{"infinity", {0x7f800000}},
	{"quiet NaN", {0x7fc00000}},	{"signalling NaN", {0x7f800001}},
	{"negative NaN", {0xffffffff}},
};
static const pctl_example eq_bounds[] = {
	{"smallest of both signs", {0x00000001, 0x80000001}},
	{"largest and infinity", {0x7f7fffff, 0x7f800000}},
	{"neighbours across a power", {0x3f7fffff, 0x3f800000}},
};
static const pctl_example isnan_bounds[] = {
	{"largest", {0x7f7fffff}},
	{"negative infinity", {0xff800000}},
	{"first NaN", {0xff800001}},
};

#define ne_classes eq_classes
#define lt_classes eq_classes
#define gt_classes eq_classes
#define le_classes eq_classes
#define ge_classes eq_classes
#define isinf_classes isnan_classes
#define ne_bounds eq_bounds
#define lt_bounds eq_bounds
#define gt_bounds eq_bounds
#define le_bounds eq_bounds
#define ge_bounds eq_bounds
#define isinf_bounds isnan_bounds

#define COMPARE_OP(name, doc, sign, nan, id)                                            \
	IEEE_OP(name, doc, "y = 1 when a " sign " b, else 0; -0 = +0; with a NaN " nan, \
		ieee_binary_in, ieee_truth_out, id)

static const kit_op ops[] = {
	COMPARE_OP("eq", "1 when equal", "=", "0", eq),
	COMPARE_OP("ne", "1 when not equal", "!=", "1", ne),
	COMPARE_OP("lt", "1 when a is below b", "<", "0", lt),
	COMPARE_OP("gt", "1 when a is above b", ">", "0", gt),
	COMPARE_OP("le", "1 when a is below b or equal", "<=", "0", le),
	COMPARE_OP("ge", "1 when a is above b or equal", ">=", "0", ge),
	IEEE_OP("isnan", "1 for a NaN",
		"y = 1 when the exponent field is all ones and the fraction is not 0, else 0",
		ieee_unary_in, ieee_truth_out, isnan),
	IEEE_OP("isinf", "1 for an infinity",
		"y = 1 when the exponent field is all ones and the fraction is 0, else 0",
		ieee_unary_in, ieee_truth_out, isinf),
};

const kit_family ieee_compare_family = {ops, NULL, KIT_COUNT(ops), 0};
