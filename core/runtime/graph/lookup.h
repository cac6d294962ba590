/* Lookup ports (convention 2, oplib.h): the elements of an op's first port index the table that feeds its port "lookup". The host looks
 * that all are in range, before the op's own steps on every device and before its reference, so that no op library has to. */
#ifndef PIPECTL_RUNTIME_GRAPH_LOOKUP_H
#define PIPECTL_RUNTIME_GRAPH_LOOKUP_H

#include "runtime/graph/jobplan.h"

/* The number of the port, UINT32_MAX of an op without one. */
uint32_t pctl_lookup_port(const pctl_op_desc *d);
/* What is wrong with how an op declares it; NULL: nothing. */
const char *pctl_lookup_fault(const pctl_op_desc *d, const pctl_type_pattern *index,
			      const pctl_type_pattern *table);

/* Append the steps that find the lowest position whose index is out of range, and the assertion that there is none (PC5205 of the job,
 * position and index named). None where the index's type has no such number. Errors: PC4133. */
pctl_status pctl_lookup_plan(const pctl_planner *planner, const pctl_op_ref *op,
			     const pctl_op_query *q, const pctl_plan_slot *slots,
			     const pctl_call *call, pctl_job_plan *plan);
/* The same of data in the host's memory: PC4205 in the same words. */
pctl_status pctl_lookup_check(const pctl_op_ref *op, const pctl_op_query *q, const pctl_span *in,
			      const pctl_call *call);

#endif
