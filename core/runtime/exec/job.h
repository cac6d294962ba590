/* Running one planned job on one session: buffers, a command list recorded once, submits, the
 * plan's own checks. */
#ifndef PIPECTL_RUNTIME_EXEC_JOB_H
#define PIPECTL_RUNTIME_EXEC_JOB_H

#include "foundation/base/progress.h"
#include "runtime/exec/session.h"
#include "runtime/exec/shape.h"
#include "runtime/exec/source.h"
#include "runtime/exec/submission.h"

/*
 * Bytes on a device: what travels along an edge. Counted; the last release destroys the buffer. A
 * value of a source (an input of the run) is uploaded to a session when it is first asked for
 * there.
 */
typedef struct pctl_value pctl_value;

pctl_value *pctl_value_from_source(
	pctl_data_source *source); /* the source outlives the value; NULL: no memory */
pctl_value *pctl_value_retain(pctl_value *v);
void pctl_value_release(pctl_value *v);
uint64_t pctl_value_bytes(const pctl_value *v);
/* The buffer on `s` (rounded up to 4 bytes, the rest zero), copied there if it is elsewhere, between such zones. Owned by the
 * value. where: the zones that it has, for it may have been there already. */
pctl_status pctl_value_on(pctl_value *v, pctl_session *s, const pctl_zones *zones,
			  const pctl_call *call, pctl_buffer **out, pctl_zones *where);
/*
 * The value's bytes as the host holds them, owned by the value. Those of a device are read from it at the first call and
 * never again, so that all who ask, hash, compare, store or upload them elsewhere, see the same. Those of a source come
 * from the source, never back from a device.
 */
pctl_status pctl_value_hold(pctl_value *v, const pctl_call *call, const uint8_t **out);
/* The same bytes in ascending pieces; a source is not held in memory for it. */
pctl_status pctl_value_stream(pctl_value *v, const pctl_call *call,
			      pctl_status (*take)(void *ctx, uint64_t offset, const void *data,
						  uint64_t n),
			      void *ctx);
/* Copy n of them at offset. */
pctl_status pctl_value_read(pctl_value *v, uint64_t offset, void *data, uint64_t n,
			    const pctl_call *call);
/* A copy of all of them, released with free(). */
pctl_status pctl_value_fetch(pctl_value *v, const pctl_call *call, uint8_t **out);

/* The buffers of a plan while it has them: buffers[i] is plan buffer i, as the last round used it, from byte bases[i] on. */
typedef struct pctl_job_buffers {
	const pctl_job_plan *plan;
	pctl_session *session;
	pctl_buffer *const *buffers;
	const uint64_t *bases;
} pctl_job_buffers;

enum { PCTL_TRACE_JOBS = 0, PCTL_TRACE_ROUNDS = 1, PCTL_TRACE_STEPS = 2 };

/*
 * progress  told of rounds, time and limit after each submit and while one is waited for
 * traced  1: one submit a round, so that the trace id names the round exactly
 * cut     1: the last round ends after its first `steps` steps (0 is fine), its assertions are not checked, and `observe`
 *         is shown the buffers then; the outputs handed over are unfinished
 * poison  not 0: temporaries and outputs start with a pattern made from it, in which no byte is zero
 * held    1: what kernels may only read (inputs, parameters) is read back after the last round and compared with the
 *         host's bytes: PC5223
 * quiet_turns  1: a kernel that goes over its turn budget is not reported here but in the stats, and by the caller
 * shape   NULL: an ordinary one. With zones every buffer that the job makes lies between two of them; those of all its
 *         buffers and inputs are compared after the last round: PC5224
 * trace   PCTL_TRACE_ROUNDS: `observed_steps` is shown the buffers after each round (step 0); _STEPS: before that after each step
 *         too (from 1), each a submit of its own whose trace id names it. Steps that move no bytes are passed over; of a
 *         cut round only its steps are shown
 * places  as the plan's in_place allows, of a plan that runs once: the output takes the buffer of that input over, whose value has none
 *         on the session afterwards; nobody else may have the value, and its bytes are with the host or a source where they are
 *         wanted again (pctl_value_hold before)
 * times   NULL, or room for `repeat` rounds, each a submit of its own then; with a device that has timestamps they stand around
 *         all kernels of a round, not around copies and fills before the first
 * marks   steps, ascending, before each of which slot 0, 1, .. takes the device's time, and one more behind the last step; with n_marks
 *         0 none are taken. Only of a device that has timestamps, and without `times`
 */
typedef struct pctl_job_run {
	const pctl_job_plan *plan;
	uint64_t repeat;
	const uint32_t *carry;	   /* for each input 1 + output, or 0; NULL without */
	const uint64_t *out_bytes; /* exact bytes of each output */
	const uint8_t
		*places; /* of each output 1 + the input where it lies, or 0; NULL: each apart */
	uint64_t timeout_ms;		    /* for the whole job, 0 none */
	const pctl_progress_sink *progress; /* NULL: none */
	uint32_t traced, cut, steps;
	uint32_t held;
	uint64_t poison;
	const pctl_shape *shape;
	pctl_status (*observe)(void *ctx, const pctl_job_buffers *view, const pctl_call *call);
	void *observer;
	uint32_t trace, quiet_turns;
	pctl_status (*observed_steps)(void *ctx, const pctl_job_buffers *view, uint64_t round,
				      uint32_t step, const pctl_call *call);
	void *observed_ctx;
	pctl_round_time *times;
	const uint32_t *marks;
	uint32_t n_marks, reserved;
} pctl_job_run;

/* began_ns: by the host's clock (pctl_clock_ns). wall_ns from then on, of which upload_ns came first (buffers made, inputs
 * copied) and dispatch_ns next (recorded, submitted, waited for); the rest is checks of what may not have changed. */
typedef struct pctl_job_stats {
	uint64_t device_ns; /* 0 unknown */
	uint64_t wall_ns;
	uint64_t began_ns, upload_ns, dispatch_ns;
	uint64_t submits;
	uint64_t dispatches; /* recorded */
	uint64_t exceeded;   /* 1 + the step whose kernel went over its turn budget, 0: none did */
	/* Of kernels that have a program under range contracts (compiler/legalize/contract.h): how many ran it, how many
	 * not; and inputs that were looked at for it on the device. */
	uint32_t fast_kernels, safe_kernels, looked;
	pctl_counts counts; /* of a counting session, else zero */
} pctl_job_stats;

/*
 * Run. in: plan->n_in values; out: plan->n_out new values, each with one count for the caller
 * (NULLs on error). The backend is called with the trace id of the plan's name and the first round of a submit, unless
 * `call` has one of its own. Errors: of the backend; PC5226 a kernel went over its turn budget (PCTL_E_EXEC); PC5205 an assertion of the plan failed (PCTL_E_EXEC),
 * PC5206 timeout, PC0004 cancelled.
 */
pctl_status pctl_job_execute(pctl_session *s, const pctl_job_run *run, pctl_value *const *in,
			     const pctl_call *call, pctl_value **out, pctl_job_stats *stats);

/* Fill n_bytes of a buffer, from `base` on, with the pattern of a seed (not 0). */
pctl_status pctl_job_poison(pctl_session *s, pctl_buffer *buffer, uint64_t base, uint64_t n_bytes,
			    uint64_t seed, const pctl_call *call);

/* PC5205 in the words of an assertion that found `found`, and `also` where it tells a second number. */
pctl_status pctl_job_refuse_check(const pctl_job_plan *plan, const pctl_plan_check *c,
				  uint64_t found, uint64_t also, const pctl_call *call);

/* PC5226 at the first loop of the step's kernel that counts; `why` ends the message. */
#define PCTL_TURNS_HINT \
	"let the loop end sooner, bound it, or allow more with `//# max turns = N` or --max-turns"
pctl_status pctl_job_refuse_turns(const pctl_job_plan *plan, uint32_t step, const char *why,
				  const pctl_call *call);

/* Run a measuring plan and read its value. timeout_ms and progress as above. */
pctl_status pctl_job_measure(pctl_session *s, const pctl_job_plan *plan, pctl_value *const *in,
			     uint64_t timeout_ms, const pctl_progress_sink *progress,
			     const pctl_call *call, uint64_t *out);

#endif
