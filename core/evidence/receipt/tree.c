/* Implementation of tree.h. */
#include "evidence/receipt/tree.h"

#include <stdlib.h>
#include <string.h>

pctl_status pctl_tree_leaf(const void *data, uint64_t n, const pctl_call *call,
			   uint8_t out[PCTL_DIGEST_BYTES])
{
	static const uint8_t zero;
	pctl_hasher *h = NULL;
	pctl_status status = pctl_hasher_create(call, &h);

	if (status == PCTL_OK)
		status = pctl_hasher_update(h, &zero, 1);
	if (status == PCTL_OK && n != 0)
		status = pctl_hasher_update(h, data, n);
	return pctl_hasher_end(h, status, out);
}

static pctl_status node(const uint8_t left[PCTL_DIGEST_BYTES],
			const uint8_t right[PCTL_DIGEST_BYTES], const pctl_call *call,
			uint8_t out[PCTL_DIGEST_BYTES])
{
	uint8_t both[1 + 2 * PCTL_DIGEST_BYTES];
	pctl_cid cid;
	pctl_status status;

	both[0] = 1;
	memcpy(both + 1, left, PCTL_DIGEST_BYTES);
	memcpy(both + 1 + PCTL_DIGEST_BYTES, right, PCTL_DIGEST_BYTES);
	status = pctl_cid_of(both, sizeof(both), call, &cid);
	memcpy(out, cid.digest, PCTL_DIGEST_BYTES);
	return status;
}

/* The largest power of two below n (n at least 2). */
static uint64_t split(uint64_t n)
{
	uint64_t k = 1;

	while (k < n - k)
		k *= 2;
	return k;
}

/* As deep as n has bits. */
pctl_status pctl_tree_root(const uint8_t (*leaves)[PCTL_DIGEST_BYTES], uint64_t n,
			   const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES])
{
	uint8_t left[PCTL_DIGEST_BYTES], right[PCTL_DIGEST_BYTES];
	uint64_t k;
	pctl_cid cid;
	pctl_status status;

	if (n == 0) {
		status = pctl_cid_of("", 0, call, &cid);
		memcpy(out, cid.digest, PCTL_DIGEST_BYTES);
		return status;
	}
	if (n == 1) {
		memcpy(out, leaves[0], PCTL_DIGEST_BYTES);
		return PCTL_OK;
	}
	k = split(n);
	status = pctl_tree_root(leaves, k, call, left);
	if (status == PCTL_OK)
		status = pctl_tree_root(leaves + k, n - k, call, right);
	return status == PCTL_OK ? node(left, right, call, out) : status;
}

pctl_status pctl_tree_proof(const uint8_t (*leaves)[PCTL_DIGEST_BYTES], uint64_t n, uint64_t index,
			    const pctl_call *call,
			    uint8_t path[PCTL_TREE_PATH_MAX][PCTL_DIGEST_BYTES], uint32_t *n_path)
{
	uint64_t k;
	pctl_status status;

	if (n < 2) {
		*n_path = 0;
		return PCTL_OK;
	}
	k = split(n);
	status = index < k ? pctl_tree_proof(leaves, k, index, call, path, n_path)
			   : pctl_tree_proof(leaves + k, n - k, index - k, call, path, n_path);
	if (status == PCTL_OK)
		status = index < k ? pctl_tree_root(leaves + k, n - k, call, path[*n_path])
				   : pctl_tree_root(leaves, k, call, path[*n_path]);
	if (status == PCTL_OK)
		(*n_path)++;
	return status;
}

/* From the top down, taking the last hash of the path each time. */
static int climb(const uint8_t leaf[PCTL_DIGEST_BYTES], uint64_t index, uint64_t n,
		 const uint8_t (*path)[PCTL_DIGEST_BYTES], uint32_t n_path,
		 uint8_t out[PCTL_DIGEST_BYTES])
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	uint8_t below[PCTL_DIGEST_BYTES];
	uint64_t k;

	if (n == 1) {
		memcpy(out, leaf, PCTL_DIGEST_BYTES);
		return n_path == 0;
	}
	if (n_path == 0)
		return 0;
	k = split(n);
	if (!climb(leaf, index < k ? index : index - k, index < k ? k : n - k, path, n_path - 1,
		   below))
		return 0;
	return (index < k ? node(below, path[n_path - 1], &quiet, out)
			  : node(path[n_path - 1], below, &quiet, out)) == PCTL_OK;
}

int pctl_tree_proof_valid(const uint8_t leaf[PCTL_DIGEST_BYTES], uint64_t index, uint64_t n,
			  const uint8_t (*path)[PCTL_DIGEST_BYTES], uint32_t n_path,
			  const uint8_t root[PCTL_DIGEST_BYTES])
{
	uint8_t found[PCTL_DIGEST_BYTES];

	return index < n && n_path <= PCTL_TREE_PATH_MAX &&
	       climb(leaf, index, n, path, n_path, found) &&
	       memcmp(found, root, PCTL_DIGEST_BYTES) == 0;
}
