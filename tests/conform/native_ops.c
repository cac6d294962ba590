/* Native operations against the host's own, over random, boundary and subnormal values. */
#include "native.h"

#include <math.h>
#include <stdlib.h>

#define ROWS 1024u

/* What one operand row computes, in the order of the output words; FROM_*: of the operand's bits. */
enum {
	ADD,
	SUB,
	MUL,
	DIV,
	FMA,
	SQRT,
	NEG,
	ABS,
	MIN,
	MAX,
	EQ,
	NE,
	LT,
	LE,
	GT,
	GE,
	FLOOR,
	CEIL,
	TRUNC,
	ROUND,
	TO_I32,
	TO_U32,
	FROM_I32,
	FROM_U32,
	N_OPS
};

static const uint16_t opcodes[N_OPS] = {
	PCTL_OP_NADD,	  PCTL_OP_NSUB,	    PCTL_OP_NMUL,     PCTL_OP_NDIV,    PCTL_OP_NFMA,
	PCTL_OP_NSQRT,	  PCTL_OP_NNEG,	    PCTL_OP_NABS,     PCTL_OP_NMIN,    PCTL_OP_NMAX,
	PCTL_OP_NEQ,	  PCTL_OP_NNE,	    PCTL_OP_NLT,      PCTL_OP_NLE,     PCTL_OP_NGT,
	PCTL_OP_NGE,	  PCTL_OP_NFLOOR,   PCTL_OP_NCEIL,    PCTL_OP_NTRUNC,  PCTL_OP_NROUND,
	PCTL_OP_NCONVERT, PCTL_OP_NCONVERT, PCTL_OP_NCONVERT, PCTL_OP_NCONVERT};

static int n_operands(int op)
{
	if (op == FMA)
		return 3;
	return op <= DIV || (op >= MIN && op <= GE) ? 2 : 1;
}

/* ---- the program ---- */

typedef struct shape {
	uint8_t scalar;
	uint32_t width;
	uint32_t n_words; /* of a component */
	uint32_t type, one;
} shape;

static uint32_t vec(words *w, uint8_t scalar, uint32_t width)
{
	return width > 1 ? pctl_build_vector(w->b, scalar, width) : pctl_build_scalar(w->b, scalar);
}

/* One component from the input words. f16 stands in the lower half of its word. */
static uint32_t take_one(words *w, const shape *s)
{
	const uint32_t low = words_take(w);
	uint32_t x;

	if (s->scalar == PCTL_SCALAR_F32)
		return native_inst(w->b, PCTL_OP_BITCAST, s->one, 1, low);
	if (s->scalar == PCTL_SCALAR_F16) {
		x = native_inst(w->b, PCTL_OP_BITCAST, vec(w, PCTL_SCALAR_F16, 2), 1, low);
		return native_inst(w->b, PCTL_OP_EXTRACT, s->one, 2, x, 0);
	}
	x = native_inst(w->b, PCTL_OP_COMPOSE, vec(w, PCTL_SCALAR_U32, 2), 2, low, words_take(w));
	return native_inst(w->b, PCTL_OP_BITCAST, s->one, 1, x);
}

static void leave_one(words *w, uint32_t x, uint8_t scalar)
{
	const uint32_t pair = vec(w, PCTL_SCALAR_U32, 2);

	if (scalar == PCTL_SCALAR_BOOL) {
		x = native_inst(w->b, PCTL_OP_CAST, w->u32, 1, x);
	} else if (scalar == PCTL_SCALAR_F16) {
		x = native_inst(w->b, PCTL_OP_COMPOSE, vec(w, PCTL_SCALAR_F16, 2), 2, x,
				pctl_build_const(w->b, vec(w, PCTL_SCALAR_F16, 1), 0));
		x = native_inst(w->b, PCTL_OP_BITCAST, w->u32, 1, x);
	} else if (scalar == PCTL_SCALAR_F64) {
		x = native_inst(w->b, PCTL_OP_BITCAST, pair, 1, x);
		words_leave(w, native_inst(w->b, PCTL_OP_EXTRACT, w->u32, 2, x, 0));
		words_leave(w, native_inst(w->b, PCTL_OP_EXTRACT, w->u32, 2, x, 1));
		return;
	} else if (scalar != PCTL_SCALAR_U32) {
		x = native_inst(w->b, PCTL_OP_BITCAST, w->u32, 1, x);
	}
	words_leave(w, x);
	if (scalar != PCTL_SCALAR_F64)
		words_leave(w, native_u32(w, 0));
}

static uint32_t join(words *w, uint8_t scalar, uint32_t width, const uint32_t *lanes)
{
	return width > 1
		       ? pctl_build_inst(w->b, PCTL_OP_COMPOSE, vec(w, scalar, width), lanes, width)
		       : lanes[0];
}

static void leave(words *w, uint32_t x, uint8_t scalar, uint32_t width, uint32_t lane)
{
	if (width > 1)
		x = native_inst(w->b, PCTL_OP_EXTRACT, vec(w, scalar, 1), 2, x, lane);
	leave_one(w, x, scalar);
}

static uint8_t result_of(int op, uint8_t scalar)
{
	if (op >= EQ && op <= GE)
		return PCTL_SCALAR_BOOL;
	if (op == TO_I32 || op == TO_U32)
		return op == TO_I32 ? PCTL_SCALAR_I32 : PCTL_SCALAR_U32;
	return scalar;
}

/* All operations over vectors of `width`: each invocation takes three of them and leaves, lane by
 * lane, two words an operation. */
static rig_program program(uint8_t scalar, uint32_t width)
{
	shape s = {.scalar = scalar, .width = width, .n_words = scalar == PCTL_SCALAR_F64 ? 2 : 1};
	uint32_t x[3], lanes[4], bits[4], results[N_OPS], i, k;
	words w;

	words_begin(&w);
	s.type = vec(&w, scalar, width);
	s.one = vec(&w, scalar, 1);
	words_main(&w, 3 * width * s.n_words + width, 2 * N_OPS * width);
	for (k = 0; k < 3; k++) {
		for (i = 0; i < width; i++)
			lanes[i] = take_one(&w, &s);
		x[k] = join(&w, scalar, width, lanes);
	}
	for (i = 0; i < width; i++)
		bits[i] = words_take(&w);
	bits[0] = join(&w, PCTL_SCALAR_U32, width, bits);
	bits[1] = native_inst(w.b, PCTL_OP_BITCAST, vec(&w, PCTL_SCALAR_I32, width), 1, bits[0]);
	for (k = 0; k < N_OPS; k++) {
		const uint32_t type = vec(&w, result_of((int)k, scalar), width);

		if (k == FROM_I32 || k == FROM_U32)
			results[k] =
				native_inst(w.b, opcodes[k], type, 1, bits[k == FROM_I32 ? 1 : 0]);
		else
			results[k] = pctl_build_inst(w.b, opcodes[k], type, x,
						     (uint32_t)n_operands((int)k));
	}
	for (i = 0; i < width; i++)
		for (k = 0; k < N_OPS; k++)
			leave(&w, results[k], result_of((int)k, scalar), width, i);
	return words_end(&w);
}

/* ---- the oracle: the host's arithmetic, one rounding at a time ---- */

static double to_double(uint64_t bits, uint8_t scalar)
{
	uint32_t low = (uint32_t)bits;
	double d;
	float f;

	if (scalar == PCTL_SCALAR_F64) {
		memcpy(&d, &bits, sizeof(d));
		return d;
	}
	if (scalar == PCTL_SCALAR_F32) {
		memcpy(&f, &low, sizeof(f));
		return (double)f;
	}
	d = (low & 0x7c00) == 0x7c00 ? (low & 0x3ff ? (double)NAN : (double)INFINITY)
	    : low & 0x7c00 ? ldexp((double)(0x400 | (low & 0x3ff)), (int)(low >> 10 & 31) - 25)
			   : ldexp((double)(low & 0x3ff), -24);
	return low & 0x8000 ? -d : d;
}

/* To nearest even; the sums, products, quotients and roots of f16 and f32 are right when they are
 * rounded from their double, which has more than twice the bits. */
static uint64_t from_double(double d, uint8_t scalar)
{
	const uint64_t sign = signbit(d) ? 0x8000 : 0;
	uint64_t bits;
	uint32_t low;
	float f;

	if (scalar == PCTL_SCALAR_F64) {
		memcpy(&bits, &d, sizeof(bits));
		return bits;
	}
	if (scalar == PCTL_SCALAR_F32) {
		f = (float)d;
		memcpy(&low, &f, sizeof(low));
		return low;
	}
	d = fabs(d);
	if (isnan(d))
		return 0x7e00;
	if (d >= 65520)
		return sign | 0x7c00;
	if (d < ldexp(1, -14))
		return sign | (uint64_t)nearbyint(ldexp(d, 24));
	bits = (uint64_t)nearbyint(ldexp(d, 10 - ilogb(d)));
	return sign | (((uint64_t)(ilogb(d) + 14) << 10) + bits);
}

static double computed(int op, double a, double b, double c)
{
	switch (op) {
	case ADD:
		return a + b;
	case SUB:
		return a - b;
	case MUL:
		return a * b;
	case DIV:
		return a / b;
	case FMA:
		return fma(a, b, c);
	case SQRT:
		return sqrt(a);
	case NEG:
		return -a;
	case ABS:
		return fabs(a);
	case MIN:
		return isnan(a) || b < a ? b : a; /* every NaN is quiet */
	case MAX:
		return isnan(a) || b > a ? b : a;
	case FLOOR:
		return floor(a);
	case CEIL:
		return ceil(a);
	case TRUNC:
		return trunc(a);
	default:
		return nearbyint(a);
	}
}

static uint32_t compared(int op, double a, double b)
{
	switch (op) {
	case EQ:
		return a == b;
	case NE:
		return a != b;
	case LT:
		return a < b;
	case LE:
		return a <= b;
	case GT:
		return a > b;
	default:
		return a >= b;
	}
}

/* ---- judging ---- */

static int is_nan(uint64_t bits, uint8_t scalar)
{
	return isnan(to_double(bits, scalar));
}

static int is_subnormal(uint64_t bits, uint8_t scalar)
{
	if (scalar == PCTL_SCALAR_F64)
		return !(bits >> 52 & 0x7ff) && (bits & 0xfffffffffffff);
	if (scalar == PCTL_SCALAR_F32)
		return !(bits >> 23 & 0xff) && (bits & 0x7fffff);
	return !(bits >> 10 & 0x1f) && (bits & 0x3ff);
}

static int is_signalling(uint64_t bits, uint8_t scalar)
{
	const uint32_t quiet = scalar == PCTL_SCALAR_F64 ? 51 : scalar == PCTL_SCALAR_F32 ? 22 : 9;

	return is_nan(bits, scalar) && !(bits >> quiet & 1);
}

typedef struct judge {
	const rig *r;
	uint8_t scalar;
	uint32_t width;
	uint64_t a, b, c;
	uint32_t word;
} judge;

static void differs(const judge *j, int op, uint64_t got, uint64_t want)
{
	fail_msg("%s: scalar %u width %u %s(%#llx, %#llx, %#llx; %#x) gave %#llx, %#llx is right",
		 j->r->info.name, j->scalar, j->width, pctl_op_get(opcodes[op])->name,
		 (unsigned long long)j->a, (unsigned long long)j->b, (unsigned long long)j->c,
		 j->word, (unsigned long long)got, (unsigned long long)want);
}

/* Devices are exact, but for this: flushers on subnormals, some with NaN in min,
 * max and roots, drivers without a fused operation, f64 operations only where they are native. */
static int excused(const judge *j, int op, uint64_t want)
{
	const int swift = native_is(j->r, "SwiftShader"),
		  nvidia = native_is(j->r, "NVIDIA") && !native_is(j->r, "CUDA");
	const int lavapipe = native_is(j->r, "llvmpipe");
	const int any_nan = is_nan(j->a, j->scalar) || is_nan(j->b, j->scalar);
	const int subnormal = is_subnormal(j->a, j->scalar) || is_subnormal(j->b, j->scalar) ||
			      is_subnormal(want, j->scalar);

	if (op == FMA)
		return !native_fuses(j->r) || (!native_keeps_subnormals(j->r) &&
					       (subnormal || is_subnormal(j->c, j->scalar)));
	if (!native_keeps_subnormals(j->r) && subnormal)
		return 1;
	if (lavapipe && j->scalar == PCTL_SCALAR_F64 && op >= FLOOR && op <= ROUND)
		return 1;	     /* some truncate nothing, or lose the sign of a zero */
	if (swift && op == FROM_U32) /* rounds twice from 2^31 on */
		return j->word >> 31 != 0;
	if (swift && (op == MIN || op == MAX || op == SQRT || op == NEG))
		return any_nan || op == SQRT;
	if (nvidia && j->scalar != PCTL_SCALAR_F64)
		return op == DIV || op == SQRT;
	return 0;
}

static void judge_float(const judge *j, int op, uint64_t got)
{
	const double a = to_double(j->a, j->scalar), b = to_double(j->b, j->scalar);
	uint64_t want;

	if (op == FMA && j->scalar == PCTL_SCALAR_F32) {
		const float f = fmaf((float)a, (float)b, (float)to_double(j->c, j->scalar));

		want = from_double((double)f, j->scalar);
	} else if (op == FMA && j->scalar == PCTL_SCALAR_F16) {
		return;
	} else if (op == FROM_I32) {
		want = from_double((double)(int32_t)j->word, j->scalar);
	} else if (op == FROM_U32) {
		want = from_double((double)j->word, j->scalar);
	} else {
		want = from_double(computed(op, a, b, to_double(j->c, j->scalar)), j->scalar);
	}
	/* of a signalling NaN, either: the host takes both operands for quiet, IEEE 754-2008 did not */
	if ((op == MIN || op == MAX) && is_nan(got, j->scalar) &&
	    (is_signalling(j->a, j->scalar) || is_signalling(j->b, j->scalar)))
		return;
	if (is_nan(want, j->scalar) && is_nan(got, j->scalar))
		return;
	if ((op == MIN || op == MAX) && a == b) /* of two zeros, either */
		return;
	if (got != want && !excused(j, op, want))
		differs(j, op, got, want);
}

static void judge_all(const judge *j, const uint32_t *got)
{
	const double a = to_double(j->a, j->scalar), b = to_double(j->b, j->scalar);
	int op;

	for (op = 0; op < N_OPS; op++) {
		const uint64_t value =
			got[2 * op] |
			(j->scalar == PCTL_SCALAR_F64 ? (uint64_t)got[2 * op + 1] << 32 : 0);

		if (op >= EQ && op <= GE) {
			if (got[2 * op] != compared(op, a, b) && !excused(j, op, 0))
				differs(j, op, got[2 * op], compared(op, a, b));
		} else if (op == TO_I32) {
			if (a > -2147483649.0 && a < 2147483648.0 &&
			    got[2 * op] != (uint32_t)(int32_t)a)
				differs(j, op, got[2 * op], (uint32_t)(int32_t)a);
		} else if (op == TO_U32) {
			if (a > -1 && a < 4294967296.0 && got[2 * op] != (uint32_t)a)
				differs(j, op, got[2 * op], (uint32_t)a);
		} else {
			judge_float(j, op, value);
		}
	}
}

/* ---- values ---- */

/* A third random bits, a third of middling size, a third edges. */
static uint64_t value_of(uint64_t n, uint8_t scalar)
{
	static const uint64_t edges[] = {0, 1, 2, 0x3ff, 0x400, 0x7fffff, 0x800000, 0x7f7fffff};
	const uint64_t x = rig_random(5, n), y = rig_random(6, n);
	const uint64_t sign = y & 1;
	const uint32_t bits = scalar == PCTL_SCALAR_F64 ? 64 : scalar == PCTL_SCALAR_F32 ? 32 : 16;
	const uint32_t fraction = bits == 64 ? 52 : bits == 32 ? 23 : 10;
	const uint64_t bias = bits == 64 ? 1023 : bits == 32 ? 127 : 15;
	const uint64_t mask = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
	uint64_t e = 0;

	switch (y >> 1 & 3) {
	case 0:
		return x & mask;
	case 1:
	case 2:
		e = bias - 6 + (y >> 8) % 12;
		return sign << (bits - 1) | e << fraction | (x & ((1ull << fraction) - 1));
	default:
		if (y >> 8 & 3) /* infinities, NaN, the largest and the ones */
			return sign << (bits - 1) |
			       (y >> 10 & 1 ? 2 * bias + 1 : bias) << fraction |
			       (y >> 11 & 1 ? x & 3 : 0);
		return sign << (bits - 1) | (edges[(y >> 12) % 8] & (mask >> 1));
	}
}

static void over_values(rig *r, uint8_t scalar, uint32_t width)
{
	const uint32_t size = scalar == PCTL_SCALAR_F64 ? 2 : 1;
	const uint32_t n_in = 3 * width * size + width, n_out = 2 * N_OPS * width;
	uint32_t *in = calloc((size_t)ROWS * n_in, 4), *out = calloc((size_t)ROWS * n_out, 4);
	uint32_t row, lane, k;

	assert_non_null(in);
	assert_non_null(out);
	for (row = 0; row < ROWS; row++) {
		for (k = 0; k < 3 * width; k++) {
			const uint64_t x = value_of(((uint64_t)row * 16 + k) * 4 + width, scalar);

			in[row * n_in + k * size] = (uint32_t)x;
			if (size == 2)
				in[row * n_in + k * 2 + 1] = (uint32_t)(x >> 32);
		}
		for (k = 0; k < width; k++)
			in[row * n_in + 3 * width * size + k] =
				(uint32_t)(rig_random(9, row * 4 + k) >> (row % 40));
	}
	words_run(r, program(scalar, width), in, n_in, out, n_out, ROWS);
	for (row = 0; row < ROWS; row++)
		for (lane = 0; lane < width; lane++) {
			judge j = {.r = r, .scalar = scalar, .width = width};
			uint64_t x[3];

			for (k = 0; k < 3; k++) {
				const uint32_t *at = in + row * n_in + (k * width + lane) * size;

				x[k] = at[0] | (size == 2 ? (uint64_t)at[1] << 32 : 0);
			}
			j.a = x[0], j.b = x[1], j.c = x[2];
			j.word = in[row * n_in + 3 * width * size + lane];
			judge_all(&j, out + row * n_out + lane * 2 * N_OPS);
		}
	free(in);
	free(out);
}

/* The device has the type, or refuses programs with it in these words. */
static int has(rig *r, uint64_t cap, uint8_t scalar, const char *said)
{
	rig_program p;
	pctl_support s;

	if (r->caps.caps & cap)
		return 1;
	p = program(scalar, 1);
	s = native_asked(r, p);
	assert_int_equal(s.supported, 0);
	assert_int_equal(s.code, PC3210_KERNEL_CAPABILITY);
	assert_non_null(strstr(s.reason, said));
	free(p.wire);
	return 0;
}

void native_f32(rig *r)
{
	uint32_t width;

	assert_true(r->caps.caps & PCTL_CAP_F32);
	assert_true(r->caps.caps & PCTL_CAP_NATIVE_FLOAT);
	for (width = 1; width <= 4; width++)
		over_values(r, PCTL_SCALAR_F32, width);
}

void native_f64(rig *r)
{
	uint32_t width;

	if (has(r, PCTL_CAP_F64, PCTL_SCALAR_F64, "64-bit floats"))
		for (width = 1; width <= 4; width++)
			over_values(r, PCTL_SCALAR_F64, width);
}

void native_f16(rig *r)
{
	uint32_t width;

	if (has(r, PCTL_CAP_F16, PCTL_SCALAR_F16, "16-bit floats"))
		for (width = 1; width <= 4; width++)
			over_values(r, PCTL_SCALAR_F16, width);
}

/* ---- the vendor's functions: the right one, not the right bits ---- */

static double one_over_root(double x)
{
	return 1 / sqrt(x);
}

static double ten_to(double x)
{
	return pow(10, x);
}

void native_vendor(rig *r)
{
	static const struct {
		uint16_t op;
		double (*of)(double);
		double low, high;
	} cases[] = {
		{PCTL_OP_NSIN, sin, -3, 3},
		{PCTL_OP_NCOS, cos, -3, 3},
		{PCTL_OP_NTAN, tan, -1.4, 1.4},
		{PCTL_OP_NASIN, asin, -0.99, 0.99},
		{PCTL_OP_NACOS, acos, -0.9, 0.9},
		{PCTL_OP_NATAN, atan, -9, 9},
		{PCTL_OP_NSINH, sinh, -4, 4},
		{PCTL_OP_NCOSH, cosh, -4, 4},
		{PCTL_OP_NTANH, tanh, -4, 4},
		{PCTL_OP_NASINH, asinh, -4, 4},
		{PCTL_OP_NACOSH, acosh, 1.1, 9},
		{PCTL_OP_NATANH, atanh, -0.9, 0.9},
		{PCTL_OP_NEXP, exp, -9, 9},
		{PCTL_OP_NEXP2, exp2, -9, 9},
		{PCTL_OP_NEXP10, ten_to, -5, 5},
		{PCTL_OP_NLOG, log, 0.1, 90},
		{PCTL_OP_NLOG2, log2, 0.1, 90},
		{PCTL_OP_NLOG10, log10, 0.1, 90},
		{PCTL_OP_NRSQRT, one_over_root, 0.1, 90},
		{PCTL_OP_NCBRT, cbrt, -90, 90},
	};
	const uint32_t n = sizeof(cases) / sizeof(cases[0]);
	uint32_t in[22 * WORDS_GROUP], out[22 * WORDS_GROUP], i, k, x, y, f32;
	words w;

	words_begin(&w);
	f32 = pctl_build_scalar(w.b, PCTL_SCALAR_F32);
	words_main(&w, 22, 22);
	for (k = 0; k < n; k++) {
		x = native_inst(w.b, PCTL_OP_BITCAST, f32, 1, words_take(&w));
		x = native_inst(w.b, cases[k].op, f32, 1, x);
		words_leave(&w, native_inst(w.b, PCTL_OP_BITCAST, w.u32, 1, x));
	}
	x = native_inst(w.b, PCTL_OP_BITCAST, f32, 1, words_take(&w));
	y = native_inst(w.b, PCTL_OP_BITCAST, f32, 1, words_take(&w));
	words_leave(&w, native_inst(w.b, PCTL_OP_BITCAST, w.u32, 1,
				    native_inst(w.b, PCTL_OP_NPOW, f32, 2, x, y)));
	words_leave(&w, native_inst(w.b, PCTL_OP_BITCAST, w.u32, 1,
				    native_inst(w.b, PCTL_OP_NATAN2, f32, 2, x, y)));
	for (i = 0; i < WORDS_GROUP; i++)
		for (k = 0; k < 22; k++) {
			const double low = k < n ? cases[k].low : 0.5;
			const double high = k < n ? cases[k].high : 3;

			in[22 * i + k] = (uint32_t)from_double(low + (high - low) * (double)i / 63,
							       PCTL_SCALAR_F32);
		}
	words_run(r, words_end(&w), in, 22, out, 22, WORDS_GROUP);
	for (i = 0; i < WORDS_GROUP; i++)
		for (k = 0; k < 22; k++) {
			const double a = to_double(in[22 * i + (k < n ? k : n)], PCTL_SCALAR_F32);
			const double b = to_double(in[22 * i + n + 1], PCTL_SCALAR_F32);
			const double got = to_double(out[22 * i + k], PCTL_SCALAR_F32);
			const double want = k < n    ? cases[k].of(a)
					    : k == n ? pow(a, b)
						     : atan2(a, b);

			if (!(fabs(got - want) <= 4e-3 * fabs(want) + 4e-3))
				fail_msg("%s: %s(%g) gave %g, %g is near", r->info.name,
					 k < n ? pctl_op_get(cases[k].op)->name : "pow, atan2", a,
					 got, want);
		}
}
