/* The host's side: a backend that runs in a worker process, behind the same pctl_backend table as
 * one that runs here. What differs from a backend in-process:
 *   - list_* up to list_end and all destroy calls return at once; list_end reports the first
 *     failure.
 *   - buffer_write of few bytes (PCTL_IPC_INLINE_MAX) returns at once; whatever fails in it is reported by what next asks
 *     of that buffer: a read, a write of more, the list_end of a list that uses it.
 *   - submit returns at once with a ticket; whatever fails in it is reported by wait. Submits to
 *     several workers therefore overlap, and submit with wait costs one round trip.
 *   - when the worker dies, hangs past its time or answers nonsense, the call under way and all
 *     later ones return PCTL_E_DEVICE_LOST with the cause; objects stay valid for destroy and
 *     close.
 * One lock serialises the calls of a remote; cancel takes none. */
#ifndef PIPECTL_RUNTIME_IPC_REMOTE_H
#define PIPECTL_RUNTIME_IPC_REMOTE_H

#include <sys/types.h>

#include "runtime/ipc/launch.h"
#include "pipectl/backend.h"

typedef struct pctl_remote pctl_remote;

/*
 * launch           the process, see launch.h
 * traced           1: it is told the trace ids of calls; only for plugins that fail on purpose
 * start_ms         time for loading and opening the plugin, 0: 30 s
 * call_ms          time for any other call but wait, 0: 120 s
 *                  All of these count processor time: while the worker computes, or would on a machine that is busy with
 *                  other work, it has up to ten times as long; see patience.h
 * build_cpu_ms     processor time that the build of one program may take, 0: call_ms
 * build_memory     bytes that it may take on top of what the worker has, 0: no limit
 * first_run_ms     by the clock, how long the first run of a program may take in which a driver may still compile; it has
 *                  build_memory, too, on top of its buffers. 0: no limit
 * grace_ms         how long a wait may overrun its timeout, and a cancelled call may take; 0: 10 s
 * lost_code        what a lost worker is refused with instead of PC3103 to PC3105, which speak of devices; 0: those
 * over_folder      set to 1 when it is closed, or could not be opened, because of what lies in its own folder; or NULL
 * window_bytes     shared memory for transfers, 0: 4 MiB
 */
typedef struct pctl_remote_options {
	pctl_launch launch;
	uint32_t traced;
	uint32_t start_ms;
	uint32_t call_ms;
	uint32_t build_cpu_ms;
	uint64_t build_memory;
	uint32_t first_run_ms;
	uint32_t grace_ms;
	uint32_t lost_code;
	int *over_folder;
	uint64_t window_bytes;
} pctl_remote_options;

/* Start a worker and open the plugin in it. Errors: those of library.h, PC3102 to PC3106.
 * [any thread] */
pctl_status pctl_remote_open(const pctl_remote_options *o, const pctl_call *call,
			     pctl_remote **out);
/* End the worker; nothing of it is left when this returns. Objects must be destroyed before. NULL
 * is fine. */
void pctl_remote_close(pctl_remote *r);

const pctl_backend *pctl_remote_table(const pctl_remote *r);
pctl_instance *pctl_remote_instance(pctl_remote *r);
/* NULL while the worker is well, else how it was lost (lives as long as the remote). */
const char *pctl_remote_lost(const pctl_remote *r);
/* 1 when it was lost by its own doing: not when work was cancelled, or closed over while under way,
 * and it merely did not stop in time. */
int pctl_remote_at_fault(const pctl_remote *r);
/* System calls that its worker was refused so far, for as long as it is open. */
const pctl_refused *pctl_remote_refused(const pctl_remote *r);
pid_t pctl_remote_pid(const pctl_remote *r);

#endif
