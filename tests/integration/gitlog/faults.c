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
static int counting, tracing, no_sync;

void faults_begin(void)
{
	const char *text = getenv("GITLOG_FAULT");

	if (text == NULL)
		return;
	no_sync = strcmp(text, "nosync") == 0;
	counting = !no_sync;
	tracing = strcmp(text, "trace") == 0;
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

/* A file's last three names say which of a log's it is. */
static void tell(const char *call, int fd, const char *path)
{
	char link[64], name[4096] = "";
	const char *at;
	int slashes = 0;

	if (path == NULL) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		if (readlink(link, name, sizeof(name) - 1) < 0)
			return;
		path = name;
	}
	for (at = path + strlen(path); at > path && slashes < 3; at--)
		slashes += at[-1] == '/';
	fprintf(stderr, "%s %s\n", call, at > path ? at + 1 : at);
}

static int struck(const char *call, int fd, const char *path)
{
	if (!counting)
		return 0;
	n_calls++;
	if (tracing)
		tell(call, fd, path);
	if (n_calls == kill_at)
		raise(SIGKILL);
	if (n_calls != fail_at)
		return 0;
	errno = ENOSPC;
	return 1;
}

#define STAND_BEFORE(type, name, parameters, arguments, fd, path)           \
	__attribute__((visibility("default"))) type name parameters         \
	{                                                                   \
		static type(*real) parameters;                              \
                                                                            \
		if (real == NULL)                                           \
			*(void **)&real = dlsym(RTLD_NEXT, #name);          \
		return struck(#name, fd, path) ? (type)-1 : real arguments; \
	}

/* nosync: for a long log of tiny blocks, where nothing is to be kept. */
__attribute__((visibility("default"))) int fsync(int fd)
{
	static int (*real)(int fd);

	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "fsync");
	if (struck("fsync", fd, NULL))
		return -1;
	return no_sync ? 0 : real(fd);
}

STAND_BEFORE(int, rename, (const char *a, const char *b), (a, b), -1, b)
STAND_BEFORE(int, renameat, (int c, const char *a, int d, const char *b), (c, a, d, b), -1, b)
STAND_BEFORE(int, mkdirat, (int fd, const char *path, mode_t mode), (fd, path, mode), -1, path)
STAND_BEFORE(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n), fd, NULL)
STAND_BEFORE(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t at), (fd, p, n, at), fd, NULL)
STAND_BEFORE(ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t at), (fd, p, n, at), fd,
	     NULL)
STAND_BEFORE(int, ftruncate, (int fd, off_t n), (fd, n), fd, NULL)
STAND_BEFORE(int, ftruncate64, (int fd, off64_t n), (fd, n), fd, NULL)
