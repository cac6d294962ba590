/* pipectl-worker: runs one plugin for one host and dies with it. It is started by pipectl,
 * never by hand; descriptor 3 is its channel, 4 its control socket. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/ipc/launch.h"
#include "runtime/ipc/library.h"
#include "runtime/ipc/serve.h"
#include "worker.h"

#define EXIT_USAGE 2
#define EXIT_PROTOCOL 3
#define KEPT_BLOCK (32 << 20) /* bytes of a block that is kept when it is freed */
#define KEPT_MEMORY (128 << 20)

/* What follows --limits: seven numbers, those of pctl_worker_limits in their order. */
static int parse_limits(const char *text, pctl_worker_limits *out)
{
	return sscanf(text,
		      "%" SCNu64 ",%" SCNu64 ",%" SCNu32 ",%" SCNu32 ",%" SCNu32 ",%" SCNu32
		      ",%" SCNu64,
		      &out->memory, &out->file, &out->tasks, &out->processes, &out->files,
		      &out->folder_files, &out->folder) == 7;
}

static int parse(int argc, char **argv, worker_args *a)
{
	int i;

	memset(a, 0, sizeof(*a));
	for (i = 1; i < argc; i++) {
		const char *arg = argv[i];
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (!strcmp(arg, "--debug")) {
			a->debug = 1;
			continue;
		}
		if (!strcmp(arg, "--confine")) {
			a->confine = 1;
			continue;
		}
		if (!value)
			return 0;
		i++;
		if (!strcmp(arg, "--serve"))
			a->serve = value;
		else if (!strcmp(arg, "--probe"))
			a->probe = value;
		else if (!strcmp(arg, "--id"))
			a->id = value;
		else if (!strcmp(arg, "--cache-dir"))
			a->cache_dir = value;
		else if (!strcmp(arg, "--read") && a->n_readable < WORKER_READABLE_MAX)
			a->readable[a->n_readable++] = value;
		else if (!strcmp(arg, "--call") && a->n_calls < WORKER_CALLS_MAX)
			a->calls[a->n_calls++] = value;
		else if (!strcmp(arg, "--program") && a->n_programs < WORKER_PROGRAMS_MAX)
			a->programs[a->n_programs++] = value;
		else if (!strcmp(arg, "--sets"))
			a->sets = (uint32_t)strtoul(value, NULL, 10);
		else if (!strcmp(arg, "--write"))
			a->writable = value;
		else if (!strcmp(arg, "--without"))
			a->without = (uint32_t)strtoul(value, NULL, 10);
		else if (!strcmp(arg, "--limits") && parse_limits(value, &a->limits))
			continue;
		else if (!strcmp(arg, "--interface") && a->n_interfaces < 8)
			a->interfaces[a->n_interfaces++] = value;
		else
			return 0;
	}
	return a->id && !a->serve != !a->probe;
}

static void *control_main(void *arg)
{
	pctl_ipc_server *s = arg;
	pctl_ipc_control m;

	for (;;) {
		const ssize_t n = recv(PCTL_IPC_CONTROL_FD, &m, sizeof(m), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (n == (ssize_t)sizeof(m))
			pctl_ipc_server_control(s, &m);
	}
	/* The host is gone; the supervisor sees that as well, and ends whatever a driver has started. */
	kill(getpid(), SIGKILL);
	return NULL;
}

static int serve_frames(pctl_ipc_server *s, pctl_ipc_channel *ch)
{
	for (;;) {
		pctl_ipc_frame f;
		int rc = pctl_ipc_next(ch, &f);

		if (rc == 0) {
			if (pctl_ipc_fill(ch) <= 0)
				return EXIT_PROTOCOL;
			continue;
		}
		if (rc > 0)
			rc = pctl_ipc_server_handle(s, &f, ch);
		if (rc < 0) {
			const pctl_ipc_message *m = pctl_ipc_message_of(f.header.op);

			fprintf(stderr, "request %u of the host%s%s is malformed\n", f.header.op,
				m ? ", " : "", m ? m->name : "");
			return EXIT_PROTOCOL;
		}
		if (pctl_ipc_send(ch) < 0)
			return EXIT_PROTOCOL;
		if (rc == 0)
			return 0;
	}
}

static int serve(const worker_args *a)
{
	pctl_ipc_server *s = pctl_ipc_server_create();
	const pctl_call *call = pctl_ipc_server_call(s);
	pctl_library_instance li = {0};
	const pctl_plugin *plugin;
	const char *interface = a->n_interfaces ? a->interfaces[0] : PCTL_BACKEND_INTERFACE;
	pctl_library_host host;
	pctl_ipc_channel ch;
	pthread_t control;
	pctl_status status;
	void *handle;
	int rc;

	if (!s || pthread_create(&control, NULL, control_main, s) != 0)
		return EXIT_FAILURE;
	pctl_ipc_channel_init(&ch, PCTL_IPC_FD);
	pctl_library_host_init(&host, a->cache_dir, a->debug, 1);
	status = pctl_library_load(PCTL_LAUNCH_LIBRARY_PATH, a->serve, call, &handle);
	if (!status)
		status = pctl_library_plugin(handle, a->serve, a->id, call, &plugin);
	if (!status)
		status = pctl_library_open(plugin, a->serve, interface, &host.host, call, &li);
	if (!strcmp(interface, PCTL_OPLIB_INTERFACE))
		pctl_ipc_server_set_ops(s, status, li.table, li.inst);
	else
		pctl_ipc_server_set(s, status, li.table, li.inst);
	rc = serve_frames(s, &ch);
	pctl_ipc_server_clear(s);
	pctl_library_close(&li);
	/* The control thread still waits for the host; it and the server end with the process. */
	pctl_ipc_channel_close(&ch);
	return rc;
}

int main(int argc, char **argv)
{
	worker_args a;
	int fd;

	if (!parse(argc, argv, &a)) {
		fprintf(stderr, "pipectl-worker is started by pipectl, not by hand\n");
		return EXIT_USAGE;
	}
	for (fd = PCTL_IPC_FD; fd <= PCTL_LAUNCH_FURTHER_FD; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	/* Buffers come and go with every job: their memory stays here. */
	(void)mallopt(M_MMAP_THRESHOLD, KEPT_BLOCK);
	(void)mallopt(M_TRIM_THRESHOLD, KEPT_MEMORY);
	if (!worker_supervise(&a))
		return EXIT_USAGE;
	signal(SIGPIPE, SIG_IGN);
	if (!worker_confine(&a))
		return EXIT_USAGE;
	return a.probe ? worker_probe(&a) : serve(&a);
}
