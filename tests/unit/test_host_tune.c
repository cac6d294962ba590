/* Which clock is believed of rounds that were timed. */
#include <stdlib.h>

#include "host/tune.h"
#include "main.h"

/* The first round is another's: it warms up. */
#define WARM                             \
	{                                \
		0, 900000, 1000000, 1, 0 \
	}

static void test_host_tune__honest(void **state)
{
	static const pctl_round_time rounds[] = {
		WARM, {0, 30, 100, 1, 0}, {0, 10, 100, 1, 0}, {5, 25, 100, 1, 0}};
	pctl_tune_time t;

	(void)state;
	pctl_tune_judge(rounds, 4, &t);
	assert_int_equal(t.is_device, 1);
	assert_null(t.why);
	assert_int_equal(t.rounds, 3);
	assert_int_equal(t.median_ns, 20);
	assert_int_equal(t.least_ns, 10);
	assert_int_equal(t.most_ns, 30);
}

static void test_host_tune__lies(void **state)
{
	static const struct {
		pctl_round_time rounds[4];
		const char *says;
	} cases[] = {
		{{WARM, {0, 30, 100, 0, 0}, {0, 30, 200, 0, 0}, {0, 30, 300, 0, 0}},
		 "no timestamps"},
		{{WARM, {7, 7, 100, 1, 0}, {0, 0, 200, 1, 0}, {9, 9, 300, 1, 0}}, "no time"},
		{{WARM, {30, 0, 100, 1, 0}, {0, 30, 200, 1, 0}, {0, 30, 300, 1, 0}}, "backwards"},
		{{WARM, {0, 30, 100, 1, 0}, {0, 30, 200, 1, 0}, {0, 301, 300, 1, 0}}, "longer"},
		{{WARM,
		  {0, UINT64_MAX, 100, 1, 0},
		  {0, UINT64_MAX, 200, 1, 0},
		  {0, UINT64_MAX, 300, 1, 0}},
		 "longer"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pctl_tune_time t;

		pctl_tune_judge(cases[i].rounds, 4, &t);
		assert_int_equal(t.is_device, 0);
		assert_non_null(t.why);
		assert_non_null(strstr(t.why, cases[i].says));
		assert_int_equal(t.median_ns, 200);
		assert_int_equal(t.least_ns, 100);
		assert_int_equal(t.most_ns, 300);
	}
}

/* One round among many that says nothing of the time, as a coarse clock does, is no lie. */
static void test_host_tune__coarse(void **state)
{
	static const pctl_round_time rounds[] = {
		WARM, {0, 0, 100, 1, 0}, {0, 32, 100, 1, 0}, {5, 37, 100, 1, 0}};
	pctl_tune_time t;

	(void)state;
	pctl_tune_judge(rounds, 4, &t);
	assert_int_equal(t.is_device, 1);
	assert_int_equal(t.median_ns, 32);
	assert_int_equal(t.least_ns, 0);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_host_tune__honest), PCTL_TEST(test_host_tune__lies),
		PCTL_TEST(test_host_tune__coarse))
