/* The same result under every size of workgroup and every order of workgroups. */
#include <stdlib.h>

#include "evidence/suite/trial.h"

/* elements, workgroup size, factor and shift of the permutation, seed */
static const uint32_t sets[][SUITE_PARAMS] = {
	{1000, 64, 1, 0, 1},   {1000, 64, 5, 3, 1},    {1000, 64, 15, 9, 1},  {1000, 1, 1, 0, 1},
	{1000, 1, 501, 77, 1}, {1000, 3, 1, 0, 1},     {1000, 3, 5, 100, 1},  {1000, 7, 9, 2, 1},
	{1000, 100, 3, 1, 1},  {1000, 100, 7, 6, 1},   {1000, 256, 1, 0, 1},  {1000, 256, 3, 1, 1},
	{1, 64, 1, 0, 2},      {63, 64, 1, 0, 3},      {64, 64, 1, 0, 4},     {65, 64, 1, 1, 5},
	{4096, 64, 37, 11, 6}, {4097, 100, 23, 40, 7}, {8191, 256, 13, 8, 8}, {9999, 7, 5, 160, 9},
};

/* The permutation needs a factor without a divisor in common with the number of workgroups. */
static uint32_t coprime(uint32_t factor, uint32_t groups)
{
	for (;; factor++) {
		uint32_t a = factor, b = groups;

		while (b != 0) {
			const uint32_t rest = a % b;

			a = b;
			b = rest;
		}
		if (a == 1)
			return factor;
	}
}

static pctl_status trial(suite_trial *t)
{
	const uint32_t n = t->p[0], wg = t->p[1], groups = (n + wg - 1) / wg;
	const uint32_t factor = coprime(t->p[2], groups);
	const uint32_t params[4] = {n, groups, factor, t->p[3]};
	const pctl_kernel_module *unit;
	suite_work w = {.times = 1};
	uint32_t *items, *want, totals[4] = {0};
	uint32_t b[4] = {suite_buffer_add(&w, SUITE_UNIFORM, params, sizeof(params)),
			 suite_buffer_add(&w, SUITE_IN, NULL, 4ull * n),
			 suite_buffer_add(&w, SUITE_OUT, NULL, 4ull * n),
			 suite_buffer_add(&w, SUITE_OUT, NULL, sizeof(totals))};
	pctl_status status = suite_kernel(t, "place.wgsl", NULL, wg, &unit);

	want = calloc(n + 1u, sizeof(*want));
	if (status == PCTL_OK && (w.failed || want == NULL))
		status = pctl_no_memory(t->call, "a trial");
	if (status != PCTL_OK)
		goto out;
	items = suite_data(&w, b[1]);
	totals[1] = groups;
	totals[2] = n;
	for (uint32_t i = 0; i < n; i++) {
		items[i] = (uint32_t)suite_mix(t->context->seed + t->p[4], i);
		want[i] = suite_hash(items[i] + i * 3);
		totals[0] += want[i];
		totals[3] += want[i] ^ i;
	}
	suite_step_add(&w, unit, groups, b, 4);
	status = suite_run(t, t->context->device, &w);
	if (status == PCTL_OK) {
		suite_words(t, "each element's result", suite_data(&w, b[2]), want, n);
		suite_words(t, "sum, workgroups, elements, sum of the mixed", suite_data(&w, b[3]),
			    totals, 4);
	}
out:
	free(want);
	suite_work_drop(&w);
	return status;
}

const suite_unit suite_invariant[] = {
	{.name = "workgroup-invariant",
	 .law = "the result is the same under any workgroup size and order of workgroups",
	 .domain = "elements, workgroup sizes 1..256, affine orders",
	 .param = {"n", "workgroup", "factor", "shift", "seed"},
	 .sets = sets,
	 .n_sets = sizeof(sets) / sizeof(sets[0]),
	 .per_block = 6,
	 .shrink = 1,
	 .trial = trial}};
const uint32_t suite_n_invariant = sizeof(suite_invariant) / sizeof(suite_invariant[0]);
