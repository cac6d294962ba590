/* What tensor.variance and the norms are made of: exact sums of elements and of their squares, and references of them. */
#ifndef PIPECTL_OPS_TENSOR_MOMENTS_H
#define PIPECTL_OPS_TENSOR_MOMENTS_H

#include "common/tensors/exact_reference.h"
#include "exact_sums.h"

/* As variance.wgsl has it. */
typedef struct tensor_moments {
	uint32_t n, ddof, eps, count;
} tensor_moments;

/* The kernel's text up to where `main` begins; sums are rounded to `format`. */
void tensor_moments_text(kit_wgsl *w, const tensor_float_format *format);
/* Sums and sums of squares of x, as digits: two buffers; of the results alone that are marked (tensor_exact). */
void tensor_moments_sums(kit_plan *p, const tensor_axes *a, uint32_t marks, uint32_t *sums,
			 uint32_t *squares);
/* The exact variance of n numbers that are exact in f32, rounded once: for references. */
uint32_t tensor_variance(const double *x, uint64_t n, uint64_t ddof, const tensor_float_format *f);

#endif
