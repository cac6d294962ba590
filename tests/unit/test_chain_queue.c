/* The queue, names and links under version 2 of the rules, beside what version 1 let happen. */
#include "test_chain_block.h"

#include "chain/epoch/epoch.h"
#include "chain/registry/registry.h"

static pctl_status try(rig *r, const pctl_request *q)
{
	return pctl_chain_apply(r->chain, q, &call, NULL);
}

/* A job of this many workgroups (one costs what any other does), tipped; its id. */
static pctl_status send(rig *r, const char *sender, uint32_t groups, uint64_t tip,
			const char *parent, char id[PCTL_JOB_TEXT_SIZE])
{
	const pctl_msg_binding binding = {0, 2, r->input};
	const pctl_request q = {.kind = PCTL_MSG_EXECUTE,
				.as.execute = {.sender = sender,
					       .shader_cid = r->shader,
					       .input = r->input,
					       .dispatch = {groups, 1, 1},
					       .gas_limit = 10000000,
					       .bindings = &binding,
					       .n_bindings = 1,
					       .uniform_cid = "",
					       .output_bytes = 4ull * groups,
					       .parent_jobs = &parent,
					       .n_parent_jobs = parent != NULL,
					       .entry = "",
					       .tip = tip}};
	pctl_response answer = {.kind = 0};
	const pctl_status status = pctl_chain_apply(r->chain, &q, &call, &answer);

	if (status == PCTL_OK)
		snprintf(id, PCTL_JOB_TEXT_SIZE, "%s", answer.as.execute.job_id);
	pctl_response_destroy(&answer);
	return status;
}

/* What jobs of 60 and of 1 workgroups cost. */
static void prices(uint64_t rules, uint64_t *large, uint64_t *small)
{
	char id[PCTL_JOB_TEXT_SIZE];
	rig r;

	rig_begin_under(&r, rules, 0, 1);
	OK(send(&r, "alice", 60, 0, NULL, id));
	*large = job(&r, id).gas;
	OK(send(&r, "alice", 1, 0, NULL, id));
	*small = job(&r, id).gas;
	rig_end(&r);
}

/* In how many blocks the last of the jobs ended: 8 large ones and then a small one. */
static uint64_t blocks_of_small(uint64_t rules, uint64_t budget)
{
	char id[PCTL_JOB_TEXT_SIZE];
	uint64_t ended;
	rig r;

	rig_begin_under(&r, rules, budget, 1);
	for (int i = 0; i < 8; i++)
		OK(send(&r, "alice", 60, 0, NULL, id));
	OK(send(&r, "alice", 1, 0, NULL, id));
	for (int i = 0; i < 9; i++)
		(void)end(&r);
	ended = job(&r, id).ended;
	rig_end(&r);
	return ended;
}

static void test_chain_queue__large_jobs_do_not_hold_a_small_one(void **state)
{
	uint64_t large, small;

	(void)state;
	prices(1, &large, &small);
	assert_true(small < large / 4);
	assert_int_equal(blocks_of_small(1, large + small), 8);
	prices(2, &large, &small);
	assert_true(small < large);
	assert_int_equal(blocks_of_small(2, large + small), 1);
	assert_int_equal(blocks_of_small(2, large + small - 1), 9); /* nothing of it fits beside */
}

static void test_chain_queue__tips_decide_and_parents_come_first(void **state)
{
	char a[PCTL_JOB_TEXT_SIZE], b[PCTL_JOB_TEXT_SIZE], c[PCTL_JOB_TEXT_SIZE],
		d[PCTL_JOB_TEXT_SIZE];
	pctl_ledger_report report;
	pctl_ledger_account who;
	uint64_t large, small, before;
	rig r;

	(void)state;
	prices(2, &large, &small);
	rig_begin_under(&r, 2, large + 500,
			1); /* one large job a block, with a parent or without */
	OK(send(&r, "alice", 60, 0, NULL, a));
	OK(send(&r, "alice", 60, 5, NULL, b));
	OK(send(&r, "alice", 60, 7, NULL, c));
	OK(send(&r, "alice", 60, 1000, a, d)); /* counts no more than a, which it waits for */
	assert_int_equal(end(&r).deferred, 3);
	assert_int_equal(job(&r, c).ended, 1);
	(void)end(&r);
	assert_int_equal(job(&r, b).ended, 2);
	(void)end(&r);
	assert_int_equal(job(&r, a).ended, 3);
	(void)end(&r);
	assert_int_equal(job(&r, d).ended, 4);
	/* What was tipped is paid beside the gas, and given back with it where the job never ran. */
	OK(pctl_ledger_block_report(pctl_cursor(r.chain), 4, &call, &report));
	assert_int_equal(report.charged, job(&r, d).gas + 1000);
	assert_int_equal(report.reserved, 10000000 + 1000);
	OK(pctl_ledger_account_read(pctl_cursor(r.chain), "alice", &call, &who));
	before = who.balance;
	OK(send(&r, "alice", 60, 77, NULL, a));
	{
		const pctl_request q = {.kind = PCTL_MSG_CANCEL, .as.cancel = {"alice", a}};

		take(&r, &q);
	}
	OK(pctl_ledger_account_read(pctl_cursor(r.chain), "alice", &call, &who));
	/* Cancelled it costs what a refused one does; the rest comes back with the block that says who gets it. */
	assert_int_equal(who.balance, before - 10000000 - 77);
	(void)end(&r);
	OK(pctl_ledger_account_read(pctl_cursor(r.chain), "alice", &call, &who));
	assert_int_equal(who.balance, before - job(&r, a).gas_used);
	assert_int_not_equal(job(&r, a).gas_used, 0);
	OK(pctl_ledger_block_report(pctl_cursor(r.chain), 5, &call, &report));
	assert_int_equal(report.charged, job(&r, a).gas_used);
	OK(pctl_ledger_check(pctl_cursor(r.chain), &call));
	FAILS(send(&r, "alice", 1, UINT64_MAX, NULL, a), PC5712_LEDGER_OVERFLOW);
	rig_end(&r);
	/* With room for both they are of one block, however much the one behind is tipped. */
	rig_begin_under(&r, 2, 0, 1);
	OK(send(&r, "alice", 60, 0, NULL, a));
	OK(send(&r, "alice", 60, 1000, a, d));
	(void)end(&r);
	assert_int_equal(job(&r, d).ended, 1);
	rig_end(&r);
	rig_begin_under(&r, 1, 0, 1);
	FAILS(send(&r, "alice", 1, 1, NULL, a), PC5896_RULES_EARLY);
	rig_end(&r);
}

/* Whoever is outbid for ever comes first after queue_age blocks. */
static void test_chain_queue__nobody_waits_for_ever(void **state)
{
	char old[PCTL_JOB_TEXT_SIZE], other[PCTL_JOB_TEXT_SIZE];
	uint64_t large, small;
	pctl_params p;
	rig r;

	(void)state;
	prices(2, &large, &small);
	p = params_of(2, large);
	p.values[PCTL_PARAM_QUEUE_AGE] = 3;
	rig_begin_with(&r, &p, 1);
	OK(send(&r, "alice", 60, 0, NULL, old));
	for (int i = 0; i < 6; i++) {
		OK(send(&r, "alice", 60, 100, NULL, other));
		(void)end(&r);
		if (i < 3)
			assert_int_equal(job(&r, other).ended, i + 1);
	}
	assert_int_equal(job(&r, old).ended, 4);
	rig_end(&r);
}

static void test_chain_queue__an_account_fills_no_queue(void **state)
{
	char id[PCTL_JOB_TEXT_SIZE];
	pctl_params p = params_of(2, 0);
	rig r;

	(void)state;
	p.values[PCTL_PARAM_QUEUE_JOBS] = 3;
	rig_begin_with(&r, &p, 1);
	credit(&r, "bob", 100000000);
	for (int i = 0; i < 3; i++)
		OK(send(&r, "alice", 1, 0, NULL, id));
	FAILS(send(&r, "alice", 1, 0, NULL, id), PC5897_JOB_QUEUE);
	OK(send(&r, "bob", 1, 0, NULL, id));
	(void)end(&r);
	OK(send(&r, "alice", 1, 0, NULL, id));
	rig_end(&r);
	rig_begin_under(&r, 1, 0, 1);
	for (int i = 0; i < 300; i++)
		OK(send(&r, "alice", 1, 0, NULL, id));
	rig_end(&r);
}

/* ---- names, links and the chain's own ------------------------------------------------------ */

static pctl_request name(const char *sender, uint32_t op, const char *alias, const char *cid)
{
	return (pctl_request){.kind = PCTL_MSG_NAME, .as.name = {sender, op, 0, alias, cid}};
}

static uint64_t balance(rig *r, const char *who)
{
	pctl_ledger_account a;

	return pctl_ledger_account_read(pctl_cursor(r->chain), who, NULL, &a) == PCTL_OK ? a.balance
											 : 0;
}

static void test_chain_queue__an_alias_is_paid_for_and_ends(void **state)
{
	pctl_params p = params_of(2, 0);
	pctl_request mine, theirs;
	pctl_ledger_totals t;
	pctl_alias_row row;
	rig r;

	(void)state;
	p.values[PCTL_PARAM_ALIAS_BLOCKS] = 2;
	p.values[PCTL_PARAM_ALIAS_COST] = 300;
	rig_begin_with(&r, &p, 1);
	credit(&r, "bob", 1000);
	credit(&r, "zoe", 299);
	mine = name("bob", PCTL_NAME_ALIAS, "sum", r.shader);
	theirs = name("zoe", PCTL_NAME_ALIAS, "sum", r.shader);
	FAILS(try(&r, &theirs), PC5713_LEDGER_FUNDS);
	take(&r, &mine);
	OK(pctl_ledger_totals_read(pctl_cursor(r.chain), &call, &t));
	assert_int_equal(t.treasury, 300);
	credit(&r, "zoe", 1000);
	FAILS(try(&r, &theirs), PC5821_ALIAS_OWNER);
	(void)end(&r);
	take(&r, &mine); /* paid for anew, at height 2: up to block 4 */
	assert_int_equal(balance(&r, "bob"), 400);
	(void)end(&r);
	(void)end(&r);
	FAILS(try(&r, &theirs), PC5821_ALIAS_OWNER);
	OK(pctl_aliases_at(pctl_cursor(r.chain), "sum", 4, &call, &row));
	FAILS(pctl_aliases_at(pctl_cursor(r.chain), "sum", 5, &call, &row), PC5822_ALIAS_UNKNOWN);
	(void)end(&r);
	take(&r, &theirs);
	OK(pctl_aliases_at(pctl_cursor(r.chain), "sum", 5, &call, &row));
	assert_string_equal(row.sender, "zoe");
	FAILS(try(&r, &mine), PC5821_ALIAS_OWNER);
	OK(pctl_ledger_check(pctl_cursor(r.chain), &call));
	rig_end(&r);
	/* Version 1: for nothing, and for ever. */
	rig_begin_under(&r, 1, 0, 1);
	mine = name("bob", PCTL_NAME_ALIAS, "sum", r.shader);
	theirs = name("zoe", PCTL_NAME_ALIAS, "sum", r.shader);
	take(&r, &mine);
	for (int i = 0; i < 4; i++)
		(void)end(&r);
	FAILS(try(&r, &theirs), PC5821_ALIAS_OWNER);
	rig_end(&r);
}

static pctl_request upload(const char *sender, const char *text)
{
	return (pctl_request){.kind = PCTL_MSG_UPLOAD,
			      .as.upload = {.sender = sender,
					    .source = (const uint8_t *)text,
					    .n_source = strlen(text),
					    .description = "",
					    .implements = ""}};
}

static pctl_request link_of(const rig *r, const char *sender, int is_taken)
{
	return (pctl_request){.kind = PCTL_MSG_LINK,
			      .as.link = {sender, r->input, r->shader, (uint32_t)is_taken, 0}};
}

static uint32_t count(rig *r, const char *text)
{
	sqlite3_stmt *stmt = NULL;
	uint32_t n;

	assert_int_equal(
		sqlite3_prepare_v2(pctl_chain_db(pctl_cursor(r->chain)), text, -1, &stmt, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	n = (uint32_t)sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	return n;
}

/* How many ranks are asked for after block 2 of a chain in which somebody had the engine's shader first. */
static uint32_t ranks(uint64_t rules)
{
	const char *text = pctl_epoch_shader(PCTL_EPOCH_SPREAD);
	pctl_params p = params_of(rules, 0);
	char cid[PCTL_CID_TEXT_SIZE];
	pctl_request q, take_away;
	pctl_cid of_text;
	uint32_t n;
	rig r;

	p.values[PCTL_PARAM_EPOCH_BLOCKS] = 2;
	p.values[PCTL_PARAM_EPOCH_ITERATIONS] = 1;
	rig_begin_with(&r, &p, 1);
	credit(&r, "rank", 1000000000);
	OK(pctl_cid_of(text, strlen(text), &call, &of_text));
	pctl_cid_format(&of_text, cid);
	q = upload("bob", text);
	take_away = name("bob", PCTL_NAME_DEPRECATE, "", cid);
	credit(&r, "bob", 1000000);
	if (rules == 1) {
		take(&r, &q);
		take(&r, &take_away);
	} else {
		FAILS(try(&r, &q), PC5895_ENGINE_SHADER);
	}
	q = link_of(&r, "alice", 0);
	take(&r, &q);
	(void)end(&r);
	(void)end(&r);
	if (rules == 2)
		FAILS(try(&r, &take_away), PC5895_ENGINE_SHADER);
	n = count(&r, "SELECT count(*) FROM epochs");
	if (rules == 2) { /* Its jobs come before a queue of others, whoever tips. */
		char id[PCTL_JOB_TEXT_SIZE];

		for (int i = 0; i < 5; i++)
			OK(send(&r, "alice", 60, 100000, NULL, id));
		(void)end(&r);
		assert_int_equal(
			count(&r, "SELECT count(*) FROM jobs WHERE origin = 1 AND ended = 3"), 2);
	}
	rig_end(&r);
	return n;
}

static void test_chain_queue__nobody_takes_the_rank_away(void **state)
{
	(void)state;
	assert_int_equal(ranks(1), 0);
	assert_int_equal(ranks(2), 1);
}

static void test_chain_queue__links_cost_and_are_taken_back(void **state)
{
	pctl_request draw, undo, theirs;
	uint64_t before;
	rig r;

	(void)state;
	rig_begin_under(&r, 2, 0, 1);
	credit(&r, "bob", 999);
	draw = link_of(&r, "alice", 0);
	undo = link_of(&r, "alice", 1);
	theirs = link_of(&r, "bob", 0);
	FAILS(try(&r, &theirs), PC5713_LEDGER_FUNDS);
	theirs = link_of(&r, "bob", 1);
	FAILS(try(&r, &undo), PC6105_LINK_UNKNOWN);
	before = balance(&r, "alice");
	take(&r, &draw);
	assert_int_equal(balance(&r, "alice"), before - 1000);
	assert_int_equal(balance(&r, "rank"), 1000);
	FAILS(try(&r, &theirs), PC6105_LINK_UNKNOWN);
	take(&r, &undo);
	FAILS(try(&r, &undo), PC6105_LINK_UNKNOWN);
	take(&r, &draw);
	take(&r, &undo);
	assert_int_equal(balance(&r, "rank"), 2000);
	OK(pctl_ledger_check(pctl_cursor(r.chain), &call));
	rig_end(&r);
	rig_begin_under(&r, 1, 0, 1);
	for (int i = 0; i < 50; i++) {
		draw = link_of(&r, "nobody", 0); /* without gas, as many as he likes */
		take(&r, &draw);
	}
	undo = link_of(&r, "nobody", 1);
	FAILS(try(&r, &undo), PC5896_RULES_EARLY);
	rig_end(&r);
}

static void test_chain_queue__names_of_the_chain_have_no_keys(void **state)
{
	static const uint8_t key[32] = {9};
	const pctl_msg_bytes one = {key, sizeof(key)};
	static const char *const names[] = {"rank",   "executor", "treasury", "burned",
					    "supply", "genesis",  "engine",   "chain"};
	const pctl_params p = params_of(2, 0);
	pctl_chain_options o = {.genesis = &p};
	rig r;

	(void)state;
	rig_begin_under(&r, 2, 0, 1);
	o.store = r.store;
	o.kernels = r.kernels;
	rig_close(&r);
	OK(pctl_chain_open(&o, &call, &r.chain));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const pctl_request keys = {.kind = PCTL_MSG_KEYS,
					   .as.keys = {names[i], &one, 1, 1}};
		const pctl_request role = {.kind = PCTL_MSG_ROLE,
					   .as.role = {names[i], names[i], PCTL_ROLE_BLOCK, 0}};
		const pctl_request gas = {
			.kind = PCTL_MSG_LEDGER,
			.as.ledger = {names[i], PCTL_LEDGER_CREDIT, 0, names[i], 5}};

		FAILS(pctl_chain_apply_genesis(r.chain, &keys, &call), PC5898_NAME_RESERVED);
		FAILS(pctl_chain_apply_genesis(r.chain, &role, &call), PC5898_NAME_RESERVED);
		OK(pctl_chain_apply_genesis(r.chain, &gas, &call));
	}
	rig_end(&r);
}

/* A job's own row says what it has set aside and what it was charged: one that ran, one that was cancelled, one that fails because of it, and, with rows
 * of the ledger, one that was refused. */
static void test_chain_queue__a_job_needs_no_row_of_the_ledger(void **state)
{
	char ran[PCTL_JOB_TEXT_SIZE], cancelled[PCTL_JOB_TEXT_SIZE], failed[PCTL_JOB_TEXT_SIZE],
		none[PCTL_JOB_TEXT_SIZE];
	pctl_ledger_report block, account;
	pctl_ledger_account who;
	uint64_t earned, all, refused;
	rig r;

	(void)state;
	rig_begin_under(&r, 2, 0, 1);
	OK(send(&r, "alice", 60, 5, NULL, ran));
	OK(send(&r, "alice", 60, 7, NULL, cancelled));
	OK(send(&r, "alice", 60, 9, cancelled, failed));
	OK(pctl_ledger_check(pctl_cursor(r.chain), &call));
	{
		const pctl_request q = {.kind = PCTL_MSG_CANCEL, .as.cancel = {"alice", cancelled}};

		take(&r, &q);
	}
	OK(pctl_ledger_check(pctl_cursor(r.chain), &call)); /* what it pays is set aside */
	assert_int_equal(count(&r, "SELECT count(*) FROM reservations"), 0);
	{
		pctl_request q = {.kind = PCTL_MSG_EXECUTE};
		const pctl_msg_binding binding = {0, 2, r.input};

		q.as.execute = (pctl_msg_execute){.sender = "alice",
						  .shader_cid = r.shader,
						  .input = r.input,
						  .dispatch = {60, 1, 1},
						  .gas_limit = 1,
						  .bindings = &binding,
						  .n_bindings = 1,
						  .uniform_cid = "",
						  .output_bytes = 240,
						  .entry = ""};
		FAILS(try(&r, &q), PC5818_JOB_GAS);
	}
	assert_int_equal(count(&r, "SELECT count(*) FROM reservations"), 1);
	OK(pctl_ledger_account_read(pctl_cursor(r.chain), "alice", &call, &who));
	refused = who.reserved - 3 * 10000000 - (5 + 7 + 9);
	assert_int_not_equal(refused, 0);
	OK(pctl_ledger_check(pctl_cursor(r.chain), &call));
	(void)end(&r);
	OK(pctl_ledger_check(pctl_cursor(r.chain), &call));
	assert_int_equal(count(&r, "SELECT count(*) FROM reservations"), 0);
	assert_int_equal(count(&r, "SELECT count(*) FROM settlements"), 1);
	assert_int_equal(job(&r, ran).status, PCTL_JOB_COMPLETE);
	assert_int_equal(job(&r, failed).gas_used, 0);
	assert_int_not_equal(job(&r, cancelled).gas_used, 0);
	all = job(&r, ran).gas + 5 + job(&r, cancelled).gas_used;
	OK(pctl_ledger_block_report(pctl_cursor(r.chain), 1, &call, &block));
	OK(pctl_ledger_account_report(pctl_cursor(r.chain), "alice", &call, &account, &earned));
	assert_memory_equal(&block, &account, sizeof(block));
	assert_int_equal(earned, 0);
	assert_int_equal(block.settled, 3);
	assert_int_equal(block.released, 1);
	assert_int_equal(block.charged, all + refused);
	assert_int_equal(block.reserved, 3 * 10000000 + 5 + 7 + 9 + refused);
	assert_int_equal(block.refunded, block.reserved - block.charged);
	assert_int_equal(block.split.executor + block.split.treasury + block.split.burned,
			 block.charged);
	OK(pctl_ledger_account_report(pctl_cursor(r.chain), "node", &call, &account, &earned));
	OK(pctl_ledger_account_read(pctl_cursor(r.chain), "node", &call, &who));
	assert_int_equal(earned, block.split.executor);
	assert_int_equal(earned, who.balance);
	assert_int_not_equal(earned, 0);
	/* What no account has set aside is not the ledger's. */
	OK(send(&r, "alice", 60, 5, NULL, none));
	OK(pctl_chain_begin(pctl_cursor(r.chain), &call));
	OK(pctl_ledger_give_back(pctl_cursor(r.chain), "alice", 4, &call));
	FAILS(pctl_ledger_check(pctl_cursor(r.chain), &call), PC5719_LEDGER_BROKEN);
	FAILS(pctl_ledger_give_back(pctl_cursor(r.chain), "alice", 10000002, &call),
	      PC5719_LEDGER_BROKEN);
	pctl_chain_rollback(pctl_cursor(r.chain));
	rig_end(&r);
}

/* Where looking at a job costs nothing, all that a cancelled one has set aside comes back at once. */
static void test_chain_queue__a_job_that_is_cancelled_for_nothing_gives_all_back(void **state)
{
	char id[PCTL_JOB_TEXT_SIZE];
	pctl_params p = params_of(2, 0);
	pctl_ledger_account who;
	pctl_ledger_report report;
	uint64_t before;
	rig r;

	(void)state;
	p.values[PCTL_PARAM_VALIDATION_COST] = 0;
	p.values[PCTL_PARAM_FEE_PPM] = 0;
	rig_begin_with(&r, &p, 1);
	OK(pctl_ledger_account_read(pctl_cursor(r.chain), "alice", &call, &who));
	before = who.balance;
	OK(send(&r, "alice", 60, 77, NULL, id));
	{
		const pctl_request q = {.kind = PCTL_MSG_CANCEL, .as.cancel = {"alice", id}};

		take(&r, &q);
	}
	OK(pctl_ledger_check(pctl_cursor(r.chain), &call));
	OK(pctl_ledger_account_read(pctl_cursor(r.chain), "alice", &call, &who));
	assert_int_equal(who.balance, before);
	(void)end(&r);
	OK(pctl_ledger_check(pctl_cursor(r.chain), &call));
	OK(pctl_ledger_block_report(pctl_cursor(r.chain), 1, &call, &report));
	assert_int_equal(report.released, 1);
	assert_int_equal(report.refunded, 10000000 + 77);
	assert_int_equal(count(&r, "SELECT count(*) FROM settlements"), 0);
	rig_end(&r);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_queue__large_jobs_do_not_hold_a_small_one),
		PCTL_TEST(test_chain_queue__tips_decide_and_parents_come_first),
		PCTL_TEST(test_chain_queue__a_job_needs_no_row_of_the_ledger),
		PCTL_TEST(test_chain_queue__a_job_that_is_cancelled_for_nothing_gives_all_back),
		PCTL_TEST(test_chain_queue__nobody_waits_for_ever),
		PCTL_TEST(test_chain_queue__an_account_fills_no_queue),
		PCTL_TEST(test_chain_queue__an_alias_is_paid_for_and_ends),
		PCTL_TEST(test_chain_queue__nobody_takes_the_rank_away),
		PCTL_TEST(test_chain_queue__links_cost_and_are_taken_back),
		PCTL_TEST(test_chain_queue__names_of_the_chain_have_no_keys))
