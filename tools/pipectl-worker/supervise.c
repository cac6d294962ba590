/* The supervisor: the first process of a worker. It loads no plugin and has one task, that nothing which a plugin started
 * outlives the worker or the host, in whatever process group or session it hides. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/launch.h"
#include "ipc/protocol.h"
#include "worker.h"

#define ROUNDS 200 /* of killing what keeps coming, 5 ms each */

/* Kill every child there is: orphans of the plugin's processes come here. */
static void kill_children(void)
{
	char path[64], *end, text[4096];
	const char *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (at = text;; at = end) {
		const long pid = strtol(at, &end, 10);

		if (end == at)
			break;
		if (pid > 1)
			kill((pid_t)pid, SIGKILL);
	}
}

/* A process that is killed gives its own children to this one, so it takes rounds. */
static void clear(pid_t plugin, int *status)
{
	int i, one;

	for (i = 0; i < ROUNDS; i++) {
		pid_t pid;

		kill_children();
		while ((pid = waitpid(-1, &one, WNOHANG)) > 0)
			if (pid == plugin)
				*status = one;
		if (pid < 0)
			return;
		poll(NULL, 0, i ? 5 : 0);
	}
}

/* End as the plugin's process did, so that the host can say how. */
static void __attribute__((noreturn)) end_like(int status)
{
	if (WIFSIGNALED(status)) {
		sigset_t all;

		signal(WTERMSIG(status), SIG_DFL);
		sigfillset(&all);
		sigprocmask(SIG_UNBLOCK, &all, NULL);
		kill(getpid(), WTERMSIG(status));
	}
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void __attribute__((noreturn)) supervise(pid_t plugin, int signals)
{
	struct pollfd fds[2] = {{signals, POLLIN, 0}, {PCTL_IPC_CONTROL_FD, 0, 0}};
	struct signalfd_siginfo info;
	int status = 0;

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		/* The host is gone, or has had enough. */
		if (fds[1].revents)
			break;
		if (!(fds[0].revents & POLLIN) || read(signals, &info, sizeof(info)) <= 0)
			continue;
		if (info.ssi_signo == SIGTERM)
			break;
		for (;;) {
			int one;
			const pid_t pid = waitpid(-1, &one, WNOHANG);

			if (pid <= 0)
				break;
			if (pid != plugin)
				continue;
			clear(0, &status);
			end_like(one);
		}
	}
	kill(plugin, SIGKILL);
	clear(plugin, &status);
	end_like(SIGKILL);
}

int worker_supervise(void)
{
	const struct rlimit no_core = {0, 0};
	const pid_t self = getpid();
	sigset_t mask;
	pid_t plugin;

	setrlimit(RLIMIT_CORE, &no_core);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGTERM);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
		return 0;
	plugin = fork();
	if (plugin < 0) {
		fprintf(stderr, "no second process: %s\n", strerror(errno));
		return 0;
	}
	if (plugin > 0) {
		/* Its end of the channel must close when the plugin's process ends. */
		close(PCTL_IPC_FD);
		close(PCTL_LAUNCH_LIBRARY_FD);
		close(PCTL_LAUNCH_FURTHER_FD);
		prctl(PR_SET_DUMPABLE, 0);
		supervise(plugin, signalfd(-1, &mask, SFD_CLOEXEC));
	}
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == self;
}
