/* Which f32 values can never be subnormal, infinite or a NaN, by a look at where they come from; so that a device
 * which is exact but for subnormals may do without guards. Flow-insensitive, over the whole program; it changes
 * nothing. */
#ifndef PIPECTL_COMPILER_LEGALIZE_EXPONENT_RANGE_H
#define PIPECTL_COMPILER_LEGALIZE_EXPONENT_RANGE_H

#include "pipectl/program.h"

/*
 * What is known of an f32 value v (of every component of a vector), unless it is 0, infinite or a NaN:
 *
 * lsb    v is a multiple of 2^lsb
 * low    |v| >= 2^low, which is no less than lsb
 * top    |v| < 2^top
 *
 * and, without that "unless":
 *
 * is_finite  v is never infinite, nor a NaN
 *
 * Sums of multiples are multiples, and rounding keeps a multiple of 2^lsb one (f32 has no finer grid than
 * it needs), so a difference that cancels is small but exact, and no smaller than its operands' lsb. Products do not
 * cancel: of theirs low is known, and being rounded to 24 places makes them multiples of 2^(low - 23). An f32 of
 * which nothing is known has lsb and low -149 and top 128; what is always 0, infinite or a NaN has LEGAL_LSB_MOST
 * and top -LEGAL_LSB_MOST.
 */
typedef struct legal_exponent_range {
	int16_t lsb, low, top;
	uint8_t is_finite;
} legal_exponent_range;
#define LEGAL_LSB_LEAST (-149)
#define LEGAL_LSB_NORMAL (-126)
#define LEGAL_LSB_MOST 512
#define LEGAL_TOP_MOST 128

/*
 * Those of a whole program. Parameters are what all calls give, results what all returns give, variables of
 * the invocation and the workgroup what all stores put there, and the zero they start as.
 *
 * values   by instruction of the program; those of other types are meaningless
 * assumed  set by the caller: by instruction, the least lsb it has by other reasons; NULL: none
 * contracts  set by the caller: by variable, 1 where every element is zero or within PCTL_CONTRACT_* (contract.h); NULL:
 *          none
 */
typedef struct legal_exponent_ranges {
	legal_exponent_range *values;
	legal_exponent_range *locals, *vars, *returns; /* by local, variable, function */
	const int16_t *assumed;
	const uint8_t *contracts;
} legal_exponent_ranges;

/* Of a verified strict program. 1, or 0: no memory. Either way the caller drops it. */
int legal_exponent_ranges_find(const pctl_program *p, legal_exponent_ranges *out);
void legal_exponent_ranges_drop(legal_exponent_ranges *x);

/* 1: no f32 operand of this operation of fn, nor its result, is ever infinite or a NaN. */
int legal_is_finite(const pctl_program *p, const pctl_function *fn, uint32_t inst,
		    const legal_exponent_ranges *x);
/* 1: neither an f32 operand of this strict operation of fn nor its exact result is ever subnormal. */
int legal_is_subnormal_free(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
			    const legal_exponent_ranges *x);

#endif
