/* The nodes of the tree in their table: reading them held against their parents, changing keys, and walking. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "chain/tree/tree_private.h"
#include "foundation/base/hash.h"

#define PATH_MAX_BYTES (1u + PCTL_DIGEST_BYTES)
#define BITMAPS 4u

static pctl_status trouble(pctl_radix *t, const pctl_call *call)
{
	return pctl_refuse(call, PC5701_CHAIN_STATE, "the tree over the state: %s",
			   sqlite3_errmsg(t->db));
}

/* ---- opening ------------------------------------------------------------------------------- */

pctl_status pctl_radix_open(sqlite3 *db, const pctl_call *call, pctl_radix **out)
{
	pctl_radix *t;
	pctl_status status = pctl_radix_hasher(call, &t);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	t->db = db;
	t->kept = calloc(PCTL_RADIX_KEPT, sizeof(*t->kept));
	if (t->kept == NULL) {
		pctl_radix_close(t);
		return pctl_no_memory(call, "a tree");
	}
	*out = t;
	return PCTL_OK;
}

void pctl_radix_close(pctl_radix *t)
{
	if (t == NULL)
		return;
	sqlite3_finalize(t->get);
	sqlite3_finalize(t->put);
	sqlite3_finalize(t->drop);
	EVP_MD_CTX_free(t->ctx);
	EVP_MD_free(t->md);
	free(t->kept);
	free(t);
}

void pctl_radix_forget(pctl_radix *t)
{
	t->stamp++;
}

static pctl_status statement(pctl_radix *t, sqlite3_stmt **stmt, const char *sql,
			     const pctl_call *call)
{
	if (*stmt == NULL &&
	    sqlite3_prepare_v3(t->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL) != SQLITE_OK)
		return trouble(t, call);
	sqlite3_reset(*stmt);
	return PCTL_OK;
}

/* ---- one node ------------------------------------------------------------------------------ */

/* Where a node stands: how many places lead to it, and which. */
static int spell_path(const uint8_t *key, uint32_t depth, uint8_t out[PATH_MAX_BYTES])
{
	const uint32_t n = (depth + 1) / 2;

	out[0] = (uint8_t)depth;
	memcpy(out + 1, key, n);
	if (depth % 2 != 0)
		out[n] &= 0xf0;
	return (int)(1 + n);
}

static pctl_radix_kept *kept_at(pctl_radix *t, const uint8_t *key, uint32_t depth, int *is_there)
{
	uint8_t path[PATH_MAX_BYTES] = {0};
	const int n = spell_path(key, depth, path);
	const uint32_t h = pctl_fnv32(PCTL_FNV32, path, (size_t)n);
	pctl_radix_kept *k = &t->kept[(h ^ h >> 15) & (PCTL_RADIX_KEPT - 1)];

	*is_there = k->stamp == t->stamp && k->depth == depth &&
		    memcmp(k->prefix, path + 1, PCTL_DIGEST_BYTES) == 0;
	if (!*is_there) {
		k->stamp = 0;
		k->depth = depth;
		memcpy(k->prefix, path + 1, PCTL_DIGEST_BYTES);
	}
	return k;
}

static uint32_t two_bytes(const uint8_t *p)
{
	return (uint32_t)p[0] << 8 | p[1];
}

/* 1 when the bytes are a node's. */
static int parse_node(const uint8_t *data, int n, pctl_radix_node *out)
{
	uint32_t leaves, nodes;
	int at = BITMAPS;

	memset(out, 0, sizeof(*out));
	if (data == NULL || n < (int)BITMAPS)
		return 0;
	leaves = two_bytes(data);
	nodes = two_bytes(data + 2);
	for (uint32_t i = 0; i < PCTL_NODE_PLACES; i++) {
		const uint32_t is_leaf = leaves >> i & 1, is_node = nodes >> i & 1;
		const int size = is_leaf ? 2 * (int)PCTL_DIGEST_BYTES : (int)PCTL_DIGEST_BYTES;

		if (!is_leaf && !is_node)
			continue;
		if ((is_leaf && is_node) || n - at < size)
			return 0;
		out->at[i].kind = is_leaf ? PCTL_PLACE_LEAF : PCTL_PLACE_NODE;
		if (is_leaf)
			memcpy(out->at[i].key, data + at, PCTL_DIGEST_BYTES);
		memcpy(out->at[i].hash, data + at + size - (int)PCTL_DIGEST_BYTES,
		       PCTL_DIGEST_BYTES);
		at += size;
	}
	return at == n;
}

static int spell_node(const pctl_radix_node *node, uint8_t *out)
{
	uint32_t leaves = 0, nodes = 0;
	int n = BITMAPS;

	for (uint32_t i = 0; i < PCTL_NODE_PLACES; i++) {
		const pctl_radix_place *p = &node->at[i];

		if (p->kind == PCTL_PLACE_EMPTY)
			continue;
		if (p->kind == PCTL_PLACE_LEAF) {
			memcpy(out + n, p->key, PCTL_DIGEST_BYTES);
			n += (int)PCTL_DIGEST_BYTES;
		}
		memcpy(out + n, p->hash, PCTL_DIGEST_BYTES);
		n += (int)PCTL_DIGEST_BYTES;
		*(p->kind == PCTL_PLACE_LEAF ? &leaves : &nodes) |= 1u << i;
	}
	out[0] = (uint8_t)(leaves >> 8);
	out[1] = (uint8_t)leaves;
	out[2] = (uint8_t)(nodes >> 8);
	out[3] = (uint8_t)nodes;
	return n;
}

static pctl_status bad_node(const uint8_t *key, uint32_t depth, const char *what,
			    const pctl_call *call)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];

	pctl_digest_hex(key, hex);
	return pctl_refuse(call, PC6141_TREE_NODE, "the node of the tree at \"%.*s\" %s",
			   (int)depth, hex, what);
}

/* The node that `depth` places of the key lead to. hash: what its parent says; NULL for the root. */
static pctl_status load(pctl_radix *t, const uint8_t *key, uint32_t depth, const uint8_t *hash,
			const pctl_call *call, pctl_radix_node *out)
{
	uint8_t path[PATH_MAX_BYTES], found[PCTL_DIGEST_BYTES];
	int is_kept, step;
	pctl_radix_kept *k = kept_at(t, key, depth, &is_kept);
	pctl_status status;

	if (is_kept) {
		*out = k->node;
		return PCTL_OK;
	}
	status = statement(t, &t->get, "SELECT node FROM main.tree_nodes WHERE path = ?", call);
	if (status != PCTL_OK)
		return status;
	sqlite3_bind_blob(t->get, 1, path, spell_path(key, depth, path), SQLITE_TRANSIENT);
	step = sqlite3_step(t->get);
	if (step != SQLITE_ROW && step != SQLITE_DONE)
		status = trouble(t, call);
	else if (step == SQLITE_DONE)
		status = bad_node(key, depth, "is missing", call);
	else if (!parse_node(sqlite3_column_blob(t->get, 0), sqlite3_column_bytes(t->get, 0), out))
		status = bad_node(key, depth, "is not in form", call);
	sqlite3_reset(t->get);
	if (status == PCTL_OK && hash != NULL) {
		status = pctl_radix_fold(t, out, 0, PCTL_NODE_PLACES, call, found);
		if (status == PCTL_OK && memcmp(found, hash, sizeof(found)) != 0)
			status = bad_node(key, depth, "is not the one that its parent has", call);
	}
	if (status == PCTL_OK) {
		k->node = *out;
		k->stamp = t->stamp;
	}
	return status;
}

static pctl_status save(pctl_radix *t, const uint8_t *key, uint32_t depth,
			const pctl_radix_node *node, const pctl_call *call)
{
	uint8_t path[PATH_MAX_BYTES];
	uint8_t bytes[BITMAPS + PCTL_NODE_PLACES * 2 * PCTL_DIGEST_BYTES];
	int is_kept;
	pctl_radix_kept *k = kept_at(t, key, depth, &is_kept);
	pctl_status status =
		statement(t, &t->put, "INSERT OR REPLACE INTO main.tree_nodes VALUES (?, ?)", call);

	if (status != PCTL_OK)
		return status;
	sqlite3_bind_blob(t->put, 1, path, spell_path(key, depth, path), SQLITE_TRANSIENT);
	sqlite3_bind_blob(t->put, 2, bytes, spell_node(node, bytes), SQLITE_STATIC);
	if (sqlite3_step(t->put) != SQLITE_DONE)
		status = trouble(t, call);
	sqlite3_reset(t->put);
	k->node = *node;
	k->stamp = t->stamp;
	return status;
}

static pctl_status drop(pctl_radix *t, const uint8_t *key, uint32_t depth, const pctl_call *call)
{
	uint8_t path[PATH_MAX_BYTES];
	int is_kept;
	pctl_radix_kept *k = kept_at(t, key, depth, &is_kept);
	pctl_status status =
		statement(t, &t->drop, "DELETE FROM main.tree_nodes WHERE path = ?", call);

	k->stamp = 0;
	if (status != PCTL_OK)
		return status;
	sqlite3_bind_blob(t->drop, 1, path, spell_path(key, depth, path), SQLITE_TRANSIENT);
	if (sqlite3_step(t->drop) != SQLITE_DONE)
		status = trouble(t, call);
	sqlite3_reset(t->drop);
	return status;
}

pctl_status pctl_radix_make(pctl_radix *t, const pctl_call *call)
{
	static const uint8_t key[PCTL_DIGEST_BYTES];
	const pctl_radix_node empty = {.at = {{.kind = PCTL_PLACE_EMPTY}}};

	if (sqlite3_exec(t->db,
			 "CREATE TABLE main.tree_nodes (path BLOB NOT NULL PRIMARY KEY, "
			 "node BLOB NOT NULL) STRICT, WITHOUT ROWID",
			 NULL, NULL, NULL) != SQLITE_OK)
		return trouble(t, call);
	return save(t, key, 0, &empty, call);
}

/* ---- changing ------------------------------------------------------------------------------ */

int pctl_radix_by_key(const void *a, const void *b)
{
	return memcmp(((const pctl_radix_leaf *)a)->key, ((const pctl_radix_leaf *)b)->key,
		      PCTL_DIGEST_BYTES);
}

static pctl_status change(pctl_radix *t, uint32_t depth, pctl_radix_place *at,
			  const pctl_radix_leaf *changes, uint64_t n, const pctl_call *call);

/* Changes, all below this node, are handed to its places. */
static pctl_status change_node(pctl_radix *t, uint32_t depth, pctl_radix_node *node,
			       const pctl_radix_leaf *changes, uint64_t n, const pctl_call *call)
{
	pctl_status status = PCTL_OK;

	for (uint64_t i = 0, end; status == PCTL_OK && i < n; i = end) {
		const uint32_t place = pctl_radix_nibble(changes[i].key, depth);

		for (end = i + 1; end < n && pctl_radix_nibble(changes[end].key, depth) == place;)
			end++;
		pctl_radix_stale(node, place);
		status = change(t, depth + 1, &node->at[place], changes + i, end - i, call);
	}
	return status;
}

/* A lone change of nothing, or of the very leaf that is here, needs no node. All changes end here, each where its key is or would be. */
static int change_leaf(pctl_radix *t, pctl_radix_place *at, const pctl_radix_leaf *c)
{
	if (at->kind == PCTL_PLACE_NODE ||
	    (at->kind == PCTL_PLACE_LEAF && memcmp(at->key, c->key, PCTL_DIGEST_BYTES) != 0))
		return 0;
	if (t->odd == NULL && c->was != PCTL_WAS_ANY &&
	    ((at->kind == PCTL_PLACE_LEAF) != (c->was == PCTL_WAS_VALUE) ||
	     (c->was == PCTL_WAS_VALUE && memcmp(at->hash, c->before, PCTL_DIGEST_BYTES) != 0))) {
		t->odd = c;
		t->odd_had = at->kind == PCTL_PLACE_LEAF;
	}
	at->kind = c->is_gone ? PCTL_PLACE_EMPTY : PCTL_PLACE_LEAF;
	memcpy(at->key, c->key, PCTL_DIGEST_BYTES);
	memcpy(at->hash, c->value, PCTL_DIGEST_BYTES);
	return 1;
}

static pctl_status change(pctl_radix *t, uint32_t depth, pctl_radix_place *at,
			  const pctl_radix_leaf *changes, uint64_t n, const pctl_call *call)
{
	const int was_node = at->kind == PCTL_PLACE_NODE;
	const uint8_t *key = changes[0].key;
	pctl_radix_node node = {.at = {{.kind = PCTL_PLACE_EMPTY}}};
	const pctl_radix_place *lone;
	pctl_status status = PCTL_OK;

	if (n == 1 && change_leaf(t, at, &changes[0]))
		return PCTL_OK;
	assert(depth < 2 * PCTL_DIGEST_BYTES);
	if (was_node)
		status = load(t, key, depth, at->hash, call, &node);
	else if (at->kind == PCTL_PLACE_LEAF)
		node.at[pctl_radix_nibble(at->key, depth)] = *at;
	if (status == PCTL_OK)
		status = change_node(t, depth, &node, changes, n, call);
	if (status != PCTL_OK)
		return status;
	if (pctl_radix_taken(&node, 0, PCTL_NODE_PLACES, &lone) < 2) {
		if (lone == NULL)
			at->kind = PCTL_PLACE_EMPTY;
		else
			*at = *lone;
		return was_node ? drop(t, key, depth, call) : PCTL_OK;
	}
	at->kind = PCTL_PLACE_NODE;
	status = pctl_radix_fold(t, &node, 0, PCTL_NODE_PLACES, call, at->hash);
	return status == PCTL_OK ? save(t, key, depth, &node, call) : status;
}

static int is_sorted(const pctl_radix_leaf *changes, uint64_t n)
{
	for (uint64_t i = 1; i < n; i++)
		if (pctl_radix_by_key(&changes[i - 1], &changes[i]) > 0)
			return 0;
	return 1;
}

pctl_status pctl_radix_update(pctl_radix *t, pctl_radix_leaf *changes, uint64_t n,
			      const pctl_call *call, const pctl_radix_leaf **odd)
{
	static const uint8_t key[PCTL_DIGEST_BYTES];
	pctl_radix_node root;
	pctl_status status = load(t, key, 0, NULL, call, &root);

	t->odd = NULL;
	if (!is_sorted(changes, n))
		qsort(changes, n, sizeof(*changes), pctl_radix_by_key);
	if (status == PCTL_OK)
		status = change_node(t, 0, &root, changes, n, call);
	if (status == PCTL_OK)
		status = save(t, key, 0, &root, call);
	*odd = status == PCTL_OK ? t->odd : NULL;
	return *odd == NULL ? status : t->odd_had ? PCTL_E_STORE : PCTL_E_NOT_FOUND;
}

/* ---- reading ------------------------------------------------------------------------------- */

pctl_status pctl_radix_root(pctl_radix *t, const pctl_call *call, uint8_t out[PCTL_DIGEST_BYTES])
{
	static const uint8_t key[PCTL_DIGEST_BYTES];
	pctl_radix_node root;
	const pctl_status status = load(t, key, 0, NULL, call, &root);

	memset(out, 0, PCTL_DIGEST_BYTES);
	return status == PCTL_OK ? pctl_radix_fold(t, &root, 0, PCTL_NODE_PLACES, call, out)
				 : status;
}

pctl_status pctl_radix_find(pctl_radix *t, const uint8_t key[PCTL_DIGEST_BYTES],
			    const pctl_call *call, int *found, uint8_t value[PCTL_DIGEST_BYTES])
{
	pctl_radix_node node;
	pctl_radix_place at = {.kind = PCTL_PLACE_NODE};
	pctl_status status = PCTL_OK;

	*found = 0;
	for (uint32_t depth = 0; status == PCTL_OK && at.kind == PCTL_PLACE_NODE; depth++) {
		status = load(t, key, depth, depth == 0 ? NULL : at.hash, call, &node);
		if (status == PCTL_OK)
			at = node.at[pctl_radix_nibble(key, depth)];
	}
	if (status == PCTL_OK && at.kind == PCTL_PLACE_LEAF &&
	    memcmp(at.key, key, PCTL_DIGEST_BYTES) == 0) {
		*found = 1;
		memcpy(value, at.hash, PCTL_DIGEST_BYTES);
	}
	return status;
}

/* The siblings inside one node; *end: the way ends in it. */
static pctl_status path_in(pctl_radix *t, pctl_radix_node *node, const uint8_t *key, uint32_t depth,
			   const pctl_call *call, pctl_radix_path *out, int *end)
{
	uint32_t from = 0;
	const pctl_radix_place *lone;
	pctl_status status = PCTL_OK;

	for (uint32_t n = PCTL_NODE_PLACES; status == PCTL_OK && n > 1; n /= 2) {
		uint32_t other = from + n / 2;

		*end = pctl_radix_taken(node, from, n, &lone) < 2;
		if (*end)
			break;
		if (pctl_radix_nibble(key, depth) >= other) {
			other = from;
			from += n / 2;
		}
		status = pctl_radix_fold(t, node, other, n / 2, call, out->siblings[out->n++]);
	}
	if (status == PCTL_OK && !*end)
		*end = pctl_radix_taken(node, from, 1, &lone) < 2;
	if (status == PCTL_OK && *end && lone != NULL) {
		out->has_leaf = 1;
		memcpy(out->leaf.key, lone->key, PCTL_DIGEST_BYTES);
		memcpy(out->leaf.value, lone->hash, PCTL_DIGEST_BYTES);
	}
	return status;
}

pctl_status pctl_radix_path_to(pctl_radix *t, const uint8_t key[PCTL_DIGEST_BYTES],
			       const pctl_call *call, pctl_radix_path *out)
{
	pctl_radix_node node;
	const uint8_t *hash = NULL;
	uint8_t below[PCTL_DIGEST_BYTES];
	pctl_status status = PCTL_OK;
	int end = 0;

	memset(out, 0, sizeof(*out));
	for (uint32_t depth = 0; status == PCTL_OK && !end; depth++) {
		status = load(t, key, depth, hash, call, &node);
		if (status == PCTL_OK)
			status = path_in(t, &node, key, depth, call, out, &end);
		memcpy(below, node.at[pctl_radix_nibble(key, depth)].hash, sizeof(below));
		hash = below;
	}
	return status;
}

typedef struct walking {
	pctl_radix *t;
	pctl_radix_visit visit;
	void *ctx;
	const pctl_call *call;
	int is_over;
} walking;

static pctl_status walk(walking *w, uint8_t *key, uint32_t depth, const uint8_t *hash)
{
	pctl_radix_node node;
	pctl_status status = load(w->t, key, depth, hash, w->call, &node);

	for (uint32_t i = 0; status == PCTL_OK && !w->is_over && i < PCTL_NODE_PLACES; i++) {
		const pctl_radix_place *p = &node.at[i];
		pctl_radix_leaf leaf = {.is_gone = 0};

		if (p->kind == PCTL_PLACE_LEAF) {
			memcpy(leaf.key, p->key, sizeof(leaf.key));
			memcpy(leaf.value, p->hash, sizeof(leaf.value));
			w->is_over = w->visit(w->ctx, &leaf) != 0;
		} else if (p->kind == PCTL_PLACE_NODE) {
			key[depth / 2] =
				(uint8_t)(depth % 2 == 0 ? i << 4 : (key[depth / 2] & 0xf0) | i);
			status = walk(w, key, depth + 1, p->hash);
		}
	}
	return status;
}

pctl_status pctl_radix_walk(pctl_radix *t, pctl_radix_visit visit, void *ctx, const pctl_call *call)
{
	walking w = {t, visit, ctx, call, 0};
	uint8_t key[PCTL_DIGEST_BYTES] = {0};

	return walk(&w, key, 0, NULL);
}
