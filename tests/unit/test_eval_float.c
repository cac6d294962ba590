/* The host's float evaluator against values from elsewhere: known bits, the host's own IEEE
 * hardware, a search over all values of f16, and glibc's double functions where those settle the
 * rounding. */
#include <math.h>
#include <stdlib.h>

#include <mpfr.h>

#include "compiler/eval/eval.h"
#include "compiler/eval/float.h"
#include "main.h"

#define F16 PCTL_SCALAR_F16
#define BF16 PCTL_SCALAR_BF16
#define F32 PCTL_SCALAR_F32
#define F64 PCTL_SCALAR_F64

#define EVAL(scalar, op, a, b, c) eval(PCTL_OP_##op, scalar, scalar, a, b, c)
#define NAN32 0x7fc00000u
#define INF32 0x7f800000u

static uint64_t eval(uint16_t op, uint8_t result, uint8_t operand, uint64_t a, uint64_t b,
		     uint64_t c)
{
	const uint64_t args[3] = {a, b, c};
	uint64_t out = 0xdead, forwarded = 0;

	assert_true(pctl_float_eval(op, result, operand, args, &out));
	assert_true(pctl_eval(op, result, operand, args, &forwarded));
	assert_int_equal(out, forwarded);
	return out;
}

/* Numbers from a counter, so that a failure can be repeated. */
static uint32_t random_word(uint32_t i)
{
	uint64_t z = (i + 1) * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (uint32_t)(z >> 32);
}

static float f32_of(uint64_t bits)
{
	const uint32_t word = (uint32_t)bits;
	float x;

	memcpy(&x, &word, 4);
	return x;
}

static uint64_t bits_of(float x)
{
	uint32_t word;

	memcpy(&word, &x, 4);
	return x != x ? NAN32 : word;
}

/* ---- known bits ---- */

static void test_float__contraction_witness(void **state)
{
	const uint64_t a = 0x3f800800, one = 0xbf800000;

	(void)state;
	assert_int_equal(EVAL(F32, FADD, EVAL(F32, FMUL, a, a, 0), one, 0), 0x3a000000);
	assert_int_equal(EVAL(F32, FFMA, a, a, one), 0x3a000400);
}

static void test_float__nan_is_canonical(void **state)
{
	(void)state;
	assert_int_equal(EVAL(F32, FADD, 0xff812345, 0x3f800000, 0), NAN32);
	assert_int_equal(EVAL(F32, FDIV, 0, 0x80000000, 0), NAN32);
	assert_int_equal(EVAL(F32, FSUB, INF32, INF32, 0), NAN32);
	assert_int_equal(EVAL(F32, FSQRT, 0xbf800000, 0, 0), NAN32);
	assert_int_equal(EVAL(F32, FFLOOR, 0xff800001, 0, 0), NAN32);
	assert_int_equal(EVAL(F16, FADD, 0xfc01, 0, 0), 0x7e00);
	assert_int_equal(EVAL(BF16, FMUL, 0x7f80, 0, 0), 0x7fc0);
	/* but negate and abs move bits */
	assert_int_equal(EVAL(F32, FNEG, NAN32, 0, 0), 0xffc00000);
	assert_int_equal(EVAL(F32, FABS, 0xff812345, 0, 0), 0x7f812345);
	assert_int_equal(EVAL(F16, FNEG, 0x0001, 0, 0), 0x8001);
	assert_int_equal(EVAL(BF16, FABS, 0x8001, 0, 0), 0x0001);
}

static void test_float__min_max(void **state)
{
	(void)state;
	assert_int_equal(EVAL(F32, FMIN, 0, 0x80000000, 0), 0x80000000);
	assert_int_equal(EVAL(F32, FMAX, 0x80000000, 0, 0), 0);
	assert_int_equal(EVAL(F32, FMIN, 0xff800001, 0x40000000, 0), 0x40000000);
	assert_int_equal(EVAL(F32, FMAX, 0x40000000, NAN32, 0), 0x40000000);
	assert_int_equal(EVAL(F32, FMIN, 0xff800001, 0x7f800001, 0), NAN32);
	assert_int_equal(EVAL(F32, FMAX, 0xff800000, INF32, 0), INF32);
	assert_int_equal(EVAL(F32, FMIN, 0x80000001, 0x80000002, 0), 0x80000002);
	assert_int_equal(EVAL(F16, FMAX, 0xfc00, 0xfbff, 0), 0xfbff);
}

static void test_float__comparisons(void **state)
{
	static const uint16_t ops[] = {PCTL_OP_FEQ, PCTL_OP_FNE, PCTL_OP_FLT,
				       PCTL_OP_FLE, PCTL_OP_FGT, PCTL_OP_FGE};
	/* a, b and the answers in the order of ops */
	static const uint64_t rows[][8] = {
		{0, 0x80000000, 1, 0, 0, 1, 0, 1},	    {NAN32, NAN32, 0, 1, 0, 0, 0, 0},
		{0x3f800000, 0xff800001, 0, 1, 0, 0, 0, 0}, {0x80000001, 1, 0, 1, 1, 1, 0, 0},
		{0xff800000, 0xff7fffff, 0, 1, 1, 1, 0, 0}, {INF32, INF32, 1, 0, 0, 1, 0, 1},
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (k = 0; k < 6; k++)
			assert_int_equal(
				eval(ops[k], PCTL_SCALAR_BOOL, F32, rows[i][0], rows[i][1], 0),
				rows[i][2 + k]);
}

static void test_float__roundings_keep_the_sign(void **state)
{
	/* x, floor, ceil, trunc, round of halves and near them */
	static const float rows[][5] = {
		{-0.3f, -1, -0.0f, -0.0f, -0.0f},
		{0.5f, 0, 1, 0, 0},
		{1.5f, 1, 2, 1, 2},
		{2.5f, 2, 3, 2, 2},
		{-2.5f, -3, -2, -2, -2},
		{0x1.fffffep-2f, 0, 1, 0, 0},
		{8388607.5f, 8388607, 8388608, 8388607, 8388608},
		{-0.0f, -0.0f, -0.0f, -0.0f, -0.0f},
		{0x1p-149f, 0, 1, 0, 0},
	};
	static const uint16_t ops[] = {PCTL_OP_FFLOOR, PCTL_OP_FCEIL, PCTL_OP_FTRUNC,
				       PCTL_OP_FROUND};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (k = 0; k < 4; k++)
			assert_int_equal(eval(ops[k], F32, F32, bits_of(rows[i][0]), 0, 0),
					 bits_of(rows[i][1 + k]));
	assert_int_equal(EVAL(F32, FCEIL, 0xff800000, 0, 0), 0xff800000);
}

static void test_float__special_cases_of_the_standard(void **state)
{
	const uint64_t one = 0x3f800000, nil = 0x80000000, pi = 0x40490fdb;

	(void)state;
	assert_int_equal(EVAL(F32, FPOW, 0xff800001, 0, 0), one);
	assert_int_equal(EVAL(F32, FPOW, NAN32, nil, 0), one);
	assert_int_equal(EVAL(F32, FPOW, one, NAN32, 0), one);
	assert_int_equal(EVAL(F32, FPOW, 0xc1000000, 0x40400000, 0), 0xc4000000); /* -8^3 */
	assert_int_equal(EVAL(F32, FPOW, 0xbf800000, INF32, 0), one);
	assert_int_equal(EVAL(F32, FPOW, nil, 0xbf800000, 0), 0xff800000);
	assert_int_equal(EVAL(F32, FPOW, nil, 0xc0000000, 0), INF32);
	assert_int_equal(EVAL(F32, FPOW, 0xc0000000, 0x3f000000, 0), NAN32);
	assert_int_equal(EVAL(F32, FATAN2, 0, nil, 0), pi);
	assert_int_equal(EVAL(F32, FATAN2, nil, nil, 0), pi | nil);
	assert_int_equal(EVAL(F32, FATAN2, nil, 0, 0), nil);
	assert_int_equal(EVAL(F32, FATAN2, INF32, 0xff800000, 0), 0x4016cbe4); /* 3 pi / 4 */
	assert_int_equal(EVAL(F32, FATAN2, one, NAN32, 0), NAN32);
	assert_int_equal(EVAL(F32, FRSQRT, nil, 0, 0), 0xff800000);
	assert_int_equal(EVAL(F32, FRSQRT, 0, 0, 0), INF32);
	assert_int_equal(EVAL(F32, FRSQRT, INF32, 0, 0), 0);
	assert_int_equal(EVAL(F32, FSQRT, nil, 0, 0), nil);
	assert_int_equal(EVAL(F32, FLOG, nil, 0, 0), 0xff800000);
	assert_int_equal(EVAL(F32, FLOG2, one, 0, 0), 0);
	assert_int_equal(EVAL(F32, FLOG10, 0xbf800000, 0, 0), NAN32);
	assert_int_equal(EVAL(F32, FATANH, 0xbf800000, 0, 0), 0xff800000);
	assert_int_equal(EVAL(F32, FACOSH, one, 0, 0), 0);
	assert_int_equal(EVAL(F32, FSIN, nil, 0, 0), nil);
	assert_int_equal(EVAL(F32, FCOS, INF32, 0, 0), NAN32);
	assert_int_equal(EVAL(F32, FEXP, 0xff800000, 0, 0), 0);
	assert_int_equal(EVAL(F32, FCBRT, 0xc1d80000, 0, 0), 0xc0400000); /* -27 */
	assert_int_equal(EVAL(F32, FEXP10, 0x40000000, 0, 0), 0x42c80000);
	assert_int_equal(EVAL(F32, FACOS, one, 0, 0), 0);
	assert_int_equal(EVAL(F32, FTANH, 0xff800000, 0, 0), 0xbf800000);
	assert_int_equal(EVAL(F32, FERF, nil, 0, 0), nil);
	assert_int_equal(EVAL(F32, FERF, 0xff800000, 0, 0), 0xbf800000);
	assert_int_equal(EVAL(F32, FERFC, INF32, 0, 0), 0);
	assert_int_equal(EVAL(F32, FERFC, 0xff800000, 0, 0), 0x40000000);
	assert_int_equal(EVAL(F32, FLOG1P, nil, 0, 0), nil);
	assert_int_equal(EVAL(F32, FLOG1P, 0xbf800000, 0, 0), 0xff800000);
	assert_int_equal(EVAL(F32, FLOG1P, 0xbf800001, 0, 0), NAN32);
	assert_int_equal(EVAL(F32, FEXPM1, nil, 0, 0), nil);
	assert_int_equal(EVAL(F32, FEXPM1, 0xff800000, 0, 0), 0xbf800000);
	/* subnormal and overflowing results */
	assert_int_equal(EVAL(F32, FEXP2, 0xc3150000, 0, 0), 1); /* -149 */
	assert_int_equal(EVAL(F32, FEXP2, 0xc3160000, 0, 0), 0); /* -150: a tie, to even */
	assert_int_equal(EVAL(F32, FEXP2, 0xc315ffff, 0, 0), 1); /* a little above it */
	assert_int_equal(EVAL(F32, FEXP, 0xc2c80000, 0, 0), 27); /* 3.78e-44 */
	assert_int_equal(EVAL(F32, FEXP, 0x42b17218, 0, 0), INF32);
	assert_int_equal(EVAL(F32, FEXP, 0x42b17217, 0, 0), 0x7f7fff84);
	assert_int_equal(EVAL(F32, FSINH, 1, 0, 0), 1);
}

static void test_float__conversions(void **state)
{
	static const struct {
		uint8_t from, to;
		uint64_t in, out;
	} rows[] = {
		{F32, F16, 0x477fefff, 0x7bff},
		{F32, F16, 0x477ff000, 0x7c00}, /* 65520 */
		{F32, F16, 0x33000000, 0},
		{F32, F16, 0x33000001, 1}, /* 2^-25 */
		{F32, F16, 0xb3c00000, 0x8002},
		{F32, F16, 0xff800001, 0x7e00},
		{F32, BF16, 0x3f808000, 0x3f80},
		{F32, BF16, 0x3f818000, 0x3f82},
		{F32, BF16, 0x7f7f8000, 0x7f80},
		{F32, BF16, 0x00008001, 1},
		{F16, F32, 1, 0x33800000},
		{F16, F32, 0xfc00, 0xff800000},
		{BF16, F32, 0x0001, 0x00010000},
		{BF16, F16, 0x3380, 1},
		{F16, BF16, 0x3c04, 0x3f80},
		{F16, BF16, 0x3c0c, 0x3f82},
		{F32, F32, 0xff812345, NAN32},
		{F32, F64, 1, 0x36a0000000000000},
		{F64, F32, 0x36a0000000000001, 1},
		{F64, F32, 0x3690000000000000, 0},
		{F64, F32, 0x3690000000000001, 1},
		{F64, F16, 0x3ff0020000000001, 0x3c01},
		{PCTL_SCALAR_U32, F32, 0xffffffff, 0x4f800000},
		{PCTL_SCALAR_U32, F32, 16777217, 0x4b800000},
		{PCTL_SCALAR_U32, F32, 16777219, 0x4b800002},
		{PCTL_SCALAR_I32, F32, 0x80000000, 0xcf000000},
		{PCTL_SCALAR_I32, F16, 0xffffffff, 0xbc00},
		{PCTL_SCALAR_U32, F16, 65520, 0x7c00},
		{PCTL_SCALAR_U32, F16, 65519, 0x7bff},
		{PCTL_SCALAR_I32, F32, 0, 0},
		{F32, PCTL_SCALAR_I32, 0xbfffffff, 0xffffffff},
		{F32, PCTL_SCALAR_I32, 0x4f000000, 0x7fffffff},
		{F32, PCTL_SCALAR_I32, 0xff800000, 0x80000000},
		{F32, PCTL_SCALAR_U32, 0xbf800000, 0},
		{F32, PCTL_SCALAR_U32, 0x4f7fffff, 0xffffff00},
		{F32, PCTL_SCALAR_U32, 0x4f800000, 0xffffffff},
		{F32, PCTL_SCALAR_U32, NAN32, 0},
		{F16, PCTL_SCALAR_U32, 0x7c00, 0xffffffff},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(eval(PCTL_OP_FCONVERT, rows[i].to, rows[i].from, rows[i].in, 0, 0),
				 rows[i].out);
}

static void test_float__refuses_what_does_not_fit(void **state)
{
	const uint64_t args[3] = {0, 0, 0};
	uint64_t out = 1;

	(void)state;
	assert_false(pctl_float_eval(PCTL_OP_NADD, F32, F32, args, &out));
	assert_false(pctl_float_eval(PCTL_OP_ADD, F32, F32, args, &out));
	assert_false(pctl_float_eval(0x115, F32, F32, args, &out));
	assert_false(pctl_float_eval(0x17f, F32, F32, args, &out));
	assert_false(pctl_float_eval(PCTL_OP_FADD, F32, PCTL_SCALAR_U32, args, &out));
	assert_false(pctl_float_eval(PCTL_OP_FADD, F16, F32, args, &out));
	assert_false(pctl_float_eval(PCTL_OP_FEQ, F32, F32, args, &out));
	assert_false(pctl_float_eval(PCTL_OP_FCONVERT, PCTL_SCALAR_U64, F32, args, &out));
	assert_false(pctl_float_eval(PCTL_OP_FCONVERT, F32, PCTL_SCALAR_BOOL, args, &out));
	assert_int_equal(out, 0);
}

/* Whatever exponents a thread has set for itself neither change a result nor are changed. */
static void test_float__leaves_the_thread_alone(void **state)
{
	const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
	double back;

	(void)state;
	mpfr_set_emin(-10);
	mpfr_set_emax(10);
	assert_int_equal(EVAL(F32, FMUL, 0x7f000000, 0x3f800001, 0), 0x7f000001);
	assert_int_equal(EVAL(F32, FEXP, 0xc2c80000, 0, 0), 27);
	assert_true(pctl_float_to_f64(F32, 1, &back));
	assert_true(back == 0x1p-149);
	assert_int_equal(mpfr_get_emin(), -10);
	assert_int_equal(mpfr_get_emax(), 10);
	mpfr_set_emin(emin);
	mpfr_set_emax(emax);
}

/* ---- against other arithmetic ---- */

static void test_float__f32_as_the_hardware(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		uint64_t a = random_word(3 * i), b = random_word(3 * i + 1);
		uint64_t c = random_word(3 * i + 2);
		volatile float x, y, z;

		if (i % 4 == 1) /* near each other, so that sums cancel */
			b = (a ^ 0x80000000) + c % 16;
		if (i % 4 == 2) { /* products at the edge of the subnormals */
			a = (a & 0x807fffff) | (0x20 + c % 64) << 23;
			b = (b & 0x807fffff) | 0x20000000;
		}
		x = f32_of(a), y = f32_of(b), z = f32_of(c);
		assert_int_equal(EVAL(F32, FADD, a, b, 0), bits_of(x + y));
		assert_int_equal(EVAL(F32, FSUB, a, b, 0), bits_of(x - y));
		assert_int_equal(EVAL(F32, FMUL, a, b, 0), bits_of(x * y));
		assert_int_equal(EVAL(F32, FDIV, a, b, 0), bits_of(x / y));
		assert_int_equal(EVAL(F32, FSQRT, a, 0, 0), bits_of(sqrtf(x)));
		assert_int_equal(EVAL(F32, FFMA, a, b, c), bits_of(fmaf(x, y, z)));
		z = -(x * y);
		assert_int_equal(EVAL(F32, FFMA, a, b, bits_of(z)), bits_of(fmaf(x, y, z)));
	}
}

/* The float nearest to x by search among the 2^15 of the format, ties to the even one. */
static uint64_t nearest(const double *values, uint32_t infinity, double x)
{
	const uint64_t sign = signbit(x) ? 0x8000 : 0;
	const double m = fabs(x);
	uint32_t low = 0, high = infinity;

	while (high - low > 1) {
		const uint32_t middle = (low + high) / 2;

		if (values[middle] <= m)
			low = middle;
		else
			high = middle;
	}
	if (m - values[low] == values[high] - m)
		return sign | (low & 1 ? high : low);
	return sign | (m - values[low] < values[high] - m ? low : high);
}

/* All values of a 16-bit format; in place of infinity the number that would follow. */
static void tabulate(double *values, uint32_t fraction, int bias, uint32_t infinity)
{
	uint32_t i;

	for (i = 0; i <= infinity; i++) {
		const uint32_t e = i >> fraction, m = i & ((1u << fraction) - 1);
		const int scale = (e ? (int)e : 1) - bias - (int)fraction;

		values[i] = ldexp(e ? m + (1u << fraction) : m, scale);
	}
}

static void small_formats(uint8_t scalar, uint32_t fraction, int bias, uint32_t infinity)
{
	static double values[0x8000];
	uint32_t i, k;

	tabulate(values, fraction, bias, infinity);
	for (i = 0; i < 40000; i++) {
		const uint64_t a = random_word(2 * i) & 0xffff;
		uint64_t b = random_word(2 * i + 1) & 0xffff, bits;
		double x[2], y, back;

		if (i % 2) /* exponents near each other: the sum is exact in a double */
			b = (a & ~0x3fu) ^ (b & 0x803f);
		for (k = 0; k < 2; k++) {
			const uint64_t word = k ? b : a;

			if ((word & 0x7fff) >= infinity)
				break;
			x[k] = word & 0x8000 ? -values[word & 0x7fff] : values[word & 0x7fff];
		}
		if (k < 2)
			continue;
		assert_true(pctl_float_to_f64(scalar, a, &back));
		assert_true(back == x[0] && !signbit(back) == !signbit(x[0]));
		assert_int_equal(EVAL(scalar, FMUL, a, b, 0),
				 nearest(values, infinity, x[0] * x[1]));
		if (scalar == F16 || i % 2) {
			y = x[0] + x[1];
			assert_int_equal(EVAL(scalar, FADD, a, b, 0), nearest(values, infinity, y));
		}
		y = ldexp(x[0] + 0x1p-40 * x[1], (int)(i % 9) - 4);
		assert_true(pctl_float_from_f64(scalar, y, &bits));
		assert_int_equal(bits, nearest(values, infinity, y));
	}
}

static void test_float__f16_by_search(void **state)
{
	(void)state;
	small_formats(F16, 10, 15, 0x7c00);
}

static void test_float__bf16_by_search(void **state)
{
	(void)state;
	small_formats(BF16, 7, 127, 0x7f80);
}

/* A double within 2^-40 of a point where the rounding to f32 changes settles nothing. */
static int settles(double y)
{
	return (float)(y * (1 + 0x1p-40)) == (float)(y * (1 - 0x1p-40)) || y == 0;
}

static void test_float__elementary_as_doubles_say(void **state)
{
	static const struct {
		uint16_t op;
		double (*f)(double);
	} rows[] = {
		{PCTL_OP_FSIN, sin},	 {PCTL_OP_FCOS, cos},	  {PCTL_OP_FTAN, tan},
		{PCTL_OP_FASIN, asin},	 {PCTL_OP_FACOS, acos},	  {PCTL_OP_FATAN, atan},
		{PCTL_OP_FSINH, sinh},	 {PCTL_OP_FCOSH, cosh},	  {PCTL_OP_FTANH, tanh},
		{PCTL_OP_FASINH, asinh}, {PCTL_OP_FACOSH, acosh}, {PCTL_OP_FATANH, atanh},
		{PCTL_OP_FEXP, exp},	 {PCTL_OP_FEXP2, exp2},	  {PCTL_OP_FEXP10, exp10},
		{PCTL_OP_FLOG, log},	 {PCTL_OP_FLOG2, log2},	  {PCTL_OP_FLOG10, log10},
		{PCTL_OP_FCBRT, cbrt},	 {PCTL_OP_FERF, erf},	  {PCTL_OP_FERFC, erfc},
		{PCTL_OP_FLOG1P, log1p}, {PCTL_OP_FEXPM1, expm1},
	};
	uint32_t i, k, n, settled = 0;

	(void)state;
	for (k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		for (i = 0; i < 2000; i++) {
			uint64_t a = random_word(i);
			double y;

			if (i % 2) /* where most functions are neither flat nor infinite */
				a = (a & 0x807fffff) | (0x78 + (a >> 23) % 14) << 23;
			y = rows[k].f((double)f32_of(a));
			if (y == y && !settles(y))
				continue;
			settled++;
			assert_int_equal(eval(rows[k].op, F32, F32, a, 0, 0), bits_of((float)y));
		}
	}
	n = (uint32_t)(sizeof(rows) / sizeof(rows[0])) * 2000;
	assert_true(settled > n - n / 100);
}

static void test_float__two_arguments_as_doubles_say(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		uint64_t a = random_word(2 * i), b = random_word(2 * i + 1);
		double y;

		if (i % 2) {
			a = (a & 0x007fffff) | (0x78 + (a >> 23) % 14) << 23;
			b = (b & 0x807fffff) | (0x78 + (b >> 23) % 14) << 23;
		}
		y = pow((double)f32_of(a), (double)f32_of(b));
		if (y != y || settles(y))
			assert_int_equal(EVAL(F32, FPOW, a, b, 0), bits_of((float)y));
		y = atan2((double)f32_of(a), (double)f32_of(b));
		if (y != y || settles(y))
			assert_int_equal(EVAL(F32, FATAN2, a, b, 0), bits_of((float)y));
	}
}

/* ---- text ---- */

static void test_float__reads_numbers(void **state)
{
	static const struct {
		uint8_t scalar;
		const char *text;
		uint64_t out;
		int inexact;
	} rows[] = {
		{F32, "1", 0x3f800000, 0},
		{F32, "0.1", 0x3dcccccd, 1},
		{F32, ".5", 0x3f000000, 0},
		{F32, "1.", 0x3f800000, 0},
		{F32, "-1e-45", 0x80000001, 1},
		{F32, "-0.0", 0x80000000, 0},
		{F32, "3.40282356779733662e38", INF32, 1},
		{F32, "3.40282356779733661e38", 0x7f7fffff, 1},
		{F32, "0x1.8p3", 0x41400000, 0},
		{F32, "0X.8P+1", 0x3f800000, 0},
		{F32, "0x1p-149", 1, 0},
		{F32, "0x1p-150", 0, 1},
		{F32, "0x1.000002p-150", 1, 1},
		{F32, "0xff", 0x437f0000, 0},
		{F32, "0x1.000001p0", 0x3f800000, 1},
		{F32, "0x1.000003p0", 0x3f800002, 1},
		/* a decimal just above a tie: through a double it would round down */
		{F32, "1.00000005960464477539062500000000000000000001", 0x3f800001, 1},
		{F16, "65519.99", 0x7bff, 1},
		{F16, "65520", 0x7c00, 1},
		{F16, "0.1", 0x2e66, 1},
		{BF16, "0.1", 0x3dcd, 1},
		{F64, "0.1", 0x3fb999999999999a, 1},
		{F64, "5e-324", 1, 1},
		{F64, "1e23", 0x44b52d02c7e14af6, 1},
		{F32, "1e99999999999999999999", INF32, 1},
		{F32, "1e-99999999999999999999", 0, 1},
		{F32, "0e99999999999999999999", 0, 0},
		{F32, "0x0p-99999999999999999999", 0, 0},
	};
	static const char *const bad[] = {"",	 "-",	  "+",	".",   "e5",	 "1e",	   "1e+",
					  "1f",	 "1.2.3", "0x", "0x.", "1p3",	 "0x1e.p", "inf",
					  "nan", " 1",	  "1 ", "--1", "0x1p1.0"};
	uint64_t out;
	int inexact;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(pctl_float_parse(rows[i].text, strlen(rows[i].text), rows[i].scalar,
					     &out, &inexact));
		assert_int_equal(out, rows[i].out);
		assert_int_equal(inexact, rows[i].inexact);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(pctl_float_parse(bad[i], strlen(bad[i]), F32, &out, &inexact));
	assert_false(pctl_float_parse("1", 1, PCTL_SCALAR_U32, &out, &inexact));
	assert_true(
		pctl_float_parse("12", 1, F32, &out, NULL)); /* the length counts, not the end */
	assert_int_equal(out, 0x3f800000);
}

static void test_float__writes_numbers(void **state)
{
	static const struct {
		uint8_t scalar;
		uint64_t bits;
		const char *decimal, *hex;
	} rows[] = {
		{F32, 0x3f800000, "1.0", "0x1p+0"},
		{F32, 0x3dcccccd, "0.1", "0x1.99999ap-4"},
		{F32, 0x80000000, "-0.0", "-0x0p+0"},
		{F32, 1, "1.0e-45", "0x1p-149"},
		{F32, 3, "4.0e-45", "0x1.8p-148"},
		{F32, 0x7f7fffff, "3.4028235e38", "0x1.fffffep+127"},
		{F32, 0x4b800000, "16777216.0", "0x1p+24"},
		{F32, 0x4e800000, "1.0737418e9", "0x1p+30"},
		{F32, 0x41460000, "12.375", "0x1.8cp+3"},
		{F32, 0x3a83126f, "0.001", "0x1.0624dep-10"},
		{F32, 0xff800000, "-inf", "-inf"},
		{F32, NAN32, "nan", "nan"},
		{F32, 0xff800001, "nan:0xff800001", "nan:0xff800001"},
		{F16, 0x7bff, "65500.0", "0x1.ffcp+15"},
		{F16, 1, "6.0e-8", "0x1p-24"},
		{BF16, 0x3dcd, "0.1", "0x1.9ap-4"},
		{F64, 0x3fb999999999999a, "0.1", "0x1.999999999999ap-4"},
		{F64, 1, "5.0e-324", "0x1p-1074"},
	};
	char text[PCTL_FLOAT_TEXT];
	uint64_t back;
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pctl_float_print(rows[i].scalar, rows[i].bits, 0, text);
		assert_string_equal(text, rows[i].decimal);
		pctl_float_print(rows[i].scalar, rows[i].bits, 1, text);
		assert_string_equal(text, rows[i].hex);
	}
	for (i = 0; i < 4000; i++) {
		const uint8_t scalar = i & 1 ? F32 : F64;
		const uint64_t bits = scalar == F32
					      ? random_word(i)
					      : random_word(i) | (uint64_t)random_word(~i) << 32;

		if (pctl_float_kind(scalar, bits) != PCTL_FLOAT_FINITE)
			continue;
		pctl_float_print(scalar, bits, (i & 2) != 0, text);
		assert_true(strlen(text) < sizeof(text));
		assert_true(pctl_float_parse(text, strlen(text), scalar, &back, NULL));
		assert_int_equal(back, bits);
		/* an independent reader agrees */
		if (scalar == F32)
			assert_int_equal(bits_of(strtof(text, NULL)), bits);
	}
	pctl_float_print(PCTL_SCALAR_I32, 1, 0, text);
	assert_string_equal(text, "");
}

PCTL_TESTS_MAIN(PCTL_TEST(test_float__contraction_witness), PCTL_TEST(test_float__nan_is_canonical),
		PCTL_TEST(test_float__min_max), PCTL_TEST(test_float__comparisons),
		PCTL_TEST(test_float__roundings_keep_the_sign),
		PCTL_TEST(test_float__special_cases_of_the_standard),
		PCTL_TEST(test_float__conversions),
		PCTL_TEST(test_float__refuses_what_does_not_fit),
		PCTL_TEST(test_float__leaves_the_thread_alone),
		PCTL_TEST(test_float__f32_as_the_hardware), PCTL_TEST(test_float__f16_by_search),
		PCTL_TEST(test_float__bf16_by_search),
		PCTL_TEST(test_float__elementary_as_doubles_say),
		PCTL_TEST(test_float__two_arguments_as_doubles_say),
		PCTL_TEST(test_float__reads_numbers), PCTL_TEST(test_float__writes_numbers))
