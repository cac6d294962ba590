/* Subgroup operations of a device's own (PCTL_CAP_SUBGROUPS): are the lanes of a subgroup of the asked size consecutive local
 * indices, and does every operation give each of them what the definition says? Asked by size and kind of operation, in
 * workgroups of one, two and three dimensions: straight, in a loop, in functions, and where lanes went different ways just
 * before. What is not shown to be right goes through workgroup memory. optional.h keeps the answers. The oracle takes the lanes one by one and shares nothing with any lowering. */
#include <stdlib.h>

#include "compiler/legalize/legal.h"
#include "runtime/device/probe_private.h"

#define N_GROUPS 3u
#define LOOPS 6u /* what probe_run puts into u.loops */

enum {
	LANE_ADD,
	LANE_MUL,
	LANE_UMIN,
	LANE_UMAX,
	LANE_SMIN,
	LANE_SMAX,
	LANE_AND,
	LANE_OR,
	LANE_XOR,
	LANE_ALL,
	LANE_ANY,
	LANE_BALLOT,
	LANE_ELECT,
	LANE_OF,
	LANE_SHUFFLE,
	LANE_SHUFFLE_XOR,
	LANE_UP,
	LANE_DOWN
};
enum { OVER_ALL, OVER_UP_TO, OVER_BELOW };

/* `of`: lanes that a reduction or scan is over; the word of a ballot; the lane of a broadcast. */
static const struct row {
	uint32_t kind;
	const char *text;
	uint32_t what, of;
} rows[] = {
	{PCTL_SUBGROUP_REDUCE, "subgroupAdd(x)", LANE_ADD, OVER_ALL},
	{PCTL_SUBGROUP_REDUCE, "subgroupAdd(vec3(k, x, k)).y", LANE_ADD, OVER_ALL},
	{PCTL_SUBGROUP_REDUCE, "subgroupMul(x)", LANE_MUL, OVER_ALL},
	{PCTL_SUBGROUP_REDUCE, "subgroupMin(x)", LANE_UMIN, OVER_ALL},
	{PCTL_SUBGROUP_REDUCE, "subgroupMax(x)", LANE_UMAX, OVER_ALL},
	{PCTL_SUBGROUP_REDUCE, "bitcast<u32>(subgroupMin(bitcast<i32>(x)))", LANE_SMIN, OVER_ALL},
	{PCTL_SUBGROUP_REDUCE, "bitcast<u32>(subgroupMax(bitcast<i32>(x)))", LANE_SMAX, OVER_ALL},
	{PCTL_SUBGROUP_REDUCE, "subgroupAnd(x)", LANE_AND, OVER_ALL},
	{PCTL_SUBGROUP_REDUCE, "subgroupOr(x)", LANE_OR, OVER_ALL},
	{PCTL_SUBGROUP_REDUCE, "subgroupXor(x)", LANE_XOR, OVER_ALL},
	{PCTL_SUBGROUP_SCAN, "subgroupInclusiveAdd(x)", LANE_ADD, OVER_UP_TO},
	{PCTL_SUBGROUP_SCAN, "subgroupInclusiveMul(x)", LANE_MUL, OVER_UP_TO},
	{PCTL_SUBGROUP_SCAN, "subgroupExclusiveAdd(x)", LANE_ADD, OVER_BELOW},
	{PCTL_SUBGROUP_SCAN, "subgroupExclusiveMul(x)", LANE_MUL, OVER_BELOW},
	{PCTL_SUBGROUP_VOTE, "u32(subgroupAll((x & 1u) == 1u))", LANE_ALL, 0},
	{PCTL_SUBGROUP_VOTE, "u32(subgroupAny((x & 1u) == 1u))", LANE_ANY, 0},
	{PCTL_SUBGROUP_VOTE, "subgroupBallot((x & 1u) == 1u).x", LANE_BALLOT, 0},
	{PCTL_SUBGROUP_VOTE, "subgroupBallot((x & 1u) == 1u).y", LANE_BALLOT, 1},
	{PCTL_SUBGROUP_VOTE, "subgroupBallot((x & 1u) == 1u).z", LANE_BALLOT, 2},
	{PCTL_SUBGROUP_VOTE, "subgroupBallot((x & 1u) == 1u).w", LANE_BALLOT, 3},
	{PCTL_SUBGROUP_VOTE, "u32(subgroupElect())", LANE_ELECT, 0},
	{PCTL_SUBGROUP_MOVE, "subgroupBroadcast(x, 1u)", LANE_OF, 1},
	{PCTL_SUBGROUP_MOVE, "subgroupBroadcast(x, 3u)", LANE_OF, 3},
	{PCTL_SUBGROUP_MOVE, "subgroupShuffle(x, k)", LANE_SHUFFLE, 0},
	{PCTL_SUBGROUP_MOVE, "subgroupShuffle(vec2(k, x), k).y", LANE_SHUFFLE, 0},
	{PCTL_SUBGROUP_MOVE, "subgroupShuffleXor(x, k)", LANE_SHUFFLE_XOR, 0},
	{PCTL_SUBGROUP_MOVE, "subgroupShuffleUp(x, k)", LANE_UP, 0},
	{PCTL_SUBGROUP_MOVE, "subgroupShuffleDown(x, k)", LANE_DOWN, 0},
};
#define N_ROWS (uint32_t)(sizeof(rows) / sizeof(rows[0]))
#define N_RESULTS (N_ROWS + 4u)

/* ---- the oracle: one subgroup, whole ---- */

typedef struct lanes {
	uint32_t x[PCTL_SUBGROUP_SIZE_MAX], k[PCTL_SUBGROUP_SIZE_MAX];
	uint32_t n;
} lanes;

static uint32_t combine(uint32_t what, uint32_t a, uint32_t b)
{
	switch (what) {
	case LANE_ADD:
		return a + b;
	case LANE_MUL:
		return a * b;
	case LANE_UMIN:
		return a < b ? a : b;
	case LANE_UMAX:
		return a > b ? a : b;
	case LANE_SMIN:
		return (int32_t)a < (int32_t)b ? a : b;
	case LANE_SMAX:
		return (int32_t)a > (int32_t)b ? a : b;
	case LANE_AND:
		return a & b;
	case LANE_OR:
		return a | b;
	default:
		return a ^ b;
	}
}

static uint32_t gathered(const struct row *r, const lanes *g, uint32_t own)
{
	const uint32_t end = r->of == OVER_ALL ? g->n : r->of == OVER_UP_TO ? own + 1 : own;
	uint32_t t = r->what == LANE_MUL; /* of no lanes */

	for (uint32_t i = 0; i < end; i++)
		t = i ? combine(r->what, t, g->x[i]) : g->x[0];
	return t;
}

static uint32_t voted(const struct row *r, const lanes *g)
{
	uint32_t bits[4] = {0, 0, 0, 0}, n = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		n += g->x[i] & 1;
		bits[i / 32] |= (g->x[i] & 1) << i % 32;
	}
	return r->what == LANE_BALLOT ? bits[r->of] : r->what == LANE_ALL ? n == g->n : n > 0;
}

static uint32_t expected(const struct row *r, const lanes *g, uint32_t own)
{
	uint64_t from;

	switch (r->what) {
	case LANE_ALL:
	case LANE_ANY:
	case LANE_BALLOT:
		return voted(r, g);
	case LANE_ELECT:
		return own == 0;
	case LANE_OF:
		from = r->of;
		break;
	case LANE_SHUFFLE:
		from = g->k[own];
		break;
	case LANE_SHUFFLE_XOR:
		from = own ^ g->k[own];
		break;
	case LANE_UP:
		from = (uint64_t)own - g->k[own]; /* below lane 0 is far behind the last */
		break;
	case LANE_DOWN:
		from = (uint64_t)own + g->k[own];
		break;
	default:
		return gathered(r, g, own);
	}
	return from < g->n ? g->x[from] : 0;
}

/* What `each` of the kernel gives a lane. */
static uint32_t mixed(uint32_t kind, const lanes *g, uint32_t own)
{
	uint32_t t = 0;

	for (uint32_t i = 0; i < N_ROWS; i++)
		if (rows[i].kind == kind)
			t = t * 31 + expected(&rows[i], g, own);
	return t;
}

/* What lanes do each in its own way. */
static uint32_t apart(uint32_t x)
{
	uint32_t y = x;

	if (x & 1)
		return y * 3;
	for (uint32_t j = 0; j < (x & 7); j++)
		y += j * x + 1;
	return y;
}

/* All results of all lanes but for where they are. */
static void wanted(uint32_t kind, const lanes *g, uint32_t out[][N_RESULTS])
{
	lanes now = *g, asked;

	for (uint32_t own = 0; own < g->n; own++)
		for (uint32_t i = 0; i < N_ROWS; i++)
			out[own][i] = rows[i].kind == kind ? expected(&rows[i], g, own) : 0;
	for (uint32_t i = 0; i < g->n; i++)
		now.x[i] = apart(g->x[i]);
	for (uint32_t own = 0; own < g->n; own++)
		out[own][N_ROWS] = mixed(kind, &now, own);
	now = *g;
	for (uint32_t j = 0; j < LOOPS; j++) {
		asked = now;
		for (uint32_t i = 0; i < g->n; i++)
			asked.x[i] ^= j;
		for (uint32_t i = 0; i < g->n; i++)
			now.x[i] = mixed(kind, &asked, i) + apart(now.x[i]);
	}
	for (uint32_t own = 0; own < g->n; own++)
		out[own][N_ROWS + 1] = now.x[own];
}

/* ---- the kernel ---- */

static char *text_of(uint32_t kind, uint32_t size, const uint32_t local[3])
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_addf(&s,
		      "//# subgroup = %u\nenable subgroups;\n"
		      "struct Counts { n : u32, loops : u32, a : u32, b : u32 }\n"
		      "@group(0) @binding(0) var<storage, read> a : array<u32>;\n"
		      "@group(0) @binding(1) var<storage, read_write> r : array<u32>;\n"
		      "@group(0) @binding(2) var<uniform> u : Counts;\n"
		      "fn apart(x : u32) -> u32 {\n"
		      "  var y = x;\n  if ((x & 1u) == 1u) { y = y * 3u; }\n"
		      "  else { for (var j = 0u; j < (x & 7u); j++) { y += j * x + 1u; } }\n"
		      "  return y;\n}\n"
		      "fn each(x : u32, k : u32) -> u32 {\n  var t = 0u;\n",
		      size);
	for (uint32_t i = 0; i < N_ROWS; i++)
		if (rows[i].kind == kind)
			pctl_str_addf(&s, "  t = t * 31u + %s;\n", rows[i].text);
	pctl_str_addf(
		&s,
		"  return t;\n}\n"
		"@compute @workgroup_size(%u, %u, %u)\n"
		"fn main(@builtin(workgroup_id) group : vec3u, @builtin(local_invocation_index) l "
		": u32,\n  @builtin(local_invocation_id) at : vec3u, "
		"@builtin(global_invocation_id) id : vec3u) {\n"
		"  let i = group.x * %uu + l;\n  let o = i * %uu;\n"
		"  let x = a[2u * i];\n  let k = a[2u * i + 1u];\n",
		local[0], local[1], local[2], local[0] * local[1] * local[2], N_RESULTS);
	for (uint32_t i = 0; i < N_ROWS; i++)
		if (rows[i].kind == kind)
			pctl_str_addf(&s, "  r[o + %uu] = %s;\n", i, rows[i].text);
	pctl_str_addf(&s,
		      "  r[o + %uu] = each(apart(x), k);\n  var t = x;\n"
		      "  for (var j = 0u; j < min(u.loops, %uu); j++) {\n"
		      "    t = each(t ^ j, k) + apart(t);\n  }\n"
		      "  r[o + %uu] = t;\n"
		      "  r[o + %uu] = at.x + (at.y << 10u) + (at.z << 20u);\n"
		      "  r[o + %uu] = id.x + (id.y << 10u) + (id.z << 20u);\n}\n",
		      N_ROWS, LOOPS, N_ROWS + 1, N_ROWS + 2, N_ROWS + 3);
	return pctl_str_finish(&s);
}

/* Odd numbers in every third subgroup, even ones in the next; lanes near the subgroup, any, and such as wrap. */
static void fill(uint32_t *in, uint32_t n, uint32_t size, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t a = probe_random(((uint64_t)seed << 32) + 2 * i),
			       b = probe_random(((uint64_t)seed << 32) + 2 * i + 1);
		const uint32_t third = i / size % 3, near = (uint32_t)(b >> 34) % (2 * size);

		in[2 * i] = third == 0 ? (uint32_t)a | 1 : (uint32_t)a & (third == 1 ? ~1u : ~0u);
		in[2 * i + 1] = (b & 3) == 0 ? (uint32_t)(b >> 8) : (b & 3) == 1 ? 0u - near : near;
	}
}

static int compare(uint32_t kind, uint32_t size, const uint32_t local[3], const uint32_t *in,
		   const uint32_t *out)
{
	const uint32_t n = local[0] * local[1] * local[2];
	uint32_t want[PCTL_SUBGROUP_SIZE_MAX][N_RESULTS];
	lanes g = {.n = size};
	int right = 1;

	for (uint32_t i = 0; i < n * N_GROUPS; i++) {
		const uint32_t own = i % n % size, l = i % n, group = i / n;
		const uint32_t x = l % local[0], y = l / local[0] % local[1],
			       z = l / local[0] / local[1];

		for (uint32_t k = 0; own == 0 && k < size; k++) {
			g.x[k] = in[2 * (i + k)];
			g.k[k] = in[2 * (i + k) + 1];
		}
		if (own == 0)
			wanted(kind, &g, want);
		want[own][N_ROWS + 2] = x + (y << 10) + (z << 20);
		want[own][N_ROWS + 3] = want[own][N_ROWS + 2] + group * local[0];
		for (uint32_t k = 0; k < N_RESULTS; k++)
			right &= out[i * N_RESULTS + k] == want[own][k];
	}
	return right;
}

/* 1: one kind in one shape is right. */
static int is_right(probe *p, uint32_t kind, uint32_t size, const uint32_t local[3])
{
	const uint32_t n = local[0] * local[1] * local[2] * N_GROUPS;
	uint32_t *in = calloc((size_t)n * 2, 4), *out = calloc((size_t)n * N_RESULTS, 4);
	char *text = text_of(kind, size, local);
	int right = 0;

	if (in == NULL || out == NULL || text == NULL) {
		p->status = pctl_no_memory(p->call, "a probe");
	} else {
		fill(in, n, size, kind * 1000 + size);
		p->per_group = n / N_GROUPS;
		right = probe_run(p, text, 0, n, in, (uint64_t)n * 2, out,
				  (uint64_t)n * N_RESULTS) &&
			compare(kind, size, local, in, out);
	}
	free(text);
	free(in);
	free(out);
	return right;
}

pctl_status pctl_probe_subgroups(const pctl_backend *table, pctl_device *dev,
				 const pctl_device_caps *caps, uint32_t size, uint32_t kinds,
				 const pctl_call *call, uint32_t *exact)
{
	probe p = {.table = table,
		   .dev = dev,
		   .caps = caps,
		   .call = call,
		   .timeout_ns = PROBE_OPTIONAL_NS};
	/* Of the device's own subgroups, which its workgroups must be multiples of. */
	const uint32_t m = caps->subgroup_size > size ? caps->subgroup_size : size;
	const uint32_t shapes[3][3] = {{m * 4, 1, 1}, {3, m, 1}, {2, 3, m / 2}};

	*exact = 0;
	for (uint32_t kind = 1; kind & PCTL_SUBGROUP_KINDS; kind <<= 1) {
		int right = (kinds & kind) != 0;

		for (uint32_t i = 0; i < 3 && right; i++)
			right = is_right(&p, kind, size, shapes[i]);
		*exact |= right ? kind : 0;
	}
	return p.status;
}
