/* Bonds, disputes and votes: what an attacker gets under version 1 of the rules and no more under version 2. */
#include "test_chain_block.h"

#include "chain/chain_private.h"
#include "chain/ledger/stake.h"
#include "chain/registry/registry.h"

#define FLOOR 1000u
#define DEPOSIT 300000u /* more than the gas of its jobs */

static pctl_params params(uint64_t rules)
{
	pctl_params p = params_of(rules, 0);

	p.values[PCTL_PARAM_STAKE_FLOOR] = FLOOR;
	p.values[PCTL_PARAM_DISPUTE_DEPOSIT] = DEPOSIT;
	p.values[PCTL_PARAM_UNBONDING_BLOCKS] = 3;
	p.values[PCTL_PARAM_SLASH_GAS] = 10;
	return p;
}

static pctl_ledger_account account(rig *r, const char *name)
{
	pctl_ledger_account a;

	OK(pctl_ledger_account_read(pctl_cursor(r->chain), name, &call, &a));
	return a;
}

static void whole(rig *r)
{
	OK(pctl_ledger_check(pctl_cursor(r->chain), &call));
}

static pctl_request verdict(const char *sender, const char *accused, const char *evidence,
			    const char *job_id, const char *output)
{
	return (pctl_request){.kind = PCTL_MSG_VERDICT,
			      .as.verdict = {sender, accused, evidence, job_id, output}};
}

static pctl_status try(rig *r, const pctl_request *q)
{
	return pctl_chain_apply(r->chain, q, &call, NULL);
}

/* A job that ran, wrongly where flip is not 0; what its output is, and what it should be. */
static void ran(rig *r, uint32_t flip, char id[PCTL_JOB_TEXT_SIZE], char is[PCTL_CID_TEXT_SIZE],
		char right[PCTL_CID_TEXT_SIZE])
{
	const pctl_task_binding bound[2] = {{0, 0, NULL, NULL, 0}, {0, 2, NULL, NULL, 0}};
	pctl_task_binding bindings[2];
	pctl_task task = {.bindings = bindings, .n_bindings = 2, .n_output = 32};
	uint8_t bytes[32];
	pctl_blob blob;
	pctl_chain_job j;
	const submit s = {.groups = 8};
	pctl_cid cid;

	r->fake.n_tasks = 0;
	r->fake.flip = flip;
	(void)execute(r, &s, id);
	(void)end(r);
	r->fake.flip = 0;
	j = job(r, id);
	assert_int_equal(j.status, PCTL_JOB_COMPLETE);
	pctl_cid_format(&j.output, is);
	assert_true(pctl_cid_parse(r->input, &cid));
	OK(pctl_store_get(r->store, &cid, &call, &blob));
	memcpy(bindings, bound, sizeof(bound));
	for (int i = 0; i < 2; i++) {
		bindings[i].data = blob.data;
		bindings[i].n_bytes = blob.n_bytes;
	}
	fake_output(&task, bytes);
	pctl_blob_release(&blob);
	OK(pctl_cid_of(bytes, sizeof(bytes), &call, &cid));
	pctl_cid_format(&cid, right);
	assert_int_equal(strcmp(is, right) == 0, flip == 0);
}

static void begin(rig *r, uint64_t rules)
{
	const pctl_params p = params(rules);

	rig_begin_with(r, &p, 1);
	credit(r, "node", 1000000000);
	credit(r, "bob", 1000000);
	credit(r, "zoe", 1000000);
	ledger(r, "node", PCTL_LEDGER_BOND, "", 1000000000);
}

/* ---- verdicts and disputes ----------------------------------------------------------------- */

static void test_chain_stake__a_bond_of_one_destroys_no_other(void **state)
{
	char id[PCTL_JOB_TEXT_SIZE], is[PCTL_CID_TEXT_SIZE], right[PCTL_CID_TEXT_SIZE];
	rig r;

	(void)state;
	begin(&r, 1);
	ledger(&r, "bob", PCTL_LEDGER_BOND, "", 1);
	ran(&r, 0, id, is, right);
	for (uint8_t i = 0; i < 100; i++) { /* evidence that nobody ever saw */
		char invented[PCTL_CID_TEXT_SIZE];
		pctl_cid cid;
		pctl_request q = verdict("bob", "node", invented, "", "");

		OK(pctl_cid_of(&i, 1, &call, &cid));
		pctl_cid_format(&cid, invented);
		take(&r, &q);
	}
	assert_true(account(&r, "node").bond < 30000); /* of 10^9 */
	whole(&r);
	rig_end(&r);

	begin(&r, 2);
	ledger(&r, "bob", PCTL_LEDGER_BOND, "", 1);
	ran(&r, 0, id, is, right);
	{
		const pctl_request vote = verdict("bob", "node", r.input, "", ""),
				   dispute = verdict("bob", "", "", id, r.input);

		FAILS(try(&r, &vote), PC5894_VERDICT_FORM);
		FAILS(try(&r, &dispute), PC5900_STAKE_FLOOR);
	}
	assert_int_equal(account(&r, "node").bond, 1000000000);
	whole(&r);
	rig_end(&r);
}

static void test_chain_stake__a_dispute_is_run_again_and_who_was_wrong_pays(void **state)
{
	char id[PCTL_JOB_TEXT_SIZE], is[PCTL_CID_TEXT_SIZE], right[PCTL_CID_TEXT_SIZE];
	pctl_ledger_account a;
	uint64_t gas;
	rig r;

	(void)state;
	begin(&r, 2);
	ledger(&r, "bob", PCTL_LEDGER_BOND, "", FLOOR);
	(void)end(&r);
	/* It was right: an invented output costs the deposit. */
	ran(&r, 0, id, is, right);
	a = account(&r, "bob");
	{
		const pctl_request q = verdict("bob", "", "", id, r.input);

		take(&r, &q);
		FAILS(try(&r, &q), PC5899_DISPUTE_JOB);
	}
	assert_int_equal(r.judge.n_tasks, 1);
	assert_int_equal(account(&r, "bob").balance, a.balance - DEPOSIT);
	assert_int_equal(account(&r, "node").bond, 1000000000);
	/* It was wrong, and bob has run it: he gets all back, and what is on its way back is reached, too. */
	ran(&r, 1, id, is, right);
	gas = job(&r, id).gas;
	ledger(&r, "node", PCTL_LEDGER_UNBOND, "", 1000000000 - 1);
	a = account(&r, "bob");
	{
		const pctl_request q = verdict("bob", "", "", id, right);

		take(&r, &q);
	}
	assert_int_equal(account(&r, "bob").balance, a.balance);
	assert_int_equal(account(&r, "node").bond, 0);
	OK(pctl_stake_leaving(pctl_cursor(r.chain), "node", &call, &gas));
	assert_int_equal(gas, 1000000000 - 10 * job(&r, id).gas);
	/* Wrong, but bob does not know what is right: both pay. */
	ran(&r, 1, id, is, right);
	a = account(&r, "bob");
	{
		const pctl_request q = verdict("bob", "", "", id, r.input);

		take(&r, &q);
	}
	assert_int_equal(account(&r, "bob").balance, a.balance - DEPOSIT);
	OK(pctl_stake_leaving(pctl_cursor(r.chain), "node", &call, &gas));
	assert_int_equal(gas, 1000000000 - 20 * job(&r, id).gas);
	whole(&r);
	rig_end(&r);
}

static void test_chain_stake__what_no_dispute_is_about(void **state)
{
	char id[PCTL_JOB_TEXT_SIZE], is[PCTL_CID_TEXT_SIZE], right[PCTL_CID_TEXT_SIZE];
	pctl_params p = params(2);
	const submit s = {.groups = 8};
	rig r;

	(void)state;
	p.values[PCTL_PARAM_DISPUTE_DEPOSIT] = 2000000;
	rig_begin_with(&r, &p, 1);
	credit(&r, "bob", 3 * FLOOR);
	ledger(&r, "bob", PCTL_LEDGER_BOND, "", FLOOR);
	credit(&r, "zoe", 10000000);
	ledger(&r, "zoe", PCTL_LEDGER_BOND, "", FLOOR);
	(void)execute(&r, &s, id);
	{
		pctl_request q = verdict("zoe", "", "", id, r.input);

		FAILS(try(&r, &q), PC5899_DISPUTE_JOB); /* pending */
		(void)end(&r);
		q.as.verdict.sender = "bob";
		FAILS(try(&r, &q), PC5713_LEDGER_FUNDS);
		q.as.verdict.job_id =
			"1111111111111111111111111111111111111111111111111111111111111111";
		FAILS(try(&r, &q), PC5801_JOB_UNKNOWN);
		q.as.verdict.output = "";
		FAILS(try(&r, &q), PC5784_MESSAGE_MISSING);
		q = verdict("bob", "zoe", "", id, r.input);
		FAILS(try(&r, &q), PC5730_MESSAGE_OPERATION);
		q = verdict("zoe", "", "", id, r.input);
		for (int i = 0; i < 4; i++)
			(void)end(&r);
		FAILS(try(&r, &q), PC5899_DISPUTE_JOB); /* long ago */
	}
	assert_int_equal(r.judge.n_tasks, 0);
	rig_end(&r);

	/* Blocks of one job: the second dispute of a block would run more than a block. */
	p = params(2);
	begin(&r, 2);
	ran(&r, 0, id, is, right);
	p.values[PCTL_PARAM_THROUGHPUT] = job(&r, id).gas;
	p.values[PCTL_PARAM_BLOCK_TIME_MS] = 1;
	p.values[PCTL_PARAM_UTILISATION] = 1000000;
	rig_end(&r);
	rig_begin_with(&r, &p, 1);
	credit(&r, "bob", 1000000);
	ledger(&r, "bob", PCTL_LEDGER_BOND, "", FLOOR);
	(void)end(&r);
	for (int i = 0; i < 2; i++) {
		ran(&r, 0, id, is, right);
		if (i == 1) {
			char other[PCTL_JOB_TEXT_SIZE];
			pctl_request q = verdict("bob", "", "", id, r.input);

			ran(&r, 0, other, is, right);
			take(&r, &q);
			q.as.verdict.job_id = other;
			FAILS(try(&r, &q), PC5899_DISPUTE_JOB);
			(void)end(&r);
			take(&r, &q);
		}
	}
	whole(&r);
	/* Without a reference a dispute is this node's trouble, and no refusal. */
	ran(&r, 0, id, is, right);
	r.chain->reference.run = NULL;
	{
		const pctl_request q = verdict("bob", "", "", id, r.input);

		FAILS(try(&r, &q), PC5850_BLOCK_EXECUTOR);
	}
	rig_end(&r);
}

/* ---- bonds on their way back --------------------------------------------------------------- */

static void test_chain_stake__a_bond_comes_back_after_its_blocks(void **state)
{
	uint64_t back;
	rig r;

	(void)state;
	begin(&r, 1);
	ledger(&r, "node", PCTL_LEDGER_UNBOND, "", 1000);
	assert_int_equal(account(&r, "node").balance, 1000); /* at once */
	rig_end(&r);

	begin(&r, 2);
	ledger(&r, "node", PCTL_LEDGER_UNBOND, "", 1000);
	ledger(&r, "node", PCTL_LEDGER_UNBOND, "", 500);
	for (int i = 0; i < 3; i++) { /* blocks 1 to 3; due is the end of 4 */
		assert_int_equal(account(&r, "node").balance, 0);
		OK(pctl_stake_leaving(pctl_cursor(r.chain), NULL, &call, &back));
		assert_int_equal(back, 1500);
		whole(&r);
		(void)end(&r);
	}
	assert_int_equal(account(&r, "node").balance, 0);
	(void)end(&r);
	assert_int_equal(account(&r, "node").balance, 1500);
	OK(pctl_stake_leaving(pctl_cursor(r.chain), NULL, &call, &back));
	assert_int_equal(back, 0);
	whole(&r);
	/* An amount on its way back that belongs to nobody is found. */
	sql(&r, "INSERT INTO main.unbondings VALUES ('zoe', 9, x'0000000000000001')");
	FAILS(pctl_ledger_check(pctl_cursor(r.chain), &call), PC6140_TREE_ROW);
	rig_end(&r);
}

/* ---- votes --------------------------------------------------------------------------------- */

static pctl_request propose(const char *sender, uint64_t height, const pctl_msg_param_change *c)
{
	return (pctl_request){.kind = PCTL_MSG_PARAMS,
			      .as.params = {.sender = sender,
					    .op = PCTL_PARAMS_PROPOSE,
					    .height = height,
					    .changes = c,
					    .n_changes = 1}};
}

static pctl_request vote(const char *sender, uint64_t id)
{
	return (pctl_request){
		.kind = PCTL_MSG_PARAMS,
		.as.params = {.sender = sender, .op = PCTL_PARAMS_VOTE, .proposal = id, .yes = 1}};
}

static pctl_request apply(const char *sender, uint64_t id)
{
	return (pctl_request){
		.kind = PCTL_MSG_PARAMS,
		.as.params = {.sender = sender, .op = PCTL_PARAMS_APPLY, .proposal = id}};
}

static void test_chain_stake__votes_weigh_what_was_bonded_when_it_was_proposed(void **state)
{
	static const pctl_msg_param_change change = {"slash_ppm", "1000000"};
	const pctl_request by_bob = propose("bob", 50, &change),
			   by_zoe = propose("zoe", 50, &change);
	const pctl_request bob = vote("bob", 1), zoe = vote("zoe", 1), done = apply("bob", 1);
	pctl_proposal p;
	rig r;

	(void)state;
	/* Version 1: a bond for as long as it takes to vote outvotes everybody. */
	begin(&r, 1);
	credit(&r, "zoe", 9000000000);
	ledger(&r, "zoe", PCTL_LEDGER_BOND, "", 9000000000);
	take(&r, &by_zoe);
	take(&r, &zoe);
	take(&r, &done);
	ledger(&r, "zoe", PCTL_LEDGER_UNBOND, "", 9000000000);
	rig_end(&r);

	begin(&r, 2);
	ledger(&r, "bob", PCTL_LEDGER_BOND, "", FLOOR - 1);
	credit(&r, "zoe", 9000000000);
	(void)end(&r);
	FAILS(try(&r, &by_bob), PC5900_STAKE_FLOOR);
	ledger(&r, "bob", PCTL_LEDGER_BOND, "", 1);
	FAILS(try(&r, &by_bob), PC5900_STAKE_FLOOR); /* not yet when the block began */
	(void)end(&r);
	ledger(&r, "zoe", PCTL_LEDGER_BOND, "", 9000000000);
	take(&r, &by_bob);
	take(&r, &bob);
	FAILS(try(&r, &bob), PC5726_PARAM_VOTER);
	FAILS(try(&r, &zoe), PC5900_STAKE_FLOOR); /* bonded for the occasion */
	(void)end(&r);
	FAILS(try(&r, &zoe), PC5900_STAKE_FLOOR);
	FAILS(try(&r, &done), PC5727_PARAM_QUORUM);
	OK(pctl_params_proposal(pctl_cursor(r.chain), 1, &call, &p));
	assert_int_equal(p.since, 3);
	assert_int_equal(p.yes, FLOOR);
	assert_int_equal(p.bonds, 1000000000 + FLOOR);
	ledger(&r, "node", PCTL_LEDGER_UNBOND, "", 1); /* what it was then counts */
	{
		const pctl_request node = vote("node", 1);

		take(&r, &node);
		take(&r, &done);
	}
	whole(&r);
	rig_end(&r);
}

/* All bonds together, as its history has them, are the sum of those of accounts. */
static void test_chain_stake__the_history_of_all_bonds_is_their_sum(void **state)
{
	static const char *const names[] = {"alice", "bob", "node", "zoe"};
	uint64_t want[12][5] = {{0}};
	uint32_t seed = 7;
	rig r;

	(void)state;
	begin(&r, 2);
	for (uint64_t h = 1; h < 12; h++) {
		for (int i = 0; i < 4; i++)
			want[h][i] = account(&r, names[i]).bond;
		for (int i = 0; i < 4; i++)
			want[h][4] += want[h][i];
		for (int k = 0; k < 6; k++) {
			const char *name = names[(seed = seed * 1103515245u + 12345u) >> 16 & 3];
			const uint64_t n = 1 + (seed >> 20) % 500;
			const pctl_request q = {.kind = PCTL_MSG_LEDGER,
						.as.ledger = {.sender = name,
							      .op = seed >> 19 & 1
									    ? PCTL_LEDGER_BOND
									    : PCTL_LEDGER_UNBOND,
							      .to = "",
							      .amount = n}};

			(void)try(&r, &q);
		}
		whole(&r);
		(void)end(&r);
	}
	want[1][2] = want[1][4] = 0; /* node bonded within block 1 */
	for (uint64_t h = 1; h < 12; h++)
		for (int i = 0; i < 5; i++) {
			uint64_t got;

			OK(pctl_stake_at(pctl_cursor(r.chain), i == 4 ? NULL : names[i], h, &call,
					 &got));
			assert_int_equal(got, want[h][i]);
		}
	rig_end(&r);
}

static void test_chain_stake__the_rules_never_go_down(void **state)
{
	static const pctl_msg_param_change up = {"rules", "2"}, down = {"rules", "1"},
					   skips = {"rules", "4"};
	pctl_params p = params(1), at;
	rig r;

	(void)state;
	rig_begin_with(&r, &p, 1);
	credit(&r, "bob", 10000);
	ledger(&r, "bob", PCTL_LEDGER_BOND, "", 10000);
	for (uint64_t id = 1; id < 3; id++) {
		const pctl_request made = propose("bob", id == 1 ? 3 : 2, id == 1 ? &up : &down);
		const pctl_request yes = vote("bob", id), done = apply("bob", id);

		take(&r, &made);
		take(&r, &yes);
		take(&r, &done);
	}
	{
		const pctl_request lower = propose("bob", 4, &down),
				   higher = propose("bob", 4, &skips);

		FAILS(try(&r, &lower), PC5893_RULES_DOWN);
		FAILS(try(&r, &higher), PC6154_RULES_STEP);
	}
	/* Whatever stands in the rows. */
	sql(&r, "INSERT INTO main.params VALUES (5, 'rules', '1')");
	for (uint64_t h = 1; h < 8; h++) {
		OK(pctl_params_in_force(pctl_cursor(r.chain), h, &call, &at));
		assert_int_equal(at.values[PCTL_PARAM_RULES], h < 3 ? 1 : 2);
	}
	rig_end(&r);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_stake__a_bond_of_one_destroys_no_other),
		PCTL_TEST(test_chain_stake__a_dispute_is_run_again_and_who_was_wrong_pays),
		PCTL_TEST(test_chain_stake__what_no_dispute_is_about),
		PCTL_TEST(test_chain_stake__a_bond_comes_back_after_its_blocks),
		PCTL_TEST(test_chain_stake__votes_weigh_what_was_bonded_when_it_was_proposed),
		PCTL_TEST(test_chain_stake__the_history_of_all_bonds_is_their_sum),
		PCTL_TEST(test_chain_stake__the_rules_never_go_down))
