/* Every unit of the suite holds on a right device and fails on the faults it is there for, with the parameters that
 * failed; a lost device is replaced and its block counts as not run. */
#include "main.h"

#include "device_pair.h"
#include "plants.h"
#include "planted/planted.h"

#include "evidence/suite/trail.h"

/* What each plant is called in the table. */
static const char *const plant_names[PLANTS] = {
	[PLANT_DROP] = "a stored word is zero again",
	[PLANT_TWICE] = "a word stands where its neighbour should",
	[PLANT_REORDER] = "two neighbours have changed places",
	[PLANT_NO_BARRIER] = "a dispatch behind a barrier does not see what was before it",
	[PLANT_GUARD] = "a byte beside a binding has changed",
	[PLANT_OLD] = "a submit answers with the bytes of the one before",
	[PLANT_FLIP] = "one bit of one submit in seven",
	[PLANT_LAYOUT] = "members after the first lie four bytes further on",
	[PLANT_RESTART] = "a session opened again answers another bit",
	[PLANT_LOST] = "the device is lost",
	[PLANT_STUCK] = "a submit never ends",
	[PLANT_ATOMIC] = "an atomic gave back its neighbour's value",
};

/* Units that found a plant; in the end that must be all of them. */
#define MOST_UNITS 64u
static const char *found_by[MOST_UNITS];
static uint32_t n_found_by;

struct sum {
	uint64_t cases, failures, not_run;
	pctl_counterexample first;
};

/* The unit `name` on a bench with the fault. */
static struct sum run_on(const char *name, device_pair *b)
{
	pctl_units *list = NULL;
	struct sum s = {0};
	int known = 0;

	assert_int_equal(pctl_units_create(device_pair_call(b), &list), PCTL_OK);
	assert_int_equal(
		pctl_suite_units(&b->context, PCTL_TRACK_INTEGER, 24, device_pair_call(b), list),
		PCTL_OK);
	for (uint32_t i = 0; i < list->n; i++) {
		const pctl_unit *u = &list->units[i];

		if (strcmp(u->name, name) != 0)
			continue;
		known = 1;
		assert_int_equal(u->level, 3);
		assert_int_equal(u->track, PCTL_TRACK_INTEGER);
		for (uint64_t k = 0; k < u->n_blocks; k++) {
			pctl_block out;

			if (u->run(u, &b->context, k, device_pair_call(b), &out) != PCTL_OK) {
				s.not_run++;
				continue;
			}
			s.cases += out.cases;
			if (out.failures != 0 && s.failures == 0)
				s.first = out.first;
			s.failures += out.failures;
		}
	}
	if (!known)
		fail_msg("the suite has no unit %s", name);
	pctl_units_destroy(list);
	return s;
}

static struct sum run_unit(const char *name, uint32_t which, device_pair *b)
{
	plant_choose(which);
	assert_true(device_pair_open(b, "cpu", 1, 1, plant_wrap));
	return run_on(name, b);
}

static void found(const char *name, const char *fault, const struct sum *s)
{
	char caught_by[128], named[1400];

	if (s->failures == 0 || s->not_run != 0)
		fail_msg("%s: %s: %u cases, %u failures, %u blocks not run", name, fault,
			 (unsigned)s->cases, (unsigned)s->failures, (unsigned)s->not_run);
	assert_true(s->first.inputs[0] != '\0');
	assert_true(s->first.got[0] != '\0' && s->first.want[0] != '\0');
	assert_non_null(strstr(s->first.law, name));
	assert_true(n_found_by < MOST_UNITS);
	found_by[n_found_by++] = name;
	snprintf(caught_by, sizeof(caught_by), "engine: %s", name);
	snprintf(named, sizeof(named), "%s; %s",
		 planted_case(s->first.inputs, s->first.got, s->first.want),
		 strrchr(s->first.law, ';') == NULL ? s->first.law
						    : strrchr(s->first.law, ';') + 2);
	planted(fault, "engine", caught_by, named);
}

static void must_find(const char *name, uint32_t which)
{
	device_pair b;
	struct sum s = run_unit(name, which, &b);

	device_pair_close(&b);
	found(name, plant_names[which], &s);
}

static void test_suite__a_dropped_store(void **state)
{
	(void)state;
	must_find("no-output-lost", PLANT_DROP);
	must_find("no-output-lost-histogram", PLANT_DROP);
	must_find("workgroup-invariant", PLANT_DROP);
	must_find("terminating", PLANT_DROP);
	must_find("context-free", PLANT_DROP);
	must_find("whole-values", PLANT_DROP);
	must_find("known-operands", PLANT_DROP);
	must_find("known-shifts", PLANT_DROP);
	must_find("barrier-parted", PLANT_DROP);
	must_find("barrier-rest", PLANT_DROP);
	must_find("barrier-rows", PLANT_DROP);
}

/* A wrong lowering, of the mock. It was NVIDIA's, in its own way: the element kept its old value. */
static void test_suite__a_lost_element(void **state)
{
	static const char *const names[] = {"whole-values", "generated-programs"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		device_pair b;
		struct sum s;

		assert_true(device_pair_open(&b, "mock:wrap=cpu+element", 1, 1, NULL));
		s = run_on(names[i], &b);
		device_pair_close(&b);
		found(names[i], "a store at a proven index is lost", &s);
	}
}

/* The same, of a driver that loses what a shift implies of its amount. It was lavapipe's, of one amount. */
static void test_suite__a_shift(void **state)
{
	device_pair b;
	struct sum s;

	(void)state;
	assert_true(device_pair_open(&b, "mock:wrap=cpu+shift", 1, 1, NULL));
	s = run_on("known-shifts", &b);
	device_pair_close(&b);
	found("known-shifts", "64 bits are shifted by five bits of what a variable holds", &s);
}

/* Wrong without a word where a program is too large, on a device that nothing is known of. */
static void test_suite__too_large(void **state)
{
	static const struct {
		const char *selector, *fault;
	} devices[] = {{"mock:wrap=cpu+turns=50000", "loops end after 50,000 turns"},
		       {"mock:wrap=cpu+nest=60", "conditions below 60 others are lost"},
		       {"mock:wrap=cpu+array=2048", "arrays end after 2 KiB"},
		       {"mock:wrap=cpu+table=32768", "tables end after 32 KiB"},
		       {"mock:wrap=cpu+long=3000", "long functions go wrong at their end"}};

	(void)state;
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		device_pair b;
		struct sum s;

		assert_true(device_pair_open(&b, devices[i].selector, 1, 1, NULL));
		s = run_on("limits", &b);
		device_pair_close(&b);
		found("limits", devices[i].fault, &s);
	}
}

static void test_suite__a_duplicate(void **state)
{
	(void)state;
	must_find("no-duplicate", PLANT_TWICE);
	must_find("no-output-lost", PLANT_TWICE);
}

static void test_suite__two_out_of_order(void **state)
{
	(void)state;
	must_find("ordered", PLANT_REORDER);
	must_find("barrier-visibility", PLANT_REORDER);
	must_find("barrier-isolation", PLANT_REORDER);
	must_find("barrier-storage", PLANT_REORDER);
	must_find("barrier-scope", PLANT_REORDER);
	must_find("barrier-uniform", PLANT_REORDER);
}

static void test_suite__a_barrier_ignored(void **state)
{
	(void)state;
	must_find("ordered-dispatches", PLANT_NO_BARRIER);
	must_find("ordered", PLANT_NO_BARRIER);
}

static void test_suite__a_guard_changed(void **state)
{
	(void)state;
	must_find("bounded", PLANT_GUARD);
	must_find("bounded-matrices", PLANT_GUARD);
}

static void test_suite__old_bytes(void **state)
{
	(void)state;
	must_find("deterministic", PLANT_OLD);
	must_find("race-free", PLANT_OLD);
}

static void test_suite__a_bit_in_a_repeat(void **state)
{
	(void)state;
	must_find("deterministic", PLANT_FLIP);
	must_find("race-free", PLANT_FLIP);
	must_find("wire-equivalence", PLANT_FLIP);
	must_find("generated-programs", PLANT_FLIP);
	must_find("generated-barriers", PLANT_FLIP);
	must_find("generated-exits", PLANT_FLIP);
}

static void test_suite__another_layout(void **state)
{
	(void)state;
	must_find("layout-storage", PLANT_LAYOUT);
	must_find("layout-uniform", PLANT_LAYOUT);
}

static void test_suite__a_restart(void **state)
{
	(void)state;
	must_find("deterministic-restart", PLANT_RESTART);
}

static void test_suite__old_values_of_atomics(void **state)
{
	static const char *const names[] = {"atomic-add", "atomic-bits", "atomic-extremes",
					    "atomic-exchange", "atomic-compare-exchange"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		must_find(names[i], PLANT_ATOMIC);
}

/* What has to be seen by the sanitizer is missed where there is a reference that watches nothing in its place. */
static void test_suite__a_blind_sanitizer(void **state)
{
	static const char *const names[] = {"race-detected", "barrier-uniform-refused"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		pctl_session *sanitizer;
		device_pair b;
		struct sum s;

		plant_choose(PLANT_NONE);
		assert_true(device_pair_open(&b, "cpu", 1, 1, NULL));
		sanitizer = b.context.sanitizer;
		b.context.sanitizer = b.context.reference;
		s = run_on(names[i], &b);
		b.context.sanitizer = sanitizer;
		device_pair_close(&b);
		found(names[i], "a sanitizer that sees nothing", &s);
	}
}

/* Last: no unit of the suite is without a plant that it found. */
static void test_suite__every_unit_found_one(void **state)
{
	pctl_units *list = NULL;
	device_pair b;

	(void)state;
	plant_choose(PLANT_NONE);
	assert_true(device_pair_open(&b, "cpu", 1, 1, NULL));
	assert_int_equal(pctl_units_create(device_pair_call(&b), &list), PCTL_OK);
	assert_int_equal(
		pctl_suite_units(&b.context, PCTL_TRACK_INTEGER, 4, device_pair_call(&b), list),
		PCTL_OK);
	assert_true(list->n > 20);
	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t k = 0;

		while (k < n_found_by && strcmp(found_by[k], list->units[i].name) != 0)
			k++;
		if (k == n_found_by)
			fail_msg("%s was never shown to fail", list->units[i].name);
	}
	pctl_units_destroy(list);
	device_pair_close(&b);
}

/* PC5403; the block that lost it is not run, those after it are, on a session opened again. */
static void test_suite__a_lost_device(void **state)
{
	device_pair b;
	struct sum s = run_unit("deterministic", PLANT_LOST, &b);
	const char *lost_text = NULL;
	uint32_t lost = 0;

	(void)state;
	for (uint32_t i = 0; i < pctl_diag_list_count(b.diagnostics); i++) {
		const pctl_diag *d = pctl_diag_list_at(b.diagnostics, i);

		if (d->code != PC5403_SUITE_LOST)
			continue;
		lost++;
		lost_text = d->message;
	}
	assert_int_equal(lost, 1);
	planted(plant_names[PLANT_LOST], "engine", "PC5403: the block is not run", lost_text);
	assert_int_equal(s.not_run, 1);
	assert_int_equal(s.failures, 0);
	assert_true(s.cases != 0);
	assert_int_equal(b.opened, 2);
	device_pair_close(&b);
}

/* PC5402: a program of the suite that does not end is given up, its block is not run, and the device is opened again. */
static void test_suite__a_stuck_device(void **state)
{
	device_pair b;
	struct sum s = run_unit("deterministic", PLANT_STUCK, &b);
	const char *text = NULL;

	(void)state;
	for (uint32_t i = 0; i < pctl_diag_list_count(b.diagnostics); i++)
		if (pctl_diag_list_at(b.diagnostics, i)->code == PC5402_SUITE_TIME)
			text = pctl_diag_list_at(b.diagnostics, i)->message;
	assert_non_null(text);
	planted(plant_names[PLANT_STUCK], "engine", "PC5402: the block is not run", text);
	assert_int_equal(s.not_run, 1);
	assert_int_equal(s.failures, 0);
	assert_true(s.cases != 0);
	assert_int_equal(b.opened, 2);
	device_pair_close(&b);
}

/* PC5401: without the sanitizing reference what needs it is not run, rather than passed. */
static void test_suite__no_sanitizer(void **state)
{
	pctl_units *list = NULL;
	uint32_t refused = 0;
	device_pair b;

	(void)state;
	plant_choose(PLANT_NONE);
	assert_true(device_pair_open(&b, "cpu", 1, 0, NULL));
	assert_int_equal(pctl_units_create(device_pair_call(&b), &list), PCTL_OK);
	assert_int_equal(
		pctl_suite_units(&b.context, PCTL_TRACK_INTEGER, 0, device_pair_call(&b), list),
		PCTL_OK);
	for (uint32_t i = 0; i < list->n; i++) {
		pctl_block out;

		if (strncmp(list->units[i].name, "race-", 5) == 0)
			refused += list->units[i].run(&list->units[i], &b.context, 0,
						      device_pair_call(&b),
						      &out) == PCTL_E_UNSUPPORTED;
	}
	assert_int_equal(refused, 2);
	assert_int_equal(pctl_diag_list_at(b.diagnostics, 0)->code, PC5401_SUITE_SANITIZER);
	planted("no sanitizing reference", "engine", "PC5401: the unit is not run",
		pctl_diag_list_at(b.diagnostics, 0)->message);
	pctl_units_destroy(list);
	device_pair_close(&b);
}

/* The judge of atomics alone: orders that exist and orders that do not. */
static void test_suite__trails(void **state)
{
	const suite_move add[4] = {{2, 3}, {0, 1}, {3, 4}, {1, 2}};
	const suite_move twice[3] = {{0, 1}, {0, 1}, {1, 2}};
	const suite_move apart[3] = {{0, 1}, {5, 6}, {6, 5}};
	const suite_move loops[4] = {{0, 0}, {0, 1}, {1, 1}, {1, 0}};
	uint32_t at;

	(void)state;
	assert_int_equal(suite_trail(add, 4, 0, 4, &at), 1);
	assert_int_equal(suite_trail(add, 4, 0, 3, &at), 0);
	assert_int_equal(suite_trail(twice, 3, 0, 2, &at), 0);
	assert_int_equal(suite_trail(apart, 3, 0, 1, &at), 0);
	assert_int_equal(suite_trail(loops, 4, 0, 0, &at), 1);
	assert_int_equal(suite_trail(NULL, 0, 7, 7, &at), 1);
	assert_int_equal(suite_trail(NULL, 0, 7, 8, &at), 0);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_suite__a_dropped_store), PCTL_TEST(test_suite__a_duplicate),
		PCTL_TEST(test_suite__a_lost_element), PCTL_TEST(test_suite__a_shift),
		PCTL_TEST(test_suite__too_large), PCTL_TEST(test_suite__two_out_of_order),
		PCTL_TEST(test_suite__a_barrier_ignored), PCTL_TEST(test_suite__a_guard_changed),
		PCTL_TEST(test_suite__old_bytes), PCTL_TEST(test_suite__a_bit_in_a_repeat),
		PCTL_TEST(test_suite__another_layout), PCTL_TEST(test_suite__a_restart),
		PCTL_TEST(test_suite__old_values_of_atomics),
		PCTL_TEST(test_suite__a_blind_sanitizer), PCTL_TEST(test_suite__a_lost_device),
		PCTL_TEST(test_suite__a_stuck_device), PCTL_TEST(test_suite__no_sanitizer),
		PCTL_TEST(test_suite__trails), PCTL_TEST(test_suite__every_unit_found_one))
