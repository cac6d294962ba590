/* soft.c against the host's own arithmetic: f32 in the hardware, and what f16 and bf16 are as doubles, where sums and
 * products of them are exact. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "soft.h"

#define CASES 4000000u

static uint32_t state = 1;

static uint32_t next(void)
{
	state = state * 747796405u + 2891336453u;
	return (state ^ (state >> 15)) * 277803737u ^ state >> 22;
}

/* Random bits; exponents close to those of `near` half of the time; now and then a special value. */
static uint32_t operand(uint32_t near)
{
	static const uint32_t special[] = {0,	       1,	   0x7fffff,   0x800000,
					   0x7f7fffff, 0x7f800000, 0x7fc00001, 0x3f800000};
	const uint32_t r = next();

	if (r % 16 == 0)
		return special[r >> 8 & 7] | (r & 0x80000000u);
	if (r % 16 == 1)
		return (r & 0x807fffffu) >> (next() & 15);
	return r & 256 ? (next() & 0x807fffffu) |
				 ((near + (next() % 51 << 23) - (25u << 23)) & 0x7f800000u)
		       : next();
}

static float float_of(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static uint32_t bits_of(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return isnan(x) ? 0x7fc00000u : bits;
}

static uint32_t wrong;

static void same(const char *what, uint32_t got, uint32_t want, uint32_t a, uint32_t b, uint32_t c)
{
	if (got != want && wrong++ < 10)
		printf("%s(%08x, %08x, %08x): %08x, the host has %08x\n", what, a, b, c, got, want);
}

static void single(uint32_t a, uint32_t b, uint32_t c)
{
	const float x = float_of(a), y = float_of(b), z = float_of(c);
	const soft f = &soft_f32;

	same("add", soft_add(f, a, b), bits_of(x + y), a, b, c);
	same("sub", soft_sub(f, a, b), bits_of(x - y), a, b, c);
	same("mul", soft_mul(f, a, b), bits_of(x * y), a, b, c);
	same("div", soft_div(f, a, b), bits_of(x / y), a, b, c);
	same("fma", soft_fma(f, a, b, c), bits_of(fmaf(x, y, z)), a, b, c);
	same("sqrt", soft_sqrt(f, a), bits_of(sqrtf(x)), a, b, c);
	same("floor", soft_integral(f, a, SOFT_FLOOR), bits_of(floorf(x)), a, b, c);
	same("ceil", soft_integral(f, a, SOFT_CEIL), bits_of(ceilf(x)), a, b, c);
	same("trunc", soft_integral(f, a, SOFT_TRUNC), bits_of(truncf(x)), a, b, c);
	same("round", soft_integral(f, a, SOFT_ROUND), bits_of(rintf(x)), a, b, c);
	same("from_i32", soft_from_i32(f, a), bits_of((float)(int32_t)a), a, b, c);
	same("from_u32", soft_from_u32(f, a), bits_of((float)a), a, b, c);
	same("compare", soft_compare(f, a, b),
	     (x == y ? 1u : 0) | (x != y ? 2u : 0) | (x < y ? 4u : 0) | (x <= y ? 8u : 0) |
		     (x > y ? 16u : 0) | (x >= y ? 32u : 0),
	     a, b, c);
	if (fabsf(x) < 0x1p31f)
		same("to_i32", soft_to_i32(f, a), (uint32_t)(int32_t)x, a, b, c);
	if (x > -1 && x < 0x1p32f)
		same("to_u32", soft_to_u32(f, a), x < 0 ? 0 : (uint32_t)x, a, b, c);
	if (x < y || y < x) {
		same("min", soft_min(f, a, b), bits_of(x < y ? x : y), a, b, c);
		same("max", soft_max(f, a, b), bits_of(x < y ? y : x), a, b, c);
	}
}

/* A number of a small format as f32, by its definition. */
static float value(soft f, uint32_t bits)
{
	const int bias = (1 << (f->exponent - 1)) - 1;
	const uint32_t e = bits >> f->mantissa & ((1u << f->exponent) - 1),
		       m = bits & ((1u << f->mantissa) - 1);
	float v;

	if (e == (1u << f->exponent) - 1)
		v = m != 0 ? NAN : INFINITY;
	else
		v = ldexpf((float)(e != 0 ? m | 1u << f->mantissa : m),
			   (e != 0 ? (int)e : 1) - bias - f->mantissa);
	return bits >> (f->exponent + f->mantissa) & 1 ? -v : v;
}

/* All values there and back; and a result is one of the two neighbours, the nearer, of the exact one. */
static void small(const char *name, soft f)
{
	for (uint32_t a = 0; a < 65536; a++) {
		const uint32_t wide = bits_of(value(f, a)),
			       sign = 1u << (f->exponent + f->mantissa);

		same(name, soft_convert(f, &soft_f32, a), wide, a, 0, 0);
		same(name, soft_convert(&soft_f32, f, wide), isnan(value(f, a)) ? soft_nan(f) : a,
		     a, 0, 0);
		for (uint32_t k = 0; k < 16; k++) {
			const uint32_t b = next() & 0xffff, got = soft_mul(f, a, b);
			const double exact = (double)value(f, a) * (double)value(f, b),
				     off = fabs((double)value(f, got) - exact);

			if (isnan(exact) || isinf((double)value(f, got)) || (got & (sign - 1)) == 0)
				continue;
			if (off > fabs((double)value(f, got + 1) - exact) ||
			    off > fabs((double)value(f, got - 1) - exact) ||
			    (off == fabs((double)value(f, got + 1) - exact) && (got & 1) != 0))
				same(name, got, got + 1, a, b, 0);
		}
	}
}

int main(void)
{
	for (uint32_t i = 0; i < CASES; i++) {
		const uint32_t a = operand(next()), b = operand(a);

		single(a, b, operand((a & 0x7f800000u) + (b & 0x7f800000u) - 0x3f800000u));
	}
	small("f16", &soft_f16);
	small("bf16", &soft_bf16);
	printf("%u triples and both small formats: %u differences\n", CASES, wrong);
	return wrong != 0;
}
