/* A block of many small jobs, whole: bytes into the store, messages taken in (each by itself, and in batches as the node
 * does), the end of the block, what it leaves on the disk; beside the same dispatches in a bare loop over the device's
 * own interface (bare.h). Outputs of both are compared. usage: bench_chain [JOBS] DEVICE DIR, where DEVICE is of vulkan
 * or opencl and DIR is empty or missing */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bare.h"
#include "chain/chain.h"
#include "foundation/diag/diag.h"
#include "place.h"

#define TRIES 9u
#define BATCH 256u
#define ALONE 200u /* messages that are a transaction each */

static const char source[] =
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
	"@group(1) @binding(0) var<storage, read_write> y: array<u32>;\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"	if (id.x < arrayLength(&y)) { y[id.x] = x[id.x] * 2654435761u + id.x; }\n"
	"}\n";

typedef struct bench {
	const char *device, *dir;
	uint32_t n, reserved;
	const pctl_call *call;
	pctl_store *store;
	pctl_kernels *kernels;
	pctl_chain *chain;
	pctl_executor executor;
	uint8_t *in;
	char (*cids)[PCTL_CID_TEXT_SIZE];
	char shader[PCTL_CID_TEXT_SIZE];
} bench;

static uint64_t bytes_under(const char *path)
{
	struct dirent *e;
	struct stat st;
	uint64_t sum = 0;
	DIR *d = opendir(path);

	while (d != NULL && (e = readdir(d)) != NULL) {
		char name[4096];

		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		if (lstat(name, &st) == 0)
			sum += S_ISDIR(st.st_mode) ? bytes_under(name) : (uint64_t)st.st_size;
	}
	if (d != NULL)
		closedir(d);
	return sum;
}

static uint64_t bytes_of(const bench *b, const char *part)
{
	char path[4096];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", b->dir, part);
	return stat(path, &st) != 0  ? 0
	       : S_ISDIR(st.st_mode) ? bytes_under(path)
				     : (uint64_t)st.st_size;
}

static int take(bench *b, const pctl_request *r, pctl_response *out)
{
	return pctl_chain_apply(b->chain, r, b->call, out) == PCTL_OK;
}

static int prepare(bench *b)
{
	const pctl_request credit = {.kind = PCTL_MSG_LEDGER,
				     .as.ledger = {.sender = "ada",
						   .op = PCTL_LEDGER_CREDIT,
						   .to = "ada",
						   .amount = UINT64_C(1) << 60}};
	const pctl_request upload = {.kind = PCTL_MSG_UPLOAD,
				     .as.upload = {.sender = "ada",
						   .source = (const uint8_t *)source,
						   .n_source = sizeof(source) - 1,
						   .description = "",
						   .implements = ""}};
	pctl_response got = {0};
	int ok = take(b, &credit, NULL) && take(b, &upload, &got);

	if (ok)
		snprintf(b->shader, sizeof(b->shader), "%s", got.as.upload.shader_cid);
	pctl_response_destroy(&got);
	return ok;
}

/* Different bytes for every job of every round. */
static int put_inputs(bench *b, uint32_t round)
{
	int ok = pctl_store_batch_begin(b->store, b->call) == PCTL_OK;

	for (uint32_t i = 0; ok && i < b->n; i++) {
		uint8_t *bytes = b->in + (size_t)i * BARE_BYTES;
		pctl_cid cid;

		for (uint32_t k = 0; k < BARE_BYTES; k++)
			bytes[k] = (uint8_t)((i + 1u) * 2654435761u >> (k % 24u)) ^
				   (uint8_t)(k * 31u + round);
		ok = pctl_store_put(b->store, bytes, BARE_BYTES, b->call, &cid) == PCTL_OK;
		if (ok)
			pctl_cid_format(&cid, b->cids[i]);
	}
	return ok && pctl_store_batch_commit(b->store, b->call) == PCTL_OK;
}

static int submit(bench *b, uint32_t i)
{
	const pctl_request r = {.kind = PCTL_MSG_EXECUTE,
				.as.execute = {.sender = "ada",
					       .shader_cid = b->shader,
					       .input = b->cids[i],
					       .dispatch = {1, 1, 1},
					       .gas_limit = 1000000,
					       .uniform_cid = "",
					       .output_bytes = BARE_BYTES,
					       .entry = ""}};

	return take(b, &r, NULL);
}

static int submit_all(bench *b, double *alone, double *batched)
{
	double began = bare_now();
	uint32_t i = 0;

	for (; i < ALONE && i < b->n; i++) {
		if (!submit(b, i))
			return 0;
	}
	*alone = (bare_now() - began) / (i ? i : 1);
	began = bare_now();
	while (i < b->n) {
		const uint32_t until = i + BATCH < b->n ? i + BATCH : b->n;

		if (pctl_chain_batch_begin(b->chain, b->call) != PCTL_OK)
			return 0;
		for (; i < until; i++) {
			if (!submit(b, i))
				return 0;
		}
		if (pctl_chain_batch_commit(b->chain, b->call) != PCTL_OK)
			return 0;
	}
	*batched = b->n > ALONE ? (bare_now() - began) / (b->n - ALONE) : 0;
	return 1;
}

static int check_job(void *ctx, const pctl_chain_job *job)
{
	uint32_t *complete = ctx;

	*complete += job->status == PCTL_JOB_COMPLETE;
	return 0;
}

static int end_block(bench *b, uint64_t height, double *seconds)
{
	const pctl_request r = {.kind = PCTL_MSG_BLOCK_END,
				.as.block = {.height = height, .executor = ""}};
	const double began = bare_now();
	pctl_response got = {0};
	uint32_t complete = 0;
	int ok = pctl_chain_end_block(b->chain, &r, b->call, &got) == PCTL_OK;

	*seconds = bare_now() - began;
	pctl_response_destroy(&got);
	ok = ok && pctl_jobs_ended_at(pctl_cursor(b->chain), height, check_job, &complete,
				      b->call) == PCTL_OK;
	if (ok && complete != b->n)
		fprintf(stderr, "bench_chain: %u of %u jobs complete\n", complete, b->n);
	return ok && complete == b->n;
}

/* What the last block's inputs give in a bare loop is in the store under its name. */
static int bare(bench *b, double *seconds)
{
	uint8_t *out = malloc((size_t)b->n * BARE_BYTES);
	int ok = out != NULL &&
		 (strncmp(b->device, "opencl", 6) == 0 ? bare_opencl : bare_vulkan)(
			 b->executor.describe(b->executor.ctx), b->in, out, b->n, TRIES, seconds);

	for (uint32_t i = 0; ok && i < b->n; i++) {
		pctl_cid cid;

		ok = pctl_cid_of(out + (size_t)i * BARE_BYTES, BARE_BYTES, b->call, &cid) ==
			     PCTL_OK &&
		     pctl_store_has(b->store, &cid);
	}
	free(out);
	return ok;
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int measure(bench *b)
{
	double alone, batched, puts, ends[2], loop[TRIES];
	uint64_t rows[2] = {0}, history[2] = {0};

	for (uint32_t round = 0; round < 2; round++) {
		double began = bare_now();

		if (!put_inputs(b, round))
			return 0;
		puts = bare_now() - began;
		if (!submit_all(b, &alone, &batched) || !end_block(b, round + 1u, &ends[round]))
			return 0;
		rows[round] = bytes_of(b, "state.sqlite");
		history[round] = bytes_of(b, "blocks.git/objects");
	}
	if (!bare(b, loop)) {
		fprintf(stderr, "bench_chain: the bare loop failed or gave other bytes\n");
		return 0;
	}
	qsort(loop, TRIES, sizeof(*loop), ascending);
	printf("{\"bench\":\"chain\",\"device\":\"%s\",\"jobs\":%u,\"puts_per_s\":%.0f,"
	       "\"submits_per_s_alone\":%.0f,\"submits_per_s_batched\":%.0f,\"block_end_s_first\":%"
	       ".3f,"
	       "\"block_end_s\":%.3f,\"jobs_per_s_of_block_end\":%.0f,\"jobs_per_s_whole\":%.0f,"
	       "\"bare_loop_s\":%.3f,\"block_end_over_bare\":%.2f,\"state_bytes_per_job\":%.0f,"
	       "\"history_bytes_per_job\":%.0f}\n",
	       b->device, b->n, b->n / puts, 1 / alone, batched > 0 ? 1 / batched : 0, ends[0],
	       ends[1], b->n / ends[1], b->n / (ends[1] + b->n * batched + puts), loop[TRIES / 2],
	       ends[1] / loop[TRIES / 2], (double)(rows[1] - rows[0]) / b->n,
	       (double)(history[1] - history[0]) / b->n);
	return 1;
}

int main(int argc, char **argv)
{
	const pctl_registry_options ro = {.worker = getenv("PIPECTL_WORKER"),
					  .cache = bench_cache()};
	pctl_diag_list *l = pctl_diag_list_create();
	const pctl_call *call = pctl_diag_list_call(l);
	bench b = {.device = argc > 2 ? argv[argc - 2] : "",
		   .dir = argc > 2 ? argv[argc - 1] : "",
		   .n = argc > 3 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000,
		   .call = call};
	pctl_device_executor_options eo = {.backends = &b.device, .n_backends = 1};
	pctl_chain_options co = {.dir = b.dir, .executor = &b.executor};
	pctl_registry *r = NULL;
	pctl_policy *p = NULL;
	pctl_params params;
	char store[4096];
	int ok = argc > 2 && b.n != 0;

	if (!ok)
		fprintf(stderr, "usage: bench_chain [JOBS] DEVICE DIR\n");
	pctl_params_default(&params);
	params.values[PCTL_PARAM_THROUGHPUT] = UINT64_C(1) << 40; /* nothing is deferred */
	snprintf(store, sizeof(store), "%s/store", b.dir);
	b.in = malloc((size_t)b.n * BARE_BYTES + 1u);
	b.cids = malloc((size_t)b.n * sizeof(*b.cids) + 1u);
	b.kernels = pctl_kernels_create(NULL);
	ok = ok && b.in != NULL && b.cids != NULL && b.kernels != NULL &&
	     pctl_store_open(store, 0, call, &b.store) == PCTL_OK &&
	     pctl_registry_open(&ro, call, &r) == PCTL_OK &&
	     pctl_policy_default(call, &p) == PCTL_OK;
	eo.registry = r;
	eo.policy = p;
	co.store = b.store;
	co.kernels = b.kernels;
	co.genesis = &params;
	ok = ok && pctl_device_executor_open(&eo, call, &b.executor) == PCTL_OK &&
	     pctl_chain_open(&co, call, &b.chain) == PCTL_OK && prepare(&b) && measure(&b);
	pctl_diag_render_text(l, stderr, 0);
	pctl_chain_close(b.chain);
	pctl_executor_close(&b.executor);
	pctl_kernels_destroy(b.kernels);
	pctl_store_close(b.store);
	pctl_policy_destroy(p);
	pctl_registry_close(r);
	free(b.in);
	free(b.cids);
	pctl_diag_list_destroy(l);
	return !ok;
}
