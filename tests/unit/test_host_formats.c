/* The bytes of records: what is written today is what the hand-written writers wrote, which made the files of tests/golden/records;
 * the certificates of certs/ are read, and reading takes only what writing gives. With PIPECTL_BLESS set the files are made. */
#include "host/installation.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

#include "evidence/certify/certificate.h"
#include "evidence/receipt/block_receipt.h"
#include "evidence/receipt/dispute.h"
#include "evidence/receipt/receipt.h"
#include "foundation/base/file.h"
#include "main.h"
#include "runtime/device/limits_record.h"
#include "runtime/device/optional.h"
#include "runtime/device/profile.h"

static const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
static char dir[64];
static pctl_signer *signer;

static int open_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/pctl-formats-XXXXXX");
	assert_non_null(mkdtemp(dir));
	return pctl_signer_open(dir, &quiet, &signer) != PCTL_OK;
}

static int close_dir(void **state)
{
	char command[128];

	(void)state;
	pctl_signer_close(signer);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

/* A text without the line of its signature, whose key is another one every time. */
static void is_golden(const char *name, const char *text, size_t n)
{
	const char *seal = memmem(text, n, "signature : {", 13);
	pctl_str_buf plain = PCTL_STR_BUF_INIT;
	char path[300], *want;
	uint64_t n_want;

	pctl_str_add_n(&plain, text, seal == NULL ? n : (size_t)(seal - text));
	if (seal != NULL) {
		const char *end = memchr(seal, '\n', n - (size_t)(seal - text));

		assert_non_null(end);
		pctl_str_add_n(&plain, end + 1, n - (size_t)(end + 1 - text));
	}
	snprintf(path, sizeof(path), PIPECTL_SOURCE_DIR "/tests/golden/records/%s.cfg", name);
	if (getenv("PIPECTL_BLESS") != NULL)
		assert_int_equal(pctl_file_write(path, plain.data, plain.n, 0, &quiet), PCTL_OK);
	assert_int_equal(pctl_file_read(path, 1u << 20, &quiet, &want, &n_want), PCTL_OK);
	assert_string_equal(plain.data, want);
	assert_int_equal(plain.n, n_want);
	free(want);
	pctl_str_drop(&plain);
}

static void file_is_golden(const char *name, const char *path)
{
	char *text;
	uint64_t n;

	assert_int_equal(pctl_file_read(path, 1u << 20, &quiet, &text, &n), PCTL_OK);
	is_golden(name, text, n);
	free(text);
}

/* ---- devices ------------------------------------------------------------------------------ */

static void test_formats__profile(void **state)
{
	pctl_profile_record *r = calloc(1, sizeof(*r)), *back = calloc(1, sizeof(*back));

	(void)state;
	assert_non_null(r);
	assert_non_null(back);
	strcpy(r->device, "a \"quoted\\ device\"\n\xc3\xa9");
	strcpy(r->driver, "");
	for (uint32_t i = 0; i < PCTL_N_NATIVE; i++)
		r->profile.native[i] = (uint8_t)(i % 4);
	for (uint32_t i = 0; i < PCTL_N_FACTS; i++)
		r->facts[i] = (uint8_t)(3 - i % 4);
	strcpy(r->native_witness[1].text, "x / y: x=0x1 gave 0x0, not 0x2");
	r->cases = UINT64_MAX;
	memset(r->files, 'a', 64);
	assert_int_equal(pctl_profile_key(r, &quiet), PCTL_OK);
	assert_int_equal(pctl_profile_write(r, dir, signer, &quiet), PCTL_OK);
	file_is_golden("profile-bare", r->path);
	assert_int_equal(pctl_profile_read(r->path, &quiet, back), PCTL_OK);
	for (uint32_t i = 0; i < 3; i++) {
		snprintf(r->identity[i].key, sizeof(r->identity[i].key), "fact-%u", i);
		snprintf(r->identity[i].value, sizeof(r->identity[i].value), "\"%u\" \\ \x01", i);
	}
	r->n_identity = 3;
	assert_int_equal(pctl_profile_key(r, &quiet), PCTL_OK);
	assert_int_equal(pctl_profile_write(r, dir, signer, &quiet), PCTL_OK);
	file_is_golden("profile", r->path);
	assert_int_equal(pctl_profile_read(r->path, &quiet, back), PCTL_OK);
	assert_int_equal(back->n_identity, 3);
	assert_int_equal(back->cases, UINT64_MAX);
	assert_memory_equal(&back->profile, &r->profile, sizeof(r->profile));
	assert_memory_equal(back->facts, r->facts, sizeof(r->facts));
	assert_string_equal(back->files, r->files);
	free(r);
	free(back);
}

static void test_formats__limits(void **state)
{
	pctl_limits_record *r = calloc(1, sizeof(*r)), *back = calloc(1, sizeof(*back));

	(void)state;
	assert_non_null(r);
	assert_non_null(back);
	for (uint32_t e = 0; e < PCTL_N_EXTENTS; e++)
		r->limits.most[e] = e == 0 ? 0 : UINT64_C(1) << (4 * e % 60);
	r->slow = 5;
	r->ms = 61234;
	r->searched = 1;
	r->key.digest[3] = 9;
	assert_int_equal(pctl_limits_write(r, "a \"device\"\t\x7f", dir, signer, &quiet), PCTL_OK);
	file_is_golden("limits", r->path);
	assert_int_equal(pctl_limits_read(r->path, &quiet, back), PCTL_OK);
	assert_memory_equal(&back->limits, &r->limits, sizeof(r->limits));
	assert_int_equal(back->slow, 5);
	assert_int_equal(back->searched, 1);
	assert_int_equal(back->ms, 61234);
	free(r);
	free(back);
}

static void test_formats__optional(void **state)
{
	pctl_optional_record *r = calloc(1, sizeof(*r)), *back = calloc(1, sizeof(*back));

	(void)state;
	assert_non_null(r);
	assert_non_null(back);
	for (uint32_t i = 0; i < PCTL_N_OPTIONAL; i++)
		r->verdict[i] = (uint8_t)(i % 4);
	strcpy(r->device, "a \"device\"\t\x7f");
	r->key.digest[3] = 9;
	assert_int_equal(pctl_optional_write(r, dir, signer, &quiet), PCTL_OK);
	file_is_golden("optional", r->path);
	assert_int_equal(pctl_optional_read(r->path, &quiet, back), PCTL_OK);
	assert_memory_equal(back->verdict, r->verdict, sizeof(r->verdict));
	assert_int_equal(pctl_optional_asked(back, 4), PCTL_SUBGROUP_KINDS & ~8u);
	assert_int_equal(pctl_optional_exact(back, 4), PCTL_SUBGROUP_VOTE);
	assert_int_equal(pctl_optional_of_size(128), PCTL_OPTIONAL_TILES - PCTL_OPTIONAL_KINDS);
	assert_int_equal(pctl_optional_tiles_exact(back), 0x4444444);
	assert_int_equal(pctl_optional_tiles_asked(back), 0x7777777);
	assert_true(pctl_optional_lost(back));
	free(r);
	free(back);
}

/* ---- receipts ----------------------------------------------------------------------------- */

static void test_formats__receipt(void **state)
{
	static const pctl_receipt_data data[2] = {{"a \"b\" \\c", "u32[4,2]", {{1}}, 32},
						  {"\xc3\xa9", "", {{2}}, 0}};
	static const pctl_receipt_pair pairs[2] = {{"k", "v"}, {"\x01", "\""}};
	static const pctl_cid kernels[2] = {{{3}}, {{4}}};
	static const pctl_receipt_device devices[2] = {
		{"cpu:0", "cpu", "cpu", "0", "aa", "", NULL, 0, 0},
		{"vulkan:0", "x", "vulkan", "1", "bb", "p", pairs, 2, 0}};
	pctl_receipt_job jobs[2] = {
		{"one", "op 1", NULL, 0, PCTL_RECEIPT_NO_DEVICE, 0, {.kind = 0}, 1, 0},
		{"two",
		 "shader",
		 kernels,
		 2,
		 1,
		 0,
		 {.kind = PCTL_EVIDENCE_QUORUM, .k = 2, .n = 3},
		 7,
		 9}};
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_receipt *r;

	(void)state;
	assert_int_equal(pctl_receipt_create(&quiet, &r), PCTL_OK);
	assert_int_equal(pctl_receipt_text(r, signer, &quiet, &text), PCTL_OK);
	is_golden("receipt-empty", text.data, text.n);
	pctl_str_drop(&text);
	r->semantics = "1";
	r->pipeline = "p.pipe.cfg";
	r->max_class = "exact";
	r->native = r->executed = 1;
	r->texts = r->inputs = r->outputs = data;
	r->n_texts = 2;
	r->n_inputs = 1;
	r->n_outputs = 2;
	r->params = r->libraries = pairs;
	r->n_params = 2;
	r->n_libraries = 1;
	r->jobs = jobs;
	r->n_jobs = 2;
	r->schedule = "s";
	r->schedule_id = "id";
	r->gas = UINT64_MAX;
	r->level = 1;
	r->trace.root[0] = 0xab;
	r->evidence = (pctl_evidence){.kind = PCTL_EVIDENCE_VERIFIED};
	r->version = "0.1";
	r->made = "now";
	r->policy = "p";
	r->repository = "git";
	r->state = "dirty";
	r->memo[31] = 1;
	r->devices = devices;
	r->n_devices = 2;
	pctl_receipt_head(r, &text);
	is_golden("receipt", text.data, text.n);
	pctl_str_drop(&text);
	assert_int_equal(pctl_receipt_question(r, &quiet, &text), PCTL_OK);
	is_golden("receipt-question", text.data, text.n);
	pctl_str_drop(&text);
	pctl_receipt_destroy(r);
}

static void write_block(uint32_t n, const pctl_block_signing *who, const char *name)
{
	static pctl_block_statement items[3];
	static const pctl_block_input input = {0, 2, {{2}}};
	pctl_block_statements s = {.height = 7, .items = items, .n = n};
	pctl_str_buf text = PCTL_STR_BUF_INIT, one = PCTL_STR_BUF_INIT;
	pctl_block_receipt *r;
	char path[200], *read;
	uint64_t n_read;

	for (uint8_t i = 0; i < n; i++)
		items[i] =
			(pctl_block_statement){.job = {i},
					       .groups = {1, 2, 3},
					       .complete = i != 1,
					       .error = i == 1 ? "it \"failed\" \\ \xc3\xa9" : "",
					       .inputs = &input,
					       .n_inputs = i != 1,
					       .n_output = i == 1 ? 0 : 64};
	assert_int_equal(pctl_block_statements_text(&s, &quiet, &text), PCTL_OK);
	assert_int_equal(pctl_block_receipt_write(dir, text.data, text.n, who, signer, &quiet),
			 PCTL_OK);
	pctl_str_drop(&text);
	snprintf(path, sizeof(path), "%s/7.receipt", dir);
	file_is_golden(name, path);
	assert_int_equal(pctl_file_read(path, 1u << 20, &quiet, &read, &n_read), PCTL_OK);
	assert_int_equal(pctl_block_receipt_parse("r", read, n_read, &quiet, &r), PCTL_OK);
	free(read);
	if (n != 0) {
		assert_int_equal(pctl_block_receipt_export(r, items[1].job, &quiet, &one), PCTL_OK);
		is_golden("block-job", one.data, one.n);
		pctl_block_receipt_destroy(r);
		assert_int_equal(pctl_block_receipt_parse("r", one.data, one.n, &quiet, &r),
				 PCTL_OK);
	}
	pctl_str_drop(&one);
	pctl_block_receipt_destroy(r);
}

static void test_formats__block(void **state)
{
	static const pctl_block_fact facts[2] = {{"driver", "a \"quoted\" \x01 one"}, {"b", ""}};
	static const pctl_block_standing standings[2] = {{2, {.kind = PCTL_EVIDENCE_VERIFIED}},
							 {1, {.kind = PCTL_EVIDENCE_NONE}}};
	pctl_block_signing who = {
		.previous = {1}, .state = {2}, .version = "0", .executor = "cpu:0"};

	(void)state;
	write_block(0, &who, "block-empty");
	who.facts = facts;
	who.n_facts = 2;
	who.standings = standings;
	who.n_standings = 2;
	write_block(3, &who, "block");
}

static void test_formats__dispute(void **state)
{
	const pctl_dispute_report r = {
		.kind = "run",
		.job = "a \"job\"",
		.place = "round 1",
		.reference = "cpu:0",
		.correct = "00",
		.side = {{{{1}}, "s", "x", "", 0}, {{{2}}, "t", "", "\xc3\xa9", 1}},
		.n_sides = 2};
	pctl_str_buf text = PCTL_STR_BUF_INIT;

	(void)state;
	assert_int_equal(pctl_dispute_report_text(&r, signer, &quiet, &text), PCTL_OK);
	is_golden("dispute", text.data, text.n);
	pctl_str_drop(&text);
}

/* ---- certificates ------------------------------------------------------------------------- */

static void test_formats__certificates_of_this_tree(void **state)
{
	static const char root[] = PIPECTL_SOURCE_DIR "/certs/certificates";
	DIR *d = opendir(root);
	struct dirent *e;
	uint32_t n = 0;

	(void)state;
	assert_non_null(d);
	while ((e = readdir(d)) != NULL) {
		pctl_str_buf text = PCTL_STR_BUF_INIT;
		pctl_certificate *c;
		char path[600], *file;
		uint64_t n_file;

		if (strstr(e->d_name, ".certificate.cfg") == NULL)
			continue;
		snprintf(path, sizeof(path), "%s/%s", root, e->d_name);
		assert_int_equal(pctl_certificate_read(path, &quiet, &c), PCTL_OK);
		assert_int_equal(pctl_certificate_text(c, &text, &quiet), PCTL_OK);
		assert_int_equal(pctl_file_read(path, 8u << 20, &quiet, &file, &n_file), PCTL_OK);
		assert_true(text.n < n_file && memcmp(text.data, file, text.n) == 0);
		assert_memory_equal(file + text.n, "signature : {", 13);
		free(file);
		pctl_str_drop(&text);
		pctl_certificate_destroy(c);
		n++;
	}
	closedir(d);
	assert_true(n >= 10);
}

/* What no certificate of certs/ has: a failure, blocks that were not run, a confirmation, kept counterexamples. */
static void test_formats__certificate_of_failures(void **state)
{
	static const pctl_certificate_pair pairs[2] = {{"device", "a \"b\" \\"}, {"k", ""}};
	static const char *const regressions[2] = {"add.f32\tlaw\t0x1 0x2", "x"};
	static uint8_t digests[2][PCTL_DIGEST_BYTES] = {{1}, {2}};
	static pctl_certificate_op op = {.op = "add 1", .cause = "fails", .level = 0};
	pctl_certificate_unit units[2] = {{.subject = "add.f32",
					   .op = "add 1",
					   .name = "n",
					   .domain = "all \"x\"",
					   .program = "",
					   .value = "",
					   .cause = "the device was lost",
					   .kind = 1,
					   .level = 1,
					   .flags = 2,
					   .planned = UINT64_MAX,
					   .n_blocks = 3,
					   .cases = 10,
					   .failures = 1,
					   .skipped = 2,
					   .not_run = 1,
					   .strip = 2,
					   .n_strips = 2,
					   .failed = 1,
					   .digests = digests},
					  {.subject = "add.f32",
					   .op = "add 1",
					   .name = "m",
					   .domain = "",
					   .program = "p",
					   .value = "1.5",
					   .cause = "",
					   .kind = 2,
					   .level = 1,
					   .n_blocks = 1}};
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_certificate *c;

	(void)state;
	assert_int_equal(pctl_certificate_create(&quiet, &c), PCTL_OK);
	c->version = c->device = c->driver = c->selector = c->profile = "";
	c->backend = c->backend_version = c->backend_sha256 = c->driver_files = "b";
	c->semantics = c->suite = c->kit = c->host = c->made = "m";
	c->cause = "add 1: fails";
	c->shapes = "";
	c->params.level = 1;
	assert_int_equal(pctl_certificate_text(c, &text, &quiet), PCTL_OK);
	is_golden("certificate-empty", text.data, text.n);
	pctl_str_drop(&text);
	strcpy(units[0].first.inputs, "0x1 0x2");
	strcpy(units[0].first.got, "0x3");
	strcpy(units[0].first.want, "0x4");
	strcpy(units[0].first.law, "x + y");
	units[0].first.minimal = 1;
	c->identity = c->libraries = pairs;
	c->n_identity = 2;
	c->n_libraries = 1;
	c->regressions = regressions;
	c->n_regressions = 2;
	c->late = pairs;
	c->n_late = 2;
	c->params.ops = "add";
	c->params.pairs = 1;
	c->shapes = "0123456789abcdef";
	c->confirmed = (pctl_certificate_confirmed){"aa", "bb", 1, 2, 3, 4};
	c->units = units;
	c->n_units = 2;
	c->ops = &op;
	c->n_ops = 1;
	c->n_blocks = 4;
	c->not_run = 1;
	assert_int_equal(pctl_certificate_text(c, &text, &quiet), PCTL_OK);
	is_golden("certificate", text.data, text.n);
	pctl_str_drop(&text);
	pctl_certificate_destroy(c);
}

static void test_formats__remove_the_folder(void **state)
{
	assert_int_equal(close_dir(state), 0);
}

static void test_formats__make_a_folder(void **state)
{
	assert_int_equal(open_dir(state), 0);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_formats__make_a_folder), PCTL_TEST(test_formats__profile),
		PCTL_TEST(test_formats__limits), PCTL_TEST(test_formats__optional),
		PCTL_TEST(test_formats__receipt), PCTL_TEST(test_formats__block),
		PCTL_TEST(test_formats__dispute), PCTL_TEST(test_formats__certificate_of_failures),
		PCTL_TEST(test_formats__certificates_of_this_tree),
		PCTL_TEST(test_formats__remove_the_folder))
