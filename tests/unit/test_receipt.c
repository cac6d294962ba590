/* Receipts without a device: the tree against a hash written out, block receipts with every byte changed, proofs with
 * another leaf, order or length, traces compared. */
#include "evidence/receipt/block_receipt.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/diag/diag.h"
#include "main.h"
#include "evidence/receipt/replay.h"

static const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};

/* RFC 6962's empty tree, one leaf of no bytes, and certificate-transparency's known root of its eight test leaves. */
static void test_receipt__tree_of_rfc_6962(void **state)
{
	static const char *const leaves[8] = {"",
					      "\x00",
					      "\x10",
					      "\x20\x21",
					      "\x30\x31",
					      "\x40\x41\x42\x43",
					      "\x50\x51\x52\x53\x54\x55\x56\x57",
					      "\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c"
					      "\x6d\x6e\x6f"};
	static const size_t sizes[8] = {0, 1, 1, 2, 2, 4, 8, 16};
	static const char *const roots[3] = {
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
		"5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"};
	static const uint64_t counts[3] = {0, 1, 8};
	uint8_t hashes[8][PCTL_DIGEST_BYTES], root[PCTL_DIGEST_BYTES];
	char hex[2 * PCTL_DIGEST_BYTES + 1];

	(void)state;
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(pctl_tree_leaf(leaves[i], sizes[i], &quiet, hashes[i]), PCTL_OK);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(pctl_tree_root((const uint8_t(*)[PCTL_DIGEST_BYTES])hashes,
						counts[i], &quiet, root),
				 PCTL_OK);
		assert_string_equal(pctl_digest_hex(root, hex), roots[i]);
	}
}

static void test_receipt__proofs(void **state)
{
	uint8_t hashes[9][PCTL_DIGEST_BYTES], root[PCTL_DIGEST_BYTES],
		path[PCTL_TREE_PATH_MAX][PCTL_DIGEST_BYTES];
	const uint8_t(*leaves)[PCTL_DIGEST_BYTES] = (const uint8_t(*)[PCTL_DIGEST_BYTES])hashes;
	const uint8_t(*p)[PCTL_DIGEST_BYTES] = (const uint8_t(*)[PCTL_DIGEST_BYTES])path;
	uint32_t n_path;

	(void)state;
	for (uint8_t i = 0; i < 9; i++)
		assert_int_equal(pctl_tree_leaf(&i, 1, &quiet, hashes[i]), PCTL_OK);
	for (uint64_t n = 1; n <= 9; n++) {
		assert_int_equal(pctl_tree_root(leaves, n, &quiet, root), PCTL_OK);
		for (uint64_t i = 0; i < n; i++) {
			assert_int_equal(pctl_tree_proof(leaves, n, i, &quiet, path, &n_path),
					 PCTL_OK);
			assert_true(pctl_tree_proof_valid(hashes[i], i, n, p, n_path, root));
			assert_false(
				pctl_tree_proof_valid(hashes[(i + 1) % 9], i, n, p, n_path, root));
			assert_false(pctl_tree_proof_valid(hashes[i], i, n, p, n_path + 1, root));
			if (n_path != 0) {
				assert_false(pctl_tree_proof_valid(hashes[i], i, n, p, n_path - 1,
								   root));
				assert_false(pctl_tree_proof_valid(hashes[i], (i + 1) % n, n, p,
								   n_path, root));
				path[0][3] ^= 1;
				assert_false(
					pctl_tree_proof_valid(hashes[i], i, n, p, n_path, root));
			}
			assert_false(pctl_tree_proof_valid(hashes[i], n, n, p, n_path, root));
		}
	}
}

/* ---- blocks ------------------------------------------------------------------------------- */

static pctl_block_input inputs[2] = {{0, 0, {{1}}}, {0, 2, {{2}}}};
static pctl_block_statement items[3];

static void make_block(pctl_block_statements *s)
{
	memset(items, 0, sizeof(items));
	for (uint8_t i = 0; i < 3; i++) {
		items[i].job[0] = (uint8_t)(i + 1);
		items[i].request[5] = i;
		items[i].groups[0] = 4;
		items[i].groups[1] = items[i].groups[2] = 1;
		items[i].gas = 1000u + i;
		items[i].complete = i != 1;
		items[i].error = i == 1 ? "dependency failed: \"x\" \xc3\xa9" : "";
		items[i].inputs = inputs;
		items[i].n_inputs = i == 1 ? 0 : 2;
		items[i].has_uniform = i == 2;
		items[i].n_output = i == 1 ? 0 : 64;
	}
	*s = (pctl_block_statements){.height = 7, .items = items, .n = 3};
}

static char *write_block(const char *dir, uint64_t *n)
{
	static const pctl_block_fact facts[1] = {{"driver", "a \"quoted\" \x01 one"}};
	static const pctl_block_standing standings[2] = {{2, {.kind = PCTL_EVIDENCE_VERIFIED}},
							 {1, {.kind = PCTL_EVIDENCE_NONE}}};
	const pctl_block_signing who = {.version = "0",
					.executor = "cpu:0",
					.facts = facts,
					.standings = standings,
					.n_facts = 1,
					.n_standings = 2};
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_block_statements s;
	pctl_signer *signer;
	char path[200], *read;

	make_block(&s);
	assert_int_equal(pctl_block_statements_text(&s, &quiet, &text), PCTL_OK);
	assert_int_equal(pctl_signer_open(dir, &quiet, &signer), PCTL_OK);
	assert_int_equal(pctl_block_receipt_write(dir, text.data, text.n, &who, signer, &quiet),
			 PCTL_OK);
	pctl_signer_close(signer);
	pctl_str_drop(&text);
	snprintf(path, sizeof(path), "%s/7.receipt", dir);
	assert_int_equal(pctl_file_read(path, 1u << 20, &quiet, &read, n), PCTL_OK);
	unlink(path);
	snprintf(path, sizeof(path), "%s/signing.pem", dir);
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
	return read;
}

static void every_byte_changed(char *text, uint64_t n)
{
	pctl_block_receipt *r;

	for (uint64_t i = 0; i < n; i++) {
		const char was = text[i];

		text[i] = (char)(was ^ (1 << (i % 7)));
		assert_int_not_equal(pctl_block_receipt_parse("r", text, n, &quiet, &r), PCTL_OK);
		assert_null(r);
		text[i] = was;
	}
	for (uint64_t k = 0; k < n; k += 17)
		assert_int_not_equal(pctl_block_receipt_parse("r", text, k, &quiet, &r), PCTL_OK);
	assert_int_equal(pctl_block_receipt_parse("r", text, n, &quiet, &r), PCTL_OK);
	pctl_block_receipt_destroy(r);
}

static void test_receipt__blocks_and_their_jobs(void **state)
{
	char dir[64] = "/tmp/pctl-receipt-XXXXXX", *text;
	pctl_str_buf one = PCTL_STR_BUF_INIT;
	pctl_block_receipt *block, *job;
	const uint8_t absent[PCTL_DIGEST_BYTES] = {9};
	uint64_t n;

	(void)state;
	assert_non_null(mkdtemp(dir));
	text = write_block(dir, &n);
	every_byte_changed(text, n);
	assert_int_equal(pctl_block_receipt_parse("r", text, n, &quiet, &block), PCTL_OK);
	assert_int_equal(block->all.n, 3);
	assert_string_equal(block->all.items[1].error, items[1].error);
	assert_string_equal(block->who.facts[0].value, "a \"quoted\" \x01 one");
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(pctl_block_receipt_export(block, items[i].job, &quiet, &one),
				 PCTL_OK);
		assert_int_equal(pctl_block_receipt_parse("j", one.data, one.n, &quiet, &job),
				 PCTL_OK);
		assert_true(job->is_job);
		assert_int_equal(pctl_block_receipt_evidence(job, job->index).kind,
				 i < 2 ? PCTL_EVIDENCE_VERIFIED : PCTL_EVIDENCE_NONE);
		assert_int_equal(job->job.gas, 1000 + i);
		pctl_block_receipt_destroy(job);
		every_byte_changed(one.data, one.n);
		pctl_str_drop(&one);
	}
	pctl_diag_list *said = pctl_diag_list_create();
	assert_int_not_equal(
		pctl_block_receipt_export(block, absent, pctl_diag_list_call(said), &one), PCTL_OK);
	assert_int_equal(pctl_diag_list_at(said, 0)->code, PC5921_BLOCK_NO_JOB);
	pctl_diag_list_destroy(said);
	pctl_block_receipt_destroy(block);
	free(text);
}

/* Well signed, and no receipt: with the key of a forger, or signed for something else. */
static void test_receipt__signed_and_none(void **state)
{
	static const char *const texts[] = {
		"receipt : { schema = \"pipectl.receipt/77\"; };\n",
		"certificate : { schema = \"pipectl.certificate/2\"; };\n",
	};
	char dir[64] = "/tmp/pctl-receipt-XXXXXX", path[96];
	pctl_signer *signer;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(pctl_signer_open(dir, &quiet, &signer), PCTL_OK);
	for (size_t i = 0; i < 2 * sizeof(texts) / sizeof(texts[0]); i++) {
		pctl_str_buf text = PCTL_STR_BUF_INIT;
		pctl_diag_list *said = pctl_diag_list_create();
		const pctl_call *call = pctl_diag_list_call(said);
		pctl_block_receipt *block = NULL;
		pctl_receipt *run = NULL;

		pctl_str_add(&text, texts[i / 2]);
		assert_int_equal(pctl_signer_seal(signer, &text, &quiet), PCTL_OK);
		if (i % 2)
			assert_int_equal(
				pctl_block_receipt_parse("r", text.data, text.n, call, &block),
				PCTL_E_INVALID);
		else
			assert_int_equal(pctl_receipt_parse("r", text.data, text.n, call, &run),
					 PCTL_E_INVALID);
		assert_null(block);
		assert_null(run);
		assert_int_equal(pctl_diag_list_at(said, 0)->code, PC5901_RECEIPT_FORM);
		pctl_diag_list_destroy(said);
		pctl_str_drop(&text);
	}
	pctl_signer_close(signer);
	snprintf(path, sizeof(path), "%s/signing.pem", dir);
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
}

static void refused(pctl_block_statements *s)
{
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_str_buf text = PCTL_STR_BUF_INIT;

	assert_int_equal(pctl_block_statements_text(s, pctl_diag_list_call(said), &text),
			 PCTL_E_INVALID);
	assert_int_equal(pctl_diag_list_at(said, 0)->code, PC5920_BLOCK_STATEMENT);
	pctl_diag_list_destroy(said);
	pctl_str_drop(&text);
}

static void test_receipt__malformed_statements(void **state)
{
	pctl_block_statements s, back;
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_arena *arena = pctl_arena_create();

	(void)state;
	make_block(&s);
	assert_int_equal(pctl_block_statements_text(&s, &quiet, &text), PCTL_OK);
	assert_int_equal(pctl_block_statements_read("f", text.data, text.n, arena, &quiet, &back),
			 PCTL_OK);
	assert_int_equal(back.n, 3);
	for (size_t i = 0; i < text.n; i++) {
		/* The height is nobody's leaf: a block's receipt has it signed. */
		if (i == strlen(PCTL_BLOCK_RECEIPTS_SCHEMA "\nheight "))
			continue;
		text.data[i] ^= 2;
		if (pctl_block_statements_read("f", text.data, text.n, arena, &quiet, &back) ==
		    PCTL_OK)
			fail_msg("byte %zu may change", i);
		text.data[i] ^= 2;
	}
	pctl_str_drop(&text);
	pctl_arena_destroy(arena);
	memcpy(items[2].job, items[0].job, PCTL_DIGEST_BYTES);
	refused(&s);
	make_block(&s);
	items[0].error = "but complete";
	refused(&s);
	make_block(&s);
	items[1].error = "two\nlines";
	refused(&s);
	make_block(&s);
	inputs[1].binding = 0;
	refused(&s);
	inputs[1].binding = 2;
}

/* ---- traces ------------------------------------------------------------------------------- */

#define A "0 a 0 1 y=4:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define B "0 a 0 - y=4:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define C "0 a - - y=4:6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
#define D "0 a - - y=4:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void test_receipt__traces_compared(void **state)
{
	const char *const fine[3] = {A, B, C}, *const coarse[1] = {C}, *const wrong[1] = {D};
	const char *const bad[] = {"", "0 a 0 1", "0 a - 1 y=4:00", "00 a - -", "0 a - - ", A " "};
	pctl_arena *arena = pctl_arena_create();
	uint32_t x, y, n;
	pctl_run_trace f, c, w;

	(void)state;
	assert_true(pctl_run_trace_read(&f, arena, fine, 3));
	assert_true(pctl_run_trace_read(&c, arena, coarse, 1));
	assert_true(pctl_run_trace_read(&w, arena, wrong, 1));
	assert_false(pctl_receipt_compare(&f, &c, PCTL_TRACE_JOBS, &x, &y, &n));
	assert_int_equal(n, 1);
	assert_true(pctl_receipt_compare(&f, &w, PCTL_TRACE_JOBS, &x, &y, &n));
	assert_int_equal(x, 2);
	assert_int_equal(y, 0);
	assert_true(pctl_receipt_compare(&f, &c, PCTL_TRACE_STEPS, &x, &y, &n));
	assert_int_equal(x, 0);
	for (uint32_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (i != 1)
			assert_false(pctl_run_trace_read(&w, arena, &bad[i], 1));
	w.n = PCTL_TRACE_LEAVES_MAX;
	pctl_diag_list *said = pctl_diag_list_create();
	const pctl_run_observation view = {.n_ports = 0};

	assert_int_equal(pctl_run_trace_add(&w, &view, pctl_diag_list_call(said)), PCTL_E_LIMIT);
	assert_int_equal(pctl_diag_list_at(said, 0)->code, PC5905_RECEIPT_TRACE_LARGE);
	pctl_diag_list_destroy(said);
	pctl_arena_destroy(arena);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_receipt__tree_of_rfc_6962), PCTL_TEST(test_receipt__proofs),
		PCTL_TEST(test_receipt__blocks_and_their_jobs),
		PCTL_TEST(test_receipt__signed_and_none),
		PCTL_TEST(test_receipt__malformed_statements),
		PCTL_TEST(test_receipt__traces_compared))
