/* tensor.quantize_blocks in plain C, by another way than the kernels: candidates are found by a quotient of long doubles and then judged by products of
 * doubles, which hold every multiple of 2^-25 below 2^28. */
#include <math.h>
#include <stdlib.h>

#include "blocks.h"

#define LARGEST 0x7bff

static double half(int code)
{
	const uint16_t bits = (uint16_t)code;

	return (double)tensor_element(PCTL_SCALAR_F16, &bits, 0);
}

/* The least f16 from 0 on of which n times is at least v; LARGEST + 1: none. */
static int half_up(long double v, double n)
{
	const tensor_float_layout *f = tensor_float_layout_of(PCTL_SCALAR_F16);
	int code = v <= 0 ? 0 : (int)convert_float_code(f, v / n, 1);

	while (code > 0 && half(code - 1) * n >= v)
		code--;
	while (code <= LARGEST && half(code) * n < v)
		code++;
	return code;
}

/* The least integer from 0 on of which d times is at least v, and `most` at most. */
static int integer_up(long double v, double d, int most)
{
	int k = 0;

	while (k < most && d * k < v)
		k++;
	return k;
}

/* The integer nearest to (v - from) / step, ties to the even one, from 0 to most: no other is as near. */
static int nearest(double v, double from, double step, int most)
{
	int k = 0;

	if (step == 0)
		return 0;
	while (k < most &&
	       (v > from + step * k + step / 2 || (v == from + step * k + step / 2 && k % 2 == 1)))
		k++;
	return k;
}

/* What a block is put together from; q are not below 0 but in q8_0. */
typedef struct made {
	int d, m, scales[16], minima[16], q[256];
} made;

static void extremes(const double *v, uint32_t n, double *low, double *high, double *far)
{
	*low = *high = *far = v[0];
	for (uint32_t i = 1; i < n; i++) {
		*low = fmin(*low, v[i]);
		*high = fmax(*high, v[i]);
		if (fabs(v[i]) > fabs(*far))
			*far = v[i];
	}
}

static int symmetric(const blocks_type *t, const double *v, made *b)
{
	double low, high, far;

	extremes(v, t->block, &low, &high, &far);
	b->d = half_up(fabsl(far), t->scales * t->low);
	if (b->d > LARGEST)
		return 0;
	for (uint32_t i = 0; i < t->block; i++) {
		const uint32_t part = i / t->sub;
		int q;

		if (i % t->sub == 0) {
			extremes(v + i, t->sub, &low, &high, &far);
			b->scales[part] = t->scales == 1
						  ? 1
						  : integer_up(fabsl(far), half(b->d) * t->low,
							       (int)t->scales);
			if (t->turns && far > 0)
				b->scales[part] = -b->scales[part];
		}
		q = nearest(fabs(v[i]), 0, half(b->d) * abs(b->scales[part]), (int)t->low);
		if (signbit(v[i]) != (b->scales[part] < 0))
			q = -q;
		q = q > (int)t->high ? (int)t->high : q;
		b->q[i] = t->dtype == PCTL_DTYPE_Q8_0 ? q : q + (int)t->low;
	}
	if (t->scales == 1 && b->scales[0] < 0)
		b->d |= 0x8000;
	return 1;
}

static int shifted(const blocks_type *t, const double *v, made *b)
{
	const tensor_float_layout *f = tensor_float_layout_of(PCTL_SCALAR_F16);
	double low, high, far, from;

	extremes(v, t->block, &low, &high, &far);
	if (low < 0) {
		b->m = half_up(-low, 1);
		b->m |= b->m == 0 ? 0 : 0x8000;
	} else {
		b->m = (int)convert_float_code(f, low, 1) & 0x7fff;
		b->m -= half(b->m) > low;
	}
	from = half(b->m);
	if ((b->m & 0x7fff) > LARGEST)
		return 0;
	b->d = half_up(high - (long double)from, t->high);
	/* high - from is rounded: what is beside it is looked at. */
	while (b->d > 0 && half(b->d - 1) * t->high + from >= high)
		b->d--;
	while (b->d <= LARGEST && half(b->d) * t->high + from < high)
		b->d++;
	for (uint32_t i = 0; i < t->block && b->d <= LARGEST; i++)
		b->q[i] = nearest(v[i], from, half(b->d), (int)t->high);
	return b->d <= LARGEST;
}

static int two_levels(const blocks_type *t, const double *v, made *b)
{
	double low, high, far, from;

	extremes(v, t->block, &low, &high, &far);
	b->m = half_up(-low, t->minima);
	for (uint32_t i = 0; i < t->block && b->m <= LARGEST; i += t->sub) {
		int d;

		extremes(v + i, t->sub, &low, &high, &far);
		b->minima[i / t->sub] = integer_up(-low, half(b->m), (int)t->minima);
		from = -half(b->m) * b->minima[i / t->sub];
		d = half_up(high - (long double)from, t->scales * t->high);
		while (d > 0 && half(d - 1) * (t->scales * t->high) + from >= high)
			d--;
		while (d <= LARGEST && half(d) * (t->scales * t->high) + from < high)
			d++;
		b->d = d > b->d ? d : b->d;
	}
	if (b->m > LARGEST || b->d > LARGEST)
		return 0;
	for (uint32_t i = 0; i < t->block; i++) {
		const uint32_t part = i / t->sub;

		from = -half(b->m) * b->minima[part];
		if (i % t->sub == 0) {
			int k = 0;

			extremes(v + i, t->sub, &low, &high, &far);
			while (k < (int)t->scales && half(b->d) * k * t->high + from < high)
				k++;
			b->scales[part] = k;
		}
		b->q[i] = nearest(v[i], from, half(b->d) * b->scales[part], (int)t->high);
	}
	return 1;
}

/* ---- bytes ---------------------------------------------------------------------------------- */

/* n bits of v from bit `at` of the block on. */
static void bits(uint8_t *block, uint32_t at, uint32_t n, int v)
{
	for (uint32_t k = 0; k < n; k++)
		if ((unsigned)v >> k & 1)
			block[(at + k) / 8] |= (uint8_t)(1u << (at + k) % 8);
}

static void lay_32(const blocks_type *t, const made *b, uint8_t *to)
{
	uint32_t at = 16;

	bits(to, 0, 16, b->d);
	if (t->minima != 0) {
		bits(to, 16, 16, b->m);
		at = 32;
	}
	if (t->dtype == PCTL_DTYPE_Q8_0) {
		for (uint32_t i = 0; i < 32; i++)
			bits(to, at + 8 * i, 8, b->q[i]);
		return;
	}
	if (t->low + t->high == 31) {
		for (uint32_t i = 0; i < 32; i++)
			bits(to, at + i, 1, b->q[i] >> 4);
		at += 32;
	}
	for (uint32_t i = 0; i < 32; i++)
		bits(to, at + 8 * (i % 16) + 4 * (i / 16), 4, b->q[i]);
}

static void lay_256(const blocks_type *t, const made *b, uint8_t *to)
{
	const int pairs = t->dtype == PCTL_DTYPE_Q4_K || t->dtype == PCTL_DTYPE_Q5_K;
	const uint32_t d = pairs			 ? 0
			   : t->dtype == PCTL_DTYPE_Q2_K ? 80
			   : t->dtype == PCTL_DTYPE_Q3_K ? 108
							 : 208;

	bits(to, 8 * d, 16, b->d);
	if (t->minima != 0)
		bits(to, 8 * d + 16, 16, b->m);
	for (uint32_t k = 0; k < 16; k++) {
		const int s = b->scales[k], m = b->minima[k];

		if (t->dtype == PCTL_DTYPE_Q2_K)
			bits(to, 8 * k, 8, s | m << 4);
		else if (t->dtype == PCTL_DTYPE_Q6_K)
			bits(to, 8 * (192 + k), 8, s);
		else if (t->dtype == PCTL_DTYPE_Q3_K) {
			bits(to, 8 * (96 + k % 8) + k / 8 * 4, 4, s + 32);
			bits(to, 8 * (104 + k % 4) + k / 4 * 2, 2, (s + 32) >> 4);
		} else if (k < 4) {
			bits(to, 8 * (4 + k), 6, s);
			bits(to, 8 * (8 + k), 6, m);
		} else if (k < 8) {
			bits(to, 8 * (8 + k), 8, (s & 15) | (m & 15) << 4);
			bits(to, 8 * k + 6, 2, s >> 4);
			bits(to, 8 * (4 + k) + 6, 2, m >> 4);
		}
	}
	for (uint32_t i = 0; i < 256; i++) {
		const uint32_t in = i % 128, crumb = 8 * (i / 128 * 32 + in % 32) + in / 32 * 2;

		switch (t->dtype) {
		case PCTL_DTYPE_Q2_K:
			bits(to, 8 * 16 + crumb, 2, b->q[i]);
			break;
		case PCTL_DTYPE_Q3_K:
			bits(to, 8 * 32 + crumb, 2, b->q[i]);
			bits(to, 8 * (i % 32) + i / 32, 1, b->q[i] >> 2);
			break;
		case PCTL_DTYPE_Q6_K:
			bits(to, 8 * (i / 128 * 64 + in % 64) + in / 64 * 4, 4, b->q[i]);
			bits(to, 8 * 128 + crumb, 2, b->q[i] >> 4);
			break;
		default:
			bits(to,
			     8 * ((t->dtype == PCTL_DTYPE_Q5_K ? 48 : 16) + i / 64 * 32 + i % 32) +
				     i / 32 % 2 * 4,
			     4, b->q[i]);
			if (t->dtype == PCTL_DTYPE_Q5_K)
				bits(to, 8 * (16 + i % 32) + i / 32, 1, b->q[i] >> 4);
		}
	}
}

pctl_status blocks_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint64_t n = kit_elements(&u->q->in[0]);
	const blocks_type *t;
	pctl_status status = blocks_type_of(u, &t);

	if (status != PCTL_OK)
		return status;
	memset(out[0].data, 0, out[0].n_bytes);
	for (uint64_t i = 0; i < n; i += t->block) {
		uint8_t *to = (uint8_t *)out[0].data + i / t->block * t->bytes;
		double v[256];
		made b = {0};
		int fine = 1;

		for (uint32_t k = 0; k < t->block; k++) {
			v[k] = (double)tensor_element(u->q->in[0].dtype, in[0].data, i + k);
			fine = fine && isfinite(v[k]);
		}
		fine = fine && (t->minima == 0	 ? symmetric(t, v, &b)
				: t->minima == 1 ? shifted(t, v, &b)
						 : two_levels(t, v, &b));
		if (!fine)
			return pctl_refuse(u->call, PC4205_OP_VALUE,
					   "tensor.quantize_blocks: the block of element %llu has "
					   "an infinity, a NaN, or a scale that is beyond f16",
					   (unsigned long long)i);
		(t->block == 32 ? lay_32 : lay_256)(t, &b, to);
	}
	return PCTL_OK;
}
