/* What a worker has used, by the kernel's own count: a slow machine is no fault of a driver. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/ipc/process.h"

/* Fields of /proc/PID/stat after the name, from 0: state, parent, group, .. */
enum { S_STATE = 0, S_GROUP = 2, S_UTIME = 11, S_STIME, S_CUTIME, S_CSTIME, S_RSS = 21, S_N };

static int read_stat(int proc, const char *pid, char *state, uint64_t f[S_N])
{
	char path[64], text[1024], *at;
	ssize_t n;
	int fd, i;

	snprintf(path, sizeof(path), "%.20s/stat", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* The name may hold anything, parentheses too. */
	at = strrchr(text, ')');
	if (!at || at[1] != ' ')
		return 0;
	*state = at[2];
	at += 3;
	for (i = 1; i < S_N; i++) {
		char *end;

		f[i] = strtoull(at, &end, 10);
		if (end == at)
			return 0;
		at = end;
	}
	return 1;
}

/* Nanoseconds that the threads of a process were ready to run and did not: the second number of their schedstat. */
static uint64_t waited_ns(int proc, const char *pid)
{
	char path[96], text[96];
	uint64_t sum = 0;
	struct dirent *e;
	DIR *tasks;
	int dir;

	snprintf(path, sizeof(path), "%.20s/task", pid);
	dir = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	tasks = dir < 0 ? NULL : fdopendir(dir);
	if (dir >= 0 && !tasks)
		close(dir);
	while (tasks && (e = readdir(tasks))) {
		char *end;
		ssize_t n;
		int fd;

		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%.20s/schedstat", e->d_name);
		fd = openat(dirfd(tasks), path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
		text[n > 0 ? n : 0] = '\0';
		(void)strtoull(text, &end, 10);
		sum += strtoull(end, NULL, 10);
	}
	if (tasks)
		closedir(tasks);
	return sum;
}

void pctl_process_used(const pctl_process *p, pctl_process_usage *out)
{
	const long ticks = sysconf(_SC_CLK_TCK), page = sysconf(_SC_PAGESIZE);
	DIR *proc = p->pid ? opendir("/proc") : NULL;
	struct dirent *e;
	uint64_t f[S_N] = {0}, sum = 0, waited = 0;
	char state;

	memset(out, 0, sizeof(*out));
	while (proc && (e = readdir(proc))) {
		if (e->d_name[0] < '0' || e->d_name[0] > '9' ||
		    !read_stat(dirfd(proc), e->d_name, &state, f) || f[S_GROUP] != (uint64_t)p->pid)
			continue;
		sum += f[S_UTIME] + f[S_STIME] + f[S_CUTIME] + f[S_CSTIME];
		out->memory += f[S_RSS] * (uint64_t)page;
		waited += waited_ns(dirfd(proc), e->d_name);
		out->runnable |= state == 'R';
	}
	if (proc)
		closedir(proc);
	out->waited_ms = waited / 1000000u;
	out->cpu_ms = sum * 1000u / (uint64_t)(ticks > 0 ? ticks : 100);
}
