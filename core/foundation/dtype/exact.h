/* Numbers as they are, not as some format has them: m * 2^e with m below 2^64, infinities, NaN. Whatever element types hold is
 * such a number, so a conversion is one reading and one rounding. Zero has a sign. */
#ifndef PIPECTL_FOUNDATION_DTYPE_EXACT_H
#define PIPECTL_FOUNDATION_DTYPE_EXACT_H

#include <stdint.h>

enum { PCTL_EXACT_FINITE, PCTL_EXACT_INFINITE, PCTL_EXACT_NAN };

/* magnitude * 2^exponent, negated; finite alone has them. */
typedef struct pctl_exact {
	uint32_t kind;
	uint32_t negative;
	uint64_t magnitude;
	int32_t exponent;
} pctl_exact;

pctl_exact pctl_exact_integer(int64_t v);

/* IEEE 754's rules for infinities, NaN and the signs of zeros; no rounding: the caller knows that the result has no more than
 * 64 bits. Otherwise they return NaN, in a build with assertions they stop. */
pctl_exact pctl_exact_mul(pctl_exact a, pctl_exact b);
pctl_exact pctl_exact_add(pctl_exact a, pctl_exact b);
pctl_exact pctl_exact_negate(pctl_exact a);

/* magnitude * 2^exponent as a multiple of 2^unit, to the nearest, ties to the even one; UINT64_MAX where it is that or more. */
uint64_t pctl_exact_round(uint64_t magnitude, int32_t exponent, int32_t unit);

/* The nearest double, for statistics and pictures. */
double pctl_exact_to_double(pctl_exact a);

#endif
