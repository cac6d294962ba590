/* Invocations of workgroups that are no multiple of a device's vectors: what fills the last one up takes no part, in loops with
 * barriers either. llvmpipe (Mesa 22.3, lavapipe and rusticl) let it turn on where a workgroup had left, and lost what the
 * invocations beside it stored afterwards; in a workgroup of several rows each has a last vector of its own. */
#include <stdlib.h>
#include <string.h>

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

static pctl_status rows_kernel(suite_trial *t, const pctl_kernel_module **out)
{
	const pctl_override_value values[] = {{.name = "X", .bits = t->p[0]},
					      {.name = "Y", .bits = t->p[1]},
					      {.name = "Z", .bits = t->p[2]}};
	const char *text = suite_text("rows.wgsl");
	const pctl_kernel_source source = {.name = "rows.wgsl",
					   .text = text,
					   .n_text = text == NULL ? 0 : strlen(text),
					   .overrides = (pctl_override_value *)values,
					   .n_overrides = 3};

	*out = NULL;
	if (text == NULL)
		return pctl_refuse(t->call, PC1_INTERNAL, "the suite has no program rows.wgsl");
	return pctl_kernels_get(t->context->kernels, &source, t->call, out);
}

static pctl_status rows_trial(suite_trial *t)
{
	const uint32_t wg = t->p[0] * t->p[1] * t->p[2], n = wg * t->p[3];
	const pctl_kernel_module *unit;
	suite_work w = {.times = 1};
	uint32_t *want = calloc(n, sizeof(*want));
	const uint32_t b = suite_buffer_add(&w, SUITE_OUT, NULL, 4ull * n);
	pctl_status status = rows_kernel(t, &unit);

	if (status == PCTL_OK && (w.failed || want == NULL))
		status = pctl_no_memory(t->call, "a trial");
	if (status == PCTL_OK) {
		for (uint32_t i = 0; i < n; i++) {
			uint32_t s = i % wg;

			for (uint32_t turn = 0; turn < 200 && i / wg % 3 == 0; turn++)
				s = s * 5 + turn;
			want[i] = s * 3 + 1;
		}
		suite_step_add(&w, unit, t->p[3], &b, 1);
		status = suite_run(t, t->context->device, &w);
	}
	if (status == PCTL_OK)
		suite_words(t, "what was stored behind the loop", suite_data(&w, b), want, n);
	free(want);
	suite_work_drop(&w);
	return status;
}

/* the three dimensions, workgroups */
static const uint32_t rows_sets[][SUITE_PARAMS] = {
	{3, 2, 1, 6}, {3, 3, 3, 2}, {4, 4, 1, 3},  {12, 2, 1, 3}, {9, 3, 1, 3},
	{1, 3, 1, 6}, {2, 2, 2, 6}, {20, 3, 1, 2}, {6, 1, 4, 3},  {4, 8, 1, 2}};

const suite_unit suite_rest[] = {
	{.name = "barrier-rest",
	 .law = "what fills up the last vector of a workgroup takes no part in its barriers",
	 .domain = "loops with barriers that a workgroup leaves, sizes 3..100",
	 .param = {"workgroup", "workgroups", "turns"},
	 .sets = sets,
	 .n_sets = sizeof(sets) / sizeof(sets[0]),
	 .per_block = 4,
	 .trial = trial},
	{.name = "barrier-rows",
	 .law = "what fills up the last vector of each row of a workgroup takes no part in its "
		"barriers",
	 .domain = "loops with barriers that some workgroups take, 3 to 60 invocations in two and "
		   "three dimensions",
	 .param = {"x", "y", "z", "workgroups"},
	 .sets = rows_sets,
	 .n_sets = sizeof(rows_sets) / sizeof(rows_sets[0]),
	 .per_block = 4,
	 .trial = rows_trial}};
const uint32_t suite_n_rest = sizeof(suite_rest) / sizeof(suite_rest[0]);
