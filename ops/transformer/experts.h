/* What the files of transformer.moe_linear share. */
#ifndef PIPECTL_OPS_TRANSFORMER_EXPERTS_H
#define PIPECTL_OPS_TRANSFORMER_EXPERTS_H

#include "shared.h"

/* Ports. */
enum { EXPERTS_X, EXPERTS_W, EXPERTS_WHICH, EXPERTS_BIAS };

/* places: rows times experts of each (k); matrices are `all` of [m, n]; each: x has a row for every place; biased: there is a bias. */
typedef struct experts {
	uint64_t places, k, n, m, all;
	int each, biased;
} experts;

pctl_status transformer_experts_of(const kit_use *u, experts *e);

/* experts_plan.c */
void linear_plan(kit_plan *p);

/* experts_laws.c */
extern const pctl_op_problems linear_problems;
void linear_problem(kit_problem *p);
void linear_law_rows(kit_law *l);
void linear_law_matmul(kit_law *l);
void linear_law_unknown(kit_law *l);
void linear_law_biased(kit_law *l);

#endif
