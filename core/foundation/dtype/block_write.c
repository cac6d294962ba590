/* Blocks made of numbers. GGUF defines what a block means, not how one is made; this is our own way (core/SEMANTICS.md section
 * 13), in exact arithmetic: every choice is a comparison of an input with a number of few bits, so nothing is rounded on the way. */
#include <stdlib.h>
#include <string.h>

#include "foundation/dtype/dtype.h"

#define HALF_LARGEST 0x7bffu
#define PARTS_MAX 16u

/* sub: elements that have a scale of their own, an integer up to `scales` that the block's f16 is multiplied by.
 * Symmetric formats (minima 0): q from -low to high. Others: q from 0 to high, minima integers up to `minima`. */
static const struct shape {
	uint32_t id, sub, scales, minima, low, high;
	uint32_t is_signed; /* a scale may be negative, so that the farthest element can be -low */
} shapes[] = {
	{PCTL_DTYPE_Q4_0, 32, 1, 0, 8, 7, 1},	  {PCTL_DTYPE_Q4_1, 32, 1, 1, 0, 15, 0},
	{PCTL_DTYPE_Q5_0, 32, 1, 0, 16, 15, 1},	  {PCTL_DTYPE_Q5_1, 32, 1, 1, 0, 31, 0},
	{PCTL_DTYPE_Q8_0, 32, 1, 0, 127, 127, 0}, {PCTL_DTYPE_Q2_K, 16, 15, 15, 0, 3, 0},
	{PCTL_DTYPE_Q3_K, 16, 31, 0, 4, 3, 1},	  {PCTL_DTYPE_Q4_K, 32, 63, 63, 0, 15, 0},
	{PCTL_DTYPE_Q5_K, 32, 63, 63, 0, 31, 0},  {PCTL_DTYPE_Q6_K, 16, 127, 0, 32, 31, 1},
};

/* What a block is made of: the codes of both f16, the integers of each part, the q of each element. */
typedef struct parts {
	uint16_t scale, minimum;
	int32_t scales[PARTS_MAX], minima[PARTS_MAX];
	int32_t q[PCTL_DTYPE_BLOCK_MAX];
} parts;

/* code as an f16, times n. */
static pctl_exact times(uint16_t code, int64_t n)
{
	const uint8_t bytes[2] = {(uint8_t)code, (uint8_t)(code >> 8)};
	pctl_exact v;

	(void)pctl_dtype_read(pctl_dtype_of(PCTL_SCALAR_F16), bytes, 0, &v);
	return pctl_exact_mul(v, pctl_exact_integer(n));
}

static int reaches(uint16_t code, int64_t n, pctl_exact offset, pctl_exact least)
{
	return pctl_exact_compare(pctl_exact_add(times(code, n), offset), least) >= 0;
}

/* The least f16 that is not negative and of which n times, and the offset, reach `least`; 0 where none does. */
static int least_half(int64_t n, pctl_exact offset, pctl_exact least, uint16_t *out)
{
	uint32_t low = 0, high = HALF_LARGEST;

	if (!reaches(HALF_LARGEST, n, offset, least))
		return 0;
	while (low < high) {
		const uint32_t middle = (low + high) / 2;

		if (reaches((uint16_t)middle, n, offset, least))
			high = middle;
		else
			low = middle + 1;
	}
	*out = (uint16_t)low;
	return 1;
}

/* The least integer of which `code` times n, and the offset, reach `least`; `most` where none below it does. */
static int32_t least_integer(uint16_t code, int64_t n, pctl_exact offset, pctl_exact least,
			     uint32_t most)
{
	int32_t k = 0;

	while (k < (int32_t)most && !reaches(code, n * k, offset, least))
		k++;
	return k;
}

static pctl_exact magnitude_of(pctl_exact v)
{
	v.negative = 0;
	return v;
}

/* The nearest multiple of `step` to v - offset, in steps from 0 to most, ties to the even one; half steps are compared. */
static int32_t nearest(pctl_exact v, pctl_exact step, pctl_exact offset, uint32_t most)
{
	pctl_exact half = step;
	uint32_t low = 0, high = most; /* the answer is the number of half-way points below v */

	half.exponent--;
	if (step.magnitude == 0)
		return 0;
	while (low < high) {
		const uint32_t k = (low + high + 1) / 2;
		const pctl_exact edge = pctl_exact_add(
			pctl_exact_mul(half, pctl_exact_integer(2 * (int64_t)k - 1)), offset);
		const int side = pctl_exact_compare(v, edge);

		if (side > 0 || (side == 0 && k % 2 == 0))
			low = k;
		else
			high = k - 1;
	}
	return (int32_t)low;
}

static int32_t clamp(int32_t q, const struct shape *s)
{
	return q < -(int32_t)s->low   ? -(int32_t)s->low
	       : q > (int32_t)s->high ? (int32_t)s->high
				      : q;
}

/* The first element of largest magnitude. */
static pctl_exact farthest(const pctl_exact *v, uint32_t n)
{
	pctl_exact far = v[0];

	for (uint32_t i = 1; i < n; i++)
		if (pctl_exact_compare(magnitude_of(v[i]), magnitude_of(far)) > 0)
			far = v[i];
	return far;
}

static int make_symmetric(const struct shape *s, const pctl_exact *v, uint32_t n, parts *out)
{
	const pctl_exact zero = pctl_exact_integer(0);

	if (!least_half((int64_t)s->scales * s->low, zero, magnitude_of(farthest(v, n)),
			&out->scale))
		return 0;
	for (uint32_t j = 0; j < n / s->sub; j++) {
		const pctl_exact far = farthest(v + j * s->sub, s->sub);
		const int32_t k = s->scales == 1 ? 1
						 : least_integer(out->scale, s->low, zero,
								 magnitude_of(far), s->scales);
		const int turned = s->is_signed && !far.negative && far.magnitude != 0;

		out->scales[j] = turned ? -k : k;
		for (uint32_t i = j * s->sub; i < (j + 1) * s->sub; i++) {
			const int32_t q =
				nearest(magnitude_of(v[i]), times(out->scale, k), zero, s->low);

			out->q[i] = clamp((v[i].negative != 0) != turned ? -q : q, s);
		}
	}
	if (s->scales == 1 && out->scales[0] < 0)
		out->scale |= 0x8000u;
	return 1;
}

static pctl_exact extreme(const pctl_exact *v, uint32_t n, int sign)
{
	pctl_exact far = v[0];

	for (uint32_t i = 1; i < n; i++)
		if (pctl_exact_compare(v[i], far) == sign)
			far = v[i];
	return far;
}

/* The largest f16 that is not above v. */
static int half_below(pctl_exact v, uint16_t *out)
{
	if (v.negative) {
		if (!least_half(1, pctl_exact_integer(0), magnitude_of(v), out))
			return 0;
		*out |= *out != 0 ? 0x8000u : 0u;
		return 1;
	}
	*out = 0;
	for (uint32_t bit = 0x4000; bit; bit >>= 1)
		if ((*out | bit) <= HALF_LARGEST &&
		    pctl_exact_compare(times((uint16_t)(*out | bit), 1), v) <= 0)
			*out = (uint16_t)(*out | bit);
	return 1;
}

/* One scale and one minimum, which is added. */
static int make_shifted(const struct shape *s, const pctl_exact *v, uint32_t n, parts *out)
{
	pctl_exact offset;

	if (!half_below(extreme(v, n, -1), &out->minimum))
		return 0;
	offset = times(out->minimum, 1);
	if (!least_half(s->high, offset, extreme(v, n, 1), &out->scale))
		return 0;
	for (uint32_t i = 0; i < n; i++)
		out->q[i] = nearest(v[i], times(out->scale, 1), offset, s->high);
	return 1;
}

/* Two levels: minima first, which are taken away and never negative, then scales that reach from there. */
static int make_two_levels(const struct shape *s, const pctl_exact *v, uint32_t n, parts *out)
{
	const pctl_exact zero = pctl_exact_integer(0);
	pctl_exact low = extreme(v, n, -1);

	low = low.negative ? magnitude_of(low) : zero;
	if (!least_half(s->minima, zero, low, &out->minimum))
		return 0;
	for (uint32_t j = 0; j < n / s->sub; j++) {
		const pctl_exact *part = v + j * s->sub;
		const pctl_exact top = extreme(part, s->sub, 1);
		uint16_t scale;
		pctl_exact offset;

		low = extreme(part, s->sub, -1);
		out->minima[j] = low.negative ? least_integer(out->minimum, 1, zero,
							      magnitude_of(low), s->minima)
					      : 0;
		offset = pctl_exact_negate(times(out->minimum, out->minima[j]));
		if (!least_half((int64_t)s->scales * s->high, offset, top, &scale))
			return 0;
		out->scale = scale > out->scale ? scale : out->scale;
	}
	for (uint32_t j = 0; j < n / s->sub; j++) {
		const pctl_exact *part = v + j * s->sub;
		const pctl_exact offset = pctl_exact_negate(times(out->minimum, out->minima[j]));
		const int32_t k = least_integer(out->scale, s->high, offset,
						extreme(part, s->sub, 1), s->scales);

		out->scales[j] = k;
		for (uint32_t i = 0; i < s->sub; i++)
			out->q[j * s->sub + i] =
				nearest(part[i], times(out->scale, k), offset, s->high);
	}
	return 1;
}

/* ---- layouts, as block.c reads them ---- */

static void put_half(uint8_t *at, uint16_t code)
{
	at[0] = (uint8_t)code;
	at[1] = (uint8_t)(code >> 8);
}

static void put_bits(uint8_t *at, uint32_t shift, uint32_t v)
{
	*at = (uint8_t)(*at | v << shift);
}

static void lay_small(const struct shape *s, const parts *p, uint8_t *b)
{
	const uint32_t minimum = s->minima ? 2 : 0, five = s->high + s->low >= 31;
	const uint32_t nibbles = 2 + minimum + (five ? 4 : 0);

	put_half(b, p->scale);
	if (minimum)
		put_half(b + 2, p->minimum);
	for (uint32_t i = 0; i < 32; i++) {
		const uint32_t q = (uint32_t)(p->q[i] + (int32_t)s->low);

		if (s->id == PCTL_DTYPE_Q8_0) {
			b[2 + i] = (uint8_t)p->q[i];
			continue;
		}
		put_bits(b + nibbles + i % 16, i / 16 * 4, q & 15);
		if (five)
			put_bits(b + 2 + minimum + i / 8, i % 8, q >> 4);
	}
}

static void lay_pairs(const struct shape *s, const parts *p, uint8_t *b)
{
	const uint32_t nibbles = s->id == PCTL_DTYPE_Q5_K ? 48 : 16;
	uint8_t *at = b + 4;

	put_half(b, p->scale);
	put_half(b + 2, p->minimum);
	for (uint32_t k = 0; k < 8; k++) {
		const uint32_t scale = (uint32_t)p->scales[k], minimum = (uint32_t)p->minima[k];

		if (k < 4) {
			put_bits(at + k, 0, scale);
			put_bits(at + k + 4, 0, minimum);
			continue;
		}
		put_bits(at + k + 4, 0, scale & 15);
		put_bits(at + k - 4, 6, scale >> 4);
		put_bits(at + k + 4, 4, minimum & 15);
		put_bits(at + k, 6, minimum >> 4);
	}
	for (uint32_t i = 0; i < 256; i++) {
		put_bits(b + nibbles + i / 64 * 32 + i % 32, i / 32 % 2 * 4,
			 (uint32_t)p->q[i] & 15);
		if (nibbles == 48)
			put_bits(b + 16 + i % 32, i / 32, (uint32_t)p->q[i] >> 4);
	}
}

static void lay_q2_k(const parts *p, uint8_t *b)
{
	for (uint32_t k = 0; k < 16; k++)
		b[k] = (uint8_t)(p->scales[k] | p->minima[k] << 4);
	for (uint32_t i = 0; i < 256; i++)
		put_bits(b + 16 + i / 128 * 32 + i % 32, i % 128 / 32 * 2, (uint32_t)p->q[i]);
	put_half(b + 80, p->scale);
	put_half(b + 82, p->minimum);
}

static void lay_q3_k(const parts *p, uint8_t *b)
{
	for (uint32_t k = 0; k < 16; k++) {
		const uint32_t scale = (uint32_t)(p->scales[k] + 32);

		put_bits(b + 96 + k % 8, k / 8 * 4, scale & 15);
		put_bits(b + 104 + k % 4, k / 4 * 2, scale >> 4);
	}
	for (uint32_t i = 0; i < 256; i++) {
		const uint32_t q = (uint32_t)(p->q[i] + 4);

		put_bits(b + 32 + i / 128 * 32 + i % 32, i % 128 / 32 * 2, q & 3);
		put_bits(b + i % 32, i / 32, q >> 2);
	}
	put_half(b + 108, p->scale);
}

static void lay_q6_k(const parts *p, uint8_t *b)
{
	for (uint32_t k = 0; k < 16; k++)
		b[192 + k] = (uint8_t)p->scales[k];
	for (uint32_t i = 0; i < 256; i++) {
		const uint32_t half = i / 128, j = i % 128, q = (uint32_t)(p->q[i] + 32);

		put_bits(b + half * 64 + j % 64, j / 64 * 4, q & 15);
		put_bits(b + 128 + half * 32 + j % 32, j / 32 * 2, q >> 4);
	}
	put_half(b + 208, p->scale);
}

int pctl_dtype_block_write(const pctl_dtype *t, const pctl_exact *v, uint8_t *block)
{
	const struct shape *s = shapes;
	parts p;
	int made;

	while (s->id != t->id)
		s++;
	memset(&p, 0, sizeof(p));
	for (uint32_t i = 0; i < t->block; i++)
		if (v[i].kind != PCTL_EXACT_FINITE)
			return 0;
	made = s->minima == 0	? make_symmetric(s, v, t->block, &p)
	       : s->minima == 1 ? make_shifted(s, v, t->block, &p)
				: make_two_levels(s, v, t->block, &p);
	if (!made)
		return 0;
	memset(block, 0, t->bits / 8);
	if (t->block == 32)
		lay_small(s, &p, block);
	else if (s->id == PCTL_DTYPE_Q2_K)
		lay_q2_k(&p, block);
	else if (s->id == PCTL_DTYPE_Q3_K)
		lay_q3_k(&p, block);
	else if (s->id == PCTL_DTYPE_Q6_K)
		lay_q6_k(&p, block);
	else
		lay_pairs(s, &p, block);
	return 1;
}
