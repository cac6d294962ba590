/* What the files of tensor.quantize_blocks share (SEMANTICS.md 13.6, 13.13). */
#ifndef PIPECTL_OPS_TENSOR_BLOCKS_H
#define PIPECTL_OPS_TENSOR_BLOCKS_H

#include "convert.h"

#define BLOCKS_TYPES 10u

/* sub: elements of a part, which has integers of its own: a scale up to `scales`, a minimum up to `minima` (0: there are none; 1: of q4_1 and q5_1 the f16
 * itself). The integer of an element goes from -low to high. turns: a scale may be negative. */
typedef struct blocks_type {
	uint32_t dtype, block, bytes, sub, scales, minima, low, high, turns;
	const char *layout; /* the kernel's text: byte_of */
} blocks_type;

const blocks_type *blocks_type_at(uint32_t i);
/* The one that a use asks for. Errors: PC4202, PC4201 where rows of x are no whole blocks. */
pctl_status blocks_type_of(const kit_use *u, const blocks_type **out);

/* blocks_reference.c */
pctl_status blocks_reference(const kit_use *u, const pctl_span *in, pctl_span *out);
/* blocks_laws.c */
extern const pctl_op_problems blocks_problems;
void blocks_problem(kit_problem *p);
void blocks_law_rows(kit_law *l);
void blocks_law_negated(kit_law *l);
void blocks_law_doubled(kit_law *l);

#endif
