/* What float.c and float_text.c share: the formats, and the way between bits and MPFR's numbers. */
#ifndef PIPECTL_COMPILER_EVAL_FLOAT_MPFR_H
#define PIPECTL_COMPILER_EVAL_FLOAT_MPFR_H

#include <stdint.h>

#define MPFR_USE_INTMAX_T
#include <mpfr.h>

#include "compiler/eval/float.h"

/* A binary format. Exponents as MPFR counts them: a number is 0.1xxx * 2^e. */
typedef struct pctl_float_format {
	uint32_t bits;	   /* of the whole */
	uint32_t fraction; /* stored bits of the significand; one more is implied */
	mpfr_exp_t emin;   /* of the least subnormal */
	mpfr_exp_t emax;   /* of the largest number */
} pctl_float_format;

/* NULL for a scalar that is no float. */
const pctl_float_format *pctl_float_format_of(uint8_t scalar);

/* Around every use of MPFR: wide exponents, whatever the thread had set, which leave puts back; leave
 * also gives MPFR's caches up, so that no thread ends holding any. */
typedef struct pctl_float_range {
	mpfr_exp_t emin, emax;
} pctl_float_range;
pctl_float_range pctl_float_enter(void);
void pctl_float_leave(pctl_float_range range);

/* A number of the format's precision; the caller clears it. */
void pctl_float_init(const pctl_float_format *f, mpfr_ptr x);

/* x, of the format's precision or more, becomes the value of the bits. */
void pctl_float_load(const pctl_float_format *f, uint64_t bits, mpfr_ptr x);

/* The bits of x, which came out of an operation rounded to nearest at the format's precision but not
 * yet for its exponents. *ternary is how x stands to the exact result, before and after. */
uint64_t pctl_float_store(const pctl_float_format *f, mpfr_ptr x, int *ternary);

#endif
