/* The hashes of the tree (tree.h): leaves, nodes, and the way up from a subtree to the root. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "chain/tree/tree_private.h"

static const char leaf_domain[] = "pipectl leaf 1", node_domain[] = "pipectl node 1";

pctl_status pctl_radix_hasher(const pctl_call *call, pctl_radix **out)
{
	pctl_radix *t = calloc(1, sizeof(*t));

	*out = t;
	if (t == NULL)
		return pctl_no_memory(call, "a tree");
	t->md = EVP_MD_fetch(NULL, "SHA256", NULL);
	t->ctx = EVP_MD_CTX_new();
	t->stamp = 1;
	if (t->md != NULL && t->ctx != NULL && EVP_DigestInit_ex(t->ctx, t->md, NULL))
		return PCTL_OK;
	pctl_radix_close(t);
	*out = NULL;
	return pctl_no_memory(call, "a tree");
}

pctl_status pctl_radix_hash(pctl_radix *t, const pctl_radix_part *parts, uint32_t n,
			    const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES])
{
	/* With no algorithm named it begins anew with the one it has, and with the memory. */
	int is_right = EVP_DigestInit_ex(t->ctx, NULL, NULL);

	for (uint32_t i = 0; is_right && i < n; i++)
		is_right = parts[i].n == 0 || EVP_DigestUpdate(t->ctx, parts[i].data, parts[i].n);
	return is_right && EVP_DigestFinal_ex(t->ctx, out, NULL)
		       ? PCTL_OK
		       : pctl_refuse(call, PC1_INTERNAL, "SHA-256 is not to be had");
}

static pctl_status hash_two(pctl_radix *t, const char *domain, size_t n_domain, const uint8_t *a,
			    const uint8_t *b, const pctl_call *call, uint8_t *out)
{
	const pctl_radix_part parts[] = {
		{domain, n_domain}, {a, PCTL_DIGEST_BYTES}, {b, PCTL_DIGEST_BYTES}};

	return pctl_radix_hash(t, parts, 3, call, out);
}

static pctl_status hash_leaf(pctl_radix *t, const uint8_t *key, const uint8_t *value,
			     const pctl_call *call, uint8_t *out)
{
	return hash_two(t, leaf_domain, sizeof(leaf_domain), key, value, call, out);
}

static pctl_status hash_node(pctl_radix *t, const uint8_t *left, const uint8_t *right,
			     const pctl_call *call, uint8_t *out)
{
	return hash_two(t, node_domain, sizeof(node_domain), left, right, call, out);
}

uint32_t pctl_radix_taken(const pctl_radix_node *node, uint32_t from, uint32_t n,
			  const pctl_radix_place **lone)
{
	uint32_t taken = 0;

	*lone = NULL;
	for (uint32_t i = from; i < from + n; i++)
		if (node->at[i].kind != PCTL_PLACE_EMPTY) {
			*lone = &node->at[i];
			taken += node->at[i].kind == PCTL_PLACE_NODE ? 2 : 1;
		}
	return taken;
}

static pctl_status fold(pctl_radix *t, pctl_radix_node *node, uint32_t from, uint32_t n,
			const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES])
{
	uint8_t left[PCTL_DIGEST_BYTES], right[PCTL_DIGEST_BYTES];
	const pctl_radix_place *lone;
	const uint32_t taken = pctl_radix_taken(node, from, n, &lone);
	pctl_status status;

	if (taken == 0) {
		memset(out, 0, PCTL_DIGEST_BYTES);
		return PCTL_OK;
	}
	if (taken == 1)
		return hash_leaf(t, lone->key, lone->hash, call, out);
	if (n == 1) {
		memcpy(out, lone->hash, PCTL_DIGEST_BYTES);
		return PCTL_OK;
	}
	status = pctl_radix_fold(t, node, from, n / 2, call, left);
	if (status == PCTL_OK)
		status = pctl_radix_fold(t, node, from + n / 2, n / 2, call, right);
	return status == PCTL_OK ? hash_node(t, left, right, call, out) : status;
}

pctl_status pctl_radix_fold(pctl_radix *t, pctl_radix_node *node, uint32_t from, uint32_t n,
			    const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES])
{
	const uint32_t at = (PCTL_NODE_PLACES + from) / n;
	pctl_status status = PCTL_OK;

	if ((node->is_folded >> at & 1) == 0)
		status = fold(t, node, from, n, call, node->folded[at]);
	if (status != PCTL_OK)
		return status;
	node->is_folded |= 1u << at;
	memcpy(out, node->folded[at], PCTL_DIGEST_BYTES);
	return PCTL_OK;
}

/* ---- without a table ------------------------------------------------------------------------ */

int pctl_radix_shares(const uint8_t *a, const uint8_t *b, uint32_t n)
{
	return memcmp(a, b, n / 8) == 0 &&
	       (n % 8 == 0 || (uint8_t)(a[n / 8] ^ b[n / 8]) >> (8 - n % 8) == 0);
}

pctl_status pctl_radix_hash_of(pctl_radix *t, const pctl_radix_leaf *leaves, uint64_t n,
			       uint32_t depth, const pctl_call *call,
			       uint8_t out[PCTL_DIGEST_BYTES])
{
	uint8_t left[PCTL_DIGEST_BYTES], right[PCTL_DIGEST_BYTES];
	uint64_t low = 0, high = n;
	pctl_status status;

	if (n == 0) {
		memset(out, 0, PCTL_DIGEST_BYTES);
		return PCTL_OK;
	}
	if (n == 1)
		return hash_leaf(t, leaves[0].key, leaves[0].value, call, out);
	assert(depth < PCTL_RADIX_DEPTH);
	while (low < high) { /* the first leaf on the right */
		const uint64_t middle = low + (high - low) / 2;

		if (pctl_radix_bit(leaves[middle].key, depth))
			high = middle;
		else
			low = middle + 1;
	}
	status = pctl_radix_hash_of(t, leaves, low, depth + 1, call, left);
	if (status == PCTL_OK)
		status = pctl_radix_hash_of(t, leaves + low, n - low, depth + 1, call, right);
	return status == PCTL_OK ? hash_node(t, left, right, call, out) : status;
}

pctl_status pctl_radix_climb(pctl_radix *t, const uint8_t key[PCTL_DIGEST_BYTES],
			     uint8_t (*siblings)[PCTL_DIGEST_BYTES], uint32_t n,
			     const uint8_t from[PCTL_DIGEST_BYTES], const pctl_call *call,
			     uint8_t root[PCTL_DIGEST_BYTES])
{
	pctl_status status = PCTL_OK;

	memcpy(root, from, PCTL_DIGEST_BYTES);
	for (uint32_t i = n; status == PCTL_OK && i-- > 0;)
		status = pctl_radix_bit(key, i) ? hash_node(t, siblings[i], root, call, root)
						: hash_node(t, root, siblings[i], call, root);
	return status;
}
