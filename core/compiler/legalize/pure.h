/* Which instructions may stand elsewhere, or once instead of twice, and what they may not be carried over. */
#ifndef PIPECTL_COMPILER_LEGALIZE_PURE_H
#define PIPECTL_COMPILER_LEGALIZE_PURE_H

#include "pipectl/program.h"

/*
 * is_written  by variable: some instruction of the program writes it. What nobody writes holds the same bytes as long as a
 *             dispatch runs: what is bound for writing overlaps nothing else that is bound
 * waits       by function: with all that it calls, it has an operation at which a workgroup's invocations meet
 */
typedef struct legal_purity {
	const pctl_program *p;
	uint8_t *is_written;
	uint8_t *waits;
} legal_purity;

/* 0: no memory. Either way to be closed. */
int legal_purity_open(legal_purity *x, const pctl_program *p);
void legal_purity_close(legal_purity *x);

enum {
	LEGAL_EFFECT,	/* stays where it is */
	LEGAL_CONSTANT, /* no instruction of a device */
	LEGAL_CHEAP,	/* a few instructions, whether they are needed or not */
	LEGAL_DEAR,	/* to be done only where it is needed: memory, division, strict floats */
	LEGAL_OF_LOCAL /* a load from a variable of the function: as long as nothing is stored there */
};
/* Native float operations stay: the IR does not say that they give the same bits twice. So does all that is neither a scalar nor
 * a vector. */
uint32_t legal_purity_of(const legal_purity *x, const pctl_function *fn, const pctl_inst *in);

/* 1: every invocation of the workgroup arrives at the instruction. */
int legal_is_barrier(uint16_t op);
int legal_waits(const legal_purity *x, const pctl_inst *in);

/* The END_LOOP of the LOOP that is instruction `loop` of the function. */
uint32_t legal_loop_end(const pctl_program *p, const pctl_function *fn, uint32_t loop);

#endif
