/* The exact product of few rows with a transposed b (SEMANTICS.md 4.4): a model's weights beside the tokens of a step. b is read once, in order and as it lies, blocks too, by lanes that
 * share a column's terms; what f64 sums leave in doubt is settled as in tiles. */
#include <stdio.h>

#include "matmul_fast.h"

#include "kernels.h"

/* With more rows, tiles read plain factors less often. */
#define ROWS_MOST 16u

/*
 * lanes    of a workgroup
 * split    lanes of a column
 * terms    of a lane in a turn; spread: those of neighbouring lanes lie side by side, not a lane's own
 * rows     that are summed together; per: columns of an invocation
 * block    of b, NULL: its elements are f32
 */
typedef struct thin {
	uint32_t lanes, split, terms, spread, rows, per;
	uint64_t n_rows;
	const kit_block_format *block;
} thin;

/* Texts by number: # a column of the invocation, @ a row, ~ a term. */
static void add(kit_wgsl *w, const char *text, uint32_t c, uint32_t r, uint32_t j)
{
	char line[320], *out = line;

	for (; *text != '\0' && out < line + sizeof(line) - 12; text++) {
		const uint32_t n = *text == '#' ? c : *text == '@' ? r : j;

		if (*text == '#' || *text == '@' || *text == '~')
			out += snprintf(out, 11, "%u", n);
		else
			*out++ = *text;
	}
	*out = '\0';
	kit_wgsl_add(w, line);
}

static void number(kit_wgsl *w, const char *name, uint32_t value)
{
	char line[64];

	snprintf(line, sizeof(line), "const %s: u32 = %uu;\n", name, value);
	kit_wgsl_add(w, line);
}

/* Rows of a lie one behind the other, and all meet the same b. */
static int lies_so(const matmul_shape *s, const thin *t)
{
	uint64_t stride = s->m * s->k;

	if (s->a_column != 1 || s->b_row != 1 || s->k == 0 ||
	    s->k % (t->spread ? 8 * t->terms : t->terms) != 0)
		return 0;
	for (uint32_t d = 0; d < MATMUL_BATCH_MAX; d++) {
		if (s->batch[d].n == 1)
			continue;
		if (s->batch[d].b != 0 || s->batch[d].a != stride)
			return 0;
		stride *= s->batch[d].n;
	}
	return 1;
}

/* Blocks are gone through one by one, so that where words lie follows from their number alone. Rows of b are whole blocks. */
static int by_blocks(const thin *t)
{
	return t->spread && t->block != NULL;
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

	t.rows = 1;
	while (t.rows < ROWS_MOST && t.rows < t.n_rows)
		t.rows *= 2;
	if (f->p->caps->device_kind == PCTL_DEVICE_CPU) {
		t.lanes = t.split = 8;
		t.terms = t.block == NULL ? 4 : t.block->group / 8;
		t.spread = 1;
		t.rows = t.rows > 4 ? 4 : t.rows;
		t.per = columns_of(f->p, &t, t.rows == 4 ? 2 : 4);
		return t;
	}
	t.lanes = kit_tunable(f->p, PCTL_TUNABLE_THIN_LANES);
	if (t.lanes == 0)
		t.lanes = 256;
	t.terms = 4;
	t.per = columns_of(f->p, &t, t.rows >= 8 ? 2 : 4);
	t.split = kit_tunable(f->p, PCTL_TUNABLE_THIN_SPLIT);
	if (t.split != 0 && t.split <= t.lanes)
		return t;
	/* Columns may be few, but lanes must be many. */
	for (t.split = 8;
	     t.split < 64 && s->n * t.split / t.per < 1u << 17 && t.split * t.terms * 2 <= s->k;)
		t.split *= 2;
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

/* Where a lane's terms lie: k and what of a term is the lane's own. */
static const char alone[] = "\tlet own = 0u;\n\tlet part = lane % SPLIT * TERMS;\n"
			    "\tlet column = first + lane / SPLIT * EACH;\n";
static const char spread[] = "\tlet own = lane;\n\tlet part = 0u;\n\tlet column = first;\n";

/* The terms of a and of column c as f64, x@_~ and w#_~. */
static void add_terms_a(kit_wgsl *w, const thin *t, uint32_t r)
{
	for (uint32_t j = 0; j < t->terms; j++)
		add(w,
		    t->spread ? "\t\tlet x@_~ = f64(bitcast<f32>(a_bits(a@ + k + ~ * 8u + own)));\n"
			      : "\t\tlet x@_~ = f64(bitcast<f32>(a_bits((a@ + k) | ~u)));\n",
		    0, r, j);
	if (t->block == NULL || t->block->kind == KIT_BLOCK_SCALED)
		return;
	add(w, "\t\tlet u@ = x@_0", 0, r, 0);
	for (uint32_t j = 1; j < t->terms; j++)
		add(w, " + x@_~", 0, r, j);
	kit_wgsl_add(w, ";\n");
}

static void add_column(kit_wgsl *w, const thin *t, uint32_t c)
{
	const kit_block_format *f = t->block;

	if (by_blocks(t))
		add(w, "\t\tlet at# = b# / b_BLOCK * b_BYTES + i * b_BYTES;\n\t\tlet e# = e;\n", c,
		    0, 0);
	else if (f != NULL)
		add(w,
		    "\t\tlet i# = b# + k;\n\t\tlet at# = i# / b_BLOCK * b_BYTES;\n"
		    "\t\tlet e# = i# % b_BLOCK;\n",
		    c, 0, 0);
	for (uint32_t j = 0; j < t->terms; j++)
		add(w,
		    f == NULL
			    ? t->spread
				      ? "\t\tlet w#_~ = f64(bitcast<f32>(b_bits(b# + k + ~ * 8u + "
					"own)));\n"
				      : "\t\tlet w#_~ = f64(bitcast<f32>(b_bits((b# + k) | ~u)));\n"
		    : t->spread ? "\t\tlet w#_~ = f64(b_q(at#, e# + ~ * 8u, own));\n"
				: "\t\tlet w#_~ = f64(b_q(at#, e# | ~u, own));\n",
		    c, 0, j);
	if (f == NULL) {
		for (uint32_t j = 0; j < t->terms; j++)
			add(w, "\t\tn# = step(w#_~, w#_~, n#);\n", c, 0, j);
		return;
	}
	add(w, "\t\tlet d# = f64(unpack2x16float(b_half(at# + b_D)).x * f32(b_s(at#, e#)));\n", c,
	    0, 0);
	if (f->kind == KIT_BLOCK_SCALED) {
		add(w, "\t\tlet m# = abs(d#) * MOST;\n", c, 0, 0);
	} else {
		add(w,
		    f->kind == KIT_BLOCK_ADDED ? "\t\tlet l# = f64(unpack2x16float(b_half(at# + "
						 "b_E)).x * f32(b_m(at#, e#)));\n"
					       : "\t\tlet l# = -f64(unpack2x16float(b_half(at# + "
						 "b_E)).x * f32(b_m(at#, e#)));\n",
		    c, 0, 0);
		add(w, "\t\tlet m# = abs(d#) * MOST + abs(l#);\n", c, 0, 0);
	}
	add(w, "\t\tn# = step(m# * f64(TERMS), m#, n#);\n", c, 0, 0);
}

/* Of blocks the integers are summed, and their scale joins the sum once. */
static void add_sums(kit_wgsl *w, const thin *t, uint32_t c, uint32_t r)
{
	if (t->block == NULL) {
		for (uint32_t j = 0; j < t->terms; j++)
			add(w, "\t\ts#_@ = step(x@_~, w#_~, s#_@);\n", c, r, j);
		return;
	}
	for (uint32_t j = 0; j < t->terms; j++)
		add(w, j == 0 ? "\t\ts#_@ = step(d#, " : "step(x@_~, w#_~, ", c, r, t->terms - j);
	add(w, "x@_0 * w#_0", c, r, 0);
	for (uint32_t j = 1; j < t->terms; j++)
		kit_wgsl_add(w, ")");
	add(w, ", s#_@);\n", c, r, 0);
	if (t->block->kind != KIT_BLOCK_SCALED)
		add(w, "\t\ts#_@ = step(l#, u@, s#_@);\n", c, r, 0);
}

static void add_lane(kit_wgsl *w, const thin *t)
{
	kit_wgsl_add(w, t->spread ? spread : alone);
	for (uint32_t c = 0; c < t->per; c++)
		add(w,
		    "\tlet b# = min(column + #u, params.n - 1u) * params.k;\n\tvar n# = 0.0lf;\n",
		    c, 0, 0);
	for (uint32_t r = 0; r < t->rows; r++)
		add(w, "\tlet a@ = min(row + @u, all_rows - 1u) * params.k;\n", 0, r, 0);
	for (uint32_t c = 0; c < t->per; c++)
		for (uint32_t r = 0; r < t->rows; r++)
			add(w, "\tvar s#_@ = 0.0lf;\n", c, r, 0);
	kit_wgsl_add(w, "\tfor (var i = 0u; i < steps; i++) {\n");
	if (by_blocks(t))
		kit_wgsl_add(w, "\t\tif (i >= params.k / b_BLOCK) {\n\t\t\tbreak;\n\t\t}\n"
				"\t\tfor (var e = 0u; e < b_BLOCK; e += SPLIT * TERMS) {\n"
				"\t\tlet k = i * b_BLOCK + e;\n");
	else
		kit_wgsl_add(w, "\t\tlet k = i * SPLIT * TERMS + part;\n"
				"\t\tif (k >= params.k) {\n\t\t\tbreak;\n\t\t}\n");
	for (uint32_t r = 0; r < t->rows; r++)
		add_terms_a(w, t, r);
	for (uint32_t c = 0; c < t->per; c++) {
		add_column(w, t, c);
		for (uint32_t r = 0; r < t->rows; r++)
			add_sums(w, t, c, r);
	}
	kit_wgsl_add(w, by_blocks(t) ? "\t\t}\n\t}\n" : "\t}\n");
}

/* The lanes' sums, four values at a time; a value of an invocation's columns and rows is c * rows + r. */
static void add_joined(kit_wgsl *w, const thin *t)
{
	const uint32_t values = t->per * t->rows;

	for (uint32_t c = 0; c < t->per; c++)
		add(w, "\tparts[#u * LANES + lane] = n#;\n", c, 0, 0);
	kit_wgsl_add(w, "\tworkgroupBarrier();\n"
			"\tif (lane < COLUMNS) {\n"
			"\t\tlet norm = sqrt(together(lane % EACH, lane / EACH));\n"
			"\t\tlengths[lane] = norm;\n"
			"\t\tnorms_b[whole * COLUMNS + lane] = norm;\n\t}\n");
	for (uint32_t v = 0; v < values; v += 4) {
		kit_wgsl_add(w, "\tworkgroupBarrier();\n");
		for (uint32_t i = 0; i < 4; i++) {
			add(w, "\tparts[#u * LANES + lane] = ", i, 0, 0);
			add(w, "s#_@;\n", (v + i) / t->rows, (v + i) % t->rows, 0);
		}
		kit_wgsl_add(w, "\tworkgroupBarrier();\n\tif (lane < GROUPS * 4u) {\n");
		add(w, "\t\tlet v = #u + lane % 4u;\n", v, 0, 4);
		kit_wgsl_add(w, "\t\tlet r = min(row + v % ROWS, all_rows - 1u);\n");
		add(w,
		    "\t\ttemp[whole * (COLUMNS * ROWS) + #u * GROUPS + lane] = judged(together(v - "
		    "#u, lane / 4u), ",
		    v, 0, 0);
		kit_wgsl_add(w, "norms_a[(r >> 3u) * 64u + (r & 7u)].x, lengths[lane / 4u * EACH + "
				"v / ROWS]);\n\t}\n");
	}
	kit_wgsl_add(w, "}\n");
}

static void add_numbers(kit_wgsl *w, const thin *t)
{
	number(w, "LANES", t->lanes);
	number(w, "SPLIT", t->split);
	number(w, "ROWS", t->rows);
	number(w, "EACH", t->per);
	number(w, "TERMS", t->terms);
	number(w, "GROUPS", t->lanes / t->split);
	number(w, "COLUMNS", t->lanes / t->split * t->per);
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
		kit_wgsl_block(&w, t->block, "b", (int)t->spread);
	else
		kit_wgsl_factor(&w, u->q->in[1].dtype, "b");
	if (t->block != NULL)
		add(&w, "const MOST: f64 = #.0lf;\n", t->block->most, 0, 0);
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
				by_blocks(t) ? t->block->block : (uint64_t)t->split * t->terms),
		   (kit_slot[]){KIT_ALL(f->params), KIT_ALL(f->factors[0]), KIT_ALL(f->factors[1]),
				KIT_ALL(f->temp), KIT_ALL(f->norms[0]), KIT_ALL(f->norms[1])},
		   6);
}

void matmul_add_thin(const matmul_fast_plan *f, kit_wgsl *w)
{
	const thin t = cut_of(f);

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
	const uint64_t columns = (uint64_t)t.lanes / t.split * t.per;
	const uint64_t groups = matmul_parts(t.n_rows, t.rows) * matmul_parts(s->n, columns);

	if (!lies_so(s, &t) || (t.n_rows > ROWS_MOST && !is_packed) ||
	    caps->max_invocations < t.lanes || caps->max_workgroup_bytes < 16384 ||
	    groups * columns * t.rows >= 0x80000000u ||
	    !matmul_turns_fit(caps, matmul_steps(matmul_parts(s->k, (uint64_t)t.split * t.terms)) +
					    (t.per * t.rows + 1) * t.split +
					    (by_blocks(&t) ? s->k / t.block->group : 0) + 16))
		return 0;
	f->cut = &cut;
	f->temp = kit_temp(f->p, groups * columns * t.rows * 4);
	f->norms[1] = kit_temp(f->p, groups * columns * 8);
	matmul_norms(f, 0);
	sums(f, &t, groups);
	return 1;
}
