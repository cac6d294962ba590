/* The memo table: what was put comes back, and everything that is not exactly what was put is a
 * miss. */
#include "main.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "runtime/cas/memo.h"
#include "foundation/diag/diag.h"

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

	strcpy(r->host, "h1");
	r->evidence = (pctl_evidence){PCTL_EVIDENCE_QUORUM, 0, 2, 3, 2};
	r->determinism = 2;
	r->proven = 1;
	r->memory = 1u << 30;
	r->peak = 1u << 29;
	r->gas = UINT64_MAX;
	r->size_gas = 7;
	r->wall_ns = 8;
	r->kernels = 9;
	r->n_plugins = 2;
	r->plugins[0] = (pctl_memo_plugin){
		"vulkan", "ab12",    1,		3,
		4,	  "bafkrei", "lvp icd", "llvmpipe (LLVM 15.0.6, 256 bits)"};
	r->plugins[1] = (pctl_memo_plugin){.id = "rank", .sha256 = "cd34"};
	r->n_outputs = 2;
	strcpy(r->outputs[0].name, "y");
	strcpy(r->outputs[0].type, "bytes[6]");
	assert_int_equal(pctl_store_put(store, "hello\n", 6, NULL, &r->outputs[0].cid), PCTL_OK);
	r->outputs[0].n_bytes = 6;
	strcpy(r->outputs[1].name, "ranks");
	strcpy(r->outputs[1].type, "u64[0,4]");
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
	assert_memory_equal(got->key, key_a, sizeof(key_a));
	memcpy(r->key, key_a, sizeof(key_a));
	assert_memory_equal(got, r, sizeof(*r));
	assert_false(pctl_memo_get(memo, key_b, got));
	assert_int_equal(got->n_outputs, 0);
	/* As records were before they said what is alive at once: without the line, and still an answer. */
	assert_int_equal(system("grep -rq ^peak memo"), 0);
	r->peak = 0;
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_OK);
	assert_true(system("grep -rq ^peak memo") != 0);
	assert_true(pctl_memo_get(memo, key_a, got));
	assert_memory_equal(got, r, sizeof(*r));
	r->n_outputs = 0;
	r->n_plugins = 0;
	r->evidence = (pctl_evidence){PCTL_EVIDENCE_CERTIFIED, 4, 0, 0, 0};
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_OK);
	assert_true(pctl_memo_get(memo, key_a, got));
	assert_int_equal(got->n_outputs, 0);
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
	pctl_blob b;

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
	/* Who reads it finds out, and it is set aside. */
	assert_int_not_equal(pctl_store_get(store, &got->outputs[0].cid, NULL, &b), PCTL_OK);
	assert_false(pctl_memo_get(memo, key_a, got));
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
	pctl_diag_list *diags = pctl_diag_list_create();
	pctl_memo_record *r = record();

	(void)state;
	strcpy(r->outputs[0].name, "two words");
	assert_int_equal(pctl_memo_put(memo, key_a, r, pctl_diag_list_call(diags)), PCTL_E_INVALID);
	assert_int_equal(pctl_diag_list_at(diags, 0)->code, PC5010_CAS_MEMO_RECORD);
	pctl_diag_list_destroy(diags);
	strcpy(r->outputs[0].name, "");
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_E_INVALID);
	strcpy(r->outputs[0].name, "y");
	r->outputs[0].type[0] = '\0';
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_E_INVALID);
	strcpy(r->outputs[0].type, "bytes[6]");
	strcpy(r->plugins[0].name, "two\nlines");
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_E_INVALID);
	strcpy(r->plugins[0].name, "two\tfields");
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_E_INVALID);
	strcpy(r->plugins[0].name, "one line");
	r->n_plugins = PCTL_MEMO_PLUGINS_MAX + 1;
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_E_INVALID);
	r->n_plugins = 2;
	r->n_outputs = PCTL_MEMO_OUTPUTS_MAX + 1;
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_E_INVALID);
	r->n_outputs = 1;
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_OK);
	free(r);
}

/* A whole record under the name of another key, as somebody who can write the folder could put it. */
static void memo__a_record_in_anothers_place_is_a_miss(void **state)
{
	pctl_memo_record *r = record(), *got = calloc(1, sizeof(*got));
	char a[65], b[65], command[256];

	(void)state;
	assert_int_equal(pctl_memo_put(memo, key_a, r, NULL), PCTL_OK);
	assert_int_equal(pctl_memo_put(memo, key_b, r, NULL), PCTL_OK);
	snprintf(command, sizeof(command), "cp memo/ab/%s memo/ab/%s", pctl_digest_hex(key_a, a),
		 pctl_digest_hex(key_b, b));
	assert_int_equal(system(command), 0);
	assert_true(pctl_memo_get(memo, key_a, got));
	assert_false(pctl_memo_get(memo, key_b, got));
	free(r);
	free(got);
}

/* A record of the first format says nothing of evidence: it is no record. */
static void memo__old_records_are_a_miss(void **state)
{
	static const char old[] = "pipectl-memo 1\ndevice d\nprofile p\ngas 1\n";
	pctl_memo_record *got = calloc(1, sizeof(*got)), *put = record();
	char hex[65], path[96], text[256];
	pctl_cid sum;

	(void)state;
	assert_int_equal(pctl_memo_put(memo, key_a, put, NULL), PCTL_OK);
	free(put);
	assert_int_equal(pctl_cid_of(old, strlen(old), NULL, &sum), PCTL_OK);
	snprintf(text, sizeof(text), "%ssum %s\n", old, pctl_digest_hex(sum.digest, hex));
	snprintf(path, sizeof(path), "memo/ab/%s", pctl_digest_hex(key_a, hex));
	assert_int_equal(pctl_file_write(path, text, strlen(text), 0, NULL), PCTL_OK);
	assert_false(pctl_memo_get(memo, key_a, got));
	free(got);
}

/* How stored bytes stand: the weakest of the runs that stored them, of one run the strongest; damage is no strength. */
static void made__weakest_of_all_runs(void **state)
{
	static const pctl_evidence verified = {PCTL_EVIDENCE_VERIFIED, 0, 0, 0, 0},
				   two = {PCTL_EVIDENCE_QUORUM, 0, 2, 3, 2},
				   none = {PCTL_EVIDENCE_NONE, 0, 0, 0, 0};
	char command[256], hex[65];
	uint8_t key[PCTL_DIGEST_BYTES] = {9};
	pctl_evidence e;
	pctl_cid cid;

	(void)state;
	assert_int_equal(pctl_cid_of("made", 4, NULL, &cid), PCTL_OK);
	assert_false(pctl_memo_made(memo, &cid, &e));
	assert_int_equal(pctl_memo_made_put(memo, &cid, key_a, verified, NULL), PCTL_OK);
	assert_true(pctl_memo_made(memo, &cid, &e));
	assert_int_equal(pctl_evidence_compare(e, verified), 0);
	assert_int_equal(pctl_memo_made_put(memo, &cid, key_b, none, NULL), PCTL_OK);
	assert_true(pctl_memo_made(memo, &cid, &e));
	assert_int_equal(pctl_evidence_compare(e, none), 0);
	assert_int_equal(pctl_memo_made_put(memo, &cid, key_b, two, NULL), PCTL_OK);
	assert_int_equal(pctl_memo_made_put(memo, &cid, key_b, none, NULL), PCTL_OK);
	assert_true(pctl_memo_made(memo, &cid, &e));
	assert_int_equal(pctl_evidence_compare(e, two), 0);
	/* More runs than there is room for: the weakest is not forgotten. */
	for (uint32_t i = 0; i < 200; i++) {
		key[1] = (uint8_t)i;
		assert_int_equal(pctl_memo_made_put(memo, &cid, key, verified, NULL), PCTL_OK);
		assert_true(pctl_memo_made(memo, &cid, &e));
		assert_int_equal(pctl_evidence_compare(e, two), 0);
	}
	snprintf(command, sizeof(command), "F=$(ls memo/made/*/%s); chmod u+w $F; printf x >> $F",
		 pctl_digest_hex(cid.digest, hex));
	assert_int_equal(system(command), 0);
	assert_true(pctl_memo_made(memo, &cid, &e));
	assert_int_equal(pctl_evidence_compare(e, none), 0);
}

#define WRITERS 8u
#define NOTES 6u /* fewer together than a record holds */

/* Runs that store the same bytes at once: every note stays, so the weakest is known. Without the lock of made.c notes are
 * lost in most rounds. */
static void made__of_writers_at_once_no_note_is_lost(void **state)
{
	static const pctl_evidence verified = {PCTL_EVIDENCE_VERIFIED, 0, 0, 0, 0};
	char command[256], text[96], hex[65];
	pctl_cid cid;

	(void)state;
	for (uint32_t round = 0; round < 8; round++) {
		int start[2], status;
		char one;

		snprintf(text, sizeof(text), "at once %u", (unsigned)round);
		assert_int_equal(pctl_cid_of(text, strlen(text), NULL, &cid), PCTL_OK);
		assert_int_equal(pipe(start), 0);
		for (uint32_t w = 0; w < WRITERS; w++) {
			if (fork() != 0)
				continue;
			close(start[1]);
			(void)!read(start[0], &one, 1); /* all begin when the pipe is closed */
			for (uint32_t i = 0; i < NOTES; i++) {
				const uint8_t key[PCTL_DIGEST_BYTES] = {1, (uint8_t)w, (uint8_t)i};

				if (pctl_memo_made_put(memo, &cid, key, verified, NULL) != PCTL_OK)
					_exit(1);
			}
			_exit(0);
		}
		close(start[0]);
		close(start[1]);
		for (uint32_t w = 0; w < WRITERS; w++) {
			assert_true(wait(&status) > 0);
			assert_int_equal(status, 0);
		}
		snprintf(command, sizeof(command),
			 "test $(grep -c ' verified$' memo/made/*/%s) = %u",
			 pctl_digest_hex(cid.digest, hex), WRITERS * NOTES);
		assert_int_equal(system(command), 0);
	}
}

static void evidence__texts(void **state)
{
	static const struct {
		pctl_evidence e;
		const char *text;
	} rows[] = {{{PCTL_EVIDENCE_NONE, 0, 0, 0, 0}, "not verified"},
		    {{PCTL_EVIDENCE_CERTIFIED, 1, 0, 0, 0}, "not verified (certified L1)"},
		    {{PCTL_EVIDENCE_CERTIFIED, 4, 0, 0, 0}, "not verified (certified L4)"},
		    {{PCTL_EVIDENCE_QUORUM, 0, 2, 3, 2}, "quorum 2 of 3"},
		    {{PCTL_EVIDENCE_QUORUM, 0, 3, 3, 2}, "quorum 3 of 3 (2 plugins)"},
		    {{PCTL_EVIDENCE_QUORUM, 0, 3, 3, 3}, "quorum 3 of 3"},
		    {{PCTL_EVIDENCE_QUORUM, 0, 64, 64, 64}, "quorum 64 of 64"},
		    {{PCTL_EVIDENCE_VERIFIED, 0, 0, 0, 0}, "verified"}};
	char text[PCTL_EVIDENCE_TEXT];
	pctl_evidence back;

	(void)state;
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_string_equal(pctl_evidence_text(rows[i].e, text), rows[i].text);
		assert_true(pctl_evidence_parse(rows[i].text, &back));
		assert_memory_equal(&back, &rows[i].e, sizeof(back));
		for (uint32_t k = 0; k < i; k++)
			assert_true(pctl_evidence_compare(rows[k].e, rows[i].e) < 0);
	}
	assert_false(pctl_evidence_parse("certified L2", &back));
	assert_false(pctl_evidence_parse("quorum 3 of 2", &back));
	assert_false(pctl_evidence_parse("quorum 3 of 3 (4 plugins)", &back));
	assert_false(pctl_evidence_parse("quorum 3 of 3 (3 plugins)", &back));
	assert_false(pctl_evidence_parse("quorum 2 of 3 ", &back));
	assert_false(pctl_evidence_parse("verified ", &back));
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

static void memo__list(void **state)
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
	free(r);
}

#define IN_DIR(f) cmocka_unit_test_setup_teardown(f, make_table, drop_table)
PCTL_TESTS_MAIN(IN_DIR(memo__roundtrip), IN_DIR(memo__lost_outputs_are_a_miss),
		IN_DIR(memo__every_change_of_a_record_is_a_miss),
		IN_DIR(memo__bad_records_are_refused),
		IN_DIR(memo__a_record_in_anothers_place_is_a_miss),
		IN_DIR(memo__old_records_are_a_miss), IN_DIR(made__weakest_of_all_runs),
		IN_DIR(made__of_writers_at_once_no_note_is_lost), PCTL_TEST(evidence__texts),
		IN_DIR(memo__list))
