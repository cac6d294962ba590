/* Floats on the host, correctly rounded by MPFR: the strict operations on scalar bits, and floats as
 * text. For constant evaluation, overrides and printing; the `cpu` backend has an arithmetic of its
 * own. Semantics section 3 is the rule book, ops.def the list.
 *
 * A float is its bits in the low end of a u64. Formats are f16, bf16, f32 and f64. Every function may be called from
 * any thread; none keeps memory or leaves MPFR's exponent range changed. MPFR itself aborts when
 * there is no memory at all.
 */
#ifndef PIPECTL_COMPILER_EVAL_FLOAT_H
#define PIPECTL_COMPILER_EVAL_FLOAT_H

#include "pipectl/program.h"

/*
 * Apply a strict opcode (0x100..0x17f) to scalars.
 *
 * result  scalar of the result: bool for comparisons, for FCONVERT a float, i32 or u32; of f64 also i64 or u64
 * operand scalar of the operands: a float, for FCONVERT to a float also i32 or u32, to f64 also i64 or u64
 * args    as many as the opcode has
 *
 * NaN results are canonical, except that FNEG and FABS move bits. FMIN and FMAX of two NaN give the
 * canonical NaN. FRSQRT of -0 is -Inf, as IEEE 754-2019 has it. 1 and *out; 0 with *out = 0 when the
 * opcode is not strict or the types do not fit it.
 */
int pctl_float_eval(uint16_t op, uint8_t result, uint8_t operand, const uint64_t *args,
		    uint64_t *out);

/* x rounded once, to nearest even, to a float. 0 for any other scalar. */
int pctl_float_from_f64(uint8_t scalar, double x, uint64_t *out);

/* The value of a float, exactly (NaN is some NaN). 0 for any other scalar. */
int pctl_float_to_f64(uint8_t scalar, uint64_t bits, double *out);

/* 1 for f16, bf16, f32 and f64. */
int pctl_float_is(uint8_t scalar);

/* The canonical NaN of a float; 0 for any other scalar. */
uint64_t pctl_float_nan(uint8_t scalar);

enum { PCTL_FLOAT_FINITE = 0, PCTL_FLOAT_INFINITE = 1, PCTL_FLOAT_NAN = 2 };
/* What the bits are; PCTL_FLOAT_FINITE for a scalar that is no float. */
int pctl_float_kind(uint8_t scalar, uint64_t bits);

/*
 * Read a number: [+-] decimal ("1", "1.5", ".5", "1.", "1e-7") or hex ("0x1.8p3", "0x.8", "0X1P-3"),
 * nothing before or behind it and no suffix. Rounded once to nearest even; too large gives Inf, for
 * the caller to refuse where it may not be.
 *
 * text     n bytes, not NUL-terminated
 * inexact  1 where the bits are not exactly the number written; may be NULL
 *
 * 1 and *out; 0 where the text is not a number, the scalar no float, or memory ran out.
 */
int pctl_float_parse(const char *text, size_t n, uint8_t scalar, uint64_t *out, int *inexact);

/*
 * Write a float: the shortest decimal that pctl_float_parse reads back as the same bits
 * ("1.0", "-0.1", "1.0e-45"), or the exact hex one ("0x1.8p+3"). "inf", "-inf"; the canonical NaN is
 * "nan", another one "nan:" and its bits in hex.
 *
 * out  at least PCTL_FLOAT_TEXT bytes; "" for a scalar that is no float.
 */
#define PCTL_FLOAT_TEXT 48u
void pctl_float_print(uint8_t scalar, uint64_t bits, int hex, char *out);

#endif
