/* What the products of few rows share, on processors (matmul_thin.c) and on GPUs (matmul_gemv.c): the texts of a lane's sums. */
#include <stdio.h>

#include "matmul_fast.h"

void matmul_add_row_sum(kit_wgsl *w, const kit_block_format *block, uint32_t terms, uint32_t r)
{
	if (block == NULL || block->kind == KIT_BLOCK_SCALED)
		return;
	matmul_add(w, "\t\tlet u@ = x@_0", 0, r, 0);
	for (uint32_t j = 1; j < terms; j++)
		matmul_add(w, " + x@_~", 0, r, j);
	kit_wgsl_add(w, ";\n");
}

/* A text in which %s stands for one word. */
static void add_with(kit_wgsl *w, const char *format, const char *word, uint32_t c)
{
	char text[300];

	snprintf(text, sizeof(text), format, word);
	matmul_add(w, text, c, 0, 0);
}

void matmul_add_scales(kit_wgsl *w, const kit_block_format *block, uint32_t c, const char *e,
		       const char *most)
{
	add_with(w, "\t\tlet d# = f64(unpack2x16float(b_half(at# + b_D)).x * f32(b_s(at#, %s)));\n",
		 e, c);
	if (block->kind != KIT_BLOCK_SCALED) {
		matmul_add(w, block->kind == KIT_BLOCK_ADDED ? "\t\tlet l# = " : "\t\tlet l# = -",
			   c, 0, 0);
		add_with(w, "f64(unpack2x16float(b_half(at# + b_E)).x * f32(b_m(at#, %s)));\n", e,
			 c);
	}
	add_with(w, "\t\tlet %s = abs(d#) * MOST", most, c);
	matmul_add(w, block->kind == KIT_BLOCK_SCALED ? ";\n" : " + abs(l#);\n", c, 0, 0);
}

void matmul_add_norm(kit_wgsl *w, const kit_block_format *block, uint32_t terms, uint32_t c,
		     const char *e, const char *most)
{
	if (block == NULL) {
		for (uint32_t j = 0; j < terms; j++)
			matmul_add(w, "\t\tn# = step(w#_~, w#_~, n#);\n", c, 0, j);
		return;
	}
	matmul_add_scales(w, block, c, e, most);
	add_with(w, "\t\tn# = step(%s * f64(TERMS), ", most, c);
	add_with(w, "%s, n#);\n", most, c);
}

void matmul_add_sums(kit_wgsl *w, const kit_block_format *block, uint32_t terms, uint32_t c,
		     uint32_t r)
{
	if (block == NULL) {
		for (uint32_t j = 0; j < terms; j++)
			matmul_add(w, "\t\ts#_@ = step(x@_~, w#_~, s#_@);\n", c, r, j);
		return;
	}
	for (uint32_t j = 0; j < terms; j++)
		matmul_add(w, j == 0 ? "\t\ts#_@ = step(d#, " : "step(x@_~, w#_~, ", c, r,
			   terms - j);
	matmul_add(w, "x@_0 * w#_0", c, r, 0);
	for (uint32_t j = 1; j < terms; j++)
		kit_wgsl_add(w, ")");
	matmul_add(w, ", s#_@);\n", c, r, 0);
	if (block->kind != KIT_BLOCK_SCALED)
		matmul_add(w, "\t\ts#_@ = step(l#, u@, s#_@);\n", c, r, 0);
}
