/* The tables of schema.def as an array, in its order. */
#ifndef PIPECTL_CHAIN_STATE_TABLES_H
#define PIPECTL_CHAIN_STATE_TABLES_H

#include <stddef.h>
#include <stdint.h>

/*
 * columns, key  as SQL declares them; kind: what stands behind
 * is_later      CHAIN_LATER; is_apart: CHAIN_APART, of which the tree over the rows knows nothing
 */
typedef struct pctl_state_table {
	const char *name;
	size_t n_name;
	const char *columns, *key, *kind;
	uint32_t is_later, is_apart;
} pctl_state_table;

#define PCTL_STATE_TABLES_MAX 64u
/* The place of each table in the array. */
enum {
#define CHAIN_TABLE(name, columns, key) PCTL_STATE_##name,
#define CHAIN_APART(name, columns, key) PCTL_STATE_##name,
#define CHAIN_LATER(name, columns, key) PCTL_STATE_##name,
#define CHAIN_NUMBERED(name, columns) PCTL_STATE_##name,
#define CHAIN_INDEX(name, unique, table, columns)
#include "chain/state/schema.def"
#undef CHAIN_TABLE
#undef CHAIN_APART
#undef CHAIN_LATER
#undef CHAIN_NUMBERED
#undef CHAIN_INDEX
};
const pctl_state_table *pctl_state_tables(uint32_t *n);
/* The place in the array of the table whose name is these n bytes, or -1. */
int pctl_state_table_find(const char *name, size_t n);
/* Column `i`: where its name begins, of how many bytes it is, and the letter of its values (row.h); 0: there is none. */
int pctl_state_column(const pctl_state_table *t, uint32_t i, const char **name, int *n, char *kind);
/* Of how many columns the key is; they are the first ones. */
uint32_t pctl_state_table_keys(const pctl_state_table *t);

#endif
