/* How long a worker is waited for. A limit is one of processor time and one of doing nothing: a worker that computes, or
 * would if the machine let it, is late but does not hang, and gets up to ten times as long by the clock. One that neither
 * runs nor wants to is over its limit when the limit has passed: a device that works while its driver sleeps looks the same,
 * so it gets the limit in full and no more. Waits for a device have the time of the wait on top. */
#ifndef PIPECTL_RUNTIME_IPC_PATIENCE_H
#define PIPECTL_RUNTIME_IPC_PATIENCE_H

#include "runtime/ipc/process.h"

#define PCTL_PATIENCE_POLL_MS \
	250u /* how often a worker's use of the machine is looked at, at most */
#define PCTL_PATIENCE_FOREVER UINT64_MAX

typedef struct pctl_patience {
	uint64_t limit_ms; /* PCTL_PATIENCE_FOREVER: none */
	uint64_t begin_ms, end_ms, last_ms, seen_ms;
	uint64_t used_ms,
		waited_ms; /* when it was looked at last: processors had, and waited for */
	uint32_t has_polled, is_idle;
	pctl_process_usage first, seen;
} pctl_patience;

/* Counting from begin_ms, a time of pctl_clock_ms, which may lie ahead. Nothing is looked at yet: most calls are short. */
void pctl_patience_begin(pctl_patience *p, uint64_t begin_ms, uint64_t limit_ms);
/* Milliseconds until it has to be asked again. */
uint64_t pctl_patience_next(const pctl_patience *p, uint64_t now_ms);
/* 1 when the worker has had its time. */
int pctl_patience_over(pctl_patience *p, const pctl_process *process, uint64_t now_ms);
/* Wait for a process that is about to end: 1 when it has, and was reaped; 0 when it had limit_ms of processor time for that, or did nothing
 * for as long. */
int pctl_patience_reap(pctl_process *process, uint32_t limit_ms);
/* "within 2000 ms, of which it used 3 ms of processor time and waited 0 ms for one", into text. */
const char *pctl_patience_words(const pctl_patience *p, char *text, size_t n);

#endif
