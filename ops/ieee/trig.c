/* ieee.sin cos tan asin acos atan atan2 and the hyperbolic six: correctly rounded in every type. */
#include "ieee.h"

IEEE_ROW_REAL1(sin, "sin", mpfr_sin);
IEEE_ROW_REAL1(cos, "cos", mpfr_cos);
IEEE_ROW_REAL1(tan, "tan", mpfr_tan);
IEEE_ROW_REAL1(asin, "asin", mpfr_asin);
IEEE_ROW_REAL1(acos, "acos", mpfr_acos);
IEEE_ROW_REAL1(atan, "atan", mpfr_atan);
IEEE_ROW_REAL1(sinh, "sinh", mpfr_sinh);
IEEE_ROW_REAL1(cosh, "cosh", mpfr_cosh);
IEEE_ROW_REAL1(tanh, "tanh", mpfr_tanh);
IEEE_ROW_REAL1(asinh, "asinh", mpfr_asinh);
IEEE_ROW_REAL1(acosh, "acosh", mpfr_acosh);
IEEE_ROW_REAL1(atanh, "atanh", mpfr_atanh);

static const ieee_row atan2_row = {
	.wgsl = IEEE_SAME(IEEE_FN2, "atan2", "atan2(a, b)"),
	.eval = ieee_eval_real2,
	.real2 = mpfr_atan2,
};

static const pctl_law sin_laws[] = {
	IEEE_LAW_SAID("number sin(x): sin(neg(x)) = neg(sin(x))"),
	IEEE_LAW_SAID("finite x: abs(sin(x)) <= 1"),
	IEEE_LAW_SAID("finite x: abs(sin(x)) <= abs(x)"),
};
static const pctl_law cos_laws[] = {
	IEEE_LAW_SAID("cos(neg(x)) = cos(x)"),
	IEEE_LAW_SAID("finite x: abs(cos(x)) <= 1"),
	IEEE_LAW_SAID("finite x: cos(mul(x, +0)) = 1"),
};
static const pctl_law tan_laws[] = {
	IEEE_LAW_SAID("number tan(x): tan(neg(x)) = neg(tan(x))"),
	IEEE_LAW_SAID("finite x: abs(tan(x)) >= abs(sin(x))"),
	IEEE_LAW_SAID("abs(x) <= 1: abs(tan(x)) >= abs(x)"),
};
static const pctl_law asin_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("number asin(x): asin(neg(x)) = neg(asin(x))"),
	IEEE_LAW_SAID("abs(x) > 1: asin(x) = NaN"),
	IEEE_LAW_SAID("abs(x) <= 1: abs(asin(x)) >= abs(x)"),
};
static const pctl_law acos_laws[] = {
	IEEE_LAW_SAID("a <= b, number acos(a), number acos(b): acos(a) >= acos(b)"),
	IEEE_LAW_SAID("abs(x) > 1: acos(x) = NaN"),
	IEEE_LAW_SAID("finite x: acos(cos(mul(x, +0))) = +0"),
	IEEE_LAW_SAID("abs(x) <= 1: acos(x) >= +0"),
};
static const pctl_law atan_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("number atan(x): atan(neg(x)) = neg(atan(x))"),
	IEEE_LAW_SAID("number x: abs(atan(x)) <= abs(x)"),
	IEEE_LAW_SAID("number x: abs(atan(x)) <= atan(+Inf)"),
};
static const pctl_law atan2_laws[] = {
	IEEE_LAW_SAID("atan2(a, 1) = atan(a)"),
	IEEE_LAW_SAID("number atan2(a, b): atan2(neg(a), b) = neg(atan2(a, b))"),
	IEEE_LAW_SAID("a >= +0, number b: atan2(a, b) >= +0"),
};
static const pctl_law sinh_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("number sinh(x): sinh(neg(x)) = neg(sinh(x))"),
	IEEE_LAW_SAID("number x: abs(sinh(x)) >= abs(x)"),
};
static const pctl_law cosh_laws[] = {
	IEEE_LAW_SAID("cosh(neg(x)) = cosh(x)"),
	IEEE_LAW_SAID("number x: cosh(x) >= 1"),
	IEEE_LAW_SAID("number x: cosh(x) >= sinh(x)"),
};
static const pctl_law tanh_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("number tanh(x): tanh(neg(x)) = neg(tanh(x))"),
	IEEE_LAW_SAID("number x: abs(tanh(x)) <= 1"),
	IEEE_LAW_SAID("number x: abs(tanh(x)) <= abs(x)"),
};
static const pctl_law asinh_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("number asinh(x): asinh(neg(x)) = neg(asinh(x))"),
	IEEE_LAW_SAID("number x: abs(asinh(x)) <= abs(x)"),
	IEEE_LAW_SAID("number x: abs(asinh(x)) >= abs(atan(x))"),
};
static const pctl_law acosh_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("x < 1: acosh(x) = NaN"),
	IEEE_LAW_SAID("finite x: acosh(cosh(mul(x, +0))) = +0"),
};
static const pctl_law atanh_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("number atanh(x): atanh(neg(x)) = neg(atanh(x))"),
	IEEE_LAW_SAID("abs(x) > 1: atanh(x) = NaN"),
	IEEE_LAW_SAID("abs(x) <= 1: abs(atanh(x)) >= abs(asin(x))"),
};

#define SPECIAL                                                                               \
	{"zero", {0x00000000}}, {"negative zero", {0x80000000}}, {"subnormal", {0x00000001}}, \
		{"infinity", {0x7f800000}}, {"negative infinity", {0xff800000}},              \
	{                                                                                     \
		"NaN with a payload",                                                         \
		{                                                                             \
			0x7f800001                                                            \
		}                                                                             \
	}

static const pctl_example sin_classes[] = {
	SPECIAL,
	{"small", {0x38000000}},
	{"first quadrant", {0x3f000000}},
	{"second quadrant", {0x40000000}},
	{"negative", {0xc0a00000}},
	{"many turns", {0x4a18967f}},
	{"more turns than bits", {0x7f000000}},
};
static const pctl_example asin_classes[] = {
	SPECIAL,
	{"small", {0x38000000}},
	{"inside", {0x3f000000}},
	{"negative", {0xbf19999a}},
	{"outside", {0x40000000}},
};
static const pctl_example sinh_classes[] = {
	SPECIAL,
	{"small", {0x38000000}},
	{"one", {0x3f800000}},
	{"large", {0x42200000}},
	{"overflows", {0x43000000}},
	{"overflows below", {0xc3000000}},
};
static const pctl_example asinh_classes[] = {
	SPECIAL,
	{"small", {0x38000000}},
	{"one", {0x3f800000}},
	{"below the domain of acosh", {0x3f000000}},
	{"large", {0x7e000000}},
	{"negative", {0xc1200000}},
};
static const pctl_example atan2_classes[] = {
	{"first quadrant", {0x3f800000, 0x40000000}},
	{"second quadrant", {0x3f800000, 0xc0000000}},
	{"third quadrant", {0xbf800000, 0xc0000000}},
	{"fourth quadrant", {0xbf800000, 0x40000000}},
	{"zeros", {0x00000000, 0x00000000}},
	{"zero and negative zero", {0x00000000, 0x80000000}},
	{"on the negative axis from below", {0x80000000, 0xbf800000}},
	{"upwards", {0x3f800000, 0x00000000}},
	{"infinities", {0x7f800000, 0xff800000}},
	{"infinite and finite", {0x3f800000, 0xff800000}},
	{"subnormal quotient", {0x00000001, 0x40000000}},
	{"NaN", {0x7fc00000, 0x3f800000}},
};
static const pctl_example sin_bounds[] = {
	{"nearest to pi", {0x40490fdb}},
	{"nearest to pi/2", {0x3fc90fdb}},
	{"largest", {0x7f7fffff}},
	{"largest subnormal", {0x007fffff}},
};
static const pctl_example asin_bounds[] = {
	{"one", {0x3f800000}},
	{"minus one", {0xbf800000}},
	{"just below one", {0x3f7fffff}},
	{"just above one", {0x3f800001}},
};
static const pctl_example sinh_bounds[] = {
	{"the last finite sinh and cosh", {0x42b2d4fc}},
	{"the first infinite", {0x42b2d4fd}},
	{"largest", {0x7f7fffff}},
};
static const pctl_example asinh_bounds[] = {
	{"largest", {0x7f7fffff}},
	{"just below one", {0x3f7fffff}},
	{"just above one", {0x3f800001}},
};
static const pctl_example atan2_bounds[] = {
	{"smallest by the largest", {0x00000001, 0x7f7fffff}},
	{"largest by the smallest", {0x7f7fffff, 0x00000001}},
	{"just above the negative axis", {0x00000001, 0xff7fffff}},
};

#define cos_classes sin_classes
#define tan_classes sin_classes
#define acos_classes asin_classes
#define atan_classes asin_classes
#define atanh_classes asin_classes
#define cosh_classes sinh_classes
#define tanh_classes sinh_classes
#define acosh_classes asinh_classes
#define cos_bounds sin_bounds
#define tan_bounds sin_bounds
#define acos_bounds asin_bounds
#define atan_bounds asin_bounds
#define atanh_bounds asin_bounds
#define cosh_bounds sinh_bounds
#define tanh_bounds sinh_bounds
#define acosh_bounds asinh_bounds

#define UNARY_OP(id, doc, spec)                                                              \
	IEEE_OP(#id, doc, "y = " spec ", correctly rounded; " IEEE_CANONICAL, ieee_unary_in, \
		ieee_out, id)

static const kit_op ops[] = {
	UNARY_OP(sin, "sine", "the sine of x radians, NaN for infinities"),
	UNARY_OP(cos, "cosine", "the cosine of x radians, NaN for infinities"),
	UNARY_OP(tan, "tangent", "the tangent of x radians, NaN for infinities"),
	UNARY_OP(asin, "inverse sine", "the angle in -pi/2 .. pi/2 whose sine is x"),
	UNARY_OP(acos, "inverse cosine", "the angle in 0 .. pi whose cosine is x"),
	UNARY_OP(atan, "inverse tangent", "the angle in -pi/2 .. pi/2 whose tangent is x"),
	IEEE_OP("atan2", "angle of a point, its height first",
		"y = the angle in -pi .. pi of the point (b, a), correctly rounded, with the "
		"signs\n"
		"of zeros as in IEEE 754-2019 section 9.2; " IEEE_CANONICAL,
		ieee_binary_in, ieee_out, atan2),
	UNARY_OP(sinh, "hyperbolic sine", "(e^x - e^-x) / 2"),
	UNARY_OP(cosh, "hyperbolic cosine", "(e^x + e^-x) / 2"),
	UNARY_OP(tanh, "hyperbolic tangent", "sinh(x) / cosh(x)"),
	UNARY_OP(asinh, "inverse hyperbolic sine", "the number whose sinh is x"),
	UNARY_OP(acosh, "inverse hyperbolic cosine", "the number from 0 up whose cosh is x"),
	UNARY_OP(atanh, "inverse hyperbolic tangent", "the number whose tanh is x"),
};

const kit_family ieee_trig_family = {ops, NULL, KIT_COUNT(ops), 0};
