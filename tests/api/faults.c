/* Memory that runs out: the n-th allocation of opening, checking, running and auditing, of the chain, of steps of a resident run, and of a model, fails, for n from
 * 1 densely and then in strides, or each n in turn: the right bytes or an error that says so, never a crash, and all is given back. Each n has a process. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "faults.h"

#define SLOTS (1u << 20)
#define DENSE 40u

/* Allocations of the core's own code (the linker sends them here); those of other libraries are theirs. */
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);
char *__wrap_strdup(const char *s);

static void *slots[SLOTS];
static uint64_t n_calls, fail_at, n_live;
static uint32_t failed;

uint32_t plant;

static uint32_t place_of(const void *p)
{
	return (uint32_t)(((uintptr_t)p >> 4) * 0x9e3779b1u) & (SLOTS - 1);
}

/* What is taken out leaves this behind, so that a search goes on over it. */
static char gone;

static void *keep(void *p)
{
	uint32_t i = place_of(p);

	if (p == NULL)
		return NULL;
	while (slots[i] != NULL && slots[i] != &gone)
		i = (i + 1) & (SLOTS - 1);
	slots[i] = p;
	n_live++;
	return p;
}

static void drop(void *p)
{
	for (uint32_t i = place_of(p); p != NULL && slots[i] != NULL; i = (i + 1) & (SLOTS - 1)) {
		if (slots[i] != p)
			continue;
		slots[i] = slots[(i + 1) & (SLOTS - 1)] == NULL ? NULL : &gone;
		n_live--;
		return;
	}
}

static int refuse(void)
{
	if (++n_calls != fail_at)
		return 0;
	failed = 1;
	errno = ENOMEM;
	return 1;
}

void *__wrap_malloc(size_t n)
{
	return refuse() ? NULL : keep(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return refuse() ? NULL : keep(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n)
{
	void *grown;

	if (refuse())
		return NULL;
	drop(p);
	grown = __real_realloc(p, n);
	if (grown == NULL)
		(void)keep(p);
	return keep(grown);
}

void __wrap_free(void *p)
{
	if (failed && plant == PLANT_LEAK && p != NULL) {
		plant = PLANT_NOTHING;
		return;
	}
	if (failed && plant == PLANT_CRASH)
		raise(SIGSEGV);
	drop(p);
	__real_free(p);
}

char *__wrap_strdup(const char *s)
{
	return refuse() ? NULL : keep(__real_strdup(s));
}

/* ---- the sweep ---------------------------------------------------------------------------- */

/* In a process of its own: 0 for an error in good order, 4 for the right bytes all the same, 3 where the fault was not met. */
static int try_one(uint64_t n, const char *home, const char *path, const char *second,
		   const outcome *want, uint64_t live)
{
	outcome got = {.n_errors = 0};
	const uint32_t planted = plant;
	pctl_status status;
	int bad;

	n_calls = 0;
	fail_at = n;
	status = work(home, path, second, &got);
	if (!failed)
		return 3;
	if (plant == PLANT_WRONG) {
		status = PCTL_OK;
		got.cid[0] = 'x';
	}
	bad = status == PCTL_OK	  ? strcmp(got.cid, want->cid) != 0
	      : got.n_errors == 0 ? 1
				  : got.n_internal != 0;
	if ((bad || n_live > live) && !planted)
		printf("FAILED allocation %" PRIu64 ": %s, %" PRIu32
		       " errors (%s), cid %s, %" PRId64 " blocks more than before\n",
		       n, pipectl_status_name(status), got.n_errors, got.text, got.cid,
		       (int64_t)(n_live - live));
	fflush(stdout);
	return bad || n_live > live ? 1 : status == PCTL_OK ? 4 : 0;
}

static uint32_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint32_t)(t.tv_sec * 1000 + t.tv_nsec / 1000000);
}

/* Of every allocation in turn this process takes the shard-th of n_shards; 0 shards: strides. */
static uint32_t shard, n_shards;

/* Points: the first DENSE, then strides over the rest as far as `ms` allows; or a shard of all of them, without those that come before
 * a job is audited, which is what the sweep without `second` does. */
static uint32_t sweep(const char *home, const char *path, const char *second, uint32_t ms)
{
	outcome want = {.n_errors = 0};
	uint32_t n_failed = 0, n_tried = 0, n_right = 0, began, one;
	uint64_t total, live, stride, n_before = 0;

	fail_at = 0;
	if (n_shards != 0 && path != NULL && second != NULL && second[0] != '\0') {
		n_calls = 0;
		(void)work(home, path, NULL, &want);
		n_calls = 0;
		(void)work(home, path, NULL, &want);
		n_before = n_calls;
	}
	(void)work(home, path, second,
		   &want); /* libraries of ops stay loaded, drivers are looked at */
	n_calls = 0;
	began = now_ms();
	if (work(home, path, second, &want) != PCTL_OK) {
		printf("FAILED without a fault: %s\n", want.text);
		return 1;
	}
	one = now_ms() - began + 1;
	total = n_calls;
	live = n_live;
	stride = total * one / (ms + 1) + 1;
	for (uint64_t n = n_shards != 0 ? n_before + shard : 1; n <= total;
	     n += n_shards != 0 ? n_shards
		  : n < DENSE	? 1
				: stride) {
		int ended = 0;
		pid_t pid;

		fflush(stdout);
		pid = fork();
		if (pid == 0)
			_exit(try_one(n, home, path, second, &want, live));
		if (pid < 0 || waitpid(pid, &ended, 0) != pid)
			return n_failed + 1;
		n_tried++;
		n_right += WIFEXITED(ended) && WEXITSTATUS(ended) == 4;
		if (WIFEXITED(ended) && WEXITSTATUS(ended) != 1)
			continue;
		n_failed++;
		if (WIFSIGNALED(ended))
			printf("FAILED allocation %" PRIu64 ": signal %d\n", n, WTERMSIG(ended));
	}
	for (plant = PLANT_LEAK; second == NULL && plant < PLANTS; plant++) {
		int ended = 0;
		pid_t pid = fork();

		if (pid == 0)
			_exit(try_one(total / 3, home, path, second, &want, live));
		if (pid < 0 || waitpid(pid, &ended, 0) != pid ||
		    (WIFEXITED(ended) && WEXITSTATUS(ended) != 1)) {
			n_failed++;
			printf("FAILED: planted fault %" PRIu32 " was not seen\n", plant);
		}
	}
	plant = PLANT_NOTHING;
	printf("%s: %" PRIu32 " of %" PRIu64 " allocations failed in turn: %" PRIu32
	       " errors, %" PRIu32 " times the right bytes, %" PRIu32 " wrongly; %" PRIu64
	       " blocks stay\n",
	       path == NULL	       ? "the chain"
	       : path == resident_path ? "a resident run"
	       : path == model_path    ? "a model"
	       : second == NULL	       ? "open, check, run"
				       : "and audit",
	       n_tried, total, n_tried - n_right - n_failed, n_right, n_failed, live);
	return n_failed + (n_tried < (n_shards != 0 ? 1 : DENSE));
}

static int one_alone(const char *home, const char *path, uint64_t n)
{
	outcome want = {.n_errors = 0};

	return work(home, path, NULL, &want) != PCTL_OK ||
	       work(home, path, NULL, &want) != PCTL_OK ||
	       try_one(n, home, path, NULL, &want, n_live) == 1;
}

/* Every allocation of one sweep: run, audit, chain, resident or model; the shard of "I/N", I from 1. */
static int every(char **argv, const char *shards, const char *of)
{
	const char *home = argv[1];
	char *end;

	shard = (uint32_t)strtoul(shards, &end, 10);
	n_shards = *end == '/' ? (uint32_t)strtoul(end + 1, &end, 10) : 0;
	if (*end != '\0' || shard == 0 || shard > n_shards)
		return 2;
	if (strcmp(of, "run") == 0)
		return sweep(home, argv[2], NULL, 0) != 0;
	if (strcmp(of, "audit") == 0)
		return sweep(home, argv[2], argv[3], 0) != 0;
	if (strcmp(of, "chain") == 0)
		return sweep(home, NULL, "", 0) != 0;
	if (strcmp(of, "resident") == 0)
		return sweep(home, resident_path, "", 0) != 0;
	return strcmp(of, "model") == 0 ? sweep(home, model_path, "", 0) != 0 : 2;
}

/* faults HOME PIPELINE SECOND-DEVICE RESIDENT [MS-A-SWEEP [N]]: N: that allocation alone, in this process, for a debugger.
 * RESIDENT: the pipeline that stays on a device. PIPELINE "model": the last sweep alone, of a model.
 * faults HOME PIPELINE SECOND-DEVICE RESIDENT every I/N SWEEP: each allocation of a sweep, of which this is a shard. */
int main(int argc, char **argv)
{
	const uint32_t ms = argc > 5 ? (uint32_t)strtoul(argv[5], NULL, 10) : 22000;
	static char model[256];
	uint32_t n;

	if (argc < 5)
		return 2;
	resident_path = argv[4];
	model_path = model;
	if (argc == 8 && strcmp(argv[5], "every") == 0) {
		if (strcmp(argv[7], "model") == 0 && !make_model(argv[1], model))
			return 1;
		return every(argv, argv[6], argv[7]);
	}
	if (argc > 6)
		return one_alone(argv[1],
				 strcmp(argv[2], resident_path) == 0 ? resident_path
				 : strcmp(argv[2], "model") == 0 && make_model(argv[1], model)
					 ? model_path
					 : argv[2],
				 strtoull(argv[6], NULL, 10));
	if (strcmp(argv[2], "model") == 0)
		return !make_model(argv[1], model) || sweep(argv[1], model_path, "", ms) != 0;
	n = sweep(argv[1], argv[2], NULL, ms);
	n += sweep(argv[1], argv[2], argv[3], ms);
	n += sweep(argv[1], NULL, "", ms);
	n += sweep(argv[1], resident_path, "", ms);
	n += make_model(argv[1], model) ? sweep(argv[1], model_path, "", ms) : 1;
	return n != 0;
}
