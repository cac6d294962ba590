/* Reading and writing rows of the state in few words. For the modules of core/chain alone; reports SQLite's trouble as
 * PC5701 and a damaged amount as PC5719. */
#ifndef PIPECTL_CHAIN_STATE_CURSOR_H
#define PIPECTL_CHAIN_STATE_CURSOR_H

#include <sqlite3.h>

#include "chain/state/state.h"

#define PCTL_CHAIN_HEIGHT_MAX ((uint64_t)INT64_MAX) /* SQLite's integers end there */

/*
 * Prepare `sql` and bind its parameters in order, one letter of `kinds` each:
 * t  const char *, a text          a  uint64_t, an amount (eight bytes)
 * h  uint64_t at most PCTL_CHAIN_HEIGHT_MAX, an INTEGER
 * d  const uint8_t *, PCTL_DIGEST_BYTES bytes
 * b  const void *, uint64_t: a blob of that many bytes
 * What is bound must live until the statement is finalised, by the caller, also after an error.
 */
pctl_status pctl_cursor_open(pctl_chain_state *s, const pctl_call *call, sqlite3_stmt **out,
			     const char *sql, const char *kinds, ...);
/* The same with a statement that is kept for the next time (pctl_chain_statement): for what is read once a message or a
 * job. Given back with pctl_cursor_done, which takes NULL too, in place of finalising. */
pctl_status pctl_cursor_keep(pctl_chain_state *s, const pctl_call *call, sqlite3_stmt **out,
			     const char *sql, const char *kinds, ...);
void pctl_cursor_done(sqlite3_stmt *stmt);
/* The next row: *more is 0 behind the last. */
pctl_status pctl_cursor_next(pctl_chain_state *s, sqlite3_stmt *stmt, const pctl_call *call,
			     int *more);
/* The same of a statement "SELECT * FROM main.T .." and its table (PCTL_STATE_T): rows come from the table itself, and the values that are
 * handed out are those that are held against the tree. For whole rows this is half the work of a view, which reads a row again by its key. */
pctl_status pctl_cursor_row(pctl_chain_state *s, sqlite3_stmt *stmt, uint32_t table,
			    const pctl_call *call, int *more);
/* Bind and run a statement that changes rows, prepared once a state; asserts that a transaction is open. */
pctl_status pctl_cursor_write(pctl_chain_state *s, const pctl_call *call, const char *sql,
			      const char *kinds, ...);

/* Column `i` of the present row. A text that is longer than n - 1 bytes is cut. */
pctl_status pctl_cursor_amount(sqlite3_stmt *stmt, int i, const pctl_call *call, uint64_t *out);
void pctl_cursor_text(sqlite3_stmt *stmt, int i, char *out, size_t n);

/* PC5725 when the height is above what the state can hold. */
pctl_status pctl_cursor_height(uint64_t height, const pctl_call *call);

#endif
