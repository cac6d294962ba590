/* Floats as bits: taken apart, put together with rounding, ordered. Integer code alone. */
#include "ieee.h"

static const ieee_format formats[] = {
	{PCTL_SCALAR_F32, 32, 23},
	{PCTL_SCALAR_F16, 16, 10},
	{PCTL_SCALAR_BF16, 16, 7},
};

const ieee_format *ieee_format_of(uint32_t dtype)
{
	for (uint32_t i = 0; i < KIT_COUNT(formats); i++)
		if (formats[i].dtype == dtype)
			return &formats[i];
	return NULL;
}

uint32_t ieee_sign(const ieee_format *f)
{
	return 1u << (f->bits - 1);
}

uint32_t ieee_infinity(const ieee_format *f)
{
	return ieee_sign(f) - (1u << f->fraction);
}

uint32_t ieee_nan(const ieee_format *f)
{
	return ieee_infinity(f) | 1u << (f->fraction - 1);
}

static uint32_t magnitude(uint32_t bits, const ieee_format *f)
{
	return bits & (ieee_sign(f) - 1);
}

int ieee_is_nan(uint32_t bits, const ieee_format *f)
{
	return magnitude(bits, f) > ieee_infinity(f);
}

/* The exponent of the smallest normal number. */
static int64_t smallest(const ieee_format *f)
{
	return 2 - (int64_t)(1u << (f->bits - f->fraction - 2));
}

ieee_number ieee_take(uint32_t bits, const ieee_format *f)
{
	const uint32_t size = magnitude(bits, f);
	const uint32_t field = size >> f->fraction;
	ieee_number x = {.kind = IEEE_FINITE, .negative = (bits & ieee_sign(f)) != 0};

	if (size >= ieee_infinity(f)) {
		x.kind = size == ieee_infinity(f) ? IEEE_INFINITE : IEEE_NAN;
		return x;
	}
	x.mantissa = size & ((1u << f->fraction) - 1);
	x.exponent = smallest(f) - f->fraction;
	if (field > 0) {
		x.mantissa |= 1u << f->fraction;
		x.exponent += field - 1;
	}
	return x;
}

/* The mantissa divided by 2^shift, to nearest even. */
static uint64_t shifted(const ieee_number *x, int64_t shift)
{
	uint64_t kept, rest, half;

	if (shift <= 0)
		return x->mantissa << -shift;
	if (shift > 63) /* less than half: mantissas have fewer than 63 bits */
		return 0;
	kept = x->mantissa >> shift;
	rest = x->mantissa & ((1ull << shift) - 1);
	half = 1ull << (shift - 1);
	return kept + (rest > half || (rest == half && (x->inexact || (kept & 1))));
}

uint32_t ieee_give(const ieee_number *x, const ieee_format *f)
{
	const uint32_t sign = x->negative ? ieee_sign(f) : 0;
	int64_t top, quantum;
	uint64_t kept, bits;

	if (x->kind == IEEE_NAN)
		return ieee_nan(f);
	if (x->kind == IEEE_INFINITE)
		return sign | ieee_infinity(f);
	if (x->mantissa == 0)
		return sign;
	top = x->exponent + 63 - __builtin_clzll(x->mantissa);
	if (top > 1 - smallest(f))
		return sign | ieee_infinity(f);
	if (top < smallest(f))
		top = smallest(f);
	quantum = top - f->fraction;
	kept = shifted(x, quantum - x->exponent);
	/* The leading bit of a normal mantissa adds the one that the exponent field lacks. */
	bits = ((uint64_t)(top - smallest(f)) << f->fraction) + kept;
	return sign | (bits > ieee_infinity(f) ? ieee_infinity(f) : (uint32_t)bits);
}

int ieee_order(uint32_t a, uint32_t b, const ieee_format *f)
{
	const uint32_t sign = ieee_sign(f);
	const uint32_t left = a & sign ? sign - 1 - magnitude(a, f) : sign | a;
	const uint32_t right = b & sign ? sign - 1 - magnitude(b, f) : sign | b;

	return (left > right) - (left < right);
}

uint32_t ieee_extreme(uint32_t a, uint32_t b, int want, const ieee_format *f)
{
	if (ieee_is_nan(a, f))
		return ieee_is_nan(b, f) ? ieee_nan(f) : b;
	if (ieee_is_nan(b, f))
		return a;
	return ieee_order(a, b, f) == want ? a : b;
}

uint32_t ieee_load(const void *data, uint64_t i, uint32_t n_bytes)
{
	const unsigned char *bytes = (const unsigned char *)data + i * n_bytes;
	uint32_t v = 0;

	for (uint32_t k = n_bytes; k-- > 0;)
		v = v << 8 | bytes[k];
	return v;
}

void ieee_store(void *data, uint64_t i, uint32_t n_bytes, uint32_t bits)
{
	unsigned char *bytes = (unsigned char *)data + i * n_bytes;

	for (uint32_t k = 0; k < n_bytes; k++)
		bytes[k] = (unsigned char)(bits >> (8 * k) & 255);
}
