/* Inside of compose*.c: terms over ops as one kernel, which is asked like any function op, and the laws that theorems give
 * it. */
#ifndef PIPECTL_EVIDENCE_PROOF_COMPOSE_H
#define PIPECTL_EVIDENCE_PROOF_COMPOSE_H

#include "evidence/proof/law.h"
#include "evidence/proof/providers.h"

/* A composition as a function op of a library of its own: its WGSL calls the ops of the term by `//# use`, its reference
 * is the chain of theirs. Lives in the arena it was made in. */
typedef struct pctl_composition {
	pctl_op_function f;
	const pctl_law_term *term;
	pctl_op_desc desc;
	char *text, *subject;
	pctl_port in[4], out[1];
	pctl_op_rules rules;
} pctl_composition;

/* Of a term of calls and variables (all of one dtype; as many as there are numbers up to the highest). */
pctl_status pctl_compose(const pctl_law_term *term, pctl_arena *arena, const pctl_call *call,
			 pctl_composition **out);

const pctl_law_term *pctl_compose_var(pctl_arena *a, uint32_t var, uint32_t dtype);
const pctl_law_term *pctl_compose_const(pctl_arena *a, uint64_t bits, uint32_t dtype);
/* As many arguments as f takes, the others NULL. NULL when one is missing, is not of f's dtype, or there is no memory. */
const pctl_law_term *pctl_compose_call(pctl_arena *a, const pctl_op_function *f,
				       const pctl_law_term *x, const pctl_law_term *y,
				       const pctl_law_term *z);

/* A law derived for a composition. */
typedef struct pctl_derived {
	const char *theorem; /* "commutative inside: g(f(a, b)) is commutative when f is" */
	pctl_composition *composition;
	pctl_law_equation law;
} pctl_derived;

/* All laws that the theorems give to the ops of `ops` on dtype, thinned out to a few of each theorem, in a fixed order. */
pctl_status pctl_derive(const pctl_op_source *ops, const pctl_selection *s, uint32_t dtype,
			pctl_arena *arena, const pctl_call *call, pctl_derived **out,
			uint32_t *n_out);

/* Over exhaustive, adversarial and random tuples: the composed kernel's answers against the chain of references, and the
 * law. */
pctl_status pctl_derived_check(const pctl_derived *d, pctl_evaluator *device,
			       pctl_evaluator *reference, uint64_t seed, const pctl_call *call,
			       pctl_block *out);
uint64_t pctl_derived_cases(const pctl_derived *d);

#endif
