/* What the executor of the chain adds to the dispatches themselves: many jobs of 256 bytes in and 256 out through the
 * worker, beside the same dispatches in a bare loop over the device's own interface (bare.h). Outputs of both are
 * compared. usage: bench_chain_executor [JOBS] DEVICE, where DEVICE is of vulkan or opencl */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bare.h"
#include "foundation/diag/diag.h"
#include "executor/jobs.h"
#include "place.h"

#define TRIES 9u

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *seconds)
{
	qsort(seconds, TRIES, sizeof(*seconds), ascending);
	return seconds[TRIES / 2];
}

static pctl_status open_executor(const char *device, pctl_registry *r, pctl_policy *p,
				 const pctl_call *call, pctl_executor *out)
{
	const pctl_device_executor_options o = {
		.registry = r, .policy = p, .backends = &device, .n_backends = 1};

	return pctl_device_executor_open(&o, call, out);
}

/* Seconds of each try, the first one, which builds the kernel, left out. */
static int through_executor(jobs *j, const pctl_executor *e, const pctl_call *call, double *seconds)
{
	for (uint32_t i = 0; i < TRIES + 1; i++) {
		double began;

		jobs_corrupt(j);
		began = bare_now();
		if (e->run(e->ctx, j->tasks, j->n, call) != PCTL_OK || jobs_wrong(j) != j->n)
			return 0;
		if (i != 0)
			seconds[i - 1] = bare_now() - began;
	}
	return 1;
}

/* The same bytes in a bare loop; 0 when it fails or gives others. */
static int in_a_loop(const jobs *j, const char *device, const char *name, double *seconds)
{
	uint8_t *in = malloc((size_t)j->n * BARE_BYTES), *out = malloc((size_t)j->n * BARE_BYTES);
	int ok = in != NULL && out != NULL;

	for (uint32_t i = 0; ok && i < j->n; i++)
		memcpy(in + (size_t)i * BARE_BYTES, j->tasks[i].bindings[0].data, BARE_BYTES);
	ok = ok && (strncmp(device, "opencl", 6) == 0 ? bare_opencl : bare_vulkan)(
			   name, in, out, j->n, TRIES, seconds);
	for (uint32_t i = 0; ok && i < j->n; i++)
		ok = memcmp(out + (size_t)i * BARE_BYTES, j->want[i], BARE_BYTES) == 0;
	free(in);
	free(out);
	return ok;
}

int main(int argc, char **argv)
{
	const char *device = argc > 1 ? argv[argc - 1] : "";
	const uint32_t n = argc > 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000;
	const pctl_registry_options o = {.worker = getenv("PIPECTL_WORKER"),
					 .cache = bench_cache()};
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	double ours[TRIES], theirs[TRIES];
	pctl_registry *r = NULL;
	pctl_policy *p = NULL;
	pctl_executor e = {0};
	jobs j = {0};
	int ok = argc > 1 && n != 0;

	if (!ok)
		fprintf(stderr, "usage: bench_chain_executor [JOBS] DEVICE\n");
	ok = ok && pctl_registry_open(&o, call, &r) == PCTL_OK &&
	     pctl_policy_default(call, &p) == PCTL_OK &&
	     open_executor(device, r, p, call, &e) == PCTL_OK &&
	     jobs_make(&j, n, 1, 0, BARE_BYTES / 4, call) && through_executor(&j, &e, call, ours);
	if (ok && !in_a_loop(&j, device, e.describe(e.ctx), theirs)) {
		fprintf(stderr, "bench_chain_executor: the bare loop failed or gave other bytes\n");
		ok = 0;
	}
	if (ok) {
		const double a = median(ours), b = median(theirs);

		printf("{\"bench\":\"chain-executor\",\"device\":\"%s\",\"jobs\":%u,"
		       "\"us_per_job\":%.2f,\"us_per_bare_dispatch\":%.2f,\"ratio\":%.2f}\n",
		       device, n, a / n * 1e6, b / n * 1e6, a / b);
	}
	pctl_diag_render_text(l, stderr, 0);
	pctl_executor_close(&e);
	pctl_policy_destroy(p);
	pctl_registry_close(r);
	jobs_drop(&j);
	pctl_diag_list_destroy(l);
	return !ok;
}
