/* No output lost, none twice, all in order: histograms, compaction by scans, and chains of dispatches each of which
 * reads what another wrote. */
#include <stdlib.h>
#include <string.h>

#include "evidence/suite/trial.h"

/* elements, workgroup size, mask of the kept, seed */
static const uint32_t kept_sets[][SUITE_PARAMS] = {
	{1000, 64, 1, 1},  {1000, 64, 0, 2},	{1000, 64, 0xff, 3}, {1000, 64, 0xffffffff, 4},
	{1, 64, 0, 5},	   {63, 64, 1, 6},	{64, 64, 1, 7},	     {65, 64, 1, 8},
	{5000, 100, 3, 9}, {20000, 100, 1, 10}, {4097, 64, 7, 11},   {777, 100, 0, 12},
};
/* elements, workgroup size, seed */
static const uint32_t bin_sets[][SUITE_PARAMS] = {
	{1000, 64, 1},	{1, 64, 2},	{65, 64, 3},  {20000, 64, 4},
	{5000, 100, 5}, {3000, 100, 6}, {777, 64, 7}, {4097, 100, 8},
};
/* elements, workgroup size, passes, runs of the list, seed */
static const uint32_t pass_sets[][SUITE_PARAMS] = {
	{1000, 64, 12, 1, 1}, {4096, 64, 16, 1, 2}, {65, 64, 7, 3, 3},	   {20000, 64, 8, 2, 4},
	{5000, 256, 9, 1, 5}, {9999, 256, 6, 5, 6}, {30000, 256, 4, 3, 7}, {1, 64, 3, 2, 8},
};

/* ---- compaction ------------------------------------------------------------------------------ */

struct compaction {
	suite_work w;
	uint32_t *items, *kept, *origin; /* what came back; kept is n + 1 long */
	uint32_t n, total, mask;
};

static pctl_status compact(suite_trial *t, struct compaction *c)
{
	const uint32_t n = t->p[0], wg = t->p[1], groups = (n + wg - 1) / wg;
	const uint32_t params[4] = {n, t->p[2], 0, groups};
	const pctl_kernel_module *count, *add, *place;
	uint32_t b[6];
	pctl_status status = suite_kernel(t, "compact.wgsl", "count", wg, &count);

	if (status == PCTL_OK)
		status = suite_kernel(t, "compact.wgsl", "add", wg, &add);
	if (status == PCTL_OK)
		status = suite_kernel(t, "compact.wgsl", "place", wg, &place);
	if (status != PCTL_OK)
		return status;
	b[0] = suite_buffer_add(&c->w, SUITE_UNIFORM, params, sizeof(params));
	b[1] = suite_buffer_add(&c->w, SUITE_IN, NULL, 4ull * n);
	b[2] = suite_buffer_add(&c->w, SUITE_IN, NULL, 4ull * groups);
	b[3] = suite_buffer_add(&c->w, SUITE_OUT, NULL, 4ull * groups + 4);
	b[4] = suite_buffer_add(&c->w, SUITE_OUT, NULL, 4ull * n);
	b[5] = suite_buffer_add(&c->w, SUITE_OUT, NULL, 4ull * n);
	if (c->w.failed)
		return pctl_no_memory(t->call, "a trial");
	c->n = n;
	c->mask = t->p[2];
	c->items = suite_data(&c->w, b[1]);
	c->kept = suite_data(&c->w, b[4]);
	c->origin = suite_data(&c->w, b[5]);
	for (uint32_t i = 0; i < n; i++) {
		/* with the whole as mask, one item in seven is kept */
		c->items[i] = (uint32_t)suite_mix(t->context->seed + t->p[3], i);
		if (c->mask == UINT32_MAX && i % 7 == 0)
			c->items[i] = 0;
	}
	suite_step_add(&c->w, count, groups, b, 6);
	suite_step_add(&c->w, add, 1, b, 6);
	suite_step_add(&c->w, place, groups, b, 6);
	status = suite_run(t, t->context->device, &c->w);
	c->total = suite_data(&c->w, b[3])[groups];
	return status;
}

static int is_kept(const struct compaction *c, uint32_t i)
{
	return (c->items[i] & c->mask) == 0;
}

/* How often item i came out, from its own words about where it was; an index that is none counts against nobody. */
static uint32_t *tally(const struct compaction *c)
{
	uint32_t *seen = calloc(c->n + 1u, sizeof(*seen));

	for (uint32_t k = 0; seen != NULL && k < c->total && k < c->n; k++)
		if (c->origin[k] < c->n && c->kept[k] == c->items[c->origin[k]])
			seen[c->origin[k]]++;
	return seen;
}

static uint32_t due(const struct compaction *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++)
		n += (uint32_t)is_kept(c, i);
	return n;
}

static pctl_status lost_trial(suite_trial *t)
{
	struct compaction c = {.n = 0};
	pctl_status status = compact(t, &c);
	uint32_t *seen = status == PCTL_OK ? tally(&c) : NULL;

	if (status == PCTL_OK && seen == NULL)
		status = pctl_no_memory(t->call, "a trial");
	for (uint32_t i = 0; seen != NULL && i < c.n; i++) {
		if (!is_kept(&c, i) || seen[i] != 0 || !suite_fail(t, "every kept item comes out"))
			continue;
		suite_found(t, "item %u of %u is not there", i, c.n);
		suite_due(t, "0x%08x once", c.items[i]);
	}
	if (status == PCTL_OK) {
		suite_number(t, "how many were kept", c.total, due(&c));
		suite_digest(t, c.origin, 4ull * c.n);
	}
	free(seen);
	suite_work_drop(&c.w);
	return status;
}

static pctl_status twice_trial(suite_trial *t)
{
	struct compaction c = {.n = 0};
	pctl_status status = compact(t, &c);
	uint32_t *seen = status == PCTL_OK ? tally(&c) : NULL, sum = 0;

	if (status == PCTL_OK && seen == NULL)
		status = pctl_no_memory(t->call, "a trial");
	for (uint32_t i = 0; seen != NULL && i < c.n; i++) {
		sum += seen[i];
		if (seen[i] <= (uint32_t)is_kept(&c, i) ||
		    !suite_fail(t, "no item comes out twice"))
			continue;
		suite_found(t, "item %u came out %u times", i, seen[i]);
		suite_due(t, "%d", is_kept(&c, i));
	}
	if (status == PCTL_OK) {
		/* each place holds an item; places behind the last hold none */
		suite_number(t, "places that hold an item", sum, due(&c));
		for (uint32_t k = due(&c); k < c.n; k++)
			suite_number(t, "a place behind the last", c.kept[k] | c.origin[k], 0);
		suite_digest(t, c.kept, 4ull * c.n);
	}
	free(seen);
	suite_work_drop(&c.w);
	return status;
}

static pctl_status ordered_trial(suite_trial *t)
{
	struct compaction c = {.n = 0};
	pctl_status status = compact(t, &c);
	uint32_t *want = status == PCTL_OK ? calloc(c.n + 1u, sizeof(*want)) : NULL, n = 0;

	if (status == PCTL_OK && want == NULL)
		status = pctl_no_memory(t->call, "a trial");
	if (status == PCTL_OK) {
		for (uint32_t i = 0; i < c.n; i++)
			if (is_kept(&c, i))
				want[n++] = i;
		suite_words(t, "where each kept item came from, in order", c.origin, want, c.n);
		for (uint32_t k = 0; k < n; k++)
			want[k] = c.items[want[k]];
		suite_words(t, "the kept items, in order", c.kept, want, c.n);
	}
	free(want);
	suite_work_drop(&c.w);
	return status;
}

/* ---- histogram ------------------------------------------------------------------------------- */

static pctl_status bins_trial(suite_trial *t)
{
	const uint32_t n = t->p[0], wg = t->p[1];
	const pctl_kernel_module *unit;
	suite_work w = {.times = 1};
	uint32_t want[64] = {0}, *items;
	uint32_t b[4] = {suite_buffer_add(&w, SUITE_UNIFORM, (uint32_t[4]){n}, 16),
			 suite_buffer_add(&w, SUITE_IN, NULL, 4ull * n),
			 suite_buffer_add(&w, SUITE_OUT, NULL, sizeof(want)),
			 suite_buffer_add(&w, SUITE_OUT, NULL, sizeof(want))};
	pctl_status status = suite_kernel(t, "histogram.wgsl", NULL, wg, &unit);

	if (status == PCTL_OK && w.failed)
		status = pctl_no_memory(t->call, "a trial");
	if (status != PCTL_OK)
		goto out;
	items = suite_data(&w, b[1]);
	for (uint32_t i = 0; i < n; i++) {
		/* most land in few bins */
		items[i] = (uint32_t)suite_mix(t->context->seed + t->p[2], i) & (i % 3 ? 3 : 63);
		want[items[i] % 64]++;
	}
	suite_step_add(&w, unit, (n + wg - 1) / wg, b, 4);
	status = suite_run(t, t->context->device, &w);
	if (status == PCTL_OK) {
		suite_words(t, "bins by workgroup", suite_data(&w, b[2]), want, 64);
		suite_words(t, "bins counted directly", suite_data(&w, b[3]), want, 64);
	}
out:
	suite_work_drop(&w);
	return status;
}

/* ---- chains of dispatches --------------------------------------------------------------------- */

struct chain {
	uint32_t n, factor, shift;
};

static void host_pass(const struct chain *c, uint32_t round, const uint32_t *from, uint32_t *to)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const uint32_t at = (i * c->factor + c->shift) % c->n;

		to[i] = (from[at] ^ round) * 0x7feb352du + i;
	}
}

static pctl_status passes_trial(suite_trial *t)
{
	const uint32_t n = t->p[0], wg = t->p[1], passes = t->p[2];
	const struct chain c = {n, 2 * (uint32_t)(suite_mix(t->p[4], 1) % 500) + 1,
				(uint32_t)suite_mix(t->p[4], 2) % n};
	const pctl_kernel_module *unit;
	suite_work w = {.times = t->p[3]};
	uint32_t *host[2] = {calloc(n, 4), calloc(n, 4)}, now = 0;
	uint32_t data[2] = {suite_buffer_add(&w, SUITE_OUT, NULL, 4ull * n),
			    suite_buffer_add(&w, SUITE_OUT, NULL, 4ull * n)};
	pctl_status status = suite_kernel(t, "pass.wgsl", NULL, wg, &unit);

	for (uint32_t k = 0; status == PCTL_OK && k < passes; k++) {
		const uint32_t params[4] = {n, c.factor, c.shift, k + 1};
		const uint32_t b[3] = {suite_buffer_add(&w, SUITE_UNIFORM, params, 16), data[k % 2],
				       data[1 - k % 2]};

		suite_step_add(&w, unit, (n + wg - 1) / wg, b, 3);
	}
	if (status == PCTL_OK && (w.failed || host[0] == NULL || host[1] == NULL))
		status = pctl_no_memory(t->call, "a trial");
	if (status != PCTL_OK)
		goto out;
	for (uint32_t i = 0; i < n; i++)
		host[0][i] = suite_data(&w, data[0])[i] =
			(uint32_t)suite_mix(t->context->seed + t->p[4], i);
	status = suite_run(t, t->context->device, &w);
	for (uint32_t run = 0; run < t->p[3]; run++) {
		now = 0;
		for (uint32_t k = 0; k < passes; k++, now = 1 - now)
			host_pass(&c, k + 1, host[now], host[1 - now]);
	}
	if (status == PCTL_OK) {
		suite_words(t, "what the last pass wrote", suite_data(&w, data[now]), host[now], n);
		suite_words(t, "what the pass before it wrote", suite_data(&w, data[1 - now]),
			    host[1 - now], n);
	}
out:
	free(host[0]);
	free(host[1]);
	suite_work_drop(&w);
	return status;
}

#define ROWS(rows) .sets = (rows), .n_sets = sizeof(rows) / sizeof((rows)[0])
#define KEPT_PARAMS                              \
	{                                        \
		"n", "workgroup", "mask", "seed" \
	}

const suite_unit suite_compact[] = {
	{.name = "no-output-lost",
	 .law = "every item that is kept comes out",
	 .domain = "compaction: elements, workgroup sizes, masks",
	 .param = KEPT_PARAMS,
	 ROWS(kept_sets),
	 .per_block = 6,
	 .shrink = 1,
	 .trial = lost_trial},
	{.name = "no-output-lost-histogram",
	 .law = "every item is counted",
	 .domain = "histograms: elements, workgroup sizes",
	 .param = {"n", "workgroup", "seed"},
	 ROWS(bin_sets),
	 .per_block = 4,
	 .shrink = 1,
	 .trial = bins_trial},
	{.name = "no-duplicate",
	 .law = "no item comes out twice, and nothing else does",
	 .domain = "compaction: elements, workgroup sizes, masks",
	 .param = KEPT_PARAMS,
	 ROWS(kept_sets),
	 .per_block = 6,
	 .shrink = 1,
	 .trial = twice_trial},
	{.name = "ordered",
	 .law = "outputs stay in the order of inputs",
	 .domain = "compaction: elements, workgroup sizes, masks",
	 .param = KEPT_PARAMS,
	 ROWS(kept_sets),
	 .per_block = 6,
	 .shrink = 1,
	 .trial = ordered_trial},
	{.name = "ordered-dispatches",
	 .law = "a dispatch sees all that the dispatches before it wrote, and nothing of later "
		"ones",
	 .domain = "chains of dispatches: elements, workgroup sizes, passes, runs of the list",
	 .param = {"n", "workgroup", "passes", "runs", "seed"},
	 ROWS(pass_sets),
	 .per_block = 4,
	 .shrink = 1 | 1 << 2 | 1 << 3,
	 .trial = passes_trial}};
const uint32_t suite_n_compact = sizeof(suite_compact) / sizeof(suite_compact[0]);
