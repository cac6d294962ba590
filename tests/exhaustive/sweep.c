/* All inputs of unary f32 functions on a device, through the same front end, legaliser and session as any program,
 * compared with certs/expected (made by expect.c) one SHA-256 a block of 2^20 inputs; a block that differs is searched
 * with the oracle. Results are a signed record that is also the state to resume from.
 * usage: sweep PLUGINS_DIR HOME EXPECTED_DIR OUT_DIR DEVICE [--shard I/N] [--sample BLOCKS] FUNCTION..|--all */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/sha.h>

#include "base/file.h"
#include "base/str.h"
#include "diag/diag.h"
#include "exec/session.h"
#include "oracle.h"
#include "plugin/devices.h"

#define BLOCK (1u << 20)
#define BLOCKS 4096u
#define BATCH 16u /* blocks a dispatch */
#define WORDS ((uint64_t)BATCH * BLOCK)
#define HASHERS 16u

typedef struct sweep {
	const pctl_call *call;
	pctl_session *session;
	const pctl_backend *table;
	pctl_device *dev;
	const char *expected_dir, *out_dir, *device;
	uint32_t shard, n_shards, sample;
	pctl_signer *signer;
	uint64_t mismatches;
} sweep;

/* The digests of one batch, made while the next one runs. */
typedef struct hashing {
	const uint32_t *words;
	unsigned char (*digests)[32];
	uint32_t first, step;
	pthread_t thread;
} hashing;

static void *hash_blocks(void *arg)
{
	hashing *h = arg;

	for (uint32_t b = h->first; b < BATCH; b += h->step)
		SHA256((const unsigned char *)(h->words + (size_t)b * BLOCK), (size_t)BLOCK * 4, h->digests[b]);
	return NULL;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Blocks this shard does: every n-th batch, and of a sample only a few spread over all. */
static int is_ours(const sweep *s, uint32_t batch)
{
	if (s->sample != 0 && batch % (BLOCKS / BATCH / s->sample) != 0)
		return 0;
	return batch % s->n_shards == s->shard;
}

static char *kernel_text(const oracle *o)
{
	pctl_str_buf t = PCTL_STR_BUF_INIT;

	pctl_str_addf(&t,
		      "%sstruct P { base : u32, a : u32, b : u32, c : u32 }\n"
		      "@group(0) @binding(0) var<uniform> p : P;\n"
		      "@group(0) @binding(1) var<storage, read_write> r : array<u32>;\n"
		      "@compute @workgroup_size(256)\n"
		      "fn main(@builtin(global_invocation_id) id : vec3<u32>) {\n"
		      "  let i = id.y * %uu + id.x;\n  let x = bitcast<f32>(p.base + i);\n  r[i] = %s;\n}\n",
		      strcmp(o->name, "to_f16") == 0 ? "enable f16;\n" : "", BLOCK, o->wgsl);
	return pctl_str_finish(&t);
}

typedef struct run {
	pctl_kernel *kernel;
	pctl_buffer *uniform, *results;
	pctl_list *list;
	double device_s;
	uint32_t n_batches;
} run;

static pctl_status open_run(sweep *s, const pctl_kernel_unit *unit, run *r)
{
	const uint32_t groups[3] = {BLOCK / 256, BATCH, 1};
	pctl_binding bindings[2] = {{0, 0, NULL, 0, 16}, {0, 1, NULL, 0, WORDS * 4}};
	pctl_status status = pctl_session_kernel(s->session, unit, s->call, &r->kernel);

	if (status == PCTL_OK)
		status = s->table->buffer_create(s->dev, s->call, 16, PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER,
						 &r->uniform);
	if (status == PCTL_OK)
		status = s->table->buffer_create(s->dev, s->call, WORDS * 4,
						 PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER, &r->results);
	bindings[0].buffer = r->uniform;
	bindings[1].buffer = r->results;
	if (status == PCTL_OK)
		status = s->table->list_begin(s->dev, s->call, &r->list);
	if (status == PCTL_OK)
		status = s->table->list_timestamp(r->list, s->call, 0);
	if (status == PCTL_OK)
		status = s->table->list_dispatch(r->list, s->call, r->kernel, bindings, 2, groups);
	if (status == PCTL_OK)
		status = s->table->list_timestamp(r->list, s->call, 1);
	return status == PCTL_OK ? s->table->list_end(r->list, s->call) : status;
}

static void close_run(sweep *s, run *r)
{
	if (r->list != NULL)
		s->table->list_destroy(s->dev, r->list);
	if (r->uniform != NULL)
		s->table->buffer_destroy(s->dev, r->uniform);
	if (r->results != NULL)
		s->table->buffer_destroy(s->dev, r->results);
}

static pctl_status run_batch(sweep *s, run *r, uint32_t batch, uint32_t *words)
{
	const uint32_t uniform[4] = {batch * BATCH * BLOCK, 0, 0, 0};
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	uint64_t ticket = 0;
	pctl_status status = s->table->buffer_write(s->dev, s->call, r->uniform, 0, uniform, 16);
	double begun = seconds();

	if (status == PCTL_OK)
		status = s->table->submit(s->dev, s->call, r->list, 1, &ticket);
	if (status == PCTL_OK)
		status = s->table->wait(s->dev, s->call, ticket, 600000000000ull, &done);
	r->device_s += done.n_timestamps > 1 ? (double)(done.timestamps[1] - done.timestamps[0]) * 1e-9
					     : seconds() - begun;
	r->n_batches++;
	return status == PCTL_OK ? s->table->buffer_read(s->dev, s->call, r->results, 0, words, WORDS * 4) : status;
}

/* The first few inputs of a block that differ. */
static void search(sweep *s, const oracle *o, uint32_t block, const uint32_t *words)
{
	uint64_t undecided = 0, found = 0;

	for (uint32_t i = 0; i < BLOCK; i++) {
		const uint32_t want = oracle_eval(o, block * BLOCK + i, &undecided);

		if (words[i] != want && found++ < 4)
			printf("%s(%08x) on %s: %08x, correctly rounded %08x\n", o->name, block * BLOCK + i, s->device,
			       words[i], want);
	}
	if (found == 0)
		printf("%s block %u on %s: the digest differs and no input does: the expectation is damaged\n", o->name,
		       block, s->device);
	s->mismatches += found == 0 ? 1 : found;
}

static int read_digests(const char *dir, const char *name, unsigned char (*out)[32])
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	char path[4096], *data = NULL;
	uint64_t n = 0;
	int ok;

	snprintf(path, sizeof(path), "%s/%s.f32.sha256", dir, name);
	ok = pctl_file_read(path, (uint64_t)BLOCKS * 32, &quiet, &data, &n) == PCTL_OK && n == (uint64_t)BLOCKS * 32;
	if (ok)
		memcpy(out, data, (size_t)n);
	free(data);
	return ok;
}

/* What was found, as a signed text; blocks as a bit string so that shards can be put together. */
static pctl_status record(sweep *s, const oracle *o, const unsigned char (*got)[32], const uint8_t *done,
			  const run *r, uint64_t bad)
{
	const pctl_profile_record *profile;
	pctl_str_buf t = PCTL_STR_BUF_INIT;
	char path[4096], key[PCTL_CID_TEXT_SIZE];
	unsigned char all[32];
	uint32_t n = 0;
	SHA256_CTX sum;
	pctl_status status = pctl_session_profile(s->session, s->call, &profile);

	if (status != PCTL_OK)
		return status;
	SHA256_Init(&sum);
	for (uint32_t b = 0; b < BLOCKS; b++) {
		if (!done[b])
			continue;
		SHA256_Update(&sum, got[b], 32);
		n++;
	}
	SHA256_Final(all, &sum);
	pctl_str_addf(&t, "exhaustive : {\n  function = \"%s\"; type = \"f32\";\n  device = \"%s\";\n", o->name,
		      profile == NULL ? s->device : profile->device);
	pctl_str_addf(&t, "  driver = \"%s\";\n  profile = \"%s\";\n", profile == NULL ? "" : profile->driver,
		      profile == NULL ? "" : pctl_cid_format(&profile->key, key));
	pctl_str_addf(&t, "  shard = \"%" PRIu32 "/%" PRIu32 "\";\n  blocks = %" PRIu32 "; // of 2^20 inputs each\n", s->shard,
		      s->n_shards, n);
	pctl_str_addf(&t, "  mismatches = \"%" PRIu64 "\";\n  digests_sha256 = \"", bad);
	for (int i = 0; i < 32; i++)
		pctl_str_addf(&t, "%02x", all[i]);
	pctl_str_addf(&t, "\";\n  results_per_second = \"%.0f\"; // on the device, without transfers\n};\n",
		      r->device_s > 0 ? (double)r->n_batches * (double)WORDS / r->device_s : 0);
	status = pctl_signer_seal(s->signer, &t, s->call);
	snprintf(path, sizeof(path), "%s/%s.f32.%" PRIu32 "-of-%" PRIu32 ".cfg", s->out_dir, o->name, s->shard,
		 s->n_shards);
	if (status == PCTL_OK)
		status = pctl_file_make_dirs(s->out_dir, s->call);
	if (status == PCTL_OK)
		status = pctl_file_write(path, t.data, t.n, 0, s->call);
	pctl_str_drop(&t);
	return status;
}

static pctl_status one_function(sweep *s, pctl_kernels *kernels, const oracle *o)
{
	static const pctl_kernel_source empty;
	pctl_kernel_source source = empty;
	unsigned char(*want)[32] = malloc(BLOCKS * 32), (*got)[32] = calloc(BLOCKS, 32);
	uint32_t *words[2] = {malloc(WORDS * 4), malloc(WORDS * 4)};
	uint8_t *done = calloc(BLOCKS, 1);
	char *text = kernel_text(o);
	const pctl_kernel_unit *unit;
	hashing hashers[HASHERS];
	uint64_t before = s->mismatches;
	uint32_t pending = UINT32_MAX, turn = 0;
	double begun = seconds();
	run r = {.device_s = 0};
	pctl_status status;

	if (!read_digests(s->expected_dir, o->name, want)) {
		fprintf(stderr, "no expectation of %s in %s\n", o->name, s->expected_dir);
		exit(2);
	}
	source.name = o->name;
	source.text = text;
	source.n_text = strlen(text);
	status = pctl_kernels_get(kernels, &source, s->call, &unit);
	if (status == PCTL_OK)
		status = open_run(s, unit, &r);
	for (uint32_t batch = 0; batch <= BLOCKS / BATCH && status == PCTL_OK; batch++) {
		const int last = batch == BLOCKS / BATCH;
		uint32_t *now = words[turn];

		if (!last && !is_ours(s, batch))
			continue;
		if (!last)
			status = run_batch(s, &r, batch, now);
		for (uint32_t h = 0; pending != UINT32_MAX && h < HASHERS; h++)
			pthread_join(hashers[h].thread, NULL);
		for (uint32_t b = 0; pending != UINT32_MAX && b < BATCH; b++) {
			const uint32_t block = pending * BATCH + b;

			done[block] = 1;
			if (memcmp(got[block], want[block], 32) != 0)
				search(s, o, block, words[turn ^ 1] + (size_t)b * BLOCK);
		}
		pending = last || status != PCTL_OK ? UINT32_MAX : batch;
		for (uint32_t h = 0; pending != UINT32_MAX && h < HASHERS; h++) {
			hashers[h] = (hashing){now, got + (size_t)batch * BATCH, h, HASHERS, 0};
			pthread_create(&hashers[h].thread, NULL, hash_blocks, &hashers[h]);
		}
		turn ^= 1;
	}
	if (status == PCTL_OK)
		status = record(s, o, (const unsigned char(*)[32])got, done, &r, s->mismatches - before);
	if (status == PCTL_OK)
		printf("%-8s %-10s %6" PRIu64 " million inputs, %" PRIu64 " wrong, %8.1f million/s on the device, %.1f s\n",
		       o->name, s->device, (uint64_t)r.n_batches * BATCH, s->mismatches - before,
		       (double)r.n_batches * (double)WORDS / r.device_s * 1e-6, seconds() - begun);
	fflush(stdout);
	close_run(s, &r);
	free(text);
	free(words[0]);
	free(words[1]);
	free(want);
	free(got);
	free(done);
	return status;
}

static void complain(pctl_diag_list *l)
{
	for (uint32_t i = 0; i < pctl_diag_list_count(l); i++)
		fprintf(stderr, "PC%04u %s\n", pctl_diag_list_at(l, i)->code, pctl_diag_list_at(l, i)->message);
}

static pctl_status open_device(sweep *s, pctl_registry *registry, pctl_profiles *profiles, pctl_devices **list,
			       pctl_backend_session **backend)
{
	pctl_session_options options = {.id = s->device, .name = s->device, .profiles = profiles};
	const pctl_device_entry *e;
	pctl_status status = pctl_devices_find(registry, s->device, 0, s->call, list, &e);

	if (status == PCTL_OK)
		status = pctl_backend_session_open(registry, e->backend, e->env, 0, s->call, backend);
	if (status != PCTL_OK)
		return status;
	options.table = (*backend)->table;
	options.inst = (*backend)->inst;
	options.index = e->in_driver;
	options.device_kind = e->kind;
	status = pctl_session_open(&options, s->call, &s->session);
	if (status != PCTL_OK)
		return status;
	s->table = pctl_session_table(s->session);
	s->dev = pctl_session_device(s->session);
	return PCTL_OK;
}

int main(int argc, char **argv)
{
	pctl_diag_list *diagnostics = pctl_diag_list_create();
	pctl_registry_options registry_options = {.flags = PCTL_REGISTRY_NO_DEFAULT_DIRS, .n_dirs = 1};
	pctl_profiles_options profile_options = {.home = NULL};
	pctl_backend_session *backend = NULL;
	pctl_profiles *profiles = NULL;
	pctl_registry *registry = NULL;
	pctl_devices *list = NULL;
	pctl_kernels *kernels = pctl_kernels_create(NULL);
	sweep s = {.n_shards = 1};
	uint32_t n = 0;
	pctl_status status;

	if (argc < 7)
		return fprintf(stderr, "usage: sweep PLUGINS HOME EXPECTED OUT DEVICE [--shard I/N] [--sample N] "
				       "FUNCTION..|--all\n"),
		       2;
	s.call = pctl_diag_list_call(diagnostics);
	s.expected_dir = argv[3];
	s.out_dir = argv[4];
	s.device = argv[5];
	registry_options.dirs = (const char *const *)&argv[1];
	registry_options.home = profile_options.home = argv[2];
	registry_options.call_ms = 900000;
	status = pctl_registry_open(&registry_options, s.call, &registry);
	if (status == PCTL_OK)
		status = pctl_profiles_open(&profile_options, s.call, &profiles);
	if (status == PCTL_OK) {
		char *keys = pctl_path_join(argv[2], "keys");

		status = pctl_signer_open(keys, s.call, &s.signer);
		free(keys);
	}
	if (status == PCTL_OK)
		status = open_device(&s, registry, profiles, &list, &backend);
	for (int i = 6; i < argc && status == PCTL_OK; i++) {
		if (strcmp(argv[i], "--shard") == 0 && i + 1 < argc) {
			if (sscanf(argv[++i], "%" SCNu32 "/%" SCNu32, &s.shard, &s.n_shards) != 2 ||
			    s.n_shards == 0 || s.shard >= s.n_shards)
				return fprintf(stderr, "--shard wants I/N with I from 0\n"), 2;
			continue;
		}
		if (strcmp(argv[i], "--sample") == 0 && i + 1 < argc) {
			s.sample = (uint32_t)strtoul(argv[++i], NULL, 10);
			if (s.sample == 0 || s.sample > BLOCKS / BATCH)
				return fprintf(stderr, "--sample wants 1 to %u batches\n", BLOCKS / BATCH), 2;
			continue;
		}
		for (unsigned k = 0; k < n_oracles && status == PCTL_OK; k++) {
			if (strcmp(argv[i], "--all") != 0 && strcmp(argv[i], oracles[k].name) != 0)
				continue;
			status = one_function(&s, kernels, &oracles[k]);
			n++;
		}
	}
	complain(diagnostics);
	pctl_session_close(s.session);
	pctl_backend_session_close(backend, NULL);
	pctl_devices_destroy(list);
	pctl_kernels_destroy(kernels);
	pctl_profiles_close(profiles);
	pctl_signer_close(s.signer);
	pctl_registry_close(registry);
	pctl_diag_list_destroy(diagnostics);
	if (status == PCTL_OK && n == 0)
		return fprintf(stderr, "no such function\n"), 2;
	return status != PCTL_OK || s.mismatches != 0;
}
