/* What IEEE 754 says, for f32 and f64 from the host's own hardware (compiled without contraction), for f16 and
 * conversions from the correctly rounded evaluator. Nothing here shares code with a lowering. */
#include <math.h>
#include <string.h>

#include "runtime/device/probe_private.h"
#include "compiler/eval/float.h"

#if defined(__FAST_MATH__)
#error "the probe's expectations need IEEE arithmetic"
#endif

const probe_native probe_natives[PCTL_N_NATIVE] = {
#define PCTL_NATIVE(NAME, op, result, operand) \
	{PCTL_OP_##op, PCTL_SCALAR_##result, PCTL_SCALAR_##operand},
#include "compiler/legalize/natives.def"
#undef PCTL_NATIVE
};

uint32_t probe_arity(uint16_t op)
{
	const char *args = pctl_op_get(op)->args;

	return (uint32_t)strlen(args);
}

int probe_is_nan(uint8_t scalar, uint64_t bits)
{
	switch (scalar) {
	case PCTL_SCALAR_F16:
		return (bits & 0x7fff) > 0x7c00;
	case PCTL_SCALAR_F32:
		return (bits & 0x7fffffff) > 0x7f800000;
	case PCTL_SCALAR_F64:
		return (bits & INT64_MAX) > 0x7ff0000000000000;
	default:
		return 0;
	}
}

/* A subnormal; with more = 1 the smallest normal too. */
static int is_below(uint8_t scalar, uint64_t bits, uint64_t more)
{
	const uint32_t mantissa = scalar == PCTL_SCALAR_F16   ? 10
				  : scalar == PCTL_SCALAR_F32 ? 23
							      : 52;
	const uint32_t width = pctl_scalar_bits(scalar);
	const uint64_t magnitude = bits & ~(1ull << (width - 1));

	if (scalar != PCTL_SCALAR_F16 && scalar != PCTL_SCALAR_F32 && scalar != PCTL_SCALAR_F64)
		return 0;
	return magnitude != 0 && magnitude < (1ull << mantissa) + more;
}

int probe_is_tiny(uint8_t scalar, uint64_t bits)
{
	return is_below(scalar, bits, 1);
}

int probe_is_subnormal(uint8_t scalar, uint64_t bits)
{
	return is_below(scalar, bits, 0);
}

/* The same for float and double; min and max order -0 below +0 and prefer numbers to NaN. */
#define ARITHMETIC(T, W, NAME, FMA, SQRT, FLOOR, CEIL, TRUNC, RINT)                       \
	static T NAME##_of(uint64_t bits)                                                 \
	{                                                                                 \
		const W word = (W)bits;                                                   \
		T x;                                                                      \
                                                                                          \
		memcpy(&x, &word, sizeof(x));                                             \
		return x;                                                                 \
	}                                                                                 \
	static uint64_t NAME##_bits(T x)                                                  \
	{                                                                                 \
		W word;                                                                   \
                                                                                          \
		memcpy(&word, &x, sizeof(word));                                          \
		return word;                                                              \
	}                                                                                 \
	static T NAME##_least(T x, T y)                                                   \
	{                                                                                 \
		if (isnan(x) || isnan(y))                                                 \
			return isnan(x) ? y : x;                                          \
		if (x == y)                                                               \
			return signbit(x) ? x : y;                                        \
		return x < y ? x : y;                                                     \
	}                                                                                 \
	static int NAME##_expect(const probe_native *n, const uint64_t *o, uint64_t *out) \
	{                                                                                 \
		const uint64_t sign = 1ull << (sizeof(W) * 8 - 1);                        \
		const T x = NAME##_of(o[0]), y = NAME##_of(o[1]), z = NAME##_of(o[2]);    \
                                                                                          \
		switch (n->op) {                                                          \
		case PCTL_OP_NADD:                                                        \
			*out = NAME##_bits(x + y);                                        \
			return 1;                                                         \
		case PCTL_OP_NSUB:                                                        \
			*out = NAME##_bits(x - y);                                        \
			return 1;                                                         \
		case PCTL_OP_NMUL:                                                        \
			*out = NAME##_bits(x * y);                                        \
			return 1;                                                         \
		case PCTL_OP_NDIV:                                                        \
			*out = NAME##_bits(x / y);                                        \
			return 1;                                                         \
		case PCTL_OP_NFMA:                                                        \
			*out = NAME##_bits(FMA(x, y, z));                                 \
			return 1;                                                         \
		case PCTL_OP_NSQRT:                                                       \
			*out = NAME##_bits(SQRT(x));                                      \
			return 1;                                                         \
		case PCTL_OP_NNEG:                                                        \
			*out = o[0] ^ sign;                                               \
			return 1;                                                         \
		case PCTL_OP_NABS:                                                        \
			*out = o[0] & ~sign;                                              \
			return 1;                                                         \
		case PCTL_OP_NMIN:                                                        \
			*out = NAME##_bits(NAME##_least(x, y));                           \
			return 1;                                                         \
		case PCTL_OP_NMAX:                                                        \
			*out = NAME##_bits(-NAME##_least(-x, -y));                        \
			return 1;                                                         \
		case PCTL_OP_NEQ:                                                         \
			*out = x == y;                                                    \
			return 1;                                                         \
		case PCTL_OP_NNE:                                                         \
			*out = x != y;                                                    \
			return 1;                                                         \
		case PCTL_OP_NLT:                                                         \
			*out = x < y;                                                     \
			return 1;                                                         \
		case PCTL_OP_NLE:                                                         \
			*out = x <= y;                                                    \
			return 1;                                                         \
		case PCTL_OP_NGT:                                                         \
			*out = x > y;                                                     \
			return 1;                                                         \
		case PCTL_OP_NGE:                                                         \
			*out = x >= y;                                                    \
			return 1;                                                         \
		case PCTL_OP_NFLOOR:                                                      \
			*out = NAME##_bits(FLOOR(x));                                     \
			return 1;                                                         \
		case PCTL_OP_NCEIL:                                                       \
			*out = NAME##_bits(CEIL(x));                                      \
			return 1;                                                         \
		case PCTL_OP_NTRUNC:                                                      \
			*out = NAME##_bits(TRUNC(x));                                     \
			return 1;                                                         \
		case PCTL_OP_NROUND:                                                      \
			*out = NAME##_bits(RINT(x));                                      \
			return 1;                                                         \
		default:                                                                  \
			return 0;                                                         \
		}                                                                         \
	}
ARITHMETIC(float, uint32_t, single, fmaf, sqrtf, floorf, ceilf, truncf, rintf)
ARITHMETIC(double, uint64_t, twice, fma, sqrt, floor, ceil, trunc, rint)

static int convert(const probe_native *n, uint64_t bits, uint64_t *out)
{
	double x = n->operand == PCTL_SCALAR_F64   ? twice_of(bits)
		   : n->operand == PCTL_SCALAR_F32 ? (double)single_of(bits)
		   : n->operand == PCTL_SCALAR_I32 ? (double)(int32_t)bits
						   : (double)(uint32_t)bits;
	uint64_t wide;

	if (n->operand == PCTL_SCALAR_F16) {
		pctl_float_eval(PCTL_OP_FCONVERT, PCTL_SCALAR_F32, PCTL_SCALAR_F16, &bits, &wide);
		x = (double)single_of(wide);
	}
	switch (n->result) {
	case PCTL_SCALAR_F64:
		*out = twice_bits(x);
		return 1;
	case PCTL_SCALAR_F32:
		*out = single_bits((float)x);
		return 1;
	case PCTL_SCALAR_I32: /* defined where it fits */
		*out = trunc(x) >= -0x1p31 && trunc(x) < 0x1p31 ? (uint32_t)(int32_t)x : 0;
		return trunc(x) >= -0x1p31 && trunc(x) < 0x1p31;
	case PCTL_SCALAR_U32:
		*out = x >= 0 && x < 0x1p32 ? (uint32_t)x : 0;
		return x >= 0 && x < 0x1p32;
	default: /* f16, from f32 or an integer: one rounding */
		return pctl_float_eval(PCTL_OP_FCONVERT, PCTL_SCALAR_F16, n->operand, &bits, out);
	}
}

int probe_expect(const probe_native *n, const uint64_t *operands, uint64_t *out)
{
	*out = 0;
	if (n->op == PCTL_OP_NCONVERT)
		return convert(n, operands[0], out);
	if (n->operand == PCTL_SCALAR_F32)
		return single_expect(n, operands, out);
	if (n->operand == PCTL_SCALAR_F64)
		return twice_expect(n, operands, out);
	return pctl_float_eval((uint16_t)(n->op - (PCTL_NATIVE_FIRST - PCTL_STRICT_FIRST)),
			       n->result, n->operand, operands, out);
}
