/* See processor.h: Linux' clocks of other processes, found through /proc. */
#include "chain/executor/processor.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define DEEPEST 8u

static uint64_t clock_of(pid_t pid)
{
	struct timespec t = {0, 0};
	clockid_t id;

	if (clock_getcpuclockid(pid, &id) != 0 || clock_gettime(id, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t family_of(pid_t pid, unsigned depth);

/* Children are listed by the thread that made them. */
static uint64_t children_of(pid_t pid, const char *thread, unsigned depth)
{
	char path[320];
	uint64_t sum = 0;
	long child;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/task/%s/children", (long)pid, thread);
	f = fopen(path, "r");
	while (f != NULL && fscanf(f, "%ld", &child) == 1)
		sum += family_of((pid_t)child, depth + 1);
	if (f != NULL)
		fclose(f);
	return sum;
}

static uint64_t family_of(pid_t pid, unsigned depth)
{
	uint64_t sum = clock_of(pid);
	const struct dirent *e;
	char path[64];
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
	threads = depth < DEEPEST ? opendir(path) : NULL;
	while (threads != NULL && (e = readdir(threads)) != NULL)
		if (e->d_name[0] != '.')
			sum += children_of(pid, e->d_name, depth);
	if (threads != NULL)
		closedir(threads);
	return sum;
}

uint64_t pctl_processor_ns(void)
{
	return family_of(getpid(), 0);
}
