/* Expected results of all 2^32 inputs of a function as one SHA-256 a block of 2^20 inputs (little-endian words, inputs
 * in ascending order of bits). Resumable: blocks that a file already has are kept.
 * usage: expect DIRECTORY [-j THREADS] FUNCTION.. | --all ; expect --check N FUNCTION..|--all */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mpfr.h>
#include <openssl/sha.h>

#include "oracle.h"

#define BLOCK (1u << 20)
#define BLOCKS 4096u

typedef struct job {
	const oracle *o;
	unsigned char digests[BLOCKS][32];
	unsigned char done[BLOCKS];
	unsigned next;
	uint64_t undecided;
	const char *path;
	pthread_mutex_t lock;
} job;

static void save(job *j)
{
	char temporary[4096];
	FILE *f;

	snprintf(temporary, sizeof(temporary), "%s.part", j->path);
	f = fopen(temporary, "wb");
	if (f == NULL || fwrite(j->digests, 32, BLOCKS, f) != BLOCKS || fclose(f) != 0 ||
	    rename(temporary, j->path) != 0) {
		perror(j->path);
		exit(1);
	}
}

static void *work(void *arg)
{
	job *j = arg;
	uint32_t *words = malloc((size_t)BLOCK * 4);

	for (;;) {
		unsigned char digest[32];
		uint64_t undecided = 0;
		unsigned b;

		pthread_mutex_lock(&j->lock);
		while (j->next < BLOCKS && j->done[j->next])
			j->next++;
		b = j->next++;
		pthread_mutex_unlock(&j->lock);
		if (b >= BLOCKS)
			break;
		for (uint32_t i = 0; i < BLOCK; i++)
			words[i] = oracle_eval(j->o, b * BLOCK + i, &undecided);
		SHA256((const unsigned char *)words, (size_t)BLOCK * 4, digest);
		pthread_mutex_lock(&j->lock);
		memcpy(j->digests[b], digest, sizeof(digest));
		j->done[b] = 1;
		j->undecided += undecided;
		if (b % 512 == 511)
			save(j);
		pthread_mutex_unlock(&j->lock);
	}
	free(words);
	mpfr_free_cache();
	return NULL;
}

static void expect(const char *directory, const oracle *o, unsigned n_threads)
{
	static const unsigned char none[32];
	job *j = calloc(1, sizeof(*j));
	pthread_t threads[256];
	struct timespec a, b;
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s.f32.sha256", directory, o->name);
	j->o = o;
	j->path = path;
	pthread_mutex_init(&j->lock, NULL);
	f = fopen(path, "rb");
	if (f != NULL && fread(j->digests, 32, BLOCKS, f) == BLOCKS)
		for (unsigned i = 0; i < BLOCKS; i++)
			j->done[i] = memcmp(j->digests[i], none, 32) != 0;
	if (f != NULL)
		fclose(f);
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (unsigned i = 0; i < n_threads; i++)
		pthread_create(&threads[i], NULL, work, j);
	for (unsigned i = 0; i < n_threads; i++)
		pthread_join(threads[i], NULL);
	clock_gettime(CLOCK_MONOTONIC, &b);
	save(j);
	printf("%-8s 4096 blocks, %llu inputs decided by MPFR, %.1f s\n", o->name,
	       (unsigned long long)j->undecided,
	       (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) * 1e-9);
	fflush(stdout);
	free(j);
}

/* The shortcut against MPFR alone on n inputs spread over all. */
static int check(const oracle *o, uint32_t n)
{
	uint64_t undecided = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint32_t bits = i * (0xffffffffu / n) + i * 2654435761u % 65536u;
		const uint32_t quick = oracle_eval(o, bits, &undecided),
			       sure = oracle_eval_mpfr(o, bits);

		if (quick != sure) {
			printf("%s(%08x): %08x by the bound, %08x by MPFR\n", o->name, bits, quick,
			       sure);
			return 1;
		}
	}
	printf("%-8s %u inputs, the same by MPFR alone\n", o->name, n);
	return 0;
}

int main(int argc, char **argv)
{
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned n_threads = cores > 256 ? 256 : cores < 1 ? 1 : (unsigned)cores, done = 0;
	uint32_t sample = 0;
	int bad = 0;

	if (argc < 3)
		return fprintf(stderr, "usage: expect DIRECTORY [-j N] FUNCTION..|--all; expect "
				       "--check N ..\n"),
		       2;
	if (strcmp(argv[1], "--check") == 0)
		sample = (uint32_t)strtoul(argv[2], NULL, 10);
	for (int i = sample ? 3 : 2; i < argc; i++) {
		if (strcmp(argv[i], "-j") == 0 && i + 1 < argc) {
			n_threads = (unsigned)strtoul(argv[++i], NULL, 10);
			continue;
		}
		for (unsigned k = 0; k < n_oracles; k++) {
			if (strcmp(argv[i], "--all") != 0 && strcmp(argv[i], oracles[k].name) != 0)
				continue;
			if (sample)
				bad |= check(&oracles[k], sample);
			else
				expect(argv[1], &oracles[k], n_threads);
			done++;
		}
	}
	if (done == 0)
		return fprintf(stderr, "no such function\n"), 2;
	return bad;
}
