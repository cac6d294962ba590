/* The correct rounding of every unary f32 function, computed on the host without any of pipectl's code: the double
 * function of the C library decides where its error bound leaves no doubt, MPFR decides the rest. */
#ifndef TESTS_EXHAUSTIVE_ORACLE_H
#define TESTS_EXHAUSTIVE_ORACLE_H

#include <stdint.h>

typedef struct oracle {
	const char *name;
	const char *wgsl; /* the result as u32 bits, of `x` */
	int which;
} oracle;

extern const oracle oracles[];
extern const unsigned n_oracles;

/* NULL: no such function. */
const oracle *oracle_find(const char *name);

/* The bits of the correctly rounded result; *undecided counts the inputs that MPFR had to decide. */
uint32_t oracle_eval(const oracle *o, uint32_t bits, uint64_t *undecided);
/* The same by MPFR alone, for checking the shortcut. */
uint32_t oracle_eval_mpfr(const oracle *o, uint32_t bits);

#endif
