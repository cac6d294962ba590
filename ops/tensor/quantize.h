/* What the files of tensor.quantize, tensor.dequantize and tensor.quantize_scale share (SEMANTICS.md 13.10 to 13.12). */
#ifndef PIPECTL_OPS_TENSOR_QUANTIZE_H
#define PIPECTL_OPS_TENSOR_QUANTIZE_H

#include "convert.h"

enum { QUANTIZE_X, QUANTIZE_SCALE, QUANTIZE_ZERO }; /* ports */
enum { QUANTIZE_TO, QUANTIZE_SATURATE };	    /* attributes of quantize */
enum { QUANTIZE_SCALE_TO, QUANTIZE_SCALE_SCALES };  /* of quantize_scale */

/* A type that scaled numbers are made: the range of integers; of all, the largest magnitude as an odd number times a power of two. */
typedef struct quantize_type {
	uint32_t dtype;
	int low, high; /* 0 and 0: no integer with a zero point */
	uint32_t odd, power;
} quantize_type;

/* NULL: no such type. Number i of them, NULL behind the last. */
const quantize_type *quantize_type_of(uint32_t dtype);
const quantize_type *quantize_type_at(uint32_t i);
/* The one that attribute number `attr` names. Errors: PC4202. */
pctl_status quantize_to(const kit_use *u, uint32_t attr, const quantize_type **out);
/* PC4201 unless the extents of scales divide those of x, and both have as many dimensions. */
pctl_status quantize_fits(const kit_use *u, const pctl_tensor_type *x,
			  const pctl_tensor_type *scale, uint32_t port);
/* 1: zero points are given. */
int quantize_has_zeros(const kit_use *u);
/* The extents that quantize_scale's attribute says; none: one scale of all. Errors: PC4202, PC4201. */
pctl_status quantize_scales(const kit_use *u, pctl_tensor_type *out);

/* quantize_reference.c */
pctl_status quantize_reference(const kit_use *u, const pctl_span *in, pctl_span *out);
pctl_status dequantize_reference(const kit_use *u, const pctl_span *in, pctl_span *out);
pctl_status quantize_scale_reference(const kit_use *u, const pctl_span *in, pctl_span *out);
/* quantize_laws.c */
extern const pctl_op_problems quantize_problems, dequantize_problems, quantize_scale_problems;
void quantize_problem(kit_problem *p);
void dequantize_problem(kit_problem *p);
void quantize_scale_problem(kit_problem *p);
void quantize_law_fixed(kit_law *l);
void quantize_law_monotone(kit_law *l);
void quantize_law_half_a_step(kit_law *l);
void quantize_law_reversed(kit_law *l);
void dequantize_law_ones(kit_law *l);
void dequantize_law_doubled(kit_law *l);
void quantize_scale_law_least(kit_law *l);
void quantize_scale_law_negated(kit_law *l);

#endif
