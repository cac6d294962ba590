/* tensor.cumsum's axis, for its reference, and its laws. */
#ifndef PIPECTL_OPS_TENSOR_CUMSUM_H
#define PIPECTL_OPS_TENSOR_CUMSUM_H

#include "common/tensors/exact_reference.h"
#include "reduce_axes.h"

enum { CUMSUM_AXIS, CUMSUM_EXCLUSIVE, CUMSUM_REVERSE };

pctl_status cumsum_axes(const kit_use *u, tensor_axes *a);

/* cumsum_rows.c: plan floats by two kernels, where that is worth it; 0: it did nothing. */
int cumsum_rows(kit_plan *p, const tensor_axes *a);

/* map_laws.c */
void cumsum_law_turned(kit_law *l);
void cumsum_law_shifted(kit_law *l);
void cumsum_law_last(kit_law *l);

#endif
