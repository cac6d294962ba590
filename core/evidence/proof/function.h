/* A function op as its library is asked about it: shared by the evaluators. */
#ifndef PIPECTL_EVIDENCE_PROOF_FUNCTION_H
#define PIPECTL_EVIDENCE_PROOF_FUNCTION_H

#include "evidence/proof/evaluate.h"

#define PCTL_FUNCTION_OPERANDS 4u
#define PCTL_FUNCTION_ATTRS 8u

/* A query on n elements, with the attributes' defaults. It points into itself: not to be copied. */
typedef struct pctl_function_query {
	pctl_op_query q;
	pctl_tensor_type types[PCTL_FUNCTION_OPERANDS];
	pctl_attr attrs[PCTL_FUNCTION_ATTRS];
} pctl_function_query;

/* 0 when an attribute has no default, or there are too many operands or attributes. */
int pctl_function_ask(const pctl_op_ref *op, uint32_t dtype, uint64_t n, pctl_function_query *out);

/* The plan on n elements; exactly one kernel over the operands and the result, or PC5304. */
pctl_status pctl_function_plan(pctl_proof_context *b, const pctl_op_function *f, uint64_t n,
			       const pctl_call *call, pctl_job_plan **out);

/* 1 when both are the same op on the same dtype. */
int pctl_function_same(const pctl_op_function *a, const pctl_op_function *b);

#endif
