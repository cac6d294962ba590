/* The norms' shapes, for their kernels, references and laws. */
#ifndef PIPECTL_OPS_TENSOR_NORM_H
#define PIPECTL_OPS_TENSOR_NORM_H

#include "moments.h"

enum { NORM_LAYER, NORM_RMS, NORM_GROUP, NORM_BATCH };

/* Rows of n elements that lie side by side; element i belongs to channel i / rest % channels, of which each has a weight. */
typedef struct norm_shape {
	uint64_t rows, n, rest, channels;
	float eps;
	uint32_t weight, bias; /* ports, or 0 where there is none */
} norm_shape;

uint32_t norm_kind(const kit_use *u);
pctl_status norm_shape_of(const kit_use *u, norm_shape *s);
/* norm_rows.c: plan all but batch_norm by one kernel, where that is worth it; 0: it did nothing. */
int norm_plan_rows(kit_plan *p, const norm_shape *s);

/* norm_reference.c */
pctl_status norm_reference(const kit_use *u, const pctl_span *in, pctl_span *out);

/* norm_laws.c */
extern const pctl_op_problems norm_problems;
void norm_problem(kit_problem *p);
void norm_law_alone(kit_law *l);
void norm_law_permuted(kit_law *l);
void norm_law_ones(kit_law *l);
void norm_law_as_group(kit_law *l);

#endif
