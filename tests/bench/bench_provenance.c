/* How fast the graph of the chain grows and how fast it answers: edges of jobs in blocks of 10 000 jobs, five edges a
 * job, each job reading what a job of the block before made and one of 1000 shared inputs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "chain/provenance/provenance.h"

#define JOBS_A_BLOCK 10000u
#define EDGES_A_JOB 5u
#define N_SHARED 1000u
#define N_QUERIES 1000u
#define DEPTH 50u
#define SEED UINT64_C(20261122)

static void say(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	fprintf(stderr, "bench_provenance: %s\n", d->message);
}

static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = say};

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t mix(uint64_t z)
{
	z += UINT64_C(0x9E3779B97F4A7C15);
	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

/* Bytes like those of a hash, of a stream's n-th name; no two are alike. */
static void digest_of(uint64_t stream, uint64_t n, uint8_t out[PCTL_DIGEST_BYTES])
{
	for (uint64_t i = 0; i < 4; i++) {
		const uint64_t word = mix(SEED ^ mix(stream * 4 + i) ^ mix(n));

		memcpy(out + 8 * i, &word, sizeof(word));
	}
}

static char *cid_name(uint64_t stream, uint64_t n, char buf[PCTL_EDGE_NAME_MAX + 1])
{
	pctl_cid cid;

	digest_of(stream, n, cid.digest);
	return pctl_cid_format(&cid, buf);
}

static char *job_name(uint64_t n, char buf[PCTL_EDGE_NAME_MAX + 1])
{
	uint8_t id[PCTL_DIGEST_BYTES];

	digest_of(3, n, id);
	memcpy(buf, "job:", 4);
	pctl_digest_hex(id, buf + 4);
	return buf;
}

enum { OUTPUTS = 1, SHARED = 2, SHADERS = 4 };

static pctl_status add_job(pctl_chain_state *s, uint64_t n, uint64_t height)
{
	char output[PCTL_EDGE_NAME_MAX + 1], before[PCTL_EDGE_NAME_MAX + 1],
		shared[PCTL_EDGE_NAME_MAX + 1], shader[PCTL_EDGE_NAME_MAX + 1],
		job[PCTL_EDGE_NAME_MAX + 1], parent[PCTL_EDGE_NAME_MAX + 1], account[32];
	const pctl_edge edges[EDGES_A_JOB] = {
		{PCTL_EDGE_EXECUTED, 0, account, job, "", job, height, height},
		{PCTL_EDGE_INPUT, 0, before, output, shader, job, height, height},
		{PCTL_EDGE_INPUT, 0, shared, output, shader, job, height, height},
		{PCTL_EDGE_OUTPUT, 0, job, output, shader, job, height, height},
		{PCTL_EDGE_PARENT, 0, parent, job, "", job, height, height},
	};
	const uint64_t earlier = n < JOBS_A_BLOCK ? n + (UINT64_C(1) << 40) : n - JOBS_A_BLOCK;
	pctl_status status = PCTL_OK;

	cid_name(OUTPUTS, n, output);
	cid_name(OUTPUTS, earlier, before);
	cid_name(SHARED, mix(n) % N_SHARED, shared);
	cid_name(SHADERS, mix(n ^ 7) % 20, shader);
	job_name(n, job);
	job_name(earlier, parent);
	snprintf(account, sizeof(account), "account:a%" PRIu64, mix(n ^ 9) % 100);
	/* A first job has no parent. */
	for (uint32_t i = 0; status == PCTL_OK && i < EDGES_A_JOB; i++)
		if (edges[i].kind != PCTL_EDGE_PARENT || earlier < n)
			status = pctl_edges_add(s, &edges[i], &call);
	return status;
}

static pctl_status build(pctl_chain_state *s, uint64_t n_jobs)
{
	pctl_status status = PCTL_OK;

	for (uint64_t n = 0; status == PCTL_OK && n < n_jobs; n++) {
		if (n % JOBS_A_BLOCK == 0)
			status = pctl_chain_begin(s, &call);
		if (status == PCTL_OK)
			status = add_job(s, n, 1 + n / JOBS_A_BLOCK);
		if (status == PCTL_OK && ((n + 1) % JOBS_A_BLOCK == 0 || n + 1 == n_jobs))
			status = pctl_chain_commit(s, &call);
	}
	return status;
}

/* ---- questions ---------------------------------------------------------------------------- */

static int count(void *ctx, const pctl_edge *e)
{
	uint64_t *n = ctx;

	(void)e;
	(*n)++;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

typedef struct answer {
	double median, worst;
	uint64_t found; /* edges or steps, over all questions */
} answer;

static pctl_status ask_direct(pctl_chain_state *s, const char *name, uint64_t *found)
{
	pctl_status status = pctl_edges_to(s, name, 0, count, found, &call);

	return status == PCTL_OK ? pctl_edges_from(s, name, 0, count, found, &call) : status;
}

static pctl_status ask_history(pctl_chain_state *s, const char *name, uint64_t *found)
{
	const pctl_provenance_options o = {.max_depth = DEPTH, .max_steps = 100000};
	pctl_provenance p;
	pctl_status status = pctl_provenance_read(s, name, &o, &call, &p);

	*found += status == PCTL_OK ? p.n_steps : 0;
	pctl_provenance_clear(&p);
	return status;
}

static pctl_status
ask(pctl_chain_state *s, uint64_t n_jobs,
    pctl_status (*question)(pctl_chain_state *s, const char *name, uint64_t *found), answer *out)
{
	static double took[N_QUERIES];
	pctl_status status = PCTL_OK;

	memset(out, 0, sizeof(*out));
	for (uint32_t i = 0; status == PCTL_OK && i < N_QUERIES; i++) {
		char name[PCTL_EDGE_NAME_MAX + 1];
		const double start = seconds();

		status = question(s, cid_name(OUTPUTS, mix(i) % n_jobs, name), &out->found);
		took[i] = seconds() - start;
	}
	qsort(took, N_QUERIES, sizeof(took[0]), by_value);
	out->median = took[N_QUERIES / 2];
	out->worst = took[N_QUERIES - 1];
	return status;
}

static uint64_t file_bytes(const char *dir)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/state.sqlite", dir);
	return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static pctl_status measure(const char *dir, uint64_t n_edges)
{
	const uint64_t n_jobs = n_edges / EDGES_A_JOB;
	pctl_chain_state *s;
	uint64_t made = 0, bytes = 0;
	answer direct, history;
	double start = seconds(), build_s = 0;
	pctl_status status = pctl_chain_state_open(dir, &call, &s);

	if (status == PCTL_OK)
		status = build(s, n_jobs);
	build_s = seconds() - start;
	if (status == PCTL_OK)
		status = pctl_edges_count(s, &call, &made);
	pctl_chain_state_close(s);
	bytes = file_bytes(dir);
	/* The questions are asked by a fresh process's cache, as the verb asks them. */
	if (status == PCTL_OK)
		status = pctl_chain_state_open(dir, &call, &s);
	if (status == PCTL_OK)
		status = ask(s, n_jobs, ask_direct, &direct);
	if (status == PCTL_OK)
		status = ask(s, n_jobs, ask_history, &history);
	pctl_chain_state_close(s);
	if (status != PCTL_OK || direct.found == 0 || history.found == 0)
		return status == PCTL_OK ? PCTL_E_INTERNAL : status;
	printf("%" PRIu64 " edges: %.0f a second, %.1f bytes each (%" PRIu64 " bytes)\n"
	       "direct edges of a name: median %.1f us, worst %.1f us, %.1f edges\n"
	       "history to depth %u: median %.2f ms, worst %.2f ms, %.1f jobs\n",
	       made, (double)made / build_s, (double)bytes / (double)made, bytes,
	       1e6 * direct.median, 1e6 * direct.worst, (double)direct.found / N_QUERIES, DEPTH,
	       1e3 * history.median, 1e3 * history.worst, (double)history.found / N_QUERIES);
	printf("{\"bench\": \"provenance\", \"edges\": %" PRIu64 ", \"edges_per_s\": %.0f, "
	       "\"bytes_per_edge\": %.1f, \"direct_us\": %.1f, \"history_ms\": %.2f}\n",
	       made, (double)made / build_s, (double)bytes / (double)made, 1e6 * direct.median,
	       1e3 * history.median);
	return PCTL_OK;
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/pctl-bench-XXXXXX", path[4096];
	char *end = NULL;
	const uint64_t n_edges = argc > 1 ? strtoull(argv[1], &end, 10) : 10000;
	pctl_status status;

	if (argc > 3 || (end != NULL && *end != '\0') || n_edges < EDGES_A_JOB) {
		fprintf(stderr, "usage: bench_provenance [EDGES [EMPTY-DIR]]\n");
		return 2;
	}
	if (argc < 3 && mkdtemp(dir) == NULL)
		return 1;
	status = measure(argc < 3 ? dir : argv[2], n_edges);
	if (argc < 3) {
		snprintf(path, sizeof(path), "%s/state.sqlite", dir);
		unlink(path);
		rmdir(dir);
	}
	return status == PCTL_OK ? 0 : 1;
}
