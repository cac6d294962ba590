/* tensor.matmul in plain C: a sum as two long magnitudes, of what is above zero and what is below, that are subtracted and rounded
 * digit by digit at the end. Nothing of it is the kernels'. */
#include <math.h>

#include "matmul.h"

/* ---- elements ------------------------------------------------------------------------------- */

static double half_value(uint32_t h)
{
	const int exponent = (int)(h >> 10 & 31);
	const double magnitude = exponent == 31	 ? (double)(h & 1023 ? NAN : INFINITY)
				 : exponent == 0 ? ldexp((double)(h & 1023), -24)
						 : ldexp((double)(h & 1023) + 1024, exponent - 25);

	return h & 0x8000 ? -magnitude : magnitude;
}

static double value(uint32_t dtype, const void *data, uint64_t i)
{
	switch (dtype) {
	case PCTL_SCALAR_F32:
		return (double)((const float *)data)[i];
	case PCTL_SCALAR_F16:
		return half_value(((const uint16_t *)data)[i]);
	case PCTL_SCALAR_BF16: {
		const uint32_t bits = (uint32_t)((const uint16_t *)data)[i] << 16;
		float f;

		memcpy(&f, &bits, 4);
		return (double)f;
	}
	case PCTL_SCALAR_I8:
		return ((const int8_t *)data)[i];
	case PCTL_SCALAR_U8:
		return ((const uint8_t *)data)[i];
	case PCTL_SCALAR_I16:
		return ((const int16_t *)data)[i];
	default:
		return ((const uint16_t *)data)[i];
	}
}

static uint64_t integer(uint32_t dtype, const void *data, uint64_t i)
{
	switch (dtype) {
	case PCTL_SCALAR_I8:
		return (uint64_t)(int64_t)((const int8_t *)data)[i];
	case PCTL_SCALAR_U8:
		return ((const uint8_t *)data)[i];
	case PCTL_SCALAR_I16:
		return (uint64_t)(int64_t)((const int16_t *)data)[i];
	case PCTL_SCALAR_U16:
		return ((const uint16_t *)data)[i];
	case PCTL_SCALAR_I32:
	case PCTL_SCALAR_U32:
		return ((const uint32_t *)data)[i];
	default:
		return ((const uint64_t *)data)[i];
	}
}

/* ---- exact sums ----------------------------------------------------------------------------- */

#define HALVES 42 /* digits of 16 bits: from 2^-300 up */
#define UNIT 300

typedef struct magnitude {
	uint16_t digit[HALVES];
} magnitude;

typedef struct sum {
	magnitude above, below;
	int nan, infinity, minus_infinity;
} sum;

/* mantissa * 2^exponent, exponent at least -UNIT. */
static void add(magnitude *m, uint64_t mantissa, int exponent)
{
	const int at = (exponent + UNIT) / 16, shift = (exponent + UNIT) % 16;
	uint32_t carry = 0;

	for (int i = 0; at + i < HALVES; i++) {
		/* bits 16 i - shift and up of the mantissa */
		const int from = 16 * i - shift;
		const uint64_t part = from < 0	  ? mantissa << -from
				      : from < 64 ? mantissa >> from
						  : 0;
		const uint32_t digit =
			(uint32_t)m->digit[at + i] + (uint32_t)(part & 0xffff) + carry;

		m->digit[at + i] = (uint16_t)digit;
		carry = digit >> 16;
		if (from >= 64 && carry == 0)
			return;
	}
}

static void add_product(sum *s, double a, double b)
{
	int ea, eb;
	uint64_t ma, mb;

	if (isnan(a) || isnan(b) || (isinf(a) && b == 0) || (isinf(b) && a == 0)) {
		s->nan = 1;
	} else if (isinf(a) || isinf(b)) {
		if ((signbit(a) != 0) == (signbit(b) != 0))
			s->infinity = 1;
		else
			s->minus_infinity = 1;
	} else if (a != 0 && b != 0) {
		ma = (uint64_t)ldexp(frexp(fabs(a), &ea), 24);
		mb = (uint64_t)ldexp(frexp(fabs(b), &eb), 24);
		/* of subnormals the lowest bits are zeros, which may lie below the least unit */
		ma *= mb;
		ea += eb - 48;
		for (; ea < -UNIT; ea++)
			ma >>= 1;
		add((a < 0) != (b < 0) ? &s->below : &s->above, ma, ea);
	}
}

static int compare(const magnitude *a, const magnitude *b)
{
	for (int i = HALVES - 1; i >= 0; i--)
		if (a->digit[i] != b->digit[i])
			return a->digit[i] < b->digit[i] ? -1 : 1;
	return 0;
}

static void subtract(magnitude *a, const magnitude *b)
{
	int32_t borrow = 0;

	for (int i = 0; i < HALVES; i++) {
		const int32_t digit = (int32_t)a->digit[i] - (int32_t)b->digit[i] - borrow;

		a->digit[i] = (uint16_t)digit;
		borrow = digit < 0;
	}
}

static uint32_t bit(const magnitude *m, int i)
{
	return i < 0 ? 0 : (uint32_t)(m->digit[i / 16] >> (i % 16)) & 1;
}

static uint32_t rounded(const magnitude *m, const matmul_format *f)
{
	const int p = (int)f->precision, least = (int)f->least + UNIT - 298;
	int top = 16 * HALVES - 1, last, up = 0;
	uint32_t kept = 0, field, code;

	while (top > 0 && !bit(m, top))
		top--;
	last = top - (p - 1) > least ? top - (p - 1) : least;
	for (int i = top; i >= last; i--)
		kept = kept << 1 | bit(m, i);
	if (bit(m, last - 1)) {
		up = kept & 1;
		for (int i = 0; i < last - 1; i++)
			up |= (int)bit(m, i);
	}
	kept += (uint32_t)up;
	if (kept == 1u << p) {
		kept >>= 1;
		last++;
	}
	field = kept < 1u << (p - 1) ? 0 : (uint32_t)(last - least) + 1;
	code = field << (p - 1) | (kept & ((1u << (p - 1)) - 1));
	return code > f->infinity ? f->infinity : code;
}

static uint32_t finish(sum *s, const matmul_format *f)
{
	const int order = compare(&s->above, &s->below);

	if (s->nan || (s->infinity && s->minus_infinity))
		return f->nan;
	if (s->infinity || s->minus_infinity)
		return s->infinity ? f->infinity : f->infinity | f->sign;
	if (order == 0)
		return 0;
	if (order > 0) {
		subtract(&s->above, &s->below);
		return rounded(&s->above, f);
	}
	subtract(&s->below, &s->above);
	return rounded(&s->below, f) | f->sign;
}

/* ---- the op --------------------------------------------------------------------------------- */

static uint32_t exact(const kit_use *u, const matmul_shape *s, const pctl_span *in, uint64_t a,
		      uint64_t b)
{
	sum total;

	memset(&total, 0, sizeof(total));
	for (uint64_t k = 0; k < s->k; k++)
		add_product(&total, value(u->q->in[0].dtype, in[0].data, a + k * s->a_column),
			    value(u->q->in[1].dtype, in[1].data, b + k * s->b_row));
	return finish(&total, s->format);
}

static uint32_t ordered(const kit_use *u, const matmul_shape *s, const pctl_span *in, uint64_t a,
			uint64_t b)
{
	float total = 0, acc = 0;
	uint32_t bits;

	for (uint64_t k = 0; k < s->k; k++) {
		const float x = (float)value(u->q->in[0].dtype, in[0].data, a + k * s->a_column);
		const float y = (float)value(u->q->in[1].dtype, in[1].data, b + k * s->b_row);

		if (s->order == MATMUL_CHUNKED && k % MATMUL_CHUNK == 0 && k > 0) {
			total = k == MATMUL_CHUNK ? acc : total + acc;
			acc = 0;
		}
		if (s->order == MATMUL_UNFUSED) {
			const float product = x * y;

			acc = acc + product;
		} else {
			acc = fmaf(x, y, acc);
		}
	}
	if (s->order == MATMUL_CHUNKED && s->k > MATMUL_CHUNK)
		acc = total + acc;
	if (isnan(acc))
		return s->format->nan;
	memcpy(&bits, &acc, 4);
	return bits;
}

pctl_status matmul_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	matmul_shape s;
	const pctl_status status = matmul_shape_of(u, &s);
	const uint64_t bytes = kit_dtype_bytes(s.out.dtype), count = kit_elements(&s.out);

	for (uint64_t e = 0; status == PCTL_OK && e < count; e++) {
		uint64_t a, b, result = 0;

		matmul_place(&s, e, &a, &b);
		if (s.format == NULL)
			for (uint64_t k = 0; k < s.k; k++)
				result +=
					integer(u->q->in[0].dtype, in[0].data, a + k * s.a_column) *
					integer(u->q->in[1].dtype, in[1].data, b + k * s.b_row);
		else
			result = s.order == MATMUL_EXACT ? exact(u, &s, in, a, b)
							 : ordered(u, &s, in, a, b);
		memcpy((char *)out[0].data + e * bytes, &result, bytes);
	}
	return status;
}
