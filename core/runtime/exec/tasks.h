/* Tasks that do not depend on each other, on one opened device: bytes go up in few large buffers, all dispatches in one list
 * without a barrier, all outputs come back in one read. Which device that is, and what happens when it is lost, is the
 * caller's. */
#ifndef PIPECTL_RUNTIME_EXEC_TASKS_H
#define PIPECTL_RUNTIME_EXEC_TASKS_H

#include "runtime/cas/evidence.h"
#include "runtime/exec/session.h"
#include "runtime/exec/shape.h"

/* Bytes bound to a variable that the program only reads (storage or uniform). Tasks that bind the same CID may share
 * one buffer. */
typedef struct pctl_task_binding {
	uint32_t group, binding;
	const pctl_cid *cid; /* NULL: bytes without a name */
	const void *data;
	uint64_t n_bytes;
} pctl_task_binding;

/*
 * unit      compiled with PCTL_WGSL_CONSENSUS, its groups those of the task
 * name      of the job (its id), for messages and trace ids
 * output    n_output bytes of the caller's, written on success: group 1 binding 0, which starts as zeros
 */
typedef struct pctl_task {
	const pctl_kernel_module *unit;
	const char *name;
	uint32_t groups[3];
	uint32_t n_bindings;
	const pctl_task_binding *bindings;
	void *output;
	uint64_t n_output;
	pctl_evidence *
		evidence; /* filled in on success: how the output stands by itself; may be NULL. It changes no state */
} pctl_task;

#define PCTL_TASKS_SUBMIT_BYTES (256ull << 20)
#define PCTL_TASKS_SUBMIT_MOST 16384u

/*
 * submit_bytes  of buffers of one submission, 0: PCTL_TASKS_SUBMIT_BYTES, or half the device's memory where that is
 *               less. A task that needs more runs alone
 * submit_tasks  0: PCTL_TASKS_SUBMIT_MOST
 * timeout_ms    of one submission, 0 none
 * shapes        where each submission draws the zones from that lie beside its bytes and are compared after it, as is what is
 *               small and only read; NULL: there are none
 * held          all that is only read is compared with the host's bytes
 */
typedef struct pctl_task_limits {
	uint64_t submit_bytes, timeout_ms;
	pctl_shapes *shapes;
	uint32_t submit_tasks, held;
} pctl_task_limits;

typedef struct pctl_task_stats {
	uint64_t submits, dispatches, buffers, bytes_up, bytes_down;
	uint64_t device_ns; /* 0 unknown */
} pctl_task_stats;

/* What no device could mend: PC5831, a variable that is bound never, twice or with fewer bytes than its type has, or
 * one that is written and is not the output. */
pctl_status pctl_tasks_check(const pctl_task *tasks, uint32_t n, const pctl_call *call);

/* Can this device run every task: as pctl_session_qualify, all limits and all kernels. */
pctl_status pctl_tasks_qualify(pctl_session *s, const pctl_task *tasks, uint32_t n,
			       const pctl_call *call);

/*
 * Run checked and qualified tasks. The backend hears the trace id of each task's name while it is recorded, unless
 * `call` has one of its own. stats may be NULL. Errors: of the backend, PC5206 (timeout), PC0004 (cancelled), PC5224 (a byte
 * of a zone was written), PC5223 (so was one that is only read).
 */
pctl_status pctl_tasks_run(pctl_session *s, const pctl_task_limits *limits, const pctl_task *tasks,
			   uint32_t n, const pctl_call *call, pctl_task_stats *stats);

#endif
