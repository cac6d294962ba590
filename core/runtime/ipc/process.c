/* Children of the host; see process.h. */
#include "runtime/ipc/process.h"
#include "runtime/ipc/patience.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "foundation/base/clock.h"

#define FIRST_FD 3
#define SAFE_FD 32 /* above every number a child is given */
#define FDS_MAX 8u
#define KILL_MS 30000u
#define ORDERLY_MS 500u

static int prepare_actions(posix_spawn_file_actions_t *fa, const int *fds, uint32_t n, int err_fd)
{
	int rc = posix_spawn_file_actions_addopen(fa, 0, "/dev/null", O_RDONLY, 0);
	uint32_t i;

	if (!rc)
		rc = posix_spawn_file_actions_adddup2(fa, err_fd, 1);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(fa, err_fd, 2);
	for (i = 0; !rc && i < n; i++)
		rc = posix_spawn_file_actions_adddup2(fa, fds[i], FIRST_FD + (int)i);
	if (!rc)
		rc = posix_spawn_file_actions_addclosefrom_np(fa, FIRST_FD + (int)n);
	return rc;
}

static int prepare_attributes(posix_spawnattr_t *attr)
{
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	rc = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
						    POSIX_SPAWN_SETSIGDEF);
	if (!rc)
		rc = posix_spawnattr_setpgroup(attr, 0);
	if (!rc)
		rc = posix_spawnattr_setsigmask(attr, &none);
	if (!rc)
		rc = posix_spawnattr_setsigdefault(attr, &all);
	return rc;
}

static void log_begin(pctl_process *p, const pctl_process_spec *spec)
{
	char pid[16];
	const pctl_log_field fields[] = {{"pid", pid}};

	p->log = spec->log;
	p->logged_pid = p->pid;
	snprintf(p->name, sizeof(p->name), "%s", spec->name == NULL ? "worker" : spec->name);
	snprintf(pid, sizeof(pid), "%d", (int)p->pid);
	pctl_log_write(p->log, PCTL_LOG_DEBUG, p->name, "a worker began", fields, 1);
}

pctl_status pctl_process_spawn(const pctl_process_spec *spec, const pctl_call *call,
			       pctl_process *out)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	int pipe_fds[2] = {-1, -1};
	int high[FDS_MAX], err_fd = -1;
	uint32_t i, n_high = 0;
	int rc = EINVAL;

	memset(out, 0, sizeof(*out));
	out->stderr_fd = -1;
	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&attr);
	if (spec->n_fds > FDS_MAX || pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) < 0)
		goto out;
	/* The numbers handed over are moved up first: a dup2 onto 3 must not overwrite a source. */
	err_fd = fcntl(pipe_fds[1], F_DUPFD_CLOEXEC, SAFE_FD);
	rc = err_fd < 0 ? errno : 0;
	for (i = 0; !rc && i < spec->n_fds; i++) {
		high[i] = fcntl(spec->fds[i], F_DUPFD_CLOEXEC, SAFE_FD);
		if (high[i] < 0)
			rc = errno;
		else
			n_high++;
	}
	if (!rc)
		rc = prepare_actions(&fa, high, spec->n_fds, err_fd);
	if (!rc)
		rc = prepare_attributes(&attr);
	if (!rc)
		rc = posix_spawn(&out->pid, spec->path, &fa, &attr, spec->argv,
				 spec->envp ? spec->envp : environ);
	if (!rc) {
		out->stderr_fd = pipe_fds[0];
		pipe_fds[0] = -1;
		log_begin(out, spec);
	}
out:
	for (i = 0; i < n_high; i++)
		close(high[i]);
	if (err_fd >= 0)
		close(err_fd);
	for (i = 0; i < 2; i++)
		if (pipe_fds[i] >= 0)
			close(pipe_fds[i]);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&fa);
	if (rc) {
		out->pid = 0;
		return pctl_refuse(call, PC3102_WORKER_START, "%s: %s", spec->path, strerror(rc));
	}
	return PCTL_OK;
}

static void tail_add(pctl_process *p, const char *text, size_t n)
{
	size_t keep;

	if (n >= PCTL_PROCESS_TAIL) {
		text += n - (PCTL_PROCESS_TAIL - 1);
		n = PCTL_PROCESS_TAIL - 1;
	}
	keep = PCTL_PROCESS_TAIL - 1 - n;
	if (p->n_tail > keep) {
		memmove(p->tail, p->tail + p->n_tail - keep, keep);
		p->n_tail = (uint32_t)keep;
	}
	memcpy(p->tail + p->n_tail, text, n);
	p->n_tail += (uint32_t)n;
	p->tail[p->n_tail] = 0;
}

static void log_line(pctl_process *p)
{
	if (p->n_line == 0)
		return;
	p->line[p->n_line] = 0;
	p->n_line = 0;
	pctl_log_write(p->log, PCTL_LOG_WARNING, p->name, p->line, NULL, 0);
}

/* What a worker says on its standard error is a plugin's or a driver's own words. */
static void log_add(pctl_process *p, const char *text, size_t n)
{
	for (size_t i = 0; p->log != NULL && i < n; i++) {
		if (text[i] == '\n' || p->n_line + 1 >= sizeof(p->line))
			log_line(p);
		if (text[i] != '\n')
			p->line[p->n_line++] = text[i] == '\0' ? '?' : text[i];
	}
}

static void log_end(pctl_process *p)
{
	char cause[PCTL_PROCESS_TAIL + 128], pid[16];
	const pctl_log_field fields[] = {{"pid", pid}};
	const int failed = p->status != 0 && !p->killed;

	if (p->log == NULL)
		return;
	log_line(p);
	snprintf(pid, sizeof(pid), "%d", (int)p->logged_pid);
	pctl_process_cause(p, cause, sizeof(cause));
	pctl_log_write(p->log, failed ? PCTL_LOG_WARNING : PCTL_LOG_DEBUG, p->name,
		       failed ? cause : "the worker ended", fields, 1);
}

void pctl_process_drain(pctl_process *p)
{
	char buf[1024];
	ssize_t n;

	while (p->stderr_fd >= 0) {
		n = read(p->stderr_fd, buf, sizeof(buf));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			log_line(p);
			close(p->stderr_fd);
			p->stderr_fd = -1;
			return;
		}
		tail_add(p, buf, (size_t)n);
		log_add(p, buf, (size_t)n);
	}
}

int pctl_process_reap(pctl_process *p, uint32_t timeout_ms)
{
	const uint64_t end = pctl_clock_ms() + timeout_ms;
	siginfo_t info;

	if (p->pid == 0)
		return 1;
	for (;;) {
		pctl_process_drain(p);
		memset(&info, 0, sizeof(info));
		if (waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0) {
			if (errno == EINTR)
				continue;
			break;
		}
		if (info.si_pid != 0)
			break;
		if (pctl_clock_ms() >= end)
			return 0;
		poll(NULL, 0, 1);
	}
	/* While it is not reaped its number is its own: what it started and left behind (a driver's
	 * compiler) goes with it. */
	kill(-p->pid, SIGKILL);
	p->reaped = waitpid(p->pid, &p->status, 0) == p->pid;
	p->pid = 0;
	pctl_process_drain(p);
	log_end(p);
	return 1;
}

void pctl_process_kill(pctl_process *p)
{
	if (p->pid == 0)
		return;
	p->killed = 1;
	/* The first process of a worker loads nothing and only waits for this: it ends everything that came of it,
	 * whatever groups and sessions that has fled into, and then itself. */
	kill(p->pid, SIGTERM);
	if (pctl_patience_reap(p, ORDERLY_MS))
		return;
	kill(-p->pid, SIGKILL);
	kill(p->pid, SIGKILL);
	/* Only a process that hangs inside the kernel survives this; nobody can wait for that. */
	if (!pctl_process_reap(p, KILL_MS))
		p->pid = 0;
}

void pctl_process_drop(pctl_process *p)
{
	if (p->stderr_fd >= 0)
		close(p->stderr_fd);
	p->stderr_fd = -1;
}

void pctl_process_cause(const pctl_process *p, char *text, size_t n)
{
	char words[512];
	size_t i, k = 0, from = 0;
	const char *sep;

	/* Only the last few lines, on one line, printable. */
	if (p->n_tail > sizeof(words) - 1)
		from = p->n_tail - (sizeof(words) - 1);
	for (i = from; i < p->n_tail; i++) {
		const unsigned char c = (unsigned char)p->tail[i];

		if (c == '\n' && (i + 1 == p->n_tail || k == 0))
			continue;
		words[k++] = (char)(c == '\n' ? '|' : c < 32 || c == 127 ? ' ' : c);
	}
	words[k] = 0;
	sep = k ? "; its last words: " : "";
	if (p->killed)
		snprintf(text, n, "was ended by the host%s%s", sep, words);
	else if (!p->reaped)
		snprintf(text, n, "is gone%s%s", sep, words);
	else if (WIFSIGNALED(p->status))
		snprintf(text, n, "was killed by SIG%s%s%s",
			 sigabbrev_np(WTERMSIG(p->status)) ? sigabbrev_np(WTERMSIG(p->status))
							   : "?",
			 sep, words);
	else
		snprintf(text, n, "exited with status %d%s%s", WEXITSTATUS(p->status), sep, words);
}
