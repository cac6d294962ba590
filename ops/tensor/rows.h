/* Rows of floats that lie side by side, by one kernel that reads and writes each element once: lanes of a workgroup share a row, which stays in
 * workgroup memory where it fits; sums are in f64 (SEMANTICS.md 4.4), and what they leave in doubt is settled in the same kernel. */
#ifndef PIPECTL_OPS_TENSOR_ROWS_H
#define PIPECTL_OPS_TENSOR_ROWS_H

#include "exact_sums.h"

/* count rows of n elements. lanes: of a row; rows: of a workgroup; steps: quads of a lane; depth: the most additions on the way of a term. */
typedef struct tensor_rows {
	uint64_t count, n;
	uint32_t lanes, rows, steps, depth;
	int keep;
} tensor_rows;

/* 1: an element of x is read once, so that it may be read through a function. */
int tensor_rows_read_once(const kit_plan *p, const tensor_rows *r);
/* 0: not on this device, or not worth it. lane_bytes: of workgroup memory that trees take for a lane; on_processors: lanes of a workgroup there, 16 or 64,
 * where nothing else is tuned: with 16, which are one vector, barriers are nothing, but few rows meet. */
int tensor_rows_cut(const kit_plan *p, uint64_t count, uint64_t n, uint32_t lane_bytes,
		    uint32_t on_processors, tensor_rows *out);
/* A text's beginning: constants, parameters, x and y, `load4`, `load1` and `pack4`. */
void tensor_rows_place(kit_plan *p, const tensor_rows *r, kit_wgsl *w);
/* That, and what is behind it, up to `kept_bits`; `more` stands in front of it: ABSENT and `look`. */
void tensor_rows_text(kit_plan *p, const tensor_rows *r, const char *more, kit_wgsl *w);
/* exact_sum.wgsl and rows_settle.wgsl, whose sums are rounded to f32. scale: as of tensor_exact. */
void tensor_rows_settle(kit_wgsl *w, const char *scale);
/* From input 0 to output 0; slots: bindings 3 and on. The text is used up. */
void tensor_rows_run(kit_plan *p, const char *name, const tensor_rows *r, kit_wgsl *w,
		     const kit_slot *slots, uint32_t n_slots);

#endif
