/* tensor.matmul in plain C, by exact_reference.h and by fmaf. */
#include <math.h>

#include "common/tensors/value.h"
#include "common/tensors/exact_reference.h"
#include "matmul.h"

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

/* ---- sizes and places, by rules of their own: a wrong one of matmul_shape_of is not followed here ---- */

/* Dimension d of the batch, counted from the last: 1 where t has none. */
static uint64_t batch_of(const pctl_tensor_type *t, uint32_t d)
{
	return t->rank >= d + 3 ? t->dim[t->rank - d - 3] : 1;
}

/* The number of an element of a factor: of the matrix that belongs to matrix `matrix` of the result, as it is multiplied. */
static uint64_t number_of(const pctl_tensor_type *t, const pctl_tensor_type *other, uint64_t matrix,
			  int transposed, uint64_t row, uint64_t column)
{
	const uint32_t last = t->rank - 1;
	uint64_t at = 0, below = 1;

	for (uint32_t d = 0; d < PCTL_RANK_MAX - 2; d++) {
		const uint64_t own = batch_of(t, d), both = own == 1 ? batch_of(other, d) : own;

		if (both == 0)
			return 0;
		at += (own == 1 ? 0 : matrix % both) * below;
		below *= own;
		matrix /= both;
	}
	at = at * t->dim[last - 1] + (transposed ? column : row);
	return at * t->dim[last] + (transposed ? row : column);
}

/* Elements of the result. */
static uint64_t count_of(const pctl_tensor_type *a, const pctl_tensor_type *b, uint64_t m,
			 uint64_t n)
{
	uint64_t count = m * n;

	for (uint32_t d = 0; d < PCTL_RANK_MAX - 2; d++)
		count *= batch_of(a, d) == 1 ? batch_of(b, d) : batch_of(a, d);
	return count;
}

pctl_status matmul_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *a = &u->q->in[0], *b = &u->q->in[1];
	const int ta = kit_attr(u, MATMUL_ATTR_TRANSPOSE_A) != 0,
		  tb = kit_attr(u, MATMUL_ATTR_TRANSPOSE_B) != 0;
	matmul_shape s;
	const pctl_status status = matmul_shape_of(u, &s);
	const uint64_t bytes = kit_dtype_bytes(s.out.dtype);
	uint64_t m, n, count;

	if (status != PCTL_OK)
		return status;
	m = a->dim[ta ? a->rank - 1 : a->rank - 2];
	s.k = a->dim[ta ? a->rank - 2 : a->rank - 1];
	n = b->dim[tb ? b->rank - 2 : b->rank - 1];
	count = count_of(a, b, m, n);
	if (count * bytes != out[0].n_bytes)
		return pctl_refuse(u->call, PC4205_OP_VALUE,
				   "%s: the result has %llu bytes, its factors give %llu",
				   u->op->desc.name, (unsigned long long)out[0].n_bytes,
				   (unsigned long long)(count * bytes));
	for (uint64_t e = 0; e < count; e++) {
		const uint64_t matrix = e / n / m, i = e / n % m, j = e % n,
			       x = number_of(a, b, matrix, ta, i, 0),
			       y = number_of(b, a, matrix, tb, 0, j);
		uint64_t result = 0;

		s.a_column = number_of(a, b, matrix, ta, i, 1) - x;
		s.b_row = number_of(b, a, matrix, tb, 1, j) - y;
		if (s.format == NULL)
			for (uint64_t k = 0; k < s.k; k++)
				result += integer(a->dtype, in[0].data, x + k * s.a_column) *
					  integer(b->dtype, in[1].data, y + k * s.b_row);
		else
			result = s.order == MATMUL_EXACT ? exact(u, &s, in, x, y)
							 : ordered(u, &s, in, x, y);
		memcpy((char *)out[0].data + e * bytes, &result, bytes);
	}
	return PCTL_OK;
}
