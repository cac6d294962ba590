/* Invocations of workgroups that are no multiple of a device's vectors: what fills the last one up takes no part, in loops with
 * barriers either. llvmpipe (Mesa 22.3, lavapipe and rusticl) let it turn on where a workgroup had left, and lost what the
 * invocations beside it stored afterwards. */
#include <stdlib.h>

#include "evidence/suite/trial.h"

static pctl_status trial(suite_trial *t)
{
	const uint32_t wg = t->p[0], n = wg * t->p[1], turns = t->p[2];
	const pctl_kernel_module *unit;
	suite_work w = {.times = 1};
	uint32_t *want = calloc(n, sizeof(*want));
	uint32_t b[2] = {suite_buffer_add(&w, SUITE_UNIFORM, (uint32_t[4]){turns}, 16),
			 suite_buffer_add(&w, SUITE_OUT, NULL, 4ull * n)};
	pctl_status status = suite_kernel(t, "rest.wgsl", NULL, wg, &unit);

	if (status == PCTL_OK && (w.failed || want == NULL))
		status = pctl_no_memory(t->call, "a trial");
	if (status == PCTL_OK) {
		for (uint32_t i = 0; i < n; i++) {
			uint32_t s = i % wg;

			for (uint32_t k = 0; k < 2 * turns; k++)
				s = s * 5 + k % 2;
			want[i] = s * 3 + 1;
		}
		suite_step_add(&w, unit, t->p[1], b, 2);
		status = suite_run(t, t->context->device, &w);
	}
	if (status == PCTL_OK)
		suite_words(t, "what was stored behind the loop", suite_data(&w, b[1]), want, n);
	free(want);
	suite_work_drop(&w);
	return status;
}

/* workgroup size, workgroups, turns */
static const uint32_t sets[][SUITE_PARAMS] = {{3, 5, 1},  {7, 3, 2},  {9, 2, 1},  {12, 3, 3},
					      {17, 4, 1}, {31, 2, 7}, {33, 1, 1}, {100, 2, 2}};

const suite_unit suite_rest[] = {
	{.name = "barrier-rest",
	 .law = "what fills up the last vector of a workgroup takes no part in its barriers",
	 .domain = "loops with barriers that a workgroup leaves, sizes 3..100",
	 .param = {"workgroup", "workgroups", "turns"},
	 .sets = sets,
	 .n_sets = sizeof(sets) / sizeof(sets[0]),
	 .per_block = 4,
	 .trial = trial}};
const uint32_t suite_n_rest = sizeof(suite_rest) / sizeof(suite_rest[0]);
