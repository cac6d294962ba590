/* The tables of a tokenizer: texts to ids, bytes to a trie, pairs to ranks. All by open addressing in powers of two, at most half
 * full; nothing is ever read in the order of a hash. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/hash.h"
#include "model/tokenizer/private.h"

/* The slots for `room` entries; 0: too many. */
static uint32_t slots_for(uint32_t room)
{
	uint32_t n = 16;

	if (room > UINT32_MAX / 8)
		return 0;
	while (n < room * 2u)
		n *= 2;
	return n;
}

/* ---- texts ---- */

static uint32_t *text_slot(const token_table *table, const token *tokens, const char *text,
			   size_t n)
{
	uint32_t i = (uint32_t)pctl_mix64(pctl_fnv64(PCTL_FNV64, text, n)) & (table->n_slots - 1);

	for (; table->slots[i] != 0; i = (i + 1) & (table->n_slots - 1)) {
		const token *t = &tokens[table->slots[i] - 1];
		const pctl_token_text *other = table->by_bytes ? &t->bytes : &t->text;

		if (other->n == n && memcmp(other->text, text, n) == 0)
			break;
	}
	return &table->slots[i];
}

uint32_t token_table_get(const token_table *table, const token *tokens, const char *text, size_t n)
{
	return table->n_slots == 0 ? PCTL_TOKEN_NONE : *text_slot(table, tokens, text, n) - 1;
}

int token_table_put(token_table *table, uint32_t room, const token *tokens, uint32_t id,
		    uint32_t *had)
{
	const pctl_token_text *key = table->by_bytes ? &tokens[id].bytes : &tokens[id].text;
	uint32_t *slot;

	*had = PCTL_TOKEN_NONE;
	if (table->n_slots == 0) {
		const uint32_t n = slots_for(room);

		table->slots = n == 0 ? NULL : calloc(n, sizeof(*table->slots));
		if (table->slots == NULL)
			return 0;
		table->n_slots = n;
	}
	slot = text_slot(table, tokens, key->text, key->n);
	if (*slot != 0)
		*had = *slot - 1;
	else
		*slot = id + 1;
	return 1;
}

void token_table_drop(token_table *table)
{
	free(table->slots);
	*table = (token_table){0};
}

/* ---- the trie ---- */

int token_trie_init(token_trie *trie)
{
	*trie = (token_trie){.n_slots = 64, .n = 1, .cap = 32};
	trie->keys = calloc(trie->n_slots, sizeof(*trie->keys));
	trie->nodes = calloc(trie->n_slots, sizeof(*trie->nodes));
	trie->ends = malloc(trie->cap * sizeof(*trie->ends));
	if (trie->keys == NULL || trie->nodes == NULL || trie->ends == NULL)
		return 0;
	trie->ends[0] = PCTL_TOKEN_NONE;
	return 1;
}

static uint32_t edge_slot(const uint64_t *keys, uint32_t n_slots, uint64_t key)
{
	uint32_t i = (uint32_t)pctl_mix64(key) & (n_slots - 1);

	while (keys[i] != 0 && keys[i] != key)
		i = (i + 1) & (n_slots - 1);
	return i;
}

static int trie_grow(token_trie *trie)
{
	const uint32_t n_slots = trie->n_slots * 2, cap = trie->cap * 2;
	uint64_t *keys;
	uint32_t *nodes, *ends;

	if (trie->n_slots > UINT32_MAX / 4)
		return 0;
	ends = realloc(trie->ends, (size_t)cap * sizeof(*ends));
	if (ends == NULL)
		return 0;
	trie->ends = ends;
	keys = calloc(n_slots, sizeof(*keys));
	nodes = calloc(n_slots, sizeof(*nodes));
	if (keys == NULL || nodes == NULL) {
		free(keys);
		free(nodes);
		return 0;
	}
	for (uint32_t i = 0; i < trie->n_slots; i++) {
		uint32_t at;

		if (trie->keys[i] == 0)
			continue;
		at = edge_slot(keys, n_slots, trie->keys[i]);
		keys[at] = trie->keys[i];
		nodes[at] = trie->nodes[i];
	}
	free(trie->keys);
	free(trie->nodes);
	trie->keys = keys;
	trie->nodes = nodes;
	trie->n_slots = n_slots;
	trie->cap = cap;
	return 1;
}

uint32_t token_trie_next(const token_trie *trie, uint32_t node, uint8_t byte)
{
	const uint32_t at = edge_slot(trie->keys, trie->n_slots, 1 + ((uint64_t)node << 8 | byte));

	return trie->nodes[at];
}

int token_trie_put(token_trie *trie, const char *text, size_t n, uint32_t id)
{
	uint32_t node = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t key = 1 + ((uint64_t)node << 8 | (uint8_t)text[i]);
		uint32_t at;

		if (trie->n == trie->cap && !trie_grow(trie))
			return 0;
		at = edge_slot(trie->keys, trie->n_slots, key);
		if (trie->keys[at] == 0) {
			trie->keys[at] = key;
			trie->nodes[at] = trie->n;
			trie->ends[trie->n++] = PCTL_TOKEN_NONE;
		}
		node = trie->nodes[at];
	}
	if (trie->ends[node] == PCTL_TOKEN_NONE)
		trie->ends[node] = id;
	return 1;
}

void token_trie_drop(token_trie *trie)
{
	free(trie->keys);
	free(trie->nodes);
	free(trie->ends);
	*trie = (token_trie){0};
}

/* ---- pairs ---- */

uint32_t merge_rank(const merge_table *table, uint32_t left, uint32_t right)
{
	uint32_t at;

	if (table->n_slots == 0)
		return PCTL_TOKEN_NONE;
	at = edge_slot(table->keys, table->n_slots, 1 + ((uint64_t)left << 32 | right));
	return table->keys[at] == 0 ? PCTL_TOKEN_NONE : table->ranks[at];
}

int merge_table_put(merge_table *table, uint32_t room, uint32_t left, uint32_t right, uint32_t rank)
{
	const uint64_t key = 1 + ((uint64_t)left << 32 | right);
	uint32_t at;

	if (table->n_slots == 0) {
		const uint32_t n = slots_for(room);

		table->keys = n == 0 ? NULL : calloc(n, sizeof(*table->keys));
		table->ranks = n == 0 ? NULL : calloc(n, sizeof(*table->ranks));
		if (table->keys == NULL || table->ranks == NULL)
			return 0;
		table->n_slots = n;
	}
	at = edge_slot(table->keys, table->n_slots, key);
	if (table->keys[at] == 0) {
		table->keys[at] = key;
		table->ranks[at] = rank;
	}
	return 1;
}

void merge_table_drop(merge_table *table)
{
	free(table->keys);
	free(table->ranks);
	*table = (merge_table){0};
}
