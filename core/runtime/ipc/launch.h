/* Starting pipectl-worker: its command line, its descriptors and nothing that tells what it is started for. The same
 * plugin under the same driver gets the same command line and environment from every verb. */
#ifndef PIPECTL_RUNTIME_IPC_LAUNCH_H
#define PIPECTL_RUNTIME_IPC_LAUNCH_H

#include "runtime/ipc/confine.h"
#include "runtime/ipc/process.h"

/* The library's sealed copy, and that of one more the plugin may load (what a scripted one wraps). */
#define PCTL_LAUNCH_LIBRARY_FD 5
#define PCTL_LAUNCH_REFUSED_FD 6 /* the page of pctl_refused */
#define PCTL_LAUNCH_FURTHER_FD 7
#define PCTL_LAUNCH_LIBRARY_PATH "/proc/self/fd/5"
#define PCTL_LAUNCH_FURTHER_PATH "/proc/self/fd/7"

/*
 * worker      path of pipectl-worker
 * library     what the plugin's library is called in messages
 * id          of the plugin
 * library_fd  descriptor to load it from; further_fd: of one more library, or -1
 * envp        the whole environment
 * cache_dir   for the plugin's service pctl.cache-dir/1, or NULL
 * interfaces  what is asked of it; a probe looks at all, a server serves the first
 * probe       1: examine it, 0: serve it
 * confine     what it may reach
 * limits      what it may use
 * debug       1: ask the plugin for its own validation
 */
typedef struct pctl_launch {
	const char *worker, *library, *id;
	int library_fd, further_fd;
	char *const *envp;
	const char *cache_dir;
	const char *const *interfaces;
	uint32_t n_interfaces;
	pctl_log *log; /* of the host, or NULL */
	uint32_t probe, debug;
	pctl_confinement confine;
	pctl_worker_limits limits;
} pctl_launch;

/* The host's ends: *channel non-blocking, *control a packet socket, *refused the page that its supervisor writes, to be
 * dropped by the caller whatever is returned. PC3102. */
pctl_status pctl_launch_start(const pctl_launch *l, const pctl_call *call, pctl_process *process,
			      int *channel, int *control, const pctl_refused **refused);

#endif
