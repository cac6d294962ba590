/* The gas ledger: every move and every refusal, and overflow at each place, in tables that were tampered with, since
 * the bounded supply excludes it otherwise. */
#include "main.h"

#include <sqlite3.h>

#include "chain/ledger/ledger.h"
#include "chain/ledger/params.h"

static uint32_t last_code;

static void note(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	last_code = d->code;
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = note};

/* A state with the default parameters, inside a transaction. */
static pctl_chain_state *fresh(void)
{
	pctl_chain_state *s;
	pctl_params p;

	assert_int_equal(pctl_chain_state_open_memory(&call, &s), PCTL_OK);
	assert_int_equal(pctl_chain_begin(s, &call), PCTL_OK);
	pctl_params_default(&p);
	assert_int_equal(pctl_params_seed(s, &p, &call), PCTL_OK);
	return s;
}

static void done(pctl_chain_state *s)
{
	assert_int_equal(pctl_chain_commit(s, &call), PCTL_OK);
	pctl_chain_state_close(s);
}

static void sql(pctl_chain_state *s, const char *text)
{
	assert_int_equal(sqlite3_exec(pctl_chain_db(s), text, NULL, NULL, NULL), SQLITE_OK);
	pctl_params_forget(s);
}

/* The expression was refused with that code, and no row changed. */
#define REFUSED(s, what, code_)                                                \
	do {                                                                   \
		uint8_t before_[PCTL_DIGEST_BYTES], after_[PCTL_DIGEST_BYTES]; \
		assert_int_equal(pctl_chain_root(s, &call, before_), PCTL_OK); \
		last_code = 0;                                                 \
		assert_int_not_equal(what, PCTL_OK);                           \
		assert_int_equal(last_code, code_);                            \
		assert_int_equal(pctl_chain_root(s, &call, after_), PCTL_OK);  \
		assert_memory_equal(before_, after_, sizeof(before_));         \
	} while (0)
#define ALLOWED(what) assert_int_equal(what, PCTL_OK)

static void expect(pctl_chain_state *s, const char *name, uint64_t balance, uint64_t reserved,
		   uint64_t bond)
{
	pctl_ledger_account a;

	ALLOWED(pctl_ledger_account_read(s, name, &call, &a));
	assert_string_equal(a.name, name);
	assert_true(a.balance == balance);
	assert_true(a.reserved == reserved);
	assert_true(a.bond == bond);
}

static void expect_totals(pctl_chain_state *s, uint64_t supply, uint64_t treasury, uint64_t burned)
{
	pctl_ledger_totals t;

	ALLOWED(pctl_ledger_totals_read(s, &call, &t));
	assert_true(t.supply == supply);
	assert_true(t.treasury == treasury);
	assert_true(t.burned == burned);
	ALLOWED(pctl_ledger_check(s, &call));
}

static const uint8_t job_a[PCTL_DIGEST_BYTES] = {1}, job_b[PCTL_DIGEST_BYTES] = {2};

static void test_chain_ledger__moves(void **state)
{
	pctl_chain_state *s = fresh();
	pctl_ledger_split split;
	uint64_t slashed;

	(void)state;
	ALLOWED(pctl_ledger_credit(s, "alice", 1000, &call));
	ALLOWED(pctl_ledger_transfer(s, "alice", "bob", 300, &call));
	ALLOWED(pctl_ledger_transfer(s, "alice", "alice", 700, &call));
	expect(s, "alice", 700, 0, 0);
	expect(s, "bob", 300, 0, 0);
	ALLOWED(pctl_ledger_reserve(s, job_a, "alice", 500, &call));
	expect(s, "alice", 200, 500, 0);
	/* 123: 98.4 for the executor, 12.3 for the treasury, the rest is burned. */
	ALLOWED(pctl_ledger_settle(s, 7, job_a, 123, "node", &call, &split));
	assert_true(split.executor == 98 && split.treasury == 12 && split.burned == 13);
	expect(s, "alice", 577, 0, 0);
	expect(s, "node", 98, 0, 0);
	expect_totals(s, 1000, 12, 13);
	/* Who pays may execute. */
	ALLOWED(pctl_ledger_reserve(s, job_b, "alice", 577, &call));
	ALLOWED(pctl_ledger_settle(s, 8, job_b, 577, "alice", &call, &split));
	expect(s, "alice", 461, 0, 0);
	expect_totals(s, 1000, 69, 72);
	ALLOWED(pctl_ledger_bond(s, "node", 98, &call));
	ALLOWED(pctl_ledger_unbond(s, "node", 3, &call));
	expect(s, "node", 3, 0, 95);
	/* A tenth, rounded up, and half of that, rounded up, is burned. */
	ALLOWED(pctl_ledger_slash(s, 9, job_a, "node", &call, &slashed));
	assert_true(slashed == 10);
	expect(s, "node", 3, 0, 85);
	expect_totals(s, 1000, 74, 77);
	done(s);
}

static void test_chain_ledger__a_job_that_never_ran_pays_nothing(void **state)
{
	pctl_chain_state *s = fresh();
	pctl_ledger_split split;

	(void)state;
	ALLOWED(pctl_ledger_credit(s, "alice", 10, &call));
	ALLOWED(pctl_ledger_reserve(s, job_a, "alice", 10, &call));
	REFUSED(s, pctl_ledger_transfer(s, "alice", "bob", 1, &call), PC5713_LEDGER_FUNDS);
	REFUSED(s, pctl_ledger_reserve(s, job_a, "alice", 0, &call), PC5715_LEDGER_JOB_TWICE);
	ALLOWED(pctl_ledger_release(s, 1, job_a, &call));
	expect(s, "alice", 10, 0, 0);
	REFUSED(s, pctl_ledger_release(s, 1, job_a, &call), PC5716_LEDGER_NO_RESERVATION);
	REFUSED(s, pctl_ledger_settle(s, 1, job_a, 0, "x", &call, &split),
		PC5716_LEDGER_NO_RESERVATION);
	REFUSED(s, pctl_ledger_reserve(s, job_a, "alice", 1, &call), PC5715_LEDGER_JOB_TWICE);
	/* A job of no gas is one. */
	ALLOWED(pctl_ledger_reserve(s, job_b, "alice", 0, &call));
	ALLOWED(pctl_ledger_settle(s, 1, job_b, 0, "x", &call, &split));
	expect_totals(s, 10, 0, 0);
	done(s);
}

static void test_chain_ledger__refusals(void **state)
{
	static const char *const bad[] = {"", "A", "a b", "a/b", "\xc3\xa4", "a\n", NULL};
	char longest[67];
	pctl_chain_state *s = fresh();
	pctl_ledger_split split;
	uint64_t out;

	(void)state;
	for (int i = 0; bad[i] != NULL; i++)
		REFUSED(s, pctl_ledger_credit(s, bad[i], 1, &call), PC5710_LEDGER_NAME);
	memset(longest, 'a', sizeof(longest));
	longest[65] = '\0';
	REFUSED(s, pctl_ledger_credit(s, longest, 1, &call), PC5710_LEDGER_NAME);
	longest[64] = '\0';
	ALLOWED(pctl_ledger_credit(s, longest, 1, &call));
	expect(s, longest, 1, 0, 0);
	REFUSED(s, pctl_ledger_transfer(s, longest, "B", 1, &call), PC5710_LEDGER_NAME);
	REFUSED(s, pctl_ledger_transfer(s, "nobody", "b", 1, &call), PC5714_LEDGER_ACCOUNT);
	REFUSED(s, pctl_ledger_reserve(s, job_a, "nobody", 1, &call), PC5714_LEDGER_ACCOUNT);
	REFUSED(s, pctl_ledger_bond(s, "nobody", 1, &call), PC5714_LEDGER_ACCOUNT);
	ALLOWED(pctl_ledger_credit(s, "a", 9, &call));
	REFUSED(s, pctl_ledger_credit(s, "a", 0, &call), PC5711_LEDGER_AMOUNT);
	REFUSED(s, pctl_ledger_transfer(s, "a", "b", 0, &call), PC5711_LEDGER_AMOUNT);
	REFUSED(s, pctl_ledger_bond(s, "a", 0, &call), PC5711_LEDGER_AMOUNT);
	REFUSED(s, pctl_ledger_unbond(s, "a", 0, &call), PC5711_LEDGER_AMOUNT);
	REFUSED(s, pctl_ledger_transfer(s, "a", "a", 10, &call), PC5713_LEDGER_FUNDS);
	REFUSED(s, pctl_ledger_bond(s, "a", 10, &call), PC5713_LEDGER_FUNDS);
	REFUSED(s, pctl_ledger_unbond(s, "a", 1, &call), PC5713_LEDGER_FUNDS);
	REFUSED(s, pctl_ledger_slash(s, 1, job_a, "a", &call, &out), PC5713_LEDGER_FUNDS);
	REFUSED(s, pctl_ledger_reserve(s, job_a, "a", 10, &call), PC5713_LEDGER_FUNDS);
	ALLOWED(pctl_ledger_reserve(s, job_a, "a", 5, &call));
	REFUSED(s, pctl_ledger_settle(s, 1, job_a, 6, "b", &call, &split), PC5717_LEDGER_CHARGE);
	REFUSED(s, pctl_ledger_settle(s, 1, job_a, 5, "B", &call, &split), PC5710_LEDGER_NAME);
	REFUSED(s, pctl_ledger_settle(s, UINT64_MAX, job_a, 5, "b", &call, &split),
		PC5725_CHAIN_HEIGHT);
	REFUSED(s, pctl_ledger_release(s, (uint64_t)INT64_MAX + 1, job_a, &call),
		PC5725_CHAIN_HEIGHT);
	ALLOWED(pctl_ledger_bond(s, "a", 2, &call));
	ALLOWED(pctl_ledger_slash(s, 1, job_a, "a", &call, &out));
	REFUSED(s, pctl_ledger_slash(s, 2, job_a, "a", &call, &out), PC5718_LEDGER_VERDICT);
	expect_totals(s, 10, 0, 1);
	/* Without parameters nothing can be charged. */
	sql(s, "DELETE FROM params WHERE name = 'slash_ppm'");
	REFUSED(s, pctl_ledger_settle(s, 1, job_a, 5, "b", &call, &split), PC5723_PARAM_SEED);
	REFUSED(s, pctl_ledger_slash(s, 2, job_b, "a", &call, &out), PC5723_PARAM_SEED);
	done(s);
}

/* Tables that were tampered with: every addition meets its bound. */
static void test_chain_ledger__overflow_at_each_place(void **state)
{
	pctl_chain_state *s = fresh();
	pctl_ledger_split split;
	pctl_ledger_report r;
	uint64_t out;

	(void)state;
	ALLOWED(pctl_ledger_credit(s, "a", UINT64_MAX, &call));
	REFUSED(s, pctl_ledger_credit(s, "a", 1, &call), PC5712_LEDGER_OVERFLOW);
	REFUSED(s, pctl_ledger_credit(s, "b", 1, &call), PC5712_LEDGER_OVERFLOW);
	ALLOWED(pctl_ledger_check(s, &call));
	sql(s, "UPDATE totals SET amount = x'0000000000000000' WHERE name = 'supply'");
	REFUSED(s, pctl_ledger_credit(s, "a", 1, &call), PC5712_LEDGER_OVERFLOW);
	REFUSED(s, pctl_ledger_check(s, &call), PC5719_LEDGER_BROKEN);
	ALLOWED(pctl_ledger_credit(s, "b", 100, &call));
	REFUSED(s, pctl_ledger_transfer(s, "b", "a", 1, &call), PC5712_LEDGER_OVERFLOW);
	ALLOWED(pctl_ledger_reserve(s, job_a, "b", 50, &call));
	REFUSED(s, pctl_ledger_settle(s, 1, job_a, 50, "a", &call, &split), PC5712_LEDGER_OVERFLOW);
	sql(s, "UPDATE accounts SET balance = x'FFFFFFFFFFFFFFFF' WHERE name = 'b'");
	REFUSED(s, pctl_ledger_release(s, 1, job_a, &call), PC5712_LEDGER_OVERFLOW);
	REFUSED(s, pctl_ledger_settle(s, 1, job_a, 49, "c", &call, &split), PC5712_LEDGER_OVERFLOW);
	sql(s, "UPDATE accounts SET reserved = x'FFFFFFFFFFFFFFFF' WHERE name = 'a'");
	REFUSED(s, pctl_ledger_reserve(s, job_b, "a", 1, &call), PC5712_LEDGER_OVERFLOW);
	sql(s, "UPDATE accounts SET bond = x'FFFFFFFFFFFFFFFF' WHERE name = 'a'");
	REFUSED(s, pctl_ledger_bond(s, "a", 1, &call), PC5712_LEDGER_OVERFLOW);
	REFUSED(s, pctl_ledger_unbond(s, "a", 1, &call), PC5712_LEDGER_OVERFLOW);
	sql(s, "UPDATE totals SET amount = x'FFFFFFFFFFFFFFFF' WHERE name = 'treasury'");
	REFUSED(s, pctl_ledger_slash(s, 1, job_a, "a", &call, &out), PC5712_LEDGER_OVERFLOW);
	REFUSED(s, pctl_ledger_settle(s, 1, job_a, 50, "c", &call, &split), PC5712_LEDGER_OVERFLOW);
	sql(s, "UPDATE totals SET amount = x'0000000000000000' WHERE name = 'treasury'");
	sql(s, "UPDATE totals SET amount = x'FFFFFFFFFFFFFFFF' WHERE name = 'burned'");
	REFUSED(s, pctl_ledger_slash(s, 1, job_a, "a", &call, &out), PC5712_LEDGER_OVERFLOW);
	REFUSED(s, pctl_ledger_settle(s, 1, job_a, 50, "c", &call, &split), PC5712_LEDGER_OVERFLOW);
	sql(s,
	    "INSERT INTO settlements VALUES (x'01', 1, 'a', 'n', x'FFFFFFFFFFFFFFFF', "
	    "x'0000000000000000', x'FFFFFFFFFFFFFFFF', x'0000000000000000', x'0000000000000000'), "
	    "(x'02', 1, 'a', 'a', x'0000000000000001', "
	    "x'0000000000000000', x'0000000000000000', x'0000000000000000', x'0000000000000000')");
	REFUSED(s, pctl_ledger_block_report(s, 1, &call, &r), PC5712_LEDGER_OVERFLOW);
	REFUSED(s, pctl_ledger_account_report(s, "a", &call, &r, &out), PC5712_LEDGER_OVERFLOW);
	done(s);
}

static void test_chain_ledger__the_check_finds_what_was_planted(void **state)
{
	static const char *const planted[] = {
		"UPDATE accounts SET balance = x'0000000000000065' WHERE name = 'a'",
		"UPDATE accounts SET reserved = x'0000000000000000' WHERE name = 'a'",
		"UPDATE accounts SET bond = x'0000000000000001' WHERE name = 'a'",
		"UPDATE accounts SET bond = x'01' WHERE name = 'a'",
		"UPDATE reservations SET account = 'nobody'",
		"DELETE FROM reservations",
		"UPDATE totals SET amount = x'0000000000000001' WHERE name = 'treasury'",
		"UPDATE totals SET amount = x'FFFFFFFFFFFFFFFF' WHERE name = 'burned'",
		"UPDATE totals SET name = 'lost' WHERE name = 'burned'",
		"DELETE FROM totals",
		"DELETE FROM accounts",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(planted) / sizeof(planted[0]); i++) {
		pctl_chain_state *s = fresh();

		ALLOWED(pctl_ledger_credit(s, "a", 100, &call));
		ALLOWED(pctl_ledger_reserve(s, job_a, "a", 40, &call));
		ALLOWED(pctl_ledger_check(s, &call));
		sql(s, planted[i]);
		REFUSED(s, pctl_ledger_check(s, &call), PC5719_LEDGER_BROKEN);
		done(s);
	}
}

static void test_chain_ledger__reports(void **state)
{
	const uint8_t jobs[4][PCTL_DIGEST_BYTES] = {{1}, {2}, {3}, {4}};
	pctl_chain_state *s = fresh();
	pctl_ledger_report r;
	pctl_ledger_split split;
	uint64_t earned, slashed;

	(void)state;
	ALLOWED(pctl_ledger_credit(s, "a", 1000, &call));
	ALLOWED(pctl_ledger_credit(s, "n", 1000, &call));
	ALLOWED(pctl_ledger_bond(s, "n", 1000, &call));
	for (int i = 0; i < 4; i++)
		ALLOWED(pctl_ledger_reserve(s, jobs[i], "a", 100, &call));
	ALLOWED(pctl_ledger_settle(s, 5, jobs[0], 100, "n", &call, &split));
	ALLOWED(pctl_ledger_settle(s, 5, jobs[1], 10, "n", &call, &split));
	ALLOWED(pctl_ledger_release(s, 5, jobs[2], &call));
	ALLOWED(pctl_ledger_settle(s, 6, jobs[3], 20, "n", &call, &split));
	ALLOWED(pctl_ledger_slash(s, 6, jobs[0], "n", &call, &slashed));
	ALLOWED(pctl_ledger_block_report(s, 5, &call, &r));
	assert_true(r.settled == 2 && r.released == 1 && r.reserved == 300 && r.charged == 110);
	assert_true(r.refunded == 190 && r.split.executor == 88 && r.split.treasury == 11);
	assert_true(r.split.burned == 11 && r.slashes == 0);
	ALLOWED(pctl_ledger_block_report(s, 6, &call, &r));
	assert_true(r.settled == 1 && r.charged == 20 && r.slashes == 1 && r.slashed == 100);
	assert_true(r.slashed_treasury == 50 && r.slashed_burned == 50);
	ALLOWED(pctl_ledger_block_report(s, 7, &call, &r));
	assert_true(r.settled == 0 && r.released == 0 && r.slashes == 0);
	ALLOWED(pctl_ledger_account_report(s, "a", &call, &r, &earned));
	assert_true(r.settled == 3 && r.released == 1 && r.charged == 130 && r.refunded == 270);
	assert_true(earned == 0 && r.slashes == 0);
	ALLOWED(pctl_ledger_account_report(s, "n", &call, &r, &earned));
	assert_true(r.settled == 0 && earned == 104 && r.slashed == 100);
	done(s);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_ledger__moves),
		PCTL_TEST(test_chain_ledger__a_job_that_never_ran_pays_nothing),
		PCTL_TEST(test_chain_ledger__refusals),
		PCTL_TEST(test_chain_ledger__overflow_at_each_place),
		PCTL_TEST(test_chain_ledger__the_check_finds_what_was_planted),
		PCTL_TEST(test_chain_ledger__reports))
