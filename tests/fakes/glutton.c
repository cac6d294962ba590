/* Fault: takes what nobody asked it to while it is asked whether it supports a program. What it takes is said by the
 * program's first letter: memory, processes, threads, processes that start processes, a storm of them, or one after another;
 * or, in its own folder, bytes, files, deep folders, or bytes under no name; or bytes in memory that it does not map.
 * It is little, and given back after a while (what has a name stays); then it answers. The while is long, since whoever looks
 * may be late on a busy machine, and short where the letter is a capital one: what is allowed. Whoever is born leaves a byte
 * in a file, to be counted. */
#include <fcntl.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "memory.h"

#define BYTES (192u << 20)
#define MANY 40
#define FORKS_MAX 60
#define STORM_MAX 200
#define SHORT_WHILE_US 600000
#define LONG_WHILE_US 60000000
#define PIECE (1u << 20) /* bytes of a file */
#define PIECES 32
#define NAMES 400
#define LEVELS 200

static useconds_t while_us;

static void take_memory(void)
{
	volatile char *p = malloc(BYTES);

	for (size_t i = 0; p && i < BYTES; i += 4096)
		p[i] = 1;
	usleep(while_us);
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
			usleep(while_us);
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
			usleep(while_us);
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
	usleep(while_us);
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
	usleep(while_us);
	if (getpid() != first)
		_exit(0);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

/* Of so many bytes, at a place in its folder or in memory. */
static int file_of(int n, size_t bytes, int keep_name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/file-%d", getenv("TMPDIR"), n);
	fd = bytes > PIECE ? memfd_create("window", MFD_CLOEXEC)
			   : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		abort();
	if (!keep_name)
		unlink(path);
	for (size_t done = 0; done < bytes; done += sizeof(path))
		if (write(fd, path, sizeof(path)) != sizeof(path))
			abort();
	return fd;
}

static void leave_files(int n, size_t bytes)
{
	for (int i = 0; i < n; i++)
		close(file_of(i, bytes, 1));
	usleep(while_us);
}

static void hold_files(size_t bytes, int n)
{
	int fds[PIECES];

	for (int i = 0; i < n; i++)
		fds[i] = file_of(i, bytes, 0);
	usleep(while_us);
	for (int i = 0; i < n; i++)
		close(fds[i]);
}

static void dig(void)
{
	int at = open(getenv("TMPDIR"), O_RDONLY | O_DIRECTORY | O_CLOEXEC), next;

	for (int i = 0; i < LEVELS && at >= 0; i++) {
		if (mkdirat(at, "down", 0700) < 0 && errno != EEXIST)
			abort();
		next = openat(at, "down", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = next;
	}
	close(at);
	usleep(while_us);
}

static pctl_status glutton_supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				    uint64_t n, pctl_support *out)
{
	const int is_short = n && wire[0] >= 'A' && wire[0] <= 'Z';
	const char what = n ? (char)(wire[0] | ' ') : 0;

	while_us = is_short ? SHORT_WHILE_US : LONG_WHILE_US;
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
	if (what == 'b')
		leave_files(PIECES, PIECE);
	if (what == 'n')
		leave_files(NAMES, 0);
	if (what == 'd')
		dig();
	if (what == 'u')
		hold_files(PIECE, PIECES);
	if (what == 'w')
		hold_files(BYTES / 4, 4);
	return fake_supports(dev, call, (const uint8_t *)"y", 1, out);
}
#define FAULT_SLOTS .supports = glutton_supports
#include "good.h"
