/* Work on one session: commands recorded into a list, the list submitted and waited for, stopped when it is cancelled or
 * late. Jobs of a run (job.h) and tasks of a block (tasks.h) are recorded and submitted here and nowhere else in a run. */
#ifndef PIPECTL_RUNTIME_EXEC_SUBMISSION_H
#define PIPECTL_RUNTIME_EXEC_SUBMISSION_H

#include "runtime/exec/session.h"

/*
 * What one round took. begin_ns and end_ns are what the device says, before its kernels and behind them (has_device 0: it says
 * nothing); host_ns what the host's clock says, from the submit to its end. What a device says is a claim.
 */
typedef struct pctl_round_time {
	uint64_t begin_ns, end_ns, host_ns;
	uint32_t has_device, reserved;
} pctl_round_time;

/*
 * what        is submitted, as messages name it: `job "sum"`
 * call        a copy of the caller's, which this hands to the backend
 * is_traced   1: its trace id is set here, for the caller's had none
 * list        being recorded; NULL: none
 * waiting     told with `ctx` whenever a wait has passed and nothing is done yet; may be NULL
 * started_ns  since when time (pctl_clock_ns) is counted against timeout_ms (0: none)
 */
typedef struct pctl_submission {
	pctl_session *s;
	const pctl_backend *t;
	pctl_device *dev;
	pctl_call call;
	pctl_list *list;
	const char *what;
	uint64_t timeout_ms, started_ns;
	uint64_t submits, dispatches;
	uint64_t device_ns; /* 0 unknown */
	pctl_round_time
		time; /* of the last submit, between slots PCTL_SLOT_BEGIN and PCTL_SLOT_END */
	uint64_t submit_ns, wait_ns; /* of the last submit: handing it over, waiting for its end */
	uint32_t is_traced;
	uint32_t
		runs_on; /* 1: what was stopped has not come to an end, and its buffers are still written */
	uint32_t n_stamps; /* of the last submit: what list_timestamp noted, by slot */
	uint64_t stamps[64];
	void (*waiting)(void *ctx);
	void *ctx;
} pctl_submission;

/* Slots of list_timestamp. */
enum { PCTL_SLOT_BEGIN = 0, PCTL_SLOT_END = 1 };

/* Begin to count time. `call` (may be NULL) and `what` outlive the submission. */
void pctl_submission_begin(pctl_submission *b, pctl_session *s, const char *what,
			   uint64_t timeout_ms, const pctl_call *call);

/* What is recorded or submitted next is of this job, round and step (pctl_trace); job NULL: of none. Nothing where the
 * caller has a trace id of its own. */
void pctl_submission_trace(pctl_submission *b, const char *job, uint32_t round, uint32_t step);

/* Record: one list at a time. end hands it over, destroyed by the caller with the table's list_destroy; drop gives up
 * what is being recorded, if anything is. */
pctl_status pctl_submission_open(pctl_submission *b);
pctl_status pctl_submission_dispatch(pctl_submission *b, pctl_kernel *kernel,
				     const pctl_binding *bindings, uint32_t n,
				     const uint32_t groups[3]);
/* The same; the workgroups stand in a buffer when it runs, and limit[] are the most. */
pctl_status pctl_submission_indirect(pctl_submission *b, pctl_kernel *kernel,
				     const pctl_binding *bindings, uint32_t n, pctl_buffer *counts,
				     uint64_t offset, const uint32_t limit[3]);
pctl_status pctl_submission_end(pctl_submission *b, pctl_list **out);
void pctl_submission_drop(pctl_submission *b);

/* Submit a list `times` times and wait until it is done. PC4 (cancelled) and PC5206 (late), after which nothing of it runs
 * any more; else what the backend says. */
pctl_status pctl_submission_run(pctl_submission *b, pctl_list *list, uint32_t times);

#endif
