/* tensor.quantize and its kin in plain C, by another way than the kernels: an element is found among all of its type by comparing the number with
 * the midpoints between them times the scale, which long doubles hold exactly; nothing is divided. */
#include <math.h>

#include "quantize.h"

/* The scale of element i. */
static uint64_t scale_of(const pctl_tensor_type *x, const pctl_tensor_type *s, uint64_t i)
{
	uint64_t at = 0, step = 1;

	for (uint32_t d = x->rank; d-- > 0;) {
		const uint64_t c = i % x->dim[d];

		at += c / (x->dim[d] / s->dim[d]) * step;
		step *= s->dim[d];
		i /= x->dim[d];
	}
	return at;
}

/* Magnitude number k of the type; of floats the one behind the last is the next there would be. */
static long double magnitude(const quantize_type *to, uint32_t last, uint32_t k)
{
	const uint8_t code = (uint8_t)k;

	if (to->low != to->high || to->dtype == PCTL_DTYPE_BINARY)
		return k;
	if (k > last)
		return 2 * magnitude(to, last, last) - magnitude(to, last, last - 1);
	return tensor_element(to->dtype, &code, 0);
}

/* The number of the magnitude nearest to v / s, ties to the even one; both are magnitudes, s not 0. */
static uint32_t nearest(const quantize_type *to, uint32_t last, long double v, long double s)
{
	uint32_t low = 0, high = last + 1; /* v / s is not below magnitude low */

	if (isinf(s))
		return 0;
	while (high - low > 1) {
		const uint32_t k = low + (high - low) / 2;

		if (v >= magnitude(to, last, k) * s)
			low = k;
		else
			high = k;
	}
	if (v >= magnitude(to, last, last + 1) * s)
		return last + 1;
	const long double middle =
		(magnitude(to, last, low) + magnitude(to, last, low + 1)) / 2 * s;

	return v > middle || (v == middle && low % 2 == 1) ? low + 1 : low;
}

static void put(void *data, uint32_t bits, uint64_t i, uint64_t code)
{
	uint8_t *at = data;

	code &= (1u << bits) - 1;
	at[i * bits / 8] = (uint8_t)(at[i * bits / 8] | code << i * bits % 8);
}

static int saturated(int v, const quantize_type *t)
{
	return v < t->low ? t->low : v > t->high ? t->high : v;
}

static uint64_t integer_code(const quantize_type *to, long double x, long double s, int zero)
{
	const long double v = fabsl(x), by = fabsl(s);
	int q = 0;

	if (isnan(x) || isnan(s) || s == 0 || (isinf(x) && isinf(s)))
		q = 0;
	else if (isinf(x))
		q = 600;
	else
		q = (int)nearest(to, 600, v, by);
	if (!signbit(x) != !signbit(s))
		q = -q;
	return (uint64_t)(int64_t)saturated(q + saturated(zero, to), to);
}

static uint64_t small_float_code(const quantize_type *to, uint32_t bits, long double x,
				 long double s, int saturate)
{
	const tensor_float_layout *f = tensor_float_layout_of(to->dtype);
	const uint64_t sign = !signbit(x) != !signbit(s) ? 1u << (bits - 1) : 0;
	const uint32_t ones = (1u << (bits - 1)) - 1;
	const uint32_t last = !f->nan	       ? ones
			      : !f->infinities ? ones - 1
					       : (((1u << f->exponent) - 1) << f->fraction) - 1;
	uint32_t k = last + 1;

	if (isnan(x) || isnan(s) || (isinf(x) && isinf(s)))
		return f->infinities ? (last + 1) | 1u << (f->fraction - 1) : last + 1;
	if (s == 0)
		return 0;
	if (!isinf(x))
		k = nearest(to, last, fabsl(x), fabsl(s));
	if (k <= last)
		return k | sign;
	if (saturate || !f->nan)
		return last | sign;
	return f->infinities ? k | sign : k;
}

static int zero_at(const kit_use *u, const pctl_span *in, uint64_t at)
{
	int32_t zero = 0;

	if (quantize_has_zeros(u))
		memcpy(&zero, (const char *)in[QUANTIZE_ZERO].data + 4 * at, 4);
	return zero;
}

pctl_status quantize_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *x = &u->q->in[QUANTIZE_X], *s = &u->q->in[QUANTIZE_SCALE];
	const uint64_t n = kit_elements(x);
	const quantize_type *to;
	uint32_t block, bits;
	pctl_status status = quantize_to(u, QUANTIZE_TO, &to);

	if (status != PCTL_OK)
		return status;
	bits = kit_dtype_bits(to->dtype, &block);
	memset(out[0].data, 0, out[0].n_bytes);
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t at = scale_of(x, s, i);
		const long double v = tensor_element(x->dtype, in[QUANTIZE_X].data, i),
				  by = tensor_element(PCTL_SCALAR_F32, in[QUANTIZE_SCALE].data, at);
		uint64_t code;

		if (to->dtype == PCTL_DTYPE_F4 &&
		    (isnan(v) || isnan(by) || (isinf(v) && isinf(by))))
			return pctl_refuse(u->call, PC4205_OP_VALUE,
					   "tensor.quantize: element %llu over its scale is a NaN, "
					   "which f4 does not have",
					   (unsigned long long)i);
		if (to->dtype == PCTL_DTYPE_BINARY)
			code = isnan(v) || isnan(by) || v == 0 || by == 0 || isinf(by) ||
			       !signbit(v) == !signbit(by);
		else if (to->low != to->high)
			code = integer_code(to, v, by, zero_at(u, in, at));
		else
			code = small_float_code(to, bits, v, by,
						kit_attr(u, QUANTIZE_SATURATE) != 0);
		put(out[0].data, bits, i, code);
	}
	return PCTL_OK;
}

pctl_status dequantize_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *x = &u->q->in[QUANTIZE_X], *s = &u->q->in[QUANTIZE_SCALE];
	const quantize_type *from = quantize_type_of(x->dtype);
	const uint64_t n = kit_elements(x);
	uint32_t dtype = PCTL_SCALAR_F32;

	if (strcmp(u->q->attr[0].text, "f32") != 0)
		dtype = strcmp(u->q->attr[0].text, "f16") == 0 ? PCTL_SCALAR_F16 : PCTL_SCALAR_BF16;
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t at = scale_of(x, s, i), bytes = kit_dtype_bytes(dtype);
		const long double by = tensor_element(PCTL_SCALAR_F32, in[QUANTIZE_SCALE].data, at);
		long double v = tensor_element(x->dtype, in[QUANTIZE_X].data, i);
		uint64_t code;

		if (quantize_has_zeros(u))
			v -= saturated(zero_at(u, in, at), from);
		code = convert_float_code(tensor_float_layout_of(dtype), v * by, 0);
		memcpy((char *)out[0].data + i * bytes, &code, bytes);
	}
	return PCTL_OK;
}

/* The least m * 2^unit that reaches a / q, m of at most 16 bits, by trying. */
static float least_scale(long double a, long double q)
{
	long double m;
	int power;

	if (a == 0 || isinf(a))
		return (float)a;
	(void)frexpl(a / q, &power);
	power = power - 16 < -149 ? -149 : power - 16;
	m = floorl(ldexpl(a / q, -power)) - 2;
	while (ldexpl(m, power) * q < a)
		m += 1;
	m = ldexpl(m, power);
	return m > 0x1p128L - 0x1p104L ? INFINITY : (float)m;
}

pctl_status quantize_scale_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *x = &u->q->in[QUANTIZE_X];
	const quantize_type *to;
	pctl_tensor_type s;
	pctl_status status = quantize_to(u, QUANTIZE_SCALE_TO, &to);
	uint64_t n_scales;
	float a;

	if (status == PCTL_OK)
		status = quantize_scales(u, &s);
	if (status != PCTL_OK)
		return status;
	n_scales = kit_elements(&s);
	memset(out[0].data, 0, out[0].n_bytes);
	for (uint64_t i = 0; i < kit_elements(x); i++) {
		const float v = fabsf((float)tensor_element(x->dtype, in[QUANTIZE_X].data, i));
		char *at = (char *)out[0].data + 4 * scale_of(x, &s, i);

		memcpy(&a, at, 4);
		if (v > a)
			memcpy(at, &v, 4);
	}
	for (uint64_t k = 0; k < n_scales; k++) {
		memcpy(&a, (char *)out[0].data + 4 * k, 4);
		a = least_scale(a, ldexpl(to->odd, (int)to->power));
		memcpy((char *)out[0].data + 4 * k, &a, 4);
	}
	return PCTL_OK;
}
