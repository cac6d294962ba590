/* The gas ledger: every move and every refusal, overflow at each place (in tables that were tampered with, since the
 * bounded supply excludes it otherwise), and a property test: random operations against a model that shares nothing
 * with the ledger; the sum is conserved, and a refusal leaves the state root as it was. */
#include "main.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>

#include "chain/ledger.h"
#include "chain/params.h"

__extension__ typedef unsigned __int128 wide;

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

/* ---- the property -------------------------------------------------------------------------- */

#define ACCOUNTS 6
#define JOBS 64
#define RUNS 100
#define STEPS 300

static const char *const names[ACCOUNTS] = {"a", "b", "node.1", "node-2", "x_y", "0"};

/* What the ledger should be, from its definition. job: 0 unknown, 1 reserved, 2 over. */
struct model {
	int exists[ACCOUNTS];
	uint64_t balance[ACCOUNTS], reserved[ACCOUNTS], bond[ACCOUNTS];
	uint64_t supply, treasury, burned;
	uint64_t n_jobs; /* the first that was never reserved for in turn, below JOBS */
	int job[JOBS], payer[JOBS], verdict[JOBS][ACCOUNTS];
	uint64_t amount[JOBS];
	uint64_t executor_ppm, treasury_ppm, slash_ppm, slash_treasury_ppm;
};

static uint64_t seed_state;

/* splitmix64 */
static uint64_t random_u64(void)
{
	uint64_t z = (seed_state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

static uint64_t below(uint64_t n)
{
	return random_u64() % n;
}

/* Amounts at and beyond the bounds now and then, mostly a part of what is there. */
static uint64_t random_amount(uint64_t near)
{
	switch (below(24)) {
	case 0:
		return 0;
	case 1:
		return random_u64();
	case 2:
		return UINT64_MAX - below(3);
	case 3:
	case 4:
		return near;
	case 5:
		return near + 1;
	case 6:
		return random_u64() >> below(64);
	default:
		return near < 256 ? near : below(near >> below(8)) + 1;
	}
}

static uint64_t part(uint64_t amount, uint64_t ppm)
{
	return (uint64_t)((wide)amount * ppm / 1000000u);
}

static void digest_of(uint64_t n, uint8_t out[PCTL_DIGEST_BYTES])
{
	memset(out, 0, PCTL_DIGEST_BYTES);
	out[0] = (uint8_t)n;
	out[31] = (uint8_t)(n >> 8);
}

/* Each step: whether the model allows it, and if so what it does there. */
static int model_credit(struct model *m, int a, uint64_t n)
{
	if (n == 0 || n > UINT64_MAX - m->supply)
		return 0;
	m->exists[a] = 1;
	m->balance[a] += n;
	m->supply += n;
	return 1;
}

static int model_transfer(struct model *m, int a, int b, uint64_t n)
{
	if (!m->exists[a] || n == 0 || n > m->balance[a])
		return 0;
	m->balance[a] -= n;
	m->balance[b] += n;
	m->exists[b] = 1;
	return 1;
}

static int model_reserve(struct model *m, uint64_t j, int a, uint64_t n)
{
	if (!m->exists[a] || m->job[j] != 0 || n > m->balance[a])
		return 0;
	m->balance[a] -= n;
	m->reserved[a] += n;
	m->job[j] = 1;
	if (j == m->n_jobs && j + 1 < JOBS)
		m->n_jobs++;
	m->payer[j] = a;
	m->amount[j] = n;
	return 1;
}

static int model_end(struct model *m, uint64_t j, uint64_t charged, int executor)
{
	const uint64_t e = part(charged, m->executor_ppm), t = part(charged, m->treasury_ppm);

	if (m->job[j] != 1 || charged > m->amount[j])
		return 0;
	m->job[j] = 2;
	m->reserved[m->payer[j]] -= m->amount[j];
	m->balance[m->payer[j]] += m->amount[j] - charged;
	if (executor < 0)
		return 1;
	m->exists[executor] = 1;
	m->balance[executor] += e;
	m->treasury += t;
	m->burned += charged - e - t;
	return 1;
}

static int model_bond(struct model *m, int a, uint64_t n, int back)
{
	uint64_t *from = back ? &m->bond[a] : &m->balance[a];
	uint64_t *to = back ? &m->balance[a] : &m->bond[a];

	if (!m->exists[a] || n == 0 || n > *from)
		return 0;
	*from -= n;
	*to += n;
	return 1;
}

static int model_slash(struct model *m, uint64_t v, int a)
{
	const uint64_t n = (uint64_t)(((wide)m->bond[a] * m->slash_ppm + 999999u) / 1000000u);

	if (!m->exists[a] || m->verdict[v][a] || m->bond[a] == 0)
		return 0;
	m->verdict[v][a] = 1;
	m->bond[a] -= n;
	m->treasury += part(n, m->slash_treasury_ppm);
	m->burned += n - part(n, m->slash_treasury_ppm);
	return 1;
}

/* One random step in both; 1 when the ledger allowed it, which the model must say too. */
static int step(pctl_chain_state *s, struct model *m)
{
	const int a = (int)below(ACCOUNTS), b = (int)below(ACCOUNTS);
	/* Jobs under way are met often, others too. */
	const uint64_t j = m->n_jobs > 4 && below(3) != 0 ? m->n_jobs - below(5) : below(JOBS);
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_ledger_split split;
	uint64_t n, out;
	pctl_status got;
	int want;

	digest_of(j, id);
	switch (below(12)) {
	case 0:
		n = random_amount((UINT64_MAX - m->supply) >> below(40));
		want = model_credit(m, a, n);
		got = pctl_ledger_credit(s, names[a], n, &call);
		break;
	case 1:
	case 2:
		n = random_amount(m->balance[a]);
		want = model_transfer(m, a, b, n);
		got = pctl_ledger_transfer(s, names[a], names[b], n, &call);
		break;
	case 3:
	case 4:
		n = random_amount(m->balance[a]);
		want = model_reserve(m, j, a, n);
		got = pctl_ledger_reserve(s, id, names[a], n, &call);
		break;
	case 5:
	case 6:
		n = random_amount(m->amount[j]);
		want = model_end(m, j, n, b);
		got = pctl_ledger_settle(s, j, id, n, names[b], &call, &split);
		break;
	case 7:
		/* A new job for an account that has something. */
		n = below(m->balance[a] / 2 + 1);
		digest_of(m->n_jobs, id);
		got = pctl_ledger_reserve(s, id, names[a], n, &call);
		want = model_reserve(m, m->n_jobs, a, n);
		break;
	case 8:
		want = model_end(m, j, 0, -1);
		got = pctl_ledger_release(s, j, id, &call);
		break;
	case 9:
	case 10:
		want = (int)below(2);
		n = random_amount(want ? m->bond[a] : m->balance[a]);
		got = want ? pctl_ledger_unbond(s, names[a], n, &call)
			   : pctl_ledger_bond(s, names[a], n, &call);
		want = model_bond(m, a, n, want);
		break;
	default:
		want = model_slash(m, j, a);
		got = pctl_ledger_slash(s, j, id, names[a], &call, &out);
	}
	assert_int_equal(got == PCTL_OK, want);
	return want;
}

static void compare(pctl_chain_state *s, const struct model *m)
{
	pctl_ledger_account account;
	pctl_ledger_totals t;
	wide sum = 0;

	for (int i = 0; i < ACCOUNTS; i++) {
		pctl_status status = pctl_ledger_account_read(s, names[i], &call, &account);

		assert_int_equal(status == PCTL_OK, m->exists[i]);
		assert_true(account.balance == m->balance[i]);
		assert_true(account.reserved == m->reserved[i]);
		assert_true(account.bond == m->bond[i]);
		sum += (wide)account.balance + account.reserved + account.bond;
	}
	ALLOWED(pctl_ledger_totals_read(s, &call, &t));
	assert_true(t.supply == m->supply);
	assert_true(t.treasury == m->treasury);
	assert_true(t.burned == m->burned);
	assert_true(sum + t.treasury + t.burned == t.supply);
	ALLOWED(pctl_ledger_check(s, &call));
}

static pctl_chain_state *random_chain(struct model *m)
{
	pctl_chain_state *s;
	pctl_params p;

	pctl_params_default(&p);
	m->executor_ppm = below(1000001);
	m->treasury_ppm = below(1000001 - m->executor_ppm);
	m->slash_ppm = below(1000000) + 1;
	m->slash_treasury_ppm = below(1000001);
	p.values[PCTL_PARAM_SPLIT_EXECUTOR] = m->executor_ppm;
	p.values[PCTL_PARAM_SPLIT_TREASURY] = m->treasury_ppm;
	p.values[PCTL_PARAM_SPLIT_BURN] = 1000000 - m->executor_ppm - m->treasury_ppm;
	p.values[PCTL_PARAM_SLASH] = m->slash_ppm;
	p.values[PCTL_PARAM_SLASH_TREASURY] = m->slash_treasury_ppm;
	ALLOWED(pctl_chain_state_open_memory(&call, &s));
	ALLOWED(pctl_chain_begin(s, &call));
	ALLOWED(pctl_params_seed(s, &p, &call));
	for (int i = 0; i < ACCOUNTS - 1; i++) {
		uint64_t n = (random_u64() >> (3 + below(56))) + 1;

		assert_true(model_credit(m, i, n));
		ALLOWED(pctl_ledger_credit(s, names[i], n, &call));
	}
	return s;
}

static void test_chain_ledger__random_operations_conserve_the_sum(void **state)
{
	uint8_t before[PCTL_DIGEST_BYTES], after[PCTL_DIGEST_BYTES];
	uint32_t allowed = 0, refused = 0;

	(void)state;
	for (uint64_t run = 1; run <= RUNS; run++) {
		struct model m = {.supply = 0};
		pctl_chain_state *s;

		seed_state = run;
		s = random_chain(&m);
		ALLOWED(pctl_chain_root(s, &call, before));
		for (int i = 0; i < STEPS; i++) {
			int ok = step(s, &m);

			ALLOWED(pctl_chain_root(s, &call, after));
			/* Some allowed steps change nothing: a transfer to oneself. */
			if (!ok)
				assert_memory_equal(before, after, sizeof(before));
			memcpy(before, after, sizeof(before));
			allowed += ok != 0;
			refused += ok == 0;
			if (i % 8 == 0 || i == STEPS - 1)
				compare(s, &m);
		}
		done(s);
	}
	print_message("%" PRIu32 " operations allowed, %" PRIu32 " refused, seeds 1 to %d\n",
		      allowed, refused, RUNS);
	assert_true(allowed > 5000 && refused > 5000);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_ledger__moves),
		PCTL_TEST(test_chain_ledger__a_job_that_never_ran_pays_nothing),
		PCTL_TEST(test_chain_ledger__refusals),
		PCTL_TEST(test_chain_ledger__overflow_at_each_place),
		PCTL_TEST(test_chain_ledger__the_check_finds_what_was_planted),
		PCTL_TEST(test_chain_ledger__reports),
		PCTL_TEST(test_chain_ledger__random_operations_conserve_the_sum))
