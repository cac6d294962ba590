/* What a strict float operation must give, computed without the backends' code: operands become MPFR
 * numbers, MPFR evaluates towards zero with many more bits, and one rounding to the format is done
 * here on the integer that counts units of the last place. */
#ifndef PIPECTL_TESTS_CONFORM_FLOAT_ORACLE_H
#define PIPECTL_TESTS_CONFORM_FLOAT_ORACLE_H

#include <stdint.h>

typedef struct float_format {
	const char *name;
	uint8_t scalar; /* PCTL_SCALAR_* */
	uint8_t bits;
	uint8_t mantissa; /* stored bits of the significand */
	uint8_t reserved;
	int32_t bias;
	uint32_t nan; /* the canonical one */
} float_format;

enum { FLOAT_F16, FLOAT_BF16, FLOAT_F32, N_FLOAT_FORMATS };
extern const float_format float_formats[N_FLOAT_FORMATS];

typedef struct float_op {
	uint16_t op;
	uint8_t n_args;
	uint8_t is_comparison; /* the result is a bool */
} float_op;
/* All strict opcodes but FCONVERT; those from first_math on are the elementary functions. */
extern const float_op float_ops[];
extern const uint32_t n_float_ops, first_math;

/* Bits of op(x[0], ..) in the format; 0 or 1 for comparisons. */
uint32_t float_expect(uint16_t op, const float_format *f, const uint32_t *x);
/* FCONVERT from and to: a format, or PCTL_SCALAR_I32, PCTL_SCALAR_U32 by the scalar. */
uint32_t float_expect_convert(uint8_t from, uint8_t to, uint32_t x);
void float_oracle_close(void);

/* Operand `which` of lane i: pairs and triples of awkward numbers first, then random ones of several
 * kinds. */
uint32_t float_operand(const float_format *f, uint32_t n_args, uint32_t which, uint32_t i,
		       uint64_t seed);
/* Lanes that the awkward numbers fill. */
uint32_t float_awkward(const float_format *f, uint32_t n_args);

#endif
