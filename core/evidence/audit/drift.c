/* Implementation of drift.h. */
#include "evidence/audit/drift.h"

#include <math.h>
#include <string.h>

#include "runtime/graph/type.h"

#define SKIPPED_AT_ONCE 4096u /* bytes that are passed over when they are equal */

/* Bits of exponent and mantissa; 0 and 0 for what is no float. */
static void layout(uint32_t dtype, uint32_t *e, uint32_t *m)
{
	*e = dtype == PCTL_SCALAR_F16	 ? 5
	     : dtype == PCTL_SCALAR_F32	 ? 8
	     : dtype == PCTL_SCALAR_BF16 ? 8
	     : dtype == PCTL_SCALAR_F64	 ? 11
					 : 0;
	*m = dtype == PCTL_SCALAR_F16	 ? 10
	     : dtype == PCTL_SCALAR_F32	 ? 23
	     : dtype == PCTL_SCALAR_BF16 ? 7
	     : dtype == PCTL_SCALAR_F64	 ? 52
					 : 0;
}

int pctl_drift_is_float(uint32_t dtype)
{
	uint32_t e, m;

	layout(dtype, &e, &m);
	return e != 0;
}

int pctl_drift_is_nan(uint32_t dtype, uint64_t bits)
{
	uint32_t e, m;

	layout(dtype, &e, &m);
	if (e == 0)
		return 0;
	bits &= (1ull << (e + m)) - 1;
	return bits > ((1ull << e) - 1) << m;
}

uint64_t pctl_drift_ordered(uint32_t dtype, uint64_t bits)
{
	uint64_t sign, all;
	uint32_t e, m;

	layout(dtype, &e, &m);
	if (e == 0)
		return 0;
	sign = 1ull << (e + m);
	all = sign | (sign - 1);
	return bits & sign ? ~bits & all : (bits & all) | sign;
}

uint64_t pctl_drift_ulp(uint32_t dtype, uint64_t got, uint64_t want)
{
	const int nans = pctl_drift_is_nan(dtype, got) + pctl_drift_is_nan(dtype, want);
	uint64_t a = pctl_drift_ordered(dtype, got), b = pctl_drift_ordered(dtype, want);
	uint32_t e, m;

	layout(dtype, &e, &m);
	if (a == b)
		return 0;
	if (nans == 2)
		return 1;
	if (nans == 1)
		return (1ull << (e + m)) | ((1ull << (e + m)) - 1);
	return a > b ? a - b : b - a;
}

double pctl_drift_value(uint32_t dtype, uint64_t bits)
{
	uint32_t e, m, exponent;
	uint64_t mantissa, top;
	double v;

	layout(dtype, &e, &m);
	switch (dtype) {
	case PCTL_SCALAR_I8:
		return (double)(int8_t)bits;
	case PCTL_SCALAR_I16:
		return (double)(int16_t)bits;
	case PCTL_SCALAR_I32:
		return (double)(int32_t)bits;
	case PCTL_SCALAR_I64:
		return (double)(int64_t)bits;
	default:
		break;
	}
	if (e == 0)
		return (double)bits;
	mantissa = bits & ((1ull << m) - 1);
	exponent = (uint32_t)(bits >> m) & ((1u << e) - 1);
	top = (1ull << e) - 1;
	if (exponent == top)
		v = mantissa != 0 ? (double)NAN : (double)INFINITY;
	else if (exponent == 0)
		v = ldexp((double)mantissa, 2 - (1 << (e - 1)) - (int)m);
	else
		v = ldexp((double)(mantissa | 1ull << m),
			  (int)exponent + 1 - (1 << (e - 1)) - (int)m);
	return bits >> (e + m) & 1 ? -v : v;
}

void pctl_drift_begin(pctl_drift *s, uint32_t dtype, uint64_t n_bytes)
{
	memset(s, 0, sizeof(*s));
	s->dtype = dtype;
	s->element_bytes = dtype == 0 ? 1 : pctl_dtype_bytes(dtype);
	if (s->element_bytes == 0)
		s->element_bytes = 1;
	s->n_bytes = n_bytes;
	s->d.n_elements = (n_bytes + s->element_bytes - 1) / s->element_bytes;
}

static uint64_t element(const uint8_t *at, uint64_t n)
{
	uint64_t bits = 0;

	memcpy(&bits, at, n < sizeof(bits) ? n : sizeof(bits));
	return bits;
}

/* The 256th part of the buffer in which an element lies. */
static uint32_t part_of(const pctl_drift *s, uint64_t i)
{
	return (uint32_t)(s->d.n_elements > UINT64_MAX / PCTL_DRIFT_STRIP
				  ? i / (s->d.n_elements / PCTL_DRIFT_STRIP + 1)
				  : i * PCTL_DRIFT_STRIP / s->d.n_elements);
}

static uint32_t bit_length(uint64_t v)
{
	uint32_t n = 0;

	while (v != 0) {
		v >>= 1;
		n++;
	}
	return n < PCTL_DRIFT_BUCKETS ? n : PCTL_DRIFT_BUCKETS - 1;
}

static void add_relative(pctl_drift *s, uint64_t got, uint64_t want)
{
	const double a = pctl_drift_value(s->dtype, got), b = pctl_drift_value(s->dtype, want);
	double relative;

	if (!isfinite(a) || !isfinite(b) || fpclassify(b) == FP_ZERO)
		return;
	relative = fabs(a - b) / fabs(b);
	if (relative > s->d.max_relative)
		s->d.max_relative = relative;
}

static void add_ulp(pctl_drift *s, uint64_t i, uint64_t got, uint64_t want, uint32_t part)
{
	const uint64_t ulp = pctl_drift_ulp(s->dtype, got, want);

	if (pctl_drift_is_nan(s->dtype, got) != pctl_drift_is_nan(s->dtype, want)) {
		s->d.n_nan++;
	} else {
		s->sum_low += ulp;
		s->sum_high += s->sum_low < ulp;
		s->n_summed++;
		s->d.histogram[bit_length(ulp)]++;
		add_relative(s, got, want);
	}
	if (ulp > s->d.strip_ulp[part])
		s->d.strip_ulp[part] = ulp;
	if (ulp > s->d.max_ulp) {
		s->d.max_ulp = ulp;
		s->d.max_at = i;
		s->d.max_got = got;
		s->d.max_want = want;
	}
}

static void add_different(pctl_drift *s, uint64_t i, uint64_t got, uint64_t want)
{
	const uint32_t part = part_of(s, i);

	if (s->d.n_different++ == 0) {
		s->d.first = i;
		s->d.first_got = got;
		s->d.first_want = want;
	}
	s->different[part]++;
	if (pctl_drift_is_float(s->dtype))
		add_ulp(s, i, got, want, part);
}

void pctl_drift_add(pctl_drift *s, const void *got, const void *want, uint64_t n)
{
	const uint8_t *a = got, *b = want;
	uint64_t at = 0;

	while (at < n) {
		const uint64_t block = n - at < SKIPPED_AT_ONCE ? n - at : SKIPPED_AT_ONCE;

		if (memcmp(a + at, b + at, block) == 0) {
			at += block;
			continue;
		}
		for (uint64_t k = 0; k < block; k += s->element_bytes) {
			const uint64_t width =
				block - k < s->element_bytes ? block - k : s->element_bytes;

			if (memcmp(a + at + k, b + at + k, width) != 0)
				add_different(s, (s->at + at + k) / s->element_bytes,
					      element(a + at + k, width),
					      element(b + at + k, width));
		}
		at += block;
	}
	s->at += n;
}

/* How many elements a part has; with fewer elements than parts, a part shows the element that lies under it. */
static void fill_strip(pctl_drift *s)
{
	const uint64_t n = s->d.n_elements;
	uint64_t begin = 0;

	for (uint32_t part = 0; n != 0 && part < PCTL_DRIFT_STRIP; part++) {
		uint64_t end = n > UINT64_MAX / PCTL_DRIFT_STRIP
				       ? (part + 1) * (n / PCTL_DRIFT_STRIP + 1)
				       : ((part + 1) * n + PCTL_DRIFT_STRIP - 1) / PCTL_DRIFT_STRIP;

		end = end > n ? n : end;
		if (end == begin && part > 0) {
			s->d.strip_ppm[part] = s->d.strip_ppm[part - 1];
			s->d.strip_ulp[part] = s->d.strip_ulp[part - 1];
			continue;
		}
		s->d.strip_ppm[part] = end == begin ? 0
						    : (uint32_t)((double)s->different[part] * 1e6 /
								 (double)(end - begin));
		if (s->different[part] != 0 && s->d.strip_ppm[part] == 0)
			s->d.strip_ppm[part] = 1;
		begin = end;
	}
}

void pctl_drift_end(pctl_drift *s, pctl_audit_drift *out)
{
	const uint64_t equal = s->d.n_elements - s->d.n_different;
	pctl_audit_drift d;

	fill_strip(s);
	d = s->d;
	d.histogram[0] += equal;
	if (s->n_summed + equal != 0)
		d.mean_ulp = (ldexp((double)s->sum_high, 64) + (double)s->sum_low) /
			     (double)(s->n_summed + equal);
	d.device = out->device;
	d.job = out->job;
	d.cid = out->cid;
	d.base = out->base;
	*out = d;
}

void pctl_drift_compare(const void *got, const void *want, uint64_t n_bytes, uint32_t dtype,
			pctl_audit_drift *out)
{
	pctl_drift s;

	pctl_drift_begin(&s, dtype, n_bytes);
	pctl_drift_add(&s, got, want, n_bytes);
	pctl_drift_end(&s, out);
}
