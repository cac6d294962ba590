/* Exact sums for references; see exact_reference.c. */
#ifndef PIPECTL_OPS_TENSORS_EXACT_REFERENCE_H
#define PIPECTL_OPS_TENSORS_EXACT_REFERENCE_H

#include "common/tensors/format.h"

#define TENSOR_HALVES 42 /* digits of 16 bits, the first weighs 2^-300 */

typedef struct tensor_magnitude {
	uint16_t digit[TENSOR_HALVES];
} tensor_magnitude;

/* Zeroed memory is the sum of nothing. */
typedef struct tensor_sum {
	tensor_magnitude above, below;
	int nan, infinity, minus_infinity;
} tensor_sum;

/* Element i of any type but integers of 32 and more bits. */
double tensor_value(uint32_t dtype, const void *data, uint64_t i);
/* a * b more; a is exact in f32. */
void tensor_sum_product(tensor_sum *s, double a, double b);
/* The sum divided by `divisor` (NaN where that is 0) and rounded once: its bits. The sum is used up. */
uint32_t tensor_sum_round(tensor_sum *s, uint64_t divisor, const tensor_float_format *f);
/* The same of a sum in digits of 16 bits, the first weighing 2^-298, of which `rest` says whether something below them is lost. */
uint32_t tensor_sum_of_digits(tensor_sum *s, const uint32_t *digits, int rest, uint64_t divisor,
			      const tensor_float_format *f);
/* An f32 rounded to a format: its bits. */
uint32_t tensor_narrowed(float x, const tensor_float_format *f);

#endif
