/* What a worker uses, looked at by its supervisor for as long as it lives, and the limits that the kernel keeps itself.
 * Address space is not limited: drivers reserve far more of it than they use. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "worker.h"

#define DEPTH \
	32u /* of processes that start processes; deeper ones are counted with their parents */

typedef struct usage {
	const pctl_worker_limits *limits;
	worker_written *written; /* NULL: nobody asks */
	uint64_t memory,
		shared; /* shared: mapped pages of files in memory; memory is without them */
	uint32_t tasks, processes;
} usage;

/* Files in memory need not be mapped, and what is mapped need not be open. */
static uint64_t memory_of(const usage *u)
{
	const uint64_t open = u->written ? u->written->memory : 0;

	return u->memory + (open > u->shared ? open : u->shared);
}

/* Who multiplies is not counted to the end, which may never come. */
static int is_over(const usage *u)
{
	if (u->limits->processes && u->processes > u->limits->processes)
		return PCTL_WORKER_OVER_PROCESSES;
	if (u->limits->tasks && u->tasks > u->limits->tasks)
		return PCTL_WORKER_OVER_TASKS;
	if (u->limits->memory && memory_of(u) > u->limits->memory)
		return PCTL_WORKER_OVER_MEMORY;
	return 0;
}

static void limit(int what, uint64_t most)
{
	struct rlimit l;

	if (!most || getrlimit((__rlimit_resource_t)what, &l) < 0)
		return;
	if (l.rlim_max > most)
		l.rlim_max = most;
	l.rlim_cur = l.rlim_max;
	setrlimit((__rlimit_resource_t)what, &l);
}

void worker_limit(const pctl_worker_limits *limits)
{
	limit(RLIMIT_FSIZE, limits->file);
	limit(RLIMIT_NOFILE, limits->files);
	/* A write that goes too far fails, as on a full disk. */
	signal(SIGXFSZ, SIG_IGN);
}

/* The number behind a word at the beginning of a line, 0 when there is none. */
static uint64_t number_of(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	return at ? strtoull(at + strlen(word), NULL, 10) : 0;
}

static int read_text(const char *path, char *text, size_t n)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return 0;
	got = read(fd, text, n - 1);
	close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

static void add_process(const char *pid, usage *u)
{
	char path[64], text[4096];
	uint64_t shared, all;

	snprintf(path, sizeof(path), "/proc/%.20s/status", pid);
	if (!read_text(path, text, sizeof(text)))
		return;
	shared = 1024 * number_of(text, "\nRssShmem:");
	all = 1024 * number_of(text, "\nVmRSS:");
	u->shared += shared;
	u->memory += (all > shared ? all - shared : 0) + 1024 * number_of(text, "\nVmSwap:");
	if (u->written)
		worker_nameless_add(u->written, pid);
	u->tasks += (uint32_t)number_of(text, "\nThreads:");
	u->processes++;
}

/* Processes of a /proc that shows only the worker's. */
static void add_all(usage *u)
{
	const long self = getpid();
	DIR *proc = opendir("/proc");
	struct dirent *e;

	while (proc && !is_over(u) && (e = readdir(proc)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
		    strtol(e->d_name, NULL, 10) != self)
			add_process(e->d_name, u);
	if (proc)
		closedir(proc);
}

static void add_children(const char *pid, uint32_t depth, usage *u);

static void add_children_of_task(const char *pid, const char *task, uint32_t depth, usage *u)
{
	char path[96], text[8192], *at, *rest = text;

	snprintf(path, sizeof(path), "/proc/%.20s/task/%.20s/children", pid, task);
	if (!read_text(path, text, sizeof(text)))
		return;
	while (!is_over(u) && (at = strsep(&rest, " "))) {
		if (!*at)
			continue;
		add_process(at, u);
		if (depth)
			add_children(at, depth - 1, u);
	}
}

static void add_children(const char *pid, uint32_t depth, usage *u)
{
	char path[64];
	struct dirent *e;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%.20s/task", pid);
	tasks = opendir(path);
	while (tasks && !is_over(u) && (e = readdir(tasks)))
		if (e->d_name[0] != '.')
			add_children_of_task(pid, e->d_name, depth, u);
	if (tasks)
		closedir(tasks);
}

static void look(usage *u, int whole)
{
	if (whole)
		add_all(u);
	else
		add_children("self", DEPTH, u);
}

int worker_usage_over(const pctl_worker_limits *limits, int whole, worker_written *written)
{
	usage u = {.limits = limits, .written = written};
	int over;

	worker_nameless_begin(written);
	look(&u, whole);
	over = is_over(&u);
	return over ? over : worker_written_over(written, limits);
}

void worker_count(const pctl_worker_limits *limits, int whole, uint32_t *processes, uint32_t *tasks)
{
	const pctl_worker_limits most = {.tasks = limits->tasks, .processes = limits->processes};
	usage u = {.limits = &most};

	look(&u, whole);
	*processes = u.processes;
	*tasks = u.tasks;
}
