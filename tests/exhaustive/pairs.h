/* pow and atan2 of f32: operands from a counter, made by the kernel (as WGSL) and by the host (as C) alike, and the
 * correct rounding, computed without any of pipectl's code: the C library's double function decides where its error
 * bound leaves no doubt, MPFR the rest. */
#ifndef TESTS_EXHAUSTIVE_PAIRS_H
#define TESTS_EXHAUSTIVE_PAIRS_H

#include <stdint.h>

typedef struct pair_function {
	const char *name;
	const char *wgsl; /* vec2<u32> of a counter: the operands' bits */
	void (*operands)(uint32_t counter, uint32_t out[2]);
} pair_function;

extern const pair_function pair_functions[];
extern const unsigned n_pair_functions;

/* What both generators begin with. */
extern const char pair_wgsl[];

uint32_t pair_eval(const pair_function *f, uint32_t a, uint32_t b, uint64_t *undecided);

#endif
