/* The search for what a device silently does wrong when a program is too large: turns of loops (alone, in sequence,
 * nested, in a called function) and depth of nesting (ifs, switches, through functions), by doubling and then by
 * halving what is left. The host knows every answer. */
#include "policy/limits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "policy/probe_private.h"

#define LANES 64u
#define MOST_TURNS (1u << 20)
#define MOST_LEVELS 192u
#define SLOW_KERNEL_NS 8000000000u /* a device this slow is not asked for more */

static const char frame[] =
	"@group(0) @binding(0) var<storage, read> a : array<u32>;\n"
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
	uint32_t in[LANES + 1], out[LANES] = {0};

	for (uint32_t i = 0; i < LANES; i++)
		in[i] = 2 * i + 1;
	in[LANES] = n;
	if (!probe_run(p, text, 0, LANES, in, LANES + 1, out, LANES))
		return 0;
	for (uint32_t i = 0; i < LANES; i++)
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

/* The largest n of one shape that was seen right, `most` when every step up to it was. */
static uint32_t search(probe *p, attempt right, uint32_t shape, uint32_t least, uint32_t most)
{
	uint32_t good = 0, bad = 0;

	for (uint32_t n = least; n <= most && bad == 0; n *= 2) {
		p->slowest_ns = 0;
		if (right(p, shape, n))
			good = n;
		else
			bad = n;
		if (p->slowest_ns > SLOW_KERNEL_NS || p->status != PCTL_OK)
			break;
	}
	if (bad == 0 || good == 0)
		return good;
	while (bad - good > 1 && p->status == PCTL_OK) {
		const uint32_t n = good + (bad - good) / 2;

		if (right(p, shape, n))
			good = n;
		else
			bad = n;
	}
	return good;
}

static void keep(pctl_extent_limits *out, uint32_t extent, uint64_t most)
{
	pctl_extent_limits one = {.most = {0}};

	/* 0 would be no limit at all. */
	one.most[extent] = most == 0 ? 1 : most;
	pctl_extent_limits_least(out, &one);
}

pctl_status pctl_probe_limits(const pctl_backend *table, pctl_device *dev,
			      const pctl_device_caps *caps, const pctl_call *call,
			      pctl_extent_limits *out)
{
	pctl_profile_record *record = calloc(1, sizeof(*record));
	probe p = {.table = table, .dev = dev, .caps = caps, .call = call, .out = record};

	memset(out, 0, sizeof(*out));
	if (record == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a probe");
	for (uint32_t shape = 0; shape < 4 && p.status == PCTL_OK; shape++) {
		const uint32_t n = search(&p, try_loops, shape, 4096, MOST_TURNS);

		if (n < MOST_TURNS)
			keep(out, PCTL_EXTENT_TURNS, n == 0 ? 0 : turns_of(shape, n));
	}
	for (uint32_t shape = 0; shape < 3 && p.status == PCTL_OK; shape++) {
		const uint32_t n = search(&p, try_nest, shape, 24, MOST_LEVELS);

		/* The early return of every lane beyond the count is a level, too. */
		if (n < MOST_LEVELS)
			keep(out, PCTL_EXTENT_NESTING, n == 0 ? 0 : n + 1ull);
	}
	free(record);
	return p.status;
}
