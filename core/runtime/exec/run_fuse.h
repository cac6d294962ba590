/* Groups of jobs that run as one kernel, shared by run_fuse.c and run_fuse_plan.c. */
#ifndef PIPECTL_RUNTIME_EXEC_RUN_FUSE_H
#define PIPECTL_RUNTIME_EXEC_RUN_FUSE_H

#include "runtime/exec/run_private.h"
#include "runtime/graph/jobplan_through.h"

/* The one kernel of a function op or view. */
const pctl_kernel_module *pctl_run_element_unit(const pctl_run_node *n);
/* Elements of a value that a job's function takes at a port, or gives; the places of what it gives. */
uint32_t pctl_run_lanes_in(const pctl_run_node *n, uint32_t port);
uint32_t pctl_run_lanes_out(const pctl_run_node *n);
pctl_tensor_type pctl_run_places_out(const pctl_run_node *n);
/* 1: that input of the middle may be read through a function. */
int pctl_run_reads_through(const pctl_run_node *n, uint32_t port);
/* How element i of a job is found in its operand. */
pctl_index_map pctl_run_index_map(const pctl_run_node *n, uint32_t port);

/* run_plan_once.c: the plan of a group with a middle, asked for once for all groups of the run that are the same but for where their data come from. ops: of each of
 * t's nodes the op, or NULL. */
pctl_status pctl_run_through_once(pctl_running *r, const char *job, const pctl_through *t,
				  const pctl_op_ref *const *ops, const pctl_plan_caps *caps,
				  const pctl_call *call, pctl_job_plan **out);

#endif
