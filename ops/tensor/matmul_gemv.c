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

/*
 * lanes    of a workgroup; split: of a column
 * terms    of a lane in a turn, side by side
 * rows     that are summed together; per: columns of an invocation
 * a, b     elements in 16 bytes where those are read at once, or 0
 * block    of b, NULL: its elements are f32
 */
typedef struct gemv {
	uint32_t lanes, split, terms, rows, per, a, b;
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

/* A group of lanes finds the norms of four rows at most, as values are joined by fours. */
static gemv with_groups(gemv g)
{
	if (g.lanes / g.split * 4 < g.rows)
		g.lanes = LANES_USUAL;
	return g;
}

static gemv cut_of(const matmul_fast_plan *f, uint64_t n_rows)
{
	const pctl_tensor_type *in = f->p->use->q->in;
	const matmul_shape *s = f->s;
	uint32_t least;
	gemv g = {.rows = 1, .block = kit_block_format_of(in[1].dtype)};

	while (g.rows < MATMUL_ROWS_MOST && g.rows < n_rows)
		g.rows *= 2;
	g.b = g.block == NULL ? in_quad(in[1].dtype) : 0;
	g.terms = g.block != NULL ? 8 : g.b != 0 ? g.b : 4;
	g.a = in_quad(in[0].dtype);
	if (g.a > g.terms)
		g.a = 0;
	g.lanes = tuned(f->p, PCTL_TUNABLE_THIN_LANES, LANES_USUAL);
	g.per = tuned(f->p, PCTL_TUNABLE_THIN_COLUMNS, g.rows >= 8 ? 2 : 4);
	/* Values of an invocation are joined by fours. */
	if (g.per * g.rows < 4)
		g.per = 4;
	/* A lane always has the same part of a block. */
	least = g.block == NULL ? 8 : g.block->block / 8;
	g.split = tuned(f->p, PCTL_TUNABLE_THIN_SPLIT, 0);
	if (g.split >= least && g.split <= g.lanes)
		return with_groups(g);
	/* Each row's norm is a group's to find. */
	for (g.split = least; g.split < (g.rows >= 8 ? 64 : g.lanes) &&
			      s->n * g.split / g.per < LANES_MANY &&
			      (uint64_t)g.split * g.terms * 2 <= s->k;)
		g.split *= 2;
	return with_groups(g);
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
	if (in_quad(dtype) == 8)
		kit_wgsl_named(
			w, "fn $_bits(i: u32) -> u32 {\n\treturn $_half($_word(i), i & 1u);\n}\n",
			name);
}

/* Element j of the quads read from element `at` on. */
static void add_element(kit_wgsl *w, const char *name, const char *quad, uint32_t per, uint32_t at,
			uint32_t j)
{
	static const char *const parts[] = {"x", "y", "z", "w"};
	char text[128];

	if (per == 4)
		snprintf(text, sizeof(text), "%s%u_%u.%s", quad, at, j / 4, parts[j % 4]);
	else
		snprintf(text, sizeof(text), "%s_half(%s%u_%u.%s, %uu)", name, quad, at, j / 8,
			 parts[j / 2 % 4], j % 2);
	kit_wgsl_add(w, text);
}

/* The terms of row r as f64, x@_~; a group of lanes adds up the squares of some rows. */
static void add_row(kit_wgsl *w, const gemv *g, uint32_t r)
{
	for (uint32_t q = 0; g->a != 0 && q < g->terms / g->a; q++)
		matmul_add(w,
			   g->a == 4 ? "\t\tlet p@_~ = a[((a@ + k) >> 2u) + ~u];\n"
				     : "\t\tlet p@_~ = a[((a@ + k) >> 3u) + ~u];\n",
			   0, r, q);
	for (uint32_t j = 0; j < g->terms; j++) {
		matmul_add(w, "\t\tlet x@_~ = f64(bitcast<f32>(", 0, r, j);
		if (g->a != 0)
			add_element(w, "a", "p", g->a, r, j);
		else
			matmul_add(w, "a_bits((a@ + k) | ~u)", 0, r, j);
		kit_wgsl_add(w, "));\n");
	}
	matmul_add(w, "\t\tif (group_of == ~u) {\n", 0, r, r % (g->lanes / g->split));
	for (uint32_t j = 0; j < g->terms; j++)
		matmul_add(w, "\t\t\tm# = step(x@_~, x@_~, m#);\n", r / (g->lanes / g->split), r,
			   j);
	kit_wgsl_add(w, "\t\t}\n");
	matmul_add_row_sum(w, g->block, g->terms, r);
}

/* What is read of column c; all columns of an invocation are asked for before the first is used. */
static void add_reads(kit_wgsl *w, const gemv *g, uint32_t c)
{
	if (g->b != 0)
		matmul_add(w,
			   g->b == 4 ? "\t\tlet q#_0 = b[(b# + k) >> 2u];\n"
				     : "\t\tlet q#_0 = b[(b# + k) >> 3u];\n",
			   c, 0, 0);
	else if (g->block != NULL)
		matmul_add(w, "\t\tlet at# = b# + i * (SPLIT * TERMS / b_BLOCK * b_BYTES);\n", c, 0,
			   0);
}

static void add_column(kit_wgsl *w, const gemv *g, uint32_t c)
{
	const kit_block_format *f = g->block;

	for (uint32_t j = 0; j < g->terms; j++) {
		if (f != NULL) {
			matmul_add(w, "\t\tlet w#_~ = f64(b_q(at#, e, ~u));\n", c, 0, j);
			continue;
		}
		matmul_add(w, "\t\tlet w#_~ = f64(bitcast<f32>(", c, 0, j);
		if (g->b != 0)
			add_element(w, "b", "q", g->b, c, j);
		else
			matmul_add(w, "b_bits((b# + k) | ~u)", c, 0, j);
		kit_wgsl_add(w, "));\n");
	}
	matmul_add_norm(w, f, g->terms, c, "e", "m_#");
}

static uint32_t row_norms(const gemv *g)
{
	return (uint32_t)matmul_parts(g->rows, g->lanes / g->split);
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
			   g->block != NULL ? "\tlet b# = (min(column + #u, params.n - 1u) * "
					      "(params.k / b_BLOCK) + part / b_BLOCK) * b_BYTES;\n"
					      "\tvar n# = 0.0lf;\n"
					    : "\tlet b# = min(column + #u, params.n - 1u) * "
					      "params.k;\n\tvar n# = 0.0lf;\n",
			   c, 0, 0);
	for (uint32_t r = 0; r < g->rows; r++)
		matmul_add(w, "\tlet a@ = min(@u, params.m - 1u) * params.k;\n", 0, r, 0);
	for (uint32_t j = 0; j < row_norms(g); j++)
		matmul_add(w, "\tvar m# = 0.0lf;\n", j, 0, 0);
	for (uint32_t c = 0; c < g->per; c++)
		for (uint32_t r = 0; r < g->rows; r++)
			matmul_add(w, "\tvar s#_@ = 0.0lf;\n", c, r, 0);
	kit_wgsl_add(w, "\tfor (var i = 0u; i < steps; i++) {\n"
			"\t\tlet k = (i * SPLIT + lane % SPLIT) * TERMS;\n"
			"\t\tif (k >= params.k) {\n\t\t\tbreak;\n\t\t}\n");
	for (uint32_t c = 0; c < g->per; c++)
		add_reads(w, g, c);
	for (uint32_t c = 0; c < g->per; c++)
		add_column(w, g, c);
	/* A row's terms live no longer than they are needed: registers bound how many lanes there are. */
	for (uint32_t r = 0; r < g->rows; r++) {
		add_row(w, g, r);
		for (uint32_t c = 0; c < g->per; c++)
			matmul_add_sums(w, g->block, g->terms, c, r);
	}
	kit_wgsl_add(w, "\t}\n");
}

/* Lanes' parts of up to four values joined; `then` is done with value lane % 4 of group lane / 4. */
static void add_join(kit_wgsl *w, uint32_t n, const char *const *values, const char *then)
{
	for (uint32_t i = 0; i < n; i++) {
		matmul_add(w, "\tparts[~u * LANES + lane] = ", 0, 0, i);
		kit_wgsl_add(w, values[i]);
		kit_wgsl_add(w, ";\n");
	}
	kit_wgsl_add(w, "\tjoin(lane);\n\tif (lane < ALL_GROUPS) {\n\t\tlet v = lane % 4u;\n"
			"\t\tlet g = lane / 4u;\n");
	kit_wgsl_add(w, then);
	kit_wgsl_add(w, "\t}\n");
}

static void add_joined(kit_wgsl *w, const gemv *g)
{
	const uint32_t values = g->per * g->rows;
	char names[4][16], then[700];
	const char *at[4] = {names[0], names[1], names[2], names[3]};

	for (uint32_t c = 0; c < g->per; c++)
		snprintf(names[c], sizeof(names[c]), "n%u", c);
	add_join(w, g->per, at,
		 "\t\tif (v < EACH) {\n\t\t\tlengths[lane] = sqrt(whole_of(v, g));\n\t\t}\n");
	for (uint32_t j = 0; j < row_norms(g); j++)
		snprintf(names[j], sizeof(names[j]), "m%u", j);
	snprintf(then, sizeof(then),
		 "\t\tif (v < %uu && v * GROUPS + g < ROWS) {\n"
		 "\t\t\trow_lengths[lane] = sqrt(whole_of(v, g));\n\t\t}\n",
		 row_norms(g));
	add_join(w, row_norms(g), at, then);
	for (uint32_t v = 0; v < values; v += 4) {
		for (uint32_t i = 0; i < 4; i++)
			snprintf(names[i], sizeof(names[i]), "s%u_%u", (v + i) / g->rows,
				 (v + i) % g->rows);
		snprintf(
			then, sizeof(then),
			"\t\tlet c = g * EACH + (%uu + v) / ROWS;\n\t\tlet r = (%uu + v) %% ROWS;\n"
			"\t\tlet bits = judged(whole_of(v, g), row_lengths[of_row(r)], "
			"lengths[of_column(c)]);\n"
			"\t\tlet is_one = first + c < params.n && r < params.m;\n"
			"\t\tresults[%uu * GROUPS + lane] = select(0u, bits, is_one);\n"
			"\t\tif (is_one && bits == MARK) {\n\t\t\tatomicOr(&any_marked, "
			"1u);\n\t\t}\n",
			v, v, v);
		add_join(w, 4, at, then);
	}
	kit_wgsl_add(w, "\tworkgroupBarrier();\n\tif (lane == 0u) {\n\t\tseen[0] = "
			"atomicLoad(&any_marked);\n\t}\n"
			"\tif (workgroupUniformLoad(&seen[0]) != 0u) {\n\t\tsettle_all(first, "
			"lane);\n\t}\n");
}

/* Rows of results, two columns a word where they are halves. */
static void add_writes(kit_wgsl *w, int is_half, int is_through)
{
	kit_wgsl_add(w, is_half ? "\tconst PER_WORD = 2u;\n" : "\tconst PER_WORD = 1u;\n");
	kit_wgsl_add(
		w,
		"\tfor (var i = 0u; i < (COLUMNS * ROWS / PER_WORD + LANES - 1u) / LANES; i++) {\n"
		"\t\tlet l = i * LANES + lane;\n\t\tlet r = l / (COLUMNS / PER_WORD);\n"
		"\t\tlet c = l % (COLUMNS / PER_WORD);\n"
		"\t\tlet word = first / PER_WORD + c;\n"
		"\t\tif (r < params.m && word < params.n / PER_WORD) {\n");
	kit_wgsl_add(
		w,
		is_half && is_through
			? "\t\t\tvar both = 0u;\n\t\t\tfor (var half = 0u; half < 2u; half++) {\n"
			  "\t\t\t\tboth |= write_through_0(r * params.n + word * 2u + half, "
			  "results[slot_of(c * 2u + half, r)]) << (16u * half);\n\t\t\t}\n"
			  "\t\t\ty[r * (params.n / PER_WORD) + word] = both;\n"
		: is_half ? "\t\t\ty[r * (params.n / PER_WORD) + word] = results[slot_of(c * "
			    "2u, r)] | (results[slot_of(c * 2u + 1u, r)] << 16u);\n"
		: is_through
			? "\t\t\ty[r * params.n + word] = write_through_0(r * params.n + word, "
			  "results[slot_of(c, r)]);\n"
			: "\t\t\ty[r * params.n + word] = results[slot_of(c, r)];\n");
	kit_wgsl_add(w, "\t\t}\n\t}\n}\n");
}

static void add_head(kit_wgsl *w, const matmul_fast_plan *f, const gemv *g)
{
	const pctl_tensor_type *in = f->p->use->q->in;
	const uint32_t columns = g->lanes / g->split * g->per;

	/* So that places of results are known not to wrap. */
	kit_wgsl_add(w, "//# max params.n = 67108864\n");
	if (f->s->format->dtype == PCTL_SCALAR_F16)
		kit_wgsl_add(w, "enable f16;\n");
	kit_wgsl_add(w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(w, g->a != 0 ? MATMUL_BUFFER("a", "1", "read", "vec4<u32>")
				  : MATMUL_BUFFER("a", "1", "read", "u32"));
	kit_wgsl_add(w, g->b != 0 ? MATMUL_BUFFER("b", "2", "read", "vec4<u32>")
				  : MATMUL_BUFFER("b", "2", "read", "u32"));
	kit_wgsl_add(w, MATMUL_BUFFER("y", "3", "read_write", "u32"));
	matmul_number(w, "LANES", g->lanes);
	matmul_number(w, "SPLIT", g->split);
	matmul_number(w, "ROWS", g->rows);
	matmul_number(w, "EACH", g->per);
	matmul_number(w, "TERMS", g->terms);
	matmul_number(w, "GROUPS", g->lanes / g->split);
	matmul_number(w, "COLUMNS", columns);
	matmul_number(w, "SHARE", (uint32_t)matmul_parts(columns * g->rows, 64));
	kit_wgsl_add(w, "const PER: u32 = 1u;\n");
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
}

/* Rows `row` on of a, as a product of its own. */
static void rows_from(matmul_fast_plan *f, const gemv *g, uint64_t row, uint64_t n_rows)
{
	const pctl_tensor_type *in = f->p->use->q->in;
	const uint64_t a_row = kit_bytes(&in[0]) / (kit_elements(&in[0]) / f->s->k);
	const uint64_t y_row = f->s->n * kit_dtype_bytes(f->s->out.dtype);
	const uint64_t columns = (uint64_t)g->lanes / g->split * g->per;
	/* One bound for the loops of sums and for those that settle. */
	const uint64_t steps = matmul_parts(f->s->k, (uint64_t)g->split * g->terms);
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
	add_head(&w, f, g);
	add_loop(&w, g);
	add_joined(&w, g);
	add_writes(&w, f->s->format->dtype != PCTL_SCALAR_F32, f->p->through != 0);
	f->writes = 1;
	f->first = row * s.n;
	matmul_run(f, "tensor/matmul_gemv.wgsl", &w, g->lanes, matmul_parts(s.n, columns),
		   steps > settling ? steps : settling,
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
