/* Exact sums in plain C: two long magnitudes, of what is above zero and what is below, that are subtracted and rounded digit by digit at
 * the end. Nothing of it is the kernels'. */
#include <math.h>

#include "common/tensors/value.h"
#include "common/tensors/exact_reference.h"

/* ---- elements ------------------------------------------------------------------------------- */

static double half_value(uint32_t h)
{
	const int exponent = (int)(h >> 10 & 31);
	const double magnitude = exponent == 31	 ? (double)(h & 1023 ? NAN : INFINITY)
				 : exponent == 0 ? ldexp((double)(h & 1023), -24)
						 : ldexp((double)(h & 1023) + 1024, exponent - 25);

	return h & 0x8000 ? -magnitude : magnitude;
}

double tensor_value(uint32_t dtype, const void *data, uint64_t i)
{
	const uint64_t bytes = kit_dtype_bytes(dtype);
	uint16_t half = 0;
	uint32_t bits;
	float f;

	/* Data of others need not be aligned. */
	if (bytes == 2)
		memcpy(&half, (const uint8_t *)data + 2 * i, 2);
	switch (dtype) {
	case PCTL_SCALAR_F32:
		memcpy(&f, (const uint8_t *)data + 4 * i, 4);
		return (double)f;
	case PCTL_SCALAR_F16:
		return half_value(half);
	case PCTL_SCALAR_BF16:
		bits = (uint32_t)half << 16;
		memcpy(&f, &bits, 4);
		return (double)f;
	case PCTL_SCALAR_I8:
		return ((const int8_t *)data)[i];
	case PCTL_SCALAR_U8:
		return ((const uint8_t *)data)[i];
	case PCTL_SCALAR_I16:
		return (int16_t)half;
	case PCTL_SCALAR_U16:
		return half;
	default:
		return (double)tensor_element(dtype, data, i);
	}
}

/* ---- exact sums ----------------------------------------------------------------------------- */

#define UNIT 300

typedef tensor_magnitude magnitude;

/* mantissa * 2^exponent, exponent at least -UNIT. */
static void add(magnitude *m, uint64_t mantissa, int exponent)
{
	const int at = (exponent + UNIT) / 16, shift = (exponent + UNIT) % 16;
	uint32_t carry = 0;

	for (int i = 0; at + i < TENSOR_HALVES; i++) {
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

void tensor_sum_product(tensor_sum *s, double a, double b)
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
	} else if (a != 0 && b != 0 && (double)(float)b != b) {
		/* An element of a block may have more bits: its upper ones first, cut off, then the rest. */
		b = frexp(b, &eb);
		tensor_sum_product(s, a, ldexp(trunc(ldexp(b, 24)), eb - 24));
		b = ldexp(b, 24);
		tensor_sum_product(s, a, ldexp(b - trunc(b), eb - 24));
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
	for (int i = TENSOR_HALVES - 1; i >= 0; i--)
		if (a->digit[i] != b->digit[i])
			return a->digit[i] < b->digit[i] ? -1 : 1;
	return 0;
}

static void subtract(magnitude *a, const magnitude *b)
{
	int32_t borrow = 0;

	for (int i = 0; i < TENSOR_HALVES; i++) {
		const int32_t digit = (int32_t)a->digit[i] - (int32_t)b->digit[i] - borrow;

		a->digit[i] = (uint16_t)digit;
		borrow = digit < 0;
	}
}

static uint32_t bit(const magnitude *m, int i)
{
	return i < 0 ? 0 : (uint32_t)(m->digit[i / 16] >> (i % 16)) & 1;
}

/* 1: something is left over. */
static int divide(magnitude *m, uint64_t n)
{
	uint64_t rest = 0;

	for (int i = TENSOR_HALVES - 1; i >= 0; i--) {
		rest = rest << 16 | m->digit[i];
		m->digit[i] = (uint16_t)(rest / n);
		rest %= n;
	}
	return rest != 0;
}

static uint32_t rounded(const magnitude *m, int rest, const tensor_float_format *f)
{
	const int p = (int)f->precision, least = (int)f->least + UNIT - 298;
	int top = 16 * TENSOR_HALVES - 1, last, up = 0;
	uint32_t kept = 0, field, code;

	while (top > 0 && !bit(m, top))
		top--;
	last = top - (p - 1) > least ? top - (p - 1) : least;
	for (int i = top; i >= last; i--)
		kept = kept << 1 | bit(m, i);
	if (bit(m, last - 1)) {
		up = rest | (int)(kept & 1);
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

uint32_t tensor_sum_round(tensor_sum *s, uint64_t divisor, const tensor_float_format *f)
{
	const int order = compare(&s->above, &s->below);

	if (divisor == 0 || s->nan || (s->infinity && s->minus_infinity))
		return f->nan;
	if (s->infinity || s->minus_infinity)
		return s->infinity ? f->infinity : f->infinity | f->sign;
	if (order == 0)
		return 0;
	if (order > 0) {
		subtract(&s->above, &s->below);
		return rounded(&s->above, divide(&s->above, divisor), f);
	}
	subtract(&s->below, &s->above);
	return rounded(&s->below, divide(&s->below, divisor), f) | f->sign;
}

uint32_t tensor_sum_of_digits(tensor_sum *s, const uint32_t *digits, int rest, uint64_t divisor,
			      const tensor_float_format *f)
{
	magnitude *m = &s->above;
	int any = 0;

	memset(s, 0, sizeof(*s));
	/* Two bits up: the unit here is 2^-300. */
	for (int i = 0; i < TENSOR_HALVES; i++) {
		const uint32_t below = i == 0 ? 0 : digits[i - 1] >> 14;

		m->digit[i] = (uint16_t)(digits[i] << 2 | below);
		any |= m->digit[i] != 0;
	}
	if (!any && !rest)
		return 0;
	rest |= divide(m, divisor);
	return rounded(m, rest, f);
}

uint32_t tensor_narrowed(float x, const tensor_float_format *f)
{
	tensor_sum s = {0};

	tensor_sum_product(&s, (double)x, 1);
	return tensor_sum_round(&s, 1, f) | (x == 0 && signbit(x) ? f->sign : 0);
}
