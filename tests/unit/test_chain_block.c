/* Ending blocks: which jobs a block takes, in which order they run, what they leave, and that trouble leaves nothing. */
#include "test_chain_block.h"

static void test_chain_block__jobs_run_by_clock(void **state)
{
	rig r;
	char a[65], b[65], c[65], d[65], ra[80], rc[80];
	pctl_block_row row;
	pctl_chain_job ja, jb, jc, jd;

	(void)state;
	rig_begin(&r, 0, 0);
	assert_int_equal(execute(&r, &(submit){.groups = 8}, a), 1);
	assert_int_equal(execute(&r, &(submit){.input = reference(a, ra)}, c), 2);
	assert_int_equal(execute(&r, &(submit){.second = reference(c, rc), .parent = a}, d), 3);
	assert_int_equal(execute(&r, &(submit){.groups = 4}, b), 1);
	row = end(&r);
	assert_int_equal(row.height, 1);
	assert_int_equal(row.first_clock, 1);
	assert_int_equal(row.clock, 3);
	assert_int_equal(row.complete, 4);
	assert_int_equal(row.failed + row.deferred, 0);
	assert_string_equal(row.executor, "node");
	assert_int_equal(r.fake.n_calls, 3);
	assert_int_equal(r.fake.tasks[0], 2);
	assert_int_equal(r.fake.tasks[1], 1);
	assert_int_equal(r.fake.tasks[2], 1);
	ja = job(&r, a);
	jb = job(&r, b);
	jc = job(&r, c);
	jd = job(&r, d);
	assert_int_equal(ja.status, PCTL_JOB_COMPLETE);
	assert_int_equal(jd.status, PCTL_JOB_COMPLETE);
	assert_true(jc.gas > ja.gas);
	assert_true(row.gas == ja.gas + jb.gas + jc.gas + jd.gas);
	assert_true(pctl_store_has(r.store, &jd.output));
	{
		/* c reads a's output and the rig's numbers, as the fake has it. */
		pctl_blob from, numbers, made;
		pctl_cid input;
		uint8_t want[32];

		assert_true(pctl_cid_parse(r.input, &input));
		OK(pctl_store_get(r.store, &ja.output, &call, &from));
		OK(pctl_store_get(r.store, &input, &call, &numbers));
		OK(pctl_store_get(r.store, &jc.output, &call, &made));
		const pctl_task_binding bound[2] = {{0, 0, NULL, from.data, from.n_bytes},
						    {0, 2, NULL, numbers.data, numbers.n_bytes}};
		const pctl_task task = {.n_bindings = 2, .bindings = bound, .n_output = 32};

		fake_output(&task, want);
		assert_int_equal(made.n_bytes, 32);
		assert_memory_equal(made.data, want, 32);
		pctl_blob_release(&from);
		pctl_blob_release(&numbers);
		pctl_blob_release(&made);
	}
	OK(pctl_ledger_check(pctl_cursor(r.chain), &call));
	rig_end(&r);
}

static void test_chain_block__the_budget_defers_in_order(void **state)
{
	rig r;
	char id[5][65];
	uint64_t gas;
	pctl_block_row row;

	(void)state;
	rig_begin(&r, 0, 1);
	execute(&r, &(submit){.groups = 8}, id[0]);
	gas = job(&r, id[0]).gas;
	rig_end(&r);
	rig_begin(&r, 2 * gas + 1, 1);
	for (int i = 0; i < 5; i++)
		execute(&r, &(submit){.groups = i == 3 ? 1 : 8}, id[i]);
	row = end(&r);
	/* The fourth would fit but stands behind the third. */
	assert_int_equal(row.complete, 2);
	assert_int_equal(row.deferred, 3);
	assert_true(row.gas == 2 * gas);
	assert_int_equal(job(&r, id[2]).status, PCTL_JOB_PENDING);
	assert_true(job(&r, id[2]).gas_used == 0);
	row = end(&r);
	assert_int_equal(row.complete, 2);
	assert_int_equal(row.deferred, 1);
	assert_int_equal(job(&r, id[3]).ended, 2);
	row = end(&r);
	assert_int_equal(row.complete, 1);
	assert_int_equal(row.deferred, 0);
	assert_int_equal(job(&r, id[4]).clock, 1);
	OK(pctl_ledger_check(pctl_cursor(r.chain), &call));
	rig_end(&r);
}

static void test_chain_block__jobs_depend_across_blocks(void **state)
{
	rig r;
	char a[65], b[65], c[65], ra[80];
	pctl_block_row row;

	(void)state;
	rig_begin(&r, 0, 1);
	execute(&r, &(submit){.groups = 8}, a);
	row = end(&r);
	assert_int_equal(row.clock, 1);
	assert_int_equal(execute(&r, &(submit){.input = reference(a, ra)}, b), 2);
	assert_int_equal(execute(&r, &(submit){.parent_clock = 2, .after = a}, c), 3);
	row = end(&r);
	assert_int_equal(row.first_clock, 2);
	assert_int_equal(row.clock, 3);
	assert_int_equal(row.complete, 2);
	assert_int_equal(r.fake.n_calls, 3);
	rig_end(&r);
}

static void test_chain_block__a_cancelled_job_fails_those_behind_it(void **state)
{
	rig r;
	char a[65], b[65], c[65], d[65], e[65], ra[80], rb[80], want[256];
	pctl_request cancel = {.kind = PCTL_MSG_CANCEL, .as.cancel = {.sender = "alice"}};
	pctl_block_row row;

	(void)state;
	rig_begin(&r, 0, 1);
	execute(&r, &(submit){.groups = 8}, a);
	execute(&r, &(submit){.input = reference(a, ra)}, b);
	execute(&r, &(submit){.second = reference(b, rb)}, c);
	execute(&r, &(submit){.parent = c}, d);
	execute(&r, &(submit){.after = b}, e);
	cancel.as.cancel.job_id = a;
	take(&r, &cancel);
	row = end(&r);
	assert_int_equal(row.failed, 4);
	assert_int_equal(row.complete, 1);
	assert_string_equal(job(&r, a).error, "cancelled by its sender");
	snprintf(want, sizeof(want), "dependency failed: job %s: cancelled by its sender", a);
	assert_string_equal(job(&r, b).error, want);
	assert_string_equal(job(&r, c).error, want);
	assert_string_equal(job(&r, d).error, want);
	assert_int_equal(job(&r, e).status, PCTL_JOB_COMPLETE);
	assert_true(row.gas == job(&r, e).gas);
	OK(pctl_ledger_check(pctl_cursor(r.chain), &call));
	/* And in a block after that. */
	execute(&r, &(submit){.parent = e}, b);
	row = end(&r);
	assert_int_equal(row.complete, 1);
	rig_end(&r);
}

static void change(rig *r, uint64_t at, const char *name, const char *value)
{
	const pctl_msg_param_change c = {name, value};
	pctl_request q = {.kind = PCTL_MSG_PARAMS,
			  .as.params = {.sender = "alice",
					.op = PCTL_PARAMS_PROPOSE,
					.height = at,
					.changes = &c,
					.n_changes = 1}};
	pctl_response answer;
	uint64_t proposal;

	ledger(r, "alice", PCTL_LEDGER_BOND, "", 1000000);
	/* From version 2 of the rules on it proposes who had a bond when the block began. */
	if (r->genesis.values[PCTL_PARAM_RULES] != 1)
		(void)end(r);
	OK(pctl_chain_apply(r->chain, &q, &call, &answer));
	proposal = answer.as.ack.proposal;
	pctl_response_destroy(&answer);
	q.as.params = (pctl_msg_params){
		.sender = "alice", .op = PCTL_PARAMS_VOTE, .proposal = proposal, .yes = 1};
	take(r, &q);
	q.as.params =
		(pctl_msg_params){.sender = "alice", .op = PCTL_PARAMS_APPLY, .proposal = proposal};
	take(r, &q);
}

static void test_chain_block__what_parameters_no_longer_allow_fails(void **state)
{
	rig r;
	char a[65], b[65], c[65], ra[80];
	char text[32];
	uint64_t gas;
	pctl_block_row row;

	(void)state;
	rig_begin(&r, 0, 1);
	execute(&r, &(submit){.groups = 8}, a);
	gas = job(&r, a).gas;
	rig_end(&r);
	/* Both blocks: budget for one job; from block 2 on for less than one. */
	rig_begin(&r, gas, 1);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)gas - 1);
	change(&r, 2, "throughput", text);
	execute(&r, &(submit){.groups = 8}, a);
	execute(&r, &(submit){.groups = 8}, b);
	execute(&r, &(submit){.groups = 1}, c);
	row = end(&r);
	assert_int_equal(row.complete, 1);
	assert_int_equal(row.deferred, 2);
	row = end(&r);
	assert_int_equal(row.failed + row.complete + row.deferred, 2);
	assert_int_equal(job(&r, b).status, PCTL_JOB_FAILED);
	assert_non_null(strstr(job(&r, b).error, "above the block's budget"));
	rig_end(&r);
	rig_begin(&r, 2 * gas, 1);
	change(&r, 2, "output_bytes_max", "16");
	execute(&r, &(submit){.groups = 8}, a);
	execute(&r, &(submit){.groups = 8}, b);
	execute(&r, &(submit){.groups = 8}, c);
	row = end(&r);
	assert_int_equal(row.deferred, 1);
	row = end(&r);
	assert_int_equal(row.failed, 1);
	assert_non_null(strstr(job(&r, c).error, "above the 16 allowed"));
	(void)ra;
	rig_end(&r);
}

/* The same messages in two chains, one with a history. */
/* From version 2 of the rules on what fails so has cost every node a look at it; what fails because of another has not. */
static void test_chain_block__what_parameters_no_longer_allow_is_charged(void **state)
{
	rig r;
	char a[65], b[65], c[65], text[32], ref[80];
	uint64_t gas;
	pctl_ledger_account before, after;
	pctl_block_row row;

	(void)state;
	rig_begin_under(&r, 2, 0, 1);
	execute(&r, &(submit){.groups = 64}, a);
	gas = job(&r, a).gas;
	rig_end(&r);
	/* For one of them, with a parent or without. */
	assert_true(gas > 600);
	rig_begin_under(&r, 2, gas + 600, 1);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)gas - 1);
	change(&r, 3, "throughput", text);
	execute(&r, &(submit){.groups = 64}, a);
	execute(&r, &(submit){.groups = 64}, b);
	execute(&r, &(submit){.groups = 64, .input = reference(b, ref)}, c);
	row = end(&r);
	assert_int_equal(row.complete, 1);
	OK(pctl_ledger_account_read(pctl_cursor(r.chain), "alice", &call, &before));
	row = end(&r);
	assert_int_equal(row.failed, 2);
	assert_true(row.gas == 0);
	assert_non_null(strstr(job(&r, b).error, "above the block's budget"));
	assert_int_equal(job(&r, b).gas_used, sizeof(shader_text) - 1);
	assert_int_equal(job(&r, c).gas_used, 0);
	OK(pctl_ledger_account_read(pctl_cursor(r.chain), "alice", &call, &after));
	assert_true(before.balance + before.reserved - after.balance == sizeof(shader_text) - 1);
	assert_true(after.reserved == 0);
	OK(pctl_ledger_check(pctl_cursor(r.chain), &call));
	rig_end(&r);
}

/* Blobs are used by jobs until these have ended, and leave at the end of their last block. */
static void test_chain_block__blobs_stay_for_the_jobs_that_use_them(void **state)
{
	static const uint32_t numbers[8] = {9, 8, 7};
	const pctl_request blob = {.kind = PCTL_MSG_BLOB,
				   .as.blob = {"alice", (const uint8_t *)numbers, 32, 1}};
	char a[65], b[65], c[65], cid[PCTL_CID_TEXT_SIZE];
	uint64_t gas;
	rig r;

	(void)state;
	rig_begin_under(&r, 2, 0, 1);
	execute(&r, &(submit){.groups = 8}, a);
	gas = job(&r, a).gas;
	rig_end(&r);
	rig_begin_under(&r, 2, gas, 1); /* one job a block */
	put(&r, numbers, 32, cid);
	take(&r, &blob);
	execute(&r, &(submit){.groups = 8}, a);
	execute(&r, &(submit){.groups = 8}, b);
	execute(&r, &(submit){.groups = 8, .input = cid}, c);
	end(&r);
	end(&r);
	/* Its last height has passed, but a job waits for it. */
	assert_int_equal(job(&r, c).status, PCTL_JOB_PENDING);
	sql(&r, "CREATE TEMP TABLE seen (n INTEGER CHECK (n = 1))");
	sql(&r, "INSERT INTO seen SELECT count(*) FROM blobs WHERE bytes = 32");
	end(&r);
	assert_int_equal(job(&r, c).status, PCTL_JOB_COMPLETE);
	/* A dispute may ask for it for as long as bonds are on their way back: its last height was 2. */
	while (end(&r).height < 101)
		;
	sql(&r, "INSERT INTO seen SELECT count(*) FROM blobs WHERE bytes = 32");
	end(&r);
	sql(&r, "CREATE TEMP TABLE gone (n INTEGER CHECK (n = 0))");
	sql(&r, "INSERT INTO gone SELECT count(*) FROM blobs WHERE bytes = 32");
	rig_end(&r);
}

/* However long it waits: what nobody may name any more, and no dispute asks for, is there for the job in the queue that did, and goes with it. */
static void test_chain_block__a_blob_stays_for_a_job_that_waits_long(void **state)
{
	static const uint32_t numbers[8] = {9, 8, 7};
	const pctl_request blob = {.kind = PCTL_MSG_BLOB,
				   .as.blob = {"alice", (const uint8_t *)numbers, 32, 1}};
	char a[65], c[65], cid[PCTL_CID_TEXT_SIZE];
	pctl_params p;
	rig r;

	(void)state;
	rig_begin_under(&r, 2, 0, 1);
	execute(&r, &(submit){.groups = 8}, a);
	p = params_of(2, job(&r, a).gas); /* one job a block */
	rig_end(&r);
	p.values[PCTL_PARAM_UNBONDING_BLOCKS] = 1;
	rig_begin_with(&r, &p, 1);
	put(&r, numbers, 32, cid);
	take(&r, &blob);
	for (int i = 0; i < 3; i++)
		execute(&r, &(submit){.groups = 8}, a);
	execute(&r, &(submit){.groups = 8, .input = cid}, c);
	sql(&r, "CREATE TEMP TABLE seen (n INTEGER CHECK (n = 1))");
	for (int i = 0; i < 3; i++) {
		end(&r);
		assert_int_equal(job(&r, c).status, PCTL_JOB_PENDING);
		sql(&r, "INSERT INTO seen SELECT count(*) FROM blobs WHERE bytes = 32");
	}
	end(&r);
	assert_int_equal(job(&r, c).status, PCTL_JOB_COMPLETE);
	sql(&r, "CREATE TEMP TABLE gone (n INTEGER CHECK (n = 0))");
	sql(&r, "INSERT INTO gone SELECT count(*) FROM blobs WHERE bytes = 32");
	rig_end(&r);
}

static void test_chain_block__two_chains_agree(void **state)
{
	rig a, b;
	char id[65], other[65], ra[80];

	(void)state;
	rig_begin(&a, 0, 0);
	rig_begin(&b, 0, 1);
	for (int i = 0; i < 4; i++) {
		pctl_block_row x, y;
		uint8_t p[PCTL_DIGEST_BYTES], q[PCTL_DIGEST_BYTES];

		if (i % 2 == 0) {
			execute(&a, &(submit){.groups = 3}, id);
			execute(&b, &(submit){.groups = 3}, other);
			assert_string_equal(id, other);
			execute(&a, &(submit){.input = reference(id, ra)}, id);
			execute(&b, &(submit){.input = ra}, other);
		}
		x = end(&a);
		y = end(&b);
		assert_memory_equal(&x, &y, sizeof(x));
		state_root(&a, p);
		state_root(&b, q);
		assert_memory_equal(p, q, sizeof(p));
		if (i == 1) {
			/* The state goes on where it was left. */
			rig_close(&a);
			rig_open(&a, 1);
		}
	}
	rig_end(&a);
	rig_end(&b);
}

static void test_chain_block__trouble_changes_nothing(void **state)
{
	rig r, twin;
	char a[65], b[65], ra[80];
	uint8_t before[PCTL_DIGEST_BYTES], after[PCTL_DIGEST_BYTES];
	pctl_block_row x, y;

	(void)state;
	rig_begin(&r, 0, 0);
	rig_begin(&twin, 0, 1);
	execute(&r, &(submit){.groups = 8}, a);
	execute(&r, &(submit){.input = reference(a, ra)}, b);
	execute(&twin, &(submit){.groups = 8}, a);
	execute(&twin, &(submit){.input = ra}, b);
	state_root(&r, before);
	r.fake.trouble = PCTL_E_DEVICE_LOST;
	assert_int_equal(end_as(&r, "node"), PCTL_E_DEVICE_LOST);
	state_root(&r, after);
	assert_memory_equal(before, after, sizeof(before));
	r.fake.trouble = PCTL_OK;
	FAILS(end_as(&r, "Not A Name"), PC5710_LEDGER_NAME);
	state_root(&r, after);
	assert_memory_equal(before, after, sizeof(before));
	rig_close(&r);
	rig_open(&r, 0);
	FAILS(end_as(&r, "node"), PC5850_BLOCK_EXECUTOR);
	state_root(&r, after);
	assert_memory_equal(before, after, sizeof(before));
	rig_close(&r);
	rig_open(&r, 1);
	x = end(&r);
	y = end(&twin);
	assert_memory_equal(&x, &y, sizeof(x));
	/* Without jobs no executor is needed. */
	rig_close(&r);
	rig_open(&r, 0);
	x = end(&r);
	y = end(&twin);
	assert_memory_equal(&x, &y, sizeof(x));
	rig_end(&r);
	rig_end(&twin);
}

static void test_chain_block__heights_are_checked(void **state)
{
	rig r;
	pctl_block_row row;
	pctl_request q = {.kind = PCTL_MSG_BLOCK_END, .as.block = {.height = 2, .executor = ""}};
	pctl_response answer;

	(void)state;
	rig_begin(&r, 0, 1);
	FAILS(pctl_chain_end_block(r.chain, &q, &call, NULL), PC5851_BLOCK_HEIGHT);
	q.as.block.height = 1;
	OK(pctl_chain_end_block(r.chain, &q, &call, &answer));
	assert_int_equal(answer.as.block.height, 1);
	assert_int_equal(answer.as.block.n_jobs, 0);
	assert_int_equal(answer.as.block.messages, 2);
	assert_string_equal(answer.as.block.executor, "executor");
	pctl_response_destroy(&answer);
	FAILS(pctl_blocks_read(pctl_cursor(r.chain), 2, &call, &row), PC5852_BLOCK_UNKNOWN);
	rig_end(&r);
}

/* Who is paid answers with a bond, where the parameters ask for one. */
static void test_chain_block__an_executor_has_a_bond(void **state)
{
	rig r;

	(void)state;
	rig_begin(&r, 0, 1);
	sql(&r, "UPDATE params SET value = '50' WHERE name = 'executor_bond'");
	FAILS(end_as(&r, "node"), PC5714_LEDGER_ACCOUNT);
	credit(&r, "node", 100);
	ledger(&r, "node", PCTL_LEDGER_BOND, "", 49);
	FAILS(end_as(&r, "node"), PC5864_BLOCK_BOND);
	ledger(&r, "node", PCTL_LEDGER_BOND, "", 1);
	OK(end_as(&r, "node"));
	rig_end(&r);
}

/* A queue in which a job stands before one that it wants was not made by messages. */
static void test_chain_block__a_broken_queue_is_trouble(void **state)
{
	rig r;
	char a[65], b[65], ra[80];

	(void)state;
	rig_begin(&r, 0, 1);
	execute(&r, &(submit){.groups = 8}, a);
	execute(&r, &(submit){.input = reference(a, ra)}, b);
	sql(&r, "UPDATE jobs SET position = 7 WHERE position = 1");
	FAILS(end_as(&r, "node"), PC5860_BLOCK_ORDER);
	sql(&r, "UPDATE jobs SET position = 1, clock = 2 WHERE position = 7");
	FAILS(end_as(&r, "node"), PC5860_BLOCK_ORDER);
	rig_end(&r);
}

static void test_chain_block__a_ref_that_cannot_move_is_a_warning(void **state)
{
	rig r;
	char path[128];
	pctl_block_row row;

	(void)state;
	rig_begin(&r, 0, 0);
	snprintf(path, sizeof(path), "mkdir %s/blocks.git/refs/heads/blocks", r.dir);
	assert_int_equal(system(path), 0);
	last_code = 0;
	OK(end_as(&r, "node"));
	assert_int_equal(last_code, PC5861_BLOCK_POINT);
	OK(pctl_blocks_last(pctl_cursor(r.chain), &call, &row));
	assert_int_equal(row.height, 1);
	rig_end(&r);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_block__jobs_run_by_clock),
		PCTL_TEST(test_chain_block__an_executor_has_a_bond),
		PCTL_TEST(test_chain_block__the_budget_defers_in_order),
		PCTL_TEST(test_chain_block__jobs_depend_across_blocks),
		PCTL_TEST(test_chain_block__a_cancelled_job_fails_those_behind_it),
		PCTL_TEST(test_chain_block__what_parameters_no_longer_allow_fails),
		PCTL_TEST(test_chain_block__what_parameters_no_longer_allow_is_charged),
		PCTL_TEST(test_chain_block__blobs_stay_for_the_jobs_that_use_them),
		PCTL_TEST(test_chain_block__a_blob_stays_for_a_job_that_waits_long),
		PCTL_TEST(test_chain_block__two_chains_agree),
		PCTL_TEST(test_chain_block__trouble_changes_nothing),
		PCTL_TEST(test_chain_block__heights_are_checked),
		PCTL_TEST(test_chain_block__a_broken_queue_is_trouble),
		PCTL_TEST(test_chain_block__a_ref_that_cannot_move_is_a_warning))
