/* What the files of tensor.softmax share. */
#ifndef PIPECTL_OPS_TENSOR_SOFTMAX_H
#define PIPECTL_OPS_TENSOR_SOFTMAX_H

#include "reduce_axes.h"

/* Plan softmax, or log_softmax, by one kernel, where that is worth it; 0: it did nothing. */
int softmax_rows(kit_plan *p, const tensor_axes *a, int logarithm);

#endif
