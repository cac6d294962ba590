/* A machine's plan while it is made, shared by vm_plan.c and vm_job.c. */
#ifndef PIPECTL_RUNTIME_GRAPH_VM_PRIVATE_H
#define PIPECTL_RUNTIME_GRAPH_VM_PRIVATE_H

#include "foundation/conf/schema.h"
#include "runtime/graph/vm.h"

struct pctl_vm_maker {
	const pctl_planner *planner;
	const pctl_vm_desc *d;
	const pctl_call *call;
	pctl_job_plan *plan;
	pctl_vm_buffers at;
	uint32_t *marks;      /* of the first step of each instance, or NULL */
	const uint32_t *heap; /* the plan's buffer of each part */
	uint32_t counts, blocks;
	uint32_t kind; /* PCTL_PLAN_* of its memory */
	uint32_t put;  /* PCTL_PUT_* */
};

/* Words of the key `regulator`: index 1 acts. */
extern const char *const pctl_vm_regulators[3];

/* The machine's buffers, and the uniform blocks of its steps. */
pctl_status pctl_vm_make_memory(struct pctl_vm_maker *m);
/* What the control words, as they stand now, may not say (9.1, 9.6): looked at behind the job. */
pctl_status pctl_vm_put_control_check(struct pctl_vm_maker *m);
/* One execution, behind what the plan has. */
pctl_status pctl_vm_put_turn(struct pctl_vm_maker *m);

#endif
