/* The search for what a device silently does wrong when a program is too large: turns of loops (alone, in sequence,
 * nested, in a called function) and depth of nesting (ifs, switches, through functions), by doubling and then by
 * halving what is left. The host knows every answer. */
#include "policy/limits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policy/probe_private.h"

#define LANES 64u
#define LOOP_LANES 16u /* enough for a count, and a simulator takes its time for each */
#define MOST_TURNS (1u << 20)
#define MOST_LEVELS 192u
/* A device this slow is not asked for more: times what a busy machine leaves of its processors. */
#define SLOW_KERNEL_NS 4000000000u
#define SPIN_NS 20000000u
#define MOST_BUSY 4u

static const char frame[] = "@group(0) @binding(0) var<storage, read> a : array<u32>;\n"
			    "@group(0) @binding(1) var<storage, read_write> r : array<u32>;\n"
			    "struct Counts { n : u32, loops : u32, a : u32, b : u32 }\n"
			    "@group(0) @binding(2) var<uniform> u : Counts;\n";
static const char main_text[] =
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id : vec3<u32>) {\n"
	"  let i = id.x;\n  if (i >= u.n) { return; }\n  let d = a[i];\n  var x = d;\n";

/* Two numbers of rounds travel as data behind the lanes, so that one kernel serves the whole search. */
static const char *const loops[] = {
	"  for (var k = 0u; k < a[64]; k++) { x = x * 3u + k; }\n",
	"  for (var k = 0u; k < a[64] / 2u; k++) { x = x * 3u + k; }\n"
	"  for (var k = 0u; k < a[64] - a[64] / 2u; k++) { x = x * 5u + k; }\n",
	"  for (var j = 0u; j < 16u; j++) { for (var k = 0u; k < a[64] / 16u; k++) { x = x * 3u + "
	"k + j; } }\n",
	"  for (var j = 0u; j < 16u; j++) { x = f(x, a[64] / 16u); }\n"};
static const char called[] = "fn f(y : u32, n : u32) -> u32 {\n  var x = y;\n"
			     "  for (var k = 0u; k < n; k++) { x = x * 3u + k; }\n  return x;\n}\n";

static uint32_t looped(uint32_t shape, uint32_t x, uint32_t n)
{
	switch (shape) {
	case 0:
		for (uint32_t k = 0; k < n; k++)
			x = x * 3 + k;
		break;
	case 1:
		for (uint32_t k = 0; k < n / 2; k++)
			x = x * 3 + k;
		for (uint32_t k = 0; k < n - n / 2; k++)
			x = x * 5 + k;
		break;
	default:
		for (uint32_t j = 0; j < 16; j++)
			for (uint32_t k = 0; k < n / 16; k++)
				x = x * 3 + k + (shape == 2 ? j : 0);
		break;
	}
	return x;
}

/* Turns as extents.h counts them, those that leave a loop included. */
static uint64_t turns_of(uint32_t shape, uint32_t n)
{
	return shape == 0 ? n + 1ull : shape == 1 ? n + 2ull : 17 + 16 * (n / 16 + 1ull);
}

/* Run with n rounds. 1: right; 0: wrong, or the probe is over. */
static int loops_right(probe *p, const char *text, uint32_t shape, uint32_t n)
{
	uint32_t in[LANES + 1] = {0}, out[LANES] = {0};

	for (uint32_t i = 0; i < LOOP_LANES; i++)
		in[i] = 2 * i + 1;
	in[LANES] = n;
	if (!probe_run(p, text, 0, LOOP_LANES, in, LANES + 1, out, LANES))
		return 0;
	for (uint32_t i = 0; i < LOOP_LANES; i++)
		if (out[i] != looped(shape, in[i], n))
			return 0;
	return 1;
}

typedef int (*attempt)(probe *p, uint32_t shape, uint32_t n);

static char *loop_text(uint32_t shape)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_addf(&s, "%s%s%s%s  r[i] = x;\n}\n", frame, called, main_text, loops[shape]);
	return pctl_str_finish(&s);
}

static int try_loops(probe *p, uint32_t shape, uint32_t n)
{
	char *text = loop_text(shape);
	const int right = text != NULL && loops_right(p, text, shape, n);

	free(text);
	return right;
}

/* Lane d leaves at depth d; a level that is lost lets it go on. */
static char *nest_text(uint32_t shape, uint32_t n)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_add(&s, frame);
	if (shape == 2) {
		pctl_str_add(&s, "fn f0(d : u32, x : u32) -> u32 { return x; }\n");
		for (uint32_t k = 1; k <= n; k++)
			pctl_str_addf(&s,
				      "fn f%" PRIu32 "(d : u32, y : u32) -> u32 {\n  var x = y;\n"
				      "  if (d != %" PRIu32 "u) { x = f%" PRIu32
				      "(d, x * 3u + %" PRIu32 "u) * 5u; }\n  return x;\n}\n",
				      k, n - k, k - 1, n - k);
	}
	pctl_str_add(&s, main_text);
	if (shape == 2)
		pctl_str_addf(&s, "  x = f%" PRIu32 "(d, x);\n", n);
	for (uint32_t k = 0; shape < 2 && k < n; k++)
		pctl_str_addf(&s,
			      shape == 0 ? "if (d != %" PRIu32 "u) { x = x * 3u + %" PRIu32 "u;\n"
					 : "switch (d) { case %" PRIu32
					   "u: {} default: { x = x * 3u + %" PRIu32 "u;\n",
			      k, k);
	for (uint32_t k = 0; shape < 2 && k < n; k++)
		pctl_str_add(&s, shape == 0 ? "x = x * 5u; }\n" : "x = x * 5u; } }\n");
	pctl_str_add(&s, "  r[i] = x;\n}\n");
	return pctl_str_finish(&s);
}

static int try_nest(probe *p, uint32_t shape, uint32_t n)
{
	char *text = nest_text(shape, n);
	uint32_t in[LANES], out[LANES] = {0};
	int right;

	/* The deepest levels each have a lane that leaves there. */
	for (uint32_t i = 0; i < LANES; i++)
		in[i] = n > LANES ? n - LANES + i + 1 : i;
	right = text != NULL && probe_run(p, text, 0, LANES, in, LANES, out, LANES);
	for (uint32_t i = 0; right && i < LANES; i++) {
		const uint32_t depth = in[i] < n ? in[i] : n;
		uint32_t x = in[i];

		for (uint32_t k = 0; k < depth; k++)
			x = x * 3 + k;
		for (uint32_t k = 0; k < depth; k++)
			x = x * 5;
		right = out[i] == x;
	}
	free(text);
	return right;
}

static uint64_t ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* How many want the processor that a thread is on: its time by the wall for its own. */
static uint64_t contention(void)
{
	const uint64_t wall = ns_of(CLOCK_MONOTONIC), own = ns_of(CLOCK_THREAD_CPUTIME_ID);
	uint64_t used, times;

	while ((used = ns_of(CLOCK_THREAD_CPUTIME_ID) - own) < SPIN_NS)
		;
	times = (ns_of(CLOCK_MONOTONIC) - wall + used - 1) / used;
	return times > MOST_BUSY ? MOST_BUSY : times;
}

static int is_slow(const probe *p)
{
	return p->slowest_ns > SLOW_KERNEL_NS && p->slowest_ns > SLOW_KERNEL_NS * contention();
}

/* The largest n of one shape that was seen right, `most` when every step up to it was. *slow is set where time ended it. */
static uint32_t search(probe *p, attempt right, uint32_t shape, uint32_t least, uint32_t most,
		       int *slow)
{
	uint32_t good = 0, bad = 0;

	*slow = 0;
	for (uint32_t n = least; n <= most && bad == 0 && !*slow && p->status == PCTL_OK; n *= 2) {
		p->slowest_ns = 0;
		if (right(p, shape, n))
			good = n;
		else
			bad = n;
		*slow = bad == 0 && n * 2 <= most && is_slow(p);
	}
	while (bad != 0 && good != 0 && bad - good > 1 && p->status == PCTL_OK) {
		const uint32_t n = good + (bad - good) / 2;

		if (right(p, shape, n))
			good = n;
		else
			bad = n;
	}
	return good;
}

/* What one more shape was right up to; none of it: one, for 0 would be no limit at all. */
static void keep(pctl_extent_limits *out, uint32_t *slow, uint32_t extent, uint64_t most,
		 int by_time)
{
	pctl_extent_limits one = {.most = {0}};
	const uint64_t before = out->most[extent];

	one.most[extent] = most == 0 ? 1 : most;
	pctl_extent_limits_least(out, &one);
	if (out->most[extent] == before)
		return;
	*slow &= ~(1u << extent);
	*slow |= (uint32_t)by_time << extent;
}

typedef struct shapes {
	attempt right;
	uint32_t n, extent, least, most;
	uint64_t (*need)(uint32_t shape, uint32_t n);
} shapes;

/* The early return of every lane beyond the count is a level, too. */
static uint64_t levels_of(uint32_t shape, uint32_t n)
{
	(void)shape;
	return n + 1ull;
}

static const shapes searched[] = {
	{try_loops, 4, PCTL_EXTENT_TURNS, 4096, MOST_TURNS, turns_of},
	{try_nest, 3, PCTL_EXTENT_NESTING, 24, MOST_LEVELS, levels_of},
};

static void search_all(probe *p, const shapes *s, pctl_extent_limits *out, uint32_t *slow)
{
	uint32_t least = s->least, most = s->most;

	for (uint32_t shape = 0; shape < s->n && p->status == PCTL_OK; shape++) {
		int by_time;
		const uint32_t n = search(p, s->right, shape, least, most, &by_time);

		if (n == 0 && least != s->least) {
			least = s->least;
			shape--;
			continue;
		}
		/* What one shape was too slow for, no other is asked; if it is right there, too, that is enough. */
		if (by_time)
			least = most = n;
		if (n < s->most && !(p->lost && n == 0))
			keep(out, slow, s->extent, n == 0 ? 0 : s->need(shape, n), by_time);
	}
	/* Shapes that were not asked for any more. */
	if (p->status != PCTL_OK && out->most[s->extent] == 0)
		keep(out, slow, s->extent, pctl_limits_floor.most[s->extent], 0);
}

pctl_status pctl_probe_limits(const pctl_backend *table, pctl_device *dev,
			      const pctl_device_caps *caps, const pctl_call *call,
			      pctl_extent_limits *out, uint32_t *slow, int *lost)
{
	pctl_profile_record *record = calloc(1, sizeof(*record));
	probe p = {.table = table, .dev = dev, .caps = caps, .call = call, .out = record};

	memset(out, 0, sizeof(*out));
	*slow = 0;
	*lost = 0;
	if (record == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a probe");
	for (size_t i = 0; i < sizeof(searched) / sizeof(searched[0]); i++)
		search_all(&p, &searched[i], out, slow);
	*lost = p.lost;
	free(record);
	return p.status;
}

/* Shape 0 at what the table has, which is more than any other shape needs for the same n. */
static int right_at(probe *p, const shapes *s, uint64_t most)
{
	const uint32_t at = most - 1 > s->most ? s->most : (uint32_t)(most - 1);

	return s->right(p, 0, at) && s->right(p, 0, at / 2);
}

pctl_status pctl_probe_known_limits(const pctl_backend *table, pctl_device *dev,
				    const pctl_device_caps *caps, const pctl_call *call,
				    const pctl_extent_limits *known, int *right)
{
	static const uint64_t unlimited[] = {1u << 16, 96};
	pctl_profile_record *record = calloc(1, sizeof(*record));
	probe p = {.table = table, .dev = dev, .caps = caps, .call = call, .out = record};

	*right = 1;
	if (record == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a probe");
	for (size_t i = 0; i < sizeof(searched) / sizeof(searched[0]) && *right; i++) {
		const uint64_t most = known->most[searched[i].extent];

		*right = right_at(&p, &searched[i], most != 0 ? most : unlimited[i]);
	}
	free(record);
	return p.status;
}
