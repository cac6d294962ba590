/* Floats as bits: taken apart, rounded, converted, and computed with. The sum of a step is exact in
 * MPFR up to 64 bits and the knowledge whether more follows; rounding to a format is done here. */
#include <stdint.h>
#include <string.h>

#include <mpfr.h>

#include "wgsl/float.h"
#include "wgsl/types.h"

#define WORK_BITS 64 /* of a truncated result */

struct format {
	uint32_t bits;
	uint32_t fraction; /* bits of the fraction */
	int32_t bias;
};

static const struct format *format_of(uint32_t scalar)
{
	static const struct format f16 = {16, 10, 15}, bf16 = {16, 7, 127}, f32 = {32, 23, 127},
				   f64 = {64, 52, 1023};

	switch (scalar) {
	case PCTL_SCALAR_F16:
		return &f16;
	case PCTL_SCALAR_BF16:
		return &bf16;
	case PCTL_SCALAR_F32:
		return &f32;
	default:
		return &f64;
	}
}

int pctl_wgsl_is_float(uint32_t scalar)
{
	return (scalar >= PCTL_SCALAR_F16 && scalar <= PCTL_SCALAR_F64) ||
	       scalar == SCALAR_ABSTRACT_FLOAT;
}

static uint64_t infinity(const struct format *f)
{
	return (uint64_t)(2 * f->bias + 1) << f->fraction;
}

static uint64_t sign_bit(const struct format *f)
{
	return 1ull << (f->bits - 1);
}

void pctl_wgsl_float_parts(uint32_t scalar, uint64_t bits, struct float_parts *out)
{
	const struct format *f = format_of(scalar);
	uint64_t magnitude = bits & (sign_bit(f) - 1), fraction = (1ull << f->fraction) - 1;
	int64_t exponent = (int64_t)(magnitude >> f->fraction);

	out->negative = (bits & sign_bit(f)) != 0;
	out->mant = magnitude & fraction;
	out->exp = (exponent ? exponent : 1) - f->bias - (int64_t)f->fraction;
	if (exponent)
		out->mant |= fraction + 1;
	if (magnitude >= infinity(f))
		out->class = magnitude == infinity(f) ? FLOAT_INF : FLOAT_NAN;
	else
		out->class = magnitude ? FLOAT_FINITE : FLOAT_ZERO;
}

int pctl_wgsl_float_is_special(uint32_t scalar, uint64_t bits)
{
	const struct format *f = format_of(scalar);

	return (bits & (sign_bit(f) - 1)) >= infinity(f);
}

uint32_t pctl_wgsl_float_round(uint32_t scalar, const struct float_parts *p, int sticky,
			       uint64_t *out)
{
	const struct format *f = format_of(scalar);
	uint64_t sign = p->negative ? sign_bit(f) : 0, mant = p->mant, kept, rest, half;
	int64_t exponent, keep = (int64_t)f->fraction + 1;
	uint32_t shift, drop, flags;

	*out = sign;
	if (p->class == FLOAT_NAN) {
		*out = infinity(f) | 1ull << (f->fraction - 1);
		return 0;
	}
	if (p->class == FLOAT_INF) {
		*out |= infinity(f);
		return 0;
	}
	if (p->class == FLOAT_ZERO || !mant)
		return 0;
	shift = (uint32_t)__builtin_clzll(mant);
	mant <<= shift;
	exponent = p->exp - (int64_t)shift + 63; /* of the leading bit */
	if (exponent > f->bias) {
		*out |= infinity(f);
		return FLOAT_OVERFLOW | FLOAT_INEXACT;
	}
	if (exponent < 1 - f->bias)
		keep -= 1 - f->bias - exponent;
	if (keep < 0)
		return FLOAT_INEXACT; /* below half of the smallest */
	drop = (uint32_t)(64 - keep);
	kept = keep ? mant >> drop : 0;
	rest = keep ? mant & ((1ull << drop) - 1) : mant;
	half = 1ull << (drop - 1);
	flags = rest || sticky ? FLOAT_INEXACT : 0;
	if (rest > half || (rest == half && (sticky || (kept & 1))))
		kept++;
	/* A carry out of the fraction runs into the exponent, as it should. */
	if (exponent >= 1 - f->bias)
		kept += (uint64_t)(exponent + f->bias - 1) << f->fraction;
	if (kept >= infinity(f)) {
		kept = infinity(f);
		flags |= FLOAT_OVERFLOW;
	}
	*out |= kept;
	return flags;
}

uint32_t pctl_wgsl_float_convert(uint32_t from, uint32_t to, uint64_t bits, uint64_t *out)
{
	struct float_parts p;

	pctl_wgsl_float_parts(from, bits, &p);
	return pctl_wgsl_float_round(to, &p, 0, out);
}

uint32_t pctl_wgsl_float_from_int(uint32_t to, int64_t v, int is_unsigned, uint64_t *out)
{
	struct float_parts p = {.class = v ? FLOAT_FINITE : FLOAT_ZERO};

	p.negative = !is_unsigned && v < 0;
	p.mant = p.negative ? 0 - (uint64_t)v : (uint64_t)v;
	return pctl_wgsl_float_round(to, &p, 0, out);
}

uint64_t pctl_wgsl_float_to_int(uint32_t from, uint32_t to, uint64_t bits)
{
	uint64_t most = to == PCTL_SCALAR_I32 ? INT32_MAX : UINT32_MAX, v;
	struct float_parts p;

	pctl_wgsl_float_parts(from, bits, &p);
	if (p.class == FLOAT_NAN || p.class == FLOAT_ZERO || p.exp <= -64)
		return 0;
	if (p.negative)
		most = to == PCTL_SCALAR_I32 ? (uint64_t)INT32_MAX + 1 : 0;
	if (p.class == FLOAT_INF || p.exp >= 32)
		v = most;
	else if (p.exp <= 0)
		v = p.mant >> -p.exp;
	else
		v = p.mant > UINT32_MAX ? most : p.mant << p.exp;
	if (v > most)
		v = most;
	return p.negative ? 0 - v : v;
}

/* ---- operations ---- */

static void load(mpfr_t x, uint32_t scalar, uint64_t bits)
{
	struct float_parts p;

	pctl_wgsl_float_parts(scalar, bits, &p);
	mpfr_init2(x, WORK_BITS);
	if (p.class == FLOAT_NAN)
		mpfr_set_nan(x);
	else if (p.class == FLOAT_INF)
		mpfr_set_inf(x, 1);
	else
		mpfr_set_uj_2exp(x, p.mant, (intmax_t)p.exp, MPFR_RNDN);
	mpfr_setsign(x, x, (int)p.negative, MPFR_RNDN);
}

/* Round the truncated value; ternary tells whether something was cut off. */
static uint64_t store(mpfr_t x, uint32_t scalar, int ternary)
{
	struct float_parts p = {.class = FLOAT_FINITE,
				.negative = (uint32_t)(mpfr_signbit(x) ? 1 : 0)};
	uint64_t out;

	if (mpfr_nan_p(x)) {
		p.class = FLOAT_NAN;
	} else if (mpfr_inf_p(x)) {
		p.class = FLOAT_INF;
	} else if (mpfr_zero_p(x)) {
		p.class = FLOAT_ZERO;
	} else {
		p.exp = (int64_t)mpfr_get_exp(x) - WORK_BITS;
		mpfr_abs(x, x, MPFR_RNDN);
		mpfr_mul_2si(x, x, (long)-p.exp, MPFR_RNDN);
		p.mant = mpfr_get_uj(x, MPFR_RNDN);
	}
	pctl_wgsl_float_round(scalar, &p, ternary != 0, &out);
	return out;
}

static int compare(uint16_t op, mpfr_t a, mpfr_t b)
{
	int order;

	if (mpfr_nan_p(a) || mpfr_nan_p(b))
		return op == PCTL_OP_FNE;
	order = mpfr_cmp(a, b);
	switch (op) {
	case PCTL_OP_FEQ:
		return order == 0;
	case PCTL_OP_FNE:
		return order != 0;
	case PCTL_OP_FLT:
		return order < 0;
	case PCTL_OP_FLE:
		return order <= 0;
	case PCTL_OP_FGT:
		return order > 0;
	default:
		return order >= 0;
	}
}

/* The result truncated, in *ternary whether it is exact; 0 when the op is not done here. */
static int arithmetic(uint16_t op, mpfr_t r, mpfr_t a, mpfr_t b, mpfr_t d, int *ternary)
{
	switch (op) {
	case PCTL_OP_FADD:
		*ternary = mpfr_add(r, a, b, MPFR_RNDZ);
		return 1;
	case PCTL_OP_FSUB:
		*ternary = mpfr_sub(r, a, b, MPFR_RNDZ);
		return 1;
	case PCTL_OP_FMUL:
		*ternary = mpfr_mul(r, a, b, MPFR_RNDZ);
		return 1;
	case PCTL_OP_FDIV:
		*ternary = mpfr_div(r, a, b, MPFR_RNDZ);
		return 1;
	case PCTL_OP_FFMA:
		*ternary = mpfr_fma(r, a, b, d, MPFR_RNDZ);
		return 1;
	case PCTL_OP_FSQRT:
		*ternary = mpfr_sqrt(r, a, MPFR_RNDZ);
		return 1;
	case PCTL_OP_FFLOOR:
		mpfr_floor(r, a);
		return 1;
	case PCTL_OP_FCEIL:
		mpfr_ceil(r, a);
		return 1;
	case PCTL_OP_FTRUNC:
		mpfr_trunc(r, a);
		return 1;
	case PCTL_OP_FROUND:
		mpfr_roundeven(r, a);
		return 1;
	default:
		return 0;
	}
}

/* The smaller (or larger) of two, -0 below +0, a number before NaN. */
static uint64_t pick(uint16_t op, mpfr_t a, mpfr_t b, const uint64_t *args)
{
	int less;

	if (mpfr_nan_p(a) || mpfr_nan_p(b))
		return mpfr_nan_p(a) ? args[1] : args[0];
	less = mpfr_cmp(a, b);
	if (!less)
		less = (mpfr_signbit(b) != 0) - (mpfr_signbit(a) != 0);
	return (op == PCTL_OP_FMIN) == (less <= 0) ? args[0] : args[1];
}

static uint32_t arity(uint16_t op)
{
	const char *args = pctl_op_get(op)->args;

	return (uint32_t)strlen(args);
}

static int is_compare(uint16_t op)
{
	return op >= PCTL_OP_FEQ && op <= PCTL_OP_FGE;
}

/* Exactly rounded basic operations in any format. */
static int eval_basic(uint16_t op, uint32_t scalar, const uint64_t *args, uint64_t *out)
{
	const struct format *f = format_of(scalar);
	uint32_t n = arity(op);
	mpfr_t a, b, d, r;
	int ternary = 0, done = 1;

	if (op == PCTL_OP_FNEG || op == PCTL_OP_FABS) {
		*out = op == PCTL_OP_FNEG ? args[0] ^ sign_bit(f) : args[0] & (sign_bit(f) - 1);
		return 1;
	}
	load(a, scalar, args[0]);
	load(b, scalar, n > 1 ? args[1] : 0);
	load(d, scalar, n > 2 ? args[2] : 0);
	mpfr_init2(r, WORK_BITS);
	if (is_compare(op)) {
		*out = (uint64_t)compare(op, a, b);
	} else if (op == PCTL_OP_FMIN || op == PCTL_OP_FMAX) {
		*out = pick(op, a, b, args);
	} else {
		done = arithmetic(op, r, a, b, d, &ternary);
		if (done)
			*out = store(r, scalar, ternary);
	}
	mpfr_clears(a, b, d, r, (mpfr_ptr)0);
	return done;
}

int pctl_wgsl_float_eval(uint16_t op, uint32_t scalar, const uint64_t *args, uint64_t *out)
{
	*out = 0;
	return eval_basic(op, scalar, args, out);
}
