/* Elementary functions of strict floats; see elementary.h. MPFR evaluates at the format's own precision
 * and exponent range, so that its one rounding is the only one, subnormal results included. Operands
 * and results change form by integer operations alone. */
#include "kernels/elementary.h"

#include "pipectl/program.h"

#include <mpfr.h>

/* mantissa: stored bits of the significand; bias: of the exponent. Both in the low bits of a word. */
typedef struct format {
	uint32_t mantissa;
	uint32_t bits;
	int32_t bias;
} format;

static const format formats[] = {[PCTL_SCALAR_F16] = {10, 16, 15},
				 [PCTL_SCALAR_F32] = {23, 32, 127},
				 [PCTL_SCALAR_BF16] = {7, 16, 127}};

typedef int one_operand(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t rnd);
typedef int two_operands(mpfr_ptr z, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t rnd);

/* IEEE 754 has 1/sqrt(-0) = -Inf, MPFR +Inf. */
static int rsqrt(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t rnd)
{
	if (!mpfr_zero_p(x))
		return mpfr_rec_sqrt(y, x, rnd);
	mpfr_set_inf(y, mpfr_signbit(x) ? -1 : 1);
	return 0;
}

static one_operand *find_one(uint32_t op)
{
	switch (op) {
	case PCTL_OP_FSIN:
		return mpfr_sin;
	case PCTL_OP_FCOS:
		return mpfr_cos;
	case PCTL_OP_FTAN:
		return mpfr_tan;
	case PCTL_OP_FASIN:
		return mpfr_asin;
	case PCTL_OP_FACOS:
		return mpfr_acos;
	case PCTL_OP_FATAN:
		return mpfr_atan;
	case PCTL_OP_FSINH:
		return mpfr_sinh;
	case PCTL_OP_FCOSH:
		return mpfr_cosh;
	case PCTL_OP_FTANH:
		return mpfr_tanh;
	case PCTL_OP_FASINH:
		return mpfr_asinh;
	case PCTL_OP_FACOSH:
		return mpfr_acosh;
	case PCTL_OP_FATANH:
		return mpfr_atanh;
	case PCTL_OP_FEXP:
		return mpfr_exp;
	case PCTL_OP_FEXP2:
		return mpfr_exp2;
	case PCTL_OP_FEXP10:
		return mpfr_exp10;
	case PCTL_OP_FLOG:
		return mpfr_log;
	case PCTL_OP_FLOG2:
		return mpfr_log2;
	case PCTL_OP_FLOG10:
		return mpfr_log10;
	case PCTL_OP_FRSQRT:
		return rsqrt;
	case PCTL_OP_FCBRT:
		return mpfr_cbrt;
	case PCTL_OP_FERF:
		return mpfr_erf;
	case PCTL_OP_FERFC:
		return mpfr_erfc;
	case PCTL_OP_FLOG1P:
		return mpfr_log1p;
	case PCTL_OP_FEXPM1:
		return mpfr_expm1;
	default:
		return NULL;
	}
}

static two_operands *find_two(uint32_t op)
{
	switch (op) {
	case PCTL_OP_FATAN2:
		return mpfr_atan2;
	case PCTL_OP_FPOW:
		return mpfr_pow;
	default:
		return NULL;
	}
}

/* x has the format's precision and range, so this is exact. Every NaN is the same NaN. */
static void from_bits(const format *f, uint32_t bits, mpfr_ptr x)
{
	const uint32_t top = (2u << (f->bits - f->mantissa - 2)) - 1;
	const uint32_t field = bits >> f->mantissa & top,
		       fraction = bits & ((1u << f->mantissa) - 1);
	const int negative = (int)(bits >> (f->bits - 1));

	if (field == top && fraction)
		mpfr_set_nan(x);
	else if (field == top)
		mpfr_set_inf(x, negative ? -1 : 1);
	else if (field == 0 && fraction == 0)
		mpfr_set_zero(x, negative ? -1 : 1);
	else
		mpfr_set_ui_2exp(x, field ? fraction | 1u << f->mantissa : fraction,
				 (field ? (int32_t)field : 1) - f->bias - (int32_t)f->mantissa,
				 MPFR_RNDN);
	if (negative && mpfr_regular_p(x))
		mpfr_neg(x, x, MPFR_RNDN);
}

/* x is a number of the format. */
static uint32_t to_bits(const format *f, mpfr_srcptr x)
{
	const uint32_t inf = (2u * (uint32_t)f->bias + 1) << f->mantissa;
	const uint32_t sign = mpfr_signbit(x) ? 1u << (f->bits - 1) : 0;
	uint32_t significand;
	double half_to_one;
	long exponent;

	if (mpfr_nan_p(x))
		return inf | 1u << (f->mantissa - 1);
	if (mpfr_inf_p(x))
		return sign | inf;
	if (mpfr_zero_p(x))
		return sign;
	half_to_one = mpfr_get_d_2exp(&exponent, x, MPFR_RNDZ); /* exact */
	significand = (uint32_t)((half_to_one < 0 ? -half_to_one : half_to_one) *
				 (double)(2u << f->mantissa));
	exponent += f->bias - 1; /* the field of a normal number */
	if (exponent < 1)
		return sign | significand >> (1 - exponent);
	return sign | ((((uint32_t)exponent - 1) << f->mantissa) + significand);
}

void pctl_cpu_elementary(uint32_t op, uint32_t scalar, const uint32_t *mask, uint32_t lo,
			 uint32_t hi, uint32_t *d, const uint32_t *a, const uint32_t *b)
{
	const format *f = &formats[scalar];
	const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
	one_operand *const one = find_one(op);
	two_operands *const two = find_two(op);
	const mpfr_flags_t flags = mpfr_flags_save();
	mpfr_t x, y, z;

	mpfr_inits2((mpfr_prec_t)f->mantissa + 1, x, y, z, (mpfr_ptr)NULL);
	/* MPFR's numbers are 0.1.. * 2^e: the largest has e = bias + 1, the least subnormal this. */
	mpfr_set_emin(2 - f->bias - (int32_t)f->mantissa);
	mpfr_set_emax(f->bias + 1);
	for (uint32_t i = lo; i < hi; i++) {
		int inexact;

		if (!mask[i])
			continue;
		from_bits(f, a[i], x);
		if (two) {
			from_bits(f, b[i], y);
			inexact = two(z, x, y, MPFR_RNDN);
		} else {
			inexact = one(z, x, MPFR_RNDN);
		}
		mpfr_subnormalize(z, inexact, MPFR_RNDN);
		d[i] = to_bits(f, z);
	}
	mpfr_clears(x, y, z, (mpfr_ptr)NULL);
	mpfr_set_emin(emin);
	mpfr_set_emax(emax);
	mpfr_flags_restore(flags, MPFR_FLAGS_ALL);
}

void pctl_cpu_elementary_forget(void)
{
	mpfr_free_cache();
}

int pctl_cpu_elementary_threads(void)
{
	return mpfr_buildopt_tls_p();
}
