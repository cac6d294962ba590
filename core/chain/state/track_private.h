/* Shared by the files of track.h. Internal to core/chain/state. */
#ifndef PIPECTL_CHAIN_STATE_TRACK_PRIVATE_H
#define PIPECTL_CHAIN_STATE_TRACK_PRIVATE_H

#include "chain/state/track.h"
#include "foundation/base/arena.h"
#include "foundation/base/vec.h"

/*
 * A row that this transaction read or changed. before: what it was, of one that it changed; NULL: it was not. now: what the last
 * change made of it, NULL: it is gone; only where `sure` is that of the transaction: else a part of it was undone since, and
 * the row is read. PCTL_SEEN_UNSURE: whether it was right is found when the tree is brought up to date. Of a page: `first` is the least number that
 * this transaction added to it; before and now are read in the end.
 */
enum { PCTL_SEEN_RIGHT = 1u, PCTL_SEEN_CHANGED = 2u, PCTL_SEEN_UNSURE = 4u };
typedef struct pctl_seen {
	uint64_t h;
	uint32_t table, n_key, flags, n_before, n_now, room_now;
	uint64_t sure;
	int64_t first;
	const uint8_t *key, *before;
	uint8_t *now;
	uint8_t leaf[PCTL_DIGEST_BYTES];
} pctl_seen;

/* Rows of tables apart in tree_open, from before this transaction: as they are, of rows that are gone, or gone with them. */
enum { PCTL_APART_HOLDS = 0, PCTL_APART_VOID, PCTL_APART_GONE };

#define PCTL_HELD_BITS 14u

/* A row of tree_open: the leaf, and of which table. */
typedef struct pctl_open_row {
	pctl_radix_leaf leaf;
	uint32_t table, reserved;
} pctl_open_row;

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
	/* Of a transaction that ends a block (track_block.c): tree_open as it was at its beginning, ascending by leaf, less what the tree has
	 * since; less: rows that went without being seen one by one. */
	PCTL_VEC(pctl_open_row) open;
	uint32_t *
		open_from; /* where leaves begin that share their first PCTL_HELD_BITS bits, and where the last of them end */
	int is_held, apart; /* PCTL_APART_* */
	int64_t less[PCTL_STATE_TABLES_MAX];
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
/* The row of tree_open that is held of a leaf, or NULL. */
const pctl_open_row *pctl_track_held(const pctl_track *t, const uint8_t leaf[PCTL_DIGEST_BYTES]);
/* Rows of tree_open that are of nothing any more go: all that the tree has, when it is about to have it (`is_root`), and those of tables apart
 * whose rows are gone. */
pctl_status pctl_track_sweep(pctl_track *t, int is_root, const pctl_call *call);
/* The tree has what was held, but for rows of tables apart. */
void pctl_track_merged(pctl_track *t);
/* What was held, and what of tables apart went, is of a transaction that is over. */
void pctl_track_let_go(pctl_track *t);
/* Remove all rows of one of the tables without looking at them; *n: how many there were. */
pctl_status pctl_track_empty(pctl_track *t, const char *table, const pctl_call *call, int *n);
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

/* The key in t->key: 1 when it need not be looked at, else 0 and its leaf, -1 after an error. *e: its entry, NULL outside a transaction, where
 * nothing is remembered, for others may write. */
int pctl_track_find_seen(pctl_track *t, uint32_t table, pctl_seen **e,
			 uint8_t leaf[PCTL_DIGEST_BYTES]);
/* Outside a transaction what was looked for may have come since: row and tree are looked at as they are in one moment. */
pctl_status pctl_track_look_now(pctl_track *t, uint32_t table, const uint8_t *key, uint64_t n,
				const pctl_call *call);

/* ---- pages (track_pages.c) ------------------------------------------------------------------ */

int pctl_track_is_numbered(uint32_t table);
/* pctl_track_shown of a row of a numbered table: its page, read in the same moment, is held against the tree. */
pctl_status pctl_track_page_shown(pctl_track *t, uint32_t table, sqlite3_stmt *stmt,
				  const pctl_call *call);
/* pctl_track_missing: no row has this number, and its page is right as it is, in a transaction and outside. */
pctl_status pctl_track_page_missing(pctl_track *t, uint32_t table, const uint8_t *key, uint64_t n,
				    const pctl_call *call);
/* SQLite tells of a change of a row with this number. Rows are only added: of any other change the page was not what split_page says, and is found. 0: no
 * memory. */
int pctl_track_add_to_page(pctl_track *t, uint32_t table, int64_t number);
/* What a page was, of what it is now: its rows before the first that was added. */
void pctl_track_split_page(pctl_seen *e, const uint8_t *now, uint64_t n);

/* Are there the tables of a tree? */
pctl_status pctl_track_is_made(pctl_track *t, const pctl_call *call, int *out);

/* The hook, and the views, unless they are there. */
pctl_status pctl_track_listen(pctl_track *t, const pctl_call *call);
pctl_status pctl_track_views(pctl_track *t, const pctl_call *call);

/* The present row (or page) of a key, from the table itself, appended to *row, which is emptied first; *found. */
pctl_status pctl_track_present(pctl_track *t, uint32_t table, const uint8_t *key, uint64_t n,
			       const pctl_call *call, pctl_str_buf *row, int *found);
/* Show the present rows (or pages) of a table, in the order of its keys. */
pctl_status pctl_track_walk(pctl_track *t, uint32_t table, pctl_track_visit visit, void *ctx,
			    const pctl_call *call, int *is_over);
/* The leaf of a row; PC6140 when it is not in the form of its table. */
pctl_status pctl_track_leaf(pctl_track *t, uint32_t table, const uint8_t *row, uint64_t n,
			    const pctl_call *call, uint64_t *n_key, pctl_radix_leaf *out);
/* How many rows these bytes are: one, or those of a page. */
uint32_t pctl_track_n_rows(uint32_t table, const uint8_t *row, uint64_t n);
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
