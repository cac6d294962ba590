/* Elements in plain C, as long doubles, which hold every number of every type (SEMANTICS.md 13) but on machines without 64 bits of precision
 * there; blocks by their layout. Nothing of it is the kernels'. */
#include <float.h>
#include <math.h>

#include "common/tensors/value.h"

_Static_assert(LDBL_MANT_DIG >= 64, "an i64 is a long double");

/* ---- floats --------------------------------------------------------------------------------- */

static const tensor_float_layout layouts[] = {
	{PCTL_SCALAR_F64, 11, 52, 1, 1}, {PCTL_SCALAR_F32, 8, 23, 1, 1},
	{PCTL_SCALAR_F16, 5, 10, 1, 1},	 {PCTL_SCALAR_BF16, 8, 7, 1, 1},
	{PCTL_DTYPE_F8E5M2, 5, 2, 1, 1}, {PCTL_DTYPE_F8E4M3, 4, 3, 0, 1},
	{PCTL_DTYPE_F4, 2, 1, 0, 0},
};

const tensor_float_layout *tensor_float_layout_of(uint32_t dtype)
{
	for (uint32_t i = 0; i < KIT_COUNT(layouts); i++)
		if (layouts[i].dtype == dtype)
			return &layouts[i];
	return NULL;
}

static long double float_of(const tensor_float_layout *f, uint64_t code)
{
	const int ones = (1 << f->exponent) - 1, bias = ones / 2, frac = (int)f->fraction;
	const uint64_t fraction = code & ((1ull << frac) - 1);
	const int exponent = (int)(code >> frac) & ones;
	const int negative = (int)(code >> (f->fraction + f->exponent)) & 1;
	long double v;

	if (exponent == ones && f->infinities)
		v = fraction == 0 ? (long double)INFINITY : (long double)NAN;
	else if (exponent == ones && f->nan && fraction == (1ull << frac) - 1)
		v = (long double)NAN;
	else if (exponent == 0)
		v = ldexpl((long double)fraction, 1 - bias - frac);
	else
		v = ldexpl((long double)(fraction | 1ull << frac), exponent - bias - frac);
	return negative ? -v : v;
}

/* ---- blocks of GGUF ------------------------------------------------------------------------- */

static long double half_at(const uint8_t *at)
{
	return float_of(&layouts[2], (uint64_t)at[0] | (uint64_t)at[1] << 8);
}

/* 4 or 5 bits an element, 32 elements: those of the first 16 in lower nibbles. */
static int small(const uint8_t *nibbles, const uint8_t *fifths, uint32_t e)
{
	int q = e < 16 ? nibbles[e] % 16 : nibbles[e - 16] / 16;

	if (fifths != NULL && fifths[e / 8] & (1 << e % 8))
		q += 16;
	return q;
}

/* Field `k` of the 12 bytes of q4_k and q5_k: 0 to 7 scales, 8 to 15 minima. */
static int six_bits(const uint8_t *s, uint32_t k)
{
	const uint32_t minimum = k / 8, j = k % 8;

	if (j < 4)
		return s[j + 4 * minimum] % 64;
	return (minimum ? s[j + 4] / 16 : s[j + 4] % 16) + 16 * (s[j - 4 + 4 * minimum] / 64);
}

/* Element e of 256 in pairs of bits: 128 in 32 bytes, 32 in each place of a byte. */
static int pair_of_bits(const uint8_t *bytes, uint32_t e)
{
	return bytes[32 * (e / 128) + e % 32] >> 2 * (e / 32 % 4) & 3;
}

static long double block_of(uint32_t dtype, const uint8_t *b, uint32_t e)
{
	switch (dtype) {
	case PCTL_DTYPE_Q4_0:
		return half_at(b) * (small(b + 2, NULL, e) - 8);
	case PCTL_DTYPE_Q4_1:
		return half_at(b) * small(b + 4, NULL, e) + half_at(b + 2);
	case PCTL_DTYPE_Q5_0:
		return half_at(b) * (small(b + 6, b + 2, e) - 16);
	case PCTL_DTYPE_Q5_1:
		return half_at(b) * small(b + 8, b + 4, e) + half_at(b + 2);
	case PCTL_DTYPE_Q8_0:
		return half_at(b) * (int8_t)b[2 + e];
	case PCTL_DTYPE_Q2_K:
		return half_at(b + 80) * (b[e / 16] % 16) * pair_of_bits(b + 16, e) -
		       half_at(b + 82) * (b[e / 16] / 16);
	case PCTL_DTYPE_Q3_K: {
		const uint8_t *s = b + 96;
		const uint32_t k = e / 16;
		const int scale = (k < 8 ? s[k] % 16 : s[k - 8] / 16) +
				  16 * (s[8 + k % 4] >> 2 * (k / 4) & 3);
		const int q = pair_of_bits(b + 32, e) - (b[e % 32] & (1 << e / 32) ? 0 : 4);

		return half_at(b + 108) * (scale - 32) * q;
	}
	case PCTL_DTYPE_Q4_K:
	case PCTL_DTYPE_Q5_K: {
		const int five = dtype == PCTL_DTYPE_Q5_K;
		const uint8_t byte = b[(five ? 48 : 16) + 32 * (e / 64) + e % 32];
		int q = e / 32 % 2 ? byte / 16 : byte % 16;

		if (five && b[16 + e % 32] & (1 << e / 32))
			q += 16;
		return half_at(b) * six_bits(b + 4, e / 32) * q -
		       half_at(b + 2) * six_bits(b + 4, 8 + e / 32);
	}
	default: { /* q6_k */
		const uint32_t j = e % 128;
		const uint8_t low = b[e / 128 * 64 + j % 64];
		const int high = b[128 + e / 128 * 32 + j % 32] >> 2 * (j / 32) & 3;

		return half_at(b + 208) * (int8_t)b[192 + e / 16] *
		       ((j < 64 ? low % 16 : low / 16) + 16 * high - 32);
	}
	}
}

/* ---- any element ---------------------------------------------------------------------------- */

uint32_t tensor_bits(uint32_t dtype)
{
	uint32_t block;
	const uint32_t bits = kit_dtype_bits(dtype, &block);

	return block != 1 || dtype == PCTL_DTYPE_BYTES ? 0 : bits;
}

uint64_t tensor_code(uint32_t dtype, const void *data, uint64_t i)
{
	uint32_t block;
	const uint32_t bits = kit_dtype_bits(dtype, &block);
	uint64_t code = 0;

	if (bits < 8)
		return (uint64_t)(((const uint8_t *)data)[i * bits / 8] >> i * bits % 8) &
		       ((1u << bits) - 1);
	memcpy(&code, (const uint8_t *)data + i * (bits / 8), bits / 8);
	return code;
}

void tensor_code_put(uint32_t dtype, void *data, uint64_t i, uint64_t code)
{
	const uint32_t bits = tensor_bits(dtype);
	uint8_t *at = (uint8_t *)data + i * bits / 8;
	const uint32_t shift = bits < 8 ? (uint32_t)(i * bits % 8) : 0;

	if (bits >= 8)
		memcpy(at, &code, bits / 8);
	else
		*at = (uint8_t)((*at & ~(((1u << bits) - 1) << shift)) | (uint32_t)code << shift);
}

int tensor_is_signed(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_I8 || dtype == PCTL_SCALAR_I16 || dtype == PCTL_SCALAR_I32 ||
	       dtype == PCTL_SCALAR_I64 || dtype == PCTL_DTYPE_I4 || dtype == PCTL_DTYPE_I2 ||
	       dtype == PCTL_DTYPE_TERNARY;
}

long double tensor_element(uint32_t dtype, const void *data, uint64_t i)
{
	const tensor_float_layout *f = tensor_float_layout_of(dtype);
	uint32_t block;
	const uint32_t bits = kit_dtype_bits(dtype, &block);
	uint64_t code;

	if (block != 1)
		return block_of(dtype, (const uint8_t *)data + i / block * (bits / 8),
				(uint32_t)(i % block));
	code = tensor_code(dtype, data, i);
	if (f != NULL)
		return float_of(f, code);
	if (dtype == PCTL_DTYPE_BINARY)
		return code ? 1 : -1;
	if (tensor_is_signed(dtype) && code >> (bits - 1))
		return -(long double)(bits == 64 ? 0 - code : (1ull << bits) - code);
	return (long double)code;
}

void tensor_mend(uint32_t dtype, uint8_t *data, uint64_t n, uint64_t n_bytes)
{
	uint32_t block;
	const uint32_t bits = kit_dtype_bits(dtype, &block);

	if (bits < 8 && n * bits % 8 != 0)
		data[n_bytes - 1] = (uint8_t)(data[n_bytes - 1] & ((1u << n * bits % 8) - 1));
	for (uint64_t i = 0; dtype == PCTL_SCALAR_BOOL && i < n_bytes; i++)
		data[i] = i % 4 == 0 ? data[i] & 1 : 0;
	for (uint64_t i = 0; dtype == PCTL_DTYPE_TERNARY && i < n_bytes; i++)
		data[i] = (uint8_t)(data[i] & ~((data[i] & 0xaau) & ~((data[i] & 0x55u) << 1)));
}
