/* tensor.matmul in plain C, by exact_reference.h and by fmaf. */
#include <math.h>

#include "value.h"
#include "exact_reference.h"

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
	case PCTL_SCALAR_I64:
	case PCTL_SCALAR_U64:
		return ((const uint64_t *)data)[i];
	default: /* narrower than a byte */
		return (uint64_t)(int64_t)tensor_element(dtype, data, i);
	}
}

/* ---- the op --------------------------------------------------------------------------------- */

static uint32_t exact(const kit_use *u, const matmul_shape *s, const pctl_span *in, uint64_t a,
		      uint64_t b)
{
	tensor_sum total;

	memset(&total, 0, sizeof(total));
	for (uint64_t k = 0; k < s->k; k++)
		tensor_sum_product(&total,
				   tensor_value(u->q->in[0].dtype, in[0].data, a + k * s->a_column),
				   tensor_value(u->q->in[1].dtype, in[1].data, b + k * s->b_row));
	return tensor_sum_round(&total, 1, s->format);
}

static uint32_t ordered(const kit_use *u, const matmul_shape *s, const pctl_span *in, uint64_t a,
			uint64_t b)
{
	float total = 0, acc = 0;
	uint32_t bits;

	for (uint64_t k = 0; k < s->k; k++) {
		const float x =
			(float)tensor_value(u->q->in[0].dtype, in[0].data, a + k * s->a_column);
		const float y =
			(float)tensor_value(u->q->in[1].dtype, in[1].data, b + k * s->b_row);

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
