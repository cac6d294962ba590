/* Sums of products in f64 by tiles of workgroups (kernels/tile_f64.wgsl; by matrix units tile_units.wgsl, the same bits): the pieces of a kernel's text. What goes into tiles, and what sums say of a
 * result, is the op's. */
#ifndef PIPECTL_OPS_TENSORS_TILE_H
#define PIPECTL_OPS_TENSORS_TILE_H

#include "common/codec.h"

#define TENSOR_TILE_LOCAL 256u /* invocations of a workgroup */
#define TENSOR_TILE_SIDE 64u   /* columns */
#define TENSOR_TILE_TERMS 8u   /* that go through workgroup memory together, at least */

/* rows: a multiple of 16, to 64; units: sums are of matrix units. */
typedef struct tensor_tile {
	uint32_t rows;
	int units;
} tensor_tile;

/* 0: not on this device; `bytes` of workgroup memory are the op's own. */
int tensor_tile_fits(const kit_plan *p, uint32_t rows, uint32_t bytes);
/* By matrix units where they are proven, and fit too. */
tensor_tile tensor_tile_of(const kit_plan *p, uint32_t rows, uint32_t bytes);

/* In front of all other text. */
void tensor_tile_begin(const tensor_tile *t, kit_wgsl *w);
/* Workgroup memory, put_left, put_right and staged, and where `norms` is not 0 what joins norms. */
void tensor_tile_head(const kit_plan *p, const tensor_tile *t, kit_wgsl *w, int norms);
/* In the entry point: sums of nothing; the products of a block of terms; the stages, in a loop over `stage`. */
void tensor_tile_sums(const tensor_tile *t, kit_wgsl *w);
void tensor_tile_multiply(const tensor_tile *t, kit_wgsl *w);
void tensor_tile_stages(const tensor_tile *t, kit_wgsl *w);

#endif
