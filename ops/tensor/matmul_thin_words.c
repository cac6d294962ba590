/* The exact product of few rows with a transposed b of q8_0 on a processor (SEMANTICS.md 4.4). Eight lanes have a word of a block each, four elements: a block is one row of words, which
 * lanes read together, and the rows of a are laid out as f64 in that order first, once for all columns. Two blocks, 17 words, are a turn, so that where their bytes lie is known. */
#include "matmul_fast.h"

#include "kernels.h"

#define LANES 8u /* and values of a workgroup: columns of rows */
#define PAIR 64u /* elements of two blocks */
#define PAIR_WORDS 17u
#define WORDS_AHEAD 512u /* what of b is asked for before it is read */
#define ROW_PAIR 80u	 /* f64 of a row for two blocks: 64 elements and what is taken away */
/* One text for each k up to 4,096: what is compiled takes longer than what it saves. */
#define TURNS_LEAST 64u
#define ROWS_BYTES_MOST (1ull << 26)

static uint32_t rows_of(const matmul_fast_plan *f)
{
	const uint64_t n = kit_elements(&f->s->out) / f->s->n;

	return n > 2 ? 4 : (uint32_t)n;
}

/* Pairs of blocks of a row; no less than TURNS_LEAST. */
static uint64_t turns_of(const matmul_fast_plan *f)
{
	const uint64_t n = f->s->k / PAIR;

	return matmul_steps(n > TURNS_LEAST ? n : TURNS_LEAST);
}

static uint64_t row_bytes(const matmul_fast_plan *f)
{
	return turns_of(f) * ROW_PAIR * 8;
}

static void add_numbers(kit_wgsl *w, uint32_t rows)
{
	matmul_number(w, "ROWS", rows);
	matmul_number(w, "COLUMNS", LANES / rows);
}

/* Rows of a as lanes read them, and their norms. */
static void lay_rows(matmul_fast_plan *f, uint32_t rows, uint64_t n_rows)
{
	kit_wgsl w = kit_wgsl_make(f->p->use, 16384);

	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w, MATMUL_BUFFER("a", "1", "read", "u32")
				 MATMUL_BUFFER("rows", "2", "read_write", "f64")
					 MATMUL_BUFFER("norms", "3", "read_write", "vec2<f64>"));
	matmul_number(&w, "ROW_PAIR", ROW_PAIR);
	matmul_add_codec(&w, f->p->use->q->in[0].dtype, "a");
	kit_wgsl_add(&w, KERNEL_MATMUL_THIN_ROWS);
	matmul_run(f, "tensor/matmul_thin_rows.wgsl", &w, 64, n_rows, turns_of(f),
		   (kit_slot[]){KIT_ALL(f->params), f->in[0], KIT_ALL(rows), KIT_ALL(f->norms[0])},
		   4);
}

/*
 * The eight elements of each of two blocks that lanes have in turn j, as w<j>; j from 4 on is of the second block. No element is converted: its byte is put where a fraction begins, of
 * which the sign bit turned makes 1.5 + element / 256, and what 1.5 adds to a lane's sum is known of the row alone.
 */
static void add_pair(kit_wgsl *w)
{
	static const char *const ups[] = {" << 28u", " << 20u", " << 44u", " << 36u",
					  " << 44u", " << 36u", " << 28u", " << 20u"};
	static const char *const words[] = {"p", "q", "r"};

	/* Asked for before it is wanted: what a processor guesses of so many short turns comes too late. */
	kit_wgsl_add(w, "\t\tlet at = column + i * 17u;\n"
			"\t\t_ = b[min(at + AHEAD, arrayLength(&b) - 1u)];\n"
			"\t\tlet h0 = b[at];\n\t\tlet h1 = b[at + 8u] >> 16u;\n"
			"\t\tlet d0 = scale(h0 & 0x8000u, h0 & 0x7fffu);\n"
			"\t\tlet d1 = scale(h1 & 0x8000u, h1 & 0x7fffu);\n"
			"\t\tsquares = step(d1, d1, step(d0, d0, squares));\n"
			"\t\tlet p = u64(b[at + lane]);\n\t\tlet q = u64(b[at + 1u + lane]);\n"
			"\t\tlet r = u64(b[at + 9u + lane]);\n");
	for (uint32_t j = 0; j < 8; j++) {
		matmul_add(w, "\t\tlet w~ = bitcast<f64>(((", 0, 0, j);
		kit_wgsl_add(w, words[j / 2 > 2 ? 2 : j / 2]);
		kit_wgsl_add(w, ups[j]);
		kit_wgsl_add(w, ") & 0xff00000000000lu) ^ 0x3ff8000000000000lu);\n");
	}
}

/* What 1.5 adds is taken away first, and a scale joins the sum of a lane's four elements once. */
static void add_sums(kit_wgsl *w, uint32_t r)
{
	for (uint32_t j = 0; j < 8; j++)
		matmul_add(w, "\t\tlet x@_~ = a[a@ + i * ROW_PAIR + ~ * 8u + lane];\n", 0, r, j);
	for (uint32_t half = 0; half < 2; half++) {
		matmul_add(w, "\t\ts@ = step(d~, ", 0, r, half);
		for (uint32_t j = 4; j-- != 0;)
			matmul_add(w, "step(x@_~, w~, ", 0, r, half * 4 + j);
		matmul_add(w, "a[a@ + i * ROW_PAIR + (64u + ~ * 8u) + lane])))), s@);\n", 0, r,
			   half);
	}
}

/* Value c * rows + r of a workgroup is that lane's in the end. */
static void add_main(kit_wgsl *w, uint32_t rows)
{
	kit_wgsl_add(
		w,
		"@compute @workgroup_size(LANES)\n"
		"fn main(@builtin(workgroup_id) group: vec3<u32>, "
		"@builtin(local_invocation_index) lane: u32) {\n"
		"\tlet whole = group.y * 65535u + group.x;\n"
		"\tlet all_rows = params.count / params.n;\n"
		"\tlet blocks = (all_rows + ROWS - 1u) / ROWS;\n" /* of rows: neighbours read the same of b */
		"\tlet row = whole % blocks * ROWS;\n"
		"\tlet first = whole / blocks * COLUMNS;\n");
	for (uint32_t r = 0; r < rows; r++)
		matmul_add(w, "\tlet a@ = min(row + @u, all_rows - 1u) * (ROW_PAIR * steps);\n", 0,
			   r, 0);
	/* Column by column: memory is read in order, and a text is short. */
	kit_wgsl_add(w, "\tvar squares = 0.0lf;\n"
			"\tfor (var c = 0u; c < COLUMNS; c++) {\n"
			"\tlet column = min(first + c, params.n - 1u) * (params.k / 64u * 17u);\n");
	for (uint32_t r = 0; r < rows; r++)
		matmul_add(w, "\tvar s@ = 0.0lf;\n", 0, r, 0);
	kit_wgsl_add(w, "\tfor (var i = 0u; (i < params.k / 64u) & (i < steps); i++) {\n");
	add_pair(w);
	for (uint32_t r = 0; r < rows; r++)
		add_sums(w, r);
	kit_wgsl_add(w, "\t}\n");
	for (uint32_t r = 0; r < rows; r++)
		matmul_add(w, "\tparts[(c * ROWS + @u) * LANES + lane] = s@;\n", 0, r, 0);
	kit_wgsl_add(
		w,
		"\t}\n\tworkgroupBarrier();\n"
		"\tlet r = min(row + lane % ROWS, all_rows - 1u);\n"
		"\tlet norm = norm_of(squares);\n"
		"\ttemp[whole * LANES + lane] = judged(together(lane), norms_a[r].x, norm);\n"
		"\tif (lane < COLUMNS) {\n\t\tnorms_b[whole * COLUMNS + lane] = norm;\n\t}\n}\n");
}

static void sums(matmul_fast_plan *f, uint32_t laid, uint32_t rows, uint64_t groups)
{
	kit_wgsl w = kit_wgsl_make(f->p->use, 65536);

	if (f->s->format->dtype == PCTL_SCALAR_F16)
		kit_wgsl_add(&w, "enable f16;\n");
	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w,
		     MATMUL_BUFFER("a", "1", "read", "f64") MATMUL_BUFFER("b", "2", "read", "u32")
			     MATMUL_BUFFER("temp", "3", "read_write", "u32")
				     MATMUL_BUFFER("norms_a", "4", "read", "vec2<f64>")
					     MATMUL_BUFFER("norms_b", "5", "read_write", "f64"));
	add_numbers(&w, rows);
	matmul_number(&w, "ROW_PAIR", ROW_PAIR);
	matmul_number(&w, "AHEAD", WORDS_AHEAD);
	kit_wgsl_add(
		&w,
		(f->p->caps->proven & PCTL_PLAN_PROVEN_F64_FMA) != 0
			? "fn step(a: f64, b: f64, s: f64) -> f64 {\n\treturn fma(a, b, s);\n}\n"
			: "fn step(a: f64, b: f64, s: f64) -> f64 {\n\treturn s + a * b;\n}\n");
	kit_wgsl_add(&w, tensor_nearest(f->s->format));
	kit_wgsl_add(&w, KERNEL_WITHIN);
	kit_wgsl_add(&w, KERNEL_MATMUL_THIN_WORDS);
	add_main(&w, rows);
	matmul_run(f, "tensor/matmul_thin_words.wgsl", &w, LANES, groups, turns_of(f),
		   (kit_slot[]){KIT_ALL(f->params), KIT_ALL(laid), f->factors[1], KIT_ALL(f->temp),
				KIT_ALL(f->norms[0]), KIT_ALL(f->norms[1])},
		   6);
}

int matmul_thin_by_words(const matmul_fast_plan *f)
{
	const matmul_shape *s = f->s;
	const uint64_t n_rows = kit_elements(&s->out) / s->n;

	return f->p->use->q->in[1].dtype == PCTL_DTYPE_Q8_0 && s->k % PAIR == 0 &&
	       n_rows * row_bytes(f) <= ROWS_BYTES_MOST &&
	       matmul_turns_fit(f->p->caps, turns_of(f) + 3 * LANES + 64 + 16);
}

void matmul_add_thin_words(const matmul_fast_plan *f, kit_wgsl *w)
{
	add_numbers(w, rows_of(f));
	kit_wgsl_add(w, KERNEL_MATMUL_THIN_WORDS_LAYOUT);
}

int matmul_thin_words(matmul_fast_plan *f)
{
	const matmul_shape *s = f->s;
	const uint64_t n_rows = kit_elements(&s->out) / s->n;
	const uint32_t rows = rows_of(f);
	const uint64_t groups = matmul_parts(n_rows, rows) * matmul_parts(s->n, LANES / rows);
	uint32_t laid;

	if (!matmul_thin_by_words(f) || groups * LANES >= 0x80000000u)
		return 0;
	laid = kit_temp(f->p, n_rows * row_bytes(f));
	f->temp = kit_temp(f->p, groups * LANES * 4);
	f->norms[0] = kit_temp(f->p, n_rows * 16);
	f->norms[1] = kit_temp(f->p, groups * (LANES / rows) * 8);
	lay_rows(f, laid, n_rows);
	sums(f, laid, rows, groups);
	return 1;
}
