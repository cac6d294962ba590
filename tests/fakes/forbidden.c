/* Fault: makes a system call that its kind of plugin has no need of while it is asked whether it supports a program, and fails
 * when it may not. Which one is said by the program's first letter. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "memory.h"

static long start_process(void)
{
	const pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid < 0 ? -1 : waitpid(pid, NULL, 0);
}

/* With flags that ask for a new namespace of users, on a stack of its own. */
static long start_apart(void)
{
	const long pid = syscall(SYS_clone, 0x10000000 | SIGCHLD, NULL, NULL, NULL, NULL);

	if (pid == 0)
		_exit(0);
	return pid < 0 ? -1 : waitpid((pid_t)pid, NULL, 0);
}

/* The date of a file by its path; the path lies where the lower half of its address is zero. */
static long set_date(void)
{
	char *path = mmap((void *)(uintptr_t)(1ull << 32), 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (path == MAP_FAILED)
		return 0;
	strcpy(path, "/");
	return syscall(SYS_utimensat, AT_FDCWD, path, NULL, 0);
}

static long set_own_date(void)
{
	const int fd = open(getenv("TMPDIR"), O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : futimens(fd, NULL);
}

static long make(char what)
{
	uint32_t n = 0;

	switch (what) {
	case 'm':
		return memfd_create("bytes", MFD_CLOEXEC);
	case 'M':
		return memfd_create("program", MFD_CLOEXEC | 0x10 /* MFD_EXEC */);
	case 'f':
		return start_process();
	case 'n':
		return start_apart();
	case 'i':
		return ioctl(3, FIONREAD, &n);
	case 'c':
		return fchmod(5, 0700);
	case 'u':
		return syscall(SYS_munlockall);
	case 's':
		return socket(AF_UNIX, SOCK_STREAM, 0);
	case 'o':
		return fcntl(0, F_SETOWN, getppid());
	case 'g':
		return ioctl(0, 0x8901 /* FIOSETOWN */, &n);
	case 'd':
		return prctl(PR_SET_PDEATHSIG, 0);
	case 'r':
		return prctl(PR_SET_NAME, "renamed");
	case 'D':
		return prctl(PR_SET_DUMPABLE, 0);
	case 't':
		return utimensat(AT_FDCWD, getenv("TMPDIR"), NULL, 0);
	case 'T':
		return set_date();
	case 'a':
		return set_own_date();
	case 'p':
		return syscall(SYS_pidfd_open, getpid(), 0);
	default:
		return 0;
	}
}

static pctl_status forbidden_supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				      uint64_t n, pctl_support *out)
{
	if (make(n ? (char)wire[0] : 0) < 0)
		return pctl_refuse(call, PC1_INTERNAL, "no luck: %s", strerrorname_np(errno));
	return fake_supports(dev, call, (const uint8_t *)"y", 1, out);
}
#define FAULT_SLOTS .supports = forbidden_supports
#include "good.h"
