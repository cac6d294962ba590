/* Exact numbers: products, sums, comparison, rounding to a multiple of a power of two. */
#include "foundation/dtype/exact.h"

#include <assert.h>
#include <math.h>

static const pctl_exact not_a_number = {PCTL_EXACT_NAN, 0, 0, 0};

static uint32_t length(uint64_t m)
{
	return m == 0 ? 0 : 64u - (uint32_t)__builtin_clzll(m);
}

pctl_exact pctl_exact_integer(int64_t v)
{
	return (pctl_exact){PCTL_EXACT_FINITE, v < 0, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 0};
}

pctl_exact pctl_exact_negate(pctl_exact a)
{
	a.negative = a.kind != PCTL_EXACT_NAN && !a.negative;
	return a;
}

static int is_zero(pctl_exact a)
{
	return a.kind == PCTL_EXACT_FINITE && a.magnitude == 0;
}

pctl_exact pctl_exact_mul(pctl_exact a, pctl_exact b)
{
	pctl_exact r = {PCTL_EXACT_FINITE, a.negative ^ b.negative, 0, 0};

	if (a.kind == PCTL_EXACT_NAN || b.kind == PCTL_EXACT_NAN)
		return not_a_number;
	if (a.kind == PCTL_EXACT_INFINITE || b.kind == PCTL_EXACT_INFINITE) {
		r.kind = PCTL_EXACT_INFINITE;
		return is_zero(a) || is_zero(b) ? not_a_number : r;
	}
	r.exponent = a.exponent + b.exponent;
	if (__builtin_mul_overflow(a.magnitude, b.magnitude, &r.magnitude)) {
		assert(0);
		return not_a_number;
	}
	return r;
}

pctl_exact pctl_exact_add(pctl_exact a, pctl_exact b)
{
	pctl_exact r = a;
	uint32_t up;

	if (a.kind == PCTL_EXACT_NAN || b.kind == PCTL_EXACT_NAN ||
	    (a.kind == PCTL_EXACT_INFINITE && b.kind == PCTL_EXACT_INFINITE &&
	     a.negative != b.negative))
		return not_a_number;
	if (a.kind == PCTL_EXACT_INFINITE || b.kind == PCTL_EXACT_INFINITE)
		return a.kind == PCTL_EXACT_INFINITE ? a : b;
	if (is_zero(a) && is_zero(b)) {
		r.negative = a.negative && b.negative;
		return r;
	}
	if (is_zero(a) || is_zero(b))
		return is_zero(a) ? b : a;
	if (a.exponent < b.exponent) { /* a is the one that is moved */
		r = a;
		a = b;
		b = r;
	}
	up = (uint32_t)(a.exponent - b.exponent);
	if (length(a.magnitude) + up > 63 || length(b.magnitude) > 63) {
		assert(0);
		return not_a_number;
	}
	a.magnitude <<= up;
	r = (pctl_exact){PCTL_EXACT_FINITE, a.negative, 0, b.exponent};
	if (a.negative == b.negative) {
		r.magnitude = a.magnitude + b.magnitude;
	} else if (a.magnitude >= b.magnitude) {
		r.magnitude = a.magnitude - b.magnitude;
		r.negative = r.magnitude != 0 && a.negative; /* x - x is +0 */
	} else {
		r.magnitude = b.magnitude - a.magnitude;
		r.negative = b.negative;
	}
	return r;
}

uint64_t pctl_exact_round(uint64_t magnitude, int32_t exponent, int32_t unit)
{
	const int64_t down = (int64_t)unit - exponent;
	uint64_t whole, rest, half;

	if (magnitude == 0)
		return 0;
	if (down <= 0)
		return -down >= 64 || (int64_t)length(magnitude) - down > 64 ? UINT64_MAX
									     : magnitude << -down;
	if (down > 64)
		return 0;
	whole = down == 64 ? 0 : magnitude >> down;
	rest = down == 64 ? magnitude : magnitude & ((1ull << down) - 1);
	half = 1ull << (down - 1);
	return whole + (rest > half || (rest == half && (whole & 1)));
}

double pctl_exact_to_double(pctl_exact a)
{
	double v;

	if (a.kind == PCTL_EXACT_NAN)
		return (double)NAN;
	v = a.kind == PCTL_EXACT_INFINITE ? HUGE_VAL : ldexp((double)a.magnitude, a.exponent);
	return a.negative ? -v : v;
}
