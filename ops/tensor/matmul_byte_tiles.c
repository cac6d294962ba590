/* tensor.matmul of bytes by matrix units (PCTL_PLAN_PROVEN_I8_TILES, PCTL_PLAN_PROVEN_U8_TILES): tiles of 128 x 128 out of packed factors. The product of one matrix is written to where
 * it belongs, without edges; of many matrices tiles are gathered. Sums wrap as all sums of 32 bits do, so that no bit hangs on it. */
#include <stdio.h>

#include "matmul_fast.h"

#include "kernels.h"

#define SIDE 128u
#define RESULTS 16u /* of a subgroup */
#define WORDS 4u    /* vectors of a block that an invocation fetches */

static const matmul_cut bytes = {MATMUL_TILES_BYTES,
				 KERNEL_MATMUL_BYTES_SLOTS,
				 NULL,
				 NULL,
				 NULL,
				 "",
				 NULL,
				 128,
				 256,
				 45056,
				 SIDE,
				 SIDE,
				 64,
				 1};

static int is_signed(const matmul_fast_plan *f)
{
	return f->s->out.dtype == PCTL_SCALAR_I32;
}

const matmul_cut *matmul_byte_cut(const matmul_fast_plan *f)
{
	const pctl_plan_caps *caps = f->p->caps;

	return matmul_of_bytes(f) && PCTL_HAS(caps, pctl_plan_caps, proven) &&
			       (caps->proven & (is_signed(f) ? PCTL_PLAN_PROVEN_I8_TILES
							     : PCTL_PLAN_PROVEN_U8_TILES)) &&
			       matmul_cut_fits(f, &bytes)
		       ? &bytes
		       : NULL;
}

int matmul_byte_joined(const matmul_fast_plan *f, matmul_shape *out)
{
	const matmul_shape *s = f->s;
	const uint64_t rows = kit_elements(&s->out) / s->n;

	if (matmul_byte_cut(f) == NULL || rows == s->m || s->a_column != 1 ||
	    !matmul_batches_share(s))
		return 0;
	*out = *s;
	out->m = rows;
	for (uint32_t d = 0; d < MATMUL_BATCH_MAX; d++) {
		out->batch[d].n = 1;
		out->batch[d].a = out->batch[d].b = 0;
	}
	return 1;
}

#define TYPES(byte, word)                                                                       \
	"alias L = subgroup_matrix_left<" byte ", 32, 16>;\n"                                   \
	"alias R = subgroup_matrix_right<" byte ", 16, 32>;\n"                                  \
	"alias S = subgroup_matrix_result<" word ", 16, 16>;\n"                                 \
	"alias T = " word ";\nalias W = vec4<" word ">;\n" MATMUL_BUFFER("a", "1", "read", "W") \
		MATMUL_BUFFER("b", "2", "read", "W")

static void add_head(const matmul_fast_plan *f, kit_wgsl *w)
{
	kit_wgsl_add(w, "//# subgroup = 32\nenable chromium_experimental_subgroup_matrix;\n");
	kit_wgsl_add(w, KERNEL_MATMUL_PLACE);
	kit_wgsl_add(w, is_signed(f) ? TYPES("i8", "i32") : TYPES("u8", "u32"));
	matmul_add_panels(f, w);
	kit_wgsl_add(w, KERNEL_MATMUL_TILE_BYTES);
}

/* Two blocks a turn. */
static void add_main(kit_wgsl *w)
{
	static const char *const puts[2] = {KERNEL_MATMUL_TILE_BYTES_PUT0,
					    KERNEL_MATMUL_TILE_BYTES_PUT1};

	kit_wgsl_add(w, KERNEL_MATMUL_TILE_BYTES_MAIN);
	matmul_add_each(w, KERNEL_MATMUL_TILE_BYTES_WORD, 0, WORDS);
	matmul_add_each(w, KERNEL_MATMUL_TILE_BYTES_SUM, 0, RESULTS);
	matmul_add_each(w, puts[0], 0, WORDS);
	kit_wgsl_add(w, KERNEL_MATMUL_TILE_BYTES_TURN);
	for (uint32_t i = 0; i < 2; i++) {
		kit_wgsl_add(w, KERNEL_MATMUL_TILE_BYTES_NEXT);
		matmul_add_each(w, KERNEL_MATMUL_TILE_BYTES_FETCH, 0, WORDS);
		kit_wgsl_named(w, KERNEL_MATMUL_TILE_BYTES_MULTIPLY, i == 0 ? "0" : "1");
		matmul_add_each(w, puts[1 - i], 0, WORDS);
		kit_wgsl_add(w, "\tworkgroupBarrier();\n");
		if (i == 0)
			kit_wgsl_add(w, KERNEL_MATMUL_TILE_BYTES_HALF);
	}
	kit_wgsl_add(w, "\t}\n");
	matmul_add_each(w, KERNEL_MATMUL_TILE_BYTES_END, 0, RESULTS);
	kit_wgsl_add(w, "}\n");
}

int matmul_byte_rows(matmul_fast_plan *f)
{
	const matmul_shape *s = f->s;
	const uint64_t groups[2] = {matmul_parts(s->n, SIDE), matmul_parts(s->m, SIDE)};
	const uint64_t most_n = matmul_steps(s->n);
	char most[48];
	kit_wgsl w;

	if (kit_elements(&s->out) != s->m * s->n || groups[1] * SIDE * most_n > UINT32_MAX ||
	    !matmul_has_grid(f, groups))
		return 0;
	w = kit_wgsl_make(f->p->use, 32768);
	/* By which rows of y are seen to lie apart. */
	snprintf(most, sizeof(most), "//# max params.n = %u\n", (uint32_t)most_n);
	kit_wgsl_add(&w, most);
	add_head(f, &w);
	kit_wgsl_add(&w, MATMUL_BUFFER("y", "3", "read_write", "u32"));
	kit_wgsl_named(&w, KERNEL_MATMUL_BYTES_ROWS,
		       matmul_writes(f->p) ? "write_through_0(e, word)" : "word");
	add_main(&w);
	f->writes = 1;
	matmul_run_grid(f, "tensor/matmul_tile_bytes.wgsl", &w, bytes.local, groups,
			matmul_parts(s->k, bytes.block),
			(kit_slot[]){KIT_ALL(f->params), f->factors[0], f->factors[1], f->out}, 4);
	return 1;
}

void matmul_byte_tiles(matmul_fast_plan *f)
{
	kit_wgsl w = kit_wgsl_make(f->p->use, 32768);

	add_head(f, &w);
	kit_wgsl_add(&w, MATMUL_BUFFER("temp", "3", "read_write", "u32"));
	matmul_add_layout(f, &w);
	kit_wgsl_add(&w, KERNEL_MATMUL_BYTES_APART);
	add_main(&w);
	matmul_run(f, "tensor/matmul_tile_bytes.wgsl", &w, bytes.local, f->tiles,
		   matmul_parts(f->s->k, bytes.block),
		   (kit_slot[]){KIT_ALL(f->params), f->factors[0], f->factors[1], KIT_ALL(f->temp)},
		   4);
}
