/* Parts of tensors, for laws; see parts.h. */
#include "parts.h"

typedef struct block {
	uint64_t whole, n, from, inner;
} block;

/* [o, j, k] of n -> [o, from + j, k] of whole */
static uint64_t within(const void *ctx, uint64_t i)
{
	const block *b = ctx;
	const uint64_t k = i % b->inner, j = i / b->inner % b->n, o = i / b->inner / b->n;

	return (o * b->whole + b->from + j) * b->inner + k;
}

uint32_t part_of(kit_law *l, uint32_t of, uint32_t d, uint64_t from, uint64_t n)
{
	pctl_tensor_type t = l->c->types[of];
	block b = {t.dim[d], n, from, 1};

	for (uint32_t i = d + 1; i < t.rank; i++)
		b.inner *= t.dim[i];
	t.dim[d] = n;
	return tensor_law_taken(l, &t, of, within, &b);
}

uint32_t part_words(kit_law *l, const uint32_t *words, uint64_t n)
{
	const pctl_tensor_type t = kit_vector(PCTL_SCALAR_U32, n);

	return kit_law_tensor(l, &t, words);
}

uint32_t part_moved(kit_law *l, uint32_t of, uint32_t by)
{
	const uint64_t n = kit_elements(&l->c->types[of]);
	uint32_t *words = kit_law_scratch(l, 4 * n + 4), number = 0;

	if (words == NULL)
		return 0;
	for (uint64_t i = 0; i < n; i++)
		words[i] = (uint32_t)tensor_get(kit_law_data(l, of), i, 4) + by;
	number = part_words(l, words, n);
	kit_law_free(l, words);
	return number;
}
