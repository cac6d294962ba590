/* The gas ledger under random operations, valid and invalid, against a model that shares nothing with it: the same
 * operations are allowed, the same balances come out, the sum of everything is conserved, and a refusal leaves the
 * state root as it was. */
#include "main.h"

#include <inttypes.h>
#include <stdio.h>

#include "chain/ledger/ledger.h"
#include "chain/ledger/params.h"

__extension__ typedef unsigned __int128 wide;

static const pctl_call call = {.head = PCTL_HEAD(pctl_call)};

#define ALLOWED(what) assert_int_equal(what, PCTL_OK)

static void done(pctl_chain_state *s)
{
	ALLOWED(pctl_chain_commit(s, &call));
	pctl_chain_state_close(s);
}

#define ACCOUNTS 6
#define JOBS 64
#define RUNS PCTL_TEST_SHARE(100)
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

#define KINDS 12  /* of steps */
#define NEW_JOB 7 /* hardly ever refused */

static uint64_t seed_state;
static uint32_t allowed_of[KINDS], refused_of[KINDS];

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
	const uint64_t kind = below(KINDS);
	const uint64_t j = m->n_jobs > 4 && below(3) != 0 ? m->n_jobs - below(5) : below(JOBS);
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_ledger_split split;
	uint64_t n, out;
	pctl_status got;
	int want;

	digest_of(j, id);
	switch (kind) {
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
	case NEW_JOB:
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
	*(want ? &allowed_of[kind] : &refused_of[kind]) += 1;
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
	print_message("%" PRIu32 " operations allowed, %" PRIu32 " refused, seeds 1 to %u\n",
		      allowed, refused, RUNS);
	assert_true(allowed > PCTL_TEST_SHARE(5000) && refused > PCTL_TEST_SHARE(5000));
	for (int i = 0; i < KINDS; i++)
		assert_true(allowed_of[i] > PCTL_TEST_SHARE(100) &&
			    (refused_of[i] > PCTL_TEST_SHARE(100) || i == NEW_JOB));
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_ledger__random_operations_conserve_the_sum))
