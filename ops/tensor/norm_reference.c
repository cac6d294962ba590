/* The norms in plain C, row by row. */
#include <math.h>

#include "norm.h"

static float rounded_sum(tensor_sum *sum, uint64_t divisor)
{
	const uint32_t bits =
		tensor_sum_round(sum, divisor, tensor_float_format_of(PCTL_SCALAR_F32));
	float f;

	memcpy(&f, &bits, 4);
	return f;
}

/* What is taken off the elements of a row, and what they are multiplied by. */
static void row_of(const kit_use *u, const norm_shape *s, const pctl_span *in, uint64_t row,
		   const double *terms, float *a, float *r)
{
	const uint32_t kind = norm_kind(u), dtype = u->q->in[0].dtype;
	tensor_sum sum = {0};
	float v;

	*a = 0;
	if (kind == NORM_BATCH) {
		*a = (float)tensor_value(dtype, in[1].data, row % s->channels);
		v = (float)tensor_value(dtype, in[2].data, row % s->channels);
	} else if (kind == NORM_RMS) {
		for (uint64_t i = 0; i < s->n; i++)
			tensor_sum_product(&sum, terms[i], terms[i]);
		v = rounded_sum(&sum, 1) / (float)s->n;
	} else {
		const uint32_t bits =
			tensor_variance(terms, s->n, 0, tensor_float_format_of(PCTL_SCALAR_F32));

		memcpy(&v, &bits, 4);
		for (uint64_t i = 0; i < s->n; i++)
			tensor_sum_product(&sum, terms[i], 1);
		*a = rounded_sum(&sum, s->n);
	}
	*r = 1 / sqrtf(v + s->eps);
}

pctl_status norm_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const uint32_t dtype = u->q->in[0].dtype;
	const tensor_float_format *format = tensor_float_format_of(dtype);
	const uint64_t bytes = kit_dtype_bytes(dtype);
	double *terms;
	norm_shape s;
	const pctl_status status = norm_shape_of(u, &s);

	if (status != PCTL_OK)
		return status;
	terms = kit_scratch(u, s.n * sizeof(*terms));
	if (terms == NULL)
		return pctl_refuse(u->call, PC2_NOMEM, "no memory for a row");
	for (uint64_t row = 0; row < s.rows && s.n > 0; row++) {
		float a, r;

		for (uint64_t i = 0; i < s.n; i++)
			terms[i] = tensor_value(dtype, in[0].data, row * s.n + i);
		row_of(u, &s, in, row, terms, &a, &r);
		for (uint64_t i = 0; i < s.n; i++) {
			const uint64_t at = row * s.n + i, channel = at / s.rest % s.channels;
			float y = norm_kind(u) == NORM_RMS ? (float)terms[i] * r
							   : ((float)terms[i] - a) * r;
			uint32_t word;

			if (s.weight != 0)
				y *= (float)tensor_value(dtype, in[s.weight].data, channel);
			if (s.bias != 0)
				y += (float)tensor_value(dtype, in[s.bias].data, channel);
			word = tensor_narrowed(y, format);
			memcpy((char *)out[0].data + at * bytes, &word, bytes);
		}
	}
	kit_scratch_free(u, terms);
	return PCTL_OK;
}
