/* Floats that sums are rounded to, how a kernel says so, and how large tensors may be: what every library of ops over whole arrays
 * has in common. */
#ifndef PIPECTL_OPS_TENSORS_FORMAT_H
#define PIPECTL_OPS_TENSORS_FORMAT_H

#include "common/codec.h"

/* The most elements an op takes: element numbers and the padding of a dispatch stay below 2^32. */
#define TENSOR_ELEMENTS_MAX (1ull << 31)
/* The most terms of an exact sum (kernels/exact_sum.wgsl). */
#define TENSOR_TERMS_MAX (1ull << 29)

/* A float that a sum is rounded to. least: which bit of a sum that counts units of 2^-298 its smallest subnormal is. */
typedef struct tensor_float_format {
	uint32_t dtype, precision, least, infinity, nan, sign;
	const char *text; /* the same for exact_sum.wgsl */
} tensor_float_format;

/* NULL: none of f32, f16, bf16. */
const tensor_float_format *tensor_float_format_of(uint32_t dtype);
const tensor_float_format *tensor_float_format_named(const char *name);

/* WGSL: fn nearest(x: f64) -> u32, the bits of x rounded to a format; f16 wants to be enabled. */
const char *tensor_nearest(const tensor_float_format *format);
/* WGSL: `within` (within.wgsl) for results of that format. */
void tensor_judge_text(kit_wgsl *w, const tensor_float_format *format);
/* The device has f64 of its own, and the plan is not the one that gas is priced by. */
int tensor_has_f64(const kit_plan *p);

#endif
