/* Blocks made of numbers. GGUF defines what a block means, not how one is made; this is our own way (core/SEMANTICS.md section
 * 13), in exact arithmetic: every choice is a comparison of an input with a number of few bits, so nothing is rounded on the way. Doubles
 * have room for them: scales, minima and half steps are multiples of 2^-25 below 2^28, 53 bits, whatever integers they are multiplied by. */
#include <math.h>
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

/* The number of a code from 0 to HALF_LARGEST. */
static double half_of(uint32_t code)
{
	const uint64_t bits = (uint64_t)(code + ((1023u - 15u) << 10)) << 42;
	double v;

	if (code < 0x400)
		return code * 0x1p-24;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

static int reaches(double d, int64_t n, double offset, double least)
{
	return d * (double)n + offset >= least;
}

/* The least f16 that is not negative and of which n times, and the offset, reach `least`; 0 where none does. */
static int least_half(int64_t n, double offset, double least, uint16_t *out)
{
	uint32_t low = 0, high = HALF_LARGEST;

	if (!reaches(half_of(HALF_LARGEST), n, offset, least))
		return 0;
	while (low < high) {
		const uint32_t middle = (low + high) / 2;

		if (reaches(half_of(middle), n, offset, least))
			high = middle;
		else
			low = middle + 1;
	}
	*out = (uint16_t)low;
	return 1;
}

/* The least integer of which d times n, and the offset, reach `least`; `most` where none below it does. */
static int32_t least_integer(double d, int64_t n, double offset, double least, uint32_t most)
{
	int32_t low = 0, high = (int32_t)most;

	while (low < high) {
		const int32_t middle = (low + high) / 2;

		if (reaches(d, n * middle, offset, least))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The nearest multiple of `step` to v - offset, in steps from 0 to most, ties to the even one: the number of half-way points below v. A
 * quotient says where to look, comparisons with half steps decide. */
static int32_t nearest(double v, double step, double offset, uint32_t most)
{
	const double half = step / 2, near = step == 0 ? 0 : (v - offset) / step;
	int32_t k = near > 0 ? near < most ? (int32_t)near : (int32_t)most : 0;

	if (step == 0)
		return 0;
	for (; k < (int32_t)most; k++) {
		const double edge = half * (2 * k + 1) + offset;

		if (v < edge || (v == edge && k % 2 == 0))
			break;
	}
	for (; k > 0; k--) {
		const double edge = half * (2 * k - 1) + offset;

		if (v > edge || (v == edge && k % 2 == 0))
			break;
	}
	return k;
}

static int32_t clamp(int32_t q, const struct shape *s)
{
	return q < -(int32_t)s->low   ? -(int32_t)s->low
	       : q > (int32_t)s->high ? (int32_t)s->high
				      : q;
}

/* The first element of largest magnitude. */
static double farthest(const double *v, uint32_t n)
{
	double far = v[0];

	for (uint32_t i = 1; i < n; i++)
		if (fabs(v[i]) > fabs(far))
			far = v[i];
	return far;
}

static int make_symmetric(const struct shape *s, const double *v, uint32_t n, parts *out)
{
	double d;

	if (!least_half((int64_t)s->scales * s->low, 0, fabs(farthest(v, n)), &out->scale))
		return 0;
	d = half_of(out->scale);
	for (uint32_t j = 0; j < n / s->sub; j++) {
		const double far = farthest(v + j * s->sub, s->sub);
		const int32_t k =
			s->scales == 1 ? 1 : least_integer(d, s->low, 0, fabs(far), s->scales);
		const int turned = s->is_signed && far > 0;

		out->scales[j] = turned ? -k : k;
		for (uint32_t i = j * s->sub; i < (j + 1) * s->sub; i++) {
			const int32_t q = nearest(fabs(v[i]), d * k, 0, s->low);

			out->q[i] = clamp((v[i] < 0) != turned ? -q : q, s);
		}
	}
	if (s->scales == 1 && out->scales[0] < 0)
		out->scale |= 0x8000u;
	return 1;
}

static double greatest(const double *v, uint32_t n)
{
	double far = v[0];

	for (uint32_t i = 1; i < n; i++)
		far = v[i] > far ? v[i] : far;
	return far;
}

static double lowest(const double *v, uint32_t n)
{
	double far = v[0];

	for (uint32_t i = 1; i < n; i++)
		far = v[i] < far ? v[i] : far;
	return far;
}

/* The largest f16 that is not above v. */
static int half_below(double v, uint16_t *out)
{
	if (v < 0) {
		if (!least_half(1, 0, -v, out))
			return 0;
		*out |= *out != 0 ? 0x8000u : 0u;
		return 1;
	}
	*out = 0;
	for (uint32_t bit = 0x4000; bit; bit >>= 1)
		if ((*out | bit) <= HALF_LARGEST && half_of(*out | bit) <= v)
			*out = (uint16_t)(*out | bit);
	return 1;
}

/* One scale and one minimum, which is added. */
static int make_shifted(const struct shape *s, const double *v, uint32_t n, parts *out)
{
	double offset, d;

	if (!half_below(lowest(v, n), &out->minimum))
		return 0;
	offset = half_of(out->minimum & 0x7fffu);
	offset = out->minimum & 0x8000u ? -offset : offset;
	if (!least_half(s->high, offset, greatest(v, n), &out->scale))
		return 0;
	d = half_of(out->scale);
	for (uint32_t i = 0; i < n; i++)
		out->q[i] = nearest(v[i], d, offset, s->high);
	return 1;
}

/* Two levels: minima first, which are taken away and never negative, then scales that reach from there. */
static int make_two_levels(const struct shape *s, const double *v, uint32_t n, parts *out)
{
	double low = lowest(v, n), top[PARTS_MAX], d;

	if (!least_half(s->minima, 0, low < 0 ? -low : 0, &out->minimum))
		return 0;
	for (uint32_t j = 0; j < n / s->sub; j++) {
		const double m = half_of(out->minimum);
		uint16_t scale;

		top[j] = greatest(v + j * s->sub, s->sub);
		low = lowest(v + j * s->sub, s->sub);
		out->minima[j] = low < 0 ? least_integer(m, 1, 0, -low, s->minima) : 0;
		if (!least_half((int64_t)s->scales * s->high, -m * out->minima[j], top[j], &scale))
			return 0;
		out->scale = scale > out->scale ? scale : out->scale;
	}
	d = half_of(out->scale);
	for (uint32_t j = 0; j < n / s->sub; j++) {
		const double offset = -half_of(out->minimum) * out->minima[j];
		const int32_t k = least_integer(d, s->high, offset, top[j], s->scales);

		out->scales[j] = k;
		for (uint32_t i = j * s->sub; i < (j + 1) * s->sub; i++)
			out->q[i] = nearest(v[i], d * k, offset, s->high);
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

int pctl_dtype_block_make(const pctl_dtype *t, const double *v, uint8_t *block)
{
	const struct shape *s = shapes;
	parts p;
	int made;

	while (s->id != t->id)
		s++;
	memset(&p, 0, sizeof(p));
	for (uint32_t i = 0; i < t->block; i++)
		if (!isfinite(v[i]))
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

int pctl_dtype_block_write(const pctl_dtype *t, const pctl_exact *v, uint8_t *block)
{
	double numbers[PCTL_DTYPE_BLOCK_MAX];

	for (uint32_t i = 0; i < t->block; i++) {
		if (v[i].kind != PCTL_EXACT_FINITE)
			return 0;
		/* What a double rounds has 2^53 or more of its last bit: an integer that no f16 reaches. */
		numbers[i] = ldexp((double)v[i].magnitude, v[i].exponent);
		if (v[i].negative)
			numbers[i] = -numbers[i];
	}
	return pctl_dtype_block_make(t, numbers, block);
}
