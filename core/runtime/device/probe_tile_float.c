/* Matrix tiles of floats of a device's own: are their sums the chain of fma in f64 along K that they mean, between all kinds of
 * loads and stores? As probe_tile.c asks of integers. Of workgroup 0 any bits; of 1 numbers within a few binary orders of each
 * other, whose every sum is rounded, so that another order shows; of 2 subnormals, infinities, NaN, zeros, and what overflows.
 * Arrays hold the bits of floats, so that no other part of the lowering of floats is in it. The oracle is the host's fma. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/legalize/legal.h"
#include "runtime/device/probe_private.h"

#define LOCAL 64u
#define SUBGROUPS (LOCAL / PCTL_TILE_LANES)
#define COLUMNS 8u
#define ELEMENTS 512u /* of the input for a workgroup, and of its copy in workgroup memory */
#define SUMS 256u     /* f64 in workgroup memory */
#define N_GROUPS 3u
#define OUT 160u /* f64 of the output for a row and a subgroup */
#define LOOPS 5u /* what probe_run puts into u.loops is more */

/* Subgroup n of a workgroup loads or stores at component base + n * apart. */
typedef struct side {
	uint32_t shared; /* in workgroup memory */
	uint32_t columns, base, apart, stride;
} side;

/* What real programs have, both orders, both memories; then what is not aligned, and what ends outside. */
static const struct row {
	side left, right, sum, out;
	uint32_t loops; /* more products with the same factors */
} rows[] = {
	{{0, 0, 0, 16, 24}, {0, 0, 128, 8, 16}, {1, 0, 0, 8, 8}, {0, 0, 0, 0, 8}, LOOPS},
	{{1, 0, 8, 16, 20}, {1, 1, 64, 4, 20}, {1, 1, 8, 8, 16}, {0, 1, 0, 0, 16}, 1},
	{{0, 1, 0, 4, 20}, {1, 0, 32, 8, 12}, {1, 0, 64, 8, 8}, {0, 0, 4, 0, 8}, 0},
	{{1, 1, 16, 4, 24}, {0, 1, 256, 16, 24}, {1, 0, 2, 8, 12}, {0, 0, 0, 0, 8}, 0},
	{{0, 0, 3, 7, 17}, {1, 1, 1, 5, 19}, {1, 0, 5, 3, 9}, {0, 0, 1, 0, 9}, 1},
	{{1, 1, 300, 5, 32}, {0, 0, 1400, 20, 16}, {1, 0, 200, 8, 8}, {0, 1, 1, 0, 17}, 0},
};
#define N_ROWS (uint32_t)(sizeof(rows) / sizeof(rows[0]))
#define OUT_WORDS (N_GROUPS * SUBGROUPS * N_ROWS * OUT * 2)

typedef struct shape {
	uint32_t m, k;
	int is_wide;  /* factors of f64 */
	uint32_t all; /* elements of the input */
} shape;

/* ---- the oracle ---- */

static uint64_t number(const side *s, uint32_t n, uint32_t row, uint32_t column)
{
	return s->base + (uint64_t)n * s->apart +
	       (uint64_t)(s->columns ? column : row) * s->stride + (s->columns ? row : column);
}

static double wide_at(const uint32_t *words)
{
	double x;

	memcpy(&x, words, sizeof(x));
	return x;
}

static double factor(const shape *s, const uint32_t *in, const side *from, uint32_t group,
		     uint64_t at)
{
	float x;

	if (at >= (from->shared ? ELEMENTS : s->all - group * ELEMENTS))
		return 0;
	at += (uint64_t)group * ELEMENTS;
	if (s->is_wide)
		return wide_at(in + 2 * at);
	memcpy(&x, in + at, sizeof(x));
	return (double)x;
}

static double summand(const shape *s, const uint32_t *in, uint32_t group, uint64_t at)
{
	if (at >= SUMS)
		return 0;
	return wide_at(in + (uint64_t)group * ELEMENTS * (s->is_wide ? 2 : 1) + 2 * at);
}

static uint64_t bits_of(double x)
{
	uint64_t bits = 0x7ff8000000000000u;

	if (x == x)
		memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static void expect(const shape *s, const uint32_t *in, uint32_t *want)
{
	for (uint32_t i = 0; i < N_GROUPS * SUBGROUPS * N_ROWS * s->m * COLUMNS; i++) {
		const uint32_t column = i % COLUMNS, row = i / COLUMNS % s->m;
		const uint32_t which = i / COLUMNS / s->m % N_ROWS,
			       at = i / COLUMNS / s->m / N_ROWS;
		const uint32_t group = at / SUBGROUPS, n = at % SUBGROUPS;
		const struct row *r = &rows[which];
		double sum = summand(s, in, group, number(&r->sum, n, row, column));
		uint64_t bits;

		for (uint32_t k = 0; k < s->k * (1 + r->loops); k++)
			sum = fma(
				factor(s, in, &r->left, group, number(&r->left, n, row, k % s->k)),
				factor(s, in, &r->right, group,
				       number(&r->right, n, k % s->k, column)),
				sum);
		bits = bits_of(sum);
		memcpy(want + 2 * ((at * N_ROWS + which) * OUT + number(&r->out, 0, row, column)),
		       &bits, sizeof(bits));
	}
}

/* ---- the kernel ---- */

static const char *order(const side *s)
{
	return s->columns ? "col_major" : "row_major";
}

static void load_text(pctl_str_buf *t, const char *name, const char *type, const side *s,
		      const char *shared)
{
	pctl_str_addf(t,
		      "  var %s = subgroupMatrixLoad<%s, %s>(&%s, group.x * %uu + n * %uu + %uu, "
		      "%uu);\n",
		      name, type, order(s), s->shared ? shared : "a", s->shared ? 0 : ELEMENTS,
		      s->apart, s->base, s->stride);
}

static char *text_of(const shape *s)
{
	const char *bits = s->is_wide ? "u64" : "u32", *type = s->is_wide ? "f64" : "f32";
	pctl_str_buf t = PCTL_STR_BUF_INIT;

	pctl_str_addf(&t,
		      "//# subgroup = %u\nenable chromium_experimental_subgroup_matrix;\n"
		      "struct Counts { n : u32, loops : u32, a : u32, b : u32 }\n"
		      "@group(0) @binding(0) var<storage, read> a : array<%s>;\n"
		      "@group(0) @binding(1) var<storage, read_write> r : array<u64>;\n"
		      "@group(0) @binding(2) var<uniform> u : Counts;\n"
		      "var<workgroup> three : array<u32, 3>;\n"
		      "var<workgroup> w : array<%s, %u>;\n"
		      "var<workgroup> wide : array<u64, %u>;\n"
		      "alias L = subgroup_matrix_left<%s, %u, %u>;\n"
		      "alias R = subgroup_matrix_right<%s, %u, %u>;\n"
		      "alias S = subgroup_matrix_result<f64, %u, %u>;\n"
		      "fn again(x : L, y : R, s : S, n : u32) -> S {\n  var t = s;\n"
		      "  for (var i = 0u; i < n; i++) { "
		      "t = subgroupMatrixMultiplyAccumulate(x, y, t); }\n  return t;\n}\n"
		      "@compute @workgroup_size(%u)\n"
		      "fn main(@builtin(workgroup_id) group : vec3u, "
		      "@builtin(local_invocation_index) l : u32) {\n"
		      "  let n = l / %uu;\n"
		      "  three[l %% 3u] = u.n;\n"
		      "  for (var i = l; i < %uu; i += %uu) { w[i] = a[group.x * %uu + i]; }\n"
		      "  for (var i = l; i < %uu; i += %uu) {\n",
		      PCTL_TILE_LANES, bits, bits, ELEMENTS, SUMS, type, s->k, s->m, type, COLUMNS,
		      s->k, COLUMNS, s->m, LOCAL, PCTL_TILE_LANES, ELEMENTS, LOCAL, ELEMENTS, SUMS,
		      LOCAL);
	if (s->is_wide)
		pctl_str_addf(&t, "    wide[i] = a[group.x * %uu + i];\n", ELEMENTS);
	else
		pctl_str_addf(&t,
			      "    let at = group.x * %uu + 2u * i;\n"
			      "    wide[i] = u64(a[at]) | (u64(a[at + 1u]) << 32u);\n",
			      ELEMENTS);
	pctl_str_addf(&t, "  }\n  workgroupBarrier();\n");
	for (uint32_t i = 0; i < N_ROWS; i++) {
		const struct row *r = &rows[i];

		pctl_str_addf(&t, "  {\n");
		load_text(&t, "x", "L", &r->left, "w");
		load_text(&t, "y", "R", &r->right, "w");
		load_text(&t, "s", "S", &r->sum, "wide");
		pctl_str_addf(&t, "  s = subgroupMatrixMultiplyAccumulate(x, y, s);\n");
		if (r->loops == LOOPS)
			pctl_str_addf(&t, "  s = again(x, y, s, min(u.loops, %uu));\n", LOOPS);
		else if (r->loops)
			pctl_str_addf(&t, "  s = again(x, y, s, %uu);\n", r->loops);
		pctl_str_addf(&t,
			      "  subgroupMatrixStore<%s>(&r, ((group.x * %uu + n) * %uu + %uu) * "
			      "%uu + %uu, s, %uu);\n  }\n",
			      order(&r->out), SUBGROUPS, N_ROWS, i, OUT, r->out.base,
			      r->out.stride);
	}
	pctl_str_addf(&t, "}\n");
	return pctl_str_finish(&t);
}

/* An element of workgroup `group`, by random bits x. */
static uint64_t element(const shape *s, uint32_t group, uint64_t x)
{
	static const uint32_t odd[8] = {0x00000000u, 0x80000000u, 0x7f800000u, 0xff800000u,
					0x7fc00001u, 0x00000001u, 0x807fffffu, 0x7f7fffffu};
	static const uint64_t odd_wide[8] = {0,
					     1ull << 63,
					     0x7ff0000000000000u,
					     0xfff0000000000000u,
					     0x7ff0000000000123u,
					     1,
					     0x800fffffffffffffu,
					     0x7fefffffffffffffu};
	const uint32_t which = (uint32_t)(x >> 58) & 7;

	if (group == 0 || (group == 2 && (x >> 52 & 7) < 3))
		return x;
	if (group == 1)
		return s->is_wide ? (x & ~(0x7ffull << 52)) | (1020ull + (x >> 60 & 7)) << 52
				  : (x & ~0x7f800000ull) | (124 + (x >> 60 & 7)) << 23;
	return s->is_wide ? odd_wide[which] : odd[which];
}

/* In workgroup 2 infinities and NaN are few, or every sum would be one. */
static void fill(const shape *s, uint32_t *in)
{
	for (uint32_t i = 0; i < s->all; i++) {
		const uint32_t group = i / ELEMENTS;
		const uint64_t x = probe_random(i + 77777u * (uint32_t)s->is_wide);
		const uint64_t bits =
			group == 2 && i % 16 ? element(s, x >> 40 & 1, x) : element(s, group, x);

		if (s->is_wide)
			memcpy(in + 2 * i, &bits, 8);
		else
			in[i] = (uint32_t)bits;
	}
}

int probe_tile_float(probe *p, uint32_t m, uint32_t k, int is_wide)
{
	const shape s = {m, k, is_wide, N_GROUPS * ELEMENTS};
	const uint32_t in_words = s.all * (is_wide ? 2 : 1);
	uint32_t *in = calloc(in_words, 4), *out = calloc(OUT_WORDS, 4),
		 *want = calloc(OUT_WORDS, 4);
	char *text = text_of(&s);
	int right = 0;

	if (in == NULL || out == NULL || want == NULL || text == NULL) {
		p->status = pctl_no_memory(p->call, "a probe");
	} else {
		fill(&s, in);
		expect(&s, in, want);
		right = probe_run(p, text, 0, LOCAL * N_GROUPS, in, in_words, out, OUT_WORDS) &&
			memcmp(out, want, OUT_WORDS * 4) == 0;
	}
	free(text);
	free(in);
	free(out);
	free(want);
	return right;
}
