/* Implementation of soft.h. A number is sign, kind and mantissa * 2^exponent with a mantissa of up to 24 bits; exact
 * results are up to 124 bits wide, their lowest bit standing for everything below it ("sticky"), which rounding allows
 * as long as at least two bits lie between it and the last one kept. */
#include "soft.h"

__extension__ typedef unsigned __int128 wide;

const soft_format soft_f32 = {8, 23}, soft_f16 = {5, 10}, soft_bf16 = {8, 7};

enum { ZERO, NUMBER, INFINITE, NOT };

typedef struct number {
	int kind, exponent;
	uint32_t sign, mantissa;
} number;

static int bias(soft f)
{
	return (1 << (f->exponent - 1)) - 1;
}

static uint32_t sign_bit(soft f)
{
	return 1u << (f->exponent + f->mantissa);
}

static uint32_t infinity(soft f, uint32_t sign)
{
	return ((1u << f->exponent) - 1) << f->mantissa | (sign ? sign_bit(f) : 0);
}

static uint32_t zero(soft f, uint32_t sign)
{
	return sign ? sign_bit(f) : 0;
}

uint32_t soft_nan(soft f)
{
	return infinity(f, 0) | 1u << (f->mantissa - 1);
}

static number unpack(soft f, uint32_t bits)
{
	const uint32_t most = (1u << f->exponent) - 1, e = bits >> f->mantissa & most,
		       m = bits & ((1u << f->mantissa) - 1);
	number n = {NUMBER, 1 - bias(f) - f->mantissa, (bits & sign_bit(f)) != 0, m};

	if (e == most)
		n.kind = m != 0 ? NOT : INFINITE;
	else if (e == 0)
		n.kind = m != 0 ? NUMBER : ZERO;
	else {
		n.exponent += (int)e - 1;
		n.mantissa |= 1u << f->mantissa;
	}
	return n;
}

static int length(wide m)
{
	const uint64_t high = (uint64_t)(m >> 64), low = (uint64_t)m;

	return high != 0 ? 128 - __builtin_clzll(high) : low != 0 ? 64 - __builtin_clzll(low) : 0;
}

/* m * 2^exponent, m not 0, to the nearest number of the format. */
static uint32_t rounded(soft f, uint32_t sign, wide m, int exponent)
{
	const int least = 1 - bias(f), top = exponent + length(m) - 1,
		  e = top < least ? least : top;
	const int drop = e - f->mantissa - exponent;
	uint64_t bits;
	wide kept = m;

	if (e > bias(f))
		return infinity(f, sign);
	if (drop > 125)
		return zero(f, sign);
	if (drop > 0) {
		const wide rest = m & (((wide)1 << drop) - 1), half = (wide)1 << (drop - 1);

		kept = m >> drop;
		kept += rest > half || (rest == half && (kept & 1) != 0) ? 1u : 0u;
	} else {
		kept = m << -drop;
	}
	/* The hidden bit adds one to the exponent's field, and so does a carry out of the mantissa. */
	bits = (uint64_t)kept + ((uint64_t)(e - least) << f->mantissa);
	return bits >= infinity(f, 0) ? infinity(f, sign) : (uint32_t)bits | zero(f, sign);
}

/* a * 2^ea + b * 2^eb with signs; a and b below 2^48. */
static uint32_t sum(soft f, uint32_t sa, uint64_t a, int ea, uint32_t sb, uint64_t b, int eb)
{
	wide high, low, m;

	if (ea < eb)
		return sum(f, sb, b, eb, sa, a, ea);
	/* 2^75 * a leaves room for a carry; what of b does not reach that far down is sticky. */
	high = (wide)a << 75;
	low = (wide)b << 75;
	ea -= 75;
	eb -= 75;
	if (ea - eb > 124)
		low = 1;
	else if (ea > eb) {
		const int shift = ea - eb;
		const uint32_t lost = (low & (((wide)1 << shift) - 1)) != 0;

		low = low >> shift | lost;
	}
	if (sa == sb) {
		m = high + low;
	} else if (high >= low) {
		m = high - low;
	} else {
		m = low - high;
		sa = sb;
	}
	return m == 0 ? zero(f, 0) : rounded(f, sa, m, ea);
}

uint32_t soft_fma(soft f, uint32_t x, uint32_t y, uint32_t z)
{
	const number a = unpack(f, x), b = unpack(f, y), c = unpack(f, z);
	const uint32_t sign = a.sign ^ b.sign;

	if (a.kind == NOT || b.kind == NOT || c.kind == NOT)
		return soft_nan(f);
	if (a.kind == INFINITE || b.kind == INFINITE) {
		if (a.kind == ZERO || b.kind == ZERO || (c.kind == INFINITE && c.sign != sign))
			return soft_nan(f);
		return infinity(f, sign);
	}
	if (c.kind == INFINITE)
		return z;
	if (a.kind == ZERO || b.kind == ZERO)
		return c.kind != ZERO ? z : zero(f, sign & c.sign);
	if (c.kind == ZERO)
		return rounded(f, sign, (wide)a.mantissa * b.mantissa, a.exponent + b.exponent);
	return sum(f, sign, (uint64_t)a.mantissa * b.mantissa, a.exponent + b.exponent, c.sign,
		   c.mantissa, c.exponent);
}

uint32_t soft_add(soft f, uint32_t x, uint32_t y)
{
	const number a = unpack(f, x), b = unpack(f, y);

	if (a.kind == NOT || b.kind == NOT ||
	    (a.kind == INFINITE && b.kind == INFINITE && a.sign != b.sign))
		return soft_nan(f);
	if (a.kind == INFINITE || b.kind == INFINITE)
		return a.kind == INFINITE ? x : y;
	if (a.kind == ZERO && b.kind == ZERO)
		return zero(f, a.sign & b.sign);
	if (a.kind == ZERO || b.kind == ZERO)
		return a.kind == ZERO ? y : x;
	return sum(f, a.sign, a.mantissa, a.exponent, b.sign, b.mantissa, b.exponent);
}

uint32_t soft_negate(soft f, uint32_t a)
{
	return a ^ sign_bit(f);
}

uint32_t soft_abs(soft f, uint32_t a)
{
	return a & ~sign_bit(f);
}

uint32_t soft_sub(soft f, uint32_t a, uint32_t b)
{
	return soft_add(f, a, soft_negate(f, b));
}

uint32_t soft_mul(soft f, uint32_t x, uint32_t y)
{
	const number a = unpack(f, x), b = unpack(f, y);
	const uint32_t sign = a.sign ^ b.sign;

	if (a.kind == NOT || b.kind == NOT || (a.kind == ZERO && b.kind == INFINITE) ||
	    (a.kind == INFINITE && b.kind == ZERO))
		return soft_nan(f);
	if (a.kind == INFINITE || b.kind == INFINITE)
		return infinity(f, sign);
	if (a.kind == ZERO || b.kind == ZERO)
		return zero(f, sign);
	return rounded(f, sign, (wide)a.mantissa * b.mantissa, a.exponent + b.exponent);
}

uint32_t soft_div(soft f, uint32_t x, uint32_t y)
{
	const number a = unpack(f, x), b = unpack(f, y);
	const uint32_t sign = a.sign ^ b.sign;
	uint64_t n;

	if (a.kind == NOT || b.kind == NOT || (a.kind == b.kind && a.kind != NUMBER))
		return soft_nan(f);
	if (a.kind == INFINITE || b.kind == ZERO)
		return infinity(f, sign);
	if (a.kind == ZERO || b.kind == INFINITE)
		return zero(f, sign);
	/* A short dividend (a subnormal) by a long divisor would leave too few bits: bring it to 24 first. */
	n = (uint64_t)a.mantissa << (24 - length(a.mantissa));
	n <<= 40;
	return rounded(f, sign, (wide)(n / b.mantissa) << 1 | (wide)(n % b.mantissa != 0 ? 1u : 0u),
		       a.exponent - (24 - length(a.mantissa)) - 41 - b.exponent);
}

uint32_t soft_sqrt(soft f, uint32_t x)
{
	const number a = unpack(f, x);
	uint64_t n, root = 0;
	int e = a.exponent, up;

	if (a.kind == ZERO || (a.kind == INFINITE && !a.sign))
		return x;
	if (a.kind == NOT || a.sign)
		return soft_nan(f);
	up = 62 - length(a.mantissa);
	up += (e - up) & 1;
	n = (uint64_t)a.mantissa << up;
	e -= up;
	for (uint64_t bit = 1ull << 31; bit != 0; bit >>= 1)
		if ((root | bit) * (root | bit) <= n)
			root |= bit;
	return rounded(f, 0, (wide)root << 1 | (root * root != n ? 1u : 0u), e / 2 - 1);
}

/* Below, equal, above: -1, 0, 1. Neither is a NaN. Zeros are equal. */
static int order(soft f, uint32_t a, uint32_t b)
{
	const int64_t x = a & sign_bit(f) ? -(int64_t)soft_abs(f, a) : (int64_t)a,
		      y = b & sign_bit(f) ? -(int64_t)soft_abs(f, b) : (int64_t)b;

	return x < y ? -1 : x > y;
}

static uint32_t extreme(soft f, uint32_t a, uint32_t b, int wanted)
{
	const int no_a = unpack(f, a).kind == NOT, no_b = unpack(f, b).kind == NOT;
	int by;

	if (no_a && no_b)
		return soft_nan(f);
	if (no_a || no_b)
		return no_a ? b : a;
	by = order(f, a, b);
	if (by == 0)
		by = (int)(b & sign_bit(f) ? 1 : 0) - (int)(a & sign_bit(f) ? 1 : 0);
	return by == wanted ? a : b;
}

uint32_t soft_min(soft f, uint32_t a, uint32_t b)
{
	return extreme(f, a, b, -1);
}

uint32_t soft_max(soft f, uint32_t a, uint32_t b)
{
	return extreme(f, a, b, 1);
}

uint32_t soft_compare(soft f, uint32_t a, uint32_t b)
{
	int by;

	if (unpack(f, a).kind == NOT || unpack(f, b).kind == NOT)
		return 2;
	by = order(f, a, b);
	return (by == 0 ? 1u : 2u) | (by < 0 ? 4u : 0) | (by <= 0 ? 8u : 0) | (by > 0 ? 16u : 0) |
	       (by >= 0 ? 32u : 0);
}

uint32_t soft_integral(soft f, uint32_t x, int how)
{
	const number a = unpack(f, x);
	uint32_t whole, rest, half;
	int drop = -a.exponent, up;

	if (a.kind == NOT)
		return soft_nan(f);
	if (a.kind != NUMBER || drop <= 0)
		return x;
	if (drop > 30)
		drop = 30;
	whole = a.mantissa >> drop;
	rest = a.mantissa & ((1u << drop) - 1);
	half = 1u << (drop - 1);
	up = how == SOFT_FLOOR	 ? rest != 0 && a.sign
	     : how == SOFT_CEIL	 ? rest != 0 && !a.sign
	     : how == SOFT_ROUND ? rest > half || (rest == half && (whole & 1) != 0)
				 : 0;
	whole += (uint32_t)up;
	return whole == 0 ? zero(f, a.sign) : rounded(f, a.sign, whole, 0);
}

/* The whole part of the magnitude, or 2^33 for anything larger. */
static uint64_t magnitude(const number *a)
{
	if (a->kind == ZERO || (a->kind == NUMBER && a->exponent < -30))
		return 0;
	if (a->kind == INFINITE || a->exponent > 32)
		return 1ull << 33;
	if (a->exponent <= 0)
		return a->mantissa >> -a->exponent;
	return (uint64_t)a->mantissa << a->exponent;
}

uint32_t soft_to_i32(soft f, uint32_t x)
{
	const number a = unpack(f, x);
	const uint64_t most = a.sign ? 0x80000000u : 0x7fffffffu;
	uint64_t m;

	if (a.kind == NOT)
		return 0;
	m = magnitude(&a);
	m = m > most ? most : m;
	return a.sign ? 0u - (uint32_t)m : (uint32_t)m;
}

uint32_t soft_to_u32(soft f, uint32_t x)
{
	const number a = unpack(f, x);
	uint64_t m;

	if (a.kind == NOT || a.sign)
		return 0;
	m = magnitude(&a);
	return m > 0xffffffffu ? 0xffffffffu : (uint32_t)m;
}

uint32_t soft_from_u32(soft f, uint32_t a)
{
	return a == 0 ? 0 : rounded(f, 0, a, 0);
}

uint32_t soft_from_i32(soft f, uint32_t a)
{
	return a >> 31 ? rounded(f, 1, 0u - a, 0) : soft_from_u32(f, a);
}

uint32_t soft_convert(soft from, soft to, uint32_t x)
{
	const number a = unpack(from, x);

	switch (a.kind) {
	case NOT:
		return soft_nan(to);
	case INFINITE:
		return infinity(to, a.sign);
	case ZERO:
		return zero(to, a.sign);
	default:
		return rounded(to, a.sign, a.mantissa, a.exponent);
	}
}
