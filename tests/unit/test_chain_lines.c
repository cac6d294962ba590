/* The bytes of records that are lines, of all modules: what is written today is what the hand-written writers wrote, which made
 * the files of tests/golden/records; it is read back, and other spellings are refused. With PIPECTL_BLESS set the files are
 * made. */
#include "chain/blocks/block_record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "evidence/certify/certificate.h"
#include "evidence/certify/journal.h"
#include "evidence/certify/regressions.h"
#include "evidence/receipt/block_receipt.h"
#include "evidence/receipt/trace.h"
#include "foundation/base/file.h"
#include "main.h"
#include "runtime/cas/memo.h"

static const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
static char dir[64];

static void path_of(const char *name, char path[300])
{
	snprintf(path, 300, PIPECTL_SOURCE_DIR "/tests/golden/records/%s.txt", name);
}

static void is_golden(const char *name, const char *text, size_t n)
{
	char path[300], *want;
	uint64_t n_want;

	path_of(name, path);
	if (getenv("PIPECTL_BLESS") != NULL)
		assert_int_equal(pctl_file_write(path, text, n, 0, &quiet), PCTL_OK);
	assert_int_equal(pctl_file_read(path, 1u << 20, &quiet, &want, &n_want), PCTL_OK);
	assert_int_equal(n, n_want);
	assert_memory_equal(text, want, n);
	free(want);
}

static void file_is_golden(const char *name, const char *path)
{
	char *text;
	uint64_t n;

	assert_int_equal(pctl_file_read(path, 1u << 20, &quiet, &text, &n), PCTL_OK);
	is_golden(name, text, n);
	free(text);
}

static void begin(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/pctl-lines-XXXXXX");
	assert_non_null(mkdtemp(dir));
}

static void end(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

/* ---- what is remembered ------------------------------------------------------------------- */

static void test_lines__memo(void **state)
{
	static const char hex[] =
		"0707070707070707070707070707070707070707070707070707070707070707";
	pctl_memo_record *r = calloc(1, sizeof(*r)), *back = calloc(1, sizeof(*back));
	const uint8_t bytes[400] = {0};
	uint8_t key[PCTL_DIGEST_BYTES];
	pctl_store *store;
	pctl_memo *m;
	char path[300];

	(void)state;
	assert_non_null(r);
	assert_non_null(back);
	memset(key, 7, sizeof(key));
	snprintf(path, sizeof(path), "%s/07/%s", dir, hex);
	assert_int_equal(pctl_store_open_memory(&quiet, &store), PCTL_OK);
	assert_int_equal(pctl_memo_open(dir, store, &quiet, &m), PCTL_OK);
	assert_int_equal(pctl_memo_put(m, key, r, &quiet), PCTL_OK);
	file_is_golden("memo-empty", path);
	assert_true(pctl_memo_get(m, key, back));
	memset(r->host, 'a', 64);
	r->evidence = (pctl_evidence){.kind = PCTL_EVIDENCE_QUORUM, .k = 2, .n = 3, .plugins = 1};
	r->determinism = 3;
	r->proven = 1;
	r->memory = UINT64_MAX;
	r->gas = 12;
	r->size_gas = 5;
	r->wall_ns = UINT64_MAX - 1;
	r->kernels = 9;
	r->n_plugins = 3;
	strcpy(r->plugins[0].id, "wave");
	memset(r->plugins[0].sha256, 'b', 64);
	r->plugins[1] = (pctl_memo_plugin){.id = "vulkan",
					   .is_device = 1,
					   .index = 4,
					   .kind = PCTL_DEVICE_DISCRETE,
					   .profile = "bafkprofile",
					   .driver = "a driver, 1.0",
					   .name = "a device (of \xc3\xa9)"};
	r->plugins[2] = (pctl_memo_plugin){.id = "cpu", .is_device = 1};
	r->n_outputs = 2;
	for (uint32_t i = 0; i < 2; i++) {
		strcpy(r->outputs[i].name, i == 0 ? "y" : "z");
		strcpy(r->outputs[i].type, i == 0 ? "u32[10,10]" : "f64[]");
		r->outputs[i].n_bytes = i == 0 ? 400 : 8;
		assert_int_equal(pctl_store_put(store, bytes, r->outputs[i].n_bytes, &quiet,
						&r->outputs[i].cid),
				 PCTL_OK);
	}
	assert_int_equal(pctl_memo_put(m, key, r, &quiet), PCTL_OK);
	file_is_golden("memo", path);
	assert_true(pctl_memo_get(m, key, back));
	memcpy(r->key, key, sizeof(key));
	assert_memory_equal(back, r, sizeof(*r));
	pctl_memo_close(m);
	pctl_store_close(store);
	free(r);
	free(back);
}

static void test_lines__made(void **state)
{
	static const char hex[] =
		"0303030303030303030303030303030303030303030303030303030303030303";
	static const pctl_evidence how[] = {
		{.kind = PCTL_EVIDENCE_VERIFIED},
		{.kind = PCTL_EVIDENCE_QUORUM, .k = 3, .n = 3, .plugins = 2},
		{.kind = PCTL_EVIDENCE_CERTIFIED, .level = 2},
		{.kind = PCTL_EVIDENCE_NONE}};
	pctl_store *store;
	pctl_memo *m;
	pctl_evidence e;
	pctl_cid cid;
	char path[300];

	(void)state;
	memset(cid.digest, 3, sizeof(cid.digest));
	snprintf(path, sizeof(path), "%s/made/03/%s", dir, hex);
	assert_int_equal(pctl_store_open_memory(&quiet, &store), PCTL_OK);
	assert_int_equal(pctl_memo_open(dir, store, &quiet, &m), PCTL_OK);
	for (uint32_t i = 0; i < 4; i++) {
		uint8_t key[PCTL_DIGEST_BYTES] = {(uint8_t)i, 0x2a};

		assert_int_equal(pctl_memo_made_put(m, &cid, key, how[i], &quiet), PCTL_OK);
		assert_true(pctl_memo_made(m, &cid, &e));
		assert_int_equal(e.kind, how[i].kind);
	}
	file_is_golden("made", path);
	pctl_memo_close(m);
	pctl_store_close(store);
}

/* ---- proofs ------------------------------------------------------------------------------- */

static pctl_certificate *certificate(void)
{
	static const pctl_certificate_pair pairs[] = {{"fact", "its \"value\""}, {"other", ""}};
	static const char *const kept[] = {"op\ta + b\t0x1 0x2", "op\tparity\t0x3"};
	pctl_certificate *c;

	assert_int_equal(pctl_certificate_create(&quiet, &c), PCTL_OK);
	c->version = "1.2";
	c->device = "a device, of some kind";
	c->driver = "its driver";
	c->selector = "vulkan:0";
	c->profile = "bafkprofile";
	c->backend = "vulkan";
	c->backend_version = "0.1";
	c->backend_sha256 = "ab";
	c->driver_files = "cd";
	c->semantics = "pipectl.semantics/1";
	c->suite = "suite-1";
	c->kit = "probe-2";
	c->host = "ef";
	c->identity = pairs;
	c->n_identity = 2;
	c->libraries = pairs;
	c->n_libraries = 1;
	c->params.level = 2;
	c->params.track = PCTL_TRACK_FLOAT;
	c->params.ops = "wave.*";
	c->params.seed = UINT64_MAX;
	c->params.cases = 1000;
	c->params.programs = 7;
	c->params.pairs = 1;
	c->regressions = kept;
	c->n_regressions = 2;
	memset(c->plan, 0x5a, sizeof(c->plan));
	return c;
}

static void test_lines__head_of_a_proof(void **state)
{
	pctl_certificate *c = certificate(), *back;
	pctl_str_buf text = PCTL_STR_BUF_INIT, again = PCTL_STR_BUF_INIT;

	(void)state;
	assert_int_equal(pctl_certificate_head_text(c, &text, &quiet), PCTL_OK);
	is_golden("proof-head", text.data, text.n);
	assert_int_equal(pctl_certificate_create(&quiet, &back), PCTL_OK);
	assert_int_equal(pctl_certificate_head_read(back, "head", text.data, text.n, &quiet),
			 PCTL_OK);
	assert_int_equal(pctl_certificate_head_text(back, &again, &quiet), PCTL_OK);
	assert_string_equal(again.data, text.data);
	assert_string_equal(back->regressions[1], c->regressions[1]);
	assert_int_equal(back->params.track, PCTL_TRACK_FLOAT);
	pctl_str_drop(&text);
	pctl_str_drop(&again);
	c->params.ops = NULL;
	c->n_identity = c->n_libraries = c->n_regressions = 0;
	assert_int_equal(pctl_certificate_head_text(c, &text, &quiet), PCTL_OK);
	is_golden("proof-head-bare", text.data, text.n);
	pctl_certificate_destroy(back);
	assert_int_equal(pctl_certificate_create(&quiet, &back), PCTL_OK);
	assert_int_equal(pctl_certificate_head_read(back, "head", text.data, text.n, &quiet),
			 PCTL_OK);
	assert_null(back->params.ops);
	pctl_str_drop(&text);
	pctl_certificate_destroy(back);
	pctl_certificate_destroy(c);
}

static void test_lines__units(void **state)
{
	pctl_certificate_unit units[2] = {{.kind = PCTL_UNIT_PARITY,
					   .level = 1,
					   .track = 1,
					   .planned = 65536,
					   .n_blocks = 16,
					   .subject = "add@1 u32",
					   .op = "int.add@1",
					   .name = "pairs of u16",
					   .domain = "all pairs",
					   .program = "bafkprogram"},
					  {.kind = PCTL_UNIT_BASELINE,
					   .level = 4,
					   .track = 2,
					   .flags = 3,
					   .planned = UINT64_MAX,
					   .n_blocks = UINT64_MAX / 2,
					   .subject = "",
					   .op = "",
					   .name = "",
					   .domain = "",
					   .program = ""}};
	pctl_certificate *c = certificate(), *back;
	pctl_str_buf text = PCTL_STR_BUF_INIT, again = PCTL_STR_BUF_INIT;

	(void)state;
	c->units = units;
	c->n_units = 2;
	assert_int_equal(pctl_certificate_units_text(c, &text, &quiet), PCTL_OK);
	is_golden("units", text.data, text.n);
	assert_int_equal(pctl_certificate_create(&quiet, &back), PCTL_OK);
	assert_int_equal(pctl_certificate_units_read(back, "units", text.data, &quiet), PCTL_OK);
	assert_int_equal(back->n_units, 2);
	assert_string_equal(back->units[0].domain, "all pairs");
	assert_string_equal(back->units[1].cause, "");
	assert_int_equal(pctl_certificate_units_text(back, &again, &quiet), PCTL_OK);
	assert_string_equal(again.data, text.data);
	pctl_str_drop(&text);
	pctl_str_drop(&again);
	pctl_certificate_destroy(back);
	pctl_certificate_destroy(c);
}

static void test_lines__journal(void **state)
{
	const pctl_shard shard = {2, 3};
	pctl_journal_entry e[3] = {
		{.number = 1, .ran = 1, .block = {.cases = 256, .skipped = 4, .value = ""}},
		{.number = 4,
		 .ran = 1,
		 .block = {.cases = UINT64_MAX,
			   .failures = 1,
			   .value = "1e9 a\tsecond",
			   .first = {.inputs = "0x1 0x2",
				     .got = "0x3",
				     .want = "",
				     .law = "a + b",
				     .minimal = 1}}},
		{.number = 7, .cause = "lost\nand gone\xff"}};
	pctl_journal_entry back;
	pctl_journal_reader *r;
	pctl_shard read;
	pctl_journal *j;
	const char *head;
	char path[300];
	int at_end;

	(void)state;
	snprintf(path, sizeof(path), "%s/j", dir);
	assert_int_equal(pctl_journal_create(path, "schema\tx\nkey\tvalue\n", shard, &quiet, &j),
			 PCTL_OK);
	assert_int_equal(pctl_journal_shapes(j, 0x1234, &quiet), PCTL_OK);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(pctl_journal_append(j, &e[i], &quiet), PCTL_OK);
	assert_int_equal(pctl_journal_late(j, "libx.so", "gone\t", &quiet), PCTL_OK);
	assert_int_equal(pctl_journal_late(j, "liby.so", "aa", &quiet), PCTL_OK);
	assert_int_equal(pctl_journal_close(j, &quiet), PCTL_OK);
	file_is_golden("journal", path);
	assert_int_equal(pctl_journal_read(path, &quiet, &r, &head, &read), PCTL_OK);
	assert_string_equal(head, "schema\tx\nkey\tvalue\n");
	assert_true(read.index == 2 && read.count == 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(pctl_journal_next(r, &quiet, &back, &at_end), PCTL_OK);
		assert_false(at_end);
		assert_true(back.number == e[i].number && back.ran == e[i].ran);
		assert_true(back.block.failures == e[i].block.failures);
	}
	assert_string_equal(back.cause, "lost and gone ");
	assert_int_equal(pctl_journal_next(r, &quiet, &back, &at_end), PCTL_OK);
	assert_true(at_end);
	assert_string_equal(pctl_journal_seeds(r), "0000000000001234");
	assert_string_equal(pctl_journal_late_files(r), "libx.so\tgone \nliby.so\taa\n");
	pctl_journal_read_end(r);
}

static void test_lines__regressions(void **state)
{
	const pctl_counterexample x = {.inputs = "0x00000001 0xffffffff", .law = "a + b = b + a"};
	const pctl_counterexample none = {.law = "parity"};
	pctl_arena *arena = pctl_arena_create();
	const char *const *lines, *path;
	char own[300];
	uint32_t n;

	(void)state;
	snprintf(own, sizeof(own), "%s/kept.tsv", dir);
	path = own;
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(pctl_regressions_add(own, "int.add@1 u32", &x, &quiet), PCTL_OK);
	assert_int_equal(pctl_regressions_add(own, "int.add@1 u32", &none, &quiet), PCTL_OK);
	assert_int_equal(pctl_regressions_add(own, "int.sub@1 u32", &x, &quiet), PCTL_OK);
	file_is_golden("regressions", own);
	assert_int_equal(pctl_regressions_of(dir, &path, 1, arena, &quiet, &lines, &n), PCTL_OK);
	assert_int_equal(n, 2);
	snprintf(own, sizeof(own), "%s/regressions.tsv", dir);
	file_is_golden("regressions-of-a-proof", own);
	pctl_arena_destroy(arena);
}

/* ---- receipts ----------------------------------------------------------------------------- */

static void test_lines__statements(void **state)
{
	pctl_block_input inputs[2] = {{.group = 0, .binding = 2}, {.group = 1, .binding = 0}};
	pctl_block_statement items[3] = {
		{.job = {1},
		 .request = {2},
		 .program = {{3}},
		 .inputs = inputs,
		 .n_inputs = 2,
		 .has_uniform = 1,
		 .uniform = {4},
		 .groups = {1, 2, UINT32_MAX},
		 .complete = 1,
		 .output = {{5}},
		 .n_output = 4096,
		 .gas = UINT64_MAX,
		 .error = ""},
		{.job = {6}, .groups = {1, 1, 1}, .complete = 1, .error = ""},
		{.job = {7},
		 .groups = {0, 0, 0},
		 .error = "it took too long,  they say: \xc3\xa9"}};
	pctl_block_statements s = {.height = 9, .items = items, .n = 3}, back;
	pctl_arena *arena = pctl_arena_create();
	pctl_str_buf text = PCTL_STR_BUF_INIT;

	(void)state;
	assert_int_equal(pctl_block_statements_text(&s, &quiet, &text), PCTL_OK);
	is_golden("statements", text.data, text.n);
	assert_int_equal(pctl_block_statements_read("x", text.data, text.n, arena, &quiet, &back),
			 PCTL_OK);
	assert_true(back.n == 3 && back.height == 9);
	assert_memory_equal(back.root, s.root, sizeof(s.root));
	assert_string_equal(back.items[2].error, items[2].error);
	assert_memory_equal(back.items[0].inputs, inputs, sizeof(inputs));
	assert_true(back.items[0].has_uniform && back.items[0].n_output == 4096);
	pctl_str_drop(&text);
	s.n = 0;
	assert_int_equal(pctl_block_statements_text(&s, &quiet, &text), PCTL_OK);
	is_golden("statements-empty", text.data, text.n);
	assert_int_equal(pctl_block_statements_read("x", text.data, text.n, arena, &quiet, &back),
			 PCTL_OK);
	assert_int_equal(back.n, 0);
	pctl_str_drop(&text);
	pctl_arena_destroy(arena);
}

static void test_lines__trace(void **state)
{
	const pctl_trace_buffer buffers[2] = {{.name = "y", .n_bytes = 16, .cid = {{1}}},
					      {.name = "#7", .n_bytes = UINT64_MAX}};
	pctl_trace_leaf leaves[3] = {
		{.id = "a", .level = PCTL_TRACE_STEPS, .round = 2, .step = 1, .n_buffers = 2},
		{.id = "a", .job = 3, .level = PCTL_TRACE_ROUNDS, .round = UINT64_MAX},
		{.id = "b", .job = 4, .level = PCTL_TRACE_JOBS, .n_buffers = 1}};
	pctl_arena *arena = pctl_arena_create();
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	const char *lines[3];
	pctl_run_trace t;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		leaves[i].buffers = buffers;
		assert_true(pctl_trace_leaf_spell(arena, &leaves[i]));
		pctl_str_addf(&text, "%s\n", lines[i] = leaves[i].line);
	}
	is_golden("trace", text.data, text.n);
	assert_true(pctl_run_trace_read(&t, arena, lines, 3));
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(t.leaves[i].level == leaves[i].level &&
			    t.leaves[i].job == leaves[i].job);
		assert_true(t.leaves[i].round == leaves[i].round);
		assert_true(t.leaves[i].step == leaves[i].step);
		assert_int_equal(t.leaves[i].n_buffers, leaves[i].n_buffers);
	}
	assert_string_equal(t.leaves[0].buffers[1].name, "#7");
	pctl_str_drop(&text);
	pctl_arena_destroy(arena);
}

/* ---- blocks ------------------------------------------------------------------------------- */

static void put(pctl_block_record *r, uint32_t file, pctl_str_buf *s)
{
	r->n_bytes[file] = s->n;
	r->text[file] = s->n == 0 ? strdup("") : pctl_str_finish(s);
}

static void file_of_block(const pctl_block_record *r, uint32_t file)
{
	char name[64];

	snprintf(name, sizeof(name), "block-%s", pctl_block_file_name(file));
	is_golden(name, r->text[file], r->n_bytes[file]);
}

static void test_lines__block(void **state)
{
	static const uint8_t request[] = {PCTL_MSG_EXECUTE << 3 | 2, 0x00, 0xff};
	const pctl_block_result results[] = {{.id = {1},
					      .clock = 4,
					      .gas = 5,
					      .n_output = 64,
					      .status = PCTL_JOB_COMPLETE,
					      .output = {{6}},
					      .error = ""},
					     {.id = {2},
					      .clock = UINT64_MAX,
					      .status = PCTL_JOB_FAILED,
					      .error = "refused: PC3 for  a reason"}};
	const pctl_block_need needs[] = {{{{1}}, 7, 1, 0}, {{{2}}, UINT64_MAX, 0, 0}};
	pctl_block_header h = {.height = 3,
			       .first_clock = 2,
			       .clock = 9,
			       .budget = 100,
			       .complete = 1,
			       .failed = 1,
			       .deferred = 2,
			       .gas = 5,
			       .executor = "somebody",
			       .previous = {9}},
			  read;
	pctl_arena *arena = pctl_arena_create();
	pctl_block_record r = {.text = {NULL}};
	pctl_block_message *messages;
	pctl_block_result *ends;
	pctl_block_need *named;
	pctl_params params, params_read;
	uint32_t n;

	(void)state;
	pctl_params_default(&params);
	for (uint32_t file = PCTL_BLOCK_GENESIS; file < PCTL_BLOCK_FILES; file++) {
		pctl_str_buf s = PCTL_STR_BUF_INIT;

		for (uint32_t i = 0; i < 2; i++) {
			if (file == PCTL_BLOCK_MESSAGES)
				assert_int_equal(
					pctl_block_message_text(
						i == 0 ? PCTL_ORIGIN_MESSAGE : PCTL_ORIGIN_EPOCH,
						request, sizeof(request) - i, &quiet, &s),
					PCTL_OK);
			else if (file == PCTL_BLOCK_RESULTS)
				pctl_block_result_text(&results[i], &s);
			else if (file == PCTL_BLOCK_MANIFEST)
				pctl_block_need_text(&needs[i], &s);
			else if (file == PCTL_BLOCK_GENESIS && i == 0)
				pctl_block_genesis_text(&params, &s);
		}
		put(&r, file, &s);
	}
	assert_int_equal(pctl_block_record_close(&r, &h, &quiet), PCTL_OK);
	for (uint32_t file = 0; file < PCTL_BLOCK_FILES; file++)
		if (r.n_bytes[file] != 0)
			file_of_block(&r, file);
	assert_int_equal(pctl_block_read_header(&r, "b", &quiet, &read), PCTL_OK);
	assert_memory_equal(&read, &h, sizeof(h));
	/* with a tree: another root, and a line more, which is one of a tree or refused */
	pctl_digest_hex(h.previous, h.tree);
	assert_int_equal(pctl_block_record_close(&r, &h, &quiet), PCTL_OK);
	is_golden("block-header-tree", r.text[PCTL_BLOCK_HEADER], r.n_bytes[PCTL_BLOCK_HEADER]);
	assert_memory_not_equal(read.root, h.root, sizeof(h.root));
	assert_int_equal(pctl_block_read_header(&r, "b", &quiet, &read), PCTL_OK);
	assert_memory_equal(&read, &h, sizeof(h));
	strcpy(h.tree, "no root");
	assert_int_equal(pctl_block_record_close(&r, &h, &quiet), PCTL_OK);
	assert_int_equal(pctl_block_read_header(&r, "b", &quiet, &read), PCTL_E_STORE);
	assert_int_equal(pctl_block_read_genesis(&r, "b", &quiet, &params_read), PCTL_OK);
	assert_memory_equal(&params_read, &params, sizeof(params));
	assert_int_equal(pctl_block_read_messages(&r, "b", arena, &quiet, &messages, &n), PCTL_OK);
	assert_int_equal(n, 2);
	assert_int_equal(messages[1].n_bytes, 2);
	assert_memory_equal(messages[0].bytes, request, 3);
	assert_true(messages[0].origin == PCTL_ORIGIN_MESSAGE &&
		    messages[1].origin == PCTL_ORIGIN_EPOCH);
	assert_int_equal(pctl_block_read_results(&r, "b", arena, &quiet, &ends, &n), PCTL_OK);
	assert_int_equal(n, 2);
	assert_string_equal(ends[1].error, results[1].error);
	assert_true(ends[0].n_output == 64 && ends[0].status == PCTL_JOB_COMPLETE);
	assert_int_equal(pctl_block_read_manifest(&r, "b", arena, &quiet, &named, &n), PCTL_OK);
	assert_true(n == 2 && named[0].is_made && named[1].n_bytes == UINT64_MAX);
	pctl_block_record_clear(&r);
	pctl_arena_destroy(arena);
}

PCTL_TESTS_MAIN(PCTL_TEST(begin), PCTL_TEST(test_lines__memo), PCTL_TEST(test_lines__made),
		PCTL_TEST(test_lines__head_of_a_proof), PCTL_TEST(test_lines__units),
		PCTL_TEST(test_lines__journal), PCTL_TEST(test_lines__regressions),
		PCTL_TEST(test_lines__statements), PCTL_TEST(test_lines__trace),
		PCTL_TEST(test_lines__block), PCTL_TEST(end))
