/* Laws as equations: every declared law of an op, the twelve named ones and the custom ones alike, becomes relations
 * between terms over op calls. Both sides are evaluated by separate calls through memory, never within one kernel,
 * where a compiler would make f(a, b) and f(b, a) one. */
#ifndef PIPECTL_EVIDENCE_PROOF_LAW_H
#define PIPECTL_EVIDENCE_PROOF_LAW_H

#include "evidence/proof/domain.h"

enum { PCTL_LAW_TERM_VAR = 1, PCTL_LAW_TERM_CONST, PCTL_LAW_TERM_CALL };

/* bits: of a constant, of the dtype. fn: of a call, its arguments args[0 .. fn.n_in). */
typedef struct pctl_law_term {
	uint32_t kind, var;
	uint64_t bits[2];
	uint32_t dtype, reserved; /* of its value */
	pctl_op_function fn;
	const struct pctl_law_term *args[4];
} pctl_law_term;

enum {
	PCTL_REL_EQ = 1,
	PCTL_REL_NE,
	PCTL_REL_LT,
	PCTL_REL_LE,
	PCTL_REL_GT,
	PCTL_REL_GE,
	PCTL_REL_FINITE, /* of guards alone, right is NULL: neither infinite nor NaN */
	PCTL_REL_NUMBER, /* no NaN */
	PCTL_REL_NORMAL	 /* finite, not 0, not subnormal */
};
/* EQ and NE compare bits; the others order by the dtype (floats: IEEE order with -0 < +0; beside a NaN false). */
typedef struct pctl_relation {
	uint32_t rel, reserved;
	const pctl_law_term *left, *right;
} pctl_relation;

/*
 * One law of one function on one dtype. Holds for the variables when all guards do imply the claim.
 *
 * text   as declared or as the named law reads: "add(a, b) = add(b, a)"
 * name   "commutative", "custom 2"
 * guards evaluated by the reference, not the device: a wrong device cannot excuse itself
 */
typedef struct pctl_law_equation {
	const char *text, *name;
	pctl_relation claim;
	const pctl_relation *guards;
	uint32_t n_guards, n_vars, dtype;
	uint32_t law; /* PCTL_LAW_* */
} pctl_law_equation;

/*
 * The laws of f as equations, in the arena. A custom law whose text is not of oplib.h's grammar is reported (PC5301)
 * with its position in the text and counted in *n_prose. A law that speaks of an op or form that is not there is
 * PC5302, a named one that does not fit the op PC5303: the others are in *out nevertheless, the status is that of the
 * first such fault. A law scoped to other dtypes ("f16, bf16 | ..") is left out for this one, and no fault. Names are
 * unique.
 *
 * The named laws on both sides where the operands are two: identity and absorbing on the left and on the right;
 * bounded from below and from above. idempotent is f(a, a) = a of two operands, f(f(a)) = f(a) of one. Of floats,
 * monotone and bounded speak of results that are numbers, identity, absorbing and idempotent (of two operands) of
 * operands that are.
 */
pctl_status pctl_laws_of(const pctl_op_source *ops, const pctl_op_function *f, pctl_arena *arena,
			 const pctl_call *call, pctl_law_equation **out, uint32_t *n_out,
			 uint32_t *n_prose);

/* The same of other rules than f's own: a gate looks at laws one by one. */
pctl_status pctl_laws_of_rules(const pctl_op_source *ops, const pctl_op_function *f,
			       const pctl_op_rules *rules, pctl_arena *arena, const pctl_call *call,
			       pctl_law_equation **out, uint32_t *n_out, uint32_t *n_prose);

/* What checking n tuples gave; `at` is the first that failed (of the columns), with both sides' bits. */
typedef struct pctl_law_outcome {
	uint64_t cases, failures, skipped, at;
	uint8_t left[16], right[16];
} pctl_law_outcome;

/* Check on columns of n <= PCTL_PROOF_BLOCK tuples. hash, when not NULL, takes the left and then the right side of
 * every tuple whose guards hold. */
pctl_status pctl_law_check(const pctl_law_equation *l, pctl_evaluator *device,
			   pctl_evaluator *reference, const pctl_column *vars, uint64_t n,
			   pctl_hasher *hash, const pctl_call *call, pctl_law_outcome *out);

/* The smallest tuple found that still breaks the law: zeros and ones tried for every operand, then bits cleared one by
 * one, then bisection towards the nearest passing value (shrink.h). values: n_vars in and out, 16 bytes each; as they
 * were when they break nothing alone. */
pctl_status pctl_law_shrink(const pctl_law_equation *l, pctl_evaluator *device,
			    pctl_evaluator *reference, uint8_t (*values)[16],
			    const pctl_call *call);

#endif
