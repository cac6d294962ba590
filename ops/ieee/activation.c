/* ieee.relu leaky_relu elu sigmoid silu softplus mish hardswish gelu gelu_tanh: fixed sequences of correctly rounded steps (SEMANTICS.md
 * 15.11). */
#include "ieee.h"

#include "common/activations.h"

#define SOFTPLUS "max(x, 0.0) + log(1.0 + exp(-abs(x)))"
#define SQRT_2_PI 0.79788456080286535588
#define CUBIC 0.044715
#define SQRT_1_2 0.70710678118654752440

/* ---- answers -------------------------------------------------------------------------------- */

static uint32_t f1(const ieee_ask *a, ieee_real1 fn, uint32_t x)
{
	return ieee_real_1(a->reals, fn, &x, a->form);
}

static uint32_t f2(const ieee_ask *a, ieee_real2 fn, uint32_t x, uint32_t y)
{
	const uint32_t both[2] = {x, y};

	return ieee_real_2(a->reals, fn, both, a->form);
}

static uint32_t number(const ieee_ask *a, double d)
{
	const int ternary = mpfr_set_d(a->reals->out, d, MPFR_RNDZ);

	return ieee_real_get(a->reals, ternary, a->form);
}

static uint32_t turned(const ieee_ask *a, uint32_t x)
{
	return x ^ ieee_sign(a->form);
}

static uint32_t size(const ieee_ask *a, uint32_t x)
{
	return x & ~ieee_sign(a->form);
}

static int is_nan(const ieee_ask *a)
{
	return ieee_is_nan(a->x[0], a->form);
}

static int is_low(const ieee_ask *a)
{
	return a->x[0] == (ieee_infinity(a->form) | ieee_sign(a->form));
}

static int is_above_zero(const ieee_ask *a)
{
	return !is_nan(a) && a->x[0] != 0 && a->x[0] < ieee_sign(a->form);
}

static uint32_t eval_relu(const ieee_ask *a)
{
	return is_nan(a) ? ieee_nan(a->form) : is_above_zero(a) ? a->x[0] : 0;
}

static uint32_t eval_leaky_relu(const ieee_ask *a)
{
	return is_above_zero(a) ? a->x[0] : f2(a, mpfr_mul, a->x[0], a->x[1]);
}

static uint32_t eval_elu(const ieee_ask *a)
{
	const uint32_t grown = f2(a, mpfr_sub, f1(a, mpfr_exp, a->x[0]), number(a, 1));

	return is_above_zero(a) ? a->x[0] : f2(a, mpfr_mul, a->x[1], grown);
}

static uint32_t eval_sigmoid(const ieee_ask *a)
{
	const uint32_t one = number(a, 1), e = f1(a, mpfr_exp, turned(a, size(a, a->x[0])));
	const int at_least_zero = is_above_zero(a) || size(a, a->x[0]) == 0;

	return f2(a, mpfr_div, at_least_zero ? one : e, f2(a, mpfr_add, one, e));
}

static uint32_t eval_silu(const ieee_ask *a)
{
	const uint32_t e = f1(a, mpfr_exp, turned(a, a->x[0]));

	return is_low(a) ? ieee_sign(a->form)
			 : f2(a, mpfr_div, a->x[0], f2(a, mpfr_add, number(a, 1), e));
}

static uint32_t eval_softplus(const ieee_ask *a)
{
	const uint32_t e = f1(a, mpfr_exp, turned(a, size(a, a->x[0])));
	const uint32_t log = f1(a, mpfr_log, f2(a, mpfr_add, number(a, 1), e));

	return f2(a, mpfr_add, ieee_extreme(a->x[0], 0, 1, a->form), log);
}

static uint32_t eval_mish(const ieee_ask *a)
{
	return is_low(a) ? ieee_sign(a->form)
			 : f2(a, mpfr_mul, a->x[0], f1(a, mpfr_tanh, eval_softplus(a)));
}

static uint32_t eval_hardswish(const ieee_ask *a)
{
	const uint32_t six = number(a, 6);
	const uint32_t sum = f2(a, mpfr_add, a->x[0], number(a, 3));
	const uint32_t cut = ieee_extreme(ieee_extreme(sum, 0, 1, a->form), six, -1, a->form);

	return is_low(a) ? ieee_sign(a->form) : f2(a, mpfr_mul, a->x[0], f2(a, mpfr_div, cut, six));
}

static uint32_t eval_gelu(const ieee_ask *a)
{
	const uint32_t x = a->x[0];
	const uint32_t erf = f1(a, mpfr_erf, f2(a, mpfr_mul, number(a, SQRT_1_2), x));

	return is_low(a) ? ieee_sign(a->form)
			 : f2(a, mpfr_mul, f2(a, mpfr_mul, number(a, 0.5), x),
			      f2(a, mpfr_add, number(a, 1), erf));
}

static uint32_t eval_gelu_tanh(const ieee_ask *a)
{
	const uint32_t x = a->x[0], cube = f2(a, mpfr_mul, f2(a, mpfr_mul, x, x), x);
	const uint32_t t = f2(a, mpfr_add, x, f2(a, mpfr_mul, number(a, CUBIC), cube));
	const uint32_t tanh = f1(a, mpfr_tanh, f2(a, mpfr_mul, number(a, SQRT_2_PI), t));

	return is_low(a) ? ieee_sign(a->form)
			 : f2(a, mpfr_mul, f2(a, mpfr_mul, number(a, 0.5), x),
			      f2(a, mpfr_add, number(a, 1), tanh));
}

/* ---- rows ----------------------------------------------------------------------------------- */

#define ROW(id, FN, e) \
	static const ieee_row id##_row = {.wgsl = IEEE_SAME(FN, #id, e), .eval = eval_##id}

ROW(relu, IEEE_FN1, "select(max(x, 0.0), x + x, x != x)");
ROW(leaky_relu, IEEE_FN2, "select(a * b, a, a > 0.0)");
ROW(elu, IEEE_FN2, "select(b * (exp(a) - 1.0), a, a > 0.0)");
ROW(sigmoid, IEEE_FN1, "select(exp(-abs(x)), 1.0, x >= 0.0) / (1.0 + exp(-abs(x)))");
ROW(silu, IEEE_FN1, KIT_SILU);
ROW(softplus, IEEE_FN1, SOFTPLUS);
ROW(mish, IEEE_FN1, KIT_LIMIT("x * tanh(" SOFTPLUS ")"));
ROW(hardswish, IEEE_FN1, KIT_LIMIT("x * (min(max(x + 3.0, 0.0), 6.0) / 6.0)"));
ROW(gelu, IEEE_FN1, KIT_GELU);
ROW(gelu_tanh, IEEE_FN1, KIT_GELU_TANH);

static const pctl_law relu_laws[] = {
	IEEE_LAW_SAID("number x: relu(x) = max(x, +0)"),
	IEEE_LAW_SAID("isnan(x) = 1: relu(x) = NaN"),
	IEEE_LAW_SAID("relu(relu(x)) = relu(x)"),
};
static const pctl_law leaky_relu_laws[] = {
	IEEE_LAW_SAID("a > +0: leaky_relu(a, b) = a"),
	IEEE_LAW_SAID("a < +0: leaky_relu(a, b) = mul(a, b)"),
	IEEE_LAW_SAID("number a: leaky_relu(a, 1) = a"),
};
static const pctl_law elu_laws[] = {
	IEEE_LAW_SAID("a > +0: elu(a, b) = a"),
	IEEE_LAW_SAID("a < +0: elu(a, b) = mul(b, sub(exp(a), 1))"),
};
static const pctl_law sigmoid_laws[] = {
	IEEE_LAW_SAID("x >= +0: sigmoid(x) = div(1, add(1, exp(neg(x))))"),
	IEEE_LAW_SAID("x < -0: sigmoid(x) = div(exp(x), add(1, exp(x)))"),
	IEEE_LAW_SAID("number x: sigmoid(x) <= 1"),
	IEEE_LAW_SAID("number x: sigmoid(x) >= +0"),
};
/* From where silu is -0: exp(-x) is above what a format holds, and x / Inf is -0. In f32 exp rounds to Inf from 2^128 - 2^103 on, whose
 * logarithm is 88.72283908..: the first f32 above it is the bound, and one ulp nearer zero silu is -2.6e-37, a normal number. In f16
 * it is 65520 (ln 11.0901..), in bf16 2^128 - 2^119 (ln 88.7208..). -Inf, of which the quotient is NaN, is among these x. */
static const pctl_law silu_laws[] = {
	IEEE_LAW_SAID("x > -Inf: silu(x) = div(x, add(1, exp(neg(x))))"),
	IEEE_LAW_SAID("f32 | x <= -88.72283935546875: silu(x) = -0"),
	IEEE_LAW_SAID("f16 | x <= -11.09375: silu(x) = -0"),
	IEEE_LAW_SAID("bf16 | x <= -89: silu(x) = -0"),
	IEEE_LAW_SAID("x >= 40: silu(x) = x"),
};
static const pctl_law softplus_laws[] = {
	IEEE_LAW_SAID("number x: softplus(x) >= max(x, +0)"),
	IEEE_LAW_SAID("x >= 40: softplus(x) = x"),
	IEEE_LAW_SAID("x <= -40: softplus(x) = +0"),
	IEEE_LAW_SAID("abs(x) <= 40: softplus(x) = add(max(x, +0), log(add(1, exp(neg(abs(x))))))"),
};
/* From where mish is -0: 1 + exp(x) rounds to 1 where exp(x) is at most half an ulp of 1 above it, which is 2^-24 in f32 (ln
 * -16.63553233..), 2^-11 in f16 (-7.6246..), 2^-8 in bf16 (-5.5451..); then log(1) and its tanh are +0. */
static const pctl_law mish_laws[] = {
	IEEE_LAW_SAID("x > -Inf: mish(x) = mul(x, tanh(softplus(x)))"),
	IEEE_LAW_SAID("f32 | x <= -16.635532379150390625: mish(x) = -0"),
	IEEE_LAW_SAID("f16 | x <= -7.625: mish(x) = -0"),
	IEEE_LAW_SAID("bf16 | x <= -5.5625: mish(x) = -0"),
	IEEE_LAW_SAID("x >= 40: mish(x) = x"),
};
static const pctl_law hardswish_laws[] = {
	IEEE_LAW_SAID("x >= 3: hardswish(x) = x"),
	IEEE_LAW_SAID("x <= -3: hardswish(x) = -0"),
	IEEE_LAW_SAID("abs(x) < 3: hardswish(x) = mul(x, div(add(x, 3), 6))"),
};
static const pctl_law gelu_laws[] = {
	IEEE_LAW_SAID("x >= 6: gelu(x) = x"),
	IEEE_LAW_SAID("x <= -6: gelu(x) = -0"),
	IEEE_LAW_SAID(
		"x >= -6: gelu(x) = mul(mul(0.5, x), add(1, erf(mul(0.70710678118654752440, x))))"),
	IEEE_LAW_SAID("finite x: gelu(mul(x, +0)) = mul(x, +0)"),
};
static const pctl_law gelu_tanh_laws[] = {
	IEEE_LAW_SAID("x >= 10: gelu_tanh(x) = x"),
	IEEE_LAW_SAID("x <= -10: gelu_tanh(x) = -0"),
	IEEE_LAW_SAID("finite x: gelu_tanh(mul(x, +0)) = mul(x, +0)"),
};

#define CLASSES(id)                                                                                \
	static const pctl_example id##_classes[] = {                                               \
		{"zero", {0x00000000, 0x3f000000}},                                                \
		{"negative zero", {0x80000000, 0x3f000000}},                                       \
		{"subnormal", {0x00000001, 0x3f000000}},                                           \
		{"infinity", {0x7f800000, 0x3f000000}},                                            \
		{"negative infinity", {0xff800000, 0x3f000000}},                                   \
		{"NaN with a payload", {0x7f800001, 0x3f000000}},                                  \
		{"one", {0x3f800000, 0x3f000000}},                                                 \
		{"below zero", {0xc0600000, 0x3c23d70a}},                                          \
		{"far below", {0xc2b80000, 0x3f800000}}};                                          \
	static const pctl_example id##_bounds[] = {{"largest", {0x7f7fffff, 0x3f800000}},          \
						   {"least", {0xff7fffff, 0x3f800000}},            \
						   {"just below three", {0x403fffff, 0x40000000}}, \
						   {"minus eleven", {0xc1318000, 0x40000000}}}
CLASSES(relu);
#define leaky_relu_classes relu_classes
#define elu_classes relu_classes
#define sigmoid_classes relu_classes
#define silu_classes relu_classes
#define softplus_classes relu_classes
#define mish_classes relu_classes
#define hardswish_classes relu_classes
#define gelu_classes relu_classes
#define gelu_tanh_classes relu_classes
#define leaky_relu_bounds relu_bounds
#define elu_bounds relu_bounds
#define sigmoid_bounds relu_bounds
#define silu_bounds relu_bounds
#define softplus_bounds relu_bounds
#define mish_bounds relu_bounds
#define hardswish_bounds relu_bounds
#define gelu_bounds relu_bounds
#define gelu_tanh_bounds relu_bounds

#define STEPS "; every step is rounded, exp, log and tanh correctly; " IEEE_CANONICAL

static const kit_op ops[] = {
	IEEE_OP("relu", "what is above zero", "y = max(x, 0), NaN of a NaN; " IEEE_CANONICAL,
		ieee_unary_in, ieee_out, relu),
	IEEE_OP("leaky_relu", "a, below zero times b", "y = a where a > 0, else a * b" STEPS,
		ieee_binary_in, ieee_out, leaky_relu),
	IEEE_OP("elu", "a, below zero b times (e^a - 1)",
		"y = a where a > 0, else b * (exp(a) - 1)" STEPS, ieee_binary_in, ieee_out, elu),
	IEEE_OP("sigmoid", "the logistic function",
		"e = exp(-abs(x)); y = 1 / (1 + e) where x >= 0, else e / (1 + e)" STEPS,
		ieee_unary_in, ieee_out, sigmoid),
	IEEE_OP("silu", "x times its logistic function", "y = x / (1 + exp(-x)), -0 of -Inf" STEPS,
		ieee_unary_in, ieee_out, silu),
	IEEE_OP("softplus", "log(1 + e^x)", "y = max(x, 0) + log(1 + exp(-abs(x)))" STEPS,
		ieee_unary_in, ieee_out, softplus),
	IEEE_OP("mish", "x times tanh of softplus", "y = x * tanh(softplus(x)), -0 of -Inf" STEPS,
		ieee_unary_in, ieee_out, mish),
	IEEE_OP("hardswish", "x times a ramp from -3 to 3",
		"y = x * (min(max(x + 3, 0), 6) / 6), -0 of -Inf" STEPS, ieee_unary_in, ieee_out,
		hardswish),
	IEEE_OP("gelu", "x times the normal distribution",
		"y = (0.5 * x) * (1 + erf(c * x)), c = sqrt(1/2) rounded to f64, then to the "
		"type; -0 of -Inf; every step is rounded, erf correctly; " IEEE_CANONICAL,
		ieee_unary_in, ieee_out, gelu),
	IEEE_OP("gelu_tanh", "x times the normal distribution, by tanh",
		"y = (0.5 * x) * (1 + tanh(c * (x + d * (x * x * x)))), c = sqrt(2/pi), d = "
		"0.044715, "
		"both rounded to f64, then to the type; -0 of -Inf" STEPS,
		ieee_unary_in, ieee_out, gelu_tanh),
};

const kit_family ieee_activation_family = {ops, NULL, KIT_COUNT(ops), 0};
