/* What instructions did, once it is known how often each of them ran (compiler/legalize/blocks.h): operations, accesses, bytes.
 * For people; gas is priced from what a program may do (profile.h). */
#ifndef PIPECTL_COMPILER_ANALYSIS_TALLY_H
#define PIPECTL_COMPILER_ANALYSIS_TALLY_H

#include "pipectl/program.h"

/*
 * What was done, all invocations together; sums saturate.
 *
 * runs      of the instruction that ran most often
 * integer, floats  operations, in units of profile.h: a component each, two where it has 64 bits; divisions and roots, and
 *           correctly rounded functions, stand in `slow`
 * loads, stores, atomics  accesses of storage, uniform and workgroup memory, those that miss among them; with the bytes of
 *           storage and uniform memory that they move, and those of workgroup memory. Variables of an invocation's own are
 *           no memory here
 */
typedef struct pctl_tally {
	uint64_t runs;
	uint64_t integer, floats, slow;
	uint64_t loads, stores, atomics, barriers;
	uint64_t read_bytes, write_bytes, shared_bytes;
} pctl_tally;

/* Of every instruction of p, which ran runs[i] times, into out[i]. */
void pctl_tally_program(const pctl_program *p, const uint64_t *runs, pctl_tally *out);
void pctl_tally_add(pctl_tally *to, const pctl_tally *from);
/* Of one variable of the module: bytes that were read of it and written to it. */
void pctl_tally_var(const pctl_program *p, const uint64_t *runs, uint32_t var, uint64_t *read_bytes,
		    uint64_t *write_bytes);

#endif
