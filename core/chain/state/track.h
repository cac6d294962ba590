/* The rows of a state and the tree over them, from version 2 of the rules on: which rows changed since the tree was last
 * brought up to date, and whether a row that is read or changed is the one that was written. Internal to core/chain/state
 * but for what tree.h and the modules of proofs and snapshots need.
 *
 * Kept in tables of their own, which are no state: `tree_nodes` (tree.h); `tree_open`, the rows that changed since: what
 * they were then, and the leaf's value of what they are now; `tree_counts`, how many rows each table has. So a row is right
 * when its leaf is that of tree_open, else that of the tree. Rows of CHAIN_APART stand in tree_open alone.
 *
 * Reading goes through views of the connection, one a table and named like it, that hand the key of each row to pctl_row before it
 * is seen; changes are seen by SQLite's preupdate hook. Both check a row once a transaction. */
#ifndef PIPECTL_CHAIN_STATE_TRACK_H
#define PIPECTL_CHAIN_STATE_TRACK_H

#include "chain/state/row.h"
#include "chain/state/state.h"

typedef struct pctl_track pctl_track;

pctl_status pctl_track_open(struct sqlite3 *db, const pctl_call *call, pctl_track **out);
void pctl_track_close(pctl_track *t);

/* Around transactions of the state: after BEGIN (looks whether there is a tree, and whether somebody else wrote: then the
 * rows are counted), before COMMIT, and after ROLLBACK. PC6140, PC6141. */
pctl_status pctl_track_begin(pctl_track *t, const pctl_call *call);
pctl_status pctl_track_commit(pctl_track *t, const pctl_call *call);
void pctl_track_rollback(pctl_track *t);

/* A statement failed, or a savepoint was gone back to: what the transaction changed until now is looked at again. */
void pctl_track_undone(pctl_track *t);

/* PC6140 when a row was found that is not right, else PCTL_OK. */
pctl_status pctl_track_verdict(const pctl_track *t, const pctl_call *call);
/* A read by its whole key found nothing: PC6140 unless there is no such row. */
pctl_status pctl_track_missing(pctl_track *t, uint32_t table, const uint8_t *key, uint64_t n,
			       const pctl_call *call);

/* Is there a tree, as far as it was looked for: at opening, by transactions, and by look, for who reads only and was there before the
 * tree. look: outside of transactions. */
int pctl_track_is_on(const pctl_track *t);
pctl_status pctl_track_look(pctl_track *t, const pctl_call *call);
/* Bring the tree up to date with all rows (make it, when there is none), inside a transaction; its root. */
pctl_status pctl_track_root(pctl_track *t, const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES]);
/* Hold every row of every table, and every node of the tree, against each other. rows: how many. PC6140, PC6141. */
pctl_status pctl_track_scrub(pctl_track *t, const pctl_call *call, uint64_t *rows);

/* The tree as it was last brought up to date, for proofs and snapshots. */
pctl_radix *pctl_track_tree(pctl_track *t);

/* pctl_chain_hold and pctl_chain_clear_apart (state.h). */
pctl_status pctl_track_hold(pctl_track *t, const pctl_call *call);
pctl_status pctl_track_clear_apart(pctl_track *t, const pctl_call *call);
/* A statement that reads whole rows of the table itself ("SELECT * FROM main.T ..") shows one: the very values that are handed out
 * are held against the tree, and nothing is read twice. PC6140. */
pctl_status pctl_track_shown(pctl_track *t, uint32_t table, struct sqlite3_stmt *stmt,
			     const pctl_call *call);
/*
 * The row that a key had then: its bytes, released with free(), or NULL. key: canonical.
 */
pctl_status pctl_track_row(pctl_track *t, uint32_t table, const uint8_t *key, uint64_t n,
			   const pctl_call *call, uint8_t **out, uint64_t *n_out);
/* Show all rows of then, in no order that counts; a visitor that returns non-zero ends it. Rows are not held against
 * the tree. */
typedef int (*pctl_track_visit)(void *ctx, uint32_t table, const uint8_t *row, uint64_t n);
pctl_status pctl_track_rows(pctl_track *t, pctl_track_visit visit, void *ctx,
			    const pctl_call *call);

#endif
