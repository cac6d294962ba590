/* Command line and descriptors of a worker; see launch.h. */
#include "runtime/ipc/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIXED_ARGS 20u
#define LIMITS_TEXT 128

/* pctl_worker_limits in their order. */
static const char *limits_text(const pctl_worker_limits *l, char text[LIMITS_TEXT])
{
	snprintf(text, LIMITS_TEXT, "%" PRIu64 ",%" PRIu64 ",%u,%u,%u", l->memory, l->file,
		 l->tasks, l->processes, l->files);
	return text;
}

static char *const *command_line(const pctl_launch *l, const char *limits, const char *without)
{
	const char **argv =
		calloc(FIXED_ARGS + 2 * (l->n_interfaces + l->confine.n_read), sizeof(*argv));
	uint32_t i, n = 0;

	if (!argv)
		return NULL;
	argv[n++] = "pipectl-worker";
	argv[n++] = l->probe ? "--probe" : "--serve";
	argv[n++] = l->library;
	argv[n++] = "--id";
	argv[n++] = l->id;
	argv[n++] = "--limits";
	argv[n++] = limits;
	if (l->debug)
		argv[n++] = "--debug";
	if (l->cache_dir) {
		argv[n++] = "--cache-dir";
		argv[n++] = l->cache_dir;
	}
	for (i = 0; i < l->n_interfaces; i++) {
		argv[n++] = "--interface";
		argv[n++] = l->interfaces[i];
	}
	if (l->confine.on)
		argv[n++] = "--confine";
	for (i = 0; l->confine.on && i < l->confine.n_read; i++) {
		argv[n++] = "--read";
		argv[n++] = l->confine.read[i];
	}
	if (l->confine.on && l->confine.write) {
		argv[n++] = "--write";
		argv[n++] = l->confine.write;
	}
	if (l->confine.on && l->confine.without) {
		argv[n++] = "--without";
		argv[n++] = without;
	}
	return (char *const *)(uintptr_t)argv;
}

pctl_status pctl_launch_start(const pctl_launch *l, const pctl_call *call, pctl_process *process,
			      int *channel, int *control)
{
	int pair[2] = {-1, -1}, beside[2] = {-1, -1}, fds[4], i;
	pctl_process_spec spec = {l->worker, NULL, l->envp, fds, 3};
	char limits[LIMITS_TEXT], without[16];
	pctl_status s;

	*channel = *control = -1;
	snprintf(without, sizeof(without), "%u", l->confine.without);
	spec.argv = command_line(l, limits_text(&l->limits, limits), without);
	if (!spec.argv)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a worker");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, beside) < 0 ||
	    fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0) {
		s = pctl_refuse(call, PC3102_WORKER_START, "no socket pair: %s", strerror(errno));
		goto out;
	}
	fds[0] = pair[1];
	fds[1] = beside[1];
	fds[2] = l->library_fd;
	fds[3] = l->further_fd;
	spec.n_fds += l->further_fd >= 0;
	s = pctl_process_spawn(&spec, call, process);
	if (s)
		goto out;
	*channel = pair[0];
	*control = beside[0];
	pair[0] = beside[0] = -1;
out:
	for (i = 0; i < 2; i++) {
		if (pair[i] >= 0)
			close(pair[i]);
		if (beside[i] >= 0)
			close(beside[i]);
	}
	free((void *)(uintptr_t)spec.argv);
	return s;
}
