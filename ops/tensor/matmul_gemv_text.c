/* See matmul_gemv.h. Names end in numbers: # is a column or a turn, @ a row, ~ an element (matmul_add). */
#include <stdio.h>

#include "matmul_gemv.h"

uint32_t matmul_gemv_in_quad(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_F32				       ? 4
	       : dtype == PCTL_SCALAR_F16 || dtype == PCTL_SCALAR_BF16 ? 8
								       : 0;
}

uint32_t matmul_gemv_few(const matmul_gemv_cut *g)
{
	return g->split <= 8 ? 2 : g->split <= 32 ? 4 : g->split <= 128 ? 8 : 16;
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
void matmul_gemv_add_quads(kit_wgsl *w, uint32_t dtype, const char *name)
{
	if (matmul_gemv_in_quad(dtype) == 4)
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
	if (matmul_gemv_in_quad(dtype) == 8)
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
static void add_row_reads(kit_wgsl *w, const matmul_gemv_cut *g, uint32_t r, uint32_t t)
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
static void add_row(kit_wgsl *w, const matmul_gemv_cut *g, uint32_t r, uint32_t t)
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
static void add_reads(kit_wgsl *w, const matmul_gemv_cut *g, uint32_t c, uint32_t t)
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

static void add_narrow(kit_wgsl *w, const matmul_gemv_cut *g, uint32_t c, uint32_t t, uint32_t j)
{
	kit_wgsl_add(w, "bitcast<f32>(");
	if (g->b != 0)
		add_element(w, "b", "q", g->b, c, t * g->terms + j, 0);
	else
		matmul_add(w, "b_bits((b# + k0) | ~u)", c, 0, j);
	kit_wgsl_add(w, ")");
}

/* The magnitudes of a column's elements added up: times the largest of a row's that is no less than the sum of those of the terms, but for roundings. */
static void add_magnitudes(kit_wgsl *w, const matmul_gemv_cut *g, uint32_t c)
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

static void add_column(kit_wgsl *w, const matmul_gemv_cut *g, uint32_t c, uint32_t t)
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
static void add_sums(kit_wgsl *w, const matmul_gemv_cut *g, uint32_t c, uint32_t r)
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

static void add_turns(kit_wgsl *w, const matmul_gemv_cut *g)
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

void matmul_gemv_add_loop(kit_wgsl *w, const matmul_gemv_cut *g)
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
void matmul_gemv_add_join(kit_wgsl *w, const matmul_gemv_cut *g)
{
	static const char *const of[][4] = {
		{"fn part_sum(at: u32) -> f64 {\n\treturn ", "parts",
		 "fn whole_sum(at: u32) -> f64 {\n\treturn ", "few"},
		{"fn part_bound(at: u32) -> f32 {\n\treturn ", "part_bounds",
		 "fn whole_bound(at: u32) -> f32 {\n\treturn ", "few_bounds"}};

	for (uint32_t i = 0; i < 2; i++) {
		kit_wgsl_add(w, of[i][0]);
		add_sum(w, of[i][1], 0, g->split / matmul_gemv_few(g), matmul_gemv_few(g));
		kit_wgsl_add(w, ";\n}\n");
		kit_wgsl_add(w, of[i][2]);
		add_sum(w, of[i][3], 0, matmul_gemv_few(g), 1);
		kit_wgsl_add(w, ";\n}\n");
	}
}

void matmul_gemv_add_joined(kit_wgsl *w, const matmul_gemv_cut *g)
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
void matmul_gemv_add_writes(kit_wgsl *w, const matmul_gemv_cut *g, int is_half, int is_through)
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
