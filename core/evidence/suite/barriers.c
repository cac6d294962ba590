/* What a barrier promises: what was written before it is seen after it, what is written after it is not seen before it,
 * and other workgroups have no part in it. The host plays one workgroup after the other, round by round. */
#include <stdlib.h>
#include <string.h>

#include "evidence/suite/trial.h"

#define MOST_WG 256u

struct play {
	uint32_t wg, rounds, seed;
};

/* Plays workgroup `group`: items to results; returns the sum it leaves, if any. */
typedef uint32_t (*host_play)(const struct play *p, uint32_t group, const uint32_t *items,
			      uint32_t *results);

static uint32_t play_rotate(const struct play *p, uint32_t group, const uint32_t *items,
			    uint32_t *results)
{
	uint32_t next[MOST_WG];

	(void)group;
	memcpy(results, items, p->wg * sizeof(*items));
	for (uint32_t r = 0; r < p->rounds; r++) {
		for (uint32_t i = 0; i < p->wg; i++)
			next[i] = results[(i + r + 1) % p->wg] * 5 + i;
		memcpy(results, next, p->wg * sizeof(*next));
	}
	return 0;
}

static uint32_t play_turn(const struct play *p, uint32_t group, const uint32_t *items,
			  uint32_t *results)
{
	uint32_t pong[MOST_WG], sum = 0;

	(void)group;
	memcpy(results, items, p->wg * sizeof(*items));
	for (uint32_t r = 0; r < p->rounds; r++) {
		for (uint32_t i = 0; i < p->wg; i++)
			pong[i] = results[(i + r) % p->wg] ^ r;
		for (uint32_t i = 0; i < p->wg; i++)
			results[i] = pong[p->wg - 1 - i] * 3 + 1;
	}
	for (uint32_t i = 0; i < p->wg; i++)
		sum += results[i];
	return sum;
}

static uint32_t play_scope(const struct play *p, uint32_t group, const uint32_t *items,
			   uint32_t *results)
{
	const uint32_t rounds = (group * 7 + p->seed) % 9;
	uint32_t next[MOST_WG];

	memcpy(results, items, p->wg * sizeof(*items));
	for (uint32_t r = 0; group % 5 != 4 && r < rounds; r++) {
		for (uint32_t i = 0; i < p->wg; i++)
			next[i] = results[(i + 1) % p->wg] + r * i;
		memcpy(results, next, p->wg * sizeof(*next));
	}
	for (uint32_t i = 0; group % 5 == 4 && i < p->wg; i++)
		results[i] = group;
	return 0;
}

static pctl_status play(suite_trial *t, const char *file, host_play host, uint32_t first_param)
{
	const struct play p = {t->p[0], t->p[2], t->p[3]};
	const uint32_t groups = t->p[1], n = groups * p.wg;
	const pctl_kernel_module *unit;
	suite_work w = {.times = 1};
	uint32_t *want = calloc(n + groups, sizeof(*want));
	uint32_t b[4] = {suite_buffer_add(&w, SUITE_UNIFORM, (uint32_t[4]){first_param}, 16),
			 suite_buffer_add(&w, SUITE_IN, NULL, 4ull * n),
			 suite_buffer_add(&w, SUITE_OUT, NULL, 4ull * n),
			 suite_buffer_add(&w, SUITE_OUT, NULL, 4ull * groups)};
	pctl_status status = suite_kernel(t, file, NULL, p.wg, &unit);

	if (status == PCTL_OK && (w.failed || want == NULL))
		status = pctl_no_memory(t->call, "a trial");
	if (status != PCTL_OK)
		goto out;
	for (uint32_t i = 0; i < n; i++)
		suite_data(&w, b[1])[i] = (uint32_t)suite_mix(t->context->seed + p.seed, i);
	suite_step_add(&w, unit, groups, b, 4);
	for (uint32_t g = 0; g < groups; g++)
		want[n + g] = host(&p, g, suite_data(&w, b[1]) + g * p.wg, want + g * p.wg);
	status = suite_run(t, t->context->device, &w);
	if (status == PCTL_OK) {
		suite_words(t, "what each invocation saw", suite_data(&w, b[2]), want, n);
		suite_words(t, "sums by workgroup", suite_data(&w, b[3]), want + n, groups);
	}
out:
	free(want);
	suite_work_drop(&w);
	return status;
}

static pctl_status visible_trial(suite_trial *t)
{
	return play(t, "turn.wgsl", play_turn, t->p[2]);
}

static pctl_status isolated_trial(suite_trial *t)
{
	return play(t, "rotate.wgsl", play_rotate, t->p[2]);
}

static pctl_status storage_trial(suite_trial *t)
{
	return play(t, "rotate-storage.wgsl", play_rotate, t->p[2]);
}

static pctl_status scope_trial(suite_trial *t)
{
	return play(t, "scope.wgsl", play_scope, t->p[3]);
}

/* workgroup size, workgroups, rounds, seed */
static const uint32_t sets[][SUITE_PARAMS] = {{1, 9, 5, 1},	{3, 33, 7, 3},	  {31, 12, 31, 6},
					      {64, 100, 13, 7}, {64, 1, 64, 8},	  {127, 8, 17, 9},
					      {256, 30, 9, 10}, {256, 3, 64, 11}, {64, 64, 0, 12}};
static const uint32_t few_sets[][SUITE_PARAMS] = {
	{3, 33, 7, 3}, {64, 100, 13, 7}, {64, 1, 64, 8}, {256, 30, 9, 10}};
static const uint32_t scope_sets[][SUITE_PARAMS] = {
	{3, 47, 0, 1}, {64, 90, 0, 2}, {64, 5, 0, 3}, {64, 500, 0, 4}, {64, 23, 0, 5}};

#define ROWS(rows, of) .sets = (rows), .n_sets = sizeof(rows) / sizeof((rows)[0]), .per_block = (of)
#define PARAMS .param = {"workgroup", "workgroups", "rounds", "seed"}

const suite_unit suite_barriers[] = {
	{.name = "barrier-visibility",
	 .law = "writes before a barrier are seen after it",
	 .domain = "ping-pong and sums in workgroup memory, sizes 1..256",
	 PARAMS,
	 ROWS(sets, 6),
	 .shrink = 6,
	 .trial = visible_trial},
	{.name = "barrier-isolation",
	 .law = "reads before a barrier do not see writes after it",
	 .domain = "rotation in place in workgroup memory, sizes 1..256",
	 PARAMS,
	 ROWS(sets, 6),
	 .shrink = 6,
	 .trial = isolated_trial},
	{.name = "barrier-storage",
	 .law = "storage barriers do for storage what workgroup barriers do for workgroup memory",
	 .domain = "rotation in place in storage memory",
	 PARAMS,
	 ROWS(few_sets, 5),
	 .shrink = 6,
	 .trial = storage_trial},
	{.name = "barrier-scope",
	 .law = "a barrier waits for its own workgroup and no other",
	 .domain = "workgroups with different numbers of barriers",
	 PARAMS,
	 ROWS(scope_sets, 5),
	 .shrink = 2,
	 .trial = scope_trial}};
const uint32_t suite_n_barriers = sizeof(suite_barriers) / sizeof(suite_barriers[0]);
