/* Operands from a counter: the same integers made by the kernel under test (as WGSL) and by the host (as C), so that
 * none travels. Adversarial: subnormals, ties, the ends of the range, cancellation, squares, halves, NaN payloads. */
#ifndef TESTS_STRICT_CASES_H
#define TESTS_STRICT_CASES_H

#include "soft.h"

/* Three operands of a format: bits of numbers that are related to each other in some of the cases. */
void cases_numbers(soft f, uint32_t salt, uint32_t counter, uint32_t out[3]);
/* A 32-bit integer: few bits, long runs, ties of conversions, limits. */
uint32_t cases_integer(uint32_t salt, uint32_t counter);

/* The same as module-scope WGSL functions `numbers(salt, counter) -> vec3<u32>` and `integer(salt, counter) -> u32`;
 * released with free(). */
char *cases_wgsl(soft f);

#endif
