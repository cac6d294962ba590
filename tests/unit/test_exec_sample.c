/* The share of work that the reference does again: all, none, about as much as was asked, and drawn anew for each run. */
#include "main.h"

#include "runtime/exec/sample.h"

#define PIECES 100000u

static uint32_t count(const pctl_sample *s)
{
	uint32_t n = 0;

	for (uint64_t i = 0; i < PIECES; i++)
		n += (uint32_t)pctl_sample_has(s, i);
	return n;
}

static void sample__is_the_share_that_was_asked_for(void **state)
{
	pctl_sample s;

	(void)state;
	assert_int_equal(pctl_sample_draw(0, NULL, &s), PCTL_OK);
	assert_int_equal(count(&s), 0);
	assert_int_equal(pctl_sample_draw(1000000, NULL, &s), PCTL_OK);
	assert_int_equal(count(&s), PIECES);
	/* 250000 pieces in a million, of 100000: 25000, and 137 either way is one standard deviation. */
	assert_int_equal(pctl_sample_draw(250000, NULL, &s), PCTL_OK);
	assert_in_range(count(&s), 25000 - 1370, 25000 + 1370);
}

static void sample__is_another_one_in_each_run(void **state)
{
	uint32_t differ = 0;
	pctl_sample a, b;

	(void)state;
	assert_int_equal(pctl_sample_draw(500000, NULL, &a), PCTL_OK);
	assert_int_equal(pctl_sample_draw(500000, NULL, &b), PCTL_OK);
	for (uint64_t i = 0; i < PIECES; i++) {
		assert_int_equal(pctl_sample_has(&a, i), pctl_sample_has(&a, i));
		differ += (uint32_t)(pctl_sample_has(&a, i) != pctl_sample_has(&b, i));
	}
	assert_in_range(differ, PIECES / 4, PIECES - PIECES / 4);
}

PCTL_TESTS_MAIN(PCTL_TEST(sample__is_the_share_that_was_asked_for),
		PCTL_TEST(sample__is_another_one_in_each_run))
