/* A plan while an op library puts it together, shared by the jobplan*.c files. */
#ifndef PIPECTL_RUNTIME_GRAPH_JOBPLAN_PRIVATE_H
#define PIPECTL_RUNTIME_GRAPH_JOBPLAN_PRIVATE_H

#include "runtime/graph/jobplan.h"
#include "runtime/graph/jobplan_step.h"
#include "runtime/graph/repeat.h"

#define DEEPEST_NESTING 8u
/* Of one plan with all ops that it opened up; of those shipped none has a thousand. */
#define MOST_COMMANDS 16384u
#define MOST_PARAMS (64u << 20)
#define SMALLEST_PARTS 6u /* halvings of a part whose temporaries are too large */

/* A plan while it grows; the plan comes first so that a pointer to one is a pointer to the other.
 */
struct pctl_growing_plan {
	pctl_job_plan plan;
	uint32_t cap_buffers, cap_steps, cap_checks;
	uint32_t n_commands;
	uint64_t n_params; /* bytes of parameters */
};

/* One op being planned: its view of the plan's buffers. */
struct pctl_frame {
	const pctl_planner *planner;
	pctl_job_plan *plan;
	const pctl_op_ref *op;
	const pctl_call *call;
	pctl_plan_slot *slots; /* by local number; n_bytes is given, of whole buffers too */
	uint32_t n_slots, cap_slots;
	uint32_t depth, flags, within, reserved; /* within: 1: of a repeat of whoever nests it */
	pctl_repeat *repeat;			 /* under way, or NULL */
	/* Of each output 1 + the input whose range it has, or 0; whether a command has touched it (jobplan_put.c). */
	uint8_t places[PCTL_PORTS_MAX], touched[PCTL_PORTS_MAX];
	uint32_t n_in, n_out;		    /* where places are found; else 0 */
	const struct pctl_through *through; /* functions that its kernels may call, or NULL */
	uint32_t used, reserved2;	    /* flags of those that some called */
	pctl_status status; /* the first that a callback refused: plan must not go on after it */
};

pctl_status pctl_plan_no_memory(const pctl_call *call);
pctl_status pctl_plan_add_step(pctl_job_plan *p, const pctl_step *step, const pctl_call *call);

/* Every callback of the sink answers through `kept`, and begins with `next_command`; PC4132 says what is wrong with a plan. */
pctl_status pctl_frame_kept(struct pctl_frame *f, pctl_status status);
pctl_status pctl_frame_bad_plan(const struct pctl_frame *f, const char *what);
pctl_status pctl_frame_next_command(struct pctl_frame *f);
/* A range of the plan's buffers gets the next local number; a new buffer likewise. */
pctl_status pctl_frame_map_slot(struct pctl_frame *f, const pctl_plan_slot *slot, uint32_t *local);
pctl_status pctl_frame_new_buffer(struct pctl_frame *f, uint32_t kind, const void *data,
				  uint64_t n_bytes, uint32_t *local);
/* jobplan_put.c: 1: an output has the range of the input of that local number. */
int pctl_frame_is_placed(const struct pctl_frame *f, uint32_t local);
void pctl_frame_touch(struct pctl_frame *f, uint32_t local);
/* 1: a copy that falls away, since both are one range; -1: it would, and the output was touched before. */
int pctl_frame_copy_falls_away(const struct pctl_frame *f, uint32_t from, uint64_t from_offset,
			       uint32_t to, uint64_t to_offset);

/* jobplan_op.c: an op opened up over a frame; what its library puts there, and nothing else. */
pctl_status pctl_frame_run_op(struct pctl_frame *f, const pctl_op_query *q);
pctl_status pctl_frame_run_library(struct pctl_frame *f, const pctl_op_query *q);

/* jobplan_through.c: a kernel that calls functions of the host: its text, released with free(), and what they are bound to, in numbers of the
 * plan's buffers; text NULL: it calls none. */
#define PCTL_THROUGH_BINDINGS 32u
struct pctl_through_kernel {
	char *text;
	uint32_t n_bindings;
	pctl_plan_binding bindings[PCTL_THROUGH_BINDINGS];
};
pctl_status pctl_frame_through(struct pctl_frame *f, const pctl_plan_kernel *k,
			       struct pctl_through_kernel *out);
/* Why a command that calls the functions of `flags` may not name that local buffer, or NULL. */
const char *pctl_frame_passes_by(const struct pctl_frame *f, uint32_t local, uint32_t flags);

/* Before a kernel whose workgroups stand in a buffer: a copy of their numbers, in *counts, and the check of it. */
pctl_status pctl_frame_counts(struct pctl_frame *f, const pctl_plan_kernel *k,
			      const pctl_program *p, uint32_t *counts);

/* The sink of a frame but for `op`, which opens up another. */
pctl_plan_sink pctl_frame_sink(struct pctl_frame *f);

#endif
