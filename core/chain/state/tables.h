/* The tables of schema.def as an array, in its order. */
#ifndef PIPECTL_CHAIN_STATE_TABLES_H
#define PIPECTL_CHAIN_STATE_TABLES_H

#include <stddef.h>
#include <stdint.h>

/*
 * columns, key  as SQL declares them; kind: what stands behind
 * is_later      CHAIN_LATER; is_apart: CHAIN_APART, of which the tree over the rows knows nothing; is_numbered: CHAIN_NUMBERED
 */
typedef struct pctl_state_table {
	const char *name;
	size_t n_name;
	const char *columns, *key, *kind;
	uint32_t is_later, is_apart, is_numbered, reserved;
} pctl_state_table;

/* Rows of a numbered table, which are only ever added, stand on pages, and a page is what the tree over the rows has a leaf of: page 0 has
 * those of the numbers 1 to PCTL_PAGE_ROWS. */
#define PCTL_PAGE_ROWS 16
static inline int64_t pctl_page_of(int64_t number)
{
	return number > 0 ? (number - 1) / PCTL_PAGE_ROWS : 0;
}

#define PCTL_STATE_TABLES_MAX 64u
/* The place of each table in the array. */
enum {
#define CHAIN_TABLE(name, columns, key) PCTL_STATE_##name,
#define CHAIN_APART(name, columns, key) PCTL_STATE_##name,
#define CHAIN_LATER(name, columns, key) PCTL_STATE_##name,
#define CHAIN_NUMBERED(name, columns) PCTL_STATE_##name,
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
const pctl_state_table *pctl_state_tables(uint32_t *n);
/* The place in the array of the table whose name is these n bytes, or -1. */
int pctl_state_table_find(const char *name, size_t n);
/* Column `i`: where its name begins, of how many bytes it is, and the letter of its values (row.h); 0: there is none. */
int pctl_state_column(const pctl_state_table *t, uint32_t i, const char **name, int *n, char *kind);
/* Of how many columns the key is; they are the first ones. */
uint32_t pctl_state_table_keys(const pctl_state_table *t);

#endif
