/* What the files of tensor.einsum share. */
#ifndef PIPECTL_OPS_TENSOR_EINSUM_H
#define PIPECTL_OPS_TENSOR_EINSUM_H

#include "common/tensors/elements.h"
#include "matmul.h"

enum { EINSUM_ATTR_EQUATION, EINSUM_ATTR_OUT };
#define EINSUM_OPERANDS 3u
#define EINSUM_LETTERS 52u
#define EINSUM_AXES 16u /* letters of one equation */

/* A tensor and the letters of its axes. */
typedef struct einsum_operand {
	pctl_tensor_type type;
	char letters[PCTL_RANK_MAX + 1];
} einsum_operand;

/* An equation with the tensors that it is of. between: what the first two of three give, with their letters that the third or the
 * result has, in their order. extent: of each letter. */
typedef struct einsum {
	einsum_operand in[EINSUM_OPERANDS], between, out;
	uint64_t extent[EINSUM_LETTERS];
	uint32_t n_in;
} einsum;

/* One product of two: its letters by what becomes of them. Those of both and the result; of the result and a alone, b alone; summed over. */
typedef struct einsum_step {
	char batch[EINSUM_AXES + 1], m[EINSUM_AXES + 1], n[EINSUM_AXES + 1], k[EINSUM_AXES + 1];
} einsum_step;

/* 0 to EINSUM_LETTERS - 1. */
uint32_t einsum_letter(char c);
/* Everything about a use, or the refusal. */
pctl_status einsum_of(const kit_use *u, einsum *e);

/* einsum_reference.c */
pctl_status einsum_reference(const kit_use *u, const pctl_span *in, pctl_span *out);
/* einsum_laws.c */
extern const pctl_op_problems einsum_problems;
void einsum_problem(kit_problem *p);
void einsum_law_swapped(kit_law *l);
void einsum_law_turned(kit_law *l);

#endif
