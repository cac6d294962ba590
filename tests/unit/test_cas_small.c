/* Small blobs of a batch of many: they lie in one file of the directory store, and are asked for, listed, kept, collected and set
 * aside as files are. */
#include "main.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/diag/diag.h"
#include "runtime/cas/dir_small.h"
#include "runtime/cas/store.h"

#define CID_HELLO "bafkreicysg23kiwv34eg2d7qweipxwosdo2py4ldv42nbauguluen5v6am" /* "hello\n" */
#define CID_A "bafkreigks6arfsq3xxfpvqrrwonchxcnu6do76auprhhfomao6c273sixm"

static char dir[64];
static pctl_diag_list *diags;

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/pctl-small-XXXXXX");
	diags = pctl_diag_list_create();
	return mkdtemp(dir) == NULL || chdir(dir) != 0;
}

static int drop_dir(void **state)
{
	char command[96];

	(void)state;
	pctl_diag_list_destroy(diags);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return chdir("/") != 0 || system(command) != 0;
}

static const pctl_call *call(void)
{
	return pctl_diag_list_call(diags);
}

static pctl_cid cid(const char *text)
{
	pctl_cid out;

	assert_true(pctl_cid_parse(text, &out));
	return out;
}

static const char *blob_path(const char *text)
{
	static char path[128];

	snprintf(path, sizeof(path), "store/blobs/%.2s/%s", text + 7, text);
	return path;
}

typedef struct listing {
	char texts[8][PCTL_CID_TEXT_SIZE];
	uint32_t n;
} listing;

static int see(void *ctx, const pctl_cid *c, uint64_t n_bytes)
{
	listing *l = ctx;

	(void)n_bytes;
	pctl_cid_format(c, l->texts[l->n++]);
	return l->n == 8;
}

static void sql(const char *text)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open("store/small.sqlite", &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* What a batch brings lies in one file, however it is asked for; a put alone is a file beside it. */
static void cas__small_blobs_of_a_batch(void **state)
{
	listing found = {.n = 0};
	const pctl_cid a = cid(CID_A), hello = cid(CID_HELLO);
	uint8_t large[PCTL_CAS_SMALL + 1u] = {7};
	pctl_store *s = NULL, *other = NULL;
	pctl_store_report r;
	pctl_cid big;
	pctl_blob b;
	uint64_t n;

	(void)state;
	assert_int_equal(pctl_store_open("store", 0, call(), &s), PCTL_OK);
	assert_int_equal(pctl_store_batch_begin_many(s, call()), PCTL_OK);
	assert_int_equal(pctl_store_put(s, "a", 1, call(), NULL), PCTL_OK);
	assert_int_equal(pctl_store_put(s, "a", 1, call(), NULL), PCTL_OK);
	assert_int_equal(pctl_store_put(s, "", 0, call(), NULL), PCTL_OK);
	assert_int_equal(pctl_store_put(s, large, sizeof(large), call(), &big), PCTL_OK);
	assert_int_equal(pctl_store_batch_commit(s, call()), PCTL_OK);
	assert_int_equal(pctl_store_put(s, "hello\n", 6, call(), NULL), PCTL_OK);
	assert_false(pctl_file_exists(blob_path(CID_A)));
	assert_true(pctl_file_exists(blob_path(CID_HELLO)));
	/* Another process sees it, one that only reads too. */
	for (uint32_t flags = 0; flags < 2; flags++) {
		assert_int_equal(
			pctl_store_open("store", flags ? PCTL_STORE_READ_ONLY : 0, call(), &other),
			PCTL_OK);
		assert_int_equal(pctl_store_get(other, &a, call(), &b), PCTL_OK);
		assert_int_equal(b.n_bytes, 1);
		pctl_blob_release(&b);
		assert_int_equal(pctl_store_size(other, &a, call(), &n), PCTL_OK);
		assert_int_equal(n, 1);
		pctl_store_close(other);
	}
	assert_true(pctl_store_has(s, &big) && pctl_store_has(s, &hello));
	assert_int_equal(pctl_store_list(s, call(), see, &found), PCTL_OK);
	assert_int_equal(found.n, 4);
	for (uint32_t i = 0; i < 3; i++)
		assert_true(strcmp(found.texts[i], found.texts[i + 1]) < 0);
	/* gc goes by the last put here, too. */
	sql("UPDATE blobs SET at = 1000");
	assert_int_equal(pctl_store_batch_begin_many(s, call()), PCTL_OK);
	assert_int_equal(pctl_store_put(s, "a", 1, call(), NULL), PCTL_OK);
	assert_int_equal(pctl_store_batch_commit(s, call()), PCTL_OK);
	assert_int_equal(pctl_store_gc(s, 3600, 1, NULL, NULL, call(), &r), PCTL_OK);
	assert_int_equal(r.removed, 1);
	assert_int_equal(pctl_store_gc(s, 3600, 0, NULL, NULL, call(), &r), PCTL_OK);
	assert_int_equal(r.removed, 1);
	assert_true(pctl_store_has(s, &a));
	/* Damage is found and set aside. */
	sql("UPDATE blobs SET bytes = x'62'");
	assert_int_equal(pctl_store_get(s, &a, call(), &b), PCTL_E_STORE);
	assert_false(pctl_store_has(s, &a));
	assert_true(pctl_file_exists("store/damaged/" CID_A ".1"));
	pctl_store_close(s);
}

static int can_write(void)
{
	sqlite3 *db;
	int rc;

	assert_int_equal(sqlite3_open("store/small.sqlite", &db), SQLITE_OK);
	rc = sqlite3_exec(db, "UPDATE blobs SET at = at", NULL, NULL, NULL);
	sqlite3_close(db);
	return rc == SQLITE_OK;
}

static void has(pctl_store *s, const pctl_cid *c, const char *bytes)
{
	pctl_blob b;

	assert_int_equal(pctl_store_get(s, c, call(), &b), PCTL_OK);
	assert_int_equal(b.n_bytes, strlen(bytes));
	assert_memory_equal(b.data, bytes, strlen(bytes));
	pctl_blob_release(&b);
}

/* Many gets share a transaction, which ends where one finds nothing, where something is put, damaged or removed, and with them. */
static void cas__many_gets(void **state)
{
	const pctl_cid a = cid(CID_A), hello = cid(CID_HELLO);
	pctl_store *s = NULL;
	pctl_cid x;
	pctl_blob b;

	(void)state;
	assert_int_equal(pctl_store_open("store", 0, call(), &s), PCTL_OK);
	pctl_store_gets_begin(s); /* before there is a file */
	assert_int_equal(pctl_store_get(s, &a, call(), &b), PCTL_E_NOT_FOUND);
	assert_int_equal(pctl_store_batch_begin_many(s, call()), PCTL_OK);
	assert_int_equal(pctl_store_put(s, "a", 1, call(), NULL), PCTL_OK);
	assert_int_equal(pctl_store_batch_commit(s, call()), PCTL_OK);
	has(s, &a, "a");
	assert_false(can_write());
	has(s, &a, "a");
	assert_int_equal(pctl_store_get(s, &hello, call(), &b), PCTL_E_NOT_FOUND);
	assert_true(can_write());
	has(s, &a, "a");
	assert_int_equal(pctl_store_batch_begin_many(s, call()), PCTL_OK);
	assert_int_equal(pctl_store_put(s, "x", 1, call(), &x), PCTL_OK);
	assert_int_equal(pctl_store_batch_commit(s, call()), PCTL_OK);
	has(s, &x, "x");
	pctl_store_gets_end(s);
	assert_true(can_write());
	has(s, &a, "a");
	assert_true(can_write());
	pctl_store_gets_begin(s);
	has(s, &x, "x");
	pctl_store_gets_end(s);
	sql("UPDATE blobs SET bytes = x'62'");
	pctl_store_gets_begin(s);
	assert_int_equal(pctl_store_get(s, &a, call(), &b), PCTL_E_STORE);
	assert_true(can_write());
	pctl_store_gets_end(s);
	pctl_store_close(s);
}

PCTL_TESTS_MAIN(cmocka_unit_test_setup_teardown(cas__many_gets, make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(cas__small_blobs_of_a_batch, make_dir, drop_dir))
