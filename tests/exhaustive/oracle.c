/* Implementation of oracle.h. The C library's double functions err by less than 4 units in the last place (erfc: 5; its manual,
 * "Known Maximum Errors in Math Functions"); the interval tested here is more than twice that. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "oracle.h"

#include <math.h>
#include <string.h>

#include <mpfr.h>

enum {
	SIN,
	COS,
	TAN,
	ASIN,
	ACOS,
	ATAN,
	SINH,
	COSH,
	TANH,
	ASINH,
	ACOSH,
	ATANH,
	EXP,
	EXP2,
	EXP10,
	LOG,
	LOG2,
	LOG10,
	RSQRT,
	CBRT,
	ERF,
	ERFC,
	LOG1P,
	EXPM1,
	SQRT,
	FLOOR,
	CEIL,
	TRUNC,
	ROUND,
	TO_F16,
	TO_BF16,
	TO_I32,
	TO_U32,
	FROM_I32,
	FROM_U32
};

#define FLOATS(name) "bitcast<u32>(" name "(x))"
const oracle oracles[] = {
	{"sin", FLOATS("sin"), SIN},
	{"cos", FLOATS("cos"), COS},
	{"tan", FLOATS("tan"), TAN},
	{"asin", FLOATS("asin"), ASIN},
	{"acos", FLOATS("acos"), ACOS},
	{"atan", FLOATS("atan"), ATAN},
	{"sinh", FLOATS("sinh"), SINH},
	{"cosh", FLOATS("cosh"), COSH},
	{"tanh", FLOATS("tanh"), TANH},
	{"asinh", FLOATS("asinh"), ASINH},
	{"acosh", FLOATS("acosh"), ACOSH},
	{"atanh", FLOATS("atanh"), ATANH},
	{"exp", FLOATS("exp"), EXP},
	{"exp2", FLOATS("exp2"), EXP2},
	{"exp10", FLOATS("exp10"), EXP10},
	{"log", FLOATS("log"), LOG},
	{"log2", FLOATS("log2"), LOG2},
	{"log10", FLOATS("log10"), LOG10},
	{"rsqrt", FLOATS("rsqrt"), RSQRT},
	{"cbrt", FLOATS("cbrt"), CBRT},
	{"erf", FLOATS("erf"), ERF},
	{"erfc", FLOATS("erfc"), ERFC},
	{"log1p", FLOATS("log1p"), LOG1P},
	{"expm1", FLOATS("expm1"), EXPM1},
	{"sqrt", FLOATS("sqrt"), SQRT},
	{"floor", FLOATS("floor"), FLOOR},
	{"ceil", FLOATS("ceil"), CEIL},
	{"trunc", FLOATS("trunc"), TRUNC},
	{"round", FLOATS("round"), ROUND},
	{"to_f16", "bitcast<u32>(vec2<f16>(f16(x), f16(0.0)))", TO_F16},
	{"to_bf16", "bitcast<u32>(vec2<bf16>(bf16(x), bf16(0.0)))", TO_BF16},
	{"to_i32", "bitcast<u32>(i32(x))", TO_I32},
	{"to_u32", "u32(x)", TO_U32},
	{"from_i32", "bitcast<u32>(f32(bitcast<i32>(x)))", FROM_I32},
	{"from_u32", "bitcast<u32>(f32(bitcast<u32>(x)))", FROM_U32},
};
const unsigned n_oracles = sizeof(oracles) / sizeof(oracles[0]);

#define NAN_BITS 0x7fc00000u

const oracle *oracle_find(const char *name)
{
	for (unsigned i = 0; i < n_oracles; i++)
		if (strcmp(oracles[i].name, name) == 0)
			return &oracles[i];
	return NULL;
}

static uint32_t bits_of(float x)
{
	uint32_t bits;

	if (isnan(x))
		return NAN_BITS;
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static float float_of(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* An f32 as the nearest value with `m` mantissa bits and smallest exponent `emin`, ties to even, in integers. */
static uint32_t narrowed(uint32_t bits, int m, int exponent_bits)
{
	const uint32_t sign = bits >> 31 << (m + exponent_bits), magnitude = bits & 0x7fffffffu;
	const int bias = (1 << (exponent_bits - 1)) - 1;
	const uint32_t infinity = ((1u << exponent_bits) - 1) << m;
	int e = (int)(magnitude >> 23) - 127, shift;
	uint64_t mantissa = (magnitude & 0x7fffffu) | (magnitude >> 23 ? 0x800000u : 0), kept, rest,
		 half;

	if (magnitude > 0x7f800000u)
		return infinity | 1u << (m - 1);
	if (magnitude == 0x7f800000u)
		return sign | infinity;
	if (magnitude >> 23 == 0)
		e = -126;
	/* The weight of the last kept bit is 2^(max(e, 1 - bias) - m), of the mantissa's 2^(e - 23). */
	shift = (e < 1 - bias ? 1 - bias : e) - m - (e - 23);
	if (shift > 40)
		return sign;
	kept = mantissa >> shift;
	rest = mantissa & ((1ull << shift) - 1);
	half = 1ull << (shift - 1);
	kept += rest > half || (rest == half && kept & 1);
	if (e >= 1 - bias)
		kept += (uint64_t)(e + bias - 1) << m;
	return sign | (uint32_t)(kept > infinity ? infinity : kept);
}

static double by_library(int which, double x)
{
	switch (which) {
	case SIN:
		return sin(x);
	case COS:
		return cos(x);
	case TAN:
		return tan(x);
	case ASIN:
		return asin(x);
	case ACOS:
		return acos(x);
	case ATAN:
		return atan(x);
	case SINH:
		return sinh(x);
	case COSH:
		return cosh(x);
	case TANH:
		return tanh(x);
	case ASINH:
		return asinh(x);
	case ACOSH:
		return acosh(x);
	case ATANH:
		return atanh(x);
	case EXP:
		return exp(x);
	case EXP2:
		return exp2(x);
	case EXP10:
		return exp10(x);
	case LOG:
		return log(x);
	case LOG2:
		return log2(x);
	case LOG10:
		return log10(x);
	case RSQRT:
		return 1 / sqrt(x);
	case ERF:
		return erf(x);
	case ERFC:
		return erfc(x);
	case LOG1P:
		return log1p(x);
	case EXPM1:
		return expm1(x);
	default:
		return cbrt(x);
	}
}

static void by_mpfr(int which, mpfr_t y, int *t)
{
	switch (which) {
	case SIN:
		*t = mpfr_sin(y, y, MPFR_RNDN);
		break;
	case COS:
		*t = mpfr_cos(y, y, MPFR_RNDN);
		break;
	case TAN:
		*t = mpfr_tan(y, y, MPFR_RNDN);
		break;
	case ASIN:
		*t = mpfr_asin(y, y, MPFR_RNDN);
		break;
	case ACOS:
		*t = mpfr_acos(y, y, MPFR_RNDN);
		break;
	case ATAN:
		*t = mpfr_atan(y, y, MPFR_RNDN);
		break;
	case SINH:
		*t = mpfr_sinh(y, y, MPFR_RNDN);
		break;
	case COSH:
		*t = mpfr_cosh(y, y, MPFR_RNDN);
		break;
	case TANH:
		*t = mpfr_tanh(y, y, MPFR_RNDN);
		break;
	case ASINH:
		*t = mpfr_asinh(y, y, MPFR_RNDN);
		break;
	case ACOSH:
		*t = mpfr_acosh(y, y, MPFR_RNDN);
		break;
	case ATANH:
		*t = mpfr_atanh(y, y, MPFR_RNDN);
		break;
	case EXP:
		*t = mpfr_exp(y, y, MPFR_RNDN);
		break;
	case EXP2:
		*t = mpfr_exp2(y, y, MPFR_RNDN);
		break;
	case EXP10:
		*t = mpfr_exp10(y, y, MPFR_RNDN);
		break;
	case LOG:
		*t = mpfr_log(y, y, MPFR_RNDN);
		break;
	case LOG2:
		*t = mpfr_log2(y, y, MPFR_RNDN);
		break;
	case LOG10:
		*t = mpfr_log10(y, y, MPFR_RNDN);
		break;
	case SQRT:
		*t = mpfr_sqrt(y, y, MPFR_RNDN);
		break;
	case FLOOR:
		*t = mpfr_rint_floor(y, y, MPFR_RNDN);
		break;
	case CEIL:
		*t = mpfr_rint_ceil(y, y, MPFR_RNDN);
		break;
	case TRUNC:
		*t = mpfr_rint_trunc(y, y, MPFR_RNDN);
		break;
	case ROUND:
		*t = mpfr_rint_roundeven(y, y, MPFR_RNDN);
		break;
	case TO_F16:
	case TO_BF16:
		*t = mpfr_prec_round(y, which == TO_F16 ? 11 : 8, MPFR_RNDN);
		break;
	case RSQRT:
		*t = mpfr_rec_sqrt(y, y, MPFR_RNDN);
		break;
	case ERF:
		*t = mpfr_erf(y, y, MPFR_RNDN);
		break;
	case ERFC:
		*t = mpfr_erfc(y, y, MPFR_RNDN);
		break;
	case LOG1P:
		*t = mpfr_log1p(y, y, MPFR_RNDN);
		break;
	case EXPM1:
		*t = mpfr_expm1(y, y, MPFR_RNDN);
		break;
	default:
		*t = mpfr_cbrt(y, y, MPFR_RNDN);
		break;
	}
}

/* What is exact on the host's hardware, or in integers. 1: this was one of them. */
static int simple(int which, uint32_t bits, uint32_t *out)
{
	const float x = float_of(bits);

	switch (which) {
	case SQRT:
		*out = bits_of(sqrtf(x));
		return 1;
	case FLOOR:
		*out = bits_of(floorf(x));
		return 1;
	case CEIL:
		*out = bits_of(ceilf(x));
		return 1;
	case TRUNC:
		*out = bits_of(truncf(x));
		return 1;
	case ROUND:
		*out = bits_of(rintf(x));
		return 1;
	case TO_F16:
		*out = narrowed(bits, 10, 5);
		return 1;
	case TO_BF16:
		*out = narrowed(bits, 7, 8);
		return 1;
	case TO_I32:
		*out = isnan(x)	      ? 0
		       : x >= 0x1p31f ? 0x7fffffffu
		       : x < -0x1p31f ? 0x80000000u
				      : (uint32_t)(int32_t)x;
		return 1;
	case TO_U32:
		*out = !(x > 0) ? 0 : x >= 0x1p32f ? 0xffffffffu : (uint32_t)x;
		return 1;
	case FROM_I32:
		*out = bits_of((float)(int32_t)bits);
		return 1;
	case FROM_U32:
		*out = bits_of((float)bits);
		return 1;
	default:
		return 0;
	}
}

uint32_t oracle_eval_mpfr(const oracle *o, uint32_t bits)
{
	const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
	uint32_t out;
	mpfr_t y;
	int t;

	if (o->which >= TO_I32) {
		simple(o->which, bits, &out);
		return out;
	}
	if (isnan(float_of(bits)))
		return o->which == TO_F16 ? 0x7e00u : o->which == TO_BF16 ? 0x7fc0u : NAN_BITS;
	/* IEEE 754-2019 has rSqrt(-0) = -Inf, MPFR +Inf. */
	if (o->which == RSQRT && bits == 0x80000000u)
		return 0xff800000u;
	mpfr_init2(y, 24);
	mpfr_set_emin(-148);
	mpfr_set_emax(128);
	t = mpfr_set_flt(y, float_of(bits), MPFR_RNDN);
	if (o->which == TO_F16 || o->which == TO_BF16) {
		mpfr_set_emin(o->which == TO_F16 ? -23 : -132);
		mpfr_set_emax(o->which == TO_F16 ? 16 : 128);
	}
	by_mpfr(o->which, y, &t);
	t = mpfr_check_range(y, t, MPFR_RNDN);
	mpfr_subnormalize(y, t, MPFR_RNDN);
	out = bits_of(mpfr_get_flt(y, MPFR_RNDN));
	/* Both formats hold this value exactly; the integer code only changes its writing. */
	if (o->which == TO_F16)
		out = narrowed(out, 10, 5);
	if (o->which == TO_BF16)
		out = out >> 16;
	mpfr_clear(y);
	mpfr_set_emin(emin);
	mpfr_set_emax(emax);
	return out;
}

uint32_t oracle_eval(const oracle *o, uint32_t bits, uint64_t *undecided)
{
	uint32_t out;
	double y, d;
	float low, high;

	if (simple(o->which, bits, &out))
		return out;
	if (isnan(float_of(bits)))
		return NAN_BITS;
	y = by_library(o->which, (double)float_of(bits));
	if (isnan(y))
		return NAN_BITS;
	d = fabs(y) * 0x1p-49;
	low = (float)(y - d);
	high = (float)(y + d);
	if (isinf(y) || memcmp(&low, &high, sizeof(low)) == 0)
		return bits_of((float)y);
	++*undecided;
	return oracle_eval_mpfr(o, bits);
}
