/* libc's calls, stood before by functions of the same names; see faults.h. */
#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static long n_calls, fail_at, kill_at;
static int counting, no_sync;

void faults_begin(void)
{
	const char *text = getenv("GITLOG_FAULT");

	if (text == NULL)
		return;
	no_sync = strcmp(text, "nosync") == 0;
	counting = !no_sync;
	if (strncmp(text, "fail:", 5) == 0)
		fail_at = strtol(text + 5, NULL, 10);
	if (strncmp(text, "kill:", 5) == 0)
		kill_at = strtol(text + 5, NULL, 10);
}

void faults_end(void)
{
	if (counting)
		fprintf(stderr, "calls %ld\n", n_calls);
	counting = 0;
}

static int struck(void)
{
	if (!counting)
		return 0;
	n_calls++;
	if (n_calls == kill_at)
		raise(SIGKILL);
	if (n_calls != fail_at)
		return 0;
	errno = ENOSPC;
	return 1;
}

#define STAND_BEFORE(type, name, parameters, arguments)             \
	__attribute__((visibility("default"))) type name parameters \
	{                                                           \
		static type(*real) parameters;                      \
                                                                    \
		if (real == NULL)                                   \
			*(void **)&real = dlsym(RTLD_NEXT, #name);  \
		return struck() ? (type)-1 : real arguments;        \
	}

/* nosync: for a long log of tiny blocks, where nothing is to be kept. */
__attribute__((visibility("default"))) int fsync(int fd)
{
	static int (*real)(int fd);

	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "fsync");
	if (struck())
		return -1;
	return no_sync ? 0 : real(fd);
}

STAND_BEFORE(int, rename, (const char *from, const char *to), (from, to))
STAND_BEFORE(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
STAND_BEFORE(int, mkdirat, (int fd, const char *path, mode_t mode), (fd, path, mode))
STAND_BEFORE(ssize_t, write, (int fd, const void *data, size_t n), (fd, data, n))
STAND_BEFORE(ssize_t, pwrite, (int fd, const void *data, size_t n, off_t at), (fd, data, n, at))
STAND_BEFORE(ssize_t, pwrite64, (int fd, const void *data, size_t n, off64_t at), (fd, data, n, at))
STAND_BEFORE(int, ftruncate, (int fd, off_t n), (fd, n))
STAND_BEFORE(int, ftruncate64, (int fd, off64_t n), (fd, n))
