/* transformer.sample in plain C, as SEMANTICS.md 18.17 has it: candidates are put in order, and sums are exact in MPFR. */
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

#include "sample.h"

#define EXACT 512 /* bits that hold every sum and product here */

typedef struct candidate {
	uint32_t token, order; /* order: ascends as 16.6 has it */
	float e;
} candidate;

static int earlier(const void *a, const void *b)
{
	const candidate *x = a, *y = b;

	if (x->order != y->order)
		return x->order > y->order ? -1 : 1;
	return x->token < y->token ? -1 : 1;
}

/* 16.9's block of a key and a counter, its upper word and stream 0: the first two words. */
static uint64_t drawn(const uint8_t *key, uint32_t position)
{
	uint32_t k0 = (uint32_t)tensor_get(key, 0, 4), k1 = (uint32_t)tensor_get(key, 1, 4);
	uint32_t a = position, b = 0, c = 0, d = 0;

	for (int round = 0; round < 10; round++) {
		const uint64_t x = 0xD2511F53ull * a, y = 0xCD9E8D57ull * c;

		a = (uint32_t)(y >> 32) ^ b ^ k0;
		c = (uint32_t)(x >> 32) ^ d ^ k1;
		b = (uint32_t)y;
		d = (uint32_t)x;
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
	return (uint64_t)b << 32 | a;
}

static uint32_t greatest_of(const void *logits, uint64_t first, uint64_t n)
{
	uint64_t at = n;

	for (uint64_t i = 0; i < n; i++) {
		const float x = transformer_get(logits, first + i);
		const float best = at < n ? transformer_get(logits, first + at) : 0;

		/* 15.3: -0 is below +0. */
		if (!isnan(x) &&
		    (at == n || x > best || (x == best && !signbit(x) && signbit(best))))
			at = i;
	}
	return (uint32_t)(at < n ? at : 0);
}

static void add(mpfr_ptr sum, float x)
{
	mpfr_add_d(sum, sum, (double)x, MPFR_RNDN);
}

/* How many candidates are kept, of n in order. v: sums to work with. */
static uint64_t kept_of(const candidate *all, uint64_t n, uint32_t top_k, float top_p, float min_p,
			mpfr_t v[2])
{
	uint64_t count = 0;

	if (top_k != 0 && top_k < n)
		n = top_k;
	if (top_p < 1) {
		mpfr_set_zero(v[0], 1);
		for (uint64_t i = 0; i < n; i++)
			add(v[0], all[i].e);
		mpfr_mul_d(v[0], v[0], top_p > 0 ? (double)top_p : 0, MPFR_RNDN);
		mpfr_set_zero(v[1], 1);
		do
			add(v[1], all[count++].e);
		while (mpfr_less_p(v[1], v[0]));
		n = count;
	}
	while (min_p > 0 && n > 1 && all[n - 1].e < (min_p < 1 ? min_p : 1))
		n--;
	return n;
}

static uint32_t token_of(const candidate *all, uint64_t n, uint64_t u, mpfr_t v[2])
{
	uint64_t at = 0;

	mpfr_set_zero(v[0], 1);
	for (uint64_t i = 0; i < n; i++)
		add(v[0], all[i].e);
	mpfr_set_ui_2exp(v[1], (unsigned long)(u >> 32), 32, MPFR_RNDN);
	mpfr_add_ui(v[1], v[1], (unsigned long)(u & 0xffffffffu), MPFR_RNDN);
	mpfr_div_2ui(v[1], v[1], 64, MPFR_RNDN);
	mpfr_mul(v[0], v[0], v[1], MPFR_RNDN);
	mpfr_set_zero(v[1], 1);
	for (;; at++) {
		add(v[1], all[at].e);
		if (mpfr_greater_p(v[1], v[0]))
			return all[at].token;
	}
}

/* The candidates of a row; 0: none. */
static uint64_t candidates_of(const void *logits, uint64_t first, uint64_t n, float t,
			      candidate *out)
{
	float m = -INFINITY;
	uint64_t count = 0;

	if (!(t > 0) || isinf(t))
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		const float z = transformer_get(logits, first + i) / t;

		m = z > m ? z : m;
	}
	for (uint64_t i = 0; i < n && m > -INFINITY; i++) {
		const float z = transformer_get(logits, first + i) / t;
		uint32_t bits;

		if (isnan(z) || z == -INFINITY)
			continue;
		memcpy(&bits, &z, 4);
		out[count++] =
			(candidate){(uint32_t)i, (uint32_t)tensor_order_key(PCTL_SCALAR_F32, bits),
				    z == m ? 1 : tensor_exp(z - m)};
	}
	return count;
}

pctl_status sample_reference(const kit_use *u, const pctl_span *in, pctl_span *out)
{
	const pctl_tensor_type *logits = &u->q->in[SAMPLE_LOGITS];
	const uint64_t rows = logits->dim[0], tokens = logits->dim[1];
	candidate *all = kit_scratch(u, tokens * sizeof(*all));
	mpfr_t v[2];

	if (all == NULL)
		return pctl_refuse(u->call, PC2_NOMEM, "no memory for %s", u->op->desc.name);
	mpfr_init2(v[0], EXACT);
	mpfr_init2(v[1], EXACT);
	for (uint64_t row = 0; row < rows; row++) {
		const uint64_t first = row * tokens;
		uint64_t n = candidates_of(in[SAMPLE_LOGITS].data, first, tokens,
					   transformer_get(in[SAMPLE_TEMPERATURE].data, row), all);
		uint32_t token = greatest_of(in[SAMPLE_LOGITS].data, first, tokens);

		if (n != 0) {
			qsort(all, n, sizeof(*all), earlier);
			n = kept_of(all, n, (uint32_t)tensor_get(in[SAMPLE_TOP_K].data, row, 4),
				    transformer_get(in[SAMPLE_TOP_P].data, row),
				    transformer_get(in[SAMPLE_MIN_P].data, row), v);
			token = token_of(
				all, n,
				drawn((const uint8_t *)in[SAMPLE_KEY].data + 8 * row,
				      (uint32_t)tensor_get(in[SAMPLE_POSITION].data, row, 4)),
				v);
		}
		tensor_put(out[0].data, row, 4, token);
	}
	mpfr_clear(v[0]);
	mpfr_clear(v[1]);
	kit_scratch_free(u, all);
	return PCTL_OK;
}
