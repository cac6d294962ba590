/* Mixed jobs through one executor: every output as C works it out, round after round. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "foundation/diag/diag.h"
#include "runtime/exec/run.h"
#include "jobs.h"

/* ran: a part of the executor's description that is wanted at the end. */
struct options {
	const char *backends[16], *ran;
	uint32_t n_backends, n_jobs, rounds, verify_ppm, flags, kernel, words, first_run_ms;
	uint64_t seed;
};

struct bench {
	pctl_registry *registry;
	pctl_policy *policy;
	pctl_profiles *profiles;
	pctl_executor executor;
	char home[64], cache[80];
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static pctl_status open_bench(struct bench *b, const struct options *o, const pctl_call *call)
{
	const pctl_registry_options registry = {
		.home = b->home, .strikes = 1000000, .first_run_ms = o->first_run_ms};
	const pctl_profiles_options profiles = {.home = b->home};
	pctl_device_executor_options e = {.backends = o->backends,
					  .n_backends = o->n_backends,
					  .verify_ppm = o->verify_ppm,
					  .flags = o->flags,
					  .cache_dir = b->cache};
	pctl_status status;

	strcpy(b->home, "/tmp/pipectl-executor-XXXXXX");
	if (mkdtemp(b->home) == NULL)
		return PCTL_E_IO;
	snprintf(b->cache, sizeof(b->cache), "%s/kernels", b->home);
	status = pctl_registry_open(&registry, call, &b->registry);
	if (status == PCTL_OK)
		status = pctl_policy_default(call, &b->policy);
	if (status == PCTL_OK)
		status = pctl_profiles_open(&profiles, call, &b->profiles);
	e.registry = b->registry;
	e.policy = b->policy;
	e.profiles = b->profiles;
	return status == PCTL_OK ? pctl_device_executor_open(&e, call, &b->executor) : status;
}

static void close_bench(struct bench *b)
{
	char command[128];

	pctl_executor_close(&b->executor);
	pctl_profiles_close(b->profiles);
	pctl_policy_destroy(b->policy);
	pctl_registry_close(b->registry);
	snprintf(command, sizeof(command), "rm -rf '%s'", b->home);
	if (b->home[0] != '\0' && system(command) != 0)
		fprintf(stderr, "%s was left behind\n", b->home);
}

static int run_rounds(struct bench *b, jobs *j, const struct options *o, const pctl_call *call)
{
	for (uint32_t round = 0; round < o->rounds; round++) {
		const double began = now();
		pctl_status status;
		uint32_t wrong;

		jobs_corrupt(j);
		status = b->executor.run(b->executor.ctx, j->tasks, j->n, call);
		if (status != PCTL_OK) {
			printf("round %u: %s\n", round, pctl_status_name(status));
			return 0;
		}
		printf("round %u: %.3f s\n", round, now() - began);
		wrong = jobs_wrong(j);
		if (wrong < j->n) {
			printf("FAILED round %u: %s has a wrong output\n", round,
			       j->tasks[wrong].name);
			return 0;
		}
	}
	return 1;
}

static int parse(int argc, char **argv, struct options *o)
{
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (strcmp(argv[i], "--in-process") == 0) {
			o->flags |= PCTL_RUN_IN_PROCESS;
			continue;
		}
		if (argv[i][0] != '-' && o->n_backends < 16) {
			o->backends[o->n_backends++] = argv[i];
			continue;
		}
		if (value == NULL)
			return 0;
		if (strcmp(argv[i], "--jobs") == 0)
			o->n_jobs = (uint32_t)strtoul(value, NULL, 0);
		else if (strcmp(argv[i], "--rounds") == 0)
			o->rounds = (uint32_t)strtoul(value, NULL, 0);
		else if (strcmp(argv[i], "--verify") == 0)
			o->verify_ppm = (uint32_t)strtoul(value, NULL, 0);
		else if (strcmp(argv[i], "--kernel") == 0)
			o->kernel = (uint32_t)strtoul(value, NULL, 0);
		else if (strcmp(argv[i], "--words") == 0)
			o->words = (uint32_t)strtoul(value, NULL, 0);
		else if (strcmp(argv[i], "--first-run") == 0)
			o->first_run_ms = (uint32_t)strtoul(value, NULL, 0);
		else if (strcmp(argv[i], "--seed") == 0)
			o->seed = strtoull(value, NULL, 0);
		else if (strcmp(argv[i], "--ran") == 0)
			o->ran = value;
		else
			return 0;
		i++;
	}
	return 1;
}

int main(int argc, char **argv)
{
	struct options o = {.n_jobs = 300, .rounds = 2, .seed = 1, .kernel = JOBS_KERNELS};
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	struct bench b = {0};
	jobs j = {0};
	int ok = parse(argc, argv, &o);

	if (!ok) {
		fprintf(stderr,
			"usage: executor_jobs [--jobs N] [--rounds N] [--seed N] [--verify PPM] "
			"[--ran TEXT] [--first-run MS] [--kernel N] [--words N] [--in-process] "
			"[DEVICE...]\n");
		return 2;
	}
	ok = jobs_make(&j, o.n_jobs, o.seed, o.kernel, o.words, call) &&
	     open_bench(&b, &o, call) == PCTL_OK && run_rounds(&b, &j, &o, call);
	if (ok) {
		const char *ran = b.executor.describe(b.executor.ctx);

		printf("%s: %u jobs, seed %" PRIu64 ", %u rounds, every byte as wanted\n", ran, j.n,
		       o.seed, o.rounds);
		ok = j.n != 0 && o.rounds != 0 && (o.ran == NULL || strstr(ran, o.ran) != NULL);
	}
	pctl_diag_render_text(l, stderr, 0);
	close_bench(&b);
	jobs_drop(&j);
	pctl_diag_list_destroy(l);
	printf("%s\n", ok ? "1 passed, 0 failed" : "0 passed, 1 failed");
	return !ok;
}
