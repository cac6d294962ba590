/* Shared by the files of track.h. Internal to core/chain/state. */
#ifndef PIPECTL_CHAIN_STATE_TRACK_PRIVATE_H
#define PIPECTL_CHAIN_STATE_TRACK_PRIVATE_H

#include "chain/state/track.h"
#include "foundation/base/arena.h"
#include "foundation/base/vec.h"

/*
 * A row that this transaction read or changed. before: what it was, of one that it changed; NULL: it was not. now: what the last
 * change made of it, NULL: it is gone; only where `sure` is that of the transaction: else a part of it was undone since, and
 * the row is read.
 */
enum { PCTL_SEEN_RIGHT = 1u, PCTL_SEEN_CHANGED = 2u };
typedef struct pctl_seen {
	uint64_t h;
	uint32_t table, n_key, flags, n_before, n_now, room_now;
	uint64_t sure;
	const uint8_t *key, *before;
	uint8_t *now;
	uint8_t leaf[PCTL_DIGEST_BYTES];
} pctl_seen;

struct pctl_track {
	sqlite3 *db;
	pctl_radix *tree;
	int is_on, was_on; /* was_on: when the transaction began */
	int is_hurt;	   /* no memory, where nothing could be returned */
	/* What was refused where SQLite called: the first of it, told when there is somebody to tell. */
	pctl_call inner;
	uint32_t hurt_code;
	char hurt[256];
	int is_forged;
	int has_views, new_views; /* new: made in this transaction */
	char forged[PCTL_ROW_TEXT_SIZE + 64];
	int64_t version;       /* PRAGMA data_version when rows were counted */
	unsigned read_version; /* of the file, when nodes were last read outside a transaction */
	int has_read;
	pctl_arena *arena;
	pctl_seen **slots; /* by key; a power of two of them */
	uint32_t n_slots, n_seen;
	uint64_t sure; /* goes up when changes were undone; never 0 */
	pctl_str_buf row, key;
	sqlite3_stmt *open_one, *open_before, *open_put, *open_drop, *version_of, *moment;
	sqlite3_stmt *by_key[PCTL_STATE_TABLES_MAX];
};

pctl_status pctl_track_trouble(pctl_track *t, const pctl_call *call);
pctl_status pctl_track_exec(pctl_track *t, const char *sql, const pctl_call *call);
pctl_status pctl_track_prepare(pctl_track *t, sqlite3_stmt **stmt, const char *sql,
			       const pctl_call *call);

/* Of this transaction: the entry of a key, made when it is not there (NULL: no memory). */
pctl_seen *pctl_track_seen(pctl_track *t, uint32_t table, const uint8_t *key, uint32_t n_key);
void pctl_track_forget(pctl_track *t);

/* The leaf's value that a row must have; *found 0: there must be no row. */
pctl_status pctl_track_expected(pctl_track *t, uint32_t table,
				const uint8_t leaf[PCTL_DIGEST_BYTES], const pctl_call *call,
				int *found, uint8_t value[PCTL_DIGEST_BYTES]);
/* Note a row that is not right, the first of them. how: "was changed". */
void pctl_track_forge(pctl_track *t, uint32_t table, const uint8_t *key, uint64_t n,
		      const char *how);
/* Forget what was noted: where one thing that was asked ends and another begins. */
void pctl_track_calm(pctl_track *t);
/* That, before a read outside a transaction, inside a statement that reads: nodes of another moment are forgotten. */
void pctl_track_fresh(pctl_track *t);
/* Hold a row (NULL: none) against what must be there. */
pctl_status pctl_track_check(pctl_track *t, uint32_t table, const uint8_t *key, uint64_t n_key,
			     const uint8_t leaf[PCTL_DIGEST_BYTES], const uint8_t *row, uint64_t n,
			     const pctl_call *call);

/* Are there the tables of a tree? */
pctl_status pctl_track_is_made(pctl_track *t, const pctl_call *call, int *out);

/* The hook, and the views, unless they are there. */
pctl_status pctl_track_listen(pctl_track *t, const pctl_call *call);
pctl_status pctl_track_views(pctl_track *t, const pctl_call *call);

/* The present row of a key, from the table itself, appended to *row, which is emptied first; *found. */
pctl_status pctl_track_present(pctl_track *t, uint32_t table, const uint8_t *key, uint64_t n,
			       const pctl_call *call, pctl_str_buf *row, int *found);
/* Show the present rows of a table, in the order of its keys. */
pctl_status pctl_track_walk(pctl_track *t, uint32_t table, pctl_track_visit visit, void *ctx,
			    const pctl_call *call, int *is_over);
/* The leaf of a row; PC6140 when it is not in the form of its table. */
pctl_status pctl_track_leaf(pctl_track *t, uint32_t table, const uint8_t *row, uint64_t n,
			    const pctl_call *call, uint64_t *n_key, pctl_radix_leaf *out);
/* Leaves of rows, gathered by a walk. rows: how many were shown; n_key: bytes of the last one's key; status: why the walk ended. */
typedef struct pctl_track_leaves {
	pctl_track *t;
	const pctl_call *call;
	pctl_status status;
	PCTL_VEC(pctl_radix_leaf) list;
	uint64_t rows, n_key;
} pctl_track_leaves;
/* A pctl_track_visit with one of those: the row's leaf comes last in the list. */
int pctl_track_gather(void *ctx, uint32_t table, const uint8_t *row, uint64_t n);
/* Write what this transaction changed into tree_open and tree_counts. */
pctl_status pctl_track_settle(pctl_track *t, const pctl_call *call);

#endif
