/* ieee.exp exp2 exp10 expm1 log log2 log10 log1p erf erfc pow rsqrt cbrt: correctly rounded in every type. */
#include "ieee.h"

/* MPFR gives +Inf for both zeros; IEEE 754-2019 keeps the sign. */
static int real_rsqrt(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t round)
{
	if (mpfr_zero_p(x)) {
		mpfr_set_inf(y, mpfr_signbit(x) ? -1 : 1);
		return 0;
	}
	return mpfr_rec_sqrt(y, x, round);
}

IEEE_ROW_REAL1(exp, "exp", mpfr_exp);
IEEE_ROW_REAL1(exp2, "exp2", mpfr_exp2);
IEEE_ROW_REAL1(exp10, "exp10", mpfr_exp10);
IEEE_ROW_REAL1(log, "log", mpfr_log);
IEEE_ROW_REAL1(log2, "log2", mpfr_log2);
IEEE_ROW_REAL1(log10, "log10", mpfr_log10);
IEEE_ROW_REAL1(rsqrt, "rsqrt", real_rsqrt);
IEEE_ROW_REAL1(cbrt, "cbrt", mpfr_cbrt);
IEEE_ROW_REAL1(expm1, "expm1", mpfr_expm1);
IEEE_ROW_REAL1(log1p, "log1p", mpfr_log1p);
IEEE_ROW_REAL1(erf, "erf", mpfr_erf);
IEEE_ROW_REAL1(erfc, "erfc", mpfr_erfc);

static const ieee_row pow_row = {
	.wgsl = IEEE_SAME(IEEE_FN2, "pow", "pow(a, b)"),
	.eval = ieee_eval_real2,
	.real2 = mpfr_pow,
};

static const pctl_law exp_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("number x: exp(x) >= +0"),
	IEEE_LAW_SAID("number x: exp(x) >= add(x, 1)"),
	IEEE_LAW_SAID("finite x: exp(mul(x, +0)) = 1"),
};
static const pctl_law exp2_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("finite x: exp2(mul(x, +0)) = 1"),
	IEEE_LAW_SAID("x >= -20, x <= 15: exp2(add(floor(x), 1)) = mul(exp2(floor(x)), 2)"),
};
static const pctl_law exp10_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("finite x: exp10(add(mul(x, +0), 2)) = 100"),
	IEEE_LAW_SAID("x >= +0: exp10(x) >= exp2(x)"),
	IEEE_LAW_SAID("x <= -0: exp10(x) <= exp2(x)"),
};
static const pctl_law log_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("x < -0: log(x) = NaN"),
	IEEE_LAW_SAID("x > +0: log(x) <= sub(x, 1)"),
	IEEE_LAW_SAID("finite x: log(mul(abs(x), -0)) = -Inf"),
};
static const pctl_law log2_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("x < -0: log2(x) = NaN"),
	IEEE_LAW_SAID("abs(x) >= 1, x >= -20, x <= 15: log2(exp2(floor(x))) = floor(x)"),
};
static const pctl_law log10_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("x < -0: log10(x) = NaN"),
	IEEE_LAW_SAID("x >= 1, x < 4: log10(exp10(floor(x))) = floor(x)"),
};
static const pctl_law pow_laws[] = {
	IEEE_LAW_SAID("pow(a, +0) = 1"),
	IEEE_LAW_SAID("pow(1, b) = 1"),
	IEEE_LAW_SAID("number a: pow(a, 1) = a"),
	IEEE_LAW_SAID("pow(a, 2) = mul(a, a)"),
	IEEE_LAW_SAID("pow(a, -1) = div(1, a)"),
	IEEE_LAW_SAID("pow(2, b) = exp2(b)"),
	IEEE_LAW_SAID("finite a, a < -0, finite b, floor(b) != b: pow(a, b) = NaN"),
};
static const pctl_law rsqrt_laws[] = {
	IEEE_LAW_SAID("a > +0, a <= b: rsqrt(a) >= rsqrt(b)"),
	IEEE_LAW_SAID("x < -0: rsqrt(x) = NaN"),
	IEEE_LAW_SAID("finite x: rsqrt(mul(abs(x), -0)) = -Inf"),
	IEEE_LAW_SAID("abs(x) <= 7: rsqrt(exp2(mul(floor(x), 2))) = exp2(neg(floor(x)))"),
};
static const pctl_law cbrt_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("number x: cbrt(neg(x)) = neg(cbrt(x))"),
	IEEE_LAW_SAID("abs(x) <= 6: cbrt(mul(mul(trunc(x), trunc(x)), trunc(x))) = trunc(x)"),
};

static const pctl_law expm1_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("number x: expm1(x) >= x"),
	IEEE_LAW_SAID("number x: expm1(x) <= exp(x)"),
	IEEE_LAW_SAID("finite x: expm1(mul(x, +0)) = mul(x, +0)"),
	IEEE_LAW_SAID("x <= -20: expm1(x) = -1"),
};
static const pctl_law log1p_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("x < -1: log1p(x) = NaN"),
	IEEE_LAW_SAID("number log1p(x): log1p(x) <= x"),
	IEEE_LAW_SAID("x >= 1, x <= 100: log1p(floor(x)) = log(add(floor(x), 1))"),
	IEEE_LAW_SAID("finite x: log1p(mul(x, +0)) = mul(x, +0)"),
};
static const pctl_law erf_laws[] = {
	IEEE_LAW(PCTL_LAW_MONOTONE),
	IEEE_LAW_SAID("number erf(x): erf(neg(x)) = neg(erf(x))"),
	IEEE_LAW_SAID("number x: abs(erf(x)) <= 1"),
	IEEE_LAW_SAID("abs(x) <= 0.5: abs(erf(x)) >= abs(x)"),
	IEEE_LAW_SAID("x >= 4: erf(x) = 1"),
};
static const pctl_law erfc_laws[] = {
	IEEE_LAW_SAID("a <= b: erfc(a) >= erfc(b)"),
	IEEE_LAW_SAID("number x: erfc(x) >= +0"),
	IEEE_LAW_SAID("x <= -4: erfc(x) = 2"),
	IEEE_LAW_SAID("x >= 11: erfc(x) = +0"),
	IEEE_LAW_SAID("abs(x) <= 2: erfc(abs(x)) <= sub(1, erf(abs(mul(x, 0.5))))"),
	IEEE_LAW_SAID("finite x: erfc(mul(x, +0)) = 1"),
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

static const pctl_example exp_classes[] = {
	SPECIAL,
	{"one", {0x3f800000}},
	{"small", {0x33000000}},
	{"a fraction", {0xbf19999a}},
	{"subnormal result", {0xc2b80000}},
	{"overflows", {0x43800000}},
	{"underflows", {0xc3800000}},
};
static const pctl_example log_classes[] = {
	SPECIAL,
	{"one", {0x3f800000}},
	{"near one", {0x3f800100}},
	{"a power of two", {0x42000000}},
	{"a power of ten", {0x447a0000}},
	{"a cube", {0x41d80000}},
	{"large", {0x7e967699}},
	{"negative", {0xbf800000}},
};
static const pctl_example pow_classes[] = {
	{"normals", {0x40000000, 0x3f19999a}},
	{"to the zeroth of NaN", {0x7fc00000, 0x80000000}},
	{"one to NaN", {0x3f800000, 0x7f800001}},
	{"negative to an odd integer", {0xc1000000, 0x40400000}},
	{"negative to an even integer", {0xc1000000, 0x40000000}},
	{"negative to a fraction", {0xc1000000, 0x3f000000}},
	{"zero to a negative odd integer", {0x80000000, 0xc0400000}},
	{"zero to a negative fraction", {0x80000000, 0xbf000000}},
	{"minus one to infinity", {0xbf800000, 0x7f800000}},
	{"below one to minus infinity", {0x3f000000, 0xff800000}},
	{"minus infinity to an odd integer", {0xff800000, 0x40400000}},
	{"subnormal result", {0x40000000, 0xc30f0000}},
	{"overflows", {0x42c80000, 0x42c80000}},
	{"exact", {0x3fc00000, 0x40a00000}},
	{"NaN", {0x7fc00000, 0x3f800000}},
};
static const pctl_example exp_bounds[] = {
	{"the last finite exp", {0x42b17217}},
	{"the first infinite exp", {0x42b17218}},
	{"exp2 of 128", {0x43000000}},
	{"exp2 of the smallest subnormal's exponent", {0xc3150000}},
	{"just below one", {0x3f7fffff}},
	{"largest", {0x7f7fffff}},
};
static const pctl_example log_bounds[] = {
	{"largest", {0x7f7fffff}},	     {"smallest normal", {0x00800000}},
	{"largest subnormal", {0x007fffff}}, {"just below one", {0x3f7fffff}},
	{"just above one", {0x3f800001}},
};
static const pctl_example pow_bounds[] = {
	{"just below one to a large power", {0x3f7fffff, 0x4f000000}},
	{"just above one to a large power", {0x3f800001, 0x4e800000}},
	{"smallest to one third", {0x00000001, 0x3eaaaaab}},
	{"largest odd integer", {0xbf800000, 0x4b7fffff}},
	{"first that is always even", {0xbf800000, 0x4b800001}},
};

static const pctl_example erf_classes[] = {
	SPECIAL,
	{"small", {0x33000000}},
	{"in the series", {0x3f000000}},
	{"in the tail", {0x40000000}},
	{"negative", {0xbfc00000}},
	{"far", {0x41000000}},
	{"far below", {0xc1000000}},
};
static const pctl_example erf_bounds[] = {
	{"the last below one", {0x407ad444}},		{"the first that is one", {0x407ad445}},
	{"erfc's last that is not zero", {0x4120ddfb}}, {"just below one", {0x3f7fffff}},
	{"just below one half", {0xbeffffff}},		{"largest", {0x7f7fffff}},
};

#define expm1_classes exp_classes
#define log1p_classes log_classes
#define erfc_classes erf_classes
#define expm1_bounds exp_bounds
#define log1p_bounds log_bounds
#define erfc_bounds erf_bounds
#define exp2_classes exp_classes
#define exp10_classes exp_classes
#define log2_classes log_classes
#define log10_classes log_classes
#define rsqrt_classes log_classes
#define cbrt_classes log_classes
#define exp2_bounds exp_bounds
#define exp10_bounds exp_bounds
#define log2_bounds log_bounds
#define log10_bounds log_bounds
#define rsqrt_bounds log_bounds
#define cbrt_bounds log_bounds

#define UNARY_OP(id, doc, spec)                                                              \
	IEEE_OP(#id, doc, "y = " spec ", correctly rounded; " IEEE_CANONICAL, ieee_unary_in, \
		ieee_out, id)

static const kit_op ops[] = {
	UNARY_OP(exp, "e to the x", "e^x"),
	UNARY_OP(exp2, "2 to the x", "2^x"),
	UNARY_OP(exp10, "10 to the x", "10^x"),
	UNARY_OP(expm1, "e to the x, less one", "e^x - 1"),
	UNARY_OP(log, "natural logarithm", "the logarithm of x to base e"),
	UNARY_OP(log2, "logarithm to base 2", "the logarithm of x to base 2"),
	UNARY_OP(log10, "logarithm to base 10", "the logarithm of x to base 10"),
	UNARY_OP(log1p, "natural logarithm of one more", "the logarithm of 1 + x to base e"),
	UNARY_OP(erf, "error function", "2/sqrt(pi) times the integral of e^(-t^2) from 0 to x"),
	UNARY_OP(erfc, "complement of the error function", "1 - erf(x)"),
	IEEE_OP("pow", "a to the b",
		"y = a^b, correctly rounded, with the special cases of pow in IEEE 754-2019 "
		"section\n"
		"9.2: a^0 = 1 and 1^b = 1 whatever the other is; " IEEE_CANONICAL,
		ieee_binary_in, ieee_out, pow),
	UNARY_OP(rsqrt, "1 over the square root",
		 "1 / sqrt(x) with one rounding (WGSL's inverseSqrt has two)"),
	UNARY_OP(cbrt, "cube root", "the number whose cube is x"),
};

const kit_family ieee_exp_family = {ops, NULL, KIT_COUNT(ops), 0};
