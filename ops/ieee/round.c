/* ieee.floor ceil round trunc: to an integer of the same type, exactly. */
#include "ieee.h"

enum { DOWN, UP, NEAREST, TOWARDS_ZERO };

/* 1 when a magnitude with `twice` halves of a unit above the integer `whole` goes to the next
 * integer: twice is 0 for nothing, 1 for less than a half, 2 for a half, 3 for more. */
static uint64_t step(uint32_t towards, uint32_t negative, uint64_t whole, uint32_t twice)
{
	switch (towards) {
	case DOWN:
		return negative && twice;
	case UP:
		return !negative && twice;
	case NEAREST:
		return twice == 3 || (twice == 2 && (whole & 1));
	default:
		return 0;
	}
}

static uint32_t rounded(const ieee_ask *a, uint32_t towards)
{
	ieee_number x = ieee_take(a->x[0], a->form);
	uint64_t whole = 0, rest = x.mantissa, half;
	uint32_t twice;

	if (x.kind != IEEE_FINITE || x.mantissa == 0 || x.exponent >= 0)
		return ieee_give(&x, a->form);
	/* Beyond 2^-62 of a mantissa below 2^24 only "less than a half" is left to tell. */
	if (x.exponent < -62)
		x.exponent = -62;
	whole = x.mantissa >> -x.exponent;
	rest = x.mantissa - (whole << -x.exponent);
	half = 1ull << (-x.exponent - 1);
	twice = rest == 0 ? 0 : rest < half ? 1 : rest == half ? 2 : 3;
	x.mantissa = whole + step(towards, x.negative, whole, twice);
	x.exponent = 0;
	return ieee_give(&x, a->form);
}

static uint32_t eval_floor(const ieee_ask *a)
{
	return rounded(a, DOWN);
}

static uint32_t eval_ceil(const ieee_ask *a)
{
	return rounded(a, UP);
}

static uint32_t eval_round(const ieee_ask *a)
{
	return rounded(a, NEAREST);
}

static uint32_t eval_trunc(const ieee_ask *a)
{
	return rounded(a, TOWARDS_ZERO);
}

#define ROW(id)                                              \
	static const ieee_row id##_row = {                   \
		.wgsl = IEEE_SAME(IEEE_FN1, #id, #id "(x)"), \
		.eval = eval_##id,                           \
	}

ROW(floor);
ROW(ceil);
ROW(round);
ROW(trunc);

static const pctl_law floor_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("floor(floor(x)) = floor(x)"),
	IEEE_LAW_SAID("number x: floor(x) <= x"),
	IEEE_LAW_SAID("finite x: add(floor(x), 1) >= x"),
	IEEE_LAW_SAID("number x: floor(neg(x)) = neg(ceil(x))"),
};
static const pctl_law ceil_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("ceil(ceil(x)) = ceil(x)"),
	IEEE_LAW_SAID("number x: ceil(x) >= x"),
	IEEE_LAW_SAID("x > -1, x < -0: ceil(x) = -0"),
	IEEE_LAW_SAID("number x: ceil(neg(x)) = neg(floor(x))"),
};
static const pctl_law round_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("round(round(x)) = round(x)"),
	IEEE_LAW_SAID("number x: round(neg(x)) = neg(round(x))"),
	IEEE_LAW_SAID("finite x: abs(sub(x, round(x))) <= 0.5"),
	IEEE_LAW_SAID("abs(x) <= 30: eq(round(add(mul(round(x), 2), 0.5)), mul(round(x), 2)) = 1"),
};
static const pctl_law trunc_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("trunc(trunc(x)) = trunc(x)"),
	IEEE_LAW_SAID("number x: trunc(neg(x)) = neg(trunc(x))"),
	IEEE_LAW_SAID("x >= +0: trunc(x) = floor(x)"),
	IEEE_LAW_SAID("x <= -0: trunc(x) = ceil(x)"),
};

static const pctl_example floor_classes[] = {
	{"zero", {0x00000000}},
	{"negative zero", {0x80000000}},
	{"an integer", {0xc0400000}},
	{"below a half", {0x40200000 - 1}},
	{"a tie to an even integer", {0x40200000}},
	{"a tie to an odd integer's neighbour", {0x40600000}},
	{"above a half", {0x40600001}},
	{"a negative fraction", {0xbe99999a}},
	{"a subnormal", {0x80000001}},
	{"infinity", {0xff800000}},
	{"NaN with a payload", {0x7f800001}},
};
static const pctl_example floor_bounds[] = {
	{"a half", {0x3f000000}},
	{"just above a half", {0x3f000001}},
	{"just below one", {0x3f7fffff}},
	{"the largest with a half", {0x4affffff}},
	{"the first without", {0x4b000001}},
};

#define ceil_classes floor_classes
#define round_classes floor_classes
#define trunc_classes floor_classes
#define ceil_bounds floor_bounds
#define round_bounds floor_bounds
#define trunc_bounds floor_bounds

#define KEPT "; infinities and the sign of zero are kept; " IEEE_CANONICAL

static const kit_op ops[] = {
	IEEE_OP("floor", "down to an integer", "y = the largest integer not above x" KEPT,
		ieee_unary_in, ieee_out, floor),
	IEEE_OP("ceil", "up to an integer", "y = the smallest integer not below x" KEPT,
		ieee_unary_in, ieee_out, ceil),
	IEEE_OP("round", "to the nearest integer, ties to even",
		"y = the nearest integer, of two the even one" KEPT, ieee_unary_in, ieee_out,
		round),
	IEEE_OP("trunc", "towards zero to an integer", "y = x without its fraction" KEPT,
		ieee_unary_in, ieee_out, trunc),
};

const kit_family ieee_round_family = {ops, NULL, KIT_COUNT(ops), 0};
