/* The canonical bytes of rows (SEMANTICS.md 8.7), which proofs and snapshots carry and the tree takes the hashes of. */
#ifndef PIPECTL_CHAIN_STATE_ROW_H
#define PIPECTL_CHAIN_STATE_ROW_H

#include <sqlite3.h>

#include "chain/state/tables.h"
#include "chain/tree/tree.h"
#include "foundation/base/str.h"

/*
 * A value is a letter and its bytes: 'i' and 8 bytes, an integer in two's complement, most significant first; 't' or 'b',
 * 4 bytes of length, most significant first, and the bytes of a text or a blob. A row is its values in the order of the
 * table's columns; its key is the first of them.
 */
typedef struct pctl_row_value {
	char kind; /* 'i', 't', 'b' */
	int64_t number;
	const uint8_t *data;
	uint32_t n;
} pctl_row_value;

void pctl_row_add(pctl_str_buf *out, const pctl_row_value *v);
/* Of a statement's present row, and of values that a function or a hook is given. NULL and a real are no values of a
 * state: they are written as 'b' of no bytes, which a STRICT table does not have in their place. */
void pctl_row_add_column(pctl_str_buf *out, sqlite3_stmt *stmt, int column);
void pctl_row_add_value(pctl_str_buf *out, sqlite3_value *value);

/* The next value of bytes at *at; 0 when there is none in form. */
int pctl_row_next(const uint8_t *bytes, uint64_t n, uint64_t *at, pctl_row_value *out);
/* Bind the values, one behind the other, from parameter 1 on; borrows the bytes. How many, or 0 when they are not in
 * form. */
uint32_t pctl_row_bind(sqlite3_stmt *stmt, const uint8_t *bytes, uint64_t n);
/* Is it a row of this table: as many values as it has columns, each of its type; *n_key bytes of it are the key. Of a numbered table: is it
 * a page, which is the page's number, its key, and then the rows that stand on it, at least one, ascending. */
int pctl_row_fits(const pctl_state_table *t, const uint8_t *bytes, uint64_t n, uint64_t *n_key);
/* The key of the page on which the row of this number stands, appended. */
void pctl_page_key(pctl_str_buf *out, int64_t number);
/* The rows of a page one by one, from *at = 0 on: 1, and *row with *n_row bytes has the number *number; 0 behind the last, and where it is
 * not in form. */
int pctl_page_next(const pctl_state_table *t, const uint8_t *page, uint64_t n, uint64_t *at,
		   const uint8_t **row, uint64_t *n_row, int64_t *number);
/* The bytes of a key for people: "accounts \"ada\"", cut to fit. */
#define PCTL_ROW_TEXT_SIZE 200u
char *pctl_row_key_text(const pctl_state_table *t, const uint8_t *key, uint64_t n,
			char out[PCTL_ROW_TEXT_SIZE]);

/* The key and the value of a row's leaf. */
pctl_status pctl_row_leaf_key(pctl_radix *t, const char *table, const uint8_t *key, uint64_t n,
			      const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES]);
pctl_status pctl_row_leaf_value(pctl_radix *t, const uint8_t *row, uint64_t n,
				const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES]);

#endif
