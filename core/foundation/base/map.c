/* The insertion-ordered map: open addressing over an array of entries that is never reordered. */
#include "foundation/base/map.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/hash.h"

struct entry {
	char *key;
	void *value;
};

struct pctl_map {
	struct entry *entries;
	uint32_t *slots; /* 1 + index of an entry, 0 empty */
	uint32_t n, cap, n_slots;
};

static uint32_t *find_slot(const pctl_map *m, const char *key)
{
	uint32_t i = (uint32_t)pctl_fnv64_text(PCTL_FNV64, key) & (m->n_slots - 1);

	while (m->slots[i] != 0 && strcmp(m->entries[m->slots[i] - 1].key, key) != 0)
		i = (i + 1) & (m->n_slots - 1);
	return &m->slots[i];
}

pctl_map *pctl_map_create(void)
{
	return calloc(1, sizeof(pctl_map));
}

void pctl_map_destroy(pctl_map *m)
{
	if (m == NULL)
		return;
	for (uint32_t i = 0; i < m->n; i++)
		free(m->entries[i].key);
	free(m->entries);
	free(m->slots);
	free(m);
}

static int grow(pctl_map *m)
{
	uint32_t cap = m->cap == 0 ? 16 : m->cap * 2;
	struct entry *entries;
	uint32_t *slots;

	if (m->cap > UINT32_MAX / 8)
		return 0;
	entries = realloc(m->entries, (size_t)cap * sizeof(*entries));
	if (entries == NULL)
		return 0;
	m->entries = entries;
	slots = calloc((size_t)cap * 2, sizeof(*slots));
	if (slots == NULL)
		return 0;
	free(m->slots);
	m->slots = slots;
	m->cap = cap;
	m->n_slots = cap * 2;
	for (uint32_t i = 0; i < m->n; i++)
		*find_slot(m, m->entries[i].key) = i + 1;
	return 1;
}

int pctl_map_put(pctl_map *m, const char *key, void *value)
{
	uint32_t *slot;
	char *copy;

	if (m->n == m->cap && !pctl_map_has(m, key) && !grow(m))
		return 0;
	slot = find_slot(m, key);
	if (*slot != 0) {
		m->entries[*slot - 1].value = value;
		return 1;
	}
	copy = strdup(key);
	if (copy == NULL)
		return 0;
	m->entries[m->n] = (struct entry){copy, value};
	*slot = ++m->n;
	return 1;
}

void *pctl_map_get(const pctl_map *m, const char *key)
{
	uint32_t i = m->n_slots == 0 ? 0 : *find_slot(m, key);

	return i == 0 ? NULL : m->entries[i - 1].value;
}

int pctl_map_has(const pctl_map *m, const char *key)
{
	return m->n_slots != 0 && *find_slot(m, key) != 0;
}

const char *pctl_map_key(const pctl_map *m, const char *key)
{
	const uint32_t i = m->n_slots == 0 ? 0 : *find_slot(m, key);

	return i == 0 ? NULL : m->entries[i - 1].key;
}

uint32_t pctl_map_count(const pctl_map *m)
{
	return m->n;
}

const char *pctl_map_key_at(const pctl_map *m, uint32_t i)
{
	return m->entries[i].key;
}

void *pctl_map_value_at(const pctl_map *m, uint32_t i)
{
	return m->entries[i].value;
}
