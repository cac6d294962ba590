/* Listings. A row is cells; how it looks depends on who reads. A script (standard output is no terminal) gets what a table's
 * columns say literally, row by row, and that stays as it is. A person gets heads and columns as wide as what stands in them;
 * where that is wider than the terminal the last column is folded, and where even that leaves no room, each row becomes lines
 * of "head  cell". Words are never parted: a CID can be copied. */
#ifndef PIPECTL_TOOLS_TABLE_H
#define PIPECTL_TOOLS_TABLE_H

#include "foundation/diag/diag.h"

/*
 * head    what people read above it
 * before  what a script finds before the cell: "", " ", " clock "
 * width   of the cell for a script: at least so many columns, to the left; negative: to the right
 */
typedef struct pctl_column {
	const char *head, *before;
	int width;
} pctl_column;

#define PCTL_COLUMNS(columns) ((uint32_t)(sizeof(columns) / sizeof((columns)[0])))

#define PCTL_TABLE_HEADS 1u /* a script gets heads, too */

typedef struct pctl_table pctl_table;

/* For rows of these columns, which outlive it. NULL: no memory, which pctl_table_end tells; the others take it. */
pctl_table *pctl_table_begin(const pctl_column *columns, uint32_t n, uint32_t flags);
/* The next cell; the n-th ends its row. With pctl_table_none a script finds nothing there, not even `before`. */
void pctl_table_cell(pctl_table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void pctl_table_none(pctl_table *t);
/* A cell with that text, or none where it is NULL or empty. */
void pctl_table_maybe(pctl_table *t, const char *text);
/* A line below the row that ended last, which a script finds behind `before`. */
void pctl_table_note(pctl_table *t, const char *before, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Print what is not printed yet; the table is gone. */
pctl_status pctl_table_end(pctl_table *t, const pctl_call *call);

#endif
