/* Signed messages under version 2 of the rules, by processor time: blobs and jobs as encoded bytes taken in by batches, as a
 * node does, and the end of the block that runs them. usage: bench_messages [JOBS [BATCH [BEFORE]]] DEVICE DIR, where DIR is
 * empty or missing. Kernels are built in a first block of few jobs, or of BEFORE (16,384 at most); the second is measured. */
#include <openssl/evp.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "chain/accounts/account.h"
#include "chain/accounts/verify.h"
#include "chain/chain.h"
#include "foundation/diag/diag.h"
#include "place.h"

#define ACCOUNTS 64u
#define WARM 64u
#define N_BYTES 256u

static const char source[] =
	"@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
	"@group(1) @binding(0) var<storage, read_write> y: array<u32>;\n"
	"@compute @workgroup_size(64)\n"
	"fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n"
	"	if (id.x < arrayLength(&y)) { y[id.x] = x[id.x] * 2654435761u + id.x; }\n"
	"}\n";

typedef struct account {
	EVP_PKEY *key;
	uint8_t raw[PCTL_KEY_BYTES];
	char name[16];
	uint64_t nonce;
} account;

typedef struct encoded {
	uint8_t *bytes;
	uint64_t n;
} encoded;

typedef struct bench {
	const pctl_call *call;
	pctl_store *store;
	pctl_kernels *kernels;
	pctl_chain *chain;
	pctl_executor executor;
	account accounts[ACCOUNTS];
	uint8_t id[PCTL_DIGEST_BYTES];
	char shader[PCTL_CID_TEXT_SIZE];
	uint64_t height;
	uint32_t n, batch, before;
} bench;

/* ---- time ---------------------------------------------------------------------------------- */

typedef struct times {
	double clock, host; /* seconds; host: of this process, user and system */
} times;

static times now(void)
{
	struct rusage u;
	struct timespec t;

	getrusage(RUSAGE_SELF, &u);
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (times){(double)t.tv_sec + (double)t.tv_nsec * 1e-9,
		       (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6};
}

static void say(const char *what, times from, uint32_t n)
{
	const times to = now();

	printf("{\"bench\":\"messages\",\"what\":\"%s\",\"n\":%u,\"host_us\":%.1f,\"clock_us\":%."
	       "1f,"
	       "\"a_second\":%.0f,\"a_second_of_two_cores\":%.0f}\n",
	       what, n, (to.host - from.host) / n * 1e6, (to.clock - from.clock) / n * 1e6,
	       n / (to.clock - from.clock), 2 * n / (to.host - from.host));
	fflush(stdout);
}

/* ---- messages ------------------------------------------------------------------------------ */

static int sign(bench *b, account *a, pctl_request *r, encoded *out)
{
	uint8_t value[64], *bytes = NULL;
	size_t n_value = sizeof(value);
	uint64_t n = 0;
	pctl_msg_signature signature = {{a->raw, sizeof(a->raw)}, {value, sizeof(value)}};
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	int ok;

	r->auth = (pctl_msg_auth){.is_given = 1,
				  .chain = {b->id, sizeof(b->id)},
				  .nonce = a->nonce++,
				  .expiry = 1000};
	ok = md != NULL && pctl_request_signed(r, b->call, &bytes, &n) == PCTL_OK &&
	     EVP_DigestSignInit(md, NULL, NULL, NULL, a->key) == 1 &&
	     EVP_DigestSign(md, value, &n_value, bytes, n) == 1;
	free(bytes);
	EVP_MD_CTX_free(md);
	r->auth.n_signatures = 1;
	r->auth.signatures = &signature;
	ok = ok && pctl_request_encode(r, b->call, &out->bytes, &out->n) == PCTL_OK;
	r->auth.signatures = NULL;
	return ok;
}

static int make_accounts(bench *b)
{
	int ok = 1;

	for (uint32_t i = 0; ok && i < ACCOUNTS; i++) {
		account *a = &b->accounts[i];
		const pctl_msg_bytes key = {a->raw, sizeof(a->raw)};
		pctl_request credit = {.kind = PCTL_MSG_LEDGER}, keys = {.kind = PCTL_MSG_KEYS};
		size_t n = sizeof(a->raw);

		snprintf(a->name, sizeof(a->name), "a%02u", i);
		a->key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
		ok = a->key != NULL && EVP_PKEY_get_raw_public_key(a->key, a->raw, &n) == 1;
		credit.as.ledger = (pctl_msg_ledger){.sender = a->name,
						     .op = PCTL_LEDGER_CREDIT,
						     .to = a->name,
						     .amount = UINT64_C(1) << 50};
		keys.as.keys = (pctl_msg_keys){a->name, &key, 1, 1};
		ok = ok && pctl_chain_apply_genesis(b->chain, &credit, b->call) == PCTL_OK &&
		     pctl_chain_apply_genesis(b->chain, &keys, b->call) == PCTL_OK;
	}
	return ok && pctl_chain_id(pctl_cursor(b->chain), b->call, b->id) == PCTL_OK;
}

/* As a node does: decoded, looked at ahead in threads, taken in one after the other. */
static int take(bench *b, const pctl_request *r, pctl_response *out)
{
	const int ok = pctl_chain_serve(b->chain, r, b->call, out) == PCTL_OK;

	if (ok && out->kind == PCTL_MSG_ERROR)
		fprintf(stderr, "bench_messages: %u %s\n", out->as.error.code,
			out->as.error.message);
	return ok && out->kind != PCTL_MSG_ERROR;
}

static int upload(bench *b)
{
	pctl_request r = {.kind = PCTL_MSG_UPLOAD,
			  .as.upload = {.sender = b->accounts[0].name,
					.source = (const uint8_t *)source,
					.n_source = sizeof(source) - 1,
					.description = "",
					.implements = ""}};
	pctl_response got = {0};
	encoded e = {NULL, 0};
	pctl_request decoded = {.kind = 0};
	const int ok = sign(b, &b->accounts[0], &r, &e) &&
		       pctl_request_decode(e.bytes, e.n, b->call, &decoded) == PCTL_OK &&
		       take(b, &decoded, &got);

	if (ok)
		snprintf(b->shader, sizeof(b->shader), "%s", got.as.upload.shader_cid);
	pctl_response_destroy(&got);
	pctl_request_destroy(&decoded);
	free(e.bytes);
	return ok;
}

/* A blob and a job that reads it, of each place: different bytes for every block. */
static int make(bench *b, uint32_t n, encoded *blobs, encoded *jobs)
{
	int ok = 1;

	for (uint32_t i = 0; ok && i < 2 * n; i++) {
		const uint32_t at = i % n;
		account *a = &b->accounts[at % ACCOUNTS];
		uint8_t bytes[N_BYTES];
		char text[PCTL_CID_TEXT_SIZE];
		pctl_request r = {.kind = i < n ? PCTL_MSG_BLOB : PCTL_MSG_EXECUTE};
		pctl_cid cid;

		for (uint32_t k = 0; k < N_BYTES; k++)
			bytes[k] = (uint8_t)((at + 1u) * 2654435761u >> (k % 24u)) ^
				   (uint8_t)(k * 31u + b->height);
		ok = pctl_cid_of(bytes, sizeof(bytes), b->call, &cid) == PCTL_OK;
		if (i < n)
			r.as.blob = (pctl_msg_blob){a->name, bytes, sizeof(bytes), 10};
		else
			r.as.execute = (pctl_msg_execute){.sender = a->name,
							  .shader_cid = b->shader,
							  .input = pctl_cid_format(&cid, text),
							  .dispatch = {1, 1, 1},
							  .gas_limit = 1000000,
							  .uniform_cid = "",
							  .output_bytes = N_BYTES,
							  .entry = ""};
		ok = ok && sign(b, a, &r, i < n ? &blobs[at] : &jobs[at]);
	}
	return ok;
}

static int take_batch(bench *b, const encoded *all, pctl_request *requests, uint32_t n)
{
	const pctl_request **seen = calloc(n, sizeof(*seen));
	int ok = seen != NULL;

	for (uint32_t i = 0; ok && i < n; i++) {
		ok = pctl_request_decode(all[i].bytes, all[i].n, b->call, &requests[i]) == PCTL_OK;
		seen[i] = &requests[i];
	}
	if (ok)
		pctl_chain_ahead(b->chain, seen, n);
	ok = ok && pctl_chain_batch_begin(b->chain, b->call) == PCTL_OK;
	for (uint32_t i = 0; ok && i < n; i++) {
		pctl_response got = {0};

		ok = take(b, &requests[i], &got);
		pctl_response_destroy(&got);
	}
	ok = ok && pctl_chain_batch_commit(b->chain, b->call) == PCTL_OK;
	for (uint32_t i = 0; i < n; i++)
		pctl_request_destroy(&requests[i]);
	free(seen);
	return ok;
}

/* The floor of taking in: every signature checked and nothing else, without what the chain remembers of them. */
static int check_all(bench *b, const encoded *all, uint32_t n)
{
	pctl_request *requests = calloc(n, sizeof(*requests));
	pctl_verified *v = NULL;
	int ok = requests != NULL && pctl_verified_create(b->call, &v) == PCTL_OK;
	uint32_t bad;
	times from;

	for (uint32_t i = 0; ok && i < n; i++)
		ok = pctl_request_decode(all[i].bytes, all[i].n, b->call, &requests[i]) == PCTL_OK;
	from = now();
	for (uint32_t i = 0; ok && i < n; i++)
		ok = pctl_verified_check(v, &requests[i], b->call, &bad) == PCTL_OK && bad == 1;
	if (ok)
		say("signatures", from, n);
	for (uint32_t i = 0; requests != NULL && i < n; i++)
		pctl_request_destroy(&requests[i]);
	pctl_verified_destroy(v);
	free(requests);
	return ok;
}

static int take_all(bench *b, const encoded *all, uint32_t n)
{
	pctl_request *requests = calloc(b->batch, sizeof(*requests));
	int ok = requests != NULL;

	for (uint32_t i = 0; ok && i < n; i += b->batch)
		ok = take_batch(b, all + i, requests, i + b->batch < n ? b->batch : n - i);
	free(requests);
	return ok;
}

/* ---- a block ------------------------------------------------------------------------------- */

static int end_block(bench *b, uint32_t n)
{
	const pctl_request r = {.kind = PCTL_MSG_BLOCK_END,
				.as.block = {.height = b->height, .executor = ""}};
	pctl_response got = {0};
	const int ok = pctl_chain_end_block(b->chain, &r, b->call, &got) == PCTL_OK &&
		       got.as.block.jobs_total == n && got.as.block.deferred_total == 0;

	pctl_response_destroy(&got);
	return ok;
}

static int block(bench *b, uint32_t n, int is_said)
{
	encoded *blobs = calloc(n, sizeof(*blobs)), *jobs = calloc(n, sizeof(*jobs));
	times from;
	int ok;

	b->height++;
	ok = blobs != NULL && jobs != NULL && make(b, n, blobs, jobs);
	ok = ok && (!is_said || check_all(b, blobs, n));
	from = now();
	ok = ok && take_all(b, blobs, n);
	if (ok && is_said)
		say("blobs", from, n);
	from = now();
	ok = ok && take_all(b, jobs, n);
	if (ok && is_said)
		say("jobs", from, n);
	from = now();
	ok = ok && end_block(b, n);
	if (ok && is_said)
		say("block end", from, n);
	for (uint32_t i = 0; i < n; i++) {
		free(blobs == NULL ? NULL : blobs[i].bytes);
		free(jobs == NULL ? NULL : jobs[i].bytes);
	}
	free(blobs);
	free(jobs);
	return ok;
}

int main(int argc, char **argv)
{
	const char *device = argc > 2 ? argv[argc - 2] : "", *dir = argc > 2 ? argv[argc - 1] : "";
	const pctl_registry_options ro = {.worker = getenv("PIPECTL_WORKER"),
					  .cache = bench_cache()};
	const pctl_device_executor_options none = {.n_backends = 0};
	pctl_device_executor_options eo = none;
	pctl_diag_list *l = pctl_diag_list_create();
	bench b = {.call = pctl_diag_list_call(l),
		   .n = argc > 3 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000,
		   .batch = argc > 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1024,
		   .before = argc > 5 ? (uint32_t)strtoul(argv[3], NULL, 10) : WARM};
	pctl_chain_options co = {.dir = dir, .executor = &b.executor};
	pctl_registry *r = NULL;
	pctl_policy *p = NULL;
	pctl_params params;
	char store[4096];
	int ok = argc > 2 && b.n != 0 && b.batch != 0 && b.before != 0;

	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); /* as pipectl does */
	if (!ok)
		fprintf(stderr, "usage: bench_messages [JOBS [BATCH [BEFORE]]] DEVICE DIR\n");
	eo.backends = &device;
	eo.n_backends = 1;
	pctl_params_default(&params);
	params.values[PCTL_PARAM_RULES] = 2;
	params.values[PCTL_PARAM_THROUGHPUT] = UINT64_C(1) << 40; /* nothing is deferred */
	snprintf(store, sizeof(store), "%s/store", dir);
	b.kernels = pctl_kernels_create(NULL);
	ok = ok && b.kernels != NULL && pctl_store_open(store, 0, b.call, &b.store) == PCTL_OK &&
	     pctl_registry_open(&ro, b.call, &r) == PCTL_OK &&
	     pctl_policy_default(b.call, &p) == PCTL_OK;
	eo.registry = r;
	eo.policy = p;
	co.store = b.store;
	co.kernels = b.kernels;
	co.genesis = &params;
	ok = ok && pctl_device_executor_open(&eo, b.call, &b.executor) == PCTL_OK &&
	     pctl_chain_open(&co, b.call, &b.chain) == PCTL_OK && make_accounts(&b) && upload(&b) &&
	     block(&b, b.before, 0) && block(&b, b.n, 1);
	pctl_diag_render_text(l, stderr, 0);
	pctl_chain_close(b.chain);
	pctl_executor_close(&b.executor);
	pctl_kernels_destroy(b.kernels);
	pctl_store_close(b.store);
	pctl_policy_destroy(p);
	pctl_registry_close(r);
	for (uint32_t i = 0; i < ACCOUNTS; i++)
		EVP_PKEY_free(b.accounts[i].key);
	pctl_diag_list_destroy(l);
	return !ok;
}
