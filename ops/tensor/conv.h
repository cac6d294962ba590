/* What the files of convolutions share (SEMANTICS.md 16.7). */
#ifndef PIPECTL_OPS_TENSOR_CONV_H
#define PIPECTL_OPS_TENSOR_CONV_H

#include "window.h"

typedef struct convolution {
	window w;
	uint64_t groups, in, out;	   /* channels of x, and of y, in a group */
	const tensor_float_format *format; /* NULL: integers */
	pctl_tensor_type y;
} convolution;

/*
 * How an element is found by the kernel that adds up one an invocation.
 *
 * ALONE   by exact integer sums
 * MENDED  it is what `made` has, a buffer of y's type; where that is the canonical NaN, as ALONE
 * JUDGED  by an f64 sum that tells what it rounds to; where it does not, as ALONE
 */
enum { CONV_ALONE, CONV_MENDED, CONV_JUDGED };
void conv_run(kit_plan *p, const convolution *c, uint32_t way, uint32_t made);

/* conv_fast.c: the same bits by way of tensor.matmul, or of f64 sums; 0: not on this device, or not worth it, and nothing was done. */
int conv_fast(kit_plan *p, const convolution *c);

#endif
