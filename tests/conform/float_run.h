/* One float operation on many lanes of the reference, held against the oracle; for cpu_float*.c. */
#ifndef PIPECTL_TESTS_CONFORM_FLOAT_RUN_H
#define PIPECTL_TESTS_CONFORM_FLOAT_RUN_H

#include "float_oracle.h"
#include "harness.h"

/* Scalars of `scalar` in memory: 2 bytes for f16 and bf16. */
uint32_t float_get(const void *memory, uint8_t scalar, uint64_t i);
void float_put(void *memory, uint8_t scalar, uint64_t i, uint32_t bits);

/*
 * op        the operation
 * result    scalar of the result; bool comes back as u32
 * operand   scalar of the operands
 * width     1..4 components
 * constants bit k: operand k is a constant of the program, the same in all lanes
 * n_lanes   invocations
 */
typedef struct float_case {
	uint16_t op;
	uint8_t result, operand;
	uint32_t n_args, width, constants, n_lanes;
} float_case;

/* Element e of operand k is in[k][e], e = lane * width + component; constants take in[k][component].
 * out gets as many. */
void float_run(rig *r, const float_case *c, uint32_t *const in[3], uint32_t *out);

/* Run o in the format on its awkward and then random operands from `seed` on, n_lanes lanes; fails the
 * test at the first difference. */
void float_check(rig *r, const float_op *o, const float_format *f, uint32_t width,
		 uint32_t constants, uint32_t n_lanes, uint64_t seed);

#endif
