/* Fault: looks around. Its identity tells what it found out and what it got away with; SPY_KEY and SPY_STORE name a file
 * to read and a folder to write into. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "memory.h"

typedef struct report {
	pctl_key_value *out;
	uint32_t n, capacity;
} report;

static void tell(report *r, const char *key, const char *value)
{
	if (r->n < r->capacity) {
		snprintf(r->out[r->n].key, sizeof(r->out[r->n].key), "%s", key);
		snprintf(r->out[r->n].value, sizeof(r->out[r->n].value), "%s", value);
	}
	r->n++;
}

/* What came of an attempt whose system call answered rc. */
static void attempt(report *r, const char *key, long rc)
{
	tell(r, key, rc >= 0 ? "done" : strerrorname_np(errno));
}

static int opened(const char *path, int flags)
{
	const int fd = open(path, flags | O_CLOEXEC, 0600);
	char byte;
	ssize_t n = 0;

	if (fd < 0)
		return -1;
	if ((flags & O_ACCMODE) == O_RDONLY)
		n = read(fd, &byte, 1);
	close(fd);
	return n < 0 ? -1 : 0;
}

static int below(const char *dir, const char *name, int flags)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return opened(path, flags);
}

static void try_files(report *r)
{
	const char *key = getenv("SPY_KEY"), *store = getenv("SPY_STORE");

	attempt(r, "read the key", key ? opened(key, O_RDONLY) : 0);
	attempt(r, "write the store", store ? below(store, "planted", O_WRONLY | O_CREAT) : 0);
	attempt(r, "truncate the key", key ? truncate(key, 0) : 0);
	attempt(r, "change the key's mode", key ? chmod(key, 0644) : 0);
	attempt(r, "write /tmp", opened("/tmp/pipectl-spy", O_WRONLY | O_CREAT));
	if (getenv("TMPDIR"))
		attempt(r, "write its own folder",
			below(getenv("TMPDIR"), "x", O_WRONLY | O_CREAT));
}

static void try_network(report *r)
{
	attempt(r, "internet socket", socket(AF_INET, SOCK_STREAM, 0));
	attempt(r, "unix socket", socket(AF_UNIX, SOCK_STREAM, 0));
}

/* The host: its number as it knows itself, else who made the channel. */
static pid_t host(void)
{
	const char *told = getenv("SPY_HOST");
	struct ucred who;
	socklen_t n = sizeof(who);

	if (told)
		return (pid_t)strtol(told, NULL, 10);
	return getsockopt(3, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 ? who.pid : 0;
}

static void try_process(report *r, const char *who, pid_t pid)
{
	char key[64], dir[64], byte;
	const struct iovec to = {&byte, 1}, from = {NULL, 1};
	ssize_t rc;

	snprintf(dir, sizeof(dir), "/proc/%d", (int)pid);
	snprintf(key, sizeof(key), "read %s's memory", who);
	attempt(r, key, below(dir, "mem", O_RDWR));
	snprintf(key, sizeof(key), "read %s's environment", who);
	attempt(r, key, below(dir, "environ", O_RDONLY));
	snprintf(key, sizeof(key), "read %s's command line", who);
	attempt(r, key, below(dir, "cmdline", O_RDONLY));
	snprintf(key, sizeof(key), "signal %s", who);
	attempt(r, key, kill(pid, 0));
	/* Without a trace: a tracer that goes away leaves its victim stopped. A bad address is an error that only
	 * those see who may look. */
	snprintf(key, sizeof(key), "look into %s", who);
	rc = process_vm_readv(pid, &to, 1, &from, 1, 0);
	attempt(r, key, rc < 0 && errno == EFAULT ? 0 : rc);
}

static void try_descriptors(report *r, const char *who, pid_t pid)
{
	char key[64], dir[64];
	struct stat st;
	int fd;

	snprintf(key, sizeof(key), "look at %s's files", who);
	snprintf(dir, sizeof(dir), "/proc/%d/fd/0", (int)pid);
	attempt(r, key, stat(dir, &st));
	snprintf(key, sizeof(key), "signal %s by a descriptor", who);
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	attempt(r, key, fd < 0 ? -1 : syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
	if (fd >= 0)
		close(fd);
}

/* In a process of its own, since it may leave something behind: the errno that it ended with. */
static void try_apart(report *r, const char *key, long (*what)(void))
{
	int status = 0;
	const pid_t pid = fork();

	if (pid < 0) {
		attempt(r, key, -1);
		return;
	}
	if (pid == 0) {
		errno = 0;
		_exit(what() < 0 ? errno : 0);
	}
	waitpid(pid, &status, 0);
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
	attempt(r, key, errno ? -1 : 0);
}

static long ask_ring(void)
{
	uint32_t params[64] = {0};

	return syscall(SYS_io_uring_setup, 1, params);
}

static long ask_faults(void)
{
	return syscall(SYS_userfaultfd, O_CLOEXEC);
}

static long ask_bpf(void)
{
	/* A map: array, key 4, value 4, one entry. */
	uint32_t attr[32] = {2, 4, 4, 1};

	return syscall(SYS_bpf, 0, attr, sizeof(attr));
}

static long ask_events(void)
{
	/* Software event 0, the clock; size of the first version. */
	uint32_t attr[16] = {1, 64};

	return syscall(SYS_perf_event_open, attr, 0, -1, -1, 0);
}

static long ask_keys(void)
{
	return syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -2, 1);
}

static long ask_mount(void)
{
	const char *dir = getenv("TMPDIR");
	const long rc = mount(dir, dir, NULL, MS_BIND, NULL);

	return rc < 0 ? rc : umount2(dir, MNT_DETACH);
}

static long ask_namespace(void)
{
	return syscall(SYS_unshare, 0x10000000 /* CLONE_NEWUSER */);
}

static long ask_personality(void)
{
	return syscall(SYS_personality, 0x0040000 /* no random addresses */);
}

static long make_giant(void)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/giant", getenv("TMPDIR"));
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	return ftruncate(fd, (off_t)8 << 30) < 0 ? -1 : unlink(path);
}

/* Sets its limit as high as it may and falls: 0 when a core was written. */
static long leave_core(void)
{
	struct rlimit l = {0, 0};
	int status = 0;
	pid_t pid;

	if (chdir(getenv("TMPDIR")) < 0 || getrlimit(RLIMIT_CORE, &l) < 0)
		return -1;
	l.rlim_cur = l.rlim_max;
	setrlimit(RLIMIT_CORE, &l);
	pid = fork();
	if (pid == 0)
		abort();
	waitpid(pid, &status, 0);
	errno = EFBIG;
	return WCOREDUMP(status) ? 0 : -1;
}

/* A program of one's own that never was a file; it is one that needs no other. */
static int make_memory(void)
{
	const int from = open("/bin/true", O_RDONLY | O_CLOEXEC);
	const int fd = memfd_create("program", 0);
	char page[4096];
	ssize_t n;

	if (from < 0 || fd < 0)
		return -1;
	while ((n = read(from, page, sizeof(page))) > 0)
		if (write(fd, page, (size_t)n) != n)
			return -1;
	close(from);
	/* Nobody runs what somebody may write. */
	if (fcntl(fd, F_SETFD, 0) < 0)
		return -1;
	return fd;
}

static long run(const char *path)
{
	char name[] = "x", *argv[] = {name, NULL};

	return execve(path, argv, environ);
}

static long run_memory(void)
{
	char name[] = "x", *argv[] = {name, NULL}, path[64];
	int again;
	const int fd = make_memory();

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY | O_CLOEXEC);
	close(fd);
	return again < 0 ? -1 : fexecve(again, argv, environ);
}

static long run_memory_by_path(void)
{
	char path[64];
	int again;
	const int fd = make_memory();

	if (fd < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDONLY);
	close(fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", again);
	return again < 0 ? -1 : run(path);
}

/* The bytes of the plugin itself, and the window: a descriptor of each is there. */
static long run_descriptors(void)
{
	char path[64];
	int fd;

	for (fd = 3; fd < 64; fd++) {
		struct stat st;

		if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
			continue;
		if (st.st_mode & 0111)
			return 0;
		/* Made executable, it may be run. */
		if (fchmod(fd, 0700) == 0)
			return 0;
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		run(path);
	}
	return -1;
}

static long run_own_file(void)
{
	static const char script[] = "#!/bin/true\n";
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/program", getenv("TMPDIR"));
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	if (fd < 0 || write(fd, script, sizeof(script) - 1) < 0)
		return -1;
	close(fd);
	return run(path);
}

static long run_true(void)
{
	return run("/bin/true");
}

static long run_id(void)
{
	return run("/bin/ls");
}

/* What no driver is known to call. */
static long call_unlisted(void)
{
	return syscall(SYS_munlockall);
}

static void try_kernel(report *r)
{
	try_apart(r, "io_uring", ask_ring);
	try_apart(r, "userfaultfd", ask_faults);
	try_apart(r, "bpf", ask_bpf);
	try_apart(r, "perf_event_open", ask_events);
	try_apart(r, "keyctl", ask_keys);
	try_apart(r, "mount", ask_mount);
	try_apart(r, "new namespace", ask_namespace);
	try_apart(r, "personality", ask_personality);
	try_apart(r, "leave a core", leave_core);
	try_apart(r, "a giant file", make_giant);
	try_apart(r, "run a program from memory", run_memory);
	try_apart(r, "run a program from memory by its path", run_memory_by_path);
	try_apart(r, "run a descriptor that it was given", run_descriptors);
	try_apart(r, "run a file that it wrote", run_own_file);
	try_apart(r, "run /bin/true", run_true);
	try_apart(r, "run /bin/ls", run_id);
	try_apart(r, "a call that is not listed", call_unlisted);
}

static void try_ptrace(report *r)
{
	int status = 0;
	const pid_t pid = fork();

	if (pid < 0)
		return;
	if (pid == 0)
		_exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 ? errno : 0);
	waitpid(pid, &status, 0);
	errno = WEXITSTATUS(status);
	attempt(r, "be traced", errno ? -1 : 0);
}

/* A daemon, as one learns to write it: forks, leaves the session, forks again. */
static void try_daemon(report *r)
{
	int left[2], status = -1;
	pid_t pid;

	if (pipe2(left, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid < 0)
		return;
	if (pid == 0) {
		const int rc = setsid() < 0 ? errno : 0;

		if (write(left[1], &rc, sizeof(rc)) < 0)
			_exit(1);
		if (fork() == 0) {
			int fd;

			for (fd = 0; fd < 64; fd++)
				close(fd);
			for (;;)
				pause();
		}
		_exit(0);
	}
	if (read(left[0], &status, sizeof(status)) == (ssize_t)sizeof(status)) {
		errno = status;
		attempt(r, "leave the session", status ? -1 : 0);
	}
	waitpid(pid, NULL, 0);
	close(left[0]);
	close(left[1]);
}

static void tell_text_file(report *r, const char *key, const char *path)
{
	char text[PCTL_NAME_MAX] = "";
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t i, n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	for (i = 0; i < n; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	if (fd >= 0)
		close(fd);
	tell(r, key, text);
}

static pctl_status spy_identity(pctl_device *dev, const pctl_call *call, uint32_t capacity,
				pctl_key_value *out, uint32_t *n_out)
{
	report r = {out, 0, capacity};
	char **e, text[PCTL_NAME_MAX];

	(void)dev;
	try_files(&r);
	try_network(&r);
	try_process(&r, "the parent", getppid());
	try_process(&r, "the host", host());
	try_descriptors(&r, "the host", host());
	try_kernel(&r);
	try_ptrace(&r);
	try_daemon(&r);
	snprintf(text, sizeof(text), "%d", getpagesize());
	tell(&r, "page size", text);
	snprintf(text, sizeof(text), "%llx", (unsigned long long)(call ? call->trace_id : 0));
	tell(&r, "trace id", text);
	tell_text_file(&r, "command line", "/proc/self/cmdline");
	for (e = environ; *e; e++)
		tell(&r, "environment", *e);
	*n_out = r.n;
	return PCTL_OK;
}
#define FAULT_SLOTS .device_identity = spy_identity
#include "good.h"
