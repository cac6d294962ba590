/* Parameters of the consensus VM: the table against the gas schedule it repeats, the shipped file, bad values and bad
 * files with a good twin, and changes from proposal to the height at which they hold. */
#include "main.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "chain/state/amount.h"
#include "chain/ledger/params.h"
#include "runtime/gas/schedule.h"

static uint32_t last_code;

static void note(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	last_code = d->code;
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = note};

#define ALLOWED(what) assert_int_equal(what, PCTL_OK)
/* Refused with that code, and no row changed. */
#define REFUSED(s, what, code_)                                                \
	do {                                                                   \
		uint8_t before_[PCTL_DIGEST_BYTES], after_[PCTL_DIGEST_BYTES]; \
		ALLOWED(pctl_chain_root(s, &call, before_));                   \
		last_code = 0;                                                 \
		assert_int_not_equal(what, PCTL_OK);                           \
		assert_int_equal(last_code, code_);                            \
		ALLOWED(pctl_chain_root(s, &call, after_));                    \
		assert_memory_equal(before_, after_, sizeof(before_));         \
	} while (0)

static uint64_t value_at(pctl_chain_state *s, uint64_t height, uint32_t param)
{
	pctl_params p;

	ALLOWED(pctl_params_in_force(s, height, &call, &p));
	return p.values[param];
}

/* Parameters, and three voters with bonds of 60, 30 and 10. */
static pctl_chain_state *fresh(void)
{
	static const struct {
		const char *name;
		uint64_t bond;
	} voters[] = {{"ann", 60}, {"ben", 30}, {"cy", 10}};
	pctl_chain_state *s;
	pctl_params p;

	ALLOWED(pctl_chain_state_open_memory(&call, &s));
	ALLOWED(pctl_chain_begin(s, &call));
	pctl_params_default(&p);
	ALLOWED(pctl_params_seed(s, &p, &call));
	for (int i = 0; i < 3; i++) {
		ALLOWED(pctl_ledger_credit(s, voters[i].name, 100, &call));
		ALLOWED(pctl_ledger_bond(s, voters[i].name, voters[i].bond, &call));
	}
	ALLOWED(pctl_ledger_credit(s, "dee", 100, &call));
	return s;
}

static void done(pctl_chain_state *s)
{
	ALLOWED(pctl_chain_commit(s, &call));
	pctl_chain_state_close(s);
}

static void test_chain_params__weights_are_those_of_the_schedule(void **state)
{
	pctl_gas_schedule *g;
	pctl_params p;

	(void)state;
	pctl_params_default(&p);
	ALLOWED(pctl_params_check(&p, &call));
	ALLOWED(pctl_gas_schedule_read(PIPECTL_SOURCE_DIR "/conf/gas/cybergraph-0.2.cfg", &call,
				       &g));
#define SAME(id, weight) assert_true(p.values[PCTL_PARAM_##id] == g->weight)
	SAME(WEIGHT_INTEGER, costs.integer);
	SAME(WEIGHT_DIVISION, costs.division);
	SAME(WEIGHT_ATOMIC, costs.atomic);
	SAME(WEIGHT_STORAGE_READ, costs.read);
	SAME(WEIGHT_STORAGE_WRITE, costs.write);
	SAME(WEIGHT_WORKGROUP_BARRIER, costs.workgroup_barrier);
	SAME(WEIGHT_STORAGE_BARRIER, costs.storage_barrier);
	SAME(WEIGHT_LOCAL_MEMORY_OPS, costs.memory_ops);
	SAME(WEIGHT_INDEX_CHECK, costs.index_check);
	SAME(WEIGHT_FLOAT, costs.float_op);
	SAME(WEIGHT_FLOAT_DIVISION, costs.float_division);
	SAME(WEIGHT_ELEMENTARY, costs.elementary);
	SAME(MEMORY_WEIGHT, memory);
	SAME(MEMORY_UNIT_BYTES, memory_unit_bytes);
	SAME(DEPENDENCY_COST, dependency_hop);
	SAME(VALIDATION_COST, validation);
#undef SAME
	pctl_gas_schedule_destroy(g);
}

static void test_chain_params__the_shipped_file_says_the_defaults(void **state)
{
	pctl_params p, q;

	(void)state;
	pctl_params_default(&p);
	ALLOWED(pctl_params_read(PIPECTL_SOURCE_DIR "/conf/chain/params.cfg", &call, &q));
	assert_memory_equal(&p, &q, sizeof(p));
}

/* The shipped file with one text replaced. */
static pctl_status read_changed(const char *from, const char *to)
{
	char path[] = "/tmp/pctl-params-XXXXXX", *text = calloc(1, 65536), *at;
	FILE *f = fopen(PIPECTL_SOURCE_DIR "/conf/chain/params.cfg", "rb");
	int fd = mkstemp(path);
	pctl_status status;
	pctl_params p;

	assert_non_null(f);
	assert_non_null(text);
	assert_true(fread(text, 1, 65535, f) > 0);
	fclose(f);
	at = strstr(text, from);
	assert_non_null(at);
	f = fdopen(fd, "wb");
	assert_non_null(f);
	fprintf(f, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	fclose(f);
	last_code = 0;
	status = pctl_params_read(path, &call, &p);
	unlink(path);
	free(text);
	return status;
}

static void test_chain_params__bad_files(void **state)
{
	static const struct {
		const char *from, *to;
		uint32_t code;
	} bad[] = {
		{"version = 1;", "version = 2;", 1024},
		{"version = 1;", "", 1021},
		{"quorum_ppm", "quorum", 1021},
		{"scale = ", "colour = \"1\"; scale = ", 1020},
		{"slash_ppm = \"100_000\"", "slash_ppm = 100000", 1022},
		{"slash_ppm = \"100_000\"", "slash_ppm = \"0\"", PC5721_PARAM_VALUE},
		{"slash_ppm = \"100_000\"", "slash_ppm = \"1_000_001\"", PC5721_PARAM_VALUE},
		{"slash_ppm = \"100_000\"", "slash_ppm = \"0x10\"", PC5721_PARAM_VALUE},
		{"split_burn_ppm = \"100_000\"", "split_burn_ppm = \"100_001\"", PC5722_PARAM_SET},
		{"throughput = \"100_000\"", "throughput = \"18446744073709551615\"",
		 PC5722_PARAM_SET},
		{"allowed_class = \"integer\"", "allowed_class = \"approximate\"",
		 PC5721_PARAM_VALUE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_not_equal(read_changed(bad[i].from, bad[i].to), PCTL_OK);
		if (last_code != bad[i].code)
			fail_msg("%s: PC%u", bad[i].to, last_code);
	}
	ALLOWED(read_changed("allowed_class = \"integer\"", "allowed_class = \"strict\""));
	ALLOWED(read_changed("version = 1;", "version = 1L;"));
}

static void test_chain_params__values(void **state)
{
	static const char *const bad[] = {"",	" 1",	"-1",  "+1",  "1.0",
					  "1_", "1__0", "0x1", "1e3", "18446744073709551616"};
	char text[PCTL_PARAM_TEXT_SIZE];
	pctl_params p;
	uint64_t v;
	uint32_t i;

	(void)state;
	for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
		assert_int_not_equal(pctl_param_parse(PCTL_PARAM_THROUGHPUT, bad[k], &call, &v),
				     PCTL_OK);
		assert_int_equal(last_code, PC5721_PARAM_VALUE);
	}
	ALLOWED(pctl_param_parse(PCTL_PARAM_THROUGHPUT, "18_446_744_073_709_551_615", &call, &v));
	assert_true(v == UINT64_MAX);
	assert_string_equal(pctl_param_format(PCTL_PARAM_THROUGHPUT, v, text),
			    "18446744073709551615");
	ALLOWED(pctl_param_parse(PCTL_PARAM_CLASS, "strict", &call, &v));
	assert_string_equal(pctl_param_format(PCTL_PARAM_CLASS, v, text), "strict");
	assert_int_not_equal(pctl_param_parse(PCTL_PARAM_CLASS, "1", &call, &v), PCTL_OK);
	ALLOWED(pctl_param_find("slash_ppm", &call, &i));
	assert_int_equal(i, PCTL_PARAM_SLASH);
	assert_int_not_equal(pctl_param_find("slash_pm", &call, &i), PCTL_OK);
	assert_int_equal(last_code, PC5720_PARAM_UNKNOWN);
	pctl_params_default(&p);
	ALLOWED(pctl_params_block_budget(&p, &call, &v));
	assert_true(v == UINT64_C(100000) * 5000 / 2);
	p.values[PCTL_PARAM_THROUGHPUT] = UINT64_MAX;
	assert_int_not_equal(pctl_params_block_budget(&p, &call, &v), PCTL_OK);
	assert_int_equal(last_code, PC5712_LEDGER_OVERFLOW);
}

/* Parts of a million are exact over the whole range. */
static void test_chain_params__parts(void **state)
{
	(void)state;
	assert_true(pctl_amount_part(UINT64_MAX, PCTL_PPM) == UINT64_MAX);
	assert_true(pctl_amount_part_up(UINT64_MAX, PCTL_PPM) == UINT64_MAX);
	/* From big integers: (2^64 - 1) * 999999 / 10^6 = 18446725626965477905.4.. */
	assert_true(pctl_amount_part(UINT64_MAX, 999999) == UINT64_C(18446725626965477905));
	assert_true(pctl_amount_part(999999, 1) == 0 && pctl_amount_part_up(1, 1) == 1);
	assert_true(pctl_amount_part(5, 0) == 0 && pctl_amount_part_up(5, 0) == 0);
}

static void test_chain_params__seeded_once(void **state)
{
	pctl_chain_state *s;
	pctl_params p;
	int seeded;

	(void)state;
	ALLOWED(pctl_chain_state_open_memory(&call, &s));
	ALLOWED(pctl_chain_begin(s, &call));
	REFUSED(s, pctl_params_in_force(s, 0, &call, &p), PC5723_PARAM_SEED);
	pctl_params_default(&p);
	p.values[PCTL_PARAM_SPLIT_BURN]++;
	REFUSED(s, pctl_params_seed(s, &p, &call), PC5722_PARAM_SET);
	p.values[PCTL_PARAM_SPLIT_BURN] = 1000001;
	REFUSED(s, pctl_params_seed(s, &p, &call), PC5721_PARAM_VALUE);
	pctl_params_default(&p);
	ALLOWED(pctl_params_is_seeded(s, &call, &seeded));
	assert_false(seeded);
	ALLOWED(pctl_params_seed(s, &p, &call));
	ALLOWED(pctl_params_is_seeded(s, &call, &seeded));
	assert_true(seeded);
	REFUSED(s, pctl_params_seed(s, &p, &call), PC5723_PARAM_SEED);
	assert_true(value_at(s, (uint64_t)INT64_MAX, PCTL_PARAM_SCALE) == 1000000);
	REFUSED(s, pctl_params_in_force(s, UINT64_MAX, &call, &p), PC5725_CHAIN_HEIGHT);
	done(s);
}

static void test_chain_params__a_change_holds_from_its_height(void **state)
{
	const pctl_param_change change = {PCTL_PARAM_SLASH, 0, 250000};
	pctl_chain_state *s = fresh();
	pctl_proposal p;
	uint64_t id;

	(void)state;
	ALLOWED(pctl_params_propose(s, 10, "cy", 20, &change, 1, &call, &id));
	assert_true(id == 1);
	REFUSED(s, pctl_params_apply(s, 10, id, &call), PC5727_PARAM_QUORUM);
	ALLOWED(pctl_params_vote(s, 11, id, "ann", 1, &call));
	REFUSED(s, pctl_params_apply(s, 12, id, &call), PC5727_PARAM_QUORUM);
	REFUSED(s, pctl_params_vote(s, 11, id, "ann", 0, &call), PC5726_PARAM_VOTER);
	REFUSED(s, pctl_params_vote(s, 11, id, "dee", 1, &call), PC5726_PARAM_VOTER);
	REFUSED(s, pctl_params_vote(s, 11, id, "eve", 1, &call), PC5714_LEDGER_ACCOUNT);
	REFUSED(s, pctl_params_vote(s, 11, 2, "ben", 1, &call), PC5724_PARAM_PROPOSAL);
	REFUSED(s, pctl_params_vote(s, 20, id, "ben", 1, &call), PC5725_CHAIN_HEIGHT);
	ALLOWED(pctl_params_vote(s, 19, id, "ben", 0, &call));
	ALLOWED(pctl_params_proposal(s, id, &call, &p));
	assert_true(p.yes == 60 && p.no == 30 && p.bonds == 100 && p.height == 20);
	assert_true(p.n_changes == 1 && p.changes[0].value == 250000 && !p.is_applied);
	ALLOWED(pctl_params_vote(s, 19, id, "cy", 1, &call));
	ALLOWED(pctl_params_apply(s, 19, id, &call));
	REFUSED(s, pctl_params_apply(s, 19, id, &call), PC5724_PARAM_PROPOSAL);
	REFUSED(s, pctl_params_vote(s, 19, id, "ann", 1, &call), PC5724_PARAM_PROPOSAL);
	assert_true(value_at(s, 19, PCTL_PARAM_SLASH) == 100000);
	assert_true(value_at(s, 20, PCTL_PARAM_SLASH) == 250000);
	assert_true(value_at(s, 1000, PCTL_PARAM_SLASH) == 250000);
	done(s);
}

/* Votes weigh what stands behind them when the change is applied: a bond that moves on votes once. */
static void test_chain_params__bonds_are_counted_when_it_is_applied(void **state)
{
	const pctl_param_change change = {PCTL_PARAM_SLASH, 0, 250000};
	pctl_chain_state *s = fresh();
	uint64_t id;

	(void)state;
	ALLOWED(pctl_params_propose(s, 0, "ann", 20, &change, 1, &call, &id));
	ALLOWED(pctl_params_vote(s, 1, id, "ann", 1, &call));
	ALLOWED(pctl_ledger_unbond(s, "ann", 60, &call));
	ALLOWED(pctl_ledger_transfer(s, "ann", "dee", 60, &call));
	ALLOWED(pctl_ledger_bond(s, "dee", 60, &call));
	REFUSED(s, pctl_params_apply(s, 2, id, &call), PC5727_PARAM_QUORUM);
	ALLOWED(pctl_params_vote(s, 2, id, "dee", 1, &call));
	REFUSED(s, pctl_params_apply(s, 2, id, &call), PC5727_PARAM_QUORUM);
	ALLOWED(pctl_ledger_bond(s, "dee", 30, &call));
	ALLOWED(pctl_params_apply(s, 2, id, &call));
	/* Nobody's bonds are no quorum. */
	ALLOWED(pctl_params_propose(s, 2, "cy", 30, &change, 1, &call, &id));
	ALLOWED(pctl_params_vote(s, 2, id, "cy", 1, &call));
	ALLOWED(pctl_ledger_unbond(s, "ben", 30, &call));
	ALLOWED(pctl_ledger_unbond(s, "cy", 10, &call));
	ALLOWED(pctl_ledger_unbond(s, "dee", 90, &call));
	REFUSED(s, pctl_params_apply(s, 3, id, &call), PC5727_PARAM_QUORUM);
	done(s);
}

static void test_chain_params__proposals_refused(void **state)
{
	const pctl_param_change slash = {PCTL_PARAM_SLASH, 0, 250000},
				zero = {PCTL_PARAM_SLASH, 0, 0},
				lone = {PCTL_PARAM_SPLIT_BURN, 0, 200000},
				budget = {PCTL_PARAM_THROUGHPUT, 0, UINT64_MAX},
				twice[] = {slash, {PCTL_PARAM_SCALE, 0, 1000}, slash};
	pctl_chain_state *s = fresh();
	uint64_t id;

	(void)state;
#define PROPOSE(who, now, at, changes, n) \
	pctl_params_propose(s, now, who, at, changes, n, &call, &id)
	REFUSED(s, PROPOSE("dee", 1, 2, &slash, 1), PC5726_PARAM_VOTER);
	REFUSED(s, PROPOSE("eve", 1, 2, &slash, 1), PC5714_LEDGER_ACCOUNT);
	REFUSED(s, PROPOSE("Ann", 1, 2, &slash, 1), PC5710_LEDGER_NAME);
	REFUSED(s, PROPOSE("ann", 2, 2, &slash, 1), PC5725_CHAIN_HEIGHT);
	REFUSED(s, PROPOSE("ann", 2, UINT64_MAX, &slash, 1), PC5725_CHAIN_HEIGHT);
	REFUSED(s, PROPOSE("ann", 1, 2, &zero, 1), PC5721_PARAM_VALUE);
	REFUSED(s, PROPOSE("ann", 1, 2, &lone, 1), PC5722_PARAM_SET);
	REFUSED(s, PROPOSE("ann", 1, 2, &budget, 1), PC5722_PARAM_SET);
	REFUSED(s, PROPOSE("ann", 1, 2, &slash, 0), PC5724_PARAM_PROPOSAL);
	REFUSED(s, PROPOSE("ann", 1, 2, twice, 3), PC5724_PARAM_PROPOSAL);
	assert_true(id == 0);
	ALLOWED(PROPOSE("ann", 1, 2, &slash, 1));
#undef PROPOSE
	done(s);
}

static void propose_and_apply(pctl_chain_state *s, uint64_t at, const pctl_param_change *changes,
			      uint32_t n, uint32_t code)
{
	uint64_t id;

	ALLOWED(pctl_params_propose(s, 0, "ann", at, changes, n, &call, &id));
	ALLOWED(pctl_params_vote(s, 0, id, "ann", 1, &call));
	ALLOWED(pctl_params_vote(s, 0, id, "ben", 1, &call));
	if (code != 0) {
		REFUSED(s, pctl_params_apply(s, 0, id, &call), code);
		return;
	}
	ALLOWED(pctl_params_apply(s, 0, id, &call));
	/* At once, in the same transaction, which remembers what it has read. */
	assert_true(value_at(s, at, changes[0].param) == changes[0].value);
}

/* What goes together holds at every height, whatever was applied in between. */
static void test_chain_params__sets_hold_at_every_height(void **state)
{
	const pctl_param_change at_100[] = {{PCTL_PARAM_SPLIT_EXECUTOR, 0, 700000},
					    {PCTL_PARAM_SPLIT_BURN, 0, 200000}},
				at_50[] = {{PCTL_PARAM_SPLIT_EXECUTOR, 0, 750000},
					   {PCTL_PARAM_SPLIT_TREASURY, 0, 150000}},
				fine[] = {{PCTL_PARAM_SPLIT_EXECUTOR, 0, 850000},
					  {PCTL_PARAM_SPLIT_BURN, 0, 50000}},
				other[] = {{PCTL_PARAM_SPLIT_EXECUTOR, 0, 900000},
					   {PCTL_PARAM_SPLIT_BURN, 0, 0}},
				at_200[] = {{PCTL_PARAM_SPLIT_EXECUTOR, 0, 600000},
					    {PCTL_PARAM_SPLIT_TREASURY, 0, 200000},
					    {PCTL_PARAM_SPLIT_BURN, 0, 200000}},
				at_150[] = {{PCTL_PARAM_SPLIT_EXECUTOR, 0, 750000},
					    {PCTL_PARAM_SPLIT_BURN, 0, 150000}};
	pctl_chain_state *s = fresh();
	uint64_t id, late;

	(void)state;
	/* Both are in order when they are proposed, not when the first was applied. */
	ALLOWED(pctl_params_propose(s, 0, "ann", 50, at_50, 2, &call, &late));
	ALLOWED(pctl_params_vote(s, 0, late, "ann", 1, &call));
	ALLOWED(pctl_params_vote(s, 0, late, "ben", 1, &call));
	propose_and_apply(s, 100, at_100, 2, 0);
	REFUSED(s, pctl_params_apply(s, 0, late, &call), PC5722_PARAM_SET);
	REFUSED(s, pctl_params_propose(s, 0, "ann", 50, at_50, 2, &call, &id), PC5722_PARAM_SET);
	propose_and_apply(s, 50, fine, 2, 0);
	propose_and_apply(s, 50, other, 2, PC5725_CHAIN_HEIGHT);
	/* What a later height says wins there, also where the earlier change comes second. */
	propose_and_apply(s, 200, at_200, 3, 0);
	propose_and_apply(s, 150, at_150, 2, 0);
	for (uint64_t h = 40; h < 220; h++)
		assert_true(value_at(s, h, PCTL_PARAM_SPLIT_EXECUTOR) +
				    value_at(s, h, PCTL_PARAM_SPLIT_TREASURY) +
				    value_at(s, h, PCTL_PARAM_SPLIT_BURN) ==
			    1000000);
	assert_true(value_at(s, 49, PCTL_PARAM_SPLIT_EXECUTOR) == 800000);
	assert_true(value_at(s, 99, PCTL_PARAM_SPLIT_EXECUTOR) == 850000);
	assert_true(value_at(s, 100, PCTL_PARAM_SPLIT_EXECUTOR) == 700000);
	done(s);
}

/* The ledger charges by the values of the block's height. */
static void test_chain_params__the_ledger_follows(void **state)
{
	const pctl_param_change all[] = {{PCTL_PARAM_SPLIT_EXECUTOR, 0, 0},
					 {PCTL_PARAM_SPLIT_TREASURY, 0, 1000000},
					 {PCTL_PARAM_SPLIT_BURN, 0, 0}};
	const uint8_t jobs[2][PCTL_DIGEST_BYTES] = {{1}, {2}};
	pctl_chain_state *s = fresh();
	pctl_ledger_split split;

	(void)state;
	propose_and_apply(s, 5, all, 3, 0);
	ALLOWED(pctl_ledger_reserve(s, jobs[0], "dee", 10, &call));
	ALLOWED(pctl_ledger_reserve(s, jobs[1], "dee", 10, &call));
	ALLOWED(pctl_ledger_settle(s, 4, jobs[0], 10, "cy", &call, &split));
	assert_true(split.executor == 8 && split.treasury == 1 && split.burned == 1);
	ALLOWED(pctl_ledger_settle(s, 5, jobs[1], 10, "cy", &call, &split));
	assert_true(split.executor == 0 && split.treasury == 10 && split.burned == 0);
	ALLOWED(pctl_ledger_check(s, &call));
	done(s);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_params__weights_are_those_of_the_schedule),
		PCTL_TEST(test_chain_params__the_shipped_file_says_the_defaults),
		PCTL_TEST(test_chain_params__bad_files), PCTL_TEST(test_chain_params__values),
		PCTL_TEST(test_chain_params__parts), PCTL_TEST(test_chain_params__seeded_once),
		PCTL_TEST(test_chain_params__a_change_holds_from_its_height),
		PCTL_TEST(test_chain_params__bonds_are_counted_when_it_is_applied),
		PCTL_TEST(test_chain_params__proposals_refused),
		PCTL_TEST(test_chain_params__sets_hold_at_every_height),
		PCTL_TEST(test_chain_params__the_ledger_follows))
