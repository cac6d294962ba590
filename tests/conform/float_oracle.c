/* See float_oracle.h. */
#include "float_oracle.h"

#include <mpfr.h>

#include "rig.h"

#define EXACT 1400 /* bits: every sum of two products of f32 fits */
#define DEEP 160   /* bits for what is irrational */

const float_format float_formats[N_FLOAT_FORMATS] = {
	{"f16", PCTL_SCALAR_F16, 16, 10, 0, 15, 0x7e00},
	{"bf16", PCTL_SCALAR_BF16, 16, 7, 0, 127, 0x7fc0},
	{"f32", PCTL_SCALAR_F32, 32, 23, 0, 127, 0x7fc00000},
};

const float_op float_ops[] = {
	{PCTL_OP_FADD, 2, 0},	{PCTL_OP_FSUB, 2, 0},	{PCTL_OP_FMUL, 2, 0},
	{PCTL_OP_FDIV, 2, 0},	{PCTL_OP_FFMA, 3, 0},	{PCTL_OP_FSQRT, 1, 0},
	{PCTL_OP_FNEG, 1, 0},	{PCTL_OP_FABS, 1, 0},	{PCTL_OP_FMIN, 2, 0},
	{PCTL_OP_FMAX, 2, 0},	{PCTL_OP_FEQ, 2, 1},	{PCTL_OP_FNE, 2, 1},
	{PCTL_OP_FLT, 2, 1},	{PCTL_OP_FLE, 2, 1},	{PCTL_OP_FGT, 2, 1},
	{PCTL_OP_FGE, 2, 1},	{PCTL_OP_FFLOOR, 1, 0}, {PCTL_OP_FCEIL, 1, 0},
	{PCTL_OP_FTRUNC, 1, 0}, {PCTL_OP_FROUND, 1, 0}, {PCTL_OP_FSIN, 1, 0},
	{PCTL_OP_FCOS, 1, 0},	{PCTL_OP_FTAN, 1, 0},	{PCTL_OP_FASIN, 1, 0},
	{PCTL_OP_FACOS, 1, 0},	{PCTL_OP_FATAN, 1, 0},	{PCTL_OP_FATAN2, 2, 0},
	{PCTL_OP_FSINH, 1, 0},	{PCTL_OP_FCOSH, 1, 0},	{PCTL_OP_FTANH, 1, 0},
	{PCTL_OP_FASINH, 1, 0}, {PCTL_OP_FACOSH, 1, 0}, {PCTL_OP_FATANH, 1, 0},
	{PCTL_OP_FEXP, 1, 0},	{PCTL_OP_FEXP2, 1, 0},	{PCTL_OP_FEXP10, 1, 0},
	{PCTL_OP_FLOG, 1, 0},	{PCTL_OP_FLOG2, 1, 0},	{PCTL_OP_FLOG10, 1, 0},
	{PCTL_OP_FPOW, 2, 0},	{PCTL_OP_FRSQRT, 1, 0}, {PCTL_OP_FCBRT, 1, 0},
	{PCTL_OP_FERF, 1, 0},	{PCTL_OP_FERFC, 1, 0},	{PCTL_OP_FLOG1P, 1, 0},
	{PCTL_OP_FEXPM1, 1, 0},
};
const uint32_t n_float_ops = sizeof(float_ops) / sizeof(float_ops[0]);
const uint32_t first_math = 20;

static const float_format *format_of(uint8_t scalar)
{
	for (uint32_t i = 0; i < N_FLOAT_FORMATS; i++)
		if (float_formats[i].scalar == scalar)
			return &float_formats[i];
	return NULL;
}

static uint32_t infinity(const float_format *f)
{
	return (f->nan >> (f->mantissa - 1) << (f->mantissa - 1)) & ~(1u << (f->mantissa - 1));
}

static void decode(const float_format *f, uint32_t bits, mpfr_ptr x)
{
	const uint32_t top = 1u << (f->bits - 1), rest = bits & (top - 1);
	const uint32_t unit = 1u << f->mantissa;

	if (rest > infinity(f)) {
		mpfr_set_nan(x);
		return;
	}
	if (rest == infinity(f))
		mpfr_set_inf(x, 1);
	else if (rest < unit) /* counts the least subnormal */
		mpfr_set_ui_2exp(x, rest, 1 - f->bias - f->mantissa, MPFR_RNDZ);
	else
		mpfr_set_ui_2exp(x, rest % unit + unit, (long)(rest / unit) - f->bias - f->mantissa,
				 MPFR_RNDZ);
	mpfr_setsign(x, x, (bits & top) != 0, MPFR_RNDZ);
}

/* The number x, or when `more` one a little further from zero, rounded to nearest even. */
static uint32_t encode(const float_format *f, mpfr_ptr x, int more)
{
	const uint32_t sign = mpfr_signbit(x) ? 1u << (f->bits - 1) : 0;
	long unit, least = 1 - f->bias - f->mantissa; /* exponents of the last place */
	uint64_t k;
	int side;

	if (mpfr_nan_p(x))
		return f->nan;
	if (mpfr_inf_p(x))
		return sign | infinity(f);
	if (mpfr_zero_p(x))
		return sign;
	if (mpfr_get_exp(x) > f->bias + 2)
		return sign | infinity(f);
	unit = (long)mpfr_get_exp(x) - f->mantissa - 1;
	if (unit < least)
		unit = least;
	mpfr_abs(x, x, MPFR_RNDZ);
	mpfr_div_2si(x, x, unit, MPFR_RNDZ);
	k = mpfr_get_ui(x, MPFR_RNDZ);
	mpfr_sub_ui(x, x, k, MPFR_RNDZ);
	side = mpfr_cmp_d(x, 0.5);
	if (side > 0 || (side == 0 && (more || k % 2)))
		k++;
	k += (uint64_t)(unit - least) << f->mantissa; /* binades below */
	return sign | (k < infinity(f) ? (uint32_t)k : infinity(f));
}

static int unary(uint16_t op, mpfr_ptr z, mpfr_srcptr x)
{
	switch (op) {
	case PCTL_OP_FSQRT:
		return mpfr_sqrt(z, x, MPFR_RNDZ);
	case PCTL_OP_FFLOOR:
		return mpfr_rint_floor(z, x, MPFR_RNDZ);
	case PCTL_OP_FCEIL:
		return mpfr_rint_ceil(z, x, MPFR_RNDZ);
	case PCTL_OP_FTRUNC:
		return mpfr_rint_trunc(z, x, MPFR_RNDZ);
	case PCTL_OP_FROUND:
		return mpfr_rint_roundeven(z, x, MPFR_RNDZ);
	case PCTL_OP_FSIN:
		return mpfr_sin(z, x, MPFR_RNDZ);
	case PCTL_OP_FCOS:
		return mpfr_cos(z, x, MPFR_RNDZ);
	case PCTL_OP_FTAN:
		return mpfr_tan(z, x, MPFR_RNDZ);
	case PCTL_OP_FASIN:
		return mpfr_asin(z, x, MPFR_RNDZ);
	case PCTL_OP_FACOS:
		return mpfr_acos(z, x, MPFR_RNDZ);
	case PCTL_OP_FATAN:
		return mpfr_atan(z, x, MPFR_RNDZ);
	case PCTL_OP_FSINH:
		return mpfr_sinh(z, x, MPFR_RNDZ);
	case PCTL_OP_FCOSH:
		return mpfr_cosh(z, x, MPFR_RNDZ);
	case PCTL_OP_FTANH:
		return mpfr_tanh(z, x, MPFR_RNDZ);
	case PCTL_OP_FASINH:
		return mpfr_asinh(z, x, MPFR_RNDZ);
	case PCTL_OP_FACOSH:
		return mpfr_acosh(z, x, MPFR_RNDZ);
	case PCTL_OP_FATANH:
		return mpfr_atanh(z, x, MPFR_RNDZ);
	case PCTL_OP_FEXP:
		return mpfr_exp(z, x, MPFR_RNDZ);
	case PCTL_OP_FEXP2:
		return mpfr_exp2(z, x, MPFR_RNDZ);
	case PCTL_OP_FEXP10:
		return mpfr_exp10(z, x, MPFR_RNDZ);
	case PCTL_OP_FLOG:
		return mpfr_log(z, x, MPFR_RNDZ);
	case PCTL_OP_FLOG2:
		return mpfr_log2(z, x, MPFR_RNDZ);
	case PCTL_OP_FLOG10:
		return mpfr_log10(z, x, MPFR_RNDZ);
	case PCTL_OP_FCBRT:
		return mpfr_cbrt(z, x, MPFR_RNDZ);
	case PCTL_OP_FERF:
		return mpfr_erf(z, x, MPFR_RNDZ);
	case PCTL_OP_FERFC:
		return mpfr_erfc(z, x, MPFR_RNDZ);
	case PCTL_OP_FLOG1P:
		return mpfr_log1p(z, x, MPFR_RNDZ);
	case PCTL_OP_FEXPM1:
		return mpfr_expm1(z, x, MPFR_RNDZ);
	case PCTL_OP_FRSQRT:
		if (!mpfr_zero_p(x))
			return mpfr_rec_sqrt(z, x, MPFR_RNDZ);
		return mpfr_ui_div(z, 1, x, MPFR_RNDZ); /* an infinity of the zero's sign */
	default:
		fail_msg("no oracle for %s", pctl_op_get(op)->name);
		return 0;
	}
}

static int others(uint16_t op, mpfr_ptr z, mpfr_srcptr a, mpfr_srcptr b, mpfr_srcptr c)
{
	switch (op) {
	case PCTL_OP_FADD:
		return mpfr_add(z, a, b, MPFR_RNDZ);
	case PCTL_OP_FSUB:
		return mpfr_sub(z, a, b, MPFR_RNDZ);
	case PCTL_OP_FMUL:
		return mpfr_mul(z, a, b, MPFR_RNDZ);
	case PCTL_OP_FDIV:
		return mpfr_div(z, a, b, MPFR_RNDZ);
	case PCTL_OP_FFMA:
		return mpfr_fma(z, a, b, c, MPFR_RNDZ);
	case PCTL_OP_FATAN2:
		return mpfr_atan2(z, a, b, MPFR_RNDZ);
	case PCTL_OP_FPOW:
		return mpfr_pow(z, a, b, MPFR_RNDZ);
	default:
		return unary(op, z, a);
	}
}

/* Position on the number line with -0 just below +0. */
static int before(mpfr_srcptr a, mpfr_srcptr b)
{
	if (mpfr_zero_p(a) && mpfr_zero_p(b))
		return mpfr_signbit(a) && !mpfr_signbit(b);
	return mpfr_less_p(a, b);
}

static uint32_t pick(uint16_t op, const float_format *f, const uint32_t *x, mpfr_srcptr a,
		     mpfr_srcptr b)
{
	if (mpfr_nan_p(a) && mpfr_nan_p(b))
		return f->nan;
	if (mpfr_nan_p(a) || mpfr_nan_p(b))
		return mpfr_nan_p(a) ? x[1] : x[0];
	return before(a, b) == (op == PCTL_OP_FMIN) ? x[0] : x[1];
}

static int compare(uint16_t op, mpfr_srcptr a, mpfr_srcptr b)
{
	switch (op) {
	case PCTL_OP_FEQ:
		return mpfr_equal_p(a, b);
	case PCTL_OP_FNE:
		return !mpfr_equal_p(a, b);
	case PCTL_OP_FLT:
		return mpfr_less_p(a, b);
	case PCTL_OP_FLE:
		return mpfr_lessequal_p(a, b);
	case PCTL_OP_FGT:
		return mpfr_greater_p(a, b);
	default:
		return mpfr_greaterequal_p(a, b);
	}
}

uint32_t float_expect(uint16_t op, const float_format *f, const uint32_t *x)
{
	const uint32_t n_args = op == PCTL_OP_FFMA ? 3 : pctl_op_get(op)->args[1] ? 2 : 1;
	const uint32_t top = 1u << (f->bits - 1);
	uint32_t result;
	mpfr_t a, b, c, z;
	int inexact;

	if (op == PCTL_OP_FNEG)
		return x[0] >= top ? x[0] - top : x[0] + top;
	if (op == PCTL_OP_FABS)
		return x[0] >= top ? x[0] - top : x[0];
	mpfr_set_emin(mpfr_get_emin_min());
	mpfr_set_emax(mpfr_get_emax_max());
	mpfr_inits2(24, a, b, c, (mpfr_ptr)NULL);
	mpfr_init2(z,
		   op == PCTL_OP_FADD || op == PCTL_OP_FSUB || op == PCTL_OP_FFMA ? EXACT : DEEP);
	decode(f, x[0], a);
	if (n_args > 1)
		decode(f, x[1], b);
	if (n_args > 2)
		decode(f, x[2], c);
	if (op >= PCTL_OP_FEQ && op <= PCTL_OP_FGE) {
		result = (uint32_t)compare(op, a, b) != 0;
	} else if (op == PCTL_OP_FMIN || op == PCTL_OP_FMAX) {
		result = pick(op, f, x, a, b);
	} else {
		inexact = others(op, z, a, b, c);
		result = encode(f, z, inexact != 0);
	}
	mpfr_clears(a, b, c, z, (mpfr_ptr)NULL);
	return result;
}

uint32_t float_expect_convert(uint8_t from, uint8_t to, uint32_t x)
{
	uint32_t result;
	mpfr_t a;

	mpfr_init2(a, 64);
	if (from == PCTL_SCALAR_I32)
		mpfr_set_si(a, (int32_t)x, MPFR_RNDZ);
	else if (from == PCTL_SCALAR_U32)
		mpfr_set_ui(a, x, MPFR_RNDZ);
	else
		decode(format_of(from), x, a);
	if (format_of(to)) {
		result = encode(format_of(to), a, 0);
	} else if (mpfr_nan_p(a)) {
		result = 0;
	} else {
		const long low = to == PCTL_SCALAR_I32 ? INT32_MIN : 0;
		const long high = to == PCTL_SCALAR_I32 ? INT32_MAX : (long)UINT32_MAX;

		if (mpfr_cmp_si(a, low) < 0)
			mpfr_set_si(a, low, MPFR_RNDZ);
		if (mpfr_cmp_si(a, high) > 0)
			mpfr_set_si(a, high, MPFR_RNDZ);
		result = (uint32_t)mpfr_get_si(a, MPFR_RNDZ);
	}
	mpfr_clear(a);
	return result;
}

void float_oracle_close(void)
{
	mpfr_free_cache();
}

/* By the sign and the two fields: zeros, ends of the subnormals, around one, around where the fraction
 * ends, pi/2, the largest, infinities, NaN quiet and signalling with payloads. */
static uint32_t awkward(const float_format *f, uint32_t i)
{
	const uint32_t m = f->mantissa, one = (uint32_t)f->bias << m, inf = infinity(f);
	const uint32_t magnitudes[] = {0,
				       1,
				       2,
				       3,
				       (1u << m) - 1,
				       1u << m,
				       (1u << m) + 1,
				       one - (1u << m), /* 0.5 */
				       one - 1,
				       one,
				       one + 1,
				       one + (1u << (m - 1)), /* 1.5 */
				       one + (1u << m),
				       one + ((m - 1) << m) + 1,
				       one + (m << m) + 1,
				       one + ((m + 1) << m),
				       one / 2,
				       one / 2 + 1,
				       inf - 2,
				       inf - 1,
				       inf,
				       inf + 1,
				       f->nan,
				       f->nan + 5};
	const uint32_t n = sizeof(magnitudes) / sizeof(magnitudes[0]);

	return magnitudes[i % n] | (i / n % 2 ? 1u << (f->bits - 1) : 0);
}
#define N_AWKWARD 48u

uint32_t float_awkward(const float_format *f, uint32_t n_args)
{
	(void)f;
	return n_args == 1   ? N_AWKWARD
	       : n_args == 2 ? N_AWKWARD * N_AWKWARD
			     : N_AWKWARD * N_AWKWARD * N_AWKWARD;
}

uint32_t float_operand(const float_format *f, uint32_t n_args, uint32_t which, uint32_t i,
		       uint64_t seed)
{
	const uint64_t r = rig_random(seed + which, i), shape = rig_random(seed + 91, i);
	const uint32_t all = f->bits == 32 ? 0xffffffffu : 0xffffu, m = f->mantissa;
	const uint32_t sign = (uint32_t)(r >> 63) << (f->bits - 1);
	const uint32_t fields = infinity(f) >> m;
	uint32_t field, fraction = (uint32_t)r & ((1u << m) - 1);

	if (i < float_awkward(f, n_args)) {
		for (uint32_t k = 0; k < which; k++)
			i /= N_AWKWARD;
		return awkward(f, i % N_AWKWARD);
	}
	switch (shape % 5) {
	case 0: /* any bits */
		return (uint32_t)r & all;
	case 1: /* of nearly one size, so that sums cancel and tie */
		field = (uint32_t)(shape >> 8) % fields + (uint32_t)(r >> 40) % 3;
		break;
	case 2: /* products and quotients near the least normal number */
		field = (uint32_t)f->bias / 2 + (uint32_t)(r >> 40) % (m + 6);
		break;
	case 3: /* few digits, so that results tie */
		field = (uint32_t)f->bias - 4 + (uint32_t)(r >> 40) % 8;
		fraction &= ~((1u << (m / 2)) - 1);
		break;
	default: /* subnormals and their neighbours */
		field = (uint32_t)(r >> 40) % 3;
		break;
	}
	return sign | (field < fields ? field : fields) << m | fraction;
}
