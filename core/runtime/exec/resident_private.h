/* Inside of a resident run, shared by the resident_*.c files. */
#ifndef PIPECTL_RUNTIME_EXEC_RESIDENT_PRIVATE_H
#define PIPECTL_RUNTIME_EXEC_RESIDENT_PRIVATE_H

#include "runtime/exec/hazards.h"
#include "runtime/exec/resident.h"
#include "runtime/exec/run_private.h"
#include "runtime/graph/liveness.h"

#define PCTL_RESIDENT_SMALL (64u << 10) /* what is written, or read, together with others */
#define PCTL_RESIDENT_COMMANDS (1u << 18)

/* Where a span's bytes are. */
enum {
	PCTL_SPAN_POOL = 1, /* activations: by liveness in the pools */
	PCTL_SPAN_INPUT,    /* a constant input: `number` of it */
	PCTL_SPAN_CONSTANT, /* of a plan */
	PCTL_SPAN_PARAMS,   /* in the one buffer of all parameters */
	PCTL_SPAN_ASK,	    /* a changing input */
	PCTL_SPAN_STATE,    /* what state `number` is before the step */
	PCTL_SPAN_NEXT,	    /* and after it */
	PCTL_SPAN_PLACED,   /* both, in one place */
	PCTL_SPAN_ANSWER,   /* what the host reads after a step */
	PCTL_SPAN_KEPT,	    /* what a job made when the run was opened: no step changes it */
	PCTL_SPAN_ONCE	    /* what such a job needed for that */
};

/*
 * Bytes that commands name. from, to: the levels at which it is alive, of POOL.
 *
 * buffer, base  where it lies, but for states, whose buffers take turns. In ASK and ANSWER spans that are small lie together,
 *               the others have buffers of their own
 * plan          CONSTANT and PARAMS: what the plan says of it
 */
typedef struct pctl_resident_span {
	uint32_t kind, number;
	uint64_t n_bytes;
	const pctl_plan_buffer *plan;
	pctl_buffer *buffer;
	uint64_t base;
	pctl_life life;
	uint32_t is_own;      /* INPUT: put on the device for this one, not by one that it shares */
	uint32_t is_streamed; /* INPUT: in the slot while a segment runs, see resident_stream.c */
} pctl_resident_span;

/* A range that a command names. */
typedef struct pctl_resident_range {
	uint32_t span, writes;
	uint32_t group, binding; /* of a kernel's */
	uint64_t offset, n_bytes;
} pctl_resident_range;

/* ranges: of a kernel one a binding, and behind them its three numbers of workgroups where they stand in a buffer; of a copy to and
 * from; of a fill to. node: whose job it is. */
typedef struct pctl_resident_command {
	uint32_t kind; /* PCTL_STEP_* */
	uint32_t node, n_ranges, level, place;
	uint32_t word;
	const pctl_step *step; /* KERNEL */
	pctl_kernel *kernel;
	pctl_resident_range *ranges;
} pctl_resident_command;

/* A word that the host looks at after each step: an assertion's, with a second number where it tells one, or a kernel's flag. */
typedef struct pctl_resident_report {
	const pctl_job_plan *plan;
	const pctl_plan_check *check; /* NULL: the flag of `step` */
	uint32_t step;
	uint32_t found, also; /* spans; also UINT32_MAX: none */
	uint32_t reserved;
	uint64_t found_at, also_at; /* in them */
} pctl_resident_report;

/* A uniform with a declared maximum that a changing input feeds. */
typedef struct pctl_resident_max {
	const pctl_job_plan *plan;
	const pctl_step *step;
	const pctl_max *max;
	uint32_t changing, bytes;
	uint64_t offset;
} pctl_resident_max;

/* A state: both buffers, of n_bytes rounded up to 4; the one that is read next is that of the parity. is_placed: it has the first alone,
 * in which each step writes what changes (SEMANTICS.md 17.7). */
typedef struct pctl_resident_held {
	const char *input;
	pctl_tensor_type type;
	uint64_t n_bytes;
	pctl_buffer *buffers[2];
	uint32_t is_placed, reserved;
} pctl_resident_held;

/* A streamed input in the slot. */
typedef struct pctl_resident_upload {
	uint32_t span, reserved;
	uint64_t at;
} pctl_resident_upload;

/* Commands that are submitted together, and the streamed inputs that lie in the slot for them. Where all is on the device there is one. */
typedef struct pctl_resident_segment {
	uint32_t first, n, first_upload, n_uploads;
	pctl_list *lists[2]; /* of both parities; the second is NULL where no state takes turns */
} pctl_resident_segment;

/* A step that was made: who made it, its changing inputs one after the other, and the CIDs of what was read. */
typedef struct pctl_resident_past {
	uint32_t maker, reserved;
	uint8_t *in;
	pctl_cid *cids;
} pctl_resident_past;

/*
 * What residents that share have together. The first of them has the sessions and the data.
 *
 * makers   all that share, by number; n: also of those that are closed
 * lost     1: a step left it unknown what the states are
 * checked  steps that the reference did again, all from the first
 * total_bytes  on the device, but for constant inputs: weight_bytes of those that stay there, slot_bytes for the others
 * budget_bytes what all of that may be; 0: nobody knows. is_declared: somebody asked for it
 * streams      1: not all constant inputs stay on the device (resident_stream.c); held_bytes of them are copies of the host
 */
typedef struct pctl_resident_family {
	uint32_t references, n_makers, parity, lost;
	pctl_resident **makers;
	pctl_resident_held *states;
	uint32_t n_states, is_settled;
	uint64_t n_steps, checked, total_bytes;
	uint64_t budget_bytes, weight_bytes, slot_bytes, held_bytes;
	uint32_t streams, is_declared;
	pctl_buffer *slot;
	uint64_t history_bytes, history_used;
	uint32_t forgot, room;
	pctl_resident_past *past; /* room for `room`, n_steps of them unless it forgot */
} pctl_resident_family;

struct pctl_resident {
	pctl_running run;
	pctl_run_options o; /* with copies of what it names */
	pctl_arena *arena;
	pctl_resident_family *family;
	uint32_t number; /* among the makers */
	uint32_t is_closed;
	pctl_session *s;
	const pctl_backend *t;
	pctl_device *dev;
	const pctl_call *call; /* of the call under way */

	/* resident_ports.c: inputs' roles by number; changing and reads in the caller's order. */
	uint32_t *role;	       /* of each input: PCTL_SPAN_INPUT, _ASK or _STATE */
	uint32_t *role_number; /* among its kind */
	uint32_t *changing;    /* numbers of inputs */
	uint32_t n_changing, n_states, n_reads;
	uint32_t writes_states;	     /* 1: it gives each state its next bytes */
	uint32_t *reads;	     /* numbers of outputs */
	uint32_t *next_output;	     /* of each state the output, UINT32_MAX: none */
	uint32_t *held;		     /* of each state its number in the family */
	pctl_resident_state *states; /* names, copied */

	/* resident_commands.c; once: commands of jobs that nothing of a step comes to. is_once: the job under way is one; made_once: which were. */
	pctl_resident_span *spans;
	pctl_resident_command *commands;
	pctl_resident_report *reports;
	pctl_resident_max *maxima;
	uint32_t n_spans, n_commands, n_reports, n_maxima;
	uint32_t room_spans, room_commands, room_reports, room_maxima;
	pctl_resident_command *once;
	uint32_t n_once, room_once, is_once, reserved2;
	uint8_t *made_once;
	uint32_t *input_span;			/* of each input, UINT32_MAX: not yet */
	uint32_t (*value_span)[PCTL_PORTS_MAX]; /* of each job's outputs */

	/* resident_order.c */
	uint32_t n_levels;

	/* resident_place.c: buffers that it owns, and the bytes of the host for what is moved in one. */
	pctl_buffer **pools;
	uint64_t *pool_size;
	uint32_t n_pools;
	pctl_buffer *params, *ask, *answer;
	uint64_t params_bytes, ask_bytes, answer_bytes;
	uint8_t *ask_data, *answer_data;
	uint64_t pool_bytes, live_bytes, constant_bytes, own_bytes;
	uint64_t kept_bytes, once_bytes; /* of spans KEPT and ONCE */
	uint64_t counted_bytes;		 /* of own_bytes, in the family's sum */

	/* resident_record.c: for both parities; the second is NULL without states. */
	const pctl_resident_input *in; /* of the step under way */
	pctl_cid *own_cids;	       /* one a read output, where the caller wants none */
	uint32_t n_dispatches, n_transfers, n_barriers;

	/* resident_stream.c */
	pctl_resident_segment *segments;
	pctl_resident_upload *uploads;
	uint32_t n_segments, n_uploads;
	uint64_t streamed_bytes; /* of a step */
};

/* resident_ports.c: names to numbers; PC5252. */
pctl_status pctl_resident_take_ports(pctl_resident *r, const pctl_resident_options *how);
/* Once all is planned: what states are fed has their types, and comes from a job. */
pctl_status pctl_resident_check_ports(pctl_resident *r);

/* resident_commands.c: all jobs' steps as commands over spans. */
pctl_status pctl_resident_make_commands(pctl_resident *r);
/* 1: the range of a command's kernel is one that its program may write. */
pctl_status pctl_resident_add_span(pctl_resident *r, uint32_t kind, uint32_t number,
				   uint64_t n_bytes, uint32_t *out);

/* resident_in_place.c: which outputs of a job lie in the place of inputs (1 + the input, or 0), by its plan and by who reads them. */
void pctl_resident_places(const pctl_resident *r, uint32_t node, const pctl_job_plan *plan,
			  const uint32_t *span_of, uint8_t places[PCTL_PORTS_MAX]);
/* What becomes of an output: a state's next bytes (*number), an answer, or what other jobs read. */
uint32_t pctl_resident_kind_of(const pctl_resident *r, uint32_t node, uint32_t port,
			       uint32_t *number);
/* 1: of the resident's states one takes turns; one is written where it lies. */
int pctl_resident_takes_turns(const pctl_resident *r);
int pctl_resident_writes_in_place(const pctl_resident *r);

/* resident_uniforms.c: declared maxima of uniforms: held against what stays now, kept for each step of what changes. */
pctl_status pctl_resident_take_maxima(pctl_resident *r, uint32_t node, const pctl_job_plan *plan,
				      const uint32_t *span_of);
pctl_status pctl_resident_check_maxima(const pctl_resident *r, const pctl_resident_input *in);

/* resident_order.c: commands by levels, in each of which none waits for another; and when spans are alive. Each is as late as it can be; or as early. */
pctl_status pctl_resident_order(pctl_resident *r);
pctl_status pctl_resident_order_early(pctl_resident *r);

/* resident_join.c: on GPUs, dispatches that become one; they are in order before and after it. Not where memory_bytes were declared. */
pctl_status pctl_resident_join(pctl_resident *r, uint64_t memory_bytes);

/* resident_place.c: where everything lies (measure); then buffers, and what is constant in them (fill). */
pctl_status pctl_resident_measure(pctl_resident *r);
pctl_status pctl_resident_fill(pctl_resident *r);
void pctl_resident_release(pctl_resident *r);
/* The buffers that are needed once. */
void pctl_resident_let_go(pctl_resident *r);

/* What binds begin at a multiple of there. */
uint64_t pctl_resident_alignment(const pctl_resident *r);
pctl_status pctl_resident_create(const pctl_resident *r, uint64_t n, pctl_buffer **out);

/* resident_budget.c: whether all that share may lie on the device as they are; else which constant inputs stay there, and in which segments
 * the others come to it. PC5204 with the least budget, PC4314. */
pctl_status pctl_resident_fit(pctl_resident *r, uint64_t memory_bytes);

/* resident_segments.c: cut the commands into segments for a slot of so many bytes; 0: nothing is streamed, and there is one. */
pctl_status pctl_resident_cut(pctl_resident *r, uint64_t slot_bytes);
/* What that would be: bytes that a step moves, and submissions. */
pctl_status pctl_resident_count_segments(pctl_resident *r, uint64_t slot_bytes, uint64_t *bytes,
					 uint32_t *segments);
/* The slot that one command needs. */
uint64_t pctl_resident_slot_of(const pctl_resident *r, const pctl_resident_command *c);

/* resident_stream.c: before a segment is recorded, where its inputs lie; before it runs, their bytes. */
void pctl_resident_settle_segment(pctl_resident *r, const pctl_resident_segment *g);
pctl_status pctl_resident_upload_segment(pctl_resident *r, const pctl_resident_segment *g);
/* Keep copies of what is streamed in the host's memory as far as that goes. */
pctl_status pctl_resident_hold(pctl_resident *r);

/* resident_record.c: the lists, of all segments. */
pctl_status pctl_resident_record(pctl_resident *r);
void pctl_resident_drop_lists(pctl_resident *r);
/* Run what is run once, and let what it needed go. */
pctl_status pctl_resident_run_once(pctl_resident *r);
/* The buffer and the place of a range, under a parity. */
void pctl_resident_where(const pctl_resident *r, const pctl_resident_range *a, uint32_t parity,
			 pctl_buffer **buffer, uint64_t *at);

/* resident_check.c: one step again on the reference: cids of read outputs, and where `after` is not NULL the bytes of the
 * states, released with free(). states: their bytes before. */
pctl_status pctl_resident_again(pctl_resident *r, const uint8_t *in, uint8_t *const *states,
				const pctl_call *call, pctl_cid *cids, uint8_t **after);
/* The step that was just made, which the sample has (PC5208). */
pctl_status pctl_resident_verify(pctl_resident *r, const pctl_cid *cids);

/* resident_past.c */
void pctl_resident_remember(pctl_resident *r, const pctl_cid *cids);
void pctl_resident_forget(pctl_resident_family *f);

#endif
