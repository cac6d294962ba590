/* tensor.convert in plain C: numbers are long doubles, which the mathematics library scales and rounds. */
#include <math.h>

#include "convert.h"

/* To the nearest integer, ties to even, whatever the machine's mode. */
static long double nearest(long double v)
{
	const long double down = floorl(v), rest = v - down;

	if (rest != 0.5L)
		return rest < 0.5L ? down : down + 1;
	return fmodl(down, 2) == 0 ? down : down + 1;
}

uint64_t convert_float_code(const tensor_float_layout *f, long double v, int saturate)
{
	const int frac = (int)f->fraction, bias = (1 << (f->exponent - 1)) - 1,
		  least = 1 - bias - frac;
	const uint64_t top = (1ull << f->exponent) - 1, ones = (1ull << frac) - 1;
	const uint64_t sign = signbit(v) ? 1ull << (f->exponent + f->fraction) : 0;
	const uint64_t most = f->infinities ? top << frac | 0
			      : f->nan	    ? (top << frac | ones)
					    : UINT64_MAX;
	/* most: the first code that is no finite number */
	const uint64_t last = most == UINT64_MAX ? (top << frac | ones) : most - 1;
	uint64_t code;
	int power;

	if (isnan(v))
		return f->infinities ? top << frac | (ones + 1) / 2 : top << frac | ones;
	v = fabsl(v);
	if (isinf(v)) {
		code = UINT64_MAX;
	} else {
		(void)frexpl(v, &power);
		power = v == 0 || power - 1 - frac < least ? least : power - 1 - frac;
		v = nearest(ldexpl(v, -power));
		if (v > (long double)ones + (long double)ones +
				1) { /* carried into the next power of two */
			v /= 2;
			power++;
		}
		code = v <= (long double)ones ? (uint64_t)v
		       : power - least + 1 > (int)top
			       ? UINT64_MAX
			       : (uint64_t)(power - least + 1) << frac | ((uint64_t)v & ones);
	}
	if (code <= last)
		return code | sign;
	if (saturate || (!f->infinities && !f->nan))
		return last | sign;
	return f->infinities ? top << frac | sign : top << frac | ones;
}

static uint64_t integer_code(uint32_t to, uint32_t bits, long double v)
{
	const long double half = ldexpl(1, (int)bits - 1);
	const long double high = to == PCTL_DTYPE_TERNARY ? 1
				 : tensor_is_signed(to)	  ? half - 1
							  : 2 * half - 1;
	const long double low = to == PCTL_DTYPE_TERNARY ? -1 : tensor_is_signed(to) ? -half : 0;

	if (to == PCTL_SCALAR_BOOL)
		return v != 0;
	if (to == PCTL_DTYPE_BINARY)
		return !(v < 0);
	if (isnan(v))
		return 0;
	v = v > high ? high : v < low ? low : nearest(v);
	return v < 0 ? 0 - (uint64_t)-v : (uint64_t)v;
}

static void put(void *data, uint32_t bits, uint64_t i, uint64_t code)
{
	uint8_t *at = data;

	if (bits >= 8) {
		memcpy(at + i * (bits / 8), &code, bits / 8);
		return;
	}
	code &= (1u << bits) - 1;
	at[i * bits / 8] = (uint8_t)(at[i * bits / 8] | code << i * bits % 8);
}

pctl_status convert_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint32_t from = u->q->in[0].dtype;
	const uint64_t n = kit_elements(&u->q->in[0]);
	uint32_t to, block, bits;
	const tensor_float_layout *f;
	pctl_status status = convert_to(u, &to);

	if (status != PCTL_OK)
		return status;
	if (from == to) {
		memcpy(out[0].data, in[0].data, in[0].n_bytes);
		return PCTL_OK;
	}
	f = tensor_float_layout_of(to);
	bits = kit_dtype_bits(to, &block);
	memset(out[0].data, 0, out[0].n_bytes);
	for (uint64_t i = 0; i < n; i++) {
		const long double v = tensor_element(from, in[0].data, i);

		if (to == PCTL_DTYPE_F4 && isnan(v))
			return pctl_refuse(
				u->call, PC4205_OP_VALUE,
				"tensor.convert: element %llu is a NaN, which f4 does not have",
				(unsigned long long)i);
		put(out[0].data, bits, i,
		    f != NULL ? convert_float_code(f, v, kit_attr(u, CONVERT_SATURATE) != 0)
			      : integer_code(to, bits, v));
	}
	return PCTL_OK;
}
