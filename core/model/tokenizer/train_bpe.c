/* Byte pair encoding learned: the pair of neighbours that is most frequent becomes a token, again and again. Of equally frequent ones
 * the pair of the lowest left token is taken, then of the lowest right one. Counts are kept up to date where a merge
 * changed them; a heap holds what may be the next. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "foundation/base/utf8.h"
#include "model/tokenizer/private.h"

#define NONE PCTL_TOKEN_NONE

typedef struct pair {
	uint32_t left, right;
	int64_t count;
	PCTL_VEC(uint32_t) words; /* where it came up; some twice, some not any more */
} pair;

typedef struct waiting {
	int64_t count;
	uint32_t left, right, pair;
} waiting;

typedef struct learning {
	pctl_tokenizer *t;
	const train_words *words;
	uint32_t **ids; /* of each word */
	uint32_t *n_ids, *seen;
	PCTL_VEC(pair) pairs;
	PCTL_VEC(waiting) heap;
	PCTL_VEC(uint32_t) grown; /* pairs whose count grew by the last merge */
	uint64_t *keys; /* (left, right) to 1 + number of pair: grows, unlike merge_table */
	uint32_t *numbers, n_slots;
	token_table texts;
} learning;

static int before(const waiting *a, const waiting *b)
{
	if (a->count != b->count)
		return a->count > b->count;
	return a->left != b->left ? a->left < b->left : a->right < b->right;
}

static int push(learning *l, uint32_t number)
{
	const pair *p = &l->pairs.items[number];
	const waiting w = {p->count, p->left, p->right, number};
	uint32_t i = l->heap.n;

	if (!PCTL_VEC_PUSH(&l->heap, w))
		return 0;
	for (; i > 0 && before(&w, &l->heap.items[(i - 1) / 2]); i = (i - 1) / 2)
		l->heap.items[i] = l->heap.items[(i - 1) / 2];
	l->heap.items[i] = w;
	return 1;
}

static waiting pop(learning *l)
{
	waiting *heap = l->heap.items;
	const waiting top = heap[0], last = heap[--l->heap.n];
	uint32_t i = 0;

	for (uint32_t child; (child = 2 * i + 1) < l->heap.n; i = child) {
		if (child + 1 < l->heap.n && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &last))
			break;
		heap[i] = heap[child];
	}
	heap[i] = last;
	return top;
}

static uint32_t slot_of(const learning *l, uint64_t key)
{
	uint64_t h = key * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t)(h >> 32) & (l->n_slots - 1);

	while (l->keys[i] != 0 && l->keys[i] != key)
		i = (i + 1) & (l->n_slots - 1);
	return i;
}

static int make_slots(learning *l)
{
	const uint32_t n = l->n_slots == 0 ? 4096 : l->n_slots * 2;

	if (l->pairs.n * 2u < l->n_slots)
		return 1;
	free(l->keys);
	free(l->numbers);
	l->keys = calloc(n, sizeof(*l->keys));
	l->numbers = calloc(n, sizeof(*l->numbers));
	if (l->keys == NULL || l->numbers == NULL)
		return 0;
	l->n_slots = n;
	for (uint32_t i = 0; i < l->pairs.n; i++) {
		const uint64_t key =
			1 + ((uint64_t)l->pairs.items[i].left << 32 | l->pairs.items[i].right);
		const uint32_t at = slot_of(l, key);

		l->keys[at] = key;
		l->numbers[at] = i;
	}
	return 1;
}

/* A pair counts more, or less, in a word. 0: no memory. */
static int change(learning *l, uint32_t left, uint32_t right, uint32_t word, int64_t by)
{
	const uint64_t key = 1 + ((uint64_t)left << 32 | right);
	uint32_t at, number;
	pair *p;

	if (!make_slots(l))
		return 0;
	at = slot_of(l, key);
	if (l->keys[at] == 0) {
		if (!PCTL_VEC_PUSH(&l->pairs, ((pair){.left = left, .right = right})))
			return 0;
		l->keys[at] = key;
		l->numbers[at] = l->pairs.n - 1;
	}
	number = l->numbers[at];
	p = &l->pairs.items[number];
	p->count += by;
	if (by < 0)
		return 1;
	if ((p->words.n == 0 || p->words.items[p->words.n - 1] != word) &&
	    !PCTL_VEC_PUSH(&p->words, word))
		return 0;
	return PCTL_VEC_PUSH(&l->grown, number);
}

static int push_grown(learning *l)
{
	for (uint32_t i = 0; i < l->grown.n; i++)
		if (!push(l, l->grown.items[i]))
			return 0;
	l->grown.n = 0;
	return 1;
}

/* Every place of the pair in a word, from left to right. */
static int merge_in(learning *l, uint32_t word, uint32_t left, uint32_t right, uint32_t made)
{
	const int64_t count = (int64_t)l->words->items[word].count;
	uint32_t *ids = l->ids[word], n = l->n_ids[word], k = 0;
	int fine = 1;

	for (uint32_t i = 0; i < n && fine; k++) {
		if (i + 1 == n || ids[i] != left || ids[i + 1] != right) {
			ids[k] = ids[i++];
			continue;
		}
		if (k > 0)
			fine = change(l, ids[k - 1], left, word, -count) &&
			       change(l, ids[k - 1], made, word, count);
		if (fine && i + 2 < n)
			fine = change(l, right, ids[i + 2], word, -count) &&
			       change(l, made, ids[i + 2], word, count);
		ids[k] = made;
		i += 2;
	}
	l->n_ids[word] = k;
	return fine;
}

/* The token of both sides together, NONE: it is one that text must not become; -1 of *fine: no memory. */
static uint32_t token_of(learning *l, uint32_t left, uint32_t right, int *fine)
{
	const pctl_token_text a = l->t->tokens[left].text, b = l->t->tokens[right].text;
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	uint32_t id, had;

	pctl_str_add_n(&text, a.text, a.n);
	pctl_str_add_n(&text, b.text, b.n);
	*fine = !text.failed;
	id = *fine ? token_table_get(&l->texts, l->t->tokens, text.data, text.n) : NONE;
	if (*fine && id == NONE) {
		id = l->t->n;
		*fine = tokenizer_put(l->t, id, text.data, text.n, PCTL_TOKEN_NORMAL, 0.0) &&
			token_table_put(&l->texts, 0, l->t->tokens, id, &had);
		if (*fine)
			l->t->tokens[id].in_model = 1;
	} else if (*fine && l->t->tokens[id].kind != PCTL_TOKEN_NORMAL) {
		id = NONE;
	}
	pctl_str_drop(&text);
	return id;
}

static pctl_status learn(learning *l, uint32_t n_tokens, const pctl_call *call)
{
	uint32_t round = 0;
	int fine = push_grown(l);

	while (fine && l->t->n < n_tokens && l->heap.n > 0) {
		const waiting top = pop(l);
		const pair *p = &l->pairs.items[top.pair];
		const uint32_t n_words = p->words.n;
		uint32_t made;

		if (pctl_is_cancelled(call))
			return PCTL_E_CANCELLED;
		if (p->count != top.count) {
			/* It counts less than when it was put here. */
			if (p->count > 0 && p->count < top.count)
				fine = push(l, top.pair);
			continue;
		}
		if (p->count < 1)
			break;
		made = token_of(l, top.left, top.right, &fine);
		l->pairs.items[top.pair].count = 0;
		if (!fine || made == NONE)
			continue;
		fine = tokenizer_add_merge(l->t, top.left, top.right, made);
		round++;
		for (uint32_t i = 0; i < n_words && fine; i++) {
			const uint32_t word = l->pairs.items[top.pair].words.items[i];

			if (l->seen[word] == round)
				continue;
			l->seen[word] = round;
			fine = merge_in(l, word, top.left, top.right, made);
		}
		l->pairs.items[top.pair].count = 0;
		fine = fine && push_grown(l);
	}
	return fine ? PCTL_OK : pctl_no_memory(call, "pairs");
}

/* ---- how it begins ---- */

static int put_byte_alphabet(pctl_tokenizer *t)
{
	/* In the order of the characters that stand for them, as Hugging Face's trainer has it. */
	for (uint32_t code = 0; code < 0x144; code++)
		for (uint32_t b = 0; b < 256; b++) {
			char text[2];
			uint32_t n;

			if (alphabet_code((uint8_t)b) != code)
				continue;
			n = alphabet_write((uint8_t)b, text);
			if (!tokenizer_put(t, t->n, text, n, PCTL_TOKEN_NORMAL, 0.0))
				return 0;
			t->tokens[t->n - 1].in_model = 1;
		}
	return 1;
}

static int put_byte_tokens(pctl_tokenizer *t)
{
	for (uint32_t b = 0; b < 256; b++) {
		char text[8];

		snprintf(text, sizeof(text), "<0x%02X>", b);
		if (!tokenizer_put(t, t->n, text, 6, PCTL_TOKEN_BYTE, 0.0))
			return 0;
		t->tokens[t->n - 1].in_model = 1;
	}
	return 1;
}

/* Every character of the words, by its number. */
static int put_characters(pctl_tokenizer *t, const train_words *words)
{
	uint8_t *met = calloc(0x110000, 1);
	int fine = met != NULL;

	for (uint32_t i = 0; i < words->n && fine; i++)
		for (size_t at = 0; at < words->items[i].n;) {
			uint32_t code = 0;

			at += pctl_utf8_decode(words->items[i].text + at, words->items[i].n - at,
					       &code);
			met[code] = 1;
		}
	for (uint32_t code = 0; code < 0x110000 && fine; code++) {
		utf8proc_uint8_t text[4];
		size_t n;

		if (!met[code])
			continue;
		n = (size_t)utf8proc_encode_char((utf8proc_int32_t)code, text);
		fine = tokenizer_put(t, t->n, (const char *)text, n, PCTL_TOKEN_NORMAL, 0.0);
		if (fine)
			t->tokens[t->n - 1].in_model = 1;
	}
	free(met);
	return fine;
}

/* Words as ids of bytes or characters, and the pairs of these. */
static int begin(learning *l)
{
	const pctl_tokenizer *t = l->t;

	for (uint32_t w = 0; w < l->words->n; w++) {
		const train_word *word = &l->words->items[w];
		uint32_t n = 0;

		l->ids[w] = malloc((word->n + 1u) * sizeof(uint32_t));
		if (l->ids[w] == NULL)
			return 0;
		for (size_t at = 0; at < word->n; n++) {
			char text[2];
			size_t step = 1;

			if (t->byte_level) {
				const uint32_t size = alphabet_write((uint8_t)word->text[at], text);

				l->ids[w][n] = token_table_get(&l->texts, t->tokens, text, size);
			} else {
				step = pctl_utf8_decode(word->text + at, word->n - at, NULL);
				l->ids[w][n] = token_table_get(&l->texts, t->tokens,
							       word->text + at, step);
			}
			at += step;
		}
		l->n_ids[w] = n;
		for (uint32_t i = 0; i + 1 < n; i++)
			if (!change(l, l->ids[w][i], l->ids[w][i + 1], w, (int64_t)word->count))
				return 0;
	}
	return 1;
}

static void drop(learning *l)
{
	for (uint32_t w = 0; w < l->words->n && l->ids != NULL; w++)
		free(l->ids[w]);
	for (uint32_t i = 0; i < l->pairs.n; i++)
		free(l->pairs.items[i].words.items);
	free(l->ids);
	free(l->n_ids);
	free(l->seen);
	free(l->pairs.items);
	free(l->heap.items);
	free(l->grown.items);
	free(l->keys);
	free(l->numbers);
	token_table_drop(&l->texts);
}

pctl_status train_bpe(pctl_tokenizer *t, const train_words *words, uint32_t n_tokens,
		      const pctl_call *call)
{
	learning l = {.t = t, .words = words};
	pctl_status status = PCTL_OK;
	int fine = t->byte_level ? put_byte_alphabet(t)
				 : put_byte_tokens(t) && put_characters(t, words);

	if (fine && t->n > n_tokens)
		return pctl_refuse(call, PC7004_TOKENIZER_TRAINING,
				   "%" PRIu32 " tokens have no room for the special ones and all "
				   "bytes or characters, which are %" PRIu32,
				   n_tokens, t->n);
	l.ids = calloc(words->n + 1u, sizeof(*l.ids));
	l.n_ids = calloc(words->n + 1u, sizeof(*l.n_ids));
	l.seen = calloc(words->n + 1u, sizeof(*l.seen));
	fine = fine && l.ids != NULL && l.n_ids != NULL && l.seen != NULL;
	for (uint32_t id = 0, had; id < t->n && fine; id++)
		fine = token_table_put(&l.texts, n_tokens + 16, t->tokens, id, &had);
	fine = fine && begin(&l);
	status = fine ? learn(&l, n_tokens, call) : pctl_no_memory(call, "pairs");
	drop(&l);
	return status;
}
