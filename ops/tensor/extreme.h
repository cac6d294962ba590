/* What the rows of extreme.c say, for its reference and laws. */
#ifndef PIPECTL_OPS_TENSOR_EXTREME_H
#define PIPECTL_OPS_TENSOR_EXTREME_H

#include "matmul.h"
#include "reduce_axes.h"

enum { EXTREME_MAX, EXTREME_MIN, EXTREME_ANY, EXTREME_ALL, EXTREME_PROD };

typedef struct extreme {
	uint32_t what;	  /* EXTREME_* */
	uint32_t indexed; /* 1: where it is, along one axis */
	uint32_t doubles; /* 1: of f64, and of nothing else */
} extreme;

pctl_status extreme_axes(const kit_use *u, tensor_axes *a);
/* What a reduction of no term gives: the bits of an element of y, where x is of `dtype`. */
uint64_t extreme_of_nothing(const kit_use *u, uint32_t dtype);
/* extreme_reference.c */
pctl_status extreme_reference(const kit_use *u, const pctl_span *in, pctl_span *out);

#endif
