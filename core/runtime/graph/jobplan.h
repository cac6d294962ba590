/* The plan of one job: buffers and the steps over them, with every kernel compiled, analysed and
 * priced. Made from an op library's answer (nested ops opened up) or from a shader; the same for
 * every backend but for how the work is cut. */
#ifndef PIPECTL_RUNTIME_GRAPH_JOBPLAN_H
#define PIPECTL_RUNTIME_GRAPH_JOBPLAN_H

#include "runtime/gas/gas.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/type.h"
#include "pipectl/backend.h"

/* TURNS: the flag of a kernel's step (pctl_program_turn_flag, or a check of workgroups), the host's own: zero at first, and never
 * cleared. */
enum {
	PCTL_PLAN_INPUT = 1,
	PCTL_PLAN_OUTPUT,
	PCTL_PLAN_TEMP,
	PCTL_PLAN_PARAMS,
	PCTL_PLAN_TURNS,
	PCTL_PLAN_CONSTANT /* as PARAMS, and cid names the bytes */
};

typedef struct pctl_plan_buffer {
	uint32_t kind;
	uint32_t usage; /* PCTL_BUFFER_* */
	uint64_t n_bytes;
	const void *data;	    /* PARAMS and CONSTANT: its contents */
	const struct pctl_cid *cid; /* CONSTANT */
	uint64_t at;		    /* TEMP of a plan with a pool: where it begins there */
} pctl_plan_buffer;

/* Where temporaries begin in their pool: multiples of it. No device here asks for more. */
#define PCTL_PLAN_ALIGN 256u

enum { PCTL_STEP_KERNEL = 1, PCTL_STEP_FILL, PCTL_STEP_COPY };

/* One command. KERNEL: unit, bindings, groups; counts not 0: the workgroups stand in buffer counts - 1 at counts_offset when it
 * runs, `groups` are the most. FILL: to, to_offset, n_bytes, word. COPY: from and
 * to. Buffers are numbers in the plan. */
typedef struct pctl_step {
	uint32_t kind;
	uint32_t n_bindings;
	const pctl_kernel_module *unit;
	pctl_plan_binding *bindings;
	uint32_t groups[3];
	uint32_t word;
	uint32_t from, to;
	uint64_t from_offset, to_offset, n_bytes;
	uint64_t counts_offset;
	uint32_t counts;
	uint32_t
		is_counts_check; /* 1: the host's own, which holds the workgroups of the next kernel against the most */
} pctl_step;

/* What the host wrote of itself: the whole plan is the one kernel of a function op, or of a view. */
enum { PCTL_PLAN_FORM_OTHER = 0, PCTL_PLAN_FORM_FUNCTION, PCTL_PLAN_FORM_VIEW };

typedef struct pctl_plan_check {
	uint32_t buffer, bytes;
	uint64_t offset, expected;
	const char *message;
	uint64_t also_offset;
	uint32_t also_bytes; /* 0: no second number is told */
} pctl_plan_check;

typedef struct pctl_job_plan {
	const char *name; /* of the job, for messages */
	pctl_plan_buffer *buffers;
	pctl_step *steps;
	pctl_plan_check *checks;
	uint32_t n_buffers, n_in, n_out, n_steps, n_checks;
	uint32_t
		determinism; /* highest PCTL_CLASS_* of the kernels; approximate when an op says so */
	uint32_t race;	     /* PCTL_PROOF_*: the weakest of the kernels; refuted beats unproven */
	const pctl_kernel_module *race_of; /* the first kernel that is so, NULL: all are proven */
	const pctl_kernel_module *order;   /* the first whose atomics depend on an order, or NULL */
	uint32_t has_measure;
	uint32_t measure_buffer, measure_bytes;
	uint64_t measure_offset, measure_add;
	uint64_t buffer_bytes; /* of all buffers together, saturating */
	uint64_t pool_bytes;   /* of the one buffer that temporaries share, 0: each has its own */
	uint64_t caps;	       /* PCTL_CAP_* of all kernels */
	uint32_t form;	       /* PCTL_PLAN_FORM_* */
	uint32_t is_cut;       /* 1: the host planned the op part by part */
	uint8_t in_place[PCTL_PORTS_MAX]; /* of each output 1 + the input where it may lie, or 0 */
	pctl_op_result view;		  /* of a view: what the library says of it */
	pctl_arena *arena;
	struct pctl_job_plan *of;   /* the plan whose tables these are, or NULL: its own */
	uint32_t sharers, reserved; /* plans that have these tables besides */
} pctl_job_plan;

void pctl_job_plan_destroy(pctl_job_plan *p);
/* The same plan for another job: its tables, which do not change any more and live as long as either does. [one thread] */
pctl_status pctl_job_plan_share(pctl_job_plan *p, const char *job, const pctl_call *call,
				pctl_job_plan **out);

/* What planning needs besides the question. */
typedef struct pctl_planner {
	const pctl_op_source *ops;
	pctl_kernels *kernels;
	pctl_plan_caps caps;
	uint32_t wgsl_flags;
} pctl_planner;

/* The plan of op `op` for query q whose outputs infer gave as `out`. flags: PCTL_PLAN_RUN or
 * PCTL_PLAN_MEASURE. */
pctl_status pctl_job_plan_op(const pctl_planner *planner, const char *job, const pctl_op_ref *op,
			     const pctl_op_query *q, const pctl_tensor_type *out_types,
			     uint32_t flags, const pctl_call *call, pctl_job_plan **out);

/* A range of a plan's buffer that stands for a port; offset 0 with n_bytes 0: the whole. */
typedef struct pctl_plan_slot {
	uint32_t buffer, reserved;
	uint64_t offset, n_bytes;
} pctl_plan_slot;

/*
 * The plan of an op in place, on ranges of a plan's buffers: of its inputs, then of its outputs, each as large as its type. An output
 * that the op declares to lie in an input's place may have that input's range: then the copy falls away, and nothing else of
 * the op may look at the input (PC4132). It can have no assertion and no lookup, for it may run many times; with PCTL_PUT_ASSERTS
 * it can, for its steps are written out, and with PCTL_PUT_KEPT, for whoever keeps the plan looks after each time.
 */
enum { PCTL_PUT_KEPT = 1, PCTL_PUT_ASSERTS = 2 };
pctl_status pctl_job_plan_put(const pctl_planner *planner, const pctl_op_ref *op,
			      const pctl_op_query *q, const pctl_plan_slot *slots, uint32_t n_slots,
			      uint32_t flags, const pctl_call *call, pctl_job_plan *plan);

/* The elementwise kernel of a function op, appended to a plan. slots: of the op's inputs and then its output. */
pctl_status pctl_job_plan_function(const pctl_planner *planner, const pctl_op_ref *op,
				   const pctl_op_query *q, const pctl_tensor_type *out_types,
				   const pctl_plan_slot *slots, const pctl_call *call,
				   pctl_job_plan *plan);

/* The kernel that copies what an op calls a view, likewise. */
pctl_status pctl_job_plan_view(const pctl_planner *planner, const pctl_op_ref *op,
			       const pctl_tensor_type *in, const pctl_op_result *view,
			       const pctl_plan_slot *slots, const pctl_call *call,
			       pctl_job_plan *plan);

/* Copies of operands that are stretched to the types `in`, for a function op that plans for itself; slots: the copies
 * take the place of theirs. */
pctl_status pctl_job_plan_stretch(const pctl_planner *planner, const pctl_op_ref *op,
				  const pctl_op_query *q, const pctl_tensor_type *in,
				  pctl_plan_slot *slots, const pctl_call *call,
				  pctl_job_plan *plan);

/* A plan put together by hand (`shader run`, shader jobs): n_in inputs, then n_out outputs; add
 * them with buffer, then commands. Each returns PCTL_OK or reports. */
pctl_status pctl_job_plan_create(const char *job, const pctl_call *call, pctl_job_plan **out);
pctl_status pctl_job_plan_buffer(pctl_job_plan *p, uint32_t kind, uint64_t n_bytes,
				 const void *data, const pctl_call *call, uint32_t *number);
pctl_status pctl_job_plan_kernel(pctl_job_plan *p, const pctl_kernel_module *unit,
				 const pctl_plan_binding *bindings, uint32_t n_bindings,
				 const uint32_t groups[3], const pctl_call *call);

/* Of a step with its unit, before it is part of the plan. */
pctl_status pctl_job_plan_bind(pctl_job_plan *p, pctl_step *step, const pctl_plan_binding *bindings,
			       uint32_t n_bindings, const pctl_call *call);

/* The same: how many workgroups it has, and what its kernel makes of the plan's class, races and capabilities. */
pctl_status pctl_job_plan_unit(pctl_job_plan *p, pctl_step *step, const uint32_t groups[3],
			       const pctl_call *call);

/* 1: no kernel from step `from` on binds more than `most` bytes (0: any number), but for parameters and constants, which no cut makes fewer. */
int pctl_job_plan_fits(const pctl_job_plan *p, uint32_t from, uint64_t most);

/* What an analysis is told of a binding whose buffer the plan has. */
pctl_known_binding pctl_job_plan_known(const pctl_job_plan *p, const pctl_plan_binding *b);

/* Find where temporaries lie in the buffer that they share: pool_bytes and `at`. Once all steps are there; a plan of which nobody
 * asks it has no pool. */
pctl_status pctl_job_plan_place(pctl_job_plan *p, const pctl_call *call);
/*
 * What of an op's outputs may lie in the place of inputs: in_place, by what the op declares and by what the plan does (SEMANTICS.md
 * 17.7). A plan that breaks what is declared is none (PC4132), but for one that the host cut, whose outputs then have places of their own.
 */
pctl_status pctl_job_plan_in_place(pctl_job_plan *p, const pctl_op_desc *desc,
				   const pctl_call *call);
/* 1: a copy that falls away where output places[] says so (1 + the input, or 0; NULL: nowhere). */
int pctl_step_falls_away(const pctl_job_plan *p, const pctl_step *step, const uint8_t *places);

/* The most that is needed at once: inputs, outputs and parameters all, temporaries while they are alive. */
uint64_t pctl_job_plan_peak(const pctl_job_plan *p);

/* Copy an input over the whole of an output of the same size before the kernels run; make an output
 * zero. */
pctl_status pctl_job_plan_copy(pctl_job_plan *p, uint32_t from, uint32_t to, const pctl_call *call);
pctl_status pctl_job_plan_zero(pctl_job_plan *p, uint32_t buffer, const pctl_call *call);
/* Copy n_bytes between ranges of two buffers. */
pctl_status pctl_job_plan_move(pctl_job_plan *p, const pctl_plan_slot *from,
			       const pctl_plan_slot *to, uint64_t n_bytes, const pctl_call *call);
/* Steps from `first` on have their workgroups from `counts` at `offset`: three numbers, no more than they would have. */
void pctl_job_plan_indirect(pctl_job_plan *p, uint32_t first, uint32_t counts, uint64_t offset);
/* Append an assertion; its message is copied. */
pctl_status pctl_job_plan_check(pctl_job_plan *p, const pctl_plan_check *check,
				const pctl_call *call);

/*
 * Gas of `times` runs of the plan under a schedule: every kernel's total with its buffers as
 * memory, fills and copies as memory gas of the bytes they move, `hops` parent edges once. Checked
 * sums (PC26xx on overflow).
 */
pctl_status pctl_job_plan_gas(const pctl_job_plan *p, const pctl_gas_schedule *schedule,
			      uint64_t times, uint64_t hops, const pctl_call *call, uint64_t *out);

#endif
