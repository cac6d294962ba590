/* What the ops of this library that stand apart from attention have in common. */
#ifndef PIPECTL_OPS_TRANSFORMER_SHARED_H
#define PIPECTL_OPS_TRANSFORMER_SHARED_H

#include "common/tensors/elements.h"
#include "common/tensors/exact_reference.h"
#include "common/tensors/real_reference.h"
#include "transformer.h"

/* Types that are a factor of an exact product (SEMANTICS.md 13.9), and what x may be beside them. */
#define TRANSFORMER_FACTORS                                                                      \
	"f32|f16|bf16|f8e4m3|f8e5m2|f4|i16|u16|i8|u8|i4|u4|i2|u2|ternary|binary|q4_0|q4_1|q5_0|" \
	"q5_1|q8_0|q2_k|q3_k|q4_k|q5_k|q6_k"
#define TRANSFORMER_FLOATS "f32|f16|bf16"

/* The finite f32 nearest to what attribute `attr` says, or its refusal (embed.c). */
pctl_status transformer_scale_of(const kit_use *u, uint32_t attr, float *out);
/* The product of all dimensions of t but the last `but`. */
uint64_t transformer_rows(const pctl_tensor_type *t, uint32_t but);
/* out cut along all dimensions of its first output but the last; of the inputs in `along` (bit i: number i) these dimensions go along. */
void transformer_cut_rows(const kit_use *u, pctl_op_result *out, uint32_t but, uint32_t along);

/* ---- references ---- */

/* f32 i of data: a NaN is the canonical one. */
void transformer_put(void *data, uint64_t i, float v);
float transformer_get(const void *data, uint64_t i);
/* The f32 that a sum of products is. The sum is used up. */
float transformer_rounded(tensor_sum *s);

/* ---- problems and laws ---- */

/* Any bits as a table of any type. */
void transformer_problem_table(kit_problem *p, uint32_t port, const pctl_tensor_type *t);
/* f32, f16 or bf16: numbers near 1, of which in one problem of eight some are what arithmetic goes wrong at. */
void transformer_problem_floats(kit_problem *p, uint32_t port, const pctl_tensor_type *t);
/* Tensor `of` (type t) with its rows, of `width` elements, in reverse order. */
uint32_t transformer_law_rows(kit_law *l, const pctl_tensor_type *t, uint32_t of, uint64_t width);

#endif
