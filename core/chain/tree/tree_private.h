/* A node as it is stored: sixteen places, four levels of the binary tree. Internal to core/chain/tree. */
#ifndef PIPECTL_CHAIN_TREE_TREE_PRIVATE_H
#define PIPECTL_CHAIN_TREE_TREE_PRIVATE_H

#include <openssl/evp.h>
#include <sqlite3.h>

#include "chain/tree/tree.h"

#define PCTL_NODE_PLACES 16u

/* A subtree: none, a lone leaf, or more than one, which have a node of their own. hash: the leaf's value, or the node's. */
enum { PCTL_PLACE_EMPTY = 0, PCTL_PLACE_LEAF, PCTL_PLACE_NODE };
typedef struct pctl_radix_place {
	uint32_t kind;
	uint8_t key[PCTL_DIGEST_BYTES], hash[PCTL_DIGEST_BYTES];
} pctl_radix_place;

/* folded: hashes of the binary tree above the places, as a heap (1 the top, 16 to 31 the places); is_folded has the bits of
 * those that hold. */
typedef struct pctl_radix_node {
	pctl_radix_place at[PCTL_NODE_PLACES];
	uint8_t folded[2 * PCTL_NODE_PLACES][PCTL_DIGEST_BYTES];
	uint32_t is_folded;
} pctl_radix_node;

#define PCTL_RADIX_KEPT 8192u /* nodes in memory, a power of two */
typedef struct pctl_radix_kept {
	uint64_t stamp;
	uint32_t depth, reserved;
	uint8_t prefix[PCTL_DIGEST_BYTES]; /* zeros behind `depth` places */
	pctl_radix_node node;
} pctl_radix_kept;

struct pctl_radix {
	sqlite3 *db;
	sqlite3_stmt *get, *put, *drop;
	EVP_MD *md;
	EVP_MD_CTX *ctx;
	pctl_radix_kept *kept;
	uint64_t stamp;		    /* of those that hold */
	const pctl_radix_leaf *odd; /* of the update under way */
	int odd_had;
};

/* The hash of `n` places of a node from `from` on: of none zeros, of a lone leaf the leaf's. */
pctl_status pctl_radix_fold(pctl_radix *t, pctl_radix_node *node, uint32_t from, uint32_t n,
			    const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES]);
/* How many of these places are taken, 2 for a node of its own; *lone is the last of them. */
uint32_t pctl_radix_taken(const pctl_radix_node *node, uint32_t from, uint32_t n,
			  const pctl_radix_place **lone);

/* A place is about to be another: what was folded above it is stale. */
static inline void pctl_radix_stale(pctl_radix_node *node, uint32_t place)
{
	for (uint32_t i = PCTL_NODE_PLACES + place; i > 0; i /= 2)
		node->is_folded &= ~(1u << i);
}

static inline uint32_t pctl_radix_nibble(const uint8_t *key, uint32_t depth)
{
	return depth % 2 == 0 ? key[depth / 2] >> 4 : key[depth / 2] & 15u;
}

#endif
