/* A plan that stays on a session: its kernels are built, its commands recorded once, its buffers kept, and it is submitted as often as
 * is asked. Between the submit and its end the host does nothing but wait. */
#ifndef PIPECTL_RUNTIME_EXEC_KEPT_H
#define PIPECTL_RUNTIME_EXEC_KEPT_H

#include "runtime/exec/session.h"

typedef struct pctl_kept_plan pctl_kept_plan;

/* What submits have come to, since it was opened. device_ns, host_ns: of the last one. stamps: nanoseconds by the device's clock of
 * the marks, n_stamps of them; 0: the device has no clock, or none were asked for. */
#define PCTL_KEPT_MARKS 64u
typedef struct pctl_kept_plan_stats {
	uint64_t submits, dispatches, barriers, rounds;
	uint64_t device_ns, host_ns;
	uint64_t stamps[PCTL_KEPT_MARKS];
	uint32_t n_stamps, reserved;
} pctl_kept_plan_stats;

/*
 * plan, session  outlive it. Assertions and measures of a plan are not looked at here: whoever keeps one has none
 * buffers        one a buffer of the plan; NULL: a buffer of its own, all zero. Those that are given outlive it. Inputs and outputs
 *                are given
 * marks          steps before which a timestamp is taken, ascending, and one behind the last step; n_marks below PCTL_KEPT_MARKS
 */
pctl_status pctl_kept_plan_open(pctl_session *s, const pctl_job_plan *plan,
				pctl_buffer *const *buffers, const uint32_t *marks,
				uint32_t n_marks, const pctl_call *call, pctl_kept_plan **out);
void pctl_kept_plan_close(pctl_kept_plan *k);

/* Run it `times` times in one submit, and wait. timeout_ms 0: for ever. Errors: of the backend, PC4, PC5206, PC5226. */
pctl_status pctl_kept_plan_run(pctl_kept_plan *k, uint32_t times, uint64_t timeout_ms,
			       const pctl_call *call);
const pctl_kept_plan_stats *pctl_kept_plan_stats_of(const pctl_kept_plan *k);

#endif
