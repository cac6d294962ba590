/* The exact product of few rows with a transposed b on a GPU (SEMANTICS.md 4.4): a model's weights beside the tokens of a step. b is read once, in order and as it lies, 16 bytes a lane
 * where its elements are plain, never expanded. One dispatch does all for MATMUL_ROWS_MOST rows: f64 sums, the norms that bound their error, and what is in doubt settled where it was
 * found, for a dispatch costs as much as a small product. */
#include <stdio.h>

#include "matmul_gemv.h"

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
static uint32_t tuned(const kit_plan *p, uint32_t tunable, uint32_t usual)
{
	const uint32_t n = kit_tunable(p, tunable);

	return n == 0 ? usual : n;
}

/* The terms of a turn of all lanes of a column, or of several turns. */
static uint64_t terms_of(const matmul_gemv_cut *g, uint64_t split, uint64_t turns)
{
	return split * g->terms * turns;
}

/* Twice as many lanes would leave more than an eighth of the last turn without terms. */
static int is_cut_well(const matmul_gemv_cut *g, uint64_t k)
{
	const uint64_t twice = terms_of(g, 2 * g->split, 1);

	return matmul_parts(k, twice) * twice * 8 <= k * 9;
}

static uint32_t split_of(const matmul_gemv_cut *g, const matmul_shape *s)
{
	const int is_alone = g->rows == 1 && g->b != 0;
	matmul_gemv_cut c = *g;

	/* A lane always has the same part of a block. */
	c.split = g->block == NULL ? 8 : g->block->block / 8;
	while (c.split < (c.rows >= 8 ? 64 : c.lanes) && terms_of(&c, c.split, 2) <= s->k &&
	       (s->n * c.split / c.per < LANES_MANY || (is_alone && c.split < SPLIT_ALONE)) &&
	       (!is_alone || c.split < SPLIT_ALONE || is_cut_well(&c, s->k)))
		c.split *= 2;
	return c.split;
}

static matmul_gemv_cut cut_of(const matmul_fast_plan *f, uint64_t n_rows)
{
	const pctl_tensor_type *in = f->p->use->q->in;
	const matmul_shape *s = f->s;
	int is_alone, has_many;
	uint32_t asked;
	matmul_gemv_cut g = {.rows = 1, .turns = 1, .block = kit_block_format_of(in[1].dtype)};

	while (g.rows < MATMUL_ROWS_MOST && g.rows < n_rows)
		g.rows *= 2;
	g.b = g.block == NULL ? matmul_gemv_in_quad(in[1].dtype) : 0;
	g.terms = g.block != NULL ? 8 : g.b != 0 ? g.b : 4;
	g.a = matmul_gemv_in_quad(in[0].dtype);
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

static uint32_t log2_of(uint32_t n)
{
	uint32_t power = 0;

	while (n > 1u << power)
		power++;
	return power;
}

/* The additions on the way of a term, in f64: those of its lane's sum, of blocks two more a turn, and those of sums and lanes two by two. */
static uint32_t depth_of(const matmul_gemv_cut *g, uint64_t k)
{
	const uint32_t own = (uint32_t)matmul_parts(k, terms_of(g, g->split, 1)) * g->terms;

	return own / g->sums + (g->b == 0 ? g->terms : 0) + log2_of(g->sums) + log2_of(g->split) +
	       4;
}

/* The roundings on the way of a magnitude, whether in f32 or f64. */
static uint32_t roundings_of(const matmul_gemv_cut *g, uint64_t k)
{
	return (uint32_t)matmul_parts(k, terms_of(g, g->split, 1)) * (g->terms + 1) +
	       log2_of(g->split) + 4;
}

/*
 * The numbers that the text goes by, beside those of struct gemv: M, N, K of this product; EACH columns of a group of lanes; ROUNDS of TURNS turns each; DEPTH additions on the way of a term, ROUNDINGS on that of a magnitude; GROUPS
 * of lanes and COLUMNS of a workgroup; FEW parts that a group's become first; SHARE of matmul_settle.wgsl.
 */
static void add_head(kit_wgsl *w, const matmul_fast_plan *f, const matmul_gemv_cut *g,
		     uint64_t n_rows)
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
	matmul_number(w, "FEW", matmul_gemv_few(g));
	matmul_number(w, "COLUMNS", columns);
	matmul_number(w, "SHARE", (uint32_t)matmul_parts(columns * g->rows, 64));
	kit_wgsl_add(w, "const PER: u32 = 1u;\n");
	kit_wgsl_add(w, g->scaled ? "const SCALE: f64 = 0x1p896lf;\nconst LOST: f64 = 0x1p-120lf;\n"
				  : "const SCALE: f64 = 1.0lf;\nconst LOST: f64 = 0x1p-148lf;\n");
	if (g->a != 0)
		matmul_gemv_add_quads(w, in[0].dtype, "a");
	else
		kit_wgsl_factor(w, in[0].dtype, "a");
	if (g->b != 0)
		matmul_gemv_add_quads(w, in[1].dtype, "b");
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
	matmul_gemv_add_join(w, g);
}

/* Rows `row` on of a, as a product of its own. */
static void rows_from(matmul_fast_plan *f, const matmul_gemv_cut *g, uint64_t row, uint64_t n_rows)
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
	matmul_gemv_add_loop(&w, g);
	matmul_gemv_add_joined(&w, g);
	matmul_gemv_add_writes(&w, g, f->s->format->dtype != PCTL_SCALAR_F32, f->p->through != 0);
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
	const matmul_gemv_cut g = cut_of(f, n_rows);

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
		const matmul_gemv_cut part = cut_of(f, n);

		rows_from(f, &part, row, n);
	}
	return 1;
}
