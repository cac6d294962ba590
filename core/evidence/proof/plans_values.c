/* Values of elements: every pattern is a function of seed, place and type, so that a problem can be made anywhere. */
#include <string.h>

#include "runtime/graph/type.h"
#include "evidence/proof/plans.h"

enum { ANY, MIDDLING, ZERO, ASCENDING, DESCENDING, FEW, ONES, SMALL, EXTREME, NEAR_ONE, EQUAL };

static uint64_t integer_value(uint32_t pattern, uint64_t r, uint64_t i, uint64_t n, uint32_t bits)
{
	const uint64_t top = 1ull << (bits - 1);

	switch (pattern) {
	case ZERO:
		return 0;
	case ASCENDING:
		return i;
	case DESCENDING:
		return n - i;
	case FEW:
		return r % 3;
	case ONES:
		return UINT64_MAX;
	case SMALL:
		return r & 15;
	case EXTREME: {
		const uint64_t values[8] = {0,		1,
					    top,	top - 1,
					    UINT64_MAX, UINT64_MAX - 1,
					    top + 1,	1ull << (r >> 32) % bits};

		return values[r & 7];
	}
	case NEAR_ONE:
		return top - 2 + (r & 3);
	case EQUAL:
		return 0xdeadbeefcafef00du;
	case MIDDLING:
		return r & ((1ull << bits / 2) - 1);
	default:
		return r;
	}
}

/* Of a format with e exponent and m mantissa bits. */
static uint64_t float_value(uint32_t pattern, uint64_t r, uint64_t i, uint64_t n, uint32_t e,
			    uint32_t m)
{
	const uint64_t top = (1ull << e) - 1, one = top >> 1, mantissa = r & ((1ull << m) - 1);
	const uint64_t sign = (r >> 63) << (e + m), place = pattern == ASCENDING ? i : n - i;

	switch (pattern) {
	case ZERO:
		return sign;
	case ASCENDING: /* numbers in order: their bits are */
	case DESCENDING:
		return (one << m) + place % (one << m);
	case FEW:
		return sign | (one + r % 3) << m;
	case ONES: /* sums that overflow and come back */
		return (i & 1) << (e + m) | (top - 1) << m | ((1ull << m) - 1);
	case SMALL: /* subnormal, and the smallest normal ones */
		return sign | ((r >> 40 & 7) == 0 ? 1ull << m : 0) | mantissa;
	case EXTREME: {
		const uint64_t values[8] = {sign,
					    sign | one << m,
					    sign | (one + (r >> 32 & 3)) << m | mantissa,
					    sign | mantissa,
					    i % 5 == 0 ? sign | top << m : one << m,
					    i % 7 == 0 ? sign | top << m | mantissa | 1
						       : sign | one << m,
					    sign | (top - 1) << m | mantissa,
					    sign | 1};

		return values[r & 7];
	}
	case NEAR_ONE:
		return (one << m) + (r & 7) - 3;
	case EQUAL:
		return (one - 4) << m | ((1ull << m) - 1) / 3;
	case MIDDLING:
		return sign | (one - 4 + (r >> 40 & 7)) << m | mantissa;
	default:
		return r & ((2ull << (e + m)) - 1);
	}
}

void pctl_problem_value(uint32_t pattern, uint32_t dtype, uint64_t seed, uint64_t i, uint64_t n,
			uint8_t *at)
{
	const uint64_t r = pctl_problem_random(seed, i);
	const uint32_t bytes = pctl_dtype_bytes(dtype);
	uint64_t v;

	switch (dtype) {
	case PCTL_SCALAR_F16:
		v = float_value(pattern, r, i, n, 5, 10);
		break;
	case PCTL_SCALAR_BF16:
		v = float_value(pattern, r, i, n, 8, 7);
		break;
	case PCTL_SCALAR_F32:
		v = float_value(pattern, r, i, n, 8, 23);
		break;
	case PCTL_SCALAR_F64:
		v = float_value(pattern, r, i, n, 11, 52);
		break;
	case PCTL_SCALAR_BOOL:
		v = integer_value(pattern, r, i, n, 32) & 1;
		break;
	case PCTL_DTYPE_U128:
		v = integer_value(pattern, pctl_problem_random(r, 1), i, n, 64);
		if (pattern == ASCENDING || pattern == DESCENDING || pattern == SMALL ||
		    pattern == FEW)
			v = 0;
		memcpy(at + 8, &v, 8);
		v = integer_value(pattern, r, i, n, 64);
		break;
	default:
		v = integer_value(pattern, r, i, n, bytes >= 8 ? 64 : 8 * bytes);
		break;
	}
	memcpy(at, &v, bytes >= 8 ? 8 : bytes);
}
