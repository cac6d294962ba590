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

#define FIXED_ARGS 22u
#define LIMITS_TEXT 128

/* pctl_worker_limits in their order. */
static const char *limits_text(const pctl_worker_limits *l, char text[LIMITS_TEXT])
{
	snprintf(text, LIMITS_TEXT, "%" PRIu64 ",%" PRIu64 ",%u,%u,%u,%u,%" PRIu64, l->memory,
		 l->file, l->tasks, l->processes, l->files, l->folder_files, l->folder);
	return text;
}

static uint32_t add_each(const char **argv, uint32_t n, const char *word, const char *const *texts,
			 uint32_t n_texts)
{
	for (uint32_t i = 0; i < n_texts; i++) {
		argv[n++] = word;
		argv[n++] = texts[i];
	}
	return n;
}

static uint32_t add_confinement(const char **argv, uint32_t n, const pctl_confinement *c,
				const char *sets, const char *without)
{
	argv[n++] = "--confine";
	argv[n++] = "--sets";
	argv[n++] = sets;
	n = add_each(argv, n, "--read", c->read, c->n_read);
	n = add_each(argv, n, "--call", c->calls, c->n_calls);
	n = add_each(argv, n, "--program", c->programs, c->n_programs);
	n = add_each(argv, n, "--write", &c->write, c->write != NULL);
	return add_each(argv, n, "--without", &without, c->without != 0);
}

static char *const *command_line(const pctl_launch *l, const char *limits, const char *sets,
				 const char *without)
{
	const pctl_confinement *c = &l->confine;
	const char **argv =
		calloc(FIXED_ARGS + 2 * (l->n_interfaces + c->n_read + c->n_calls + c->n_programs),
		       sizeof(*argv));
	uint32_t n = 0;

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
	n = add_each(argv, n, "--interface", l->interfaces, l->n_interfaces);
	if (c->on)
		add_confinement(argv, n, c, sets, without);
	return (char *const *)(uintptr_t)argv;
}

pctl_status pctl_launch_start(const pctl_launch *l, const pctl_call *call, pctl_process *process,
			      int *channel, int *control, const pctl_refused **refused)
{
	int pair[2] = {-1, -1}, beside[2] = {-1, -1}, fds[5], page = -1, i;
	pctl_process_spec spec = {l->worker, NULL, l->envp, fds, 4, l->log, l->id};
	char limits[LIMITS_TEXT], sets[16], without[16];
	pctl_status s;

	*channel = *control = -1;
	*refused = NULL;
	snprintf(sets, sizeof(sets), "%u", l->confine.sets);
	snprintf(without, sizeof(without), "%u", l->confine.without);
	spec.argv = command_line(l, limits_text(&l->limits, limits), sets, without);
	if (!spec.argv)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a worker");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, beside) < 0 ||
	    fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0) {
		s = pctl_refuse(call, PC3102_WORKER_START, "no socket pair: %s", strerror(errno));
		goto out;
	}
	if (!pctl_refused_create(&page, refused)) {
		s = pctl_refuse(call, PC3102_WORKER_START, "no shared memory: %s", strerror(errno));
		goto out;
	}
	fds[0] = pair[1];
	fds[1] = beside[1];
	fds[2] = l->library_fd;
	fds[3] = page;
	fds[4] = l->further_fd;
	spec.n_fds += l->further_fd >= 0;
	s = pctl_process_spawn(&spec, call, process);
	if (s)
		goto out;
	*channel = pair[0];
	*control = beside[0];
	pair[0] = beside[0] = -1;
out:
	if (page >= 0)
		close(page);
	for (i = 0; i < 2; i++) {
		if (pair[i] >= 0)
			close(pair[i]);
		if (beside[i] >= 0)
			close(beside[i]);
	}
	free((void *)(uintptr_t)spec.argv);
	return s;
}
