/* f16 and bf16 fast enough for all 2^32 pairs: every number is a double; a sum, product or quotient of two is
 * exact as a double or, having 53 >= 2 * 11 + 2 bits, close enough that the one rounding into the format is right.
 * oracle_mpfr.c, which supposes nothing, is what these are held against. See forms.h. */
#include "forms.h"

#include <math.h>

static double numbers[2][65536]; /* f16, bf16 */

static float f32_of(uint32_t bits)
{
	float f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static uint32_t bits_of(float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(f));
	return bits;
}

void forms_each_open(void)
{
	for (uint32_t i = 0; i < 65536; i++) {
		const uint32_t e = i >> 10 & 31, m = i & 1023;
		double f16 = e == 31 ? (m ? (double)NAN : (double)INFINITY) : ldexp(m, -24);

		if (e > 0 && e < 31)
			f16 = ldexp(1024 + m, (int)e - 25);
		numbers[0][i] = i >> 15 ? -f16 : f16;
		numbers[1][i] = (double)f32_of(i << 16);
	}
}

/* |d| to the nearest multiple of its last place in a format of p bits, and of `least` at least. Adding 2^52
 * and a half of it times that place makes the host round there. */
static double at_place(double d, int p, double least)
{
	double unit = 0x1p-1022, big;
	uint64_t bits;

	memcpy(&bits, &d, sizeof(d));
	bits &= 0x7ff0000000000000u;
	if (bits >> 52 > (uint64_t)p) {
		bits -= (uint64_t)(p - 1) << 52;
		memcpy(&unit, &bits, sizeof(unit));
	}
	unit = unit < least ? least : unit;
	big = unit * 0x1.8p52;
	return (fabs(d) + big) - big;
}

static uint64_t to_f16(double d)
{
	const uint64_t sign = signbit(d) ? 0x8000u : 0;
	double r;

	if (isnan(d))
		return 0x7e00u;
	r = isinf(d) ? 65536 : at_place(d, 11, 0x1p-24);
	if (r >= 65536)
		return sign | 0x7c00u;
	if (r < 0x1p-14)
		return sign | (uint64_t)(r * 0x1p24);
	return sign | ((bits_of((float)r) >> 13) - (112u << 10));
}

static uint64_t to_bf16(double d)
{
	const uint64_t sign = signbit(d) ? 0x8000u : 0;
	double r;

	if (isnan(d))
		return 0x7fc0u;
	r = isinf(d) ? 0x1p128 : at_place(d, 8, 0x1p-133);
	return sign | (r >= 0x1p128 ? 0x7f80u : bits_of((float)r) >> 16);
}

#define EACH(t, k, nan)                                                    \
	uint64_t each_add##t(const uint64_t x[3])                          \
	{                                                                  \
		return to_##t(numbers[k][x[0]] + numbers[k][x[1]]);        \
	}                                                                  \
	uint64_t each_sub##t(const uint64_t x[3])                          \
	{                                                                  \
		return to_##t(numbers[k][x[0]] - numbers[k][x[1]]);        \
	}                                                                  \
	uint64_t each_mul##t(const uint64_t x[3])                          \
	{                                                                  \
		return to_##t(numbers[k][x[0]] * numbers[k][x[1]]);        \
	}                                                                  \
	uint64_t each_div##t(const uint64_t x[3])                          \
	{                                                                  \
		return to_##t(numbers[k][x[0]] / numbers[k][x[1]]);        \
	}                                                                  \
	uint64_t each_eq##t(const uint64_t x[3])                           \
	{                                                                  \
		return numbers[k][x[0]] == numbers[k][x[1]];               \
	}                                                                  \
	uint64_t each_lt##t(const uint64_t x[3])                           \
	{                                                                  \
		return numbers[k][x[0]] < numbers[k][x[1]];                \
	}                                                                  \
	uint64_t each_le##t(const uint64_t x[3])                           \
	{                                                                  \
		return numbers[k][x[0]] <= numbers[k][x[1]];               \
	}                                                                  \
	uint64_t each_min##t(const uint64_t x[3])                          \
	{                                                                  \
		const double a = numbers[k][x[0]], b = numbers[k][x[1]];   \
                                                                           \
		if (isnan(a) || isnan(b))                                  \
			return isnan(a) && isnan(b) ? (nan) : x[isnan(a)]; \
		return x[a == b ? !signbit(a) : a > b];                    \
	}                                                                  \
	uint64_t each_max##t(const uint64_t x[3])                          \
	{                                                                  \
		const double a = numbers[k][x[0]], b = numbers[k][x[1]];   \
                                                                           \
		if (isnan(a) || isnan(b))                                  \
			return isnan(a) && isnan(b) ? (nan) : x[isnan(a)]; \
		return x[a == b ? signbit(a) != 0 : a < b];                \
	}

EACH(f16, 0, 0x7e00u)
EACH(bf16, 1, 0x7fc0u)
