/* IEEE 754 binary arithmetic in integers, for any format of up to 24 significant bits: every operation is exact in
 * 128 bits and rounded once, to nearest even. The oracle of this folder; it shares no code with what it judges, and
 * uses no floating point. NaN results of arithmetic are the canonical quiet NaN. */
#ifndef TESTS_STRICT_SOFT_H
#define TESTS_STRICT_SOFT_H

#include <stdint.h>

typedef struct soft_format {
	int exponent, mantissa; /* bits stored */
} soft_format;

extern const soft_format soft_f32, soft_f16, soft_bf16;

typedef const soft_format *soft;

uint32_t soft_nan(soft f);
uint32_t soft_add(soft f, uint32_t a, uint32_t b);
uint32_t soft_sub(soft f, uint32_t a, uint32_t b);
uint32_t soft_mul(soft f, uint32_t a, uint32_t b);
uint32_t soft_div(soft f, uint32_t a, uint32_t b);
uint32_t soft_fma(soft f, uint32_t a, uint32_t b, uint32_t c);
uint32_t soft_sqrt(soft f, uint32_t a);
/* minimumNumber, maximumNumber: -0 below +0, a number beats a NaN. */
uint32_t soft_min(soft f, uint32_t a, uint32_t b);
uint32_t soft_max(soft f, uint32_t a, uint32_t b);
uint32_t soft_negate(soft f, uint32_t a);
uint32_t soft_abs(soft f, uint32_t a);
/* Bits 0 to 5: == != < <= > >=. */
uint32_t soft_compare(soft f, uint32_t a, uint32_t b);
enum { SOFT_FLOOR, SOFT_CEIL, SOFT_TRUNC, SOFT_ROUND };
uint32_t soft_integral(soft f, uint32_t a, int how);
/* Toward zero, saturating, NaN to 0. */
uint32_t soft_to_i32(soft f, uint32_t a);
uint32_t soft_to_u32(soft f, uint32_t a);
uint32_t soft_from_i32(soft f, uint32_t a);
uint32_t soft_from_u32(soft f, uint32_t a);
uint32_t soft_convert(soft from, soft to, uint32_t a);

#endif
