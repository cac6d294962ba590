/* A Merkle tree over a list of byte strings, as RFC 6962 section 2.1 has it: a leaf is hashed behind a zero byte, a
 * node behind a one byte, n leaves are parted at the largest power of two below n. So no leaf passes for a node, and
 * neither their order nor their number can change without the root. */
#ifndef PIPECTL_EVIDENCE_RECEIPT_TREE_H
#define PIPECTL_EVIDENCE_RECEIPT_TREE_H

#include "runtime/cas/cid.h"

#define PCTL_TREE_PATH_MAX 64u /* hashes of a proof: one a level */

/* SHA-256 of 0x00 and the n bytes. */
pctl_status pctl_tree_leaf(const void *data, uint64_t n, const pctl_call *call,
			   uint8_t out[PCTL_DIGEST_BYTES]);

/* The root over n leaf hashes; n 0: SHA-256 of no bytes. */
pctl_status pctl_tree_root(const uint8_t (*leaves)[PCTL_DIGEST_BYTES], uint64_t n,
			   const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES]);

/* What leads from leaf `index` (below n) to the root, from the bottom up. */
pctl_status pctl_tree_proof(const uint8_t (*leaves)[PCTL_DIGEST_BYTES], uint64_t n, uint64_t index,
			    const pctl_call *call,
			    uint8_t path[PCTL_TREE_PATH_MAX][PCTL_DIGEST_BYTES], uint32_t *n_path);

/* 1 when `path` leads from this leaf hash, as number `index` of n, to `root`; a path of another length is none. */
int pctl_tree_proof_valid(const uint8_t leaf[PCTL_DIGEST_BYTES], uint64_t index, uint64_t n,
			  const uint8_t (*path)[PCTL_DIGEST_BYTES], uint32_t n_path,
			  const uint8_t root[PCTL_DIGEST_BYTES]);

#endif
