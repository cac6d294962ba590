/* Floats known while compiling: literals, rounding, conversions and operations on bits. Scalars are
 * PCTL_SCALAR_F16, F32, BF16, F64 and the abstract one, which has the bits of an f64. What runs on
 * a device is none of this file's business. */
#ifndef PIPECTL_WGSL_FLOAT_H
#define PIPECTL_WGSL_FLOAT_H

#include <stddef.h>
#include <stdint.h>

/* How a float came about. */
#define FLOAT_INEXACT 1u
#define FLOAT_OVERFLOW 2u

enum float_class { FLOAT_ZERO, FLOAT_FINITE, FLOAT_INF, FLOAT_NAN };

/* A float taken apart: (-1)^negative * mant * 2^exp. */
struct float_parts {
	uint32_t class;
	uint32_t negative;
	uint64_t mant;
	int64_t exp;
};

int pctl_wgsl_is_float(uint32_t scalar);
void pctl_wgsl_float_parts(uint32_t scalar, uint64_t bits, struct float_parts *out);
/* The nearest float, ties to even, to mant * 2^exp and a bit more when `sticky`; FLOAT_* flags. mant
 * has its exact 64 bits in front of what made it sticky: bit 63 is set then. */
uint32_t pctl_wgsl_float_round(uint32_t scalar, const struct float_parts *p, int sticky,
			       uint64_t *out);
/* Infinite or not a number? */
int pctl_wgsl_float_is_special(uint32_t scalar, uint64_t bits);
/* From float to float, one rounding; FLOAT_* flags. */
uint32_t pctl_wgsl_float_convert(uint32_t from, uint32_t to, uint64_t bits, uint64_t *out);
/* From an integer of 64 bits, signed or not, one rounding. */
uint32_t pctl_wgsl_float_from_int(uint32_t to, int64_t v, int is_unsigned, uint64_t *out);
/* To i32 or u32: truncates, saturates, NaN is 0; the leaf of that scalar. */
uint64_t pctl_wgsl_float_to_int(uint32_t from, uint32_t to, uint64_t bits);

/*
 * A strict opcode on constants: scalar of the operands, args as many as the op has. Abstract floats
 * and f64 are computed in f64, elementary functions of them in f32 after rounding. 1 and *out (0 or
 * 1 for comparisons), or 0 when the op is not one of floats.
 */
int pctl_wgsl_float_eval(uint16_t op, uint32_t scalar, const uint64_t *args, uint64_t *out);

/*
 * A literal of n characters that the lexer took for a float. *scalar and *out, or the reason why
 * not: malformed, too large, or not exact (hexadecimal ones must be).
 */
enum float_text { FLOAT_TEXT_OK, FLOAT_TEXT_MALFORMED, FLOAT_TEXT_LARGE, FLOAT_TEXT_INEXACT };
enum float_text pctl_wgsl_float_text(const char *s, size_t n, uint32_t *scalar, uint64_t *out);

#endif
