/* What is asked of one step of a plan. */
#ifndef PIPECTL_RUNTIME_GRAPH_JOBPLAN_STEP_H
#define PIPECTL_RUNTIME_GRAPH_JOBPLAN_STEP_H

#include "runtime/graph/jobplan.h"

/* 1: the kernel's variable at this group and binding may be written. */
int pctl_binding_writes(const pctl_program *p, const pctl_plan_binding *b);
/* 1: the step may write buffer number `buffer` of its plan. */
int pctl_step_writes(const pctl_step *s, uint32_t buffer);

#endif
