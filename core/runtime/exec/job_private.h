/* Inside of a job under way, shared by job.c and job_record.c. */
#ifndef PIPECTL_RUNTIME_EXEC_JOB_PRIVATE_H
#define PIPECTL_RUNTIME_EXEC_JOB_PRIVATE_H

#include "runtime/exec/submission.h"
#include "runtime/exec/value.h"

struct pctl_job_running {
	pctl_session *s;
	const pctl_backend *t;
	pctl_device *dev;
	const pctl_job_run *run;
	const pctl_job_plan *plan;
	const pctl_call *call; /* that of `work` */
	pctl_kernel **kernels; /* one a step */
	pctl_buffer *
		*own; /* buffers made here, one a plan buffer (NULL: an input, or in the pool) */
	pctl_buffer *pool;    /* that temporaries share, or NULL: each has its own */
	pctl_buffer **second; /* the other buffer of carried outputs */
	pctl_buffer **inputs;
	pctl_zones *lie;  /* of each input */
	uint8_t **taken;  /* of each output: its bytes, where they were read with their zones */
	pctl_shape shape; /* all 0: buffers are exact */
	pctl_submission work;
	uint64_t rounds; /* that are done */
	/* Kernels of programs without guards, with them though there are such, and values that were looked at. */
	uint32_t fast, safe, looked;
	uint32_t exceeded; /* 1 + the step whose kernel went over its turn budget */
	uint32_t barriers; /* recorded so far */
	char what[224];
};

/* Buffers of round `round` (0, then odd and even alternate), one a plan buffer, and where in them the plan's bytes begin. */
void pctl_job_buffers_of(const struct pctl_job_running *r, uint64_t round, pctl_buffer **buffers,
			 uint64_t *bases);
/* 1 + the input in whose place a buffer of the plan lies, or 0. */
uint32_t pctl_job_place(const struct pctl_job_running *r, uint32_t number);
/* 1: an output lies in the place of the input. */
int pctl_job_is_overwritten(const struct pctl_job_running *r, uint32_t input);
/* Of a job that failed: such inputs may be half written, and nobody is to find them on the session. */
void pctl_job_drop_places(struct pctl_job_running *r, pctl_value *const *in);
/* What is anything before a plan wrote it (SEMANTICS.md 17.1), in the run's pattern; poison.c. */
pctl_status pctl_job_poison_own(const struct pctl_job_running *r, uint32_t i, uint64_t seed,
				pctl_buffer *buffer);
/* A binding that the program writes to. */
int pctl_job_writes(const pctl_program *p, const pctl_plan_binding *b);
/* job_contract.c: before anything is recorded, the programs under range contracts in r->kernels, where the inputs fulfil
 * them. */
pctl_status pctl_job_choose_programs(struct pctl_job_running *r, pctl_value *const *in);
/* The round is the one that is cut short. */
int pctl_job_is_cut(const struct pctl_job_running *r, uint64_t round);
/* How many steps of a round run, and whether one moves nothing. */
uint32_t pctl_job_steps_of(const struct pctl_job_running *r, uint64_t round);
int pctl_job_is_empty(const pctl_step *step);
/* A list of the rounds first .. first + n - 1; step not 0: of that step of the first alone. */
pctl_status pctl_job_record(struct pctl_job_running *r, uint64_t first, uint32_t n, uint32_t step,
			    pctl_list **out);
/* The zones of the buffer that was made for plan buffer `number`; `second`: of its other buffer. */
pctl_zones pctl_job_zones(const struct pctl_job_running *r, uint32_t number, int second);
/* The pool has the number behind the last buffer of the plan. */
/* 1: of an output's two buffers the last round wrote the second. */
int pctl_job_keeps_second(const struct pctl_job_running *r, uint32_t number);
/* Its zones are written and compared: of a shape that is not thorough those of inputs, outputs and one in four of the others. */
int pctl_job_is_guarded(const struct pctl_job_running *r, uint32_t number);
/* All zones of all guarded buffers and inputs as they were written (PC5224). */
pctl_status pctl_job_guard_check(struct pctl_job_running *r, pctl_value *const *in);
/* No kernel has gone over its budget of turns so far (PC5226). */
pctl_status pctl_job_check_turns(struct pctl_job_running *r);
/* What kernels may only read against the host's bytes (PC5223): of every device buffer that no step writes. */
pctl_status pctl_job_check_held(struct pctl_job_running *r, pctl_value *const *in);

#endif
