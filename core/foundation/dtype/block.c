/* Block formats of GGUF files, as numbers: an element is scale * q or scale * q - minimum, where the scale of a K format is an
 * f16 times a small integer, and its minimum too. Products and the difference are exact, so the f32 that ggml computes is the
 * nearest one to this number, its zeros signed alike. Layouts: the public definition of the formats (ggml-common.h). */
#include "foundation/dtype/dtype.h"

/* Where a format's f16 scale and minimum lie (minimum NO_MINIMUM: none), and whether the minimum is added (first formats) or
 * multiplied by a small integer and taken away (K formats). */
#define NO_MINIMUM UINT32_MAX

/* An element before it is scaled: q times `scale`, less `minimum`. */
typedef struct element {
	int32_t q, scale, minimum;
} element;

static uint32_t nibble(const uint8_t *bytes, uint32_t i, uint32_t upper)
{
	return upper ? bytes[i] >> 4 : bytes[i] & 15u;
}

/* Blocks of 32: the first half in the lower nibbles, fifth bits in a word of their own. */
static element small(const uint8_t *b, uint32_t nibbles, uint32_t fifth, int32_t zero, uint32_t i)
{
	int32_t q = (int32_t)nibble(b + nibbles, i % 16, i / 16);

	if (fifth)
		q |= (b[fifth + i / 8] >> i % 8 & 1) << 4;
	return (element){q - zero, 1, 1};
}

static element q4_0(const uint8_t *b, uint32_t i)
{
	return small(b, 2, 0, 8, i);
}

static element q4_1(const uint8_t *b, uint32_t i)
{
	return small(b, 4, 0, 0, i);
}

static element q5_0(const uint8_t *b, uint32_t i)
{
	return small(b, 6, 2, 16, i);
}

static element q5_1(const uint8_t *b, uint32_t i)
{
	return small(b, 8, 4, 0, i);
}

static element q8_0(const uint8_t *b, uint32_t i)
{
	return (element){(int8_t)b[2 + i], 1, 0};
}

/* Two bits of an element of a block of 256: quarters of each half lie in one run of 32 bytes, two bits higher each. */
static uint32_t two_bits(const uint8_t *bytes, uint32_t i)
{
	return (uint32_t)bytes[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3u;
}

static element q2_k(const uint8_t *b, uint32_t i)
{
	return (element){(int32_t)two_bits(b + 16, i), b[i / 16] & 15, b[i / 16] >> 4};
}

/* hmask, qs, scales, d. The third bit is that of the element's run of 32 in hmask; where it is not set, 4 is taken away. Six
 * bits of a scale: four in the nibbles of bytes 0 to 7, two in bytes 8 to 11. */
static element q3_k(const uint8_t *b, uint32_t i)
{
	const uint8_t *scales = b + 96;
	const uint32_t k = i / 16;
	const uint32_t upper = (uint32_t)scales[8 + k % 4] >> k / 4 * 2 & 3u;
	const uint32_t scale = nibble(scales, k % 8, k / 8) | upper << 4;
	const int32_t third = b[i % 32] >> i / 32 & 1;

	return (element){(int32_t)two_bits(b + 32, i) - (third ? 0 : 4), (int32_t)scale - 32, 0};
}

/* Scale and minimum k of the twelve bytes that q4_k and q5_k have: six bits each, the last four pairs in two pieces. */
static element packed_scale(const uint8_t *s, uint32_t k, int32_t q)
{
	if (k < 4)
		return (element){q, s[k] & 63, s[k + 4] & 63};
	return (element){q, (s[k + 4] & 15) | s[k - 4] >> 6 << 4, s[k + 4] >> 4 | s[k] >> 6 << 4};
}

static element q4_k(const uint8_t *b, uint32_t i)
{
	return packed_scale(b + 4, i / 32,
			    (int32_t)nibble(b + 16, i / 64 * 32 + i % 32, i / 32 % 2));
}

static element q5_k(const uint8_t *b, uint32_t i)
{
	const int32_t fifth = b[16 + i % 32] >> i / 32 & 1;

	return packed_scale(b + 4, i / 32,
			    (int32_t)nibble(b + 48, i / 64 * 32 + i % 32, i / 32 % 2) | fifth << 4);
}

/* ql, qh, scales, d: of each half, the nibbles of 64 bytes and the pairs of bits of 32. */
static element q6_k(const uint8_t *b, uint32_t i)
{
	const uint32_t half = i / 128, j = i % 128;
	const uint32_t low = nibble(b + half * 64, j % 64, j / 64);
	const uint32_t high = (uint32_t)b[128 + half * 32 + j % 32] >> j / 32 * 2 & 3u;

	return (element){(int32_t)(low | high << 4) - 32, (int8_t)b[192 + i / 16], 0};
}

static const struct format {
	uint32_t id;
	element (*element)(const uint8_t *block, uint32_t i);
	uint32_t scale, minimum, added;
} formats[] = {
	{PCTL_DTYPE_Q4_0, q4_0, 0, NO_MINIMUM, 0},
	{PCTL_DTYPE_Q4_1, q4_1, 0, 2, 1},
	{PCTL_DTYPE_Q5_0, q5_0, 0, NO_MINIMUM, 0},
	{PCTL_DTYPE_Q5_1, q5_1, 0, 2, 1},
	{PCTL_DTYPE_Q8_0, q8_0, 0, NO_MINIMUM, 0},
	{PCTL_DTYPE_Q2_K, q2_k, 80, 82, 0},
	{PCTL_DTYPE_Q3_K, q3_k, 108, NO_MINIMUM, 0},
	{PCTL_DTYPE_Q4_K, q4_k, 0, 2, 0},
	{PCTL_DTYPE_Q5_K, q5_k, 0, 2, 0},
	{PCTL_DTYPE_Q6_K, q6_k, 208, NO_MINIMUM, 0},
};

static pctl_exact half_at(const uint8_t *at)
{
	pctl_exact v;

	(void)pctl_dtype_read(pctl_dtype_of(PCTL_SCALAR_F16), at, 0, &v);
	return v;
}

pctl_exact pctl_dtype_block_read(const pctl_dtype *t, const uint8_t *block, uint32_t i)
{
	const struct format *f = formats;
	element e;
	pctl_exact v, minimum;

	while (f->id != t->id)
		f++;
	e = f->element(block, i);
	v = pctl_exact_mul(half_at(block + f->scale), pctl_exact_integer(e.scale));
	v = pctl_exact_mul(v, pctl_exact_integer(e.q));
	if (f->minimum == NO_MINIMUM)
		return v;
	minimum = pctl_exact_mul(half_at(block + f->minimum), pctl_exact_integer(e.minimum));
	return pctl_exact_add(v, f->added ? minimum : pctl_exact_negate(minimum));
}
