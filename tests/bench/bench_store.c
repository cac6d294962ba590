/* Small blobs in one batch of the directory store: putting, committing, reading back, beside the same bytes appended to
 * one file that is synced once. usage: bench_store DIR [BLOBS] */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/cas/store.h"
#include "foundation/diag/diag.h"

#define BYTES 256u
#define TRIES 5u

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Never the same twice: a blob that is there costs less. */
static void blob(uint8_t out[BYTES], uint64_t seed, uint32_t i)
{
	memset(out, 0, BYTES);
	memcpy(out, &seed, sizeof(seed));
	memcpy(out + sizeof(seed), &i, sizeof(i));
}

static pctl_status store_once(pctl_store *s, uint64_t seed, uint32_t n, pctl_cid *cids,
			      const pctl_call *call, double seconds[3])
{
	const double began = now();
	double put, committed;
	uint8_t data[BYTES];
	pctl_status status = pctl_store_batch_begin(s, call);

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		blob(data, seed, i);
		status = pctl_store_put(s, data, BYTES, call, &cids[i]);
	}
	put = now();
	if (status == PCTL_OK)
		status = pctl_store_batch_commit(s, call);
	committed = now();
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		pctl_blob b;

		status = pctl_store_get(s, &cids[i], call, &b);
		if (status == PCTL_OK)
			pctl_blob_release(&b);
	}
	seconds[0] = put - began;
	seconds[1] = committed - put;
	seconds[2] = now() - committed;
	return status;
}

/* The peer: nothing but the bytes. */
static double file_once(const char *dir, uint64_t seed, uint32_t n)
{
	const double began = now();
	uint8_t data[BYTES];
	char path[4096];
	int fd, ok;

	snprintf(path, sizeof(path), "%s/bench-file", dir);
	fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	ok = fd >= 0;
	for (uint32_t i = 0; ok && i < n; i++) {
		blob(data, seed, i);
		ok = write(fd, data, BYTES) == (ssize_t)BYTES;
	}
	ok = ok && fsync(fd) == 0;
	if (fd >= 0)
		close(fd);
	unlink(path);
	return ok ? now() - began : -1;
}

int main(int argc, char **argv)
{
	const uint32_t n = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 10000;
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	pctl_cid *cids = calloc(n + 1u, sizeof(*cids));
	pctl_store *s = NULL;
	pctl_status status = argc > 1 && cids != NULL ? PCTL_OK : PCTL_E_USAGE;

	if (status == PCTL_OK)
		status = pctl_store_open(argv[1], 0, call, &s);
	else
		fprintf(stderr, "usage: bench_store DIR [BLOBS]\n");
	for (uint32_t i = 0; status == PCTL_OK && i < TRIES; i++) {
		const uint64_t seed = (uint64_t)(now() * 1e9);
		double seconds[3], file;

		status = store_once(s, seed, n, cids, call, seconds);
		file = file_once(argv[1], seed, n);
		if (status == PCTL_OK)
			printf("{\"bench\":\"store\",\"blobs\":%u,\"put_s\":%.3f,\"commit_s\":%.3f,"
			       "\"get_s\":%.3f,\"one_file_s\":%.3f}\n",
			       n, seconds[0], seconds[1], seconds[2], file);
	}
	pctl_diag_render_text(l, stderr, 0);
	pctl_store_close(s);
	pctl_diag_list_destroy(l);
	free(cids);
	return status != PCTL_OK;
}
