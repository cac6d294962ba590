/* Floats known while compiling: literals, conversions and operations on bits, in terms of
 * compiler/eval/float.h. Scalars are PCTL_SCALAR_F16, F32, BF16, F64 and the abstract one, which has the
 * bits of an f64. */
#ifndef PIPECTL_COMPILER_WGSL_FLOAT_H
#define PIPECTL_COMPILER_WGSL_FLOAT_H

#include <stddef.h>
#include <stdint.h>

int pctl_wgsl_is_float(uint32_t scalar);
/* Infinite or not a number? */
int pctl_wgsl_float_is_special(uint32_t scalar, uint64_t bits);
/* To a float from a float or (SCALAR_ABSTRACT, i32, u32) an integer leaf, one rounding. */
uint64_t pctl_wgsl_float_from(uint32_t from, uint32_t to, uint64_t leaf);
/* An abstract float that is an integer of 64 bits, as that. 0 when it is none. */
int pctl_wgsl_float_exact_int(uint64_t bits, uint64_t *out);
/* To i32 or u32: truncates, saturates, NaN is 0; the leaf of that scalar. */
uint64_t pctl_wgsl_float_to_int(uint32_t from, uint32_t to, uint64_t bits);

/*
 * A strict opcode on constants; scalar of the operands, args as many as the op has. Elementary
 * functions of abstract floats are those of f32, after rounding to it. The result's bits, 0 or 1 for
 * comparisons.
 */
uint64_t pctl_wgsl_float_eval(uint16_t op, uint32_t scalar, const uint64_t *args);

/*
 * A literal of n characters that the lexer took for a float. *scalar and *out, or the reason why
 * not: malformed, too large, or not exact (hexadecimal ones must be).
 */
enum float_text { FLOAT_TEXT_OK, FLOAT_TEXT_MALFORMED, FLOAT_TEXT_LARGE, FLOAT_TEXT_INEXACT };
enum float_text pctl_wgsl_float_text(const char *s, size_t n, uint32_t *scalar, uint64_t *out);

#endif
