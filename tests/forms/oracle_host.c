/* f32 and f64 by the host's own arithmetic, which is IEEE 754's (round to nearest, no contraction).
 * See forms.h. */
#include "forms.h"

#include <math.h>

static float f32_of(uint64_t bits)
{
	const uint32_t word = (uint32_t)bits;
	float f;

	memcpy(&f, &word, sizeof(f));
	return f;
}

static double f64_of(uint64_t bits)
{
	double f;

	memcpy(&f, &bits, sizeof(f));
	return f;
}

static uint64_t bits_f32(float f)
{
	uint32_t word;

	memcpy(&word, &f, sizeof(f));
	return isnan(f) ? 0x7fc00000u : word;
}

static uint64_t bits_f64(double f)
{
	uint64_t bits;

	memcpy(&bits, &f, sizeof(f));
	return isnan(f) ? 0x7ff8000000000000u : bits;
}

/* One set of oracles. `m` is the suffix of the math library. */
#define HOST(t, type, m)                                                           \
	uint64_t oracle_add##t(const uint64_t x[3])                                \
	{                                                                          \
		return bits_##t(t##_of(x[0]) + t##_of(x[1]));                      \
	}                                                                          \
	uint64_t oracle_sub##t(const uint64_t x[3])                                \
	{                                                                          \
		return bits_##t(t##_of(x[0]) - t##_of(x[1]));                      \
	}                                                                          \
	uint64_t oracle_mul##t(const uint64_t x[3])                                \
	{                                                                          \
		return bits_##t(t##_of(x[0]) * t##_of(x[1]));                      \
	}                                                                          \
	uint64_t oracle_div##t(const uint64_t x[3])                                \
	{                                                                          \
		return bits_##t(t##_of(x[0]) / t##_of(x[1]));                      \
	}                                                                          \
	uint64_t oracle_sqrt##t(const uint64_t x[3])                               \
	{                                                                          \
		return bits_##t(sqrt##m(t##_of(x[0])));                            \
	}                                                                          \
	uint64_t oracle_fma##t(const uint64_t x[3])                                \
	{                                                                          \
		return bits_##t(fma##m(t##_of(x[0]), t##_of(x[1]), t##_of(x[2]))); \
	}                                                                          \
	uint64_t oracle_min##t(const uint64_t x[3])                                \
	{                                                                          \
		const type a = t##_of(x[0]), b = t##_of(x[1]);                     \
                                                                                   \
		if (isnan(a) || isnan(b))                                          \
			return bits_##t(isnan(a) ? b : a);                         \
		if (a == b)                                                        \
			return bits_##t(signbit(a) ? a : b);                       \
		return bits_##t(a < b ? a : b);                                    \
	}                                                                          \
	uint64_t oracle_max##t(const uint64_t x[3])                                \
	{                                                                          \
		const type a = t##_of(x[0]), b = t##_of(x[1]);                     \
                                                                                   \
		if (isnan(a) || isnan(b))                                          \
			return bits_##t(isnan(a) ? b : a);                         \
		if (a == b)                                                        \
			return bits_##t(signbit(a) ? b : a);                       \
		return bits_##t(a < b ? b : a);                                    \
	}                                                                          \
	uint64_t oracle_eq##t(const uint64_t x[3])                                 \
	{                                                                          \
		return t##_of(x[0]) == t##_of(x[1]);                               \
	}                                                                          \
	uint64_t oracle_lt##t(const uint64_t x[3])                                 \
	{                                                                          \
		return t##_of(x[0]) < t##_of(x[1]);                                \
	}                                                                          \
	uint64_t oracle_le##t(const uint64_t x[3])                                 \
	{                                                                          \
		return t##_of(x[0]) <= t##_of(x[1]);                               \
	}                                                                          \
	uint64_t oracle_floor##t(const uint64_t x[3])                              \
	{                                                                          \
		return bits_##t(floor##m(t##_of(x[0])));                           \
	}                                                                          \
	uint64_t oracle_ceil##t(const uint64_t x[3])                               \
	{                                                                          \
		return bits_##t(ceil##m(t##_of(x[0])));                            \
	}                                                                          \
	uint64_t oracle_trunc##t(const uint64_t x[3])                              \
	{                                                                          \
		return bits_##t(trunc##m(t##_of(x[0])));                           \
	}                                                                          \
	uint64_t oracle_round##t(const uint64_t x[3])                              \
	{                                                                          \
		return bits_##t(rint##m(t##_of(x[0])));                            \
	}                                                                          \
	uint64_t oracle_to_i32_##t(const uint64_t x[3])                            \
	{                                                                          \
		const double d = (double)t##_of(x[0]);                             \
                                                                                   \
		if (isnan(d))                                                      \
			return 0;                                                  \
		return (uint32_t)(d >= 0x1p31	 ? INT32_MAX                       \
				  : d <= -0x1p31 ? INT32_MIN                       \
						 : (int32_t)d);                    \
	}                                                                          \
	uint64_t oracle_to_u32_##t(const uint64_t x[3])                            \
	{                                                                          \
		const double d = (double)t##_of(x[0]);                             \
                                                                                   \
		if (isnan(d) || d <= 0)                                            \
			return 0;                                                  \
		return d >= 0x1p32 ? UINT32_MAX : (uint32_t)d;                     \
	}                                                                          \
	uint64_t oracle_from_i32_##t(const uint64_t x[3])                          \
	{                                                                          \
		return bits_##t((type)(int32_t)(uint32_t)x[0]);                    \
	}                                                                          \
	uint64_t oracle_from_u32_##t(const uint64_t x[3])                          \
	{                                                                          \
		return bits_##t((type)(uint32_t)x[0]);                             \
	}

HOST(f32, float, f)
HOST(f64, double, )

uint64_t oracle_f32_to_f64(const uint64_t x[3])
{
	return bits_f64((double)f32_of(x[0]));
}

uint64_t oracle_f64_to_f32(const uint64_t x[3])
{
	return bits_f32((float)f64_of(x[0]));
}

uint64_t oracle_product_lost(const uint64_t x[3])
{
	const double a = f64_of(x[0]), b = f64_of(x[1]);

	return bits_f64(fma(a, b, -(a * b)) + 0.0);
}
