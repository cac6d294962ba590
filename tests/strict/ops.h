/* The basic strict operations: how a program writes each, and what it has to give. */
#ifndef TESTS_STRICT_OPS_H
#define TESTS_STRICT_OPS_H

#include "soft.h"

typedef struct strict_op {
	const char *type, *name;
	soft format;	  /* of the operands */
	int n;		  /* operands; 0: one integer */
	const char *wgsl; /* $ the type, X Y Z operands of it, I the integer; the result as u32 */
	uint32_t (*oracle)(soft f, const uint32_t v[3]);
} strict_op;

extern const strict_op strict_ops[];
extern const uint32_t n_strict_ops;

/* The kernel, for results of a counter `p.base + i`, which makes the operands itself; or they are sent, three words a
 * result. Released with free(). */
char *strict_op_text(const strict_op *op, int sent, uint32_t row);
/* All pairs: result i is that of operands i (low half) and i + 1 (high half) of p.base + 2 i, 16 bits each: the first
 * operand is the upper half of that counter. */
char *strict_op_pairs(const strict_op *op, uint32_t row);
uint32_t strict_op_salt(const strict_op *op);
/* The operands of a counter and what they must give. */
uint32_t strict_op_expect(const strict_op *op, uint32_t salt, uint32_t counter,
			  uint32_t operands[3]);

#endif
