/* The plan of a job together with elementwise jobs before and behind it: the op library's own plan, whose kernels call functions
 * that the host writes where they read an input or write the output (PCTL_PLAN_READ_THROUGH and PCTL_PLAN_WRITE_THROUGH of oplib.h). What is
 * fused is decided by whoever describes it. */
#ifndef PIPECTL_RUNTIME_GRAPH_JOBPLAN_THROUGH_H
#define PIPECTL_RUNTIME_GRAPH_JOBPLAN_THROUGH_H

#include "runtime/graph/elementwise.h"

#define PCTL_THROUGH_MOST (PCTL_PORTS_MAX + 1u)

/* The function of a port: flag, the one of pctl_plan_kernel.through; last, the node that it gives. */
typedef struct pctl_through_function {
	uint32_t flag, last;
} pctl_through_function;

/*
 * op, q      of the job in the middle
 * flags      of all ports that go through functions
 * nodes      as of pctl_elementwise; buffers of inputs are numbers of the plan's inputs. One may be GIVEN
 * functions  one for each flag
 * in_bytes   of each input of the plan; in: of each input of the op the plan's, UINT32_MAX where it is read through a function
 * out_bytes  of the plan's output, which is the op's
 */
typedef struct pctl_through {
	const pctl_op_ref *op;
	const pctl_op_query *q;
	uint32_t flags, n_nodes, n_functions, n_in;
	const pctl_element_node *nodes;
	pctl_through_function functions[PCTL_THROUGH_MOST];
	const uint64_t *in_bytes;
	uint32_t in[PCTL_PORTS_MAX];
	uint64_t out_bytes;
} pctl_through;

/* Errors: PCTL_E_UNSUPPORTED, in words or without, where the library has no such plan or where it would bind more than the device lets it; PC4132 where it
 * did not do what it was asked for. */
pctl_status pctl_job_plan_through(const pctl_planner *planner, const char *job,
				  const pctl_through *t, const pctl_call *call,
				  pctl_job_plan **out);

#endif
