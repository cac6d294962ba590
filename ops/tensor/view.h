/* Laws of the views, and the problems that they are tried on (view_laws.c). */
#ifndef PIPECTL_OPS_TENSOR_VIEW_H
#define PIPECTL_OPS_TENSOR_VIEW_H

#include "common/kit.h"

extern const pctl_op_problems tensor_view_problems;
extern const pctl_law tensor_reshape_laws[2], tensor_transpose_laws[2], tensor_slice_laws[2],
	tensor_broadcast_laws[2];
extern void (*const tensor_reshape_checks[2])(kit_law *l);
extern void (*const tensor_transpose_checks[2])(kit_law *l);
extern void (*const tensor_slice_checks[2])(kit_law *l);
extern void (*const tensor_broadcast_checks[2])(kit_law *l);
void tensor_reshape_problem(kit_problem *p);
void tensor_transpose_problem(kit_problem *p);
void tensor_slice_problem(kit_problem *p);
void tensor_broadcast_problem(kit_problem *p);

#endif
