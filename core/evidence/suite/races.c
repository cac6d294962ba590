/* Data races. A clean program that is made to show devices which are not gives the same bytes over and over; planted
 * races and stray accesses are named by the sanitizing reference with their invocations and address. */
#include <stdlib.h>
#include <string.h>

#include "evidence/suite/trial.h"

/* ---- clean ------------------------------------------------------------------------------------ */

static void host_interleave(uint32_t wg, uint32_t groups, const uint32_t *items, uint32_t *results,
			    uint32_t totals[8])
{
	for (uint32_t g = 0; g < groups; g++) {
		uint32_t now[256], next[256];

		for (uint32_t i = 0; i < wg; i++)
			now[i] = items[i * groups + g];
		for (uint32_t r = 0; r < 6; r++) {
			for (uint32_t i = 0; i < wg; i++)
				next[i] = now[i] * 9 + now[(i + (1u << r)) % wg];
			memcpy(now, next, sizeof(now));
		}
		for (uint32_t i = 0; i < wg; i++) {
			results[i * groups + g] = now[i];
			totals[now[i] % 8] += now[i];
		}
	}
}

static pctl_status clean_run(suite_trial *t, const pctl_kernel_module *unit, int sanitize,
			     uint32_t *want)
{
	const uint32_t wg = t->p[0], groups = t->p[1], n = wg * groups;
	suite_work w = {.times = 1};
	uint32_t b[4] = {suite_buffer_add(&w, SUITE_UNIFORM, (uint32_t[4]){groups}, 16),
			 suite_buffer_add(&w, SUITE_IN, NULL, 4ull * n),
			 suite_buffer_add(&w, SUITE_OUT, NULL, 4ull * n),
			 suite_buffer_add(&w, SUITE_OUT, NULL, 32)};
	pctl_finding findings[8];
	uint32_t found = 0;
	pctl_status status = PCTL_OK;

	if (w.failed)
		return pctl_no_memory(t->call, "a trial");
	for (uint32_t i = 0; i < n; i++)
		suite_data(&w, b[1])[i] = (uint32_t)suite_mix(t->context->seed + t->p[3], i);
	memset(want, 0, (n + 8ull) * sizeof(*want));
	host_interleave(wg, groups, suite_data(&w, b[1]), want, want + n);
	suite_step_add(&w, unit, groups, b, 4);
	if (sanitize)
		status = suite_sanitize(t, &w, 8, findings, &found);
	else
		status = suite_run(t, t->context->device, &w);
	if (status == PCTL_OK && !sanitize) {
		suite_words(t, "what a repeated run gave", suite_data(&w, b[2]), want, n);
		suite_words(t, "totals of a repeated run", suite_data(&w, b[3]), want + n, 8);
	}
	if (status == PCTL_OK)
		suite_number(t, "findings of the sanitizer", found, 0);
	suite_work_drop(&w);
	return status;
}

static pctl_status clean_trial(suite_trial *t)
{
	const pctl_kernel_module *unit;
	uint32_t *want = calloc((size_t)t->p[0] * t->p[1] + 8, sizeof(*want));
	pctl_status status = suite_kernel(t, "interleave.wgsl", NULL, t->p[0], &unit);

	if (status == PCTL_OK && want == NULL)
		status = pctl_no_memory(t->call, "a trial");
	for (uint32_t i = 0; status == PCTL_OK && i < t->p[2]; i++)
		status = clean_run(t, unit, 0, want);
	if (status == PCTL_OK)
		status = clean_run(t, unit, 1, want);
	free(want);
	return status;
}

/* ---- planted ---------------------------------------------------------------------------------- */

#define INVOCATIONS 128u /* in two workgroups of 64 */

/* Each says whether a finding is one that its plant must give, worked out from the plant's text. */
static int at_one_place(const pctl_finding *f, uint64_t low, uint64_t high)
{
	return f->kind == PCTL_FINDING_RACE && high - low == 100 && f->address == 4 * low;
}

static int across_workgroups(const pctl_finding *f, uint64_t low, uint64_t high)
{
	return f->kind == PCTL_FINDING_RACE && high - low == 64 && f->address == 4 * high;
}

static int by_neighbours(const pctl_finding *f, uint64_t low, uint64_t high)
{
	const uint64_t a = low % 64, b = high % 64;

	/* one is the other's right neighbour, and the cell is the right one's */
	return f->kind == PCTL_FINDING_RACE && low / 64 == high / 64 &&
	       ((b == a + 1 && f->address == 4 * b) || (a == 0 && b == 63 && f->address == 4 * a));
}

static int behind_the_end(const pctl_finding *f, uint64_t low, uint64_t high)
{
	(void)low;
	(void)high;
	return f->kind == PCTL_FINDING_OUT_OF_BOUNDS && f->invocation % 8 == 3 &&
	       f->count == INVOCATIONS / 8;
}

static const struct plant {
	const char *file;
	int racy;
	int (*is_it)(const pctl_finding *f, uint64_t low, uint64_t high);
} plants[] = {{"plant-race-place.wgsl", 1, at_one_place},
	      {"plant-race-workgroups.wgsl", 1, across_workgroups},
	      {"plant-race-neighbour.wgsl", 1, by_neighbours},
	      {"plant-bounds.wgsl", 0, behind_the_end}};

static pctl_status planted_trial(suite_trial *t)
{
	const struct plant *plant = &plants[t->p[0]];
	const pctl_kernel_module *unit;
	suite_work w = {.times = 1};
	uint32_t b[1] = {suite_buffer_add(&w, SUITE_OUT, NULL, 4ull * INVOCATIONS)};
	pctl_finding f[8] = {{0}};
	uint32_t n = 0, right = 0;
	pctl_status status = suite_kernel(t, plant->file, NULL, 0, &unit);

	if (status == PCTL_OK && plant->racy && unit->analysis->race == PCTL_PROOF_PROVEN &&
	    suite_fail(t, "the analysis does not call a racy program proven")) {
		suite_found(t, "%s: proven", plant->file);
		suite_due(t, "unproven or refuted");
	}
	suite_step_add(&w, unit, 2, b, 1);
	if (status == PCTL_OK)
		status = suite_sanitize(t, &w, 8, f, &n);
	for (uint32_t i = 0; i < n && i < 8; i++) {
		const uint64_t x = f[i].invocation, y = f[i].other_invocation;

		right += (uint32_t)plant->is_it(&f[i], x < y ? x : y, x < y ? y : x);
	}
	if (status == PCTL_OK && (n == 0 || right != n) &&
	    suite_fail(t, "the sanitizer names what was planted")) {
		suite_found(t, "%u findings, %u of them right", n, right);
		suite_due(t, "%s", plant->file);
	}
	suite_digest(t, &t->p[0], sizeof(t->p[0]));
	suite_work_drop(&w);
	return status;
}

/* workgroup size, workgroups, runs, seed */
static const uint32_t clean_sets[][SUITE_PARAMS] = {
	{64, 100, 12, 1}, {64, 7, 12, 2}, {256, 33, 8, 3}, {64, 40, 8, 4}};
static const uint32_t planted_sets[][SUITE_PARAMS] = {{0}, {1}, {2}, {3}};

const suite_unit suite_races[] = {
	{.name = "race-free",
	 .law = "a clean program gives the same bytes however often it runs, and no finding",
	 .domain = "neighbouring words of different workgroups, run repeatedly",
	 .param = {"workgroup", "workgroups", "runs", "seed"},
	 .sets = clean_sets,
	 .n_sets = sizeof(clean_sets) / sizeof(clean_sets[0]),
	 .per_block = 4,
	 .shrink = 2,
	 .trial = clean_trial},
	{.name = "race-detected",
	 .law = "the sanitizer names the invocations and the address of a planted race",
	 .domain = "planted races and accesses out of bounds",
	 .param = {"plant"},
	 .sets = planted_sets,
	 .n_sets = sizeof(planted_sets) / sizeof(planted_sets[0]),
	 .per_block = 4,
	 .flags = PCTL_UNIT_HOST,
	 .trial = planted_trial}};
const uint32_t suite_n_races = sizeof(suite_races) / sizeof(suite_races[0]);
