/* The exact product of few rows with a transposed b on a GPU (SEMANTICS.md 4.4): a model's weights beside the tokens of a step. b is read once, in order and as it lies, 16 bytes a lane
 * where its elements are plain, never expanded. One dispatch does all for MATMUL_ROWS_MOST rows: f64 sums, the norms that bound their error, and what is in doubt settled where it was
 * found, for a dispatch costs as much as a small product. */
#include <stdio.h>

#include "matmul_fast.h"

#include "kernels.h"

#define LANES_USUAL 256u
#define MEMORY 32768u
/* Columns may be few, but lanes must be many. */
#define LANES_MANY (1u << 16)

/* Of a row alone a warp reads a column's bytes one behind the other. Reads: what may be on its way to an invocation at once. Where columns are many, four of an invocation share what a row's
 * terms cost, and what is behind a product's last read is hidden by other workgroups: they are small and have few registers. Where columns are few there are none to hide it, and more is read at once. */
#define SPLIT_ALONE 32u
#define COLUMNS_MANY 8192u
#define READS_MANY 4u
#define READS_FEW 6u
#define LANES_OF_MANY 128u
/*
 * lanes    of a workgroup; split: of a column
 * terms    of a lane in a turn, side by side
 * turns    that are read before the first is used
 * rows     that are summed together; per: columns of an invocation
 * pairs    of a sum and its bound that are joined together
 * a, b     elements in 16 bytes where those are read at once, or 0
 * ragged   the last turn of some lanes has no terms
 * sums     of a row and column that an invocation keeps: terms go to them in turn, so that none waits for the one before, and fewer roundings are on a term's way
 * scaled   f64 of b are made of its bits, as 2^-896 of what they are (SCALE)
 * far      magnitudes are added up in f64, for f32 is not the device's own
 * block    of b, NULL: its elements are f32
 */
typedef struct gemv {
	uint32_t lanes, split, terms, turns, rows, per, pairs, a, b, ragged, sums, scaled, far;
	const kit_block_format *block;
} gemv;

/* Elements that lie in 16 bytes, of types whose bits are those of an f32 or half of them. */
static uint32_t in_quad(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_F32				       ? 4
	       : dtype == PCTL_SCALAR_F16 || dtype == PCTL_SCALAR_BF16 ? 8
								       : 0;
}

static uint32_t tuned(const kit_plan *p, uint32_t tunable, uint32_t usual)
{
	const uint32_t n = kit_tunable(p, tunable);

	return n == 0 ? usual : n;
}

/* The terms of a turn of all lanes of a column, or of several turns. */
static uint64_t terms_of(const gemv *g, uint64_t split, uint64_t turns)
{
	return split * g->terms * turns;
}

/* Twice as many lanes would leave more than an eighth of the last turn without terms. */
static int is_cut_well(const gemv *g, uint64_t k)
{
	const uint64_t twice = terms_of(g, 2 * g->split, 1);

	return matmul_parts(k, twice) * twice * 8 <= k * 9;
}

static uint32_t split_of(const gemv *g, const matmul_shape *s)
{
	const int is_alone = g->rows == 1 && g->b != 0;
	gemv c = *g;

	/* A lane always has the same part of a block. */
	c.split = g->block == NULL ? 8 : g->block->block / 8;
	while (c.split < (c.rows >= 8 ? 64 : c.lanes) && terms_of(&c, c.split, 2) <= s->k &&
	       (s->n * c.split / c.per < LANES_MANY || (is_alone && c.split < SPLIT_ALONE)) &&
	       (!is_alone || c.split < SPLIT_ALONE || is_cut_well(&c, s->k)))
		c.split *= 2;
	return c.split;
}

static gemv cut_of(const matmul_fast_plan *f, uint64_t n_rows)
{
	const pctl_tensor_type *in = f->p->use->q->in;
	const matmul_shape *s = f->s;
	int is_alone, has_many;
	uint32_t asked;
	gemv g = {.rows = 1, .turns = 1, .block = kit_block_format_of(in[1].dtype)};

	while (g.rows < MATMUL_ROWS_MOST && g.rows < n_rows)
		g.rows *= 2;
	g.b = g.block == NULL ? in_quad(in[1].dtype) : 0;
	g.terms = g.block != NULL ? 8 : g.b != 0 ? g.b : 4;
	g.a = in_quad(in[0].dtype);
	if (g.a > g.terms)
		g.a = 0;
	g.scaled = g.b != 0;
	g.far = g.scaled && (f->p->caps->proven & PCTL_PLAN_PROVEN_F32) == 0;
	g.sums = g.scaled && g.rows <= 2 ? 2 : 1;
	is_alone = g.scaled && g.rows == 1;
	has_many = is_alone && s->n >= COLUMNS_MANY;
	g.lanes = tuned(f->p, PCTL_TUNABLE_THIN_LANES, has_many ? LANES_OF_MANY : LANES_USUAL);
	g.per = is_alone      ? has_many ? 4 : 2
		: g.rows == 1 ? 4
			      : tuned(f->p, PCTL_TUNABLE_THIN_COLUMNS, g.rows >= 8 ? 2 : 4);
	asked = tuned(f->p, PCTL_TUNABLE_THIN_SPLIT, 0);
	g.split = asked >= (g.block == NULL ? 8 : g.block->block / 8) && asked <= g.lanes
			  ? asked
			  : split_of(&g, s);
	/* Rows of fewer than four results a workgroup are not proven to lie apart. */
	if (g.rows > 1 && g.lanes / g.split * g.per < 4)
		g.split /= 2;
	if (is_alone) {
		const uint64_t all = matmul_parts(s->k, terms_of(&g, g.split, 1));
		const uint64_t rounds =
			matmul_parts(all, (has_many ? READS_MANY : READS_FEW) / g.per);

		g.turns = (uint32_t)matmul_parts(all, rounds);
	}
	g.pairs = g.per * g.rows < 4 ? g.per * g.rows : 4;
	g.ragged = s->k % terms_of(&g, g.split, g.turns) != 0;
	return g;
}

/* Sums that the first lanes of a join make, of so many parts each; the next are as many. */
static uint32_t few_of(const gemv *g)
{
	return g->split <= 8 ? 2 : g->split <= 32 ? 4 : g->split <= 128 ? 8 : 16;
}

static uint32_t log2_of(uint32_t n)
{
	uint32_t power = 0;

	while (n > 1u << power)
		power++;
	return power;
}

/* The additions on the way of a term, in f64: those of its lane's sum, of blocks two more a turn, and those of sums and lanes two by two. */
static uint32_t depth_of(const gemv *g, uint64_t k)
{
	const uint32_t own = (uint32_t)matmul_parts(k, terms_of(g, g->split, 1)) * g->terms;

	return own / g->sums + (g->b == 0 ? g->terms : 0) + log2_of(g->sums) + log2_of(g->split) +
	       4;
}

/* The roundings on the way of a magnitude, whether in f32 or f64. */
static uint32_t roundings_of(const gemv *g, uint64_t k)
{
	return (uint32_t)matmul_parts(k, terms_of(g, g->split, 1)) * (g->terms + 1) +
	       log2_of(g->split) + 4;
}

/* An f32's exponent as an f64's own is 2^-896 of it, subnormals too, without a conversion, which devices have few units for or which loses subnormals. What is no finite number becomes one of 2^128
 * or more, which the sum of magnitudes tells. */
static void add_scaled(kit_wgsl *w, uint32_t dtype, const char *name)
{
	kit_wgsl_named(
		w,
		dtype == PCTL_SCALAR_BF16
			? "fn $_scaled(word: u32, upper: u32) -> f64 {\n"
			  "\tlet high = select(word << 16u, word, upper == 1u);\n"
			  "\treturn bitcast<f64>(vec2<u32>(0u, bitcast<u32>(bitcast<i32>(high) "
			  ">> 3u) & 0x8fffe000u));\n}\n"
		: dtype == PCTL_SCALAR_F16
			? "fn $_scaled(word: u32, upper: u32) -> f64 {\n"
			  "\treturn bitcast<f64>(vec2<u32>(0u, "
			  "bitcast<u32>(bitcast<i32>($_half(word, upper)) >> 3u) & "
			  "0x8fffffffu));\n}\n"
			: "fn $_scaled(word: u32, upper: u32) -> f64 {\n"
			  "\treturn bitcast<f64>(vec2<u32>(word << 29u, "
			  "bitcast<u32>(bitcast<i32>(word) >> 3u) & 0x8fffffffu));\n}\n",
		name);
}

/* Bits of elements where 16 bytes are read at once: $_4(i), those from i on, and $_bits(i) of one. */
static void add_quads(kit_wgsl *w, uint32_t dtype, const char *name)
{
	if (in_quad(dtype) == 4)
		kit_wgsl_named(w, "fn $_bits(i: u32) -> u32 {\n\treturn $[i >> 2u][i & 3u];\n}\n",
			       name);
	else
		kit_wgsl_named(
			w, "fn $_word(i: u32) -> u32 {\n\treturn $[i >> 3u][(i >> 1u) & 3u];\n}\n",
			name);
	if (dtype == PCTL_SCALAR_F16)
		kit_wgsl_named(w,
			       "fn $_half(word: u32, upper: u32) -> u32 {\n"
			       "\treturn bitcast<u32>(unpack2x16float((word >> (upper * 16u)) & "
			       "0xffffu).x);\n}\n",
			       name);
	if (dtype == PCTL_SCALAR_BF16)
		kit_wgsl_named(w,
			       "fn $_half(word: u32, upper: u32) -> u32 {\n"
			       "\treturn (word >> (upper * 16u)) << 16u;\n}\n",
			       name);
	add_scaled(w, dtype, name);
	if (in_quad(dtype) == 8)
		kit_wgsl_named(
			w, "fn $_bits(i: u32) -> u32 {\n\treturn $_half($_word(i), i & 1u);\n}\n",
			name);
}

/* Element j of the quads read from element `at` on. */
static void add_element(kit_wgsl *w, const char *name, const char *quad, uint32_t per, uint32_t at,
			uint32_t j, int is_scaled)
{
	static const char *const parts[] = {"x", "y", "z", "w"};
	char text[128];

	if (is_scaled)
		snprintf(text, sizeof(text), "%s_scaled(%s%u_%u.%s, %uu)", name, quad, at, j / per,
			 parts[per == 4 ? j % 4 : j / 2 % 4], per == 4 ? 0 : j % 2);
	else if (per == 4)
		snprintf(text, sizeof(text), "%s%u_%u.%s", quad, at, j / 4, parts[j % 4]);
	else
		snprintf(text, sizeof(text), "%s_half(%s%u_%u.%s, %uu)", name, quad, at, j / 8,
			 parts[j / 2 % 4], j % 2);
	kit_wgsl_add(w, text);
}

/* Quads of a that row r has in turn t: p@_~, numbered through the turns. */
static void add_row_reads(kit_wgsl *w, const gemv *g, uint32_t r, uint32_t t)
{
	const uint32_t quads = g->a == 0 ? 0 : g->terms / g->a;

	for (uint32_t q = 0; q < quads; q++) {
		matmul_add(w,
			   g->a == 4 ? "\t\tlet p@_~ = a[((a@ + k#) >> 2u) + "
				     : "\t\tlet p@_~ = a[((a@ + k#) >> 3u) + ",
			   t, r, t * quads + q);
		matmul_add(w, "~u];\n", 0, 0, q);
	}
}

/* The terms of row r in turn t; behind a ragged end they are zeros. */
static void add_row(kit_wgsl *w, const gemv *g, uint32_t r, uint32_t t)
{
	const int is_masked = g->ragged && g->turns > 1;

	for (uint32_t j = 0; j < g->terms; j++) {
		matmul_add(w, "\t\tlet y@_~ = ", 0, r, j);
		kit_wgsl_add(w, is_masked ? "select(0.0f, bitcast<f32>(" : "bitcast<f32>(");
		if (g->a != 0)
			add_element(w, "a", "p", g->a, r, t * g->terms + j, 0);
		else
			matmul_add(w, "a_bits((a@ + k#) | ~u)", t, r, j);
		matmul_add(w, is_masked ? "), j# < K);\n" : ");\n", t, 0, 0);
		matmul_add(w,
			   g->scaled ? "\t\tlet x@_~ = bitcast<f64>(vec2<u32>(bitcast<u32>(y@_~) "
				       "<< 29u, "
				       "bitcast<u32>(bitcast<i32>(y@_~) >> 3u) & 0x8fffffffu)) * "
				       "0x1p896lf;\n"
				     : "\t\tlet x@_~ = f64(y@_~);\n",
			   0, r, j);
	}
	matmul_add_row_sum(w, g->block, g->terms, r);
	/* The largest magnitude, of blocks that of a turn's terms together; of bits a NaN is larger than an infinity. */
	for (uint32_t j = 0; g->block == NULL && j < g->terms; j++)
		matmul_add(w, "\t\th@ = max(h@, bitcast<u32>(y@_~) & 0x7fffffffu);\n", 0, r, j);
	for (uint32_t j = 0; g->block != NULL && j < g->terms; j++)
		matmul_add(w, j == 0 ? "\t\th@ = max(h@, bitcast<u32>(abs(y@_0)" : " + abs(y@_~)",
			   0, r, j);
	kit_wgsl_add(w, g->block != NULL ? "));\n" : "");
}

/* What is read of column c in turn t; all of them are asked for before the first is used. */
static void add_reads(kit_wgsl *w, const gemv *g, uint32_t c, uint32_t t)
{
	if (g->b != 0)
		matmul_add(w,
			   g->b == 4 ? "\t\tlet q#_~ = b[(b# + k~) >> 2u];\n"
				     : "\t\tlet q#_~ = b[(b# + k~) >> 3u];\n",
			   c, 0, t);
	else if (g->block != NULL)
		matmul_add(w, "\t\tlet at# = b# + i * (SPLIT * TERMS / b_BLOCK * b_BYTES);\n", c, 0,
			   0);
}

static void add_narrow(kit_wgsl *w, const gemv *g, uint32_t c, uint32_t t, uint32_t j)
{
	kit_wgsl_add(w, "bitcast<f32>(");
	if (g->b != 0)
		add_element(w, "b", "q", g->b, c, t * g->terms + j, 0);
	else
		matmul_add(w, "b_bits((b# + k0) | ~u)", c, 0, j);
	kit_wgsl_add(w, ")");
}

/* The magnitudes of a column's elements added up: times the largest of a row's that is no less than the sum of those of the terms, but for roundings. */
static void add_magnitudes(kit_wgsl *w, const gemv *g, uint32_t c)
{
	matmul_add(w, "\t\tlet m_# = ", c, 0, 0);
	for (uint32_t t = 0; t < g->turns; t++)
		for (uint32_t j = 0; j < g->terms; j++) {
			kit_wgsl_add(w, t + j == 0 ? "abs(" : " + abs(");
			if (g->far)
				add_element(w, "b", "q", g->b, c, t * g->terms + j, 1);
			else
				add_narrow(w, g, c, t, j);
			kit_wgsl_add(w, ")");
		}
	kit_wgsl_add(w, ";\n");
	matmul_add(w, "\t\tn# += m_#;\n", c, 0, 0);
	/* A sum that is of no use any more; all that is read must have come before it goes on, else compilers ask for it when they want it, and every turn waits. */
	if (g->turns > 1)
		for (uint32_t i = 0; i < g->sums; i++) {
			const char *sum = g->sums == 1 ? "s#_0" : "s#_0_~";

			matmul_add(w, "\t\t", 0, 0, 0);
			matmul_add(w, sum, c, 0, i);
			kit_wgsl_add(w, " = select(");
			matmul_add(w, sum, c, 0, i);
			matmul_add(w,
				   g->far ? ", 0.0lf, m_# >= 0x1p-768lf);\n"
					  : ", 0.0lf, m_# > 0x1.fffffep127f);\n",
				   c, 0, i);
		}
}

static void add_column(kit_wgsl *w, const gemv *g, uint32_t c, uint32_t t)
{
	for (uint32_t j = 0; j < g->terms; j++) {
		matmul_add(w, "\t\tlet w#_~ = ", c, 0, j);
		if (g->block != NULL)
			matmul_add(w, "f64(b_q(at#, e, ~u))", c, 0, j);
		else if (g->scaled)
			add_element(w, "b", "q", g->b, c, t * g->terms + j, 1);
		else {
			kit_wgsl_add(w, "f64(");
			add_narrow(w, g, c, t, j);
			kit_wgsl_add(w, ")");
		}
		kit_wgsl_add(w, ";\n");
	}
	if (g->block == NULL)
		return;
	matmul_add_scales(w, g->block, c, "e", "m_#");
	matmul_add(w, "\t\tn# += m_#;\n", c, 0, 0);
}

/* Sum s of column c and row r: s#_@_~. */
static void add_sums(kit_wgsl *w, const gemv *g, uint32_t c, uint32_t r)
{
	if (g->sums == 1) {
		matmul_add_sums(w, g->block, g->terms, c, r);
		return;
	}
	for (uint32_t j = 0; j < g->terms; j++) {
		matmul_add(w, "\t\ts#_@_~ = step(", c, r, j % g->sums);
		matmul_add(w, "x@_~, w#_~, ", c, r, j);
		matmul_add(w, "s#_@_~);\n", c, r, j % g->sums);
	}
}

static void add_turns(kit_wgsl *w, const gemv *g)
{
	for (uint32_t t = 0; t < g->turns; t++)
		if (g->ragged && g->turns > 1)
			matmul_add(
				w,
				"\t\tlet j# = ((i * TURNS + #u) * SPLIT + lane % SPLIT) * TERMS;\n"
				"\t\tlet k# = min(j#, K - TERMS);\n",
				t, 0, 0);
		else
			matmul_add(
				w,
				"\t\tlet k# = ((i * TURNS + #u) * SPLIT + lane % SPLIT) * TERMS;\n",
				t, 0, 0);
	if (g->ragged && g->turns == 1)
		kit_wgsl_add(w, "\t\tif (k0 >= K) {\n\t\t\tbreak;\n\t\t}\n");
	for (uint32_t t = 0; t < g->turns; t++)
		for (uint32_t c = 0; c < g->per; c++)
			add_reads(w, g, c, t);
	for (uint32_t c = 0; g->block == NULL && c < g->per; c++)
		add_magnitudes(w, g, c);
	for (uint32_t t = 0; t < g->turns; t++) {
		kit_wgsl_add(w, "\t\t{\n");
		for (uint32_t c = 0; c < g->per; c++)
			add_column(w, g, c, t);
		/* A row's terms live no longer than they are needed: registers bound how many lanes there are. */
		for (uint32_t r = 0; r < g->rows; r++) {
			add_row_reads(w, g, r, t);
			add_row(w, g, r, t);
			for (uint32_t c = 0; c < g->per; c++)
				add_sums(w, g, c, r);
		}
		kit_wgsl_add(w, "\t\t}\n");
	}
}

static void add_loop(kit_wgsl *w, const gemv *g)
{
	kit_wgsl_add(w,
		     "@compute @workgroup_size(LANES)\n"
		     "fn main(@builtin(workgroup_id) group: vec3<u32>, "
		     "@builtin(local_invocation_index) lane: u32) {\n"
		     "\tlet first = (group.y * 65535u + group.x) * COLUMNS;\n"
		     "\tlet group_of = lane / SPLIT;\n\tlet column = first + group_of * EACH;\n");
	/* Of blocks a lane always has the same part, so that places go up by a constant. */
	if (g->block != NULL)
		kit_wgsl_add(w, "\tlet part = lane % SPLIT * TERMS;\n\tlet e = part % b_BLOCK;\n");
	for (uint32_t c = 0; c < g->per; c++)
		matmul_add(w,
			   g->block != NULL
				   ? "\tlet b# = (min(column + #u, N - 1u) * (K / b_BLOCK) + part "
				     "/ b_BLOCK) * b_BYTES;\n"
				   : "\tlet b# = min(column + #u, N - 1u) * K;\n",
			   c, 0, 0);
	for (uint32_t r = 0; r < g->rows; r++)
		matmul_add(w, "\tlet a@ = min(@u, M - 1u) * K;\n", 0, r, 0);
	for (uint32_t c = 0; c < g->per; c++)
		matmul_add(w,
			   g->block != NULL || g->far ? "\tvar n# = 0.0lf;\n"
						      : "\tvar n# = 0.0f;\n",
			   c, 0, 0);
	for (uint32_t r = 0; r < g->rows; r++)
		matmul_add(w, "\tvar h@ = 0u;\n", 0, r, 0);
	for (uint32_t c = 0; c < g->per; c++)
		for (uint32_t r = 0; r < g->rows; r++)
			for (uint32_t i = 0; i < g->sums; i++)
				matmul_add(w,
					   g->sums == 1 ? "\tvar s#_@ = 0.0lf;\n"
							: "\tvar s#_@_~ = 0.0lf;\n",
					   c, r, i);
	kit_wgsl_add(w, "\tfor (var i = 0u; i < ROUNDS; i++) {\n");
	add_turns(w, g);
	kit_wgsl_add(w, "\t}\n");
}

/* name[at + 0] + name[at + stride] .. of n elements, two by two, so that no addition waits for all before it. */
static void add_sum(kit_wgsl *w, const char *name, uint32_t from, uint32_t n, uint32_t stride)
{
	if (n == 1) {
		kit_wgsl_add(w, name);
		matmul_add(w, "[at + ~u]", 0, 0, from * stride);
		return;
	}
	kit_wgsl_add(w, "(");
	add_sum(w, name, from, n / 2, stride);
	kit_wgsl_add(w, " + ");
	add_sum(w, name, from + n / 2, n - n / 2, stride);
	kit_wgsl_add(w, ")");
}

/* What matmul_gemv.wgsl calls of a lane's parts. */
static void add_join(kit_wgsl *w, const gemv *g)
{
	static const char *const of[][4] = {
		{"fn part_sum(at: u32) -> f64 {\n\treturn ", "parts",
		 "fn whole_sum(at: u32) -> f64 {\n\treturn ", "few"},
		{"fn part_bound(at: u32) -> f32 {\n\treturn ", "part_bounds",
		 "fn whole_bound(at: u32) -> f32 {\n\treturn ", "few_bounds"}};

	for (uint32_t i = 0; i < 2; i++) {
		kit_wgsl_add(w, of[i][0]);
		add_sum(w, of[i][1], 0, g->split / few_of(g), few_of(g));
		kit_wgsl_add(w, ";\n}\n");
		kit_wgsl_add(w, of[i][2]);
		add_sum(w, of[i][3], 0, few_of(g), 1);
		kit_wgsl_add(w, ";\n}\n");
	}
}

static void add_joined(kit_wgsl *w, const gemv *g)
{
	for (uint32_t v = 0; v < g->per * g->rows; v += g->pairs) {
		for (uint32_t i = 0; i < g->pairs; i++) {
			matmul_add(w,
				   g->sums == 1 ? "\tparts[~u * LANES + lane] = s#_@;\n"
						: "\tparts[~u * LANES + lane] = s#_@_0 + s#_@_1;\n",
				   (v + i) / g->rows, (v + i) % g->rows, i);
			matmul_add(w,
				   g->far ? "\tpart_bounds[~u * LANES + lane] = f32(n# * SCALE) * "
					    "bitcast<f32>(h@);\n"
				   : g->block != NULL
					   ? "\tpart_bounds[~u * LANES + lane] = f32(n#) * "
					     "bitcast<f32>(h@);\n"
					   : "\tpart_bounds[~u * LANES + lane] = n# * "
					     "bitcast<f32>(h@);\n",
				   (v + i) / g->rows, (v + i) % g->rows, i);
		}
		matmul_add(w, "\tjoin(lane);\n\tdecide(lane, first, ~u);\n", 0, 0, v);
	}
	kit_wgsl_add(w, "\tworkgroupBarrier();\n\tif (lane == 0u) {\n\t\tseen[0] = "
			"atomicLoad(&any_marked);\n\t}\n"
			"\tif (workgroupUniformLoad(&seen[0]) != 0u) {\n\t\tsettle_all(first, "
			"lane);\n\t}\n");
}

/* Rows of results, two columns a word where they are halves. */
static void add_writes(kit_wgsl *w, const gemv *g, int is_half, int is_through)
{
	/* Several rows are proven to lie apart by the parameter, of which no remainder is known. */
	kit_wgsl_add(w, g->rows == 1 ? "\tlet width = N;\n" : "\tlet width = params.n;\n");
	kit_wgsl_add(w, is_half ? "\tconst PER_WORD = 2u;\n" : "\tconst PER_WORD = 1u;\n");
	kit_wgsl_add(
		w,
		"\tfor (var i = 0u; i < (COLUMNS * ROWS / PER_WORD + LANES - 1u) / LANES; i++) {\n"
		"\t\tlet l = i * LANES + lane;\n\t\tlet r = l / (COLUMNS / PER_WORD);\n"
		"\t\tlet c = l % (COLUMNS / PER_WORD);\n"
		"\t\tlet word = first / PER_WORD + c;\n"
		"\t\tif (r < M && word < width / PER_WORD) {\n");
	kit_wgsl_add(
		w,
		is_half && is_through
			? "\t\t\tvar both = 0u;\n\t\t\tfor (var half = 0u; half < 2u; half++) {\n"
			  "\t\t\t\tboth |= write_through_0(r * width + word * 2u + half, "
			  "results[slot_of(c * 2u + half, r)]) << (16u * half);\n\t\t\t}\n"
			  "\t\t\ty[r * (width / PER_WORD) + word] = both;\n"
		: is_half    ? "\t\t\ty[r * (width / PER_WORD) + word] = results[slot_of(c * "
			       "2u, r)] | (results[slot_of(c * 2u + 1u, r)] << 16u);\n"
		: is_through ? "\t\t\ty[r * width + word] = write_through_0(r * width + word, "
			       "results[slot_of(c, r)]);\n"
			     : "\t\t\ty[r * width + word] = results[slot_of(c, r)];\n");
	kit_wgsl_add(w, "\t\t}\n\t}\n}\n");
}

/*
 * The numbers that the text goes by, beside those of struct gemv: M, N, K of this product; EACH columns of a group of lanes; ROUNDS of TURNS turns each; DEPTH additions on the way of a term, ROUNDINGS on that of a magnitude; GROUPS
 * of lanes and COLUMNS of a workgroup; FEW parts that a group's become first; SHARE of matmul_settle.wgsl.
 */
static void add_head(kit_wgsl *w, const matmul_fast_plan *f, const gemv *g, uint64_t n_rows)
{
	const pctl_tensor_type *in = f->p->use->q->in;
	const uint32_t columns = g->lanes / g->split * g->per;

	/* So that places of results are known not to wrap. */
	if (g->rows > 1)
		kit_wgsl_add(w, "//# max params.n = 67108864\n");
	if (f->s->format->dtype == PCTL_SCALAR_F16)
		kit_wgsl_add(w, "enable f16;\n");
	kit_wgsl_add(w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(w, g->a != 0 ? MATMUL_BUFFER("a", "1", "read", "vec4<u32>")
				  : MATMUL_BUFFER("a", "1", "read", "u32"));
	kit_wgsl_add(w, g->b != 0 ? MATMUL_BUFFER("b", "2", "read", "vec4<u32>")
				  : MATMUL_BUFFER("b", "2", "read", "u32"));
	kit_wgsl_add(w, MATMUL_BUFFER("y", "3", "read_write", "u32"));
	/* Written down, not read: a parameter is in no cache, and everything would wait for it. */
	matmul_number(w, "M", (uint32_t)n_rows);
	matmul_number(w, "N", (uint32_t)f->s->n);
	matmul_number(w, "K", (uint32_t)f->s->k);
	matmul_number(w, "LANES", g->lanes);
	matmul_number(w, "SPLIT", g->split);
	matmul_number(w, "ROWS", g->rows);
	matmul_number(w, "EACH", g->per);
	matmul_number(w, "TERMS", g->terms);
	matmul_number(w, "TURNS", g->turns);
	matmul_number(w, "ROUNDS",
		      (uint32_t)matmul_parts(f->s->k, terms_of(g, g->split, g->turns)));
	matmul_number(w, "DEPTH", depth_of(g, f->s->k));
	matmul_number(w, "ROUNDINGS", roundings_of(g, f->s->k));
	matmul_number(w, "GROUPS", g->lanes / g->split);
	matmul_number(w, "PAIRS", g->pairs);
	matmul_number(w, "FEW", few_of(g));
	matmul_number(w, "COLUMNS", columns);
	matmul_number(w, "SHARE", (uint32_t)matmul_parts(columns * g->rows, 64));
	kit_wgsl_add(w, "const PER: u32 = 1u;\n");
	kit_wgsl_add(w, g->scaled ? "const SCALE: f64 = 0x1p896lf;\nconst LOST: f64 = 0x1p-120lf;\n"
				  : "const SCALE: f64 = 1.0lf;\nconst LOST: f64 = 0x1p-148lf;\n");
	if (g->a != 0)
		add_quads(w, in[0].dtype, "a");
	else
		kit_wgsl_factor(w, in[0].dtype, "a");
	if (g->b != 0)
		add_quads(w, in[1].dtype, "b");
	else
		kit_wgsl_factor_by(w, in[1].dtype, "b", KIT_BLOCK_EIGHT);
	if (g->block != NULL)
		matmul_add(w, "const MOST: f64 = #.0lf;\n", g->block->most, 0, 0);
	kit_wgsl_add(
		w, (f->p->caps->proven & PCTL_PLAN_PROVEN_F64_FMA) != 0
			   ? "fn step(a: f64, b: f64, s: f64) -> f64 {\n\treturn fma(a, b, s);\n}\n"
			   : "fn step(a: f64, b: f64, s: f64) -> f64 {\n\treturn s + a * b;\n}\n");
	kit_wgsl_add(w, f->s->format->text);
	kit_wgsl_add(w, "fn sum_scale() -> bool {\n\treturn false;\n}\n");
	kit_wgsl_add(w, KERNEL_EXACT_SUM);
	kit_wgsl_add(w, tensor_nearest(f->s->format));
	kit_wgsl_add(w, KERNEL_WITHIN);
	kit_wgsl_add(w, kit_codec_is_pair(in[1].dtype) ? KERNEL_MATMUL_FACTORS_PAIR
						       : KERNEL_MATMUL_FACTORS);
	kit_wgsl_add(w, KERNEL_MATMUL_SETTLE);
	kit_wgsl_add(w, KERNEL_MATMUL_GEMV);
	kit_wgsl_add(w, KERNEL_MATMUL_GEMV_SETTLE);
	add_join(w, g);
}

/* Rows `row` on of a, as a product of its own. */
static void rows_from(matmul_fast_plan *f, const gemv *g, uint64_t row, uint64_t n_rows)
{
	const pctl_tensor_type *in = f->p->use->q->in;
	const uint64_t a_row = kit_bytes(&in[0]) / (kit_elements(&in[0]) / f->s->k);
	const uint64_t y_row = f->s->n * kit_dtype_bytes(f->s->out.dtype);
	const uint64_t columns = (uint64_t)g->lanes / g->split * g->per;
	const uint64_t settling =
		matmul_parts(f->s->k * (kit_codec_is_pair(in[1].dtype) ? 2 : 1), 64);
	kit_slot a = f->in[0], y = f->out;
	kit_wgsl w = kit_wgsl_make(f->p->use, 65536);
	matmul_shape s = *f->s;

	s.m = n_rows;
	s.out.rank = 2;
	s.out.dim[0] = n_rows;
	s.out.dim[1] = s.n;
	for (uint32_t d = 0; d < MATMUL_BATCH_MAX; d++) {
		s.batch[d].n = 1;
		s.batch[d].a = s.batch[d].b = 0;
	}
	if (n_rows * s.n != kit_elements(&f->s->out)) {
		a.offset += row * a_row;
		a.n_bytes = n_rows * a_row;
		y.offset += row * y_row;
		y.n_bytes = n_rows * y_row;
	}
	add_head(&w, f, g, n_rows);
	add_loop(&w, g);
	add_joined(&w, g);
	add_writes(&w, g, f->s->format->dtype != PCTL_SCALAR_F32, f->p->through != 0);
	f->writes = 1;
	f->first = row * s.n;
	matmul_run(f, "tensor/matmul_gemv.wgsl", &w, g->lanes, matmul_parts(s.n, columns), settling,
		   (kit_slot[]){KIT_ALL(matmul_params(f->p, &s)), a, f->in[1], y}, 4);
}

int matmul_gemv(matmul_fast_plan *f)
{
	const pctl_plan_caps *caps = f->p->caps;
	const pctl_tensor_type *in = f->p->use->q->in;
	const matmul_shape *s = f->s;
	const uint64_t n_rows = kit_elements(&s->out) / s->n, whole = MATMUL_ROWS_MOST;
	const int is_packed = kit_dtype_bytes(in[1].dtype) == 0;
	const gemv g = cut_of(f, n_rows);

	/* Parts of rows begin where a binding may, and halves of a word are of one row. */
	if (caps->device_kind == PCTL_DEVICE_CPU || !matmul_rows_share(s, g.terms) ||
	    (n_rows > whole && !is_packed) ||
	    (n_rows > whole && (s->k % 64 != 0 || s->n % 64 != 0)) ||
	    (s->format->dtype != PCTL_SCALAR_F32 && s->n % 2 != 0) || s->n > 1u << 26 ||
	    caps->max_invocations < g.lanes || caps->max_workgroup_bytes < MEMORY ||
	    !matmul_turns_fit(caps,
			      matmul_steps(matmul_parts(s->k, (uint64_t)g.split * g.terms)) + 4096))
		return 0;
	for (uint64_t row = 0; row < n_rows; row += whole) {
		const uint64_t n = n_rows - row < whole ? n_rows - row : whole;
		const gemv part = cut_of(f, n);

		rows_from(f, &part, row, n);
	}
	return 1;
}
