/* The turn budget (SEMANTICS.md): loops that nothing bounds are made to count. Unlike the rest of this folder it is no
 * device's business: what comes out is the program, and the reference runs it. */
#ifndef PIPECTL_COMPILER_LEGALIZE_TURNS_H
#define PIPECTL_COMPILER_LEGALIZE_TURNS_H

#include "compiler/analysis/analyse.h"

/*
 * A new program in which every loop that the analysis lists without a bound (PCTL_ANALYSE_UNBOUNDED) ends after `budget`
 * turns; a turn is an evaluation of a loop's test, the one that leaves it among them, as drivers count. One count of an
 * invocation holds all loops without barriers, another one those with barriers, which is the same in a whole workgroup. Whoever
 * arrives at a test with its count at the budget sets the flag (pctl_program_turn_flag) and leaves the loop.
 *
 * Errors: PCTL_E_NOMEM, and what a program may not be (a nesting over its limit).
 */
pctl_status pctl_legal_turns(const pctl_program *p, const pctl_analysis *a, uint32_t budget,
			     const pctl_call *call, pctl_program **out);

#endif
