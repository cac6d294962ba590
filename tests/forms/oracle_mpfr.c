/* f16 and bf16, and what rounding loses, by MPFR: exact or with far more bits than matter, then one
 * rounding into the format. See forms.h. */
#include "forms.h"

#include <math.h>
#include <mpfr.h>

/* Enough for the exact sum of any two f64, and of a product and an f64. */
#define BITS 4400

typedef struct format {
	int precision, exponent; /* bits, the leading one counted; bits of the exponent field */
} format;

static const format f16 = {11, 5}, bf16 = {8, 8}, f64 = {53, 11}, f32 = {24, 8};

static int bias(const format *f)
{
	return (1 << (f->exponent - 1)) - 1;
}

static uint64_t field(const format *f)
{
	return (1u << f->exponent) - 1u;
}

/* v * 2^k */
static void set_scaled(mpfr_t out, uint64_t v, int k)
{
	mpfr_set_ui_2exp(out, v, k, MPFR_RNDN);
}

static void set_bits(mpfr_t out, const format *f, uint64_t bits)
{
	const int p = f->precision;
	const uint64_t fraction = bits & ((1ull << (p - 1)) - 1);
	const uint64_t e = bits >> (p - 1) & field(f);

	if (e == field(f)) {
		if (fraction)
			mpfr_set_nan(out);
		else
			mpfr_set_inf(out, 1);
	} else {
		set_scaled(out, fraction | (uint64_t)(e != 0) << (p - 1),
			   (int)(e ? e : 1) - bias(f) - (p - 1));
	}
	if (bits >> (p - 1 + f->exponent) & 1)
		mpfr_neg(out, out, MPFR_RNDN);
}

/* The bits of the number of `f` nearest to v, which is exact or rounded to odd. */
static uint64_t get_bits(const format *f, const mpfr_t v)
{
	const int p = f->precision, lowest = 1 - bias(f) - (p - 1);
	const uint64_t infinity = field(f) << (p - 1);
	uint64_t bits, sign;
	mpfr_exp_t unit;
	mpfr_t q;

	if (mpfr_nan_p(v))
		return infinity | 1ull << (p - 2);
	sign = (uint64_t)(mpfr_signbit(v) != 0) << (p - 1 + f->exponent);
	if (mpfr_zero_p(v))
		return sign;
	if (mpfr_inf_p(v))
		return sign | infinity;
	unit = mpfr_get_exp(v) - p;
	if (unit < lowest)
		unit = lowest;
	mpfr_init2(q, mpfr_get_prec(v));
	mpfr_abs(q, v, MPFR_RNDN);
	mpfr_mul_2si(q, q, -unit, MPFR_RNDN);
	mpfr_rint(q, q, MPFR_RNDN); /* ties to even */
	bits = mpfr_get_uj(q, MPFR_RNDN);
	mpfr_clear(q);
	/* Counted in units of the least exponent's, the bits of a positive number are its number. */
	bits += (uint64_t)(unit - lowest) << (p - 1);
	return sign | (bits < infinity ? bits : infinity);
}

/* An operation on up to three operands, rounded to odd at 200 bits where it is not exact. */
typedef int operation(mpfr_t out, mpfr_t a, mpfr_t b, mpfr_t c);

static uint64_t compute(const format *in, const format *to, operation *op, const uint64_t x[3])
{
	mpfr_t v[3], out;
	uint64_t bits;

	for (int i = 0; i < 3; i++) {
		mpfr_init2(v[i], 64);
		set_bits(v[i], in, x[i]);
	}
	mpfr_init2(out, 1000);
	if (op(out, v[0], v[1], v[2]) != 0) {
		/* Toward zero and inexact: one bit more makes it odd, beyond every tie. */
		mpfr_t little;

		mpfr_init2(little, 2);
		mpfr_set_ui_2exp(little, 1, mpfr_get_exp(out) - 990, MPFR_RNDN);
		mpfr_setsign(little, little, mpfr_signbit(out), MPFR_RNDN);
		mpfr_add(out, out, little, MPFR_RNDZ);
		mpfr_clear(little);
	}
	bits = get_bits(to, out);
	for (int i = 0; i < 3; i++)
		mpfr_clear(v[i]);
	mpfr_clear(out);
	return bits;
}

static int op_add(mpfr_t out, mpfr_t a, mpfr_t b, mpfr_t c)
{
	(void)c;
	return mpfr_add(out, a, b, MPFR_RNDZ) && !mpfr_zero_p(out);
}

static int op_sub(mpfr_t out, mpfr_t a, mpfr_t b, mpfr_t c)
{
	(void)c;
	return mpfr_sub(out, a, b, MPFR_RNDZ) && !mpfr_zero_p(out);
}

static int op_mul(mpfr_t out, mpfr_t a, mpfr_t b, mpfr_t c)
{
	(void)c;
	return mpfr_mul(out, a, b, MPFR_RNDZ);
}

static int op_div(mpfr_t out, mpfr_t a, mpfr_t b, mpfr_t c)
{
	(void)c;
	return mpfr_div(out, a, b, MPFR_RNDZ);
}

static int op_sqrt(mpfr_t out, mpfr_t a, mpfr_t b, mpfr_t c)
{
	(void)b;
	(void)c;
	return mpfr_sqrt(out, a, MPFR_RNDZ);
}

static int op_fma(mpfr_t out, mpfr_t a, mpfr_t b, mpfr_t c)
{
	return mpfr_fma(out, a, b, c, MPFR_RNDZ);
}

static int op_floor(mpfr_t out, mpfr_t a, mpfr_t b, mpfr_t c)
{
	(void)b;
	(void)c;
	mpfr_rint(out, a, MPFR_RNDD);
	return 0;
}

static int op_ceil(mpfr_t out, mpfr_t a, mpfr_t b, mpfr_t c)
{
	(void)b;
	(void)c;
	mpfr_rint(out, a, MPFR_RNDU);
	return 0;
}

static int op_trunc(mpfr_t out, mpfr_t a, mpfr_t b, mpfr_t c)
{
	(void)b;
	(void)c;
	mpfr_rint(out, a, MPFR_RNDZ);
	return 0;
}

static int op_round(mpfr_t out, mpfr_t a, mpfr_t b, mpfr_t c)
{
	(void)b;
	(void)c;
	mpfr_rint(out, a, MPFR_RNDN);
	return 0;
}

static int op_copy(mpfr_t out, mpfr_t a, mpfr_t b, mpfr_t c)
{
	(void)b;
	(void)c;
	mpfr_set(out, a, MPFR_RNDN);
	return 0;
}

/* The host compares and picks: every f16 and bf16 is a double. */
static double value(const format *f, uint64_t bits)
{
	mpfr_t v;
	double d;

	mpfr_init2(v, 64);
	set_bits(v, f, bits);
	d = mpfr_get_d(v, MPFR_RNDN);
	mpfr_clear(v);
	return d;
}

static uint64_t pick(const format *f, const uint64_t x[3], int greater)
{
	const double a = value(f, x[0]), b = value(f, x[1]);
	const uint64_t nan = field(f) << (f->precision - 1) | 1ull << (f->precision - 2);

	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b) ? nan : isnan(a) ? x[1] : x[0];
	if (a == b)
		return (signbit(a) != 0) == !greater ? x[0] : x[1];
	return (a < b) == !greater ? x[0] : x[1];
}

static uint64_t whole(const format *f, uint64_t bits, double lowest, double highest)
{
	const double d = trunc(value(f, bits));

	if (isnan(d))
		return 0;
	return (uint32_t)(int64_t)fmin(fmax(d, lowest), highest);
}

static uint64_t from_number(const format *f, double d)
{
	mpfr_t v;
	uint64_t bits;

	mpfr_init2(v, 64);
	mpfr_set_d(v, d, MPFR_RNDN);
	bits = get_bits(f, v);
	mpfr_clear(v);
	return bits;
}

#define COMPUTED(name, in, to, op)                   \
	uint64_t oracle_##name(const uint64_t x[3])  \
	{                                            \
		return compute(&(in), &(to), op, x); \
	}
#define HALF(t)                                                            \
	COMPUTED(add##t, t, t, op_add)                                     \
	COMPUTED(sub##t, t, t, op_sub)                                     \
	COMPUTED(mul##t, t, t, op_mul)                                     \
	COMPUTED(div##t, t, t, op_div)                                     \
	COMPUTED(sqrt##t, t, t, op_sqrt)                                   \
	COMPUTED(fma##t, t, t, op_fma)                                     \
	COMPUTED(floor##t, t, t, op_floor)                                 \
	COMPUTED(ceil##t, t, t, op_ceil)                                   \
	COMPUTED(trunc##t, t, t, op_trunc)                                 \
	COMPUTED(round##t, t, t, op_round)                                 \
	uint64_t oracle_min##t(const uint64_t x[3])                        \
	{                                                                  \
		return pick(&(t), x, 0);                                   \
	}                                                                  \
	uint64_t oracle_max##t(const uint64_t x[3])                        \
	{                                                                  \
		return pick(&(t), x, 1);                                   \
	}                                                                  \
	uint64_t oracle_eq##t(const uint64_t x[3])                         \
	{                                                                  \
		return value(&(t), x[0]) == value(&(t), x[1]);             \
	}                                                                  \
	uint64_t oracle_lt##t(const uint64_t x[3])                         \
	{                                                                  \
		return value(&(t), x[0]) < value(&(t), x[1]);              \
	}                                                                  \
	uint64_t oracle_le##t(const uint64_t x[3])                         \
	{                                                                  \
		return value(&(t), x[0]) <= value(&(t), x[1]);             \
	}                                                                  \
	uint64_t oracle_to_i32_##t(const uint64_t x[3])                    \
	{                                                                  \
		return whole(&(t), x[0], -0x1p31, 0x1p31 - 1);             \
	}                                                                  \
	uint64_t oracle_to_u32_##t(const uint64_t x[3])                    \
	{                                                                  \
		return whole(&(t), x[0], 0, 0x1p32 - 1);                   \
	}                                                                  \
	uint64_t oracle_from_i32_##t(const uint64_t x[3])                  \
	{                                                                  \
		return from_number(&(t), (double)(int32_t)(uint32_t)x[0]); \
	}                                                                  \
	uint64_t oracle_from_u32_##t(const uint64_t x[3])                  \
	{                                                                  \
		return from_number(&(t), (double)(uint32_t)x[0]);          \
	}

HALF(f16)
HALF(bf16)
COMPUTED(f16_to_f32, f16, f32, op_copy)
COMPUTED(bf16_to_f32, bf16, f32, op_copy)
COMPUTED(f32_to_f16, f32, f16, op_copy)
COMPUTED(f32_to_bf16, f32, bf16, op_copy)
COMPUTED(f16_to_bf16, f16, bf16, op_copy)
COMPUTED(bf16_to_f16, bf16, f16, op_copy)
COMPUTED(f16_to_f64, f16, f64, op_copy)
COMPUTED(bf16_to_f64, bf16, f64, op_copy)
COMPUTED(f64_to_f16, f64, f16, op_copy)
COMPUTED(f64_to_bf16, f64, bf16, op_copy)

/* What the sum of two f64 loses when it is rounded; its zero is +0. */
uint64_t oracle_sum_lost(const uint64_t x[3])
{
	mpfr_t a, b, sum, rounded;
	uint64_t bits;

	mpfr_inits2(BITS, a, b, sum, rounded, (mpfr_ptr)0);
	set_bits(a, &f64, x[0]);
	set_bits(b, &f64, x[1]);
	mpfr_add(sum, a, b, MPFR_RNDN);
	set_bits(rounded, &f64, get_bits(&f64, sum));
	mpfr_sub(sum, sum, rounded, MPFR_RNDN);
	bits = mpfr_zero_p(sum) ? 0 : get_bits(&f64, sum);
	mpfr_clears(a, b, sum, rounded, (mpfr_ptr)0);
	return bits;
}

/* The f64 at or next to the exact sum whose last bit is 1, unless the sum is an f64. */
uint64_t oracle_odd(const uint64_t x[3])
{
	mpfr_t a, b, low;
	uint64_t bits;
	int inexact;

	if (x[1] << 1 == 0)
		return x[0] << 1 > 0xffe0000000000000u ? 0x7ff8000000000000u : x[0];
	mpfr_inits2(BITS, a, b, (mpfr_ptr)0);
	mpfr_init2(low, 53);
	set_bits(a, &f64, x[0]);
	set_bits(b, &f64, x[1]);
	mpfr_add(a, a, b, MPFR_RNDN);
	inexact = mpfr_set(low, a, MPFR_RNDZ);
	bits = get_bits(&f64, low) | (uint64_t)(inexact != 0 && !mpfr_nan_p(low));
	mpfr_clears(a, b, low, (mpfr_ptr)0);
	return bits;
}
