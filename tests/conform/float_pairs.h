/* Sum and product of two f16 or bf16 in integers, fast enough for all 2^32 pairs: a second oracle that
 * knows neither MPFR nor the processor's floats. */
#ifndef PIPECTL_TESTS_CONFORM_FLOAT_PAIRS_H
#define PIPECTL_TESTS_CONFORM_FLOAT_PAIRS_H

#include "float_oracle.h"

/* A number sign * m * 2^e, m below 2^11; m = 0 is zero. */
typedef struct float_parts {
	uint32_t negative, m;
	int32_t e;
	uint32_t class; /* 0 finite, 1 infinite, 2 NaN */
} float_parts;

float_parts float_take_apart(const float_format *f, uint32_t bits);
uint32_t float_sum(const float_format *f, const float_parts *a, const float_parts *b);
uint32_t float_product(const float_format *f, const float_parts *a, const float_parts *b);

#endif
