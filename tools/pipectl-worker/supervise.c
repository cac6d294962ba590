/* The supervisor: the first process of a worker. It loads no plugin and sees to two things, that nothing which a plugin
 * started outlives the worker or the host, in whatever process group or session it hides, and that together they keep their
 * limits. Where the kernel gives a worker namespaces of its own there are two: one outside, whom the host knows, and the first
 * process of the PID namespace, with whose end the kernel ends all others. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "foundation/base/clock.h"
#include "runtime/ipc/launch.h"
#include "runtime/ipc/protocol.h"
#include "worker.h"

#define ROUNDS 200	/* of killing what keeps coming, 5 ms each */
#define POLL_MS 50	/* how often limits are looked at .. */
#define POLL_FAR_MS 200 /* .. and where it takes a walk through the tree of processes */

/* What one supervisor needs to know. */
typedef struct watching {
	pid_t plugin;			  /* its child, or the supervisor inside */
	const pctl_worker_limits *limits; /* NULL: another one looks at them */
	int *ended; /* wait status that the one inside leaves for the one outside; NULL: there is one only */
	int is_inside;		 /* of a PID namespace, whose first process it is */
	int whole;		 /* /proc shows nothing but what is to be counted */
	judge *judge;		 /* of what the filter does not allow; NULL: another one */
	worker_written *written; /* where it looks at limits */
} watching;

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

/* Statuses that say of a limit are the supervisor's alone. */
static int honest(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) >= PCTL_WORKER_OVER_MEMORY &&
			       WEXITSTATUS(status) <= PCTL_WORKER_OVER_LAST
		       ? (PCTL_WORKER_OVER_MEMORY - 1) << 8
		       : status;
}

/* End as the plugin's process did, so that the host can say how. */
static void __attribute__((noreturn)) end_like(const watching *w, int status)
{
	/* No signal ends the first process of a namespace from within. */
	if (w->is_inside) {
		*w->ended = status;
		_exit(0);
	}
	if (WIFSIGNALED(status)) {
		sigset_t all;

		signal(WTERMSIG(status), SIG_DFL);
		sigfillset(&all);
		sigprocmask(SIG_UNBLOCK, &all, NULL);
		kill(getpid(), WTERMSIG(status));
	}
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void drop_plugins_descriptors(void)
{
	/* Its end of the channel must close when the plugin's process ends. */
	close(PCTL_IPC_FD);
	close(PCTL_LAUNCH_LIBRARY_FD);
	close(PCTL_LAUNCH_FURTHER_FD);
}

/* Reap what has ended; 1 when the plugin's process is among it. */
static int reap(const watching *w, int *status)
{
	int one, found = 0;
	pid_t pid;

	while ((pid = waitpid(-1, &one, WNOHANG)) > 0)
		if (pid == w->plugin) {
			*status = one;
			found = 1;
		}
	return found;
}

/* The status of the plugin's process, and not that of the supervisor between. */
static int true_status(const watching *w, int status)
{
	if (w->ended && !w->is_inside && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return *w->ended;
	return w->ended && !w->is_inside ? status : honest(status);
}

static int everything(const watching *w)
{
	/* At once, so that what multiplies does not get away. */
	return w->is_inside ? kill(-1, SIGKILL) : kill(w->plugin, SIGKILL);
}

/* Who is asked for answers looks no more often for that. */
static int is_time(uint64_t *next, int slice_ms)
{
	const uint64_t now = pctl_clock_ms();

	if (now < *next)
		return 0;
	*next = now + (uint64_t)slice_ms;
	return 1;
}

static void __attribute__((noreturn)) supervise(watching *w, int signals)
{
	struct pollfd fds[3] = {{signals, POLLIN, 0}, {PCTL_IPC_CONTROL_FD, 0, 0}, {-1, POLLIN, 0}};
	const int slice = !w->limits ? -1 : w->whole ? POLL_MS : POLL_FAR_MS;
	struct signalfd_siginfo info;
	uint64_t next_look = 0;
	int status = 0, over = 0;

	if (w->limits)
		over = worker_usage_over(w->limits, w->whole, w->written);

	while (!over) {
		int n;

		fds[2].fd = w->judge ? w->judge->fd : -1;
		n = poll(fds, 3, slice);
		if (n < 0 && errno != EINTR)
			break;
		/* The host is gone, or has had enough. */
		if (fds[1].revents)
			break;
		if (fds[2].revents & POLLIN)
			over = judge_answer(w->judge);
		/* The last of them has gone. */
		else if (fds[2].revents)
			w->judge = NULL;
		if (!over && w->limits && is_time(&next_look, slice))
			over = worker_usage_over(w->limits, w->whole, w->written);
		if (over)
			break;
		if (!(fds[0].revents & POLLIN) || read(signals, &info, sizeof(info)) <= 0)
			continue;
		if (info.ssi_signo == SIGTERM)
			break;
		if (reap(w, &status)) {
			clear(0, &status);
			end_like(w, true_status(w, status));
		}
	}
	everything(w);
	clear(w->plugin, &status);
	end_like(w, over ? over << 8 : SIGKILL);
}

/* The process that goes on: the child of the innermost supervisor. 0: it cannot be. */
static int go_on(worker_args *a, watching *w, const sigset_t *mask)
{
	const pid_t self = getpid();
	const pctl_worker_limits *l = &a->limits;
	worker_written written;
	judge j;

	w->limits =
		l->memory || l->tasks || l->processes || l->folder || l->folder_files ? l : NULL;
	judge_begin(&j, a);
	j.whole = w->whole;
	w->plugin = fork();
	if (w->plugin < 0) {
		fprintf(stderr, "no second process: %s\n", strerror(errno));
		return 0;
	}
	if (w->plugin > 0) {
		drop_plugins_descriptors();
		if (!w->is_inside)
			prctl(PR_SET_DUMPABLE, 0);
		if (j.to >= 0)
			close(j.to);
		w->judge = j.fd >= 0 ? &j : NULL;
		worker_written_begin(&written, a);
		w->written = &written;
		supervise(w, signalfd(-1, mask, SFD_CLOEXEC));
	}
	a->to_supervisor = j.to;
	judge_leave(&j);
	if (w->ended)
		munmap(w->ended, sizeof(*w->ended));
	sigprocmask(SIG_UNBLOCK, mask, NULL);
	worker_limit(&a->limits);
	return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == self;
}

int worker_supervise(worker_args *a)
{
	/* Of one byte, for which no kernel writes a file and none feeds a program that collects dumps either. */
	const struct rlimit no_core = {1, 1};
	watching w = {0}, inside = {0};
	uint32_t got;
	sigset_t mask;

	setrlimit(RLIMIT_CORE, &no_core);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigaddset(&mask, SIGTERM);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
		return 0;
	got = a->confine ? pctl_confine_part(a->without & PCTL_CONFINE_PROCESSES) : 0;
	if (!(got & PCTL_NS_PID))
		return go_on(a, &w, &mask);
	w.ended = mmap(NULL, sizeof(*w.ended), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (w.ended == MAP_FAILED || (w.plugin = fork()) < 0) {
		fprintf(stderr, "no second process: %s\n", strerror(errno));
		return 0;
	}
	if (w.plugin > 0) {
		drop_plugins_descriptors();
		close(PCTL_LAUNCH_REFUSED_FD);
		prctl(PR_SET_DUMPABLE, 0);
		supervise(&w, signalfd(-1, &mask, SFD_CLOEXEC));
	}
	/* Its capabilities are those of its own namespace; the plugin's process, which gives them up, cannot look into it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	inside.ended = w.ended;
	inside.is_inside = 1;
	inside.whole = pctl_confine_mount_proc();
	return go_on(a, &inside, &mask);
}
