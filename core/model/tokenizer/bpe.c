/* Byte pair encoding of one pre-token. Pairs wait in a heap, symbols are a list, so that n bytes cost n log n steps. Of all pairs
 * that can be merged the one of lowest rank (or highest score) is, of equal ones the leftmost. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/utf8.h"
#include "model/tokenizer/private.h"

#define NONE PCTL_TOKEN_NONE

/* A part of the word: where it begins, its bytes (0: merged into the one before it), its token (NONE: the vocabulary has none). */
typedef struct symbol {
	uint32_t at, n, id, next, previous;
} symbol;

/* A pair that may be merged; size tells whether its sides are still what they were. */
typedef struct candidate {
	uint64_t key; /* lower is merged first */
	uint32_t left, size, result;
} candidate;

void scratch_drop(scratch *s)
{
	free(s->symbols);
	free(s->heap);
	free(s->lattice);
	free(s->path);
	*s = (scratch){0};
}

int scratch_room(void **items, size_t *have, size_t n, size_t size)
{
	size_t want = 64;

	if (n <= *have)
		return 1;
	while (want < n)
		want *= 2;
	free(*items);
	*items = malloc(want * size);
	*have = *items == NULL ? 0 : want;
	return *items != NULL;
}

static int before(const candidate *a, const candidate *b)
{
	return a->key != b->key ? a->key < b->key : a->left < b->left;
}

static void heap_push(candidate *heap, size_t *n, candidate c)
{
	size_t i = (*n)++;

	for (; i > 0 && before(&c, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = c;
}

static candidate heap_pop(candidate *heap, size_t *n)
{
	const candidate top = heap[0], last = heap[--*n];
	size_t i = 0;

	for (size_t child; (child = 2 * i + 1) < *n; i = child) {
		if (child + 1 < *n && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &last))
			break;
		heap[i] = heap[child];
	}
	heap[i] = last;
	return top;
}

/* Doubles in an order of integers, the highest first. */
static uint64_t descending(double score)
{
	const double plain = score + 0.0; /* -0 is 0 */
	uint64_t bits;

	memcpy(&bits, &plain, sizeof(bits));
	return ~(bits >> 63 ? ~bits : bits | UINT64_C(1) << 63);
}

static void consider(const pctl_tokenizer *t, const scratch *s, const char *text, uint32_t left,
		     size_t *n_heap)
{
	const symbol *a = &s->symbols[left], *b;
	candidate c = {.left = left};

	if (a->next == NONE)
		return;
	b = &s->symbols[a->next];
	c.size = a->n + b->n;
	if (t->kind == MODEL_SCORES) {
		c.result = token_table_get(&t->model, t->tokens, text + a->at, c.size);
		if (c.result == NONE)
			return;
		c.key = descending(t->tokens[c.result].score);
	} else {
		uint32_t rank;

		if (a->id == NONE || b->id == NONE)
			return;
		rank = merge_rank(&t->ranks, a->id, b->id);
		if (rank == NONE)
			return;
		c.key = rank;
		c.result = t->merges[rank].result;
	}
	heap_push(s->heap, n_heap, c);
}

/* The word as single bytes, or single characters; returns how many. */
static uint32_t begin(const pctl_tokenizer *t, symbol *out, const char *text, size_t n)
{
	uint32_t count = 0;

	for (size_t i = 0, step; i < n; i += step, count++) {
		step = t->byte_level ? 1 : pctl_utf8_decode(text + i, n - i, NULL);
		if (step == 0)
			step = 1; /* no UTF-8, and so no token */
		out[count] = (symbol){.at = (uint32_t)i,
				      .n = (uint32_t)step,
				      .next = count + 1,
				      .previous = count - 1};
		out[count].id = t->byte_level
					? t->bytes[(uint8_t)text[i]]
					: token_table_get(&t->model, t->tokens, text + i, step);
	}
	out[count - 1].next = NONE;
	return count;
}

static void merge_all(const pctl_tokenizer *t, const scratch *s, const char *text, uint32_t n)
{
	symbol *symbols = s->symbols;
	size_t n_heap = 0;

	for (uint32_t i = 0; i + 1 < n; i++)
		consider(t, s, text, i, &n_heap);
	while (n_heap > 0) {
		const candidate c = heap_pop(s->heap, &n_heap);
		symbol *a = &symbols[c.left], *b;

		if (a->n == 0 || a->next == NONE)
			continue;
		b = &symbols[a->next];
		if (a->n + b->n != c.size)
			continue;
		a->n = c.size;
		a->id = c.result;
		a->next = b->next;
		b->n = 0;
		if (a->next != NONE)
			symbols[a->next].previous = c.left;
		consider(t, s, text, c.left, &n_heap);
		if (a->previous != NONE)
			consider(t, s, text, a->previous, &n_heap);
	}
}

pctl_status unknown_encode(const pctl_tokenizer *t, const char *text, size_t n,
			   const pctl_call *call, int *unknown, pctl_token_ids *out)
{
	if (t->byte_fallback) {
		for (size_t i = 0; i < n; i++)
			if (!PCTL_VEC_PUSH(out, t->bytes[(uint8_t)text[i]]))
				return pctl_no_memory(call, "ids");
		return PCTL_OK;
	}
	if (!(*unknown && t->fuse_unknown) && !PCTL_VEC_PUSH(out, t->unknown))
		return pctl_no_memory(call, "ids");
	*unknown = 1;
	return PCTL_OK;
}

pctl_status bpe_encode(const pctl_tokenizer *t, scratch *s, const char *text, size_t n,
		       const pctl_call *call, pctl_token_ids *out)
{
	pctl_status status = PCTL_OK;
	int unknown = 0;
	uint32_t count;

	if (t->ignore_merges) {
		const uint32_t id = token_table_get(&t->model, t->tokens, text, n);

		if (id != NONE)
			return PCTL_VEC_PUSH(out, id) ? PCTL_OK : pctl_no_memory(call, "ids");
	}
	/* Each merge puts two candidates at most, and there are fewer merges than symbols. */
	if (!scratch_room((void **)&s->symbols, &s->n_symbols, n, sizeof(symbol)) ||
	    !scratch_room((void **)&s->heap, &s->n_heap, 3 * n, sizeof(candidate)))
		return pctl_no_memory(call, "a word's symbols");
	count = begin(t, s->symbols, text, n);
	merge_all(t, s, text, count);
	for (uint32_t i = 0; i != NONE && status == PCTL_OK; i = s->symbols[i].next) {
		const symbol *a = &s->symbols[i];

		if (a->id == NONE) {
			status = unknown_encode(t, text + a->at, a->n, call, &unknown, out);
			continue;
		}
		unknown = 0;
		if (!PCTL_VEC_PUSH(out, a->id))
			status = pctl_no_memory(call, "ids");
	}
	return status;
}
