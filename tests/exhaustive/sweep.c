/* All inputs of unary f32 functions on a device, through the same front end, legaliser and session as any program,
 * compared with certs/expected (made by expect.c) one SHA-256 a block of 2^20 inputs; a block that differs is searched
 * with the oracle. Results are a signed record a function. What is done is kept in OUT_DIR/state every few seconds: the
 * same command continues after a kill, with the same executable and profile.
 * usage: sweep PLUGINS HOME EXPECTED_DIR OUT_DIR DEVICE [--shard I/N] [--sample BATCHES | --blocks N] [--fresh]
 *              [--plant] FUNCTION..|--all
 * --plant changes one bit of what the device gave first, which must be found. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/sha.h>

#include "foundation/base/file.h"
#include "oracle.h"
#include "target.h"

#define BLOCK (1u << 20)
#define BLOCKS 4096u
#define MOST_BATCH 16u /* blocks a dispatch */
#define HASHERS 16u
#define SAVE_S 5.0

typedef struct sweep {
	target *t;
	const char *expected_dir, *out_dir;
	uint32_t shard, n_shards, batch; /* blocks a dispatch */
	uint32_t every;			 /* of a sample every n-th batch, else 1 */
	int fresh, plant;
	char identity[160]; /* of what is swept: executable and profile */
	uint64_t mismatches;
} sweep;

/* What is known of one function; also what is kept, after the identity. */
typedef struct progress {
	uint8_t done[BLOCKS];
	unsigned char got[BLOCKS][32];
	double device_s;
	uint64_t n_blocks;
} progress;

/* The digests of one batch, made while the next one runs. */
typedef struct hashing {
	const uint32_t *words;
	unsigned char (*digests)[32];
	uint32_t first, n;
	pthread_t thread;
} hashing;

static void *hash_blocks(void *arg)
{
	hashing *h = arg;

	for (uint32_t b = h->first; b < h->n; b += HASHERS)
		SHA256((const unsigned char *)(h->words + (size_t)b * BLOCK), (size_t)BLOCK * 4,
		       h->digests[b]);
	return NULL;
}

static int is_ours(const sweep *s, uint32_t batch)
{
	return batch % s->every == 0 && batch / s->every % s->n_shards == s->shard;
}

/* A hash of the running executable, which carries front end and forms, and the profile's name. */
static int identify(sweep *s)
{
	const pctl_profile_record *profile;
	char key[PCTL_CID_TEXT_SIZE], *data = NULL;
	unsigned char sum[32];
	uint64_t n = 0;

	if (pctl_session_profile(s->t->session, s->t->host->call, &profile) != PCTL_OK ||
	    pctl_file_read("/proc/self/exe", 1u << 30, s->t->host->call, &data, &n) != PCTL_OK)
		return 0;
	SHA256((const unsigned char *)data, (size_t)n, sum);
	free(data);
	for (int i = 0; i < 32; i++)
		snprintf(s->identity + 2 * i, 3, "%02x", sum[i]);
	snprintf(s->identity + 64, sizeof(s->identity) - 64, " %s",
		 profile == NULL ? "reference" : pctl_cid_format(&profile->key, key));
	return 1;
}

static char *path_of(const sweep *s, const oracle *o, const char *ending)
{
	pctl_str_buf t = PCTL_STR_BUF_INIT;

	pctl_str_addf(&t, "%s%s/%s.f32.%" PRIu32 "-of-%" PRIu32 "%s", s->out_dir,
		      strcmp(ending, ".cfg") == 0 ? "" : "/state", o->name, s->shard, s->n_shards,
		      ending);
	return pctl_str_finish(&t);
}

/* The state is written aside and renamed, so that a kill leaves the old one. */
static void save(const sweep *s, const oracle *o, const progress *p)
{
	char *path = path_of(s, o, ".state"), *part = path_of(s, o, ".part"),
	     *dir = pctl_path_join(s->out_dir, "state");
	FILE *f;

	if (pctl_file_make_dirs(dir, NULL) != PCTL_OK || (f = fopen(part, "wb")) == NULL) {
		perror(part);
	} else {
		const int ok = fwrite(s->identity, sizeof(s->identity), 1, f) == 1 &&
			       fwrite(p, sizeof(*p), 1, f) == 1;

		if (fclose(f) != 0 || !ok || rename(part, path) != 0)
			perror(path);
	}
	free(dir);
	free(part);
	free(path);
}

/* Blocks that were right before count; the others are run again. */
static uint32_t resume(const sweep *s, const oracle *o, const unsigned char (*want)[32],
		       progress *p)
{
	char *path = path_of(s, o, ".state"), identity[sizeof(s->identity)];
	FILE *f = s->fresh ? NULL : fopen(path, "rb");
	uint32_t n = 0;

	if (f == NULL || fread(identity, sizeof(identity), 1, f) != 1 ||
	    fread(p, sizeof(*p), 1, f) != 1 || memcmp(identity, s->identity, sizeof(identity)) != 0)
		memset(p, 0, sizeof(*p));
	if (f != NULL)
		fclose(f);
	for (uint32_t b = 0; b < BLOCKS; b++) {
		p->done[b] &= memcmp(p->got[b], want[b], 32) == 0;
		n += p->done[b];
	}
	free(path);
	return n;
}

/* 1: a record of all of this share, right, by this executable with this profile is there. */
static int is_recorded(const sweep *s, const oracle *o)
{
	char *path = path_of(s, o, ".cfg"), *text = NULL;
	uint64_t n = 0;
	int found = 0;

	if (!s->fresh && s->every == 1 &&
	    pctl_file_read(path, 1u << 16, NULL, &text, &n) == PCTL_OK)
		found = strstr(text, s->identity) != NULL &&
			strstr(text, "mismatches = \"0\"") != NULL;
	free(text);
	free(path);
	return found;
}

static char *kernel_text(const oracle *o)
{
	pctl_str_buf t = PCTL_STR_BUF_INIT;
	char *out;

	pctl_str_addf(&t, "  let x = bitcast<f32>(p.base + i);\n  r[i] = %s;\n", o->wgsl);
	out = target_text(strcmp(o->name, "to_f16") == 0 ? "enable f16;\n" : "", "", t.data, 0,
			  BLOCK);
	pctl_str_drop(&t);
	return out;
}

/* The first few inputs of a block that differ. */
static void search(sweep *s, const oracle *o, uint32_t block, const uint32_t *words)
{
	uint64_t undecided = 0, found = 0;

	for (uint32_t i = 0; i < BLOCK; i++) {
		const uint32_t want = oracle_eval(o, block * BLOCK + i, &undecided);

		if (words[i] != want && found++ < 4)
			printf("%s(%08x) on %s: %08x, correctly rounded %08x\n", o->name,
			       block * BLOCK + i, s->t->entry->selector, words[i], want);
	}
	if (found == 0)
		printf("%s block %u on %s: the digest differs and no input does: the expectation "
		       "is damaged\n",
		       o->name, block, s->t->entry->selector);
	s->mismatches += found == 0 ? 1 : found;
}

static int read_digests(const char *dir, const char *name, unsigned char (*out)[32])
{
	char path[4096], *data = NULL;
	uint64_t n = 0;
	int ok;

	snprintf(path, sizeof(path), "%s/%s.f32.sha256", dir, name);
	ok = pctl_file_read(path, (uint64_t)BLOCKS * 32, NULL, &data, &n) == PCTL_OK &&
	     n == (uint64_t)BLOCKS * 32;
	if (ok)
		memcpy(out, data, (size_t)n);
	free(data);
	return ok;
}

/* What was found, as a signed text. */
static pctl_status record(sweep *s, const oracle *o, const progress *p, uint64_t bad)
{
	pctl_str_buf t = PCTL_STR_BUF_INIT;
	char *path = path_of(s, o, ".cfg");
	unsigned char all[32];
	uint32_t n = 0;
	SHA256_CTX sum;
	pctl_status status = target_record_begin(s->t, "exhaustive", &t);

	SHA256_Init(&sum);
	for (uint32_t b = 0; b < BLOCKS; b++) {
		if (!p->done[b])
			continue;
		SHA256_Update(&sum, p->got[b], 32);
		n++;
	}
	SHA256_Final(all, &sum);
	pctl_str_addf(&t,
		      "  by = \"%s\";\n  function = \"%s\"; type = \"f32\";\n"
		      "  shard = \"%" PRIu32 "/%" PRIu32 "\";\n  blocks = %" PRIu32
		      "; // of 2^20 inputs each\n  mismatches = \"%" PRIu64
		      "\";\n  digests_sha256 = \"",
		      s->identity, o->name, s->shard, s->n_shards, n, bad);
	for (int i = 0; i < 32; i++)
		pctl_str_addf(&t, "%02x", all[i]);
	pctl_str_addf(
		&t,
		"\";\n  results_per_second = \"%.0f\"; // on the device, without transfers\n};\n",
		p->device_s > 0 ? (double)p->n_blocks * BLOCK / p->device_s : 0);
	if (status == PCTL_OK)
		status = target_record_write(s->t, &t, s->out_dir, strrchr(path, '/') + 1);
	free(path);
	return status;
}

/* What a batch gave, against what it should have given. */
static void settle(sweep *s, const oracle *o, uint32_t batch, const unsigned char (*want)[32],
		   const uint32_t *words, progress *p)
{
	for (uint32_t b = 0; b < s->batch; b++) {
		const uint32_t block = batch * s->batch + b;

		p->done[block] = 1;
		if (memcmp(p->got[block], want[block], 32) != 0)
			search(s, o, block, words + (size_t)b * BLOCK);
	}
	p->n_blocks += s->batch;
}

static int is_done(const sweep *s, const progress *p, uint32_t batch)
{
	for (uint32_t b = 0; b < s->batch; b++)
		if (!p->done[batch * s->batch + b])
			return 0;
	return 1;
}

static pctl_status one_function(sweep *s, const oracle *o)
{
	const uint32_t n_batches = BLOCKS / s->batch;
	const uint64_t words_a_batch = (uint64_t)s->batch * BLOCK, before = s->mismatches;
	unsigned char(*want)[32] = malloc(BLOCKS * 32);
	uint32_t *words[2] = {malloc(words_a_batch * 4), malloc(words_a_batch * 4)};
	uint32_t pending = UINT32_MAX, turn = 0, resumed;
	progress *p = calloc(1, sizeof(*p));
	double begun = target_seconds(), saved = begun, resumed_s;
	hashing hashers[HASHERS];
	char *text = kernel_text(o), *path = path_of(s, o, ".state");
	target_run r = {.t = NULL};
	pctl_status status = PCTL_OK;

	if (!read_digests(s->expected_dir, o->name, want)) {
		fprintf(stderr, "no expectation of %s in %s\n", o->name, s->expected_dir);
		exit(2);
	}
	if (is_recorded(s, o)) {
		printf("%-8s %-10s done before: %s/%s.f32..\n", o->name, s->t->entry->selector,
		       s->out_dir, o->name);
		goto out;
	}
	resumed = resume(s, o, (const unsigned char(*)[32])want, p);
	resumed_s = p->device_s;
	status = target_run_open(s->t, o->name, text, BLOCK, words_a_batch, 0, &r);
	for (uint32_t batch = 0; batch <= n_batches && status == PCTL_OK; batch++) {
		const int last = batch == n_batches;
		const uint32_t uniform[4] = {batch * s->batch * BLOCK, 0, 0, 0};
		uint32_t *now = words[turn];

		if (!last && (!is_ours(s, batch) || is_done(s, p, batch)))
			continue;
		if (!last)
			status = target_run_go(&r, uniform, now, words_a_batch);
		if (!last && status == PCTL_OK && s->plant) {
			now[4711] ^= 1;
			s->plant = 0;
		}
		for (uint32_t h = 0; pending != UINT32_MAX && h < HASHERS; h++)
			pthread_join(hashers[h].thread, NULL);
		if (pending != UINT32_MAX)
			settle(s, o, pending, (const unsigned char(*)[32])want, words[turn ^ 1], p);
		pending = last || status != PCTL_OK ? UINT32_MAX : batch;
		for (uint32_t h = 0; pending != UINT32_MAX && h < HASHERS; h++) {
			hashers[h] =
				(hashing){now, p->got + (size_t)batch * s->batch, h, s->batch, 0};
			pthread_create(&hashers[h].thread, NULL, hash_blocks, &hashers[h]);
		}
		turn ^= 1;
		p->device_s = resumed_s + r.device_s;
		if (target_seconds() - saved > SAVE_S) {
			/* The digests of the batch under way may be half written; it is not marked as done. */
			save(s, o, p);
			saved = target_seconds();
		}
	}
	if (status == PCTL_OK)
		status = record(s, o, p, s->mismatches - before);
	if (status == PCTL_OK) {
		printf("%-8s %-10s %6" PRIu64 " million inputs, %" PRIu64
		       " wrong, %8.1f million/s on the device, %.1f s, %u blocks of before\n",
		       o->name, s->t->entry->selector, p->n_blocks, s->mismatches - before,
		       (double)p->n_blocks * BLOCK / p->device_s * 1e-6, target_seconds() - begun,
		       resumed);
		unlink(path);
	}
	fflush(stdout);
	target_run_close(&r);
out:
	free(text);
	free(path);
	free(words[0]);
	free(words[1]);
	free(want);
	free(p);
	return status;
}

static int usage(void)
{
	fputs("usage: sweep PLUGINS HOME EXPECTED OUT DEVICE [--shard I/N] [--sample BATCHES | "
	      "--blocks N] [--fresh]\n"
	      "             [--plant] FUNCTION..|--all\n",
	      stderr);
	return 2;
}

/* Options before the functions' names; 0 when they are wrong, else where the names begin. */
static int parse(int argc, char **argv, sweep *s)
{
	int i = 6;

	for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0 && strcmp(argv[i], "--all") != 0;
	     i++) {
		const uint32_t n = (uint32_t)strtoul(argv[i + 1], NULL, 10);

		if (strcmp(argv[i], "--fresh") == 0) {
			s->fresh = 1;
			continue;
		}
		if (strcmp(argv[i], "--plant") == 0) {
			s->plant = 1;
			continue;
		}
		if (strcmp(argv[i], "--shard") == 0) {
			if (sscanf(argv[++i], "%" SCNu32 "/%" SCNu32, &s->shard, &s->n_shards) !=
				    2 ||
			    s->n_shards == 0 || s->shard >= s->n_shards)
				return 0;
			continue;
		}
		if (strcmp(argv[i], "--blocks") == 0)
			s->batch = 1;
		else if (strcmp(argv[i], "--sample") != 0)
			return 0;
		if (n == 0 || n > BLOCKS / s->batch)
			return 0;
		/* An odd step, so that samples of different batches are not all multiples of 2^24. */
		s->every = BLOCKS / s->batch / n;
		s->every -= s->every > 2 && s->every % 2 == 0;
		i++;
	}
	return i < argc ? i : 0;
}

int main(int argc, char **argv)
{
	const pctl_device_entry *devices[TARGETS];
	sweep s = {.n_shards = 1, .batch = MOST_BATCH, .every = 1};
	pctl_status status = PCTL_OK;
	uint32_t n = 0;
	int first;
	target t;
	host h;

	if (argc < 7 || (first = parse(argc, argv, &s)) == 0)
		return usage();
	s.expected_dir = argv[3];
	s.out_dir = argv[4];
	s.t = &t;
	memset(&t, 0, sizeof(t));
	if (!host_open(&h, argv[1], argv[2]) || host_find(&h, argv[5], devices) == 0 ||
	    !target_open(&h, devices[0], &t) || !identify(&s))
		status = PCTL_E_UNSUPPORTED;
	for (int i = first; i < argc && status == PCTL_OK; i++) {
		for (unsigned k = 0; k < n_oracles && status == PCTL_OK; k++) {
			if (strcmp(argv[i], "--all") != 0 && strcmp(argv[i], oracles[k].name) != 0)
				continue;
			status = one_function(&s, &oracles[k]);
			n++;
		}
	}
	host_complain(&h);
	target_close(&t);
	host_close(&h);
	if (status == PCTL_OK && n == 0)
		return fprintf(stderr, "no such function\n"), 2;
	return status != PCTL_OK || s.mismatches != 0;
}
