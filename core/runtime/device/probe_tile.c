/* Matrix tiles of a device's own (PCTL_CAP_TILES): does every product of a shape and a sign, between all kinds of loads and
 * stores, give what integers give? The program is legalised as one whose tiles stay, so that what goes through workgroup memory
 * is asked with it. Random components, in which a permuted or transposed fragment shows; components and sums at their ends,
 * in which a sum that saturates, or a sign that is taken for the other, shows. Asked in the session that needs it, and kept
 * nowhere, as in probe_subgroup.c. The oracle takes the components one by one and shares nothing with any lowering. */
#include <stdlib.h>
#include <string.h>

#include "compiler/legalize/legal.h"
#include "runtime/device/probe_private.h"

#define LOCAL 64u
#define SUBGROUPS (LOCAL / PCTL_TILE_LANES)
#define WORDS 512u  /* of the input for a workgroup, and of its copy in workgroup memory */
#define N_GROUPS 3u /* each has another input */
#define OUT 512u    /* words of the output for a row and a subgroup */
#define LOOPS 6u    /* what probe_run puts into u.loops */

/* Subgroup n of a workgroup loads or stores at component base + n * apart. */
typedef struct side {
	uint32_t shared; /* in workgroup memory */
	uint32_t columns, base, apart, stride;
} side;

/* What real programs have, both orders, both memories; then what falls between words, and what ends outside. */
static const struct row {
	side left, right, sum, out;
	uint32_t loops; /* more products with the same factors */
} rows[] = {
	{{0, 0, 0, 16, 48}, {0, 1, 1024, 16, 48}, {0, 0, 32, 4, 20}, {0, 0, 0, 0, 16}, LOOPS},
	{{1, 0, 0, 16, 32}, {1, 1, 768, 16, 80}, {1, 1, 8, 4, 24}, {0, 1, 4, 0, 20}, 1},
	{{0, 1, 16, 32, 16}, {1, 0, 512, 16, 16}, {0, 1, 0, 8, 16}, {0, 0, 0, 0, 24}, 0},
	{{1, 1, 64, 16, 32}, {0, 0, 32, 16, 48}, {1, 0, 100, 4, 16}, {0, 1, 0, 0, 16}, LOOPS},
	{{0, 0, 3, 7, 37}, {1, 1, 5, 9, 29}, {0, 1, 1, 3, 17}, {0, 0, 3, 0, 19}, 0},
	{{1, 1, 1, 5, 33}, {0, 0, 1600, 48, 16}, {0, 0, 480, 4, 4}, {0, 1, 1, 0, 17}, 1},
};
#define N_ROWS (uint32_t)(sizeof(rows) / sizeof(rows[0]))
#define IN_WORDS (N_GROUPS * WORDS)
#define OUT_WORDS (N_GROUPS * SUBGROUPS * N_ROWS * OUT)

typedef struct shape {
	uint32_t m, n, k;
	int is_signed;
} shape;

static shape shape_of(uint32_t i)
{
	return (shape){i & 1 ? 16 : 8, i & 2 ? 16 : 8, i & 4 ? 32 : 16, i >> 3 & 1};
}

/* ---- the oracle ---- */

static uint64_t number(const side *s, uint32_t n, uint32_t row, uint32_t column)
{
	return s->base + (uint64_t)n * s->apart +
	       (uint64_t)(s->columns ? column : row) * s->stride + (s->columns ? row : column);
}

/* Word `at` of what a side of workgroup `group` loads from. */
static uint32_t word_of(const uint32_t *in, const side *s, uint32_t group, uint64_t at)
{
	if (s->shared)
		return at < WORDS ? in[group * WORDS + at] : 0;
	at += (uint64_t)group * WORDS;
	return at < IN_WORDS ? in[at] : 0;
}

static int64_t component(const uint32_t *in, const side *s, uint32_t group, uint64_t at,
			 int is_signed)
{
	const uint32_t byte = word_of(in, s, group, at / 4) >> 8 * (at % 4) & 0xff;

	return is_signed && byte > 127 ? (int64_t)byte - 256 : (int64_t)byte;
}

static void expect(const shape *s, const uint32_t *in, uint32_t *want)
{
	for (uint32_t i = 0; i < N_GROUPS * SUBGROUPS * N_ROWS * s->m * s->n; i++) {
		const uint32_t column = i % s->n, row = i / s->n % s->m;
		const uint32_t which = i / s->n / s->m % N_ROWS, at = i / s->n / s->m / N_ROWS;
		const uint32_t group = at / SUBGROUPS, n = at % SUBGROUPS;
		const struct row *r = &rows[which];
		int64_t once = 0;

		for (uint32_t k = 0; k < s->k; k++)
			once += component(in, &r->left, group, number(&r->left, n, row, k),
					  s->is_signed) *
				component(in, &r->right, group, number(&r->right, n, k, column),
					  s->is_signed);
		want[(at * N_ROWS + which) * OUT + number(&r->out, 0, row, column)] =
			word_of(in, &r->sum, group, number(&r->sum, n, row, column)) +
			(uint32_t)once * (1 + r->loops);
	}
}

/* ---- the kernel ---- */

static const char *order(const side *s)
{
	return s->columns ? "col_major" : "row_major";
}

/* group_size: components of the input for a workgroup. */
static void load_text(pctl_str_buf *t, const char *name, const char *type, const side *s,
		      uint32_t group_size)
{
	pctl_str_addf(t,
		      "  var %s = subgroupMatrixLoad<%s, %s>(&%s, group.x * %uu + n * %uu + %uu, "
		      "%uu);\n",
		      name, type, order(s), s->shared ? "w" : "a", s->shared ? 0 : group_size,
		      s->apart, s->base, s->stride);
}

static char *text_of(const shape *s)
{
	const char *word = s->is_signed ? "i32" : "u32", *byte = s->is_signed ? "i8" : "u8";
	pctl_str_buf t = PCTL_STR_BUF_INIT;

	pctl_str_addf(&t,
		      "//# subgroup = %u\nenable chromium_experimental_subgroup_matrix;\n"
		      "struct Counts { n : u32, loops : u32, a : u32, b : u32 }\n"
		      "@group(0) @binding(0) var<storage, read> a : array<%s>;\n"
		      "@group(0) @binding(1) var<storage, read_write> r : array<%s>;\n"
		      "@group(0) @binding(2) var<uniform> u : Counts;\n"
		      "var<workgroup> three : array<u32, 3>;\n"
		      "var<workgroup> w : array<%s, %u>;\n"
		      "alias L = subgroup_matrix_left<%s, %u, %u>;\n"
		      "alias R = subgroup_matrix_right<%s, %u, %u>;\n"
		      "alias S = subgroup_matrix_result<%s, %u, %u>;\n"
		      "fn again(x : L, y : R, s : S, n : u32) -> S {\n  var t = s;\n"
		      "  for (var i = 0u; i < n; i++) { "
		      "t = subgroupMatrixMultiplyAccumulate(x, y, t); }\n  return t;\n}\n"
		      "@compute @workgroup_size(%u)\n"
		      "fn main(@builtin(workgroup_id) group : vec3u, "
		      "@builtin(local_invocation_index) l : u32) {\n"
		      "  let n = l / %uu;\n"
		      "  three[l %% 3u] = u.n;\n"
		      "  for (var i = l; i < %uu; i += %uu) { w[i] = a[group.x * %uu + i]; }\n"
		      "  workgroupBarrier();\n",
		      PCTL_TILE_LANES, word, word, word, WORDS, byte, s->k, s->m, byte, s->n, s->k,
		      word, s->n, s->m, LOCAL, PCTL_TILE_LANES, WORDS, LOCAL, WORDS);
	for (uint32_t i = 0; i < N_ROWS; i++) {
		const struct row *r = &rows[i];

		pctl_str_addf(&t, "  {\n");
		load_text(&t, "x", "L", &r->left, WORDS * 4);
		load_text(&t, "y", "R", &r->right, WORDS * 4);
		load_text(&t, "s", "S", &r->sum, WORDS);
		pctl_str_addf(&t, "  s = subgroupMatrixMultiplyAccumulate(x, y, s);\n");
		if (r->loops == LOOPS)
			pctl_str_addf(&t, "  s = again(x, y, s, min(u.loops, %uu));\n", LOOPS);
		else if (r->loops)
			pctl_str_addf(&t, "  s = again(x, y, s, %uu);\n", r->loops);
		pctl_str_addf(&t,
			      "  subgroupMatrixStore<%s>(&r, ((group.x * %uu + n) * %uu + %uu) * "
			      "%uu + %uu, s, "
			      "%uu);\n  }\n",
			      order(&r->out), SUBGROUPS, N_ROWS, i, OUT, r->out.base,
			      r->out.stride);
	}
	pctl_str_addf(&t, "}\n");
	return pctl_str_finish(&t);
}

/* Of workgroup 0: random words. 1: every byte is -128, or 128; sums are at their ends. 2: bytes at their ends, too. */
static void fill(uint32_t *in)
{
	static const uint8_t ends[8] = {0x80, 0x7f, 0xff, 0x00, 0x01, 0x81, 0xfe, 0x80};

	for (uint32_t i = 0; i < IN_WORDS; i++) {
		const uint64_t x = probe_random(i);

		in[i] = i < WORDS ? (uint32_t)x : 0x80808080u;
		for (uint32_t b = 0; i >= 2 * WORDS && b < 4; b++)
			in[i] = (in[i] & ~(0xffu << 8 * b)) | (uint32_t)ends[x >> 3 * b & 7]
								      << 8 * b;
		if (i >= WORDS && i < 2 * WORDS && i % 3 == 0)
			in[i] = x & 64 ? 0x7fffffffu : 0x80000000u;
	}
}

#define FIRST_FLOAT 16u /* bits of PCTL_TILE_PRODUCTS */

/* 1: one product is right. */
static int is_right(probe *p, uint32_t product)
{
	const uint32_t of_floats = product - FIRST_FLOAT;
	const shape s = shape_of(product);
	uint32_t *in = calloc(IN_WORDS, 4), *out = calloc(OUT_WORDS, 4),
		 *want = calloc(OUT_WORDS, 4);
	char *text = text_of(&s);
	int right = 0;

	if (product >= FIRST_FLOAT) {
		right = probe_tile_float(p, of_floats & 1 ? 16 : 8, 4u << of_floats / 2 % 3,
					 of_floats >= 6);
	} else if (in == NULL || out == NULL || want == NULL || text == NULL) {
		p->status = pctl_no_memory(p->call, "a probe");
	} else {
		fill(in);
		expect(&s, in, want);
		right = probe_run(p, text, 0, LOCAL * N_GROUPS, in, IN_WORDS, out, OUT_WORDS) &&
			memcmp(out, want, OUT_WORDS * 4) == 0;
	}
	free(text);
	free(in);
	free(out);
	free(want);
	return right;
}

pctl_status pctl_probe_tiles(const pctl_backend *table, pctl_device *dev,
			     const pctl_device_caps *caps, uint32_t products, const pctl_call *call,
			     uint32_t *exact)
{
	pctl_legal_options options = {.head = PCTL_HEAD(pctl_legal_options),
				      .subgroup_size = PCTL_TILE_LANES,
				      .subgroup_kinds = PCTL_SUBGROUP_VOTE | PCTL_SUBGROUP_MOVE};
	probe p = {.table = table,
		   .dev = dev,
		   .caps = caps,
		   .call = call,
		   .legal = &options,
		   .tries = 1,
		   .per_group = LOCAL};

	*exact = 0;
	for (uint32_t i = 0; (PCTL_TILE_PRODUCTS >> i & 1) && p.status == PCTL_OK; i++) {
		options.tile_products = 1u << i;
		if ((products & options.tile_products) && is_right(&p, i))
			*exact |= options.tile_products;
	}
	return p.status;
}
