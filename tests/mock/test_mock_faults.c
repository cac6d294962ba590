/* Faults of submits around the cpu backend: each is seen where the script says, and nowhere else. */
#include "device_fixture.h"

#include <signal.h>

#include "runtime/ipc/process.h"
#include "runtime/ipc/remote.h"
#include "foundation/base/clock.h"

static const uint32_t modes[2] = {0, PCTL_INSTANCE_IN_PROCESS};

#define BYTES (4ull * DEVICE_WORDS)

/* Two buffers that a repeat alternates between, and a list of two rounds: even ones from [0] to [1], odd ones back. */
typedef struct repeat {
	pctl_kernel *k;
	pctl_buffer *buf[2];
	pctl_list *l;
} repeat;

/* job NULL: no trace ids. */
static void repeat_begin(device_fixture *b, repeat *r, const char *job)
{
	uint32_t start[DEVICE_WORDS];

	for (uint32_t i = 0; i < DEVICE_WORDS; i++)
		start[i] = i;
	b->call.trace_id = job ? pctl_trace(job, 0, 0) : 0;
	r->k = device_affine(b);
	r->buf[0] = device_buffer(b, start, DEVICE_WORDS);
	r->buf[1] = device_buffer(b, NULL, DEVICE_WORDS);
	r->l = device_list(b);
	for (uint32_t i = 0; i < 2; i++) {
		b->call.trace_id = job ? pctl_trace(job, i, 0) : 0;
		device_record(b, r->l, r->k, r->buf[i], BYTES, r->buf[1 - i], BYTES, DEVICE_WORDS);
	}
	assert_int_equal(b->t->list_end(r->l, &b->call), PCTL_OK);
}

/* Rounds from .. from + 2 * times - 1. */
static void repeat_run(device_fixture *b, repeat *r, const char *job, uint32_t from, uint32_t times)
{
	b->call.trace_id = job ? pctl_trace(job, from, 0) : 0;
	assert_int_equal(device_run(b, r->l, times), PCTL_OK);
}

static void repeat_end(device_fixture *b, repeat *r)
{
	b->t->list_destroy(b->dev, r->l);
	b->t->buffer_destroy(b->dev, r->buf[0]);
	b->t->buffer_destroy(b->dev, r->buf[1]);
	b->t->kernel_destroy(b->dev, r->k);
}

static uint32_t power(uint32_t base, uint32_t n)
{
	uint32_t x = 1;

	while (n--)
		x *= base;
	return x;
}

/* After `rounds` rounds of which round `at` was flipped in bit `bit` of word `word` at its end. */
static void expect_flip(device_fixture *b, repeat *r, uint32_t rounds, uint32_t at, uint32_t word,
			uint32_t bit)
{
	uint32_t got[DEVICE_WORDS], want[DEVICE_WORDS], before[DEVICE_WORDS];
	uint32_t change;

	device_expect(at + 1, before);
	change = (before[word] ^ 1u << bit) - before[word];
	device_expect(rounds, want);
	want[word] += change * power(3, rounds - 1 - at);
	device_read(b, r->buf[0], got, DEVICE_WORDS);
	assert_memory_equal(got, want, BYTES);
}

static void expect_right(device_fixture *b, repeat *r, uint32_t rounds)
{
	uint32_t got[DEVICE_WORDS], want[DEVICE_WORDS];

	device_expect(rounds, want);
	device_read(b, r->buf[0], got, DEVICE_WORDS);
	assert_memory_equal(got, want, BYTES);
}

static void flip__in_the_middle_of_a_submit_of_many_rounds(void **state)
{
	repeat r;
	device_fixture b;

	(void)state;
	for (int i = 0; i < 2; i++) {
		device_open(&b, "mock:wrap=cpu+flip-bit@step/5:element=17:bit=9", modes[i]);
		/* Another job's rounds are its own. */
		repeat_begin(&b, &r, "other");
		repeat_run(&b, &r, "other", 0, 4);
		expect_right(&b, &r, 8);
		repeat_end(&b, &r);
		/* A probe has no job. */
		repeat_begin(&b, &r, NULL);
		repeat_run(&b, &r, NULL, 0, 4);
		expect_right(&b, &r, 8);
		repeat_end(&b, &r);
		repeat_begin(&b, &r, "step");
		repeat_run(&b, &r, "step", 0, 4);
		expect_flip(&b, &r, 8, 5, 17, 9);
		repeat_end(&b, &r);
		/* In several submits of the same list, too. */
		repeat_begin(&b, &r, "step");
		repeat_run(&b, &r, "step", 0, 1);
		repeat_run(&b, &r, "step", 2, 1);
		repeat_run(&b, &r, "step", 4, 2);
		expect_flip(&b, &r, 8, 5, 17, 9);
		repeat_end(&b, &r);
		device_close(&b);
	}
}

static void flip__after_the_job_and_by_number(void **state)
{
	repeat r;
	device_fixture b;

	(void)state;
	for (int i = 0; i < 2; i++) {
		device_open(&b, "mock:wrap=cpu+flip-bit@step:element=3+flip-bit@3:element=4:bit=31",
			    modes[i]);
		repeat_begin(&b, &r, "step");
		repeat_run(&b, &r, "step", 0, 2);
		expect_flip(&b, &r, 4, 3, 3, 0);
		repeat_end(&b, &r);
		repeat_begin(&b, &r, NULL);
		repeat_run(&b, &r, NULL, 0, 1);
		expect_right(&b, &r, 2);
		repeat_run(&b, &r, NULL, 0, 1);
		expect_flip(&b, &r, 4, 3, 4, 31);
		repeat_end(&b, &r);
		device_close(&b);
	}
}

static void flip__only_the_time_that_is_asked_for(void **state)
{
	repeat r;
	device_fixture b;

	(void)state;
	device_open(&b, "mock:wrap=cpu+flip-bit@step/1:repeat=2", 0);
	for (uint32_t k = 1; k <= 3; k++) {
		repeat_begin(&b, &r, "step");
		repeat_run(&b, &r, "step", 0, 2);
		if (k == 2)
			expect_flip(&b, &r, 4, 1, 0, 0);
		else
			expect_right(&b, &r, 4);
		repeat_end(&b, &r);
	}
	device_close(&b);
}

/* Three steps in one round: a to b, b to c, a copy of c to d. */
typedef struct steps {
	pctl_kernel *k;
	pctl_buffer *buf[4];
} steps;

static void steps_begin(device_fixture *b, steps *s)
{
	uint32_t start[DEVICE_WORDS];

	for (uint32_t i = 0; i < DEVICE_WORDS; i++)
		start[i] = i;
	s->k = device_affine(b);
	for (uint32_t i = 0; i < 4; i++)
		s->buf[i] = device_buffer(b, start, DEVICE_WORDS);
}

static void steps_record(device_fixture *b, const steps *s, pctl_list *l, uint32_t step)
{
	if (step < 2)
		device_record(b, l, s->k, s->buf[step], BYTES, s->buf[step + 1], BYTES,
			      DEVICE_WORDS);
	else
		assert_int_equal(b->t->list_copy(l, &b->call, s->buf[2], 0, s->buf[3], 0, BYTES),
				 PCTL_OK);
}

/* All in one list with step 0, or each alone with its number. */
static void steps_run(device_fixture *b, const steps *s, int alone)
{
	for (uint32_t step = 0; step < (alone ? 3u : 1u); step++) {
		pctl_list *l;

		b->call.trace_id = pctl_trace("job", 2, alone ? step + 1 : 0);
		l = device_list(b);
		for (uint32_t k = step; k < (alone ? step + 1 : 3); k++)
			steps_record(b, s, l, k);
		assert_int_equal(b->t->list_end(l, &b->call), PCTL_OK);
		assert_int_equal(device_run(b, l, 1), PCTL_OK);
		b->t->list_destroy(b->dev, l);
	}
}

static void steps_end(device_fixture *b, steps *s)
{
	for (uint32_t i = 0; i < 4; i++)
		b->t->buffer_destroy(b->dev, s->buf[i]);
	b->t->kernel_destroy(b->dev, s->k);
}

/* Buffers 1 to 3, each wrong by this many units in word 5 alone. */
static void steps_expect(device_fixture *b, const steps *s, const uint32_t change[3])
{
	uint32_t got[DEVICE_WORDS], want[DEVICE_WORDS];

	for (uint32_t i = 0; i < 3; i++) {
		device_expect(i < 2 ? i + 1 : 2, want);
		want[5] += change[i];
		device_read(b, s->buf[i + 1], got, DEVICE_WORDS);
		assert_memory_equal(got, want, BYTES);
	}
}

static void flip__after_a_step_of_a_round(void **state)
{
	/* 5 becomes 16, then 49 = 0x31. */
	static const struct {
		const char *place;
		uint32_t change[3];
	} cases[] = {
		{"job/2.1", {1, 3, 3}},
		{"job/2.2", {0, (uint32_t)-1, (uint32_t)-1}},
		{"job/2.3", {0, 0, (uint32_t)-1}},
		{"job/*.2", {0, (uint32_t)-1, (uint32_t)-1}},
		{"job/3.2", {0, 0, 0}},
		{"job/2.4", {0, 0, 0}},
	};
	steps s;
	device_fixture b;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int alone = 0; alone < 2; alone++) {
			char selector[96];

			snprintf(selector, sizeof(selector), "mock:wrap=cpu+flip-bit@%s:element=5",
				 cases[i].place);
			device_open(&b, selector, modes[alone]);
			steps_begin(&b, &s);
			steps_run(&b, &s, alone);
			steps_expect(&b, &s, cases[i].change);
			steps_end(&b, &s);
			device_close(&b);
		}
}

/* Without a step the end of the round is meant; steps that run alone are known by a round that was seen whole. */
static void flip__at_the_end_of_a_round_run_step_by_step(void **state)
{
	static const uint32_t change[3] = {0, (uint32_t)-1, 0}, none[3] = {0, 0, 0};
	steps s;
	device_fixture b;

	(void)state;
	device_open(&b, "mock:wrap=cpu+flip-bit@job/2:element=5:repeat=2", 0);
	for (int alone = 0; alone < 2; alone++) {
		steps_begin(&b, &s);
		steps_run(&b, &s, alone);
		/* The last dispatch's output, which the copy has left behind. Alone, the copy is the last. */
		if (alone)
			steps_expect(&b, &s, (const uint32_t[]){0, 0, (uint32_t)-1});
		else
			steps_expect(&b, &s, none);
		steps_end(&b, &s);
	}
	device_close(&b);
	device_open(&b, "mock:wrap=cpu+flip-bit@job/2:element=5:binding=0.1", 0);
	steps_begin(&b, &s);
	steps_run(&b, &s, 0);
	steps_expect(&b, &s, change);
	steps_end(&b, &s);
	device_close(&b);
}

static void flip__an_element_outside_is_told(void **state)
{
	repeat r;
	device_fixture b;

	(void)state;
	device_open(&b, "mock:wrap=cpu+flip-bit@step:element=64", 0);
	repeat_begin(&b, &r, "step");
	b.call.trace_id = pctl_trace("step", 0, 0);
	assert_int_equal(device_run(&b, r.l, 1), PCTL_E_USAGE);
	assert_true(has_code(&b.f, PC3280_MOCK_SCRIPT));
	repeat_end(&b, &r);
	device_close(&b);
}

/* ---- faults of every submit --------------------------------------------------------------- */

static void corrupt__lanes_are_counted_over_all_words(void **state)
{
	uint32_t got[DEVICE_WORDS], want[DEVICE_WORDS];
	repeat r;
	device_fixture b;

	(void)state;
	/* Two outputs of 64 words a submit: words 100 and 200 of all are word 35 of the second and 7 of the fourth. */
	device_open(&b, "mock:wrap=cpu+late-lane=100", 0);
	repeat_begin(&b, &r, NULL);
	repeat_run(&b, &r, NULL, 0, 1);
	expect_right(&b, &r, 2);
	repeat_end(&b, &r);
	repeat_begin(&b, &r, "step");
	repeat_run(&b, &r, "step", 0, 1);
	device_expect(2, want);
	device_read(&b, r.buf[0], got, DEVICE_WORDS);
	assert_int_equal(got[35], want[35] ^ 1);
	device_one_differs(got, want, DEVICE_WORDS, 35);
	repeat_run(&b, &r, "step", 2, 1);
	device_expect(4, want);
	want[35] += 9 * ((got[35] & 1) ? 1u : (uint32_t)-1);
	device_read(&b, r.buf[0], got, DEVICE_WORDS);
	assert_int_equal(got[7], want[7] ^ 1);
	device_one_differs(got, want, DEVICE_WORDS, 7);
	repeat_end(&b, &r);
	device_close(&b);
}

static void corrupt__zero_stale_and_racy(void **state)
{
	static const uint32_t zeros[DEVICE_WORDS];
	uint32_t got[DEVICE_WORDS], want[DEVICE_WORDS];
	repeat r;
	device_fixture b;

	(void)state;
	for (int i = 0; i < 2; i++) {
		device_open(&b, "mock:wrap=cpu+zero", modes[i]);
		repeat_begin(&b, &r, NULL);
		repeat_run(&b, &r, NULL, 0, 1);
		device_read(&b, r.buf[0], got, DEVICE_WORDS);
		assert_memory_equal(got, zeros, BYTES);
		repeat_end(&b, &r);
		device_close(&b);

		device_open(&b, "mock:wrap=cpu+stale", modes[i]);
		repeat_begin(&b, &r, NULL);
		repeat_run(&b, &r, NULL, 0, 1);
		expect_right(&b, &r, 2);
		assert_int_equal(b.t->buffer_write(b.dev, &b.call, r.buf[0], 0, zeros, BYTES),
				 PCTL_OK);
		repeat_run(&b, &r, NULL, 2, 1);
		expect_right(&b, &r, 2);
		repeat_end(&b, &r);
		/* Another list is not stale. */
		repeat_begin(&b, &r, NULL);
		repeat_run(&b, &r, NULL, 0, 2);
		expect_right(&b, &r, 4);
		repeat_end(&b, &r);
		device_close(&b);

		device_open(&b, "mock:wrap=cpu+racy", modes[i]);
		repeat_begin(&b, &r, NULL);
		repeat_run(&b, &r, NULL, 0, 1);
		expect_right(&b, &r, 2);
		repeat_run(&b, &r, NULL, 2, 1);
		device_expect(4, want);
		device_read(&b, r.buf[0], got, DEVICE_WORDS);
		device_one_differs(got, want, DEVICE_WORDS, 0);
		repeat_end(&b, &r);
		device_close(&b);
	}
}

/* ---- ends --------------------------------------------------------------------------------- */

static void end__a_lost_device_stays_lost(void **state)
{
	uint32_t word;
	repeat r;
	device_fixture b;

	(void)state;
	for (int i = 0; i < 2; i++) {
		device_open(&b, "mock:wrap=cpu+lost@step/2", modes[i]);
		repeat_begin(&b, &r, "step");
		repeat_run(&b, &r, "step", 0, 1);
		expect_right(&b, &r, 2);
		b.call.trace_id = pctl_trace("step", 2, 0);
		assert_int_equal(device_run(&b, r.l, 1), PCTL_E_DEVICE_LOST);
		assert_true(has_code(&b.f, PC3282_MOCK_LOST));
		assert_int_equal(device_run(&b, r.l, 1), PCTL_E_DEVICE_LOST);
		assert_int_equal(b.t->buffer_read(b.dev, &b.call, r.buf[0], 0, &word, 4),
				 PCTL_E_DEVICE_LOST);
		repeat_end(&b, &r);
		device_close(&b);
	}
}

static void end__a_crash_takes_the_worker_and_nothing_else(void **state)
{
	repeat r;
	device_fixture b;

	(void)state;
	device_open(&b, "mock:wrap=cpu+crash@2", 0);
	repeat_begin(&b, &r, NULL);
	repeat_run(&b, &r, NULL, 0, 1);
	expect_right(&b, &r, 2);
	assert_int_equal(device_run(&b, r.l, 1), PCTL_E_DEVICE_LOST);
	assert_true(has_code(&b.f, PC3103_WORKER_DIED));
	assert_non_null(strstr(pctl_backend_instance_lost(b.s), "SIGABRT"));
	repeat_end(&b, &r);
	device_drop(&b);
	assert_no_children();
	/* Another script is not to blame. */
	assert_int_equal(pctl_quarantine_count(b.f.r), 1);
	assert_non_null(strstr(pctl_quarantine_at(b.f.r, 0)->driver, "script-"));
	device_device(&b, "mock:wrap=cpu", 0);
	repeat_begin(&b, &r, NULL);
	repeat_run(&b, &r, NULL, 0, 1);
	expect_right(&b, &r, 2);
	repeat_end(&b, &r);
	device_close(&b);
	/* The host itself is spared. */
	device_open(&b, "mock:wrap=cpu+crash", PCTL_INSTANCE_IN_PROCESS);
	repeat_begin(&b, &r, NULL);
	assert_int_equal(device_run(&b, r.l, 1), PCTL_E_UNSUPPORTED);
	assert_true(has_code(&b.f, PC3283_MOCK_CRASH));
	repeat_end(&b, &r);
	device_close(&b);
}

static void end__a_hang_obeys_a_cancel_and_closing(void **state)
{
	pctl_completion c = {.head = PCTL_HEAD(pctl_completion)};
	uint64_t ticket;
	repeat r;
	device_fixture b;

	(void)state;
	for (int i = 0; i < 2; i++) {
		device_open(&b, "mock:wrap=cpu+hang@step", modes[i]);
		repeat_begin(&b, &r, "step");
		b.call.trace_id = pctl_trace("step", 0, 0);
		assert_int_equal(b.t->submit(b.dev, &b.call, r.l, 1, &ticket), PCTL_OK);
		assert_int_equal(b.t->wait(b.dev, &b.call, ticket, 50000000, &c), PCTL_OK);
		assert_int_equal(c.done, 0);
		b.t->cancel(b.dev, ticket);
		assert_int_equal(b.t->wait(b.dev, &b.call, ticket, UINT64_MAX, &c),
				 PCTL_E_CANCELLED);
		/* Nobody waits for this one: closing ends it. */
		assert_int_equal(b.t->submit(b.dev, &b.call, r.l, 1, &ticket), PCTL_OK);
		repeat_end(&b, &r);
		device_close(&b);
	}
}

static void end__a_killed_worker_is_a_lost_device(void **state)
{
	repeat r;
	device_fixture b;

	(void)state;
	device_open(&b, "mock:wrap=cpu+slow=2000", 0);
	repeat_begin(&b, &r, NULL);
	assert_true(pctl_backend_instance_worker(b.s) > 1);
	assert_int_equal(kill(pctl_backend_instance_worker(b.s), SIGKILL), 0);
	assert_int_equal(device_run(&b, r.l, 1), PCTL_E_DEVICE_LOST);
	assert_non_null(strstr(pctl_backend_instance_lost(b.s), "SIGKILL"));
	repeat_end(&b, &r);
	device_close(&b);
}

PCTL_TESTS_MAIN(PCTL_TEST(flip__in_the_middle_of_a_submit_of_many_rounds),
		PCTL_TEST(flip__after_the_job_and_by_number),
		PCTL_TEST(flip__only_the_time_that_is_asked_for),
		PCTL_TEST(flip__after_a_step_of_a_round),
		PCTL_TEST(flip__at_the_end_of_a_round_run_step_by_step),
		PCTL_TEST(flip__an_element_outside_is_told),
		PCTL_TEST(corrupt__lanes_are_counted_over_all_words),
		PCTL_TEST(corrupt__zero_stale_and_racy), PCTL_TEST(end__a_lost_device_stays_lost),
		PCTL_TEST(end__a_crash_takes_the_worker_and_nothing_else),
		PCTL_TEST(end__a_hang_obeys_a_cancel_and_closing),
		PCTL_TEST(end__a_killed_worker_is_a_lost_device))
