/* Fault: takes what nobody asked it to while it is asked whether it supports a program. What it takes is said by the
 * program's first letter: memory, processes, threads, processes that start processes, a storm of them, or one after another.
 * It is little, and given back after a while; then it answers. Whoever is born leaves a byte in a file, to be counted. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "memory.h"

#define BYTES (192u << 20)
#define MANY 40
#define FORKS_MAX 60
#define STORM_MAX 200
#define WHILE_US 600000

static void take_memory(void)
{
	volatile char *p = malloc(BYTES);

	for (size_t i = 0; p && i < BYTES; i += 4096)
		p[i] = 1;
	usleep(WHILE_US);
	free((void *)(uintptr_t)p);
}

static void born_file(char path[512])
{
	snprintf(path, 512, "%s/born", getenv("TMPDIR"));
}

static void be_born(void)
{
	char path[512];
	int fd;

	born_file(path);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, "b", 1) != 1)
		abort();
	close(fd);
}

/* Until the first has left its byte: whoever is ended for their number is ended at once, and nobody had been counted. */
static void wait_for_a_birth(void)
{
	char path[512];
	int i;

	born_file(path);
	for (i = 0; i < 5000 && access(path, F_OK); i++)
		usleep(1000);
}

static void take_processes(void)
{
	pid_t pids[MANY];
	int i;

	for (i = 0; i < MANY; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			be_born();
			usleep(WHILE_US);
			_exit(0);
		}
	}
	for (i = 0; i < MANY; i++)
		if (pids[i] > 0)
			waitpid(pids[i], NULL, 0);
}

/* Ten thousand, if nobody stops it; of which two hundred at most are there at once, since the machine has to live. */
static void storm(void)
{
	int i, n = 0;

	for (i = 0; i < 10000 && n < STORM_MAX; i++)
		switch (fork()) {
		case 0:
			be_born();
			usleep(WHILE_US);
			_exit(0);
		case -1:
			break;
		default:
			if (n++ == 0)
				wait_for_a_birth();
		}
	while (waitpid(-1, NULL, 0) > 0)
		;
}

/* Many, but never two. */
static void one_after_another(void)
{
	int i;

	for (i = 0; i < STORM_MAX; i++) {
		const pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
}

static void *sleep_a_while(void *arg)
{
	be_born();
	usleep(WHILE_US);
	return arg;
}

static void take_threads(void)
{
	pthread_t threads[MANY];
	int i, ok[MANY];

	for (i = 0; i < MANY; i++) {
		ok[i] = pthread_create(&threads[i], NULL, sleep_a_while, NULL) == 0;
		if (i == 0)
			wait_for_a_birth();
	}
	for (i = 0; i < MANY; i++)
		if (ok[i])
			pthread_join(threads[i], NULL);
}

/* Every child forks on, sixty of them at most: the machine has to live where the limit is not kept. */
static void fork_on(void)
{
	volatile int *n =
		mmap(NULL, sizeof(*n), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const pid_t first = getpid();

	while (n != MAP_FAILED && __sync_fetch_and_add(n, 1) < FORKS_MAX)
		if (fork() == 0)
			be_born();
		else if (getpid() == first)
			wait_for_a_birth();
	usleep(WHILE_US);
	if (getpid() != first)
		_exit(0);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static pctl_status glutton_supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				    uint64_t n, pctl_support *out)
{
	const char what = n ? (char)wire[0] : 0;

	if (what == 'm')
		take_memory();
	if (what == 'p')
		take_processes();
	if (what == 't')
		take_threads();
	if (what == 'f')
		fork_on();
	if (what == 's')
		storm();
	if (what == 'o')
		one_after_another();
	return fake_supports(dev, call, (const uint8_t *)"y", 1, out);
}
#define FAULT_SLOTS .supports = glutton_supports
#include "good.h"
