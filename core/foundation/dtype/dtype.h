/* Element types of tensors: names, sizes, and what a code means (core/SEMANTICS.md section 13). One table, dtype.def; the numbers
 * are those of program.h and oplib.h.
 *
 * Where a tensor's elements lie: row-major, one behind another without gaps, element i of b bits in bits i*b .. i*b + b - 1 of
 * the bytes, the least significant bit of the first byte being bit 0. Bits behind the last element are zero. Rows of block
 * formats are whole blocks. */
#ifndef PIPECTL_FOUNDATION_DTYPE_DTYPE_H
#define PIPECTL_FOUNDATION_DTYPE_DTYPE_H

#include "foundation/dtype/exact.h"
#include "pipectl/oplib.h"
#include "pipectl/program.h"

typedef enum pctl_dtype_kind {
	PCTL_DTYPE_KIND_BOOL,
	PCTL_DTYPE_KIND_UINT,
	PCTL_DTYPE_KIND_INT,
	PCTL_DTYPE_KIND_FLOAT,
	PCTL_DTYPE_KIND_TERNARY,
	PCTL_DTYPE_KIND_BINARY,
	PCTL_DTYPE_KIND_BLOCK,
	PCTL_DTYPE_KIND_OPAQUE /* no numbers */
} pctl_dtype_kind;

/* Codes of a float whose exponent is all ones: infinities and NaN; the last alone is NaN, the others are finite; all finite. */
typedef enum pctl_dtype_specials {
	PCTL_DTYPE_SPECIALS_IEEE,
	PCTL_DTYPE_SPECIALS_FINITE,
	PCTL_DTYPE_SPECIALS_NONE
} pctl_dtype_specials;

#define PCTL_DTYPE_BLOCK_MAX 256u

typedef struct pctl_dtype {
	uint32_t id;
	const char *name;
	pctl_dtype_kind kind;
	uint32_t bits;	/* of an element, of a block format's block */
	uint32_t block; /* elements of a block, else 1 */
	uint32_t exponent, fraction;
	pctl_dtype_specials specials;
	const char *about;
} pctl_dtype;

/* The rows one by one, NULL behind the last; of a number; of a name of n bytes. NULL: no such type. */
const pctl_dtype *pctl_dtype_row(uint32_t i);
const pctl_dtype *pctl_dtype_of(uint32_t id);
const pctl_dtype *pctl_dtype_named(const char *name, size_t n);

/* Bytes of n elements, 1; 0 where they overflow, or n is not a whole number of blocks. */
int pctl_dtype_size(const pctl_dtype *t, uint64_t n, uint64_t *n_bytes);

/* The number that element i is. 1, or 0 for a code that stands for none (a ternary 2, a bool above 1, an opaque type). */
int pctl_dtype_read(const pctl_dtype *t, const void *data, uint64_t i, pctl_exact *out);

/* What becomes of numbers beyond the largest finite one of a float: infinity (NaN where there is none, the largest where there
 * is no NaN either), or the largest. Integers saturate in both. */
typedef enum pctl_dtype_overflow {
	PCTL_DTYPE_OVERFLOW_IEEE,
	PCTL_DTYPE_OVERFLOW_SATURATE
} pctl_dtype_overflow;

/* Put the number, rounded to the nearest, ties to even, as element i. 1, or 0 where the type has nothing for it (a NaN in f4)
 * and for types that are not written element by element (blocks, opaque ones). Other elements stay. */
int pctl_dtype_write(const pctl_dtype *t, pctl_exact v, pctl_dtype_overflow overflow, void *data,
		     uint64_t i);

/* Bits behind element n of n_bytes are zero. */
int pctl_dtype_padded(const pctl_dtype *t, const void *data, uint64_t n, uint64_t n_bytes);

/* The first of n elements whose code stands for no number; n when there is none. */
uint64_t pctl_dtype_bad(const pctl_dtype *t, const void *data, uint64_t n);

/* Block formats: the element of a block, and a block made of `block` numbers (infinities and NaN give 0: no block holds them). */
pctl_exact pctl_dtype_block_read(const pctl_dtype *t, const uint8_t *block, uint32_t i);
int pctl_dtype_block_write(const pctl_dtype *t, const pctl_exact *v, uint8_t *block);
/* The same of doubles. */
int pctl_dtype_block_make(const pctl_dtype *t, const double *v, uint8_t *block);

#endif
