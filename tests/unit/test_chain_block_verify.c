/* Verifying and replaying blocks: what is right passes, every planted fault is found, and by name. */
#include "test_chain_block.h"

#include "chain/replay/replay.h"
#include "chain/replay/verify.h"

/* Three blocks: jobs that depend on each other, a cancelled one, an empty block. */
static void three_blocks(rig *r)
{
	char a[65], b[65], c[65], ra[80];
	pctl_request cancel = {.kind = PCTL_MSG_CANCEL, .as.cancel = {.sender = "alice"}};

	execute(r, &(submit){.groups = 8}, a);
	execute(r, &(submit){.input = reference(a, ra)}, b);
	execute(r, &(submit){.groups = 2}, c);
	cancel.as.cancel.job_id = c;
	take(r, &cancel);
	end(r);
	execute(r, &(submit){.second = reference(b, ra), .after = a}, c);
	ledger(r, "alice", PCTL_LEDGER_TRANSFER, "bob", 77);
	end(r);
	end(r);
}

static pctl_status verify(rig *r, uint64_t from, uint64_t to, const pctl_executor *reference_)
{
	const pctl_verify_options o = {.from = from,
				       .to = to,
				       .executor = &r->executor,
				       .reference = reference_,
				       .kernels = r->kernels,
				       .deep = 1};
	pctl_replay_report report;

	return pctl_verify_blocks(r->chain, &o, &call, &report);
}

static void test_chain_block_verify__what_is_right_passes(void **state)
{
	rig r;
	char id[65];
	pctl_replay_report report;
	pctl_verify_options o = {.from = 2, .to = 3, .deep = 1};

	(void)state;
	rig_begin(&r, 0, 0);
	three_blocks(&r);
	o.executor = &r.executor;
	o.kernels = r.kernels;
	OK(pctl_verify_blocks(r.chain, &o, &call, &report));
	assert_int_equal(report.blocks, 3);
	assert_int_equal(report.executed, 1);
	OK(verify(&r, 1, 3, NULL));
	/* Messages of the open block are no difference. */
	execute(&r, &(submit){.groups = 1}, id);
	credit(&r, "carol", 5);
	OK(verify(&r, 1, 3, NULL));
	OK(verify(&r, 1, 1, NULL));
	FAILS(verify(&r, 1, 4, NULL), PC5852_BLOCK_UNKNOWN);
	FAILS(verify(&r, 0, 1, NULL), PC5852_BLOCK_UNKNOWN);
	rig_end(&r);
}

static void test_chain_block_verify__a_wrong_device_is_found(void **state)
{
	rig r;
	fake right = {.n_calls = 0};
	const pctl_executor reference_ = {
		.run = fake_run, .describe = fake_describe, .ctx = &right};

	(void)state;
	rig_begin(&r, 0, 0);
	three_blocks(&r);
	r.fake = (fake){.flip = 2, .at = 5};
	FAILS(verify(&r, 1, 3, &reference_), PC5855_BLOCK_OUTPUT);
	assert_non_null(strstr(last_text, "block 1: job "));
	assert_non_null(strstr(last_text, "the first byte that differs is 5: "));
	assert_non_null(strstr(last_text, "the reference sides with the record"));
	r.fake = (fake){.flip = 0};
	OK(verify(&r, 1, 3, NULL));
	rig_end(&r);
	/* The device was wrong when the block was made. */
	rig_begin(&r, 0, 0);
	r.fake = (fake){.flip = 1, .at = 31};
	three_blocks(&r);
	r.fake = (fake){.flip = 0};
	FAILS(verify(&r, 1, 3, &reference_), PC5855_BLOCK_OUTPUT);
	assert_non_null(strstr(last_text, "differs is 31: "));
	assert_non_null(strstr(last_text, "sides with what was computed now"));
	rig_end(&r);
}

static void test_chain_block_verify__changed_rows_are_found(void **state)
{
	static const struct {
		const char *plant, *undo, *where;
	} rows[] = {
		{"UPDATE accounts SET balance = x'0000000000000001' WHERE name = 'bob'",
		 "UPDATE accounts SET balance = x'000000000000004d' WHERE name = 'bob'",
		 "table accounts"},
		{"UPDATE jobs SET gas_used = x'0000000000000001' WHERE position = 1", NULL,
		 "table jobs"},
		{"DELETE FROM edges WHERE id = (SELECT max(id) FROM edges)", NULL, "table edges"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rig r;

		rig_begin(&r, 0, 0);
		three_blocks(&r);
		sql(&r, rows[i].plant);
		FAILS(verify(&r, 3, 3, NULL), PC5857_BLOCK_STATE);
		assert_non_null(strstr(last_text, rows[i].where));
		if (rows[i].undo != NULL) {
			sql(&r, rows[i].undo);
			sql(&r, "DELETE FROM touched");
			OK(verify(&r, 3, 3, NULL));
		}
		rig_end(&r);
	}
}

static void test_chain_block_verify__a_missing_blob_is_found(void **state)
{
	rig r;
	pctl_store *other;
	pctl_blob blob;
	pctl_cid cid;

	(void)state;
	rig_begin(&r, 0, 0);
	three_blocks(&r);
	rig_close(&r);
	/* All but the input lies in another store. */
	OK(pctl_store_open_memory(&call, &other));
	assert_true(pctl_cid_parse(r.shader, &cid));
	OK(pctl_store_get(r.store, &cid, &call, &blob));
	OK(pctl_store_put(other, blob.data, blob.n_bytes, &call, NULL));
	pctl_blob_release(&blob);
	pctl_store_close(r.store);
	r.store = other;
	rig_open(&r, 1);
	assert_int_not_equal(verify(&r, 1, 3, NULL), PCTL_OK);
	rig_end(&r);
}

/* ---- replaying ---------------------------------------------------------------------------- */

/* A history of the blocks of r in which `change` did something to the record of one. */
typedef struct planted {
	uint64_t height;
	void (*change)(pctl_block_record *record);
	int keep_root; /* the root is left as it was */
} planted;

static void copy_block(rig *r, const pctl_history *h, uint64_t height, const planted *p,
		       pctl_gitlog *log, pctl_gitlog_oid *tip)
{
	pctl_block_record record;
	pctl_block_header header;
	pctl_gitlog_file files[PCTL_BLOCK_FILES];
	pctl_gitlog_oid commit;
	char text[PCTL_BLOCK_COMMIT_TEXT_SIZE];

	OK(pctl_block_record_read(pctl_chain_log(r->chain), pctl_history_commit(h, height), &call,
				  &record, &header));
	if (height == p->height) {
		p->change(&record);
		if (!p->keep_root)
			OK(pctl_block_record_close(&record, &header, &call));
	}
	OK(pctl_gitlog_write(log, height == 1 ? NULL : tip, files,
			     pctl_block_record_files(&record, files),
			     pctl_block_commit_text(&header, text), header.clock, &call, &commit));
	*tip = commit;
	pctl_block_record_clear(&record);
}

/* Replay such a history into a new chain in memory. */
static pctl_status replay(rig *r, const planted *p, int recorded, uint8_t root[PCTL_DIGEST_BYTES])
{
	pctl_history *h, *again;
	pctl_gitlog_oid tip;
	pctl_gitlog *log;
	pctl_block_row last;
	rig twin = {.in_memory = 1, .kernels = r->kernels};
	const pctl_chain_replay_options o = {
		.to = 3, .run_from = recorded ? UINT64_MAX : 1, .fetch = r->store};
	pctl_replay_report report;
	char dir[128], command[160];
	pctl_status status;

	snprintf(dir, sizeof(dir), "%s/other", r->dir);
	OK(pctl_gitlog_open(dir, &call, &log));
	OK(pctl_blocks_last(pctl_cursor(r->chain), &call, &last));
	OK(pctl_history_open(pctl_chain_log(r->chain), &last.commit, &call, &h));
	assert_int_equal(pctl_history_last(h), 3);
	for (uint64_t height = 1; height <= 3; height++)
		copy_block(r, h, height, p, log, &tip);
	pctl_history_close(h);
	OK(pctl_store_open_memory(&call, &twin.store));
	OK(pctl_history_open(log, &tip, &call, &again));
	status = pctl_history_genesis(again, &call, &twin.genesis);
	twin.executor = r->executor;
	if (status == PCTL_OK) {
		rig_open(&twin, !recorded);
		status = pctl_replay(twin.chain, again, &o, &call, &report);
	}
	if (status == PCTL_OK)
		state_root(&twin, root);
	rig_close(&twin);
	pctl_history_close(again);
	pctl_gitlog_close(log);
	pctl_store_close(twin.store);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	assert_int_equal(system(command), 0);
	return status;
}

static void test_chain_block_verify__a_replay_gives_the_state(void **state)
{
	const planted none = {.height = 0};
	uint8_t want[PCTL_DIGEST_BYTES], got[PCTL_DIGEST_BYTES];
	rig r;

	(void)state;
	rig_begin(&r, 0, 0);
	three_blocks(&r);
	state_root(&r, want);
	OK(replay(&r, &none, 1, got));
	assert_memory_equal(want, got, sizeof(want));
	OK(replay(&r, &none, 0, got));
	assert_memory_equal(want, got, sizeof(want));
	r.fake = (fake){.flip = 1};
	FAILS(replay(&r, &none, 0, got), PC5856_BLOCK_DIFFERS);
	rig_end(&r);
}

static char *find(pctl_block_record *record, uint32_t file, const char *text)
{
	char *at = strstr(record->text[file], text);

	assert_non_null(at);
	return at;
}

static void flip_result(pctl_block_record *record)
{
	char *at = find(record, PCTL_BLOCK_RESULTS, "bafkrei") + 20;

	*at = *at == 'a' ? 'b' : 'a';
}

static void cut_lines(pctl_block_record *record, uint32_t file, uint64_t skip)
{
	char *text = record->text[file];

	while (skip-- > 0)
		text = strchr(text, '\n') + 1;
	memmove(text, strchr(text, '\n') + 1, strlen(strchr(text, '\n')));
	record->n_bytes[file] = strlen(record->text[file]);
}

static void drop_edge(pctl_block_record *record)
{
	cut_lines(record, PCTL_BLOCK_EDGES, 1);
}

static void drop_credit(pctl_block_record *record)
{
	cut_lines(record, PCTL_BLOCK_MESSAGES, 0);
}

static void drop_result(pctl_block_record *record)
{
	cut_lines(record, PCTL_BLOCK_RESULTS, 0);
}

static void one_unit(pctl_block_record *record)
{
	char *at = find(record, PCTL_BLOCK_BALANCES, "account alice ") + 14;

	at[strcspn(at, " ") - 1] ^= 1;
}

static void swap_files(pctl_block_record *record)
{
	char *text = record->text[PCTL_BLOCK_EDGES];
	const uint64_t n = record->n_bytes[PCTL_BLOCK_EDGES];

	record->text[PCTL_BLOCK_EDGES] = record->text[PCTL_BLOCK_BALANCES];
	record->n_bytes[PCTL_BLOCK_EDGES] = record->n_bytes[PCTL_BLOCK_BALANCES];
	record->text[PCTL_BLOCK_BALANCES] = text;
	record->n_bytes[PCTL_BLOCK_BALANCES] = n;
}

static void upper_case(pctl_block_record *record)
{
	*find(record, PCTL_BLOCK_MESSAGES, "message") = 'M';
}

static void no_line_end(pctl_block_record *record)
{
	record->n_bytes[PCTL_BLOCK_MANIFEST]--;
}

static void other_genesis(pctl_block_record *record)
{
	*find(record, PCTL_BLOCK_GENESIS, "weight_") = 'W';
}

static void other_height(pctl_block_record *record)
{
	*strchr(record->text[PCTL_BLOCK_HEADER], '1') = '2';
}

static void test_chain_block_verify__changed_records_are_found(void **state)
{
	static const struct {
		planted planted;
		uint32_t code;
	} faults[] = {
		{{1, flip_result, 0}, PC5856_BLOCK_DIFFERS},
		{{1, flip_result, 1}, PC5854_BLOCK_ROOT},
		{{1, drop_edge, 0}, PC5856_BLOCK_DIFFERS},
		{{1, drop_credit, 0}, PC5862_BLOCK_MESSAGE},
		{{1, drop_result, 0}, PC5863_BLOCK_KNOWN},
		{{2, one_unit, 0}, PC5856_BLOCK_DIFFERS},
		{{2, swap_files, 0}, PC5856_BLOCK_DIFFERS},
		{{1, upper_case, 0}, PC5853_BLOCK_RECORD},
		{{1, no_line_end, 0}, PC5853_BLOCK_RECORD},
		{{1, other_genesis, 0}, PC5853_BLOCK_RECORD},
		{{3, other_height, 1}, PC5853_BLOCK_RECORD},
	};
	uint8_t root[PCTL_DIGEST_BYTES];
	rig r;

	(void)state;
	rig_begin(&r, 0, 0);
	three_blocks(&r);
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {

		FAILS(replay(&r, &faults[i].planted, 1, root), faults[i].code);
	}
	rig_end(&r);
}

/* ---- refusals that are charged ------------------------------------------------------------ */

#define CHARGE (sizeof(shader_text) - 1) /* of one gas a byte */

/* A job whose gas limit is above the charge and below its price. */
static pctl_status refuse(rig *r, const char *input)
{
	const pctl_msg_binding binding = {0, 2, r->input};
	const pctl_request q = {.kind = PCTL_MSG_EXECUTE,
				.as.execute = {.sender = "alice",
					       .shader_cid = r->shader,
					       .input = input,
					       .dispatch = {64, 1, 1},
					       .gas_limit = CHARGE + 1,
					       .bindings = &binding,
					       .n_bindings = 1,
					       .uniform_cid = "",
					       .output_bytes = 256,
					       .entry = ""}};

	return pctl_chain_apply(r->chain, &q, &call, NULL);
}

static void blocks_with_a_refusal(rig *r)
{
	char a[65], ra[80], id[65];

	execute(r, &(submit){.groups = 8}, a);
	end(r);
	FAILS(refuse(r, reference(a, ra)), PC5818_JOB_GAS);
	execute(r, &(submit){.input = ra}, id);
	end(r);
	end(r);
}

static void other_charge(pctl_block_record *record)
{
	char *at = strchr(find(record, PCTL_BLOCK_RESULTS, " failed ") + 8, ' ');

	at[-1] ^= 1;
}

static void other_reason(pctl_block_record *record)
{
	*strchr(find(record, PCTL_BLOCK_RESULTS, "refused: PC5818"), '8') = '9';
}

static void other_receipt(pctl_block_record *record)
{
	char digits[32];

	snprintf(digits, sizeof(digits), " gas %zu", CHARGE);
	find(record, PCTL_BLOCK_RECEIPTS, digits)[5] ^= 1;
}

/* The message of the refused job is the first of its block. */
static void drop_refused(pctl_block_record *record)
{
	cut_lines(record, PCTL_BLOCK_MESSAGES, 0);
}

static void earns_more(pctl_block_record *record)
{
	char *at = find(record, PCTL_BLOCK_BALANCES, "treasury ") + 9;

	at[strcspn(at, "\n") - 1] ^= 1;
}

static void test_chain_block_verify__a_refusal_is_charged_again(void **state)
{
	static const struct {
		planted planted;
		uint32_t code;
	} faults[] = {
		{{2, other_charge, 0}, PC5856_BLOCK_DIFFERS},
		{{2, other_charge, 1}, PC5854_BLOCK_ROOT},
		{{2, other_reason, 0}, PC5856_BLOCK_DIFFERS},
		{{2, other_receipt, 0}, PC5856_BLOCK_DIFFERS},
		{{2, drop_refused, 0}, PC5862_BLOCK_MESSAGE},
		{{2, earns_more, 0}, PC5856_BLOCK_DIFFERS},
	};
	const planted none = {.height = 0};
	uint8_t want[PCTL_DIGEST_BYTES], got[PCTL_DIGEST_BYTES];
	char id[65];
	rig r;

	(void)state;
	rig_begin_under(&r, 2, 0, 0);
	blocks_with_a_refusal(&r);
	state_root(&r, want);
	OK(replay(&r, &none, 1, got));
	assert_memory_equal(want, got, sizeof(want));
	OK(replay(&r, &none, 0, got));
	assert_memory_equal(want, got, sizeof(want));
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		FAILS(replay(&r, &faults[i].planted, 1, got), faults[i].code);
	OK(verify(&r, 1, 3, NULL));
	/* One of the open block is no difference. */
	FAILS(refuse(&r, r.input), PC5818_JOB_GAS);
	execute(&r, &(submit){.groups = 1}, id);
	OK(verify(&r, 1, 3, NULL));
	rig_end(&r);
	/* A record that holds such a message under version 1 holds one too many. */
	rig_begin(&r, 0, 1);
	FAILS(refuse(&r, r.input), PC5818_JOB_GAS);
	end(&r);
	rig_end(&r);
}

static void test_chain_block_verify__bytes_that_are_nowhere(void **state)
{
	const planted none = {.height = 0};
	uint8_t root[PCTL_DIGEST_BYTES];
	pctl_store *all;
	rig r;

	(void)state;
	rig_begin(&r, 0, 0);
	three_blocks(&r);
	all = r.store;
	OK(pctl_store_open_memory(&call, &r.store));
	FAILS(replay(&r, &none, 1, root), PC5862_BLOCK_MESSAGE);
	{
		/* The input alone: then the outputs are missed. */
		pctl_cid cid;
		pctl_blob blob;

		assert_true(pctl_cid_parse(r.input, &cid));
		OK(pctl_store_get(all, &cid, &call, &blob));
		OK(pctl_store_put(r.store, blob.data, blob.n_bytes, &call, NULL));
		pctl_blob_release(&blob);
	}
	FAILS(replay(&r, &none, 1, root), PC5859_BLOCK_FETCH);
	/* Run again, they are made. */
	OK(replay(&r, &none, 0, root));
	pctl_store_close(r.store);
	r.store = all;
	rig_end(&r);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_block_verify__what_is_right_passes),
		PCTL_TEST(test_chain_block_verify__a_wrong_device_is_found),
		PCTL_TEST(test_chain_block_verify__changed_rows_are_found),
		PCTL_TEST(test_chain_block_verify__a_missing_blob_is_found),
		PCTL_TEST(test_chain_block_verify__a_replay_gives_the_state),
		PCTL_TEST(test_chain_block_verify__changed_records_are_found),
		PCTL_TEST(test_chain_block_verify__a_refusal_is_charged_again),
		PCTL_TEST(test_chain_block_verify__bytes_that_are_nowhere))
