/* What the files of tensor.convert share. */
#ifndef PIPECTL_OPS_TENSOR_CONVERT_H
#define PIPECTL_OPS_TENSOR_CONVERT_H

#include "common/codec.h"
#include "value.h"

enum { CONVERT_TO, CONVERT_SATURATE };

/* The types that can be made, one by one; PCTL_SCALAR_NONE behind the last. */
uint32_t convert_type(uint32_t i);
/* The one that a use asks for. */
pctl_status convert_to(const kit_use *u, uint32_t *out);

/* convert_reference.c */
pctl_status convert_reference(const kit_use *u, const pctl_span *in, pctl_span *out);
/* convert_laws.c */
extern const pctl_op_problems convert_problems;
void convert_problem(kit_problem *p);
void convert_law_fixed(kit_law *l);
void convert_law_back(kit_law *l);

#endif
