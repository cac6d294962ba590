/* Which f32 values can never be subnormal, by a look at where they come from; so that a device which is
 * exact but for subnormals may do without guards. Flow-insensitive, over the whole program; it changes
 * nothing. */
#ifndef PIPECTL_COMPILER_LEGALIZE_GRANULE_H
#define PIPECTL_COMPILER_LEGALIZE_GRANULE_H

#include "pipectl/program.h"

/*
 * What is known of an f32 value v (of every component of a vector), unless it is 0, infinite or a NaN:
 *
 * grain  v is a multiple of 2^grain, so |v| >= 2^grain
 * top    |v| < 2^top
 *
 * Sums of multiples are multiples, and rounding keeps a multiple of 2^grain one (f32 has no finer grid than
 * it needs). An f32 of which nothing is known has grain -149 and top 128; what is always 0, infinite or a
 * NaN has grain LEGAL_GRAIN_MOST and top -LEGAL_GRAIN_MOST.
 */
typedef struct legal_granule {
	int16_t grain, top;
} legal_granule;
#define LEGAL_GRAIN_LEAST (-149)
#define LEGAL_GRAIN_NORMAL (-126)
#define LEGAL_GRAIN_MOST 512
#define LEGAL_TOP_MOST 128

/*
 * Those of a whole program. Parameters are what all calls give, results what all returns give, variables of
 * the invocation and the workgroup what all stores put there, and the zero they start as.
 *
 * values   by instruction of the program; those of other types are meaningless
 * granted  set by the caller: by instruction, the least grain it has by other reasons; NULL: none
 */
typedef struct legal_granules {
	legal_granule *values;
	legal_granule *locals, *vars, *returns; /* by local, variable, function */
	const int16_t *granted;
} legal_granules;

/* Of a verified strict program. 1, or 0: no memory. Either way the caller drops it. */
int legal_granules_find(const pctl_program *p, legal_granules *out);
void legal_granules_drop(legal_granules *x);

/* 1: neither an f32 operand of this strict operation of fn nor its exact result is ever subnormal. */
int legal_is_tame(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
		  const legal_granules *x);

#endif
