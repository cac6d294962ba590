/* The tree over 256-bit keys: changed in place it is what its leaves alone make it, whatever came before; paths lead to its root; nodes
 * that were tampered with are found. The constants are of tests/integration/node/rowproof.py. */
#include "main.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "chain/tree/tree.h"
#include "foundation/base/hash.h"

static uint32_t last_code;

static void note(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	last_code = d->code;
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = note};

typedef struct world {
	sqlite3 *db;
	pctl_radix *t;
	pctl_radix_leaf leaves[4096]; /* what must be in it, ascending */
	uint64_t n;
} world;

static void begin(world *w)
{
	memset(w, 0, sizeof(*w));
	assert_int_equal(sqlite3_open(":memory:", &w->db), SQLITE_OK);
	assert_int_equal(pctl_radix_open(w->db, &call, &w->t), PCTL_OK);
	assert_int_equal(pctl_radix_make(w->t, &call), PCTL_OK);
}

static void end(world *w)
{
	pctl_radix_close(w->t);
	sqlite3_close(w->db);
}

/* Keys of few different beginnings, so that some share many bits. */
static void key_of(uint64_t number, uint8_t out[PCTL_DIGEST_BYTES])
{
	memset(out, 0, PCTL_DIGEST_BYTES);
	for (int i = 0; i < 4; i++)
		out[i] = (uint8_t)(number % 3 == 0 ? 0xa5u : pctl_mix64(number) >> (8 * i));
	if (number % 5 == 0)
		memset(out + 4, 0x77, 24);
	for (int i = 0; i < 4; i++)
		out[28 + i] = (uint8_t)(number >> (24 - 8 * i));
}

static int by_key(const void *a, const void *b)
{
	return memcmp(a, b, PCTL_DIGEST_BYTES);
}

static void set(world *w, const pctl_radix_leaf *c)
{
	uint64_t i = 0;

	while (i < w->n && memcmp(w->leaves[i].key, c->key, PCTL_DIGEST_BYTES) != 0)
		i++;
	if (c->is_gone) {
		if (i < w->n)
			w->leaves[i] = w->leaves[--w->n];
	} else {
		w->leaves[i] = *c;
		w->n += i == w->n;
	}
	qsort(w->leaves, w->n, sizeof(w->leaves[0]), by_key);
}

static void is_right(world *w)
{
	uint8_t root[PCTL_DIGEST_BYTES], must[PCTL_DIGEST_BYTES];

	assert_int_equal(pctl_radix_root(w->t, &call, root), PCTL_OK);
	assert_int_equal(pctl_radix_hash_of(w->t, w->leaves, w->n, 0, &call, must), PCTL_OK);
	assert_memory_equal(root, must, sizeof(root));
}

static void climbs(world *w, const uint8_t *key)
{
	uint8_t root[PCTL_DIGEST_BYTES], at[PCTL_DIGEST_BYTES], up[PCTL_DIGEST_BYTES],
		value[PCTL_DIGEST_BYTES];
	pctl_radix_path p;
	int found;

	assert_int_equal(pctl_radix_root(w->t, &call, root), PCTL_OK);
	assert_int_equal(pctl_radix_find(w->t, key, &call, &found, value), PCTL_OK);
	assert_int_equal(pctl_radix_path_to(w->t, key, &call, &p), PCTL_OK);
	assert_int_equal(found, p.has_leaf && memcmp(p.leaf.key, key, PCTL_DIGEST_BYTES) == 0);
	if (p.has_leaf)
		assert_true(pctl_radix_shares(p.leaf.key, key, p.n));
	if (found)
		assert_memory_equal(p.leaf.value, value, sizeof(value));
	assert_int_equal(pctl_radix_hash_of(w->t, &p.leaf, p.has_leaf, PCTL_RADIX_DEPTH, &call, at),
			 PCTL_OK);
	assert_int_equal(pctl_radix_climb(w->t, key, p.siblings, p.n, at, &call, up), PCTL_OK);
	assert_memory_equal(up, root, sizeof(root));
}

/* Of changes that ask nothing of what was. */
static pctl_status update(world *w, pctl_radix_leaf *changes, uint64_t n)
{
	const pctl_radix_leaf *odd;
	const pctl_status status = pctl_radix_update(w->t, changes, n, &call, &odd);

	assert_null(odd);
	return status;
}

static void test_chain_tree__is_what_its_leaves_make_it(void **state)
{
	static world w;
	pctl_radix_leaf changes[64];
	uint64_t random = 7;

	(void)state;
	begin(&w);
	is_right(&w);
	for (int round = 0; round < 120; round++) {
		uint64_t n = 0;

		for (uint64_t i = 0; i < 1 + random % 60; i++) {
			pctl_radix_leaf c = {.is_gone = 0};
			uint64_t k = 0;

			random = pctl_mix64(random + PCTL_SPLITMIX_STEP);
			key_of(random % 400, c.key);
			c.is_gone = (random >> 32 & 1) != 0 && (round % 20 >= 10 || round % 2 == 0);
			memcpy(c.value, &random, sizeof(random));
			while (k < n && memcmp(changes[k].key, c.key, sizeof(c.key)) != 0)
				k++;
			if (k < n)
				continue;
			changes[n++] = c;
			set(&w, &c);
		}
		assert_int_equal(update(&w, changes, n), PCTL_OK);
		if (round % 3 == 0)
			pctl_radix_forget(w.t);
		is_right(&w);
		for (uint64_t k = 0; k < 12; k++) {
			uint8_t key[PCTL_DIGEST_BYTES];

			key_of(pctl_mix64(random + k) % 500, key);
			climbs(&w, key);
		}
	}
	/* down to nothing */
	while (w.n > 0) {
		pctl_radix_leaf c = w.leaves[w.n / 2];

		c.is_gone = 1;
		assert_int_equal(update(&w, &c, 1), PCTL_OK);
		set(&w, &c);
		is_right(&w);
	}
	end(&w);
}

static void hex_is(const uint8_t *digest, const char *text)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];

	assert_string_equal(pctl_digest_hex(digest, hex), text);
}

/* subtree([(bytes([k] + [0] * 31), bytes([v] * 32)) for k, v in ..]) of rowproof.py */
static void test_chain_tree__roots_are_those_of_the_document(void **state)
{
	static world w;
	uint8_t root[PCTL_DIGEST_BYTES];
	pctl_radix_leaf all[3] = {{.key = {0x80}}, {.key = {0x81}}, {.key = {0x10}}};

	(void)state;
	begin(&w);
	assert_int_equal(pctl_radix_root(w.t, &call, root), PCTL_OK);
	hex_is(root, "0000000000000000000000000000000000000000000000000000000000000000");
	for (int i = 0; i < 3; i++)
		memset(all[i].value, i + 1, sizeof(all[i].value));
	assert_int_equal(update(&w, all, 1), PCTL_OK);
	assert_int_equal(pctl_radix_root(w.t, &call, root), PCTL_OK);
	hex_is(root, "0bf8d0ac57aebb79e3dd94897f7933b27b530f4f9b1cdc8092bc57ac46d7efa6");
	assert_int_equal(update(&w, all, 3), PCTL_OK);
	assert_int_equal(pctl_radix_root(w.t, &call, root), PCTL_OK);
	hex_is(root, "62fc47900e95b91f98d6257d83550934091d69bba1c37090d5df8fb94fd66199");
	end(&w);
}

/* Changes say what their keys had; the first of them that is not so is named, wherever it stands among others. */
static void test_chain_tree__what_a_key_had_is_asked_on_the_way(void **state)
{
	static world w;
	pctl_radix_leaf many[300];
	const pctl_radix_leaf *odd;

	(void)state;
	for (int how = 0; how < 5; how++) {
		begin(&w);
		memset(many, 0, sizeof(many));
		for (uint32_t i = 0; i < 300; i++) {
			key_of(i, many[i].key);
			many[i].value[0] = (uint8_t)i;
		}
		assert_int_equal(update(&w, many, 200), PCTL_OK);
		for (uint32_t i = 0; i < 300; i++) { /* those of 200 on come now, and some go */
			uint32_t k = 0;

			for (uint8_t key[PCTL_DIGEST_BYTES]; k < 300; k++) {
				key_of(k, key);
				if (memcmp(key, many[i].key, sizeof(key)) == 0)
					break;
			}
			memcpy(many[i].before, many[i].value, sizeof(many[i].before));
			many[i].was = k < 200 ? PCTL_WAS_VALUE : PCTL_WAS_NONE;
			many[i].value[1] = 7;
			many[i].is_gone = k % 5 == 0;
			if (how == 1 && k == 77)
				many[i].before[31] ^= 1;
			if (how == 2 && k == 77)
				many[i].was = PCTL_WAS_NONE;
			if (how == 3 && k == 277)
				many[i].was = PCTL_WAS_VALUE;
			if (how == 4 && k == 277)
				many[i].was = PCTL_WAS_ANY;
		}
		assert_int_equal(pctl_radix_update(w.t, many, 300, &call, &odd),
				 how == 3		? PCTL_E_NOT_FOUND
				 : how == 0 || how == 4 ? PCTL_OK
							: PCTL_E_STORE);
		assert_int_equal(odd != NULL, how != 0 && how != 4);
		if (odd != NULL) {
			uint8_t key[PCTL_DIGEST_BYTES];

			key_of(how == 3 ? 277 : 77, key);
			assert_memory_equal(odd->key, key, sizeof(key));
		}
		end(&w);
	}
}

static int count(void *ctx, const pctl_radix_leaf *leaf)
{
	(void)leaf;
	++*(uint64_t *)ctx;
	return 0;
}

static void test_chain_tree__a_node_that_was_tampered_with_is_found(void **state)
{
	static world w;
	pctl_radix_leaf many[300];
	uint8_t value[PCTL_DIGEST_BYTES];
	pctl_radix_path p;
	uint64_t n = 0;
	int found;

	(void)state;
	begin(&w);
	memset(many, 0, sizeof(many));
	for (uint32_t i = 0; i < 300; i++)
		key_of(i, many[i].key);
	assert_int_equal(update(&w, many, 300), PCTL_OK);
	assert_int_equal(pctl_radix_walk(w.t, count, &n, &call), PCTL_OK);
	assert_int_equal(n, 300);
	assert_int_equal(sqlite3_exec(w.db,
				      "UPDATE tree_nodes SET node = CAST(substr(node, 1, "
				      "length(node) - 1) || x'55' AS BLOB) "
				      "WHERE path = (SELECT max(path) FROM tree_nodes)",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	pctl_radix_forget(w.t);
	n = 0;
	assert_int_equal(pctl_radix_walk(w.t, count, &n, &call), PCTL_E_STORE);
	assert_int_equal(last_code, PC6141_TREE_NODE);
	assert_int_equal(
		sqlite3_exec(w.db, "DELETE FROM tree_nodes WHERE path <> x'00'", NULL, NULL, NULL),
		SQLITE_OK);
	pctl_radix_forget(w.t);
	key_of(3, many[0].key);
	last_code = 0;
	assert_int_equal(pctl_radix_find(w.t, many[0].key, &call, &found, value), PCTL_E_STORE);
	assert_int_equal(last_code, PC6141_TREE_NODE);
	assert_int_equal(pctl_radix_path_to(w.t, many[0].key, &call, &p), PCTL_E_STORE);
	assert_int_equal(update(&w, many, 1), PCTL_E_STORE);
	end(&w);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_tree__is_what_its_leaves_make_it),
		PCTL_TEST(test_chain_tree__roots_are_those_of_the_document),
		PCTL_TEST(test_chain_tree__what_a_key_had_is_asked_on_the_way),
		PCTL_TEST(test_chain_tree__a_node_that_was_tampered_with_is_found))
