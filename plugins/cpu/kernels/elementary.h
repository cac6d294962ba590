/* Elementary functions of strict floats over lanes, correctly rounded by MPFR. */
#ifndef PCTL_CPU_ELEMENTARY_H
#define PCTL_CPU_ELEMENTARY_H

#include <stdint.h>

/* d[i] = op(a[i], b[i]) for the lanes of [lo, hi) whose mask is not 0; the others keep what they
 * hold. op: PCTL_OP_FSIN .. PCTL_OP_FEXPM1; scalar: the format of operands and result. b is read by
 * FATAN2 and FPOW only. Any thread; the thread's MPFR state is as before afterwards. */
void pctl_cpu_elementary(uint32_t op, uint32_t scalar, const uint32_t *mask, uint32_t lo,
			 uint32_t hi, uint32_t *d, const uint32_t *a, const uint32_t *b);

/* A thread that may have called it ends: give back what MPFR keeps for the thread. */
void pctl_cpu_elementary_forget(void);

/* 0: this MPFR has one state for all threads, so that only one may run. */
int pctl_cpu_elementary_threads(void);

#endif
