/* See float_pairs.h. */
#include "float_pairs.h"

float_parts float_take_apart(const float_format *f, uint32_t bits)
{
	const uint32_t fields = 1u << (f->bits - 1 - f->mantissa), ones = fields - 1;
	const uint32_t field = bits >> f->mantissa & ones;
	float_parts p = {.negative = bits >> (f->bits - 1), .m = bits & ((1u << f->mantissa) - 1)};

	if (field == ones)
		p.class = p.m ? 2 : 1;
	else if (field)
		p.m |= 1u << f->mantissa;
	p.e = (int32_t)(field ? field : 1) - f->bias - f->mantissa;
	return p;
}

static uint32_t infinite(const float_format *f, uint32_t negative)
{
	const uint32_t all = (1u << (f->bits - 1)) - 1, fraction = (1u << f->mantissa) - 1;

	return negative << (f->bits - 1) | (all & ~fraction);
}

/* m * 2^e to nearest even. */
static uint32_t rounded(const float_format *f, uint32_t negative, uint64_t m, int32_t e)
{
	const int32_t least = 1 - f->bias - f->mantissa;
	const uint32_t sign = negative << (f->bits - 1);
	int32_t unit, drop;
	uint64_t k;

	if (m == 0)
		return sign;
	unit = e + 63 - __builtin_clzll(m) - f->mantissa;
	if (unit < least)
		unit = least;
	drop = unit - e;
	if (drop <= 0) {
		k = m << -drop;
	} else if (drop > 62) {
		k = 0; /* m has at most 62 bits here, so it is below half a unit */
	} else {
		const uint64_t left = m & ((1ull << drop) - 1), half = 1ull << (drop - 1);

		k = m >> drop;
		k += left > half || (left == half && k % 2);
	}
	k += (uint64_t)(unit - least) << f->mantissa;
	return k < infinite(f, 0) ? sign | (uint32_t)k : infinite(f, negative);
}

uint32_t float_sum(const float_format *f, const float_parts *a, const float_parts *b)
{
	int64_t sum, low;
	int32_t apart;

	if (a->class == 2 || b->class == 2)
		return f->nan;
	if (a->class || b->class) {
		if (a->class && b->class && a->negative != b->negative)
			return f->nan;
		return infinite(f, a->class ? a->negative : b->negative);
	}
	if (a->m == 0 && b->m == 0)
		return rounded(f, a->negative & b->negative, 0, 0);
	if (b->m && (a->m == 0 || b->e > a->e)) {
		const float_parts *c = a;
		a = b;
		b = c;
	}
	/* a, the one with the larger exponent, gets 40 places more. What lies below them only breaks
	 * a tie, for then a has all its own digits. */
	apart = a->e - b->e;
	low = b->m == 0 ? 0 : apart <= 40 ? (int64_t)b->m << (40 - apart) : 1;
	sum = (int64_t)a->m << 40;
	sum = (a->negative ? -sum : sum) + (b->negative ? -low : low);
	return rounded(f, sum < 0, (uint64_t)(sum < 0 ? -sum : sum), a->e - 40);
}

uint32_t float_product(const float_format *f, const float_parts *a, const float_parts *b)
{
	const uint32_t negative = a->negative ^ b->negative;
	const uint32_t zero = (a->class == 0 && a->m == 0) || (b->class == 0 && b->m == 0);

	if (a->class == 2 || b->class == 2)
		return f->nan;
	if (a->class || b->class)
		return zero ? f->nan : infinite(f, negative);
	return rounded(f, negative, (uint64_t)a->m * b->m, a->e + b->e);
}
