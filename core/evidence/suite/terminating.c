/* Loops end, at their declared bound and not before, each after the turns that arithmetic says. */
#include <stdlib.h>

#include "evidence/suite/trial.h"

#define FORMS 12u

/* workgroup size, n, declared, depth, seed */
static const uint32_t sets[][SUITE_PARAMS] = {{64, 0, 0, 0, 1},
					      {64, 1, 1, 1, 2},
					      {64, 63, 99, 5, 3},
					      {64, 64, 100, 6, 4},
					      {64, 65, 100, 7, 5},
					      {64, 0xffffffff, 50, 0xffffffff, 6},
					      {100, 0x80000000, 100, 6, 7},
					      {64, 17, 3, 2, 8}};

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Turns of the innermost of three loops: min(7, j + i) for each i and j. */
static uint32_t nested(uint32_t depth)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < least(depth, 6); i++)
		for (uint32_t j = 0; j < 5; j++)
			n += least(7, i + j);
	return n;
}

static pctl_status trial(suite_trial *t)
{
	const uint32_t wg = t->p[0], lanes = 2 * wg;
	const uint32_t params[4] = {t->p[1], t->p[2], t->p[3], 0};
	const pctl_kernel_module *unit;
	suite_work w = {.times = 1};
	uint32_t *limits, *want = calloc(lanes, FORMS * sizeof(*want));
	uint32_t b[3] = {suite_buffer_add(&w, SUITE_UNIFORM, params, sizeof(params)),
			 suite_buffer_add(&w, SUITE_IN, NULL, 4ull * lanes),
			 suite_buffer_add(&w, SUITE_OUT, NULL, 4ull * FORMS * lanes)};
	pctl_status status = suite_kernel(t, "loops.wgsl", NULL, wg, &unit);

	if (status == PCTL_OK && (w.failed || want == NULL))
		status = pctl_no_memory(t->call, "a trial");
	if (status != PCTL_OK)
		goto out;
	limits = suite_data(&w, b[1]);
	for (uint32_t i = 0; i < lanes; i++) {
		const uint64_t r = suite_mix(t->context->seed + t->p[4], i);
		const uint32_t limit = r % 5 == 0 ? UINT32_MAX : (uint32_t)(r >> 8) % 260;
		const uint32_t turns = least(limit, 200);
		/* of i = 0 .. turns-1 those that leave 1 when divided by 3 are passed over */
		const uint32_t row[FORMS] = {
			1000, wg,    least(t->p[1], 64),      t->p[2], (100 - 5 + 2) / 3, 12,
			15,   turns, turns - (turns + 1) / 3, 0,       nested(t->p[3]),	  32};

		limits[i] = limit;
		for (uint32_t k = 0; k < FORMS; k++)
			want[i * FORMS + k] = row[k];
	}
	suite_step_add(&w, unit, 2, b, 3);
	status = suite_run(t, t->context->device, &w);
	if (status == PCTL_OK)
		suite_words(t, "turns of each loop", suite_data(&w, b[2]), want,
			    (uint64_t)lanes * FORMS);
out:
	free(want);
	suite_work_drop(&w);
	return status;
}

const suite_unit suite_terminating[] = {
	{.name = "terminating",
	 .law = "every loop ends after the turns its bound allows",
	 .domain = "bounds: literals, overrides, min(), declared maxima, shifts, nests",
	 .param = {"workgroup", "n", "declared", "depth", "seed"},
	 .sets = sets,
	 .n_sets = sizeof(sets) / sizeof(sets[0]),
	 .per_block = 4,
	 .shrink = 1 << 1 | 1 << 3,
	 .trial = trial}};
const uint32_t suite_n_terminating = sizeof(suite_terminating) / sizeof(suite_terminating[0]);
