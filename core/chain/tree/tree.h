/* A compact binary radix tree over 256-bit keys, kept in a table of SQLite and changed in place. What it is a function of
 * is the set of keys and values alone, whatever the order in which they came. It knows nothing of rows: state/track.h
 * says what the leaves are; SEMANTICS.md 8.7 what the hashes are of. */
#ifndef PIPECTL_CHAIN_TREE_TREE_H
#define PIPECTL_CHAIN_TREE_TREE_H

#include "runtime/cas/cid.h"

struct sqlite3;
typedef struct pctl_radix pctl_radix;

/*
 * What becomes of a key: a value, or none when is_gone. Also a leaf of a list of them, is_gone 0. was: what the tree must have of it
 * before, the value `before` or none; else it is not asked.
 */
enum { PCTL_WAS_ANY = 0, PCTL_WAS_NONE, PCTL_WAS_VALUE };
typedef struct pctl_radix_leaf {
	uint8_t key[PCTL_DIGEST_BYTES], value[PCTL_DIGEST_BYTES];
	uint32_t is_gone, was;
	uint8_t before[PCTL_DIGEST_BYTES];
} pctl_radix_leaf;
/* Their order, by key: for qsort and bsearch. */
int pctl_radix_by_key(const void *a, const void *b);

/* The way from the root to where a key is or would be. n siblings, that of the root's child first; at their end a leaf
 * (of this key or another), or nothing. An empty subtree is zeros. */
#define PCTL_RADIX_DEPTH 256u
typedef struct pctl_radix_path {
	uint32_t n, has_leaf;
	pctl_radix_leaf leaf;
	uint8_t siblings[PCTL_RADIX_DEPTH][PCTL_DIGEST_BYTES];
} pctl_radix_path;

/* Over the table `tree_nodes` of a connection, which outlives it; pctl_radix_make makes the table, with an empty tree. */
pctl_status pctl_radix_open(struct sqlite3 *db, const pctl_call *call, pctl_radix **out);
void pctl_radix_close(pctl_radix *t);
pctl_status pctl_radix_make(pctl_radix *t, const pctl_call *call);

/* Nodes that were read are remembered; forget them when another connection wrote, or a transaction was undone. */
void pctl_radix_forget(pctl_radix *t);

/* SHA-256 of the parts one behind the other; parts of no bytes are allowed. */
typedef struct pctl_radix_part {
	const void *data;
	uint64_t n;
} pctl_radix_part;
pctl_status pctl_radix_hash(pctl_radix *t, const pctl_radix_part *parts, uint32_t n,
			    const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES]);

/*
 * Change n keys, no key twice, inside a transaction; sorts them. Costs about n * log16(keys) nodes. A key that is gone
 * already may go again. PC6141 when a node on the way is missing or is not what its parent says. *odd: the first of the changes whose
 * key had something else than its `was` says, else NULL; then nothing is said of it, and the status is PCTL_E_NOT_FOUND where it had nothing, else
 * PCTL_E_STORE.
 */
pctl_status pctl_radix_update(pctl_radix *t, pctl_radix_leaf *changes, uint64_t n,
			      const pctl_call *call, const pctl_radix_leaf **odd);
pctl_status pctl_radix_root(pctl_radix *t, const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES]);
/* The value of a key, every node on the way held against its parent; *found 0: it has none. PC6141. */
pctl_status pctl_radix_find(pctl_radix *t, const uint8_t key[PCTL_DIGEST_BYTES],
			    const pctl_call *call, int *found, uint8_t value[PCTL_DIGEST_BYTES]);
pctl_status pctl_radix_path_to(pctl_radix *t, const uint8_t key[PCTL_DIGEST_BYTES],
			       const pctl_call *call, pctl_radix_path *out);
/* Show every leaf, ascending by key, every node held against its parent (PC6141); a visitor that returns non-zero ends it. */
typedef int (*pctl_radix_visit)(void *ctx, const pctl_radix_leaf *leaf);
pctl_status pctl_radix_walk(pctl_radix *t, pctl_radix_visit visit, void *ctx,
			    const pctl_call *call);

/* ---- without a table ------------------------------------------------------------------------ */

/* Bit i of a key, the highest of its first byte first. */
static inline uint32_t pctl_radix_bit(const uint8_t *key, uint32_t i)
{
	return (uint32_t)key[i / 8] >> (7 - i % 8) & 1u;
}
/* Do two keys share their first n bits? */
int pctl_radix_shares(const uint8_t *a, const uint8_t *b, uint32_t n);

/* A hasher alone: a tree without a table, for what follows and pctl_radix_hash. */
pctl_status pctl_radix_hasher(const pctl_call *call, pctl_radix **out);
/* The hash of the subtree that n leaves, ascending, make `depth` bits below the root; of none zeros. */
pctl_status pctl_radix_hash_of(pctl_radix *t, const pctl_radix_leaf *leaves, uint64_t n,
			       uint32_t depth, const pctl_call *call,
			       uint8_t out[PCTL_DIGEST_BYTES]);
/* From the hash of the subtree at the first n bits of `key` up to the root, by the siblings on the way. */
pctl_status pctl_radix_climb(pctl_radix *t, const uint8_t key[PCTL_DIGEST_BYTES],
			     uint8_t (*siblings)[PCTL_DIGEST_BYTES], uint32_t n,
			     const uint8_t from[PCTL_DIGEST_BYTES], const pctl_call *call,
			     uint8_t root[PCTL_DIGEST_BYTES]);

#endif
