/* transformer.attention in plain C: a head of a token at a time, by exact_reference.h and real_reference.h. */
#include <math.h>

#include "attention.h"
#include "common/tensors/exact_reference.h"
#include "common/tensors/real_reference.h"

/* One head of one token. first, end: the positions that it sees. */
typedef struct head {
	const attention *a;
	const kit_use *u;
	const pctl_span *in;
	uint64_t b, query, j, first, end;
	float *score; /* by position */
} head;

static double value_of(const head *h, uint32_t port, uint64_t i)
{
	return tensor_value(h->u->q->in[port].dtype, h->in[port].data, i);
}

static float rounded(tensor_sum *sum)
{
	const uint32_t bits = tensor_sum_round(sum, 1, tensor_float_format_of(PCTL_SCALAR_F32));
	float f;

	memcpy(&f, &bits, 4);
	return f;
}

/* The row of position p for the head's keys, of `d` elements. */
static uint64_t row_of(const head *h, uint64_t p, uint64_t d)
{
	return (kv_place(&h->a->k, h->in, h->b, p) * h->a->k.heads + h->j) * d;
}

static float score_of(const head *h, uint64_t p)
{
	tensor_sum sum = {0};
	float s;

	for (uint64_t e = 0; e < h->a->d; e++)
		tensor_sum_product(&sum, value_of(h, ATTENTION_Q, h->query + e),
				   value_of(h, ATTENTION_K, row_of(h, p, h->a->d) + e));
	s = rounded(&sum) * h->a->scale;
	if (h->a->cap == 0)
		return s;
	s = tensor_tanh(s / h->a->cap);
	return h->a->cap * s;
}

static void attend(const head *h, const tensor_float_format *f, void *y, uint64_t to)
{
	const uint64_t bytes = kit_dtype_bytes(f->dtype);
	float m = NAN, s;
	tensor_sum sum = {0};

	for (uint64_t p = h->first; p < h->end; p++) {
		h->score[p] = score_of(h, p);
		if (isnan(m) || h->score[p] > m)
			m = h->score[p];
	}
	for (uint64_t p = h->first; p < h->end; p++) {
		const float v = h->score[p];

		h->score[p] = isinf(v) && v < 0 ? 0 : tensor_exp(v - m);
		tensor_sum_product(&sum, (double)h->score[p], 1);
	}
	s = rounded(&sum);
	for (uint64_t e = 0; e < h->a->dv && s != 0; e++) {
		tensor_sum all = {0};

		for (uint64_t p = h->first; p < h->end; p++)
			tensor_sum_product(&all, (double)h->score[p],
					   value_of(h, ATTENTION_V, row_of(h, p, h->a->dv) + e));
		tensor_put(y, to + e, bytes, tensor_narrowed(rounded(&all) / s, f));
	}
}

static void sight(const attention *a, const pctl_span *in, uint64_t b, uint64_t i, uint64_t *first,
		  uint64_t *end)
{
	const uint64_t at = sequences_start(&a->s, in, b) + i;

	*end = a->causal ? at + 1 : sequences_start(&a->s, in, b) + sequences_count(&a->s, in, b);
	*first = a->window == 0 || a->window > at ? 0 : at + 1 - a->window;
}

/* The lowest entry of pages that is seen and out of range. */
static pctl_status pages_refuse(const kit_use *u, const attention *a, const pctl_span *in)
{
	for (uint64_t b = 0; b < a->s.n && a->k.paged; b++)
		for (uint64_t p = 0; p < a->k.capacity; p++)
			for (uint64_t i = 0; i < sequences_count(&a->s, in, b); i++) {
				uint64_t first, end;

				sight(a, in, b, i, &first, &end);
				if (p >= first && p < end &&
				    kv_place(&a->k, in, b, p) == UINT64_MAX)
					return pctl_refuse(u->call, PC4205_OP_VALUE,
							   "pages[%llu] is out of range",
							   (unsigned long long)(b * a->k.n_pages +
										p / a->k.page));
			}
	return PCTL_OK;
}

pctl_status attention_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const tensor_float_format *f = tensor_float_format_of(u->q->in[ATTENTION_Q].dtype);
	attention a;
	pctl_status status = attention_of(u, &a);
	float *score;

	if (status != PCTL_OK || a.s.n * a.s.t * a.h == 0)
		return status;
	status = sequences_refuse(u, &a.s, in);
	if (status == PCTL_OK)
		status = pages_refuse(u, &a, in);
	if (status != PCTL_OK)
		return status;
	score = kit_scratch(u, 4 * a.k.capacity);
	if (score == NULL)
		return pctl_refuse(u->call, PC2_NOMEM, "no memory for scores");
	memset(out[0].data, 0, out[0].n_bytes);
	for (uint64_t b = 0; b < a.s.n; b++)
		for (uint64_t i = 0; i < sequences_count(&a.s, in, b); i++)
			for (uint64_t g = 0; g < a.h; g++) {
				const uint64_t line = (b * a.s.t + i) * a.h + g;
				head h = {&a, u, in, b, line * a.d, g / a.group, 0, 0, score};

				sight(&a, in, b, i, &h.first, &h.end);
				attend(&h, f, out[0].data, line * a.dv);
			}
	kit_scratch_free(u, score);
	return PCTL_OK;
}
