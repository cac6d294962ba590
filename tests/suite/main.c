/* The whole suite on devices named on the command line: every unit must hold on every one, and give the same digests
 * everywhere. DEVICE/N takes every N-th block of each unit, at least one: for drivers that compile slowly. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device_pair.h"

#define MOST_BLOCKS 4096u

struct options {
	const char *devices, *only;
	uint64_t seed, generated;
	int times;
	uint32_t track;
};

struct result {
	uint64_t cases, failures, blocks, not_run, differs;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void run_unit(device_pair *b, const pctl_unit *u, uint8_t (*digests)[PCTL_DIGEST_BYTES],
		     int first, uint64_t from, uint64_t every, struct result *r)
{
	for (uint64_t block = from; block < u->n_blocks; block += every) {
		uint8_t *theirs = digests[u->first_block + block];
		pctl_block out;

		if (u->run(u, &b->context, block, device_pair_call(b), &out) != PCTL_OK) {
			r->not_run++;
			continue;
		}
		r->blocks++;
		r->cases += out.cases;
		if (out.failures != 0)
			printf("FAILED %s (%s): got %s, want %s\n\t%s\n", u->name, out.first.inputs,
			       out.first.got, out.first.want, out.first.law);
		r->failures += out.failures;
		if (first) {
			memcpy(theirs, out.digest, PCTL_DIGEST_BYTES);
		} else if (memcmp(theirs, out.digest, PCTL_DIGEST_BYTES) != 0) {
			printf("FAILED %s block %" PRIu64
			       ": another digest than the first device\n",
			       u->name, block);
			r->differs++;
		}
	}
}

static int run_device(const struct options *o, char *selector,
		      uint8_t (*digests)[PCTL_DIGEST_BYTES], int first)
{
	char *slash = strchr(selector, '/');
	const uint64_t every = slash == NULL ? 1 : strtoull(slash + 1, NULL, 10);
	struct result r = {0};
	const double began = now();
	pctl_units *list = NULL;
	device_pair b;
	int opened;

	if (slash != NULL)
		*slash = '\0';
	/* Of the first device every digest is needed. */
	if (every == 0 || (first && every != 1)) {
		fprintf(stderr, "%s: every how many blocks?\n", selector);
		return 0;
	}
	opened = device_pair_open(&b, selector, o->seed, 1, NULL);
	if (opened && pctl_units_create(device_pair_call(&b), &list) == PCTL_OK &&
	    pctl_suite_units(&b.context, o->track, o->generated, device_pair_call(&b), list) ==
		    PCTL_OK &&
	    list->n_blocks <= MOST_BLOCKS) {
		for (uint32_t i = 0; i < list->n; i++) {
			const pctl_unit *u = &list->units[i];
			const double at = now();

			if (o->only != NULL && strcmp(o->only, u->name) != 0)
				continue;
			/* Each unit begins elsewhere, so that a block of every place is run. */
			run_unit(&b, u, digests, first,
				 i % (every < u->n_blocks ? every : u->n_blocks), every, &r);
			if (o->times)
				printf("%8.3f s %s\n", now() - at, u->name);
		}
	}
	if (opened)
		pctl_diag_render_text(b.diagnostics, stderr, 0);
	printf("%s: %" PRIu64 " blocks, %" PRIu64 " cases, %" PRIu64 " failures, %" PRIu64
	       " blocks not run, %" PRIu64 " digests differ, %.1f s\n",
	       selector, r.blocks, r.cases, r.failures, r.not_run, r.differs, now() - began);
	pctl_units_destroy(list);
	device_pair_close(&b);
	return r.cases != 0 && r.failures == 0 && r.not_run == 0 && r.differs == 0;
}

static int parse(int argc, char **argv, struct options *o)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--times") == 0) {
			o->times = 1;
			continue;
		}
		if (strcmp(argv[i], "--floats") == 0) {
			o->track = PCTL_TRACK_FLOAT;
			continue;
		}
		if (i + 1 == argc)
			return 0;
		i++;
		if (strcmp(argv[i - 1], "--devices") == 0)
			o->devices = argv[i];
		else if (strcmp(argv[i - 1], "--unit") == 0)
			o->only = argv[i];
		else if (strcmp(argv[i - 1], "--seed") == 0)
			o->seed = strtoull(argv[i], NULL, 0);
		else if (strcmp(argv[i - 1], "--generated") == 0)
			o->generated = strtoull(argv[i], NULL, 0);
		else
			return 0;
	}
	return o->devices != NULL;
}

int main(int argc, char **argv)
{
	struct options o = {.seed = 1, .generated = 16, .track = PCTL_TRACK_INTEGER};
	uint8_t(*digests)[PCTL_DIGEST_BYTES] = calloc(MOST_BLOCKS, PCTL_DIGEST_BYTES);
	int passed = 0, failed = 0;
	char *devices, *save = NULL;

	if (!parse(argc, argv, &o) || digests == NULL) {
		fprintf(stderr, "suite --devices A,B/N.. [--seed N] [--generated N] [--unit NAME] "
				"[--floats] [--times]\n");
		return 2;
	}
	devices = strdup(o.devices);
	for (char *d = strtok_r(devices, ",", &save); d != NULL; d = strtok_r(NULL, ",", &save)) {
		if (run_device(&o, d, digests, passed + failed == 0))
			passed++;
		else
			failed++;
	}
	free(devices);
	free(digests);
	printf("%d passed, %d failed\n", passed, failed);
	return failed != 0 || passed == 0;
}
