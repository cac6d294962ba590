/* What a worker's start costs: from nothing to an open backend and back, beside a bare process that does nothing. Usage:
 * bench_worker PLUGIN-DIR WORKER ID [TIMES] */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "foundation/diag/diag.h"
#include "runtime/ipc/process.h"
#include "runtime/plugin/instance.h"
#include "foundation/base/clock.h"

static int by_time(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Lowest and middle, in milliseconds. */
static void say(const char *what, uint64_t *ns, size_t n)
{
	qsort(ns, n, sizeof(*ns), by_time);
	printf("%-28s lowest %.3f ms, median %.3f ms\n", what, (double)ns[0] / 1e6,
	       (double)ns[n / 2] / 1e6);
}

static int start_bare(void)
{
	char name[] = "/bin/true", *argv[] = {name, NULL};
	int status;
	pid_t pid;

	return posix_spawn(&pid, name, NULL, NULL, argv, environ) == 0 &&
	       waitpid(pid, &status, 0) == pid;
}

static int start_worker(pctl_registry *r, const char *id, const pctl_call *call)
{
	pctl_backend_instance *s;

	if (pctl_backend_instance_open(r, id, NULL, 0, call, &s) != PCTL_OK)
		return 0;
	pctl_backend_instance_close(s, call);
	return 1;
}

int main(int argc, char **argv)
{
	const size_t n = argc > 4 ? strtoul(argv[4], NULL, 10) : 200;
	const char *dirs[] = {argc > 1 ? argv[1] : ""};
	pctl_registry_options o = {.dirs = dirs,
				   .n_dirs = 1,
				   .flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
				   .worker = argc > 2 ? argv[2] : NULL};
	pctl_diag_list *l = pctl_diag_list_create();
	uint64_t *ns = calloc(n ? n : 1, sizeof(*ns));
	pctl_registry *r = NULL;
	int rc = EXIT_FAILURE;
	size_t i;

	if (argc < 4 || !l || !ns || !n) {
		fprintf(stderr, "usage: bench_worker PLUGIN-DIR WORKER ID [TIMES]\n");
		goto out;
	}
	if (pctl_registry_open(&o, pctl_diag_list_call(l), &r) != PCTL_OK)
		goto out;
	for (i = 0; i < n; i++) {
		const uint64_t begin = pctl_clock_ns();

		if (!start_bare())
			goto out;
		ns[i] = pctl_clock_ns() - begin;
	}
	say("a process that does nothing", ns, n);
	for (i = 0; i < n; i++) {
		const uint64_t begin = pctl_clock_ns();

		if (!start_worker(r, argv[3], pctl_diag_list_call(l)))
			goto out;
		ns[i] = pctl_clock_ns() - begin;
	}
	say("a worker, opened and closed", ns, n);
	rc = EXIT_SUCCESS;
out:
	for (uint32_t k = 0; rc && l && k < pctl_diag_list_count(l); k++)
		fprintf(stderr, "%s\n", pctl_diag_list_at(l, k)->message);
	pctl_registry_close(r);
	pctl_diag_list_destroy(l);
	free(ns);
	return rc;
}
