/* What is asked of one step of a plan. */
#ifndef PIPECTL_RUNTIME_GRAPH_JOBPLAN_STEP_H
#define PIPECTL_RUNTIME_GRAPH_JOBPLAN_STEP_H

#include "runtime/graph/jobplan.h"

/* 1: the step may write buffer number `buffer` of its plan. */
int pctl_step_writes(const pctl_step *s, uint32_t buffer);

#endif
