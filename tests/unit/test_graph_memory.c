/* Where temporaries lie in the buffer that they share: no two that are alive at once overlap, and no more is taken than is gained. The
 * judge looks at every byte at every step. */
#include "main.h"

#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "planted/planted.h"
#include "runtime/graph/jobplan.h"

#define MOST 24u
#define UNIT 256u

static uint64_t state_;

static uint32_t draw(uint32_t n)
{
	state_ = state_ * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state_ >> 33) % n;
}

static pctl_job_plan *empty(const pctl_call *call, const uint64_t *bytes, uint32_t n)
{
	pctl_job_plan *p;
	uint32_t number;

	assert_int_equal(pctl_job_plan_create("j", call, &p), PCTL_OK);
	assert_int_equal(pctl_job_plan_buffer(p, PCTL_PLAN_OUTPUT, 1024, NULL, call, &number),
			 PCTL_OK);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(
			pctl_job_plan_buffer(p, PCTL_PLAN_TEMP, bytes[i], NULL, call, &number),
			PCTL_OK);
	return p;
}

/* 0: some byte is two temporaries' at a step at which both are alive. last: of a buffer its last step, first likewise. */
static int is_apart(const pctl_job_plan *p, const uint32_t *first, const uint32_t *last)
{
	uint8_t *owner = calloc(p->pool_bytes + 1, 1);
	int apart = 1;

	for (uint32_t step = 0; step < p->n_steps; step++) {
		memset(owner, 0, p->pool_bytes);
		for (uint32_t i = 1; i < p->n_buffers; i++) {
			if (step < first[i] || step > last[i])
				continue;
			for (uint64_t k = 0; k < p->buffers[i].n_bytes; k++) {
				const uint64_t at = p->buffers[i].at + k;

				apart &= at < p->pool_bytes && owner[at] == 0;
				if (at < p->pool_bytes)
					owner[at] = (uint8_t)i;
			}
		}
	}
	free(owner);
	return apart;
}

/* Random plans: a temporary is filled, then copied to another, and so on. */
static void random_plans(void **state)
{
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	uint32_t pools = 0;

	(void)state;
	for (uint32_t round = 0; round < 400; round++) {
		uint32_t n = 2 + draw(MOST - 2), first[MOST + 1], last[MOST + 1], seen = 0;
		uint64_t bytes[MOST], sum = 0, most = 0;
		pctl_job_plan *p;

		state_ = round;
		for (uint32_t i = 0; i < n; i++) {
			bytes[i] = 4 * (1 + draw(round % 2 ? 40 : 900));
			sum += bytes[i];
		}
		p = empty(call, bytes, n);
		for (uint32_t step = 0; step < 2 * n; step++) {
			const uint32_t low = step / 2,
				       i = 1 + low + draw(n - low < 4 ? n - low : 4);

			assert_int_equal(pctl_job_plan_zero(p, i, call), PCTL_OK);
			first[i] = seen >> i & 1 ? first[i] : step;
			last[i] = step;
			seen |= 1u << i;
		}
		for (uint32_t i = 1; i <= n; i++)
			if (!(seen >> i & 1)) {
				first[i] = 0;
				last[i] = p->n_steps;
			}
		for (uint32_t step = 0; step < p->n_steps; step++) {
			uint64_t alive = 0;

			for (uint32_t i = 1; i <= n; i++)
				if (step >= first[i] && step <= last[i])
					alive += bytes[i - 1];
			most = alive > most ? alive : most;
		}
		assert_int_equal(pctl_job_plan_place(p, call), PCTL_OK);
		assert_int_equal(p->buffer_bytes, sum + 1024);
		assert_true(pctl_job_plan_peak(p) <= p->buffer_bytes);
		assert_true(pctl_job_plan_peak(p) >= most + 1024);
		if (p->pool_bytes != 0) {
			pools++;
			assert_true(p->pool_bytes < sum);
			assert_true(is_apart(p, first, last));
			for (uint32_t i = 1; i <= n; i++)
				assert_int_equal(p->buffers[i].at % PCTL_PLAN_ALIGN, 0);
		}
		pctl_job_plan_destroy(p);
	}
	assert_true(pools > 100);
	pctl_diag_list_destroy(l);
}

/* Two after one another share; a third that is alive with both does not; what an assertion reads lives to the end. */
static void by_hand(void **state)
{
	static const uint64_t bytes[3] = {4 * UNIT, 2 * UNIT, UNIT};
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	pctl_job_plan *p = empty(call, bytes, 3);
	const uint32_t first[4] = {0, 1, 2, 0}, last[4] = {0, 1, 2, 3};

	(void)state;
	assert_int_equal(pctl_job_plan_zero(p, 3, call), PCTL_OK);
	assert_int_equal(pctl_job_plan_zero(p, 1, call), PCTL_OK);
	assert_int_equal(pctl_job_plan_zero(p, 2, call), PCTL_OK);
	assert_int_equal(pctl_job_plan_zero(p, 3, call), PCTL_OK);
	assert_int_equal(pctl_job_plan_place(p, call), PCTL_OK);
	assert_int_equal(p->pool_bytes, 5 * UNIT);
	assert_int_equal(pctl_job_plan_peak(p), 1024 + 5 * UNIT);
	assert_true(is_apart(p, first, last));
	/* Planted: the third begins in the first, which is not done with. */
	p->buffers[3].at = 3 * UNIT;
	assert_false(is_apart(p, first, last));
	planted("two temporaries of a plan share bytes while both are alive", "a plan's memory",
		"every byte at every step", "buffers 1 and 3 at step 1");
	pctl_job_plan_destroy(p);

	/* The same, but the first is looked at when all has run. */
	p = empty(call, bytes, 2);
	assert_int_equal(pctl_job_plan_zero(p, 1, call), PCTL_OK);
	assert_int_equal(pctl_job_plan_zero(p, 2, call), PCTL_OK);
	assert_int_equal(pctl_job_plan_place(p, call), PCTL_OK);
	assert_int_equal(p->pool_bytes, 4 * UNIT);
	p->has_measure = 1;
	p->measure_buffer = 1;
	assert_int_equal(pctl_job_plan_place(p, call), PCTL_OK);
	assert_int_equal(p->pool_bytes, 0);
	assert_int_equal(pctl_job_plan_peak(p), p->buffer_bytes);
	pctl_job_plan_destroy(p);
	pctl_diag_list_destroy(l);
}

PCTL_TESTS_MAIN(PCTL_TEST(random_plans), PCTL_TEST(by_hand))
