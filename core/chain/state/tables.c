/* The array behind tables.h, made from schema.def. */
#include "chain/state/tables.h"

#include <string.h>

#define PLAIN "STRICT, WITHOUT ROWID"

static const pctl_state_table tables[] = {
#define CHAIN_TABLE(name, columns, key) {#name, sizeof(#name) - 1, columns, key, PLAIN, 0, 0, 0, 0},
#define CHAIN_APART(name, columns, key) {#name, sizeof(#name) - 1, columns, key, PLAIN, 0, 1, 0, 0},
#define CHAIN_LATER(name, columns, key) {#name, sizeof(#name) - 1, columns, key, PLAIN, 1, 0, 0, 0},
#define CHAIN_NUMBERED(name, columns) \
	{#name, sizeof(#name) - 1, "id INTEGER NOT NULL, " columns, "id", "STRICT", 0, 0, 1, 0},
#define CHAIN_INDEX(name, unique, table, columns)
#define CHAIN_PART(name, table, columns, where)
#include "chain/state/schema.def"
#undef CHAIN_TABLE
#undef CHAIN_APART
#undef CHAIN_LATER
#undef CHAIN_NUMBERED
#undef CHAIN_INDEX
#undef CHAIN_PART
};
#define N_TABLES ((uint32_t)(sizeof(tables) / sizeof(tables[0])))
_Static_assert(N_TABLES <= PCTL_STATE_TABLES_MAX, "room for every table");

const pctl_state_table *pctl_state_tables(uint32_t *n)
{
	*n = N_TABLES;
	return tables;
}

int pctl_state_table_find(const char *name, size_t n)
{
	for (uint32_t i = 0; i < N_TABLES; i++)
		if (tables[i].n_name == n && memcmp(tables[i].name, name, n) == 0)
			return (int)i;
	return -1;
}

uint32_t pctl_state_table_keys(const pctl_state_table *t)
{
	uint32_t n = 1;

	for (const char *at = t->key; (at = strchr(at, ',')) != NULL; at++)
		n++;
	return n;
}

/* "name TYPE NOT NULL, name TYPE NOT NULL": as SQL declares them. */
int pctl_state_column(const pctl_state_table *t, uint32_t i, const char **name, int *n, char *kind)
{
	const char *at = t->columns, *type;

	for (; i > 0 && at != NULL; i--)
		at = strchr(at, ',') == NULL ? NULL : strchr(at, ',') + 2;
	if (at == NULL)
		return 0;
	*name = at;
	*n = (int)strcspn(at, " ");
	type = at + *n + 1;
	*kind = strncmp(type, "INTEGER", 7) == 0 ? 'i' : strncmp(type, "TEXT", 4) == 0 ? 't' : 'b';
	return 1;
}
