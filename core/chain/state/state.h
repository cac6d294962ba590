/* The state of the consensus VM: one SQLite file, written in transactions, with a root that two honest nodes share.
 * What lies here is only what every node computes alike: no times, no device names, no paths. */
#ifndef PIPECTL_CHAIN_STATE_STATE_H
#define PIPECTL_CHAIN_STATE_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/cas/cid.h"

typedef struct pctl_chain_state pctl_chain_state;

/*
 * Open (and make) DIR/state.sqlite: WAL, synchronous=FULL, foreign keys on, one schema version (PC5702 for another).
 * One process writes at a time; a second waits up to 5 s, then PC5703.
 */
pctl_status pctl_chain_state_open(const char *dir, const pctl_call *call, pctl_chain_state **out);
/* In memory, for tests. */
pctl_status pctl_chain_state_open_memory(const pctl_call *call, pctl_chain_state **out);
void pctl_chain_state_close(pctl_chain_state *s);

/* One transaction; everything that changes state asks for an open one (an assertion). Commit is durable when it
 * returns. */
pctl_status pctl_chain_begin(pctl_chain_state *s, const pctl_call *call);
pctl_status pctl_chain_commit(pctl_chain_state *s, const pctl_call *call);
void pctl_chain_rollback(pctl_chain_state *s);

/* The connection, for the modules of core/chain alone. */
struct sqlite3;
struct sqlite3 *pctl_chain_db(pctl_chain_state *s);
/*
 * A statement that is prepared once, kept until the state is closed, and handed out reset; the caller binds every
 * parameter, steps, and resets it when done (a pending one keeps its read open). One that is pending is not handed out a
 * second time: another is prepared. `sql` is compared as text.
 */
struct sqlite3_stmt;
pctl_status pctl_chain_statement(pctl_chain_state *s, const char *sql, const pctl_call *call,
				 struct sqlite3_stmt **out);
/* One that the caller finalises. A name of a table that a statement reads is its view, whose rows are verified (track.h);
 * one that it changes is the table, which is seen by the words a statement begins with. */
pctl_status pctl_chain_prepare(pctl_chain_state *s, const char *sql, uint32_t flags,
			       const pctl_call *call, struct sqlite3_stmt **out);
/* Memory of one module: a zeroed block of n bytes made at the first call, freed with the state; NULL: no memory.
 * *epoch differs in every transaction, so that what is remembered of an undone one is known to be stale. */
enum { PCTL_MEMORY_EDGES, PCTL_MEMORY_PARAMS, PCTL_MEMORY_CURSOR, PCTL_N_MEMORIES };
void *pctl_chain_memory(pctl_chain_state *s, int whose, size_t n, uint64_t *epoch);
/* Report SQLite's last error as PC5701. */
pctl_status pctl_chain_internal_failure(pctl_chain_state *s, const char *what,
					const pctl_call *call);

/*
 * The state root: SHA-256 over all rows of all consensus tables, tables in the order of schema.def, rows by primary
 * key, each value with its length; a table that came later (CHAIN_LATER) where it has rows. Two states with the same rows have the same root, whatever SQLite did inside.
 */
pctl_status pctl_chain_root(pctl_chain_state *s, const pctl_call *call,
			    uint8_t out[PCTL_DIGEST_BYTES]);

/*
 * The root of the tree over all rows but those of CHAIN_APART, brought up to date inside a transaction; the first time the
 * tree is made, and from then on every row that is read or changed is held against it: PC6140, from whatever meets one that
 * is not right, and PC6141 for the tree itself. What it is a function of: SEMANTICS.md 8.7.
 */
pctl_status pctl_chain_tree_root(pctl_chain_state *s, const pctl_call *call,
				 uint8_t out[PCTL_DIGEST_BYTES]);
/*
 * For a transaction that ends a block and so brings the tree up to date. hold: what changed since the tree was is read once, here, and rows
 * that are changed before they were read are held against the tree when it is brought up to date, in one walk of it. Without a tree it does nothing.
 * clear_apart: every row of the tables of CHAIN_APART goes, which the caller has read; not behind a savepoint that may be
 * gone back to.
 */
pctl_status pctl_chain_hold(pctl_chain_state *s, const pctl_call *call);
pctl_status pctl_chain_clear_apart(pctl_chain_state *s, const pctl_call *call);
/* Hold all rows and the tree against each other; how many rows. PC6140, PC6141; PC6143 without a tree. */
pctl_status pctl_chain_scrub(pctl_chain_state *s, const pctl_call *call, uint64_t *rows);
/* Of a state that a snapshot is being restored into (sync/snapshot.h), which is no chain before that has ended: the table that
 * says so, and whether it is there. */
#define PCTL_RESTORING "sync_chunks"
pctl_status pctl_chain_is_restoring(pctl_chain_state *s, const pctl_call *call, int *out);
/* For the modules of core/chain alone: track.h. */
struct pctl_track *pctl_chain_track(pctl_chain_state *s);

/*
 * Outside of transactions: what is read from here on is as it is now, whatever other connections write, until the moment ends. Nothing is written
 * meanwhile. PC5701.
 */
pctl_status pctl_chain_moment_begin(pctl_chain_state *s, const pctl_call *call);
void pctl_chain_moment_end(pctl_chain_state *s);

#endif
