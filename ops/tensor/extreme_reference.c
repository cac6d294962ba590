/* The references of max, min, any, all, prod, argmax and argmin: element by element, compared as numbers. */
#include <math.h>

#include "common/tensors/exact_reference.h"
#include "extreme.h"

/* An element as a number: of floats `f`, of integers `i` with its sign apart. */
typedef struct number {
	double f;
	uint64_t magnitude;
	int negative, is_float;
} number;

static number number_of(uint32_t dtype, const void *data, uint64_t i)
{
	const uint64_t bytes = kit_dtype_bytes(dtype);
	const int has_sign = dtype == PCTL_SCALAR_I8 || dtype == PCTL_SCALAR_I16 ||
			     dtype == PCTL_SCALAR_I32 || dtype == PCTL_SCALAR_I64;
	number n = {0};

	n.is_float = tensor_float_format_of(dtype) != NULL || dtype == PCTL_SCALAR_F64;
	if (dtype == PCTL_SCALAR_F64) {
		memcpy(&n.f, (const char *)data + 8 * i, 8);
		return n;
	}
	if (n.is_float) {
		n.f = tensor_value(dtype, data, i);
		return n;
	}
	memcpy(&n.magnitude, (const char *)data + i * bytes, bytes);
	if (has_sign && n.magnitude >> (8 * bytes - 1)) {
		n.negative = 1;
		n.magnitude = (bytes == 8 ? 0 : 1ull << (8 * bytes)) - n.magnitude;
	}
	return n;
}

/* Is a above b, -0 below +0? Neither is NaN. */
static int above(const number *a, const number *b)
{
	if (a->is_float)
		return a->f > b->f || (a->f == b->f && signbit(b->f) && !signbit(a->f));
	if (a->negative != b->negative)
		return b->negative;
	return a->negative ? a->magnitude < b->magnitude : a->magnitude > b->magnitude;
}

static int is_nan(const number *a)
{
	return a->is_float && isnan(a->f);
}

static int is_zero(const number *a)
{
	return a->is_float ? a->f == 0 : a->magnitude == 0;
}

/* The order of terms is that of their places in x, which is that of their indices. */
pctl_status extreme_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const extreme *e = u->op->data;
	const pctl_tensor_type *x = &u->q->in[0];
	const tensor_float_format *format = tensor_float_format_of(x->dtype);
	const uint64_t n = kit_elements(x), canonical = 0x7ff8000000000000u; /* of f64 */
	uint64_t bytes, *at;
	float *product;
	tensor_axes a;
	pctl_status status = extreme_axes(u, &a);

	if (status != PCTL_OK)
		return status;
	bytes = kit_dtype_bytes(a.out.dtype);
	at = kit_scratch(u, a.count * sizeof(*at));
	product = kit_scratch(u, a.count * sizeof(*product));
	if (at == NULL || product == NULL)
		status = pctl_refuse(u->call, PC2_NOMEM, "no memory for results");
	for (uint64_t i = 0; status == PCTL_OK && i < a.count; i++) {
		const uint64_t nothing = extreme_of_nothing(u, x->dtype);

		at[i] = UINT64_MAX;
		product[i] = 1;
		memcpy((char *)out[0].data + i * bytes, &nothing, bytes);
	}
	for (uint64_t i = 0; status == PCTL_OK && i < n; i++) {
		const uint64_t result = tensor_axes_result(x, a.mask, i);
		const number v = number_of(x->dtype, in[0].data, i);
		char *y = (char *)out[0].data + result * bytes;
		uint64_t word = 0, times = 0;
		number best;

		switch (e->what) {
		case EXTREME_ANY:
		case EXTREME_ALL:
			word = e->what == EXTREME_ANY;
			if (is_zero(&v) == (e->what == EXTREME_ALL))
				memcpy(y, &word, bytes);
			break;
		case EXTREME_PROD:
			if (format != NULL) {
				product[result] *= (float)v.f;
				break;
			}
			memcpy(&word, y, bytes);
			memcpy(&times, (const char *)in[0].data + i * bytes, bytes);
			word *= times;
			memcpy(y, &word, bytes);
			break;
		default:
			if (at[result] != UINT64_MAX) {
				best = number_of(x->dtype, in[0].data, at[result]);
				if (is_nan(&v) || (!is_nan(&best) &&
						   !(e->what == EXTREME_MAX ? above(&v, &best)
									    : above(&best, &v))))
					break;
			}
			at[result] = i;
		}
	}
	for (uint64_t i = 0; status == PCTL_OK && i < a.count; i++) {
		char *y = (char *)out[0].data + i * bytes;
		uint32_t bits;

		if (e->what == EXTREME_PROD && format != NULL && a.terms > 0) {
			bits = tensor_narrowed(product[i], format);
			memcpy(y, &bits, bytes);
		} else if (e->indexed) {
			uint64_t where = at[i];

			/* The coordinate along the axis: the stride is that of the innermost reduced group. */
			where = where / a.reduced[0].stride % a.terms;
			bits = (uint32_t)where;
			memcpy(y, &bits, bytes);
		} else if (e->what <= EXTREME_MIN && at[i] != UINT64_MAX) {
			const number v = number_of(x->dtype, in[0].data, at[i]);

			if (is_nan(&v) && format == NULL)
				memcpy(y, &canonical, bytes);
			else if (is_nan(&v))
				memcpy(y, &format->nan, bytes);
			else
				memcpy(y, (const char *)in[0].data + at[i] * bytes, bytes);
		}
	}
	kit_scratch_free(u, at);
	kit_scratch_free(u, product);
	return status;
}
