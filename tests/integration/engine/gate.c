/* Preloaded into pipectl: who makes a directory whose path ends as GATE_AT says makes the file GATE.reached first and waits until there is a file GATE.open, so
 * that a test decides what happens meanwhile. With GATE_UNHELD a shared lock is none: the fault that a held store is to be seen without. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* libc's own; the standard converts no pointer to data into one to a function. */
static void find(const char *name, void *to, size_t n)
{
	void *found = dlsym(RTLD_NEXT, name);

	memcpy(to, &found, n);
}

static int ends_with(const char *text, const char *end)
{
	const size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

static void wait_at(const char *gate)
{
	const struct timespec moment = {0, 2000000};
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s.reached", gate);
	f = fopen(path, "w");
	if (f != NULL)
		fclose(f);
	snprintf(path, sizeof(path), "%s.open", gate);
	while (access(path, F_OK) != 0)
		nanosleep(&moment, NULL);
}

__attribute__((visibility("default"))) int mkdir(const char *path, mode_t mode)
{
	int (*next)(const char *, mode_t);
	const char *at = getenv("GATE_AT"), *gate = getenv("GATE");

	find("mkdir", &next, sizeof(next));
	if (at != NULL && gate != NULL && ends_with(path, at))
		wait_at(gate);
	return next(path, mode);
}

__attribute__((visibility("default"))) int flock(int fd, int how)
{
	int (*next)(int, int);

	find("flock", &next, sizeof(next));
	return getenv("GATE_UNHELD") != NULL && how & LOCK_SH ? 0 : next(fd, how);
}
