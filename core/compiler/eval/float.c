/* Strict float operations by MPFR. Each is rounded at the format's precision with MPFR's own wide
 * exponents and then fitted into the format's, with the ternary value guarding against a second
 * rounding. */
#include <string.h>

#include "compiler/eval/float_mpfr.h"

static const pctl_float_format formats[] = {
	[PCTL_SCALAR_F16] = {16, 10, -23, 16},
	[PCTL_SCALAR_F32] = {32, 23, -148, 128},
	[PCTL_SCALAR_BF16] = {16, 7, -132, 128},
	[PCTL_SCALAR_F64] = {64, 52, -1073, 1024},
};

const pctl_float_format *pctl_float_format_of(uint8_t scalar)
{
	if (scalar >= sizeof(formats) / sizeof(formats[0]) || !formats[scalar].bits)
		return NULL;
	return &formats[scalar];
}

static uint64_t sign_of(const pctl_float_format *f)
{
	return 1ull << (f->bits - 1);
}

static uint64_t infinity_of(const pctl_float_format *f)
{
	return sign_of(f) - (1ull << f->fraction);
}

static uint64_t nan_of(const pctl_float_format *f)
{
	return infinity_of(f) | 1ull << (f->fraction - 1);
}

static int is_nan(const pctl_float_format *f, uint64_t bits)
{
	return (bits & (sign_of(f) - 1)) > infinity_of(f);
}

int pctl_float_is(uint8_t scalar)
{
	return pctl_float_format_of(scalar) != NULL;
}

uint64_t pctl_float_nan(uint8_t scalar)
{
	const pctl_float_format *f = pctl_float_format_of(scalar);

	return f ? nan_of(f) : 0;
}

int pctl_float_kind(uint8_t scalar, uint64_t bits)
{
	const pctl_float_format *f = pctl_float_format_of(scalar);

	if (!f)
		return PCTL_FLOAT_FINITE;
	if (is_nan(f, bits))
		return PCTL_FLOAT_NAN;
	return (bits & (sign_of(f) - 1)) == infinity_of(f) ? PCTL_FLOAT_INFINITE
							   : PCTL_FLOAT_FINITE;
}

/* Far beyond every format and every number that can be written, on every machine MPFR runs on. */
#define EXPONENT_MAX (((mpfr_exp_t)1 << 30) - 1)

pctl_float_range pctl_float_enter(void)
{
	const pctl_float_range range = {mpfr_get_emin(), mpfr_get_emax()};

	mpfr_set_emin(-EXPONENT_MAX);
	mpfr_set_emax(EXPONENT_MAX);
	return range;
}

void pctl_float_leave(pctl_float_range range)
{
	mpfr_set_emin(range.emin);
	mpfr_set_emax(range.emax);
	mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE);
}

void pctl_float_init(const pctl_float_format *f, mpfr_ptr x)
{
	mpfr_init2(x, (mpfr_prec_t)f->fraction + 1);
}

void pctl_float_load(const pctl_float_format *f, uint64_t bits, mpfr_ptr x)
{
	const uint64_t magnitude = bits & (sign_of(f) - 1);
	const uint64_t biased = magnitude >> f->fraction;
	uint64_t significand = magnitude & ((1ull << f->fraction) - 1);

	if (magnitude > infinity_of(f)) {
		mpfr_set_nan(x);
		return;
	}
	if (magnitude == infinity_of(f)) {
		mpfr_set_inf(x, 1);
	} else {
		if (biased)
			significand |= 1ull << f->fraction;
		/* the unit of the significand is the least subnormal, 2^(emin - 1), times
		 * 2^(biased - 1) */
		mpfr_set_uj_2exp(x, significand,
				 (intmax_t)f->emin - 1 + (biased ? (intmax_t)biased - 1 : 0),
				 MPFR_RNDN);
	}
	mpfr_setsign(x, x, bits & sign_of(f) ? 1 : 0, MPFR_RNDN);
}

/* The bits of a number that is one of the format's. */
static uint64_t pack(const pctl_float_format *f, mpfr_ptr x)
{
	const mpfr_exp_t least_normal = f->emin + (mpfr_exp_t)f->fraction;
	const uint64_t sign = mpfr_signbit(x) ? sign_of(f) : 0;
	mpfr_exp_t exponent;
	uint64_t above;

	if (mpfr_nan_p(x))
		return nan_of(f);
	if (mpfr_inf_p(x))
		return sign | infinity_of(f);
	if (mpfr_zero_p(x))
		return sign;
	exponent = mpfr_get_exp(x);
	if (exponent < least_normal)
		exponent = least_normal;
	above = (uint64_t)(exponent - least_normal);
	mpfr_abs(x, x, MPFR_RNDN);
	mpfr_mul_2si(x, x, (long)((mpfr_exp_t)f->fraction + 1 - exponent), MPFR_RNDN);
	/* the implied bit, where there is one, counts the exponent up by one */
	return sign | ((above << f->fraction) + mpfr_get_uj(x, MPFR_RNDN));
}

uint64_t pctl_float_store(const pctl_float_format *f, mpfr_ptr x, int *ternary)
{
	const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();

	mpfr_set_emin(f->emin);
	mpfr_set_emax(f->emax);
	*ternary = mpfr_check_range(x, *ternary, MPFR_RNDN);
	*ternary = mpfr_subnormalize(x, *ternary, MPFR_RNDN);
	mpfr_set_emin(emin);
	mpfr_set_emax(emax);
	return pack(f, x);
}

/* ---- operations ---- */

typedef int (*unary)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

/* Those that MPFR has under a function of one argument; its special cases are the standard's. */
static unary unary_of(uint16_t op)
{
	static const unary table[] = {
		[PCTL_OP_FSIN - PCTL_OP_FSIN] = mpfr_sin,
		[PCTL_OP_FCOS - PCTL_OP_FSIN] = mpfr_cos,
		[PCTL_OP_FTAN - PCTL_OP_FSIN] = mpfr_tan,
		[PCTL_OP_FASIN - PCTL_OP_FSIN] = mpfr_asin,
		[PCTL_OP_FACOS - PCTL_OP_FSIN] = mpfr_acos,
		[PCTL_OP_FATAN - PCTL_OP_FSIN] = mpfr_atan,
		[PCTL_OP_FSINH - PCTL_OP_FSIN] = mpfr_sinh,
		[PCTL_OP_FCOSH - PCTL_OP_FSIN] = mpfr_cosh,
		[PCTL_OP_FTANH - PCTL_OP_FSIN] = mpfr_tanh,
		[PCTL_OP_FASINH - PCTL_OP_FSIN] = mpfr_asinh,
		[PCTL_OP_FACOSH - PCTL_OP_FSIN] = mpfr_acosh,
		[PCTL_OP_FATANH - PCTL_OP_FSIN] = mpfr_atanh,
		[PCTL_OP_FEXP - PCTL_OP_FSIN] = mpfr_exp,
		[PCTL_OP_FEXP2 - PCTL_OP_FSIN] = mpfr_exp2,
		[PCTL_OP_FEXP10 - PCTL_OP_FSIN] = mpfr_exp10,
		[PCTL_OP_FLOG - PCTL_OP_FSIN] = mpfr_log,
		[PCTL_OP_FLOG2 - PCTL_OP_FSIN] = mpfr_log2,
		[PCTL_OP_FLOG10 - PCTL_OP_FSIN] = mpfr_log10,
		[PCTL_OP_FRSQRT - PCTL_OP_FSIN] = mpfr_rec_sqrt,
		[PCTL_OP_FCBRT - PCTL_OP_FSIN] = mpfr_cbrt,
		[PCTL_OP_FERF - PCTL_OP_FSIN] = mpfr_erf,
		[PCTL_OP_FERFC - PCTL_OP_FSIN] = mpfr_erfc,
		[PCTL_OP_FLOG1P - PCTL_OP_FSIN] = mpfr_log1p,
		[PCTL_OP_FEXPM1 - PCTL_OP_FSIN] = mpfr_expm1,
	};

	if (op < PCTL_OP_FSIN || op - PCTL_OP_FSIN >= (int)(sizeof(table) / sizeof(table[0])))
		return NULL;
	return table[op - PCTL_OP_FSIN];
}

/* The operation on numbers of one precision; *known is cleared for an opcode that is not here. */
static int operate(uint16_t op, mpfr_ptr r, mpfr_ptr *a, int *known)
{
	const unary f = unary_of(op);

	if (op == PCTL_OP_FRSQRT && mpfr_zero_p(a[0])) {
		mpfr_set_inf(r, mpfr_signbit(a[0]) ? -1 : 1); /* MPFR has +Inf for -0 too */
		return 0;
	}
	if (f)
		return f(r, a[0], MPFR_RNDN);
	switch (op) {
	case PCTL_OP_FADD:
		return mpfr_add(r, a[0], a[1], MPFR_RNDN);
	case PCTL_OP_FSUB:
		return mpfr_sub(r, a[0], a[1], MPFR_RNDN);
	case PCTL_OP_FMUL:
		return mpfr_mul(r, a[0], a[1], MPFR_RNDN);
	case PCTL_OP_FDIV:
		return mpfr_div(r, a[0], a[1], MPFR_RNDN);
	case PCTL_OP_FFMA:
		return mpfr_fma(r, a[0], a[1], a[2], MPFR_RNDN);
	case PCTL_OP_FSQRT:
		return mpfr_sqrt(r, a[0], MPFR_RNDN);
	case PCTL_OP_FFLOOR:
		return mpfr_rint(r, a[0], MPFR_RNDD), 0;
	case PCTL_OP_FCEIL:
		return mpfr_rint(r, a[0], MPFR_RNDU), 0;
	case PCTL_OP_FTRUNC:
		return mpfr_rint(r, a[0], MPFR_RNDZ), 0;
	case PCTL_OP_FROUND:
		return mpfr_rint(r, a[0], MPFR_RNDN), 0;
	case PCTL_OP_FATAN2:
		return mpfr_atan2(r, a[0], a[1], MPFR_RNDN);
	case PCTL_OP_FPOW:
		return mpfr_pow(r, a[0], a[1], MPFR_RNDN);
	default:
		*known = 0;
		return 0;
	}
}

static int arithmetic(uint16_t op, const pctl_float_format *f, const uint64_t *args, uint64_t *out)
{
	const uint32_t n = (uint32_t)strlen(pctl_op_get(op)->args);
	mpfr_t r, x[3];
	mpfr_ptr a[3];
	const pctl_float_range range = pctl_float_enter();
	int known = 1, ternary;
	uint32_t i;

	pctl_float_init(f, r);
	for (i = 0; i < 3; i++) {
		a[i] = x[i];
		pctl_float_init(f, a[i]);
		if (i < n)
			pctl_float_load(f, args[i], a[i]);
	}
	ternary = operate(op, r, a, &known);
	if (known)
		*out = pctl_float_store(f, r, &ternary);
	for (i = 0; i < 3; i++)
		mpfr_clear(a[i]);
	mpfr_clear(r);
	pctl_float_leave(range);
	return known;
}

/* A number that orders floats other than NaN; both zeros are 0. */
static int64_t key_of(const pctl_float_format *f, uint64_t bits)
{
	const int64_t magnitude = (int64_t)(bits & (sign_of(f) - 1));

	return bits & sign_of(f) ? -magnitude : magnitude;
}

static int compare(uint16_t op, const pctl_float_format *f, const uint64_t *args, uint64_t *out)
{
	const int64_t a = key_of(f, args[0]), b = key_of(f, args[1]);
	const int unordered = is_nan(f, args[0]) || is_nan(f, args[1]);

	switch (op) {
	case PCTL_OP_FEQ:
		*out = !unordered && a == b;
		return 1;
	case PCTL_OP_FNE:
		*out = unordered || a != b;
		return 1;
	case PCTL_OP_FLT:
		*out = !unordered && a < b;
		return 1;
	case PCTL_OP_FLE:
		*out = !unordered && a <= b;
		return 1;
	case PCTL_OP_FGT:
		*out = !unordered && a > b;
		return 1;
	default: /* FGE */
		*out = !unordered && a >= b;
		return 1;
	}
}

static uint64_t choose(uint16_t op, const pctl_float_format *f, uint64_t a, uint64_t b)
{
	const int64_t ka = key_of(f, a), kb = key_of(f, b);

	if (is_nan(f, a))
		return is_nan(f, b) ? nan_of(f) : b;
	if (is_nan(f, b))
		return a;
	if (ka == kb) /* the same number, or zeros: min takes the sign if any has it */
		return op == PCTL_OP_FMIN ? a | b : a & b;
	return (ka < kb) == (op == PCTL_OP_FMIN) ? a : b;
}

/* ---- conversions ---- */

static int is_signed(uint8_t scalar)
{
	return scalar == PCTL_SCALAR_I32 || scalar == PCTL_SCALAR_I64;
}

/* MPFR saturates at 64 bits by itself. */
static uint64_t to_int(const pctl_float_format *f, uint8_t scalar, uint64_t bits)
{
	const int is_word = scalar == PCTL_SCALAR_I32 || scalar == PCTL_SCALAR_U32;
	pctl_float_range range;
	uint64_t value;
	mpfr_t x;

	if (is_nan(f, bits))
		return 0;
	range = pctl_float_enter();
	pctl_float_init(f, x);
	pctl_float_load(f, bits, x);
	if (is_signed(scalar)) {
		intmax_t n = mpfr_get_sj(x, MPFR_RNDZ);

		if (is_word && n < INT32_MIN)
			n = INT32_MIN;
		if (is_word && n > INT32_MAX)
			n = INT32_MAX;
		value = (uint64_t)n;
	} else {
		value = mpfr_get_uj(x, MPFR_RNDZ);
		if (is_word && value > UINT32_MAX)
			value = UINT32_MAX;
	}
	mpfr_clear(x);
	pctl_float_leave(range);
	return is_word ? (uint32_t)value : value;
}

static uint64_t from_int(const pctl_float_format *f, uint8_t scalar, uint64_t bits)
{
	const pctl_float_range range = pctl_float_enter();
	uint64_t out;
	int ternary;
	mpfr_t x;

	if (scalar == PCTL_SCALAR_I32)
		bits = (uint64_t)(int64_t)(int32_t)(uint32_t)bits;
	if (scalar == PCTL_SCALAR_U32)
		bits = (uint32_t)bits;
	pctl_float_init(f, x);
	ternary = is_signed(scalar) ? mpfr_set_sj(x, (intmax_t)(int64_t)bits, MPFR_RNDN)
				    : mpfr_set_uj(x, bits, MPFR_RNDN);
	out = pctl_float_store(f, x, &ternary);
	mpfr_clear(x);
	pctl_float_leave(range);
	return out;
}

static uint64_t between(const pctl_float_format *from, const pctl_float_format *to, uint64_t bits)
{
	const pctl_float_range range = pctl_float_enter();
	uint64_t out;
	int ternary;
	mpfr_t x, y;

	pctl_float_init(from, x);
	pctl_float_init(to, y);
	pctl_float_load(from, bits, x);
	ternary = mpfr_set(y, x, MPFR_RNDN);
	out = pctl_float_store(to, y, &ternary);
	mpfr_clear(x);
	mpfr_clear(y);
	pctl_float_leave(range);
	return out;
}

/* 64-bit integers are converted from and to f64 alone. */
static int is_int(uint8_t scalar, uint8_t other)
{
	return scalar == PCTL_SCALAR_I32 || scalar == PCTL_SCALAR_U32 ||
	       ((scalar == PCTL_SCALAR_I64 || scalar == PCTL_SCALAR_U64) &&
		other == PCTL_SCALAR_F64);
}

static int convert(uint8_t result, uint8_t operand, uint64_t bits, uint64_t *out)
{
	const pctl_float_format *from = pctl_float_format_of(operand);
	const pctl_float_format *to = pctl_float_format_of(result);

	if (from && to)
		*out = between(from, to, bits);
	else if (from && is_int(result, operand))
		*out = to_int(from, result, bits);
	else if (to && is_int(operand, result))
		*out = from_int(to, operand, bits);
	else
		return 0;
	return 1;
}

int pctl_float_from_f64(uint8_t scalar, double x, uint64_t *out)
{
	const pctl_float_format *to = pctl_float_format_of(scalar);
	uint64_t bits;

	*out = 0;
	if (!to)
		return 0;
	memcpy(&bits, &x, sizeof(bits));
	*out = between(&formats[PCTL_SCALAR_F64], to, bits);
	return 1;
}

int pctl_float_to_f64(uint8_t scalar, uint64_t bits, double *out)
{
	const pctl_float_format *from = pctl_float_format_of(scalar);
	uint64_t wide;

	*out = 0;
	if (!from)
		return 0;
	wide = between(from, &formats[PCTL_SCALAR_F64], bits);
	memcpy(out, &wide, sizeof(*out));
	return 1;
}

int pctl_float_eval(uint16_t op, uint8_t result, uint8_t operand, const uint64_t *args,
		    uint64_t *out)
{
	const pctl_float_format *f = pctl_float_format_of(operand);

	*out = 0;
	if (!PCTL_IS_STRICT(op) || !pctl_op_get(op)->name)
		return 0;
	if (op == PCTL_OP_FCONVERT)
		return convert(result, operand, args[0], out);
	if (!f)
		return 0;
	if (op >= PCTL_OP_FEQ && op <= PCTL_OP_FGE)
		return result == PCTL_SCALAR_BOOL && compare(op, f, args, out);
	if (result != operand)
		return 0;
	switch (op) {
	case PCTL_OP_FNEG:
		*out = args[0] ^ sign_of(f);
		return 1;
	case PCTL_OP_FABS:
		*out = args[0] & ~sign_of(f);
		return 1;
	case PCTL_OP_FMIN:
	case PCTL_OP_FMAX:
		*out = choose(op, f, args[0], args[1]);
		return 1;
	default:
		return arithmetic(op, f, args, out);
	}
}
