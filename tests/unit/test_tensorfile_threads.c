/* Loops over threads: every item once, the lowest that fails, blocks that do not depend on how many there are. */
#include "main.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "foundation/tensorfile/convert.h"
#include "foundation/tensorfile/threads.h"

#define N 100003u

typedef struct counted {
	atomic_uchar seen[N];
	uint64_t bad[3];
} counted;

static uint64_t count(void *ctx, uint64_t first, uint64_t n)
{
	counted *c = ctx;

	for (uint64_t i = first; i < first + n; i++) {
		for (uint32_t k = 0; k < 3; k++)
			if (i == c->bad[k])
				return i;
		atomic_fetch_add(&c->seen[i], 1);
	}
	return UINT64_MAX;
}

static void every_item_once(void **state)
{
	static const uint64_t steps[] = {1, 7, 4096, N, 2 * N};

	(void)state;
	for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
		counted *c = calloc(1, sizeof(*c));

		assert_non_null(c);
		c->bad[0] = c->bad[1] = c->bad[2] = UINT64_MAX;
		assert_true(pctl_threads_run(N, steps[s], count, c) == UINT64_MAX);
		for (uint32_t i = 0; i < N; i++)
			assert_int_equal(c->seen[i], 1);
		free(c);
	}
	assert_true(pctl_threads_run(0, 8, count, NULL) == UINT64_MAX);
}

static void the_lowest_that_fails(void **state)
{
	(void)state;
	for (uint32_t turn = 0; turn < 200; turn++) {
		counted *c = calloc(1, sizeof(*c));

		assert_non_null(c);
		c->bad[0] = 4000 + turn;
		c->bad[1] = 4100 + 3 * turn;
		c->bad[2] = 90000;
		assert_int_equal(pctl_threads_run(N, 16, count, c), 4000 + turn);
		for (uint32_t i = 0; i < 4000; i++)
			assert_int_equal(c->seen[i], 1);
		free(c);
	}
}

/* The process may use one processor, or all that it could before. */
static void blocks_by_any_number(void **state)
{
	const pctl_tensor_type x = {.dtype = PCTL_SCALAR_F32, .rank = 2, .dim = {1100, 1024}};
	const uint64_t n = 1100 * 1024;
	float *v = malloc(n * sizeof(*v));
	void *made[2] = {NULL, NULL};
	cpu_set_t all, one;
	pctl_tensor_type t;
	pctl_diag_list *l = pctl_diag_list_create();
	uint64_t n_bytes;

	(void)state;
	assert_non_null(v);
	for (uint64_t i = 0; i < n; i++)
		v[i] = (float)(int32_t)((uint32_t)i * 2654435761u) * 0x1p-33f;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	for (uint32_t k = 0; k < 2; k++) {
		assert_int_equal(sched_setaffinity(0, sizeof(all), k == 0 ? &one : &all), 0);
		assert_int_equal(pctl_tensor_convert("v", &x, v, PCTL_DTYPE_Q4_K,
						     PCTL_DTYPE_OVERFLOW_IEEE, NULL, &t, &made[k]),
				 PCTL_OK);
	}
	assert_int_equal(pctl_dtype_size(pctl_dtype_of(PCTL_DTYPE_Q4_K), n, &n_bytes), 1);
	assert_memory_equal(made[0], made[1], n_bytes);
	/* Of two that no block holds the first is named. */
	v[n - 5] = v[700 * 1024 + 9] = HUGE_VALF;
	free(made[0]);
	assert_int_equal(pctl_tensor_convert("v", &x, v, PCTL_DTYPE_Q4_K, PCTL_DTYPE_OVERFLOW_IEEE,
					     pctl_diag_list_call(l), &t, &made[0]),
			 PCTL_E_INVALID);
	assert_non_null(strstr(pctl_diag_list_at(l, 0)->message, "element 716809 "));
	pctl_diag_list_destroy(l);
	assert_null(made[0]);
	free(made[1]);
	free(v);
}

PCTL_TESTS_MAIN(PCTL_TEST(every_item_once), PCTL_TEST(the_lowest_that_fails),
		PCTL_TEST(blocks_by_any_number))
