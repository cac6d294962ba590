/* The index from content to id, and the interned string table built on it. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/vec.h"
#include "compiler/ir/tables.h"
#include "foundation/base/hash.h"

uint32_t pctl_index_hash(uint32_t seed, const void *data, size_t n)
{
	const uint32_t h = pctl_fnv32(seed ? seed : PCTL_FNV32, data, n);

	return h ^ (h >> 15);
}

uint32_t pctl_index_find(const pctl_index *x, uint32_t hash, pctl_index_same same, const void *ctx)
{
	uint32_t i;

	if (!x->cap)
		return PCTL_NONE;
	for (i = hash & (x->cap - 1); x->slots[i].id_plus_1; i = (i + 1) & (x->cap - 1)) {
		if (x->slots[i].hash == hash && same(ctx, x->slots[i].id_plus_1 - 1))
			return x->slots[i].id_plus_1 - 1;
	}
	return PCTL_NONE;
}

static void place(pctl_index *x, uint32_t hash, uint32_t id_plus_1)
{
	uint32_t i = hash & (x->cap - 1);

	while (x->slots[i].id_plus_1)
		i = (i + 1) & (x->cap - 1);
	x->slots[i].hash = hash;
	x->slots[i].id_plus_1 = id_plus_1;
}

static int grow(pctl_index *x)
{
	pctl_index bigger = {NULL, x->n, x->cap ? x->cap * 2 : 64};
	uint32_t i;

	if (bigger.cap < x->cap)
		return 0;
	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return 0;
	for (i = 0; i < x->cap; i++) {
		if (x->slots[i].id_plus_1)
			place(&bigger, x->slots[i].hash, x->slots[i].id_plus_1);
	}
	free(x->slots);
	*x = bigger;
	return 1;
}

int pctl_index_add(pctl_index *x, uint32_t hash, uint32_t id)
{
	if (x->n >= x->cap / 2 && !grow(x))
		return 0;
	place(x, hash, id + 1);
	x->n++;
	return 1;
}

void pctl_index_drop(pctl_index *x)
{
	free(x->slots);
	memset(x, 0, sizeof(*x));
}

struct string_key {
	const char *data;
	const char *s;
	size_t n;
};

static int same_string(const void *ctx, uint32_t id)
{
	const struct string_key *k = ctx;

	return strncmp(k->data + id, k->s, k->n) == 0 && k->data[id + k->n] == '\0';
}

static int append(pctl_strings *t, const char *s, size_t n, uint32_t *out)
{
	if (n >= UINT32_MAX - t->n)
		return 0;
	if (t->n + n + 1 > t->cap) {
		size_t cap = ((size_t)t->n + n + 1) * 2;
		char *data = cap <= UINT32_MAX ? realloc(t->data, cap) : NULL;

		if (!data)
			return 0;
		t->data = data;
		t->cap = (uint32_t)cap;
	}
	*out = t->n;
	if (n)
		memcpy(t->data + t->n, s, n);
	t->data[t->n + n] = '\0';
	t->n += (uint32_t)n + 1;
	return 1;
}

int pctl_strings_put(pctl_strings *t, const char *s, size_t n, uint32_t *out)
{
	struct string_key key;
	uint32_t hash, id;

	*out = 0;
	if (!t->n && !append(t, "", 0, &id))
		return 0;
	if (!n)
		return 1;
	hash = pctl_index_hash(0, s, n);
	key.data = t->data;
	key.s = s;
	key.n = n;
	id = pctl_index_find(&t->index, hash, same_string, &key);
	if (id == PCTL_NONE) {
		if (!append(t, s, n, &id) || !pctl_index_add(&t->index, hash, id))
			return 0;
	}
	*out = id;
	return 1;
}

void pctl_strings_drop(pctl_strings *t)
{
	free(t->data);
	pctl_index_drop(&t->index);
	memset(t, 0, sizeof(*t));
}
