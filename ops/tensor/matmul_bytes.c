/* tensor.matmul of bytes on a processor whose products of four packed bytes are an instruction of its own (PCTL_PLAN_PROVEN_DOT4). The instruction of x86, vpdpbusd, adds the products of bytes
 * without a sign by bytes with one to a sum: the text has these as `dot4I8Packed(u ^ 0x80808080, s) - dot4I8Packed(0x80808080, s)`, which any device computes and plugins/opencl knows. */
#include <stdio.h>

#include "matmul_fast.h"

#include "kernels.h"

#define ROWS 40u /* of a workgroup, as matmul_bytes_tile.wgsl has it */
#define ROWS_TOGETHER 5u
#define COLUMNS 64u
#define VECTORS (COLUMNS / 16u)
#define TERMS_LEAST 16u
#define COLUMNS_LEAST 16u

typedef struct bytes_plan {
	matmul_fast_plan *f;
	uint64_t words, blocks, panels;
	uint32_t more; /* MORE times the sums of columns */
	int is_signed;
} bytes_plan;

static uint64_t packed_words(const bytes_plan *b, uint32_t i)
{
	return matmul_steps(b->words) * (i == 0 ? b->blocks * ROWS : b->panels * COLUMNS);
}

static int fits(const bytes_plan *b)
{
	const pctl_plan_caps *caps = b->f->p->caps;

	for (uint32_t i = 0; i < 2; i++)
		if (packed_words(b, i) >= 0x80000000u ||
		    packed_words(b, i) * 4 > caps->max_binding_bytes)
			return 0;
	return b->blocks * ROWS * matmul_steps(b->f->s->n) <= UINT32_MAX &&
	       matmul_has_grid(b->f, (const uint64_t[]){b->blocks, b->panels}) &&
	       matmul_turns_fit(caps, ROWS / ROWS_TOGETHER * (matmul_steps(b->words) + 8) + 64);
}

/* Do the terms of vectors of factor i lie one behind the other, in whole words? */
static int are_whole(const bytes_plan *b, uint32_t i)
{
	const matmul_shape *s = b->f->s;

	return (i == 0 ? s->a_column : s->b_row) == 1 && s->k % 4 == 0;
}

static void add_vectors(const bytes_plan *b, uint32_t i, kit_wgsl *w)
{
	kit_wgsl_add(w, i == 0 ? "fn vectors() -> u32 {\n\treturn params.m;\n}\n"
				 "fn vector_step() -> u32 {\n\treturn params.a_row;\n}\n"
				 "fn term_step() -> u32 {\n\treturn params.a_column;\n}\n"
			       : "fn vectors() -> u32 {\n\treturn params.n;\n}\n"
				 "fn vector_step() -> u32 {\n\treturn params.b_column;\n}\n"
				 "fn term_step() -> u32 {\n\treturn params.b_row;\n}\n");
	if (are_whole(b, i)) {
		kit_wgsl_add(w, KERNEL_MATMUL_BYTES_WHOLE);
		return;
	}
	kit_wgsl_named(w, kit_codec_word(b->f->p->use->q->in[i].dtype), "a");
	kit_wgsl_add(w, KERNEL_MATMUL_PACK_BYTES);
}

static void pack_a(const bytes_plan *b)
{
	matmul_fast_plan *f = b->f;
	kit_wgsl w = kit_wgsl_make(f->p->use, 16384);

	f->factors[0] = (kit_slot)KIT_ALL(kit_temp(f->p, packed_words(b, 0) * 4));
	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w, KERNEL_MATMUL_BYTES);
	kit_wgsl_add(&w, MATMUL_BUFFER("a", "1", "read", "u32")
				 MATMUL_BUFFER("packed", "2", "read_write", "u32"));
	add_vectors(b, 0, &w);
	kit_wgsl_add(&w, KERNEL_MATMUL_BYTES_A);
	matmul_run(f, "tensor/matmul_bytes_a.wgsl", &w, 16, b->blocks * (ROWS / 8), b->words,
		   (kit_slot[]){KIT_ALL(f->params), f->in[0], f->factors[0]}, 3);
}

/* Bytes of a word, added up as the factor whose words are b's has them. */
static const char *const sums_of[2] = {
	"const MORE: i32 = 128;\nfn bytes_of(word: u32) -> i32 {\n"
	"\treturn bitcast<i32>(dot4U8Packed(word, 0x01010101u));\n}\n",
	"const MORE: i32 = -128;\nfn bytes_of(word: u32) -> i32 {\n"
	"\treturn dot4I8Packed(word, 0x01010101u);\n}\n"};

static void pack_b(bytes_plan *b)
{
	matmul_fast_plan *f = b->f;
	kit_wgsl w = kit_wgsl_make(f->p->use, 16384);

	f->factors[1] = (kit_slot)KIT_ALL(kit_temp(f->p, packed_words(b, 1) * 4));
	b->more = kit_temp(f->p, b->panels * COLUMNS * 4);
	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w, KERNEL_MATMUL_BYTES);
	kit_wgsl_add(&w, MATMUL_BUFFER("a", "1", "read", "u32")
				 MATMUL_BUFFER("packed", "2", "read_write", "vec4<u32>")
					 MATMUL_BUFFER("more", "3", "read_write", "vec4<i32>"));
	kit_wgsl_add(&w, sums_of[b->is_signed]);
	if (f->s->b_column == 1 && f->s->n % 4 == 0) {
		kit_wgsl_add(&w, KERNEL_MATMUL_TURN);
		kit_wgsl_add(&w, KERNEL_MATMUL_BYTES_TURNED);
	} else {
		add_vectors(b, 1, &w);
		kit_wgsl_add(&w, KERNEL_MATMUL_BYTES_FOUR);
	}
	kit_wgsl_add(&w, KERNEL_MATMUL_BYTES_B);
	matmul_run(f, "tensor/matmul_bytes_b.wgsl", &w, 16, b->panels, b->words,
		   (kit_slot[]){KIT_ALL(f->params), f->in[1], f->factors[1], KIT_ALL(b->more)}, 4);
}

/* Of signed types a's words are the unsigned ones, else b's. */
static void add_products(const bytes_plan *b, kit_wgsl *w)
{
	kit_wgsl_add(w, "\t\tfor (var k = 0u; (k < n) & (k < steps); k++) {\n");
	for (uint32_t c = 0; c < VECTORS; c++)
		matmul_add(w, "\t\t\tlet b# = b[(panel + k * 64u + ~u) + lane];\n", c, 0, c * 16);
	for (uint32_t r = 0; r < ROWS_TOGETHER; r++) {
		matmul_add(w, "\t\t\tlet a@ = a[row@ + k];\n", 0, r, 0);
		for (uint32_t c = 0; c < VECTORS; c++)
			matmul_add(w,
				   b->is_signed
					   ? "\t\t\ts@_# += dot4I8Packed(a@ ^ 0x80808080u, b#) - "
					     "dot4I8Packed(0x80808080u, b#);\n"
					   : "\t\t\ts@_# += dot4I8Packed(b# ^ 0x80808080u, a@) - "
					     "dot4I8Packed(0x80808080u, a@);\n",
				   c, r, 0);
	}
	kit_wgsl_add(w, "\t\t}\n");
}

static void add_results(kit_wgsl *w)
{
	for (uint32_t r = 0; r < ROWS_TOGETHER; r++) {
		matmul_add(w, "\t\tif (row + @u < all_rows) {\n", 0, r, 0);
		matmul_add(w, "\t\t\tlet first = (row + @u) * params.n;\n", 0, r, 0);
		for (uint32_t c = 0; c < VECTORS; c++) {
			matmul_add(w, "\t\t\tlet x# = (column + ~u) + lane;\n", c, 0, c * 16);
			matmul_add(w, "\t\t\tif (x# < params.n) {\n", c, 0, 0);
			matmul_add(w, "\t\t\t\ty[first + x#] = bitcast<u32>(s@_#);\n\t\t\t}\n", c,
				   r, 0);
		}
		kit_wgsl_add(w, "\t\t}\n");
	}
}

static void tiles(const bytes_plan *b)
{
	matmul_fast_plan *f = b->f;
	const uint64_t groups[2] = {b->blocks, b->panels};
	kit_kernel kernel = {"tensor/matmul_bytes_tile.wgsl", NULL, 16, "steps",
			     matmul_steps(b->words)};
	kit_wgsl w = kit_wgsl_make(f->p->use, 32768);
	char most[48];

	/* By which rows of y are seen to lie apart. */
	snprintf(most, sizeof(most), "//# max params.n = %u\n", (uint32_t)matmul_steps(f->s->n));
	kit_wgsl_add(&w, most);
	kit_wgsl_add(&w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(&w, KERNEL_MATMUL_BYTES);
	kit_wgsl_add(&w,
		     MATMUL_BUFFER("a", "1", "read", "u32") MATMUL_BUFFER("b", "2", "read", "u32")
			     MATMUL_BUFFER("more", "3", "read", "i32")
				     MATMUL_BUFFER("y", "4", "read_write", "u32"));
	kit_wgsl_add(&w, KERNEL_MATMUL_BYTES_TILE);
	for (uint32_t r = 0; r < ROWS_TOGETHER; r++) {
		matmul_add(&w, "\t\tlet row@ = (row + @u) * steps;\n", 0, r, 0);
		for (uint32_t c = 0; c < VECTORS; c++)
			matmul_add(&w, "\t\tvar s@_# = c#;\n", c, r, 0);
	}
	add_products(b, &w);
	add_results(&w);
	kit_wgsl_add(&w, "\t}\n}\n");
	kernel.text = w.text;
	if (f->p->status == PCTL_OK)
		f->p->status = kit_wgsl_status(&w);
	if (f->p->status == PCTL_OK)
		kit_run_grid(f->p, &kernel, groups,
			     (kit_slot[]){KIT_ALL(f->params), f->factors[0], f->factors[1],
					  KIT_ALL(b->more), f->out},
			     5, (kit_through){0});
	kit_wgsl_free(&w);
}

int matmul_bytes(matmul_fast_plan *f)
{
	const pctl_plan_caps *caps = f->p->caps;
	const pctl_tensor_type *in = f->p->use->q->in;
	const matmul_shape *s = f->s;
	bytes_plan b = {.f = f, .is_signed = s->out.dtype == PCTL_SCALAR_I32};

	if (s->format != NULL || kit_dtype_bytes(in[0].dtype) != 1 ||
	    kit_dtype_bytes(in[1].dtype) != 1 || caps->device_kind != PCTL_DEVICE_CPU ||
	    !PCTL_HAS(caps, pctl_plan_caps, proven) || !(caps->proven & PCTL_PLAN_PROVEN_DOT4) ||
	    kit_tunable(f->p, PCTL_TUNABLE_MATMUL_TILES) != 0 || s->k < TERMS_LEAST ||
	    s->n < COLUMNS_LEAST || caps->max_invocations < 16 || !matmul_batches_share(s))
		return 0;
	b.words = matmul_parts(s->k, 4);
	b.blocks = matmul_parts(kit_elements(&s->out) / s->n, ROWS);
	b.panels = matmul_parts(s->n, COLUMNS);
	if (!fits(&b))
		return 0;
	/* Worth more than the pass over memory that a function of the host would save. */
	if (f->p->through != 0) {
		f->p->status = PCTL_E_UNSUPPORTED;
		return 1;
	}
	pack_a(&b);
	pack_b(&b);
	tiles(&b);
	return 1;
}
