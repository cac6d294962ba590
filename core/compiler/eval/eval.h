/* Exactly one evaluation of the IR's scalar operations on the host: for overrides, and for the front
 * end's constant expressions of sized types. Strict floats are float.h's; native ones have no value
 * here. Independent of the `cpu` backend, whose tests judge it. */
#ifndef PIPECTL_COMPILER_EVAL_EVAL_H
#define PIPECTL_COMPILER_EVAL_EVAL_H

#include "pipectl/program.h"

/*
 * Apply `op` of kind elem, bool or convert to scalars. Values are bits, zero-extended to 64 (an i32
 * -1 is 0xffffffff, true is 1).
 *
 * result  scalar of the result
 * operand scalar of the first operand (of the second for SELECT, whose first is its condition)
 * args    as many as the op has, at most 4
 *
 * SELECT and BITCAST move the bits of floats too. 1 and *out; 0 with *out = 0 when the op has no
 * value for these types.
 */
int pctl_eval(uint16_t op, uint8_t result, uint8_t operand, const uint64_t *args, uint64_t *out);

/* The bits of a scalar as a mathematical integer, of a float as those of the signed integer of its
 * width; of unsigned 64-bit ones the same bits. */
int64_t pctl_eval_signed(uint8_t scalar, uint64_t bits);

/*
 * Evaluate function `spec`: values[i] becomes the bits of instruction i. overrides[i] are the bits
 * of override i, used where has[i] is set; a default that is needed is taken from `spec` itself. 0
 * and *missing = the number of an override that has neither, PCTL_EVAL_BAD for code that cannot
 * be evaluated, PCTL_EVAL_NO_MEMORY where there was none to do it in.
 */
#define PCTL_EVAL_BAD 0xffffffffu
#define PCTL_EVAL_NO_MEMORY 0xfffffffeu
int pctl_eval_spec(const pctl_program *p, const uint64_t *overrides, const uint8_t *has,
		   uint64_t *values, uint32_t *missing);

#endif
