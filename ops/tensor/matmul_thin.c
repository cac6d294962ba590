/* The exact product of few rows with a transposed b on a processor (SEMANTICS.md 4.4): a model's weights beside the tokens of a step. b is read once, in order and as it lies, blocks too,
 * by lanes that share a column's terms; what f64 sums leave in doubt is settled as in tiles. Of GPUs matmul_gemv.c. */
#include "matmul_fast.h"

#include "kernels.h"

/*
 * lanes    of a workgroup, which share a column; their terms lie side by side
 * terms    of a lane in a turn
 * rows     that are summed together; per: columns of an invocation
 * block    of b, NULL: its elements are f32
 */
typedef struct thin {
	uint32_t lanes, terms, rows, per;
	uint64_t n_rows;
	const kit_block_format *block;
} thin;

/* Blocks are gone through one by one, so that where words lie follows from their number alone. Rows of b are whole blocks. */
static int by_blocks(const thin *t)
{
	return t->block != NULL;
}

/* Values of an invocation are joined by fours. */
static uint32_t columns_of(const kit_plan *p, const thin *t, uint32_t usual)
{
	const uint32_t n = kit_tunable(p, PCTL_TUNABLE_THIN_COLUMNS);

	return n == 0 || t->rows * n < 4 ? usual : n;
}

static thin cut_of(const matmul_fast_plan *f)
{
	const matmul_shape *s = f->s;
	thin t = {.n_rows = kit_elements(&s->out) / s->n,
		  .block = kit_block_format_of(f->p->use->q->in[1].dtype)};

	t.rows = t.n_rows > 2 ? 4 : (uint32_t)t.n_rows;
	t.lanes = 8;
	t.terms = t.block == NULL ? 4 : t.block->group / 8;
	t.per = columns_of(f->p, &t, t.rows == 4 ? 2 : 4);
	return t;
}

static const char entry[] =
	"@compute @workgroup_size(LANES)\n"
	"fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: "
	"u32) {\n"
	"\tlet whole = group.y * 65535u + group.x;\n"
	"\tlet all_rows = params.count / params.n;\n"
	"\tlet blocks = (all_rows + ROWS - 1u) / ROWS;\n" /* of rows: neighbours read the same of b */
	"\tlet row = whole % blocks * ROWS;\n"
	"\tlet first = whole / blocks * COLUMNS;\n";

static const char own[] = "\tlet own = lane;\n\tlet column = first;\n";

/* The terms of a and of column c as f64, x@_~ and w#_~. */
static void add_terms_a(kit_wgsl *w, const thin *t, uint32_t r)
{
	for (uint32_t j = 0; j < t->terms; j++)
		matmul_add(w, "\t\tlet x@_~ = f64(bitcast<f32>(a_bits(a@ + k + ~ * 8u + own)));\n",
			   0, r, j);
	matmul_add_row_sum(w, t->block, t->terms, r);
}

static void add_column(kit_wgsl *w, const thin *t, uint32_t c)
{
	const kit_block_format *f = t->block;

	if (by_blocks(t))
		matmul_add(w,
			   "\t\tlet at# = b# / b_BLOCK * b_BYTES + i * b_BYTES;\n\t\tlet e# = e;\n",
			   c, 0, 0);
	for (uint32_t j = 0; j < t->terms; j++)
		matmul_add(w,
			   f == NULL ? "\t\tlet w#_~ = f64(bitcast<f32>(b_bits(b# + k + ~ * 8u + "
				       "own)));\n"
				     : "\t\tlet w#_~ = f64(b_q(at#, e# + ~ * 8u, own));\n",
			   c, 0, j);
	matmul_add_norm(w, f, t->terms, c, "e#", "m#");
}

static void add_lane(kit_wgsl *w, const thin *t)
{
	kit_wgsl_add(w, own);
	for (uint32_t c = 0; c < t->per; c++)
		matmul_add(w,
			   "\tlet b# = min(column + #u, params.n - 1u) * params.k;\n\tvar n# = "
			   "0.0lf;\n",
			   c, 0, 0);
	for (uint32_t r = 0; r < t->rows; r++)
		matmul_add(w, "\tlet a@ = min(row + @u, all_rows - 1u) * params.k;\n", 0, r, 0);
	for (uint32_t c = 0; c < t->per; c++)
		for (uint32_t r = 0; r < t->rows; r++)
			matmul_add(w, "\tvar s#_@ = 0.0lf;\n", c, r, 0);
	kit_wgsl_add(w, "\tfor (var i = 0u; i < steps; i++) {\n");
	if (by_blocks(t))
		kit_wgsl_add(w, "\t\tif (i >= params.k / b_BLOCK) {\n\t\t\tbreak;\n\t\t}\n"
				"\t\tfor (var e = 0u; e < b_BLOCK; e += SPLIT * TERMS) {\n"
				"\t\tlet k = i * b_BLOCK + e;\n");
	else
		kit_wgsl_add(w, "\t\tlet k = i * SPLIT * TERMS;\n"
				"\t\tif (k >= params.k) {\n\t\t\tbreak;\n\t\t}\n");
	for (uint32_t r = 0; r < t->rows; r++)
		add_terms_a(w, t, r);
	for (uint32_t c = 0; c < t->per; c++) {
		add_column(w, t, c);
		for (uint32_t r = 0; r < t->rows; r++)
			matmul_add_sums(w, t->block, t->terms, c, r);
	}
	kit_wgsl_add(w, by_blocks(t) ? "\t\t}\n\t}\n" : "\t}\n");
}

/* The lanes' sums, four values at a time; a value of an invocation's columns and rows is c * rows + r. */
static void add_joined(kit_wgsl *w, const thin *t)
{
	const uint32_t values = t->per * t->rows;

	for (uint32_t c = 0; c < t->per; c++)
		matmul_add(w, "\tparts[#u * LANES + lane] = n#;\n", c, 0, 0);
	kit_wgsl_add(w, "\tworkgroupBarrier();\n"
			"\tif (lane < COLUMNS) {\n"
			"\t\tlet norm = sqrt(together(lane % EACH, lane / EACH));\n"
			"\t\tlengths[lane] = norm;\n"
			"\t\tnorms_b[whole * COLUMNS + lane] = norm;\n\t}\n");
	for (uint32_t v = 0; v < values; v += 4) {
		kit_wgsl_add(w, "\tworkgroupBarrier();\n");
		for (uint32_t i = 0; i < 4; i++) {
			matmul_add(w, "\tparts[#u * LANES + lane] = ", i, 0, 0);
			matmul_add(w, "s#_@;\n", (v + i) / t->rows, (v + i) % t->rows, 0);
		}
		kit_wgsl_add(w, "\tworkgroupBarrier();\n\tif (lane < GROUPS * 4u) {\n");
		matmul_add(w, "\t\tlet v = #u + lane % 4u;\n", v, 0, 4);
		kit_wgsl_add(w, "\t\tlet r = min(row + v % ROWS, all_rows - 1u);\n");
		matmul_add(w,
			   "\t\ttemp[whole * (COLUMNS * ROWS) + #u * GROUPS + lane] = "
			   "judged(together(v - "
			   "#u, lane / 4u), ",
			   v, 0, 0);
		kit_wgsl_add(w, "norms_a[(r >> 3u) * 64u + (r & 7u)].x, lengths[lane / 4u * EACH + "
				"v / ROWS]);\n\t}\n");
	}
	kit_wgsl_add(w, "}\n");
}

static void add_numbers(kit_wgsl *w, const thin *t)
{
	matmul_number(w, "LANES", t->lanes);
	matmul_number(w, "SPLIT", t->lanes);
	matmul_number(w, "ROWS", t->rows);
	matmul_number(w, "EACH", t->per);
	matmul_number(w, "TERMS", t->terms);
	matmul_number(w, "GROUPS", 1);
	matmul_number(w, "COLUMNS", t->per);
}

static void sums(matmul_fast_plan *f, const thin *t, uint64_t groups)
{
	const kit_use *u = f->p->use;
	const int fused = (f->p->caps->proven & PCTL_PLAN_PROVEN_F64_FMA) != 0;
	kit_wgsl w = kit_wgsl_make(u, 65536);

	if (f->s->format->dtype == PCTL_SCALAR_F16)
		kit_wgsl_add(&w, "enable f16;\n");
	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w,
		     MATMUL_BUFFER("a", "1", "read", "u32") MATMUL_BUFFER("b", "2", "read", "u32")
			     MATMUL_BUFFER("temp", "3", "read_write", "u32")
				     MATMUL_BUFFER("norms_a", "4", "read", "vec2<f64>")
					     MATMUL_BUFFER("norms_b", "5", "read_write", "f64"));
	add_numbers(&w, t);
	kit_wgsl_factor(&w, u->q->in[0].dtype, "a");
	if (t->block != NULL)
		kit_wgsl_block(&w, t->block, "b", KIT_BLOCK_LANES);
	else
		kit_wgsl_factor(&w, u->q->in[1].dtype, "b");
	if (t->block != NULL)
		matmul_add(&w, "const MOST: f64 = #.0lf;\n", t->block->most, 0, 0);
	kit_wgsl_add(&w,
		     fused ? "fn step(a: f64, b: f64, s: f64) -> f64 {\n\treturn fma(a, b, s);\n}\n"
			   : "fn step(a: f64, b: f64, s: f64) -> f64 {\n\treturn s + a * b;\n}\n");
	kit_wgsl_add(&w, tensor_nearest(f->s->format));
	kit_wgsl_add(&w, KERNEL_WITHIN);
	kit_wgsl_add(&w, KERNEL_MATMUL_THIN);
	kit_wgsl_add(&w, entry);
	add_lane(&w, t);
	add_joined(&w, t);
	matmul_run(f, "tensor/matmul_thin.wgsl", &w, t->lanes, groups,
		   matmul_parts(f->s->k,
				by_blocks(t) ? t->block->block : (uint64_t)t->lanes * t->terms),
		   (kit_slot[]){KIT_ALL(f->params), f->factors[0], f->factors[1], KIT_ALL(f->temp),
				KIT_ALL(f->norms[0]), KIT_ALL(f->norms[1])},
		   6);
}

void matmul_add_thin(const matmul_fast_plan *f, kit_wgsl *w)
{
	const thin t = cut_of(f);

	if (matmul_thin_by_words(f)) {
		matmul_add_thin_words(f, w);
		return;
	}
	add_numbers(w, &t);
	kit_wgsl_add(w, KERNEL_MATMUL_THIN_LAYOUT);
}

int matmul_thin(matmul_fast_plan *f)
{
	static const matmul_cut cut = {
		MATMUL_TILES_THIN, "", NULL, NULL, NULL, "", "f64", 64, 64, 16384, 1, 1, 1, 1};
	const pctl_plan_caps *caps = f->p->caps;
	const matmul_shape *s = f->s;
	const thin t = cut_of(f);
	const int is_packed = kit_dtype_bytes(f->p->use->q->in[1].dtype) == 0;
	const uint64_t groups = matmul_parts(t.n_rows, t.rows) * matmul_parts(s->n, t.per);

	if (caps->device_kind != PCTL_DEVICE_CPU || !matmul_rows_share(s, 8 * t.terms) ||
	    (t.n_rows > MATMUL_ROWS_MOST && !is_packed) || caps->max_invocations < t.lanes ||
	    caps->max_workgroup_bytes < 16384 || groups * t.per * t.rows >= 0x80000000u ||
	    !matmul_turns_fit(caps, matmul_steps(matmul_parts(s->k, (uint64_t)t.lanes * t.terms)) +
					    (t.per * t.rows + 1) * t.lanes +
					    (by_blocks(&t) ? s->k / t.block->group : 0) + 16))
		return 0;
	f->cut = &cut;
	if (matmul_thin_words(f))
		return 1;
	f->temp = kit_temp(f->p, groups * t.per * t.rows * 4);
	f->norms[1] = kit_temp(f->p, groups * t.per * 8);
	matmul_norms(f, 0);
	sums(f, &t, groups);
	return 1;
}
