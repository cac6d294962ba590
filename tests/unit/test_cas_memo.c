/* The memo table: what was put comes back, and everything that is not exactly what was put is a
 * miss. */
#include "main.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "cas/memo.h"
#include "diag/diag.h"

static char dir[64];
static pctl_store *store;
static pctl_memo *memo;
static const uint8_t key_a[32] = {0xab, 1}, key_b[32] = {0xab, 2}, key_c[32] = {3};

static int make_table(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/pctl-memo-XXXXXX");
	return mkdtemp(dir) == NULL || chdir(dir) != 0 ||
	       pctl_store_open("store", 0, NULL, &store) != PCTL_OK ||
	       pctl_memo_open("memo", store, NULL, &memo) != PCTL_OK;
}

static int drop_table(void **state)
{
	char command[96];

	(void)state;
	pctl_memo_close(memo);
	pctl_store_close(store);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return chdir("/") != 0 || system(command) != 0;
}

static pctl_memo_record *record(void)
{
	pctl_memo_record *r = calloc(1, sizeof(*r));

	strcpy(r->device, "vulkan:0 llvmpipe (LLVM 15.0.6, 256 bits)");
	strcpy(r->profile, "p1");
	r->gas = UINT64_MAX;
	r->n_outputs = 2;
	strcpy(r->outputs[0].name, "y");
	assert_int_equal(pctl_store_put(store, "hello\n", 6, NULL, &r->outputs[0].cid), PCTL_OK);
	r->outputs[0].n_bytes = 6;
	strcpy(r->outputs[1].name, "ranks");
	assert_int_equal(pctl_store_put(store, "", 0, NULL, &r->outputs[1].cid), PCTL_OK);
	return r;
}

static void memo__roundtrip(void **state)
{
	pctl_memo_record *r = record(), *got = calloc(1, sizeof(*got));

	(void)state;
	assert_false(pctl_memo_get(memo, key_a, got));
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_OK);
	assert_true(pctl_memo_get(memo, key_a, got));
	assert_memory_equal(got, r, sizeof(*r));
	assert_true(pctl_memo_get_verified(memo, key_a, got));
	assert_false(pctl_memo_get(memo, key_b, got));
	assert_int_equal(got->n_outputs, 0);
	r->n_outputs = 0;
	r->profile[0] = 0;
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_OK);
	assert_true(pctl_memo_get(memo, key_a, got));
	assert_int_equal(got->n_outputs, 0);
	assert_int_equal(pctl_memo_forget(memo, key_a, NULL), PCTL_OK);
	assert_int_equal(pctl_memo_forget(memo, key_a, NULL), PCTL_OK);
	assert_false(pctl_memo_get(memo, key_a, got));
	free(r);
	free(got);
}

static int drop_one(void *ctx, const pctl_cid *cid)
{
	return memcmp(ctx, cid, sizeof(*cid)) != 0;
}

static void memo__lost_outputs_are_a_miss(void **state)
{
	pctl_memo_record *r = record(), *got = calloc(1, sizeof(*got));
	pctl_store_report report;

	(void)state;
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_OK);
	assert_int_equal(pctl_store_gc(store, 0, 0, drop_one, &r->outputs[0].cid, NULL, &report),
			 PCTL_OK);
	assert_int_equal(report.removed, 1);
	assert_false(pctl_memo_get(memo, key_a, got));
	assert_int_equal(pctl_store_put(store, "hello\n", 6, NULL, NULL), PCTL_OK);
	assert_true(pctl_memo_get(memo, key_a, got));
	/* Another size is seen at once, other bytes of the same size when verified. */
	assert_int_equal(
		system("F=$(ls store/blobs/*/bafkreicysg*); chmod u+w $F; truncate -s 5 $F"), 0);
	assert_false(pctl_memo_get(memo, key_a, got));
	assert_int_equal(pctl_store_put(store, "hello\n", 6, NULL, NULL), PCTL_OK);
	assert_int_equal(system("F=$(ls store/blobs/*/bafkreicysg*); chmod u+w $F; printf jello > "
				"$F; echo >> $F"),
			 0);
	assert_true(pctl_memo_get(memo, key_a, got));
	assert_false(pctl_memo_get_verified(memo, key_a, got));
	assert_int_equal(got->n_outputs, 0);
	assert_false(pctl_memo_get(memo, key_a, got)); /* it was set aside */
	free(r);
	free(got);
}

static void memo__every_change_of_a_record_is_a_miss(void **state)
{
	pctl_memo_record *r = record(), *got = calloc(1, sizeof(*got));
	char hex[65], path[96], *text = NULL;
	uint64_t n = 0;

	(void)state;
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_OK);
	snprintf(path, sizeof(path), "memo/ab/%s", pctl_digest_hex(key_a, hex));
	assert_int_equal(pctl_file_read(path, 1 << 20, NULL, &text, &n), PCTL_OK);
	for (uint64_t i = 0; i < n; i++) {
		text[i] ^= 1;
		assert_int_equal(pctl_file_write(path, text, n, 0, NULL), PCTL_OK);
		assert_false(pctl_memo_get(memo, key_a, got));
		text[i] ^= 1;
	}
	for (uint64_t i = 0; i < n; i += 7) {
		assert_int_equal(pctl_file_write(path, text, i, 0, NULL), PCTL_OK);
		assert_false(pctl_memo_get(memo, key_a, got));
	}
	assert_int_equal(pctl_file_write(path, text, n, 0, NULL), PCTL_OK);
	assert_true(pctl_memo_get(memo, key_a, got));
	free(text);
	free(r);
	free(got);
}

static void memo__bad_records_are_refused(void **state)
{
	pctl_memo_record *r = record();

	(void)state;
	strcpy(r->outputs[0].name, "two words");
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_E_INVALID);
	strcpy(r->outputs[0].name, "");
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_E_INVALID);
	strcpy(r->outputs[0].name, "y");
	strcpy(r->device, "two\nlines");
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_E_INVALID);
	strcpy(r->device, "one line");
	r->n_outputs = PCTL_MEMO_OUTPUTS_MAX + 1;
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_E_INVALID);
	r->n_outputs = 1;
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_OK);
	free(r);
}

typedef struct seen {
	uint8_t first[8];
	uint32_t n;
} seen;

static int see(void *ctx, const uint8_t key[32], const pctl_memo_record *r)
{
	seen *s = ctx;

	assert_int_equal(r->n_outputs, 2);
	s->first[s->n++] = key[1];
	return 0;
}

static void memo__list_and_clear(void **state)
{
	pctl_memo_record *r = record();
	seen s = {0};

	(void)state;
	assert_int_equal(pctl_memo_list(memo, NULL, see, &s), PCTL_OK);
	assert_int_equal(s.n, 0);
	assert_int_equal(pctl_memo_put(memo, key_b, r, NULL), PCTL_OK);
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_OK);
	assert_int_equal(pctl_memo_put(memo, key_c, r, NULL), PCTL_OK);
	assert_int_equal(pctl_memo_list(memo, NULL, see, &s), PCTL_OK);
	assert_int_equal(s.n, 3);
	assert_memory_equal(s.first, "\x00\x01\x02", 3);
	assert_int_equal(pctl_memo_clear(memo, NULL), PCTL_OK);
	s.n = 0;
	assert_int_equal(pctl_memo_list(memo, NULL, see, &s), PCTL_OK);
	assert_int_equal(s.n, 0);
	free(r);
}

#define IN_DIR(f) cmocka_unit_test_setup_teardown(f, make_table, drop_table)
PCTL_TESTS_MAIN(IN_DIR(memo__roundtrip), IN_DIR(memo__lost_outputs_are_a_miss),
		IN_DIR(memo__every_change_of_a_record_is_a_miss),
		IN_DIR(memo__bad_records_are_refused), IN_DIR(memo__list_and_clear))
