/* The laws of the tensor library: on what a device answered, by code that knows neither kernels nor references. */
#include <stdlib.h>

#include "tensor.h"

static uint64_t element(const uint8_t *data, uint64_t i, uint64_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, data + i * bytes, bytes);
	return v;
}

static uint64_t elements(const kit_law *l)
{
	return kit_elements(&l->use.q->in[0]);
}

static uint64_t element_bytes(const kit_law *l)
{
	return kit_dtype_bytes(l->use.q->in[0].dtype);
}

/* ---- reduce_max ---------------------------------------------------------------------------- */

void tensor_law_largest(kit_law *l)
{
	const uint64_t n = elements(l), bytes = element_bytes(l);
	const uint64_t y = element(kit_law_data(l, kit_law_out(l, 0)), 0, bytes);
	int found = 0;

	for (uint64_t i = 0; i < n; i++) {
		const uint64_t x = element(kit_law_data(l, 0), i, bytes);

		found |= x == y;
		if (x > y)
			kit_law_broken(l, "y below x", i, y, x);
	}
	if (n > 0 && !found)
		kit_law_says(l, "y is none of the elements", "one of the elements");
	if (n > 0)
		kit_law_holds(l);
}

/* Reversed, then shuffled; the device answers again. */
void tensor_law_permuted(kit_law *l)
{
	const uint64_t n = elements(l), bytes = element_bytes(l);
	uint8_t *x = n < 2 ? NULL : kit_law_scratch(l, n * bytes), kept[16];

	for (int way = 0; way < 2 && x != NULL; way++) {
		memcpy(x, kit_law_data(l, 0), n * bytes);
		for (uint64_t i = 0; i < n; i++) {
			const uint64_t k = way == 0 ? n - 1 - i : kit_random(n, i) % (i + 1);

			if (way == 0) {
				memcpy(x + i * bytes, kit_law_data(l, 0) + k * bytes, bytes);
				continue;
			}
			memcpy(kept, x + i * bytes, bytes);
			memcpy(x + i * bytes, x + k * bytes, bytes);
			memcpy(x + k * bytes, kept, bytes);
		}
		const uint32_t permuted = kit_law_tensor(l, &l->use.q->in[0], x);

		kit_law_equal(l, kit_law_use(l, "tensor.reduce_max", &permuted, 1, NULL, 0, 1),
			      kit_law_out(l, 0));
	}
	kit_law_free(l, x);
}

/* ---- scan ---------------------------------------------------------------------------------- */

/* The sums as the law has them, which y must be. */
static void scan(kit_law *l, int exclusive)
{
	const uint64_t n = elements(l), bytes = element_bytes(l);
	uint8_t *y = n == 0 ? NULL : kit_law_scratch(l, n * bytes);
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n && y != NULL; i++) {
		const uint64_t next = sum + element(kit_law_data(l, 0), i, bytes);

		memcpy(y + i * bytes, exclusive ? &sum : &next, bytes);
		sum = next;
	}
	if (y != NULL)
		kit_law_equal(l, kit_law_out(l, 0),
			      kit_law_tensor(l, &l->c->types[kit_law_out(l, 0)], y));
	kit_law_free(l, y);
}

static int is_exclusive(const kit_law *l)
{
	return strcmp(kit_law_attr(l, "exclusive"), "true") == 0;
}

void tensor_law_inclusive(kit_law *l)
{
	if (!is_exclusive(l))
		scan(l, 0);
}

void tensor_law_exclusive(kit_law *l)
{
	if (is_exclusive(l))
		scan(l, 1);
}

/* ---- sort_pairs ---------------------------------------------------------------------------- */

typedef struct pair {
	uint32_t key, payload;
} pair;

static int by_key_and_payload(const void *a, const void *b)
{
	const pair *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->payload < y->payload ? -1 : x->payload > y->payload;
}

static void fill(pair *out, const uint8_t *keys, const uint8_t *payloads, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		out[i] = (pair){(uint32_t)element(keys, i, 4), (uint32_t)element(payloads, i, 4)};
}

void tensor_law_permutation(kit_law *l)
{
	const uint64_t n = elements(l);
	pair *before = n == 0 ? NULL : kit_law_scratch(l, n * sizeof(*before));
	pair *after = n == 0 ? NULL : kit_law_scratch(l, n * sizeof(*after));

	if (before != NULL && after != NULL) {
		fill(before, kit_law_data(l, 0), kit_law_data(l, 1), n);
		fill(after, kit_law_data(l, kit_law_out(l, 0)), kit_law_data(l, kit_law_out(l, 1)),
		     n);
		for (uint64_t i = 1; i < n; i++)
			if (after[i - 1].key > after[i].key)
				kit_law_broken(l, "keys_sorted descends at", i, after[i].key,
					       after[i - 1].key);
		qsort(before, n, sizeof(*before), by_key_and_payload);
		qsort(after, n, sizeof(*after), by_key_and_payload);
		for (uint64_t i = 0; i < n; i++)
			if (by_key_and_payload(&before[i], &after[i]) != 0)
				kit_law_broken(l, "pairs in order", i,
					       (uint64_t)after[i].key << 32 | after[i].payload,
					       (uint64_t)before[i].key << 32 | before[i].payload);
		kit_law_holds(l);
	}
	kit_law_free(l, before);
	kit_law_free(l, after);
}

/* The same keys again with the places as payloads: among equal keys places must ascend. */
void tensor_law_stable(kit_law *l)
{
	const uint64_t n = elements(l);
	const uint32_t first = kit_law_out(l, 0) + 2; /* what the first round makes */
	uint32_t *places, inputs[2] = {0, first};

	if (n < 2)
		return;
	if (l->c->round == 0) {
		places = kit_law_scratch(l, n * sizeof(*places));
		for (uint32_t i = 0; i < n && places != NULL; i++)
			places[i] = i;
		if (places != NULL)
			inputs[1] = kit_law_tensor(l, &l->use.q->in[1], places);
		kit_law_use(l, "tensor.sort_pairs", inputs, 2, NULL, 0, 2);
		kit_law_again(l);
		kit_law_free(l, places);
		return;
	}
	for (uint64_t i = 1; i < n; i++) {
		const uint8_t *keys = kit_law_data(l, first + 1), *at = kit_law_data(l, first + 2);
		const uint64_t one = element(at, i - 1, 4), two = element(at, i, 4);

		if (element(keys, i - 1, 4) == element(keys, i, 4) && one >= two)
			kit_law_broken(l, "place after an equal key's, at", i, two, one + 1);
	}
	kit_law_holds(l);
}

void tensor_law_idempotent(kit_law *l)
{
	const uint32_t sorted[2] = {kit_law_out(l, 0), kit_law_out(l, 1)};
	const uint32_t twice = kit_law_use(l, "tensor.sort_pairs", sorted, 2, NULL, 0, 2);

	for (uint32_t i = 0; i < 2; i++)
		kit_law_equal(l, twice + i, sorted[i]);
}
