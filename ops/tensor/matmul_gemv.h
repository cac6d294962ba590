/* The text of products of few rows on a GPU (matmul_gemv.c): how a product is cut, and the parts of its kernel that a cut writes. */
#ifndef PIPECTL_OPS_TENSOR_MATMUL_GEMV_H
#define PIPECTL_OPS_TENSOR_MATMUL_GEMV_H

#include "matmul_fast.h"

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
typedef struct matmul_gemv_cut {
	uint32_t lanes, split, terms, turns, rows, per, pairs, a, b, ragged, sums, scaled, far;
	const kit_block_format *block;
} matmul_gemv_cut;

/* Elements that lie in 16 bytes, of types whose bits are those of an f32 or half of them; else 0. */
uint32_t matmul_gemv_in_quad(uint32_t dtype);
/* Sums that the first lanes of a join make, of so many parts each; the next are as many. */
uint32_t matmul_gemv_few(const matmul_gemv_cut *g);
/* How elements of a or b are found, of a type whose elements are read 16 bytes at once. */
void matmul_gemv_add_quads(kit_wgsl *w, uint32_t dtype, const char *name);
/* The kernel's head and its loop over the terms. */
void matmul_gemv_add_loop(kit_wgsl *w, const matmul_gemv_cut *g);
/* What matmul_gemv.wgsl calls of a lane's parts. */
void matmul_gemv_add_join(kit_wgsl *w, const matmul_gemv_cut *g);
/* Behind the loop: sums are joined and judged, and settled where they are in doubt. */
void matmul_gemv_add_joined(kit_wgsl *w, const matmul_gemv_cut *g);
/* The kernel's end: rows of results, two columns a word where they are halves. */
void matmul_gemv_add_writes(kit_wgsl *w, const matmul_gemv_cut *g, int is_half, int is_through);

#endif
