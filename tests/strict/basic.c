/* Every basic strict operation on devices, through the front end, legaliser and session of any program, against the
 * integers of soft.c. Operands come from a counter: many are made twice, by the kernel and here, few are sent.
 * usage: basic PLUGINS HOME [--device D|all] [--op TYPE.OP|GLOB] [--cases N] [--simulated N] [--seed S] [--plant]
 *        basic PLUGINS HOME --exhaustive16 OP f16|bf16 --device D [--shard I/N] [--out DIR] */
#include <fnmatch.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "ops.h"
#include "target.h"

#define ROW (1u << 16)
#define MOST (1u << 22) /* words a dispatch */
#define SENT (1u << 17) /* fewer cases are sent: a short kernel builds fast */
#define THREADS 64u

typedef struct options {
	const char *plugins, *home, *device, *glob, *pairs_op, *pairs_type, *out;
	uint64_t cases, simulated; /* over all operations, a device */
	uint32_t seed, shard, n_shards;
	int plant;
} options;

/* A part of a batch, judged by one thread. */
typedef struct part {
	const strict_op *op;
	const uint32_t *words;
	uint32_t salt, base, first, n;
	int pairs;
	uint64_t wrong;
	uint32_t at[3], got, want; /* of the first */
	pthread_t thread;
} part;

static void note(part *p, const uint32_t at[3], uint32_t got, uint32_t want)
{
	if (p->wrong++ != 0)
		return;
	memcpy(p->at, at, sizeof(p->at));
	p->got = got;
	p->want = want;
}

static void *judge(void *arg)
{
	part *p = arg;

	for (uint32_t i = p->first; i < p->first + p->n; i++) {
		uint32_t v[3], want;

		if (!p->pairs) {
			want = strict_op_expect(p->op, p->salt, p->base + i, v);
			if (p->words[i] != want)
				note(p, v, p->words[i], want);
			continue;
		}
		for (uint32_t k = 0; k < 2; k++) {
			const uint32_t at = p->base + 2 * i + k,
				       got = p->words[i] >> (16 * k) & 0xffff;

			v[0] = at >> 16;
			v[1] = at & 0xffff;
			v[2] = 0;
			want = p->op->oracle(p->op->format, v);
			if (got != want)
				note(p, v, got, want);
		}
	}
	return NULL;
}

typedef struct batch {
	part parts[THREADS];
	uint32_t n;
	uint32_t *words;
} batch;

static void judge_begin(batch *b, const part *like, uint32_t n_words)
{
	const uint32_t n = target_threads(), each = (n_words + n - 1) / n;

	b->n = 0;
	for (uint32_t first = 0; first < n_words; first += each) {
		part *p = &b->parts[b->n++];

		*p = *like;
		p->words = b->words;
		p->first = first;
		p->n = n_words - first < each ? n_words - first : each;
		if (pthread_create(&p->thread, NULL, judge, p) != 0) {
			perror("a thread");
			exit(1);
		}
	}
}

static void judge_end(batch *b, part *sum)
{
	for (uint32_t i = 0; i < b->n; i++) {
		const part *p = &b->parts[i];

		pthread_join(p->thread, NULL);
		if (p->wrong != 0 && sum->wrong == 0) {
			memcpy(sum->at, p->at, sizeof(sum->at));
			sum->got = p->got;
			sum->want = p->want;
		}
		sum->wrong += p->wrong;
	}
	b->n = 0;
}

/* `total` words of results from counter `base` on, judged while the next batch runs. */
static pctl_status run_all(target *t, const char *text, part *sum, uint64_t total, int sent,
			   int plant, double *device_s)
{
	const uint64_t most = total < MOST ? total : MOST;
	const uint32_t step = sum->pairs ? 2 : 1;
	batch batches[2];
	uint32_t turn = 0;
	target_run r;
	pctl_status status = target_run_open(t, sum->op->name, text, most < ROW ? 256 : ROW, most,
					     sent ? 3 * most : 0, &r);
	uint32_t *operands = sent ? malloc(most * 12) : NULL;

	memset(batches, 0, sizeof(batches));
	batches[0].words = malloc(r.n_words * 4 + 4);
	batches[1].words = malloc(r.n_words * 4 + 4);
	for (uint64_t done = 0; status == PCTL_OK && done < total; turn ^= 1) {
		const uint32_t n = (uint32_t)(total - done < most ? total - done : most);
		const uint32_t uniform[4] = {sum->base, 0, 0, 0};

		for (uint32_t i = 0; sent && i < n; i++)
			(void)strict_op_expect(sum->op, sum->salt, sum->base + i,
					       operands + 3 * (size_t)i);
		if (sent)
			status = target_run_inputs(&r, operands, 3ull * n);
		if (status == PCTL_OK)
			status = target_run_go(&r, uniform, batches[turn].words, n);
		if (plant && done == 0)
			batches[turn].words[n / 2] ^= 1;
		judge_end(&batches[turn ^ 1], sum);
		if (status == PCTL_OK)
			judge_begin(&batches[turn], sum, n);
		sum->base += n * step;
		done += n;
	}
	judge_end(&batches[turn ^ 1], sum);
	*device_s = r.device_s;
	free(operands);
	free(batches[0].words);
	free(batches[1].words);
	target_run_close(&r);
	return status;
}

static void line(const part *sum, uint64_t cases, double device_s)
{
	printf("%-5s %-9s %12" PRIu64 " %10" PRIu64 " %9.1f", sum->op->type, sum->op->name, cases,
	       sum->wrong, device_s > 0 ? (double)cases / device_s * 1e-6 : 0);
	if (sum->wrong != 0)
		printf("  %08x %08x %08x: %08x, should be %08x", sum->at[0], sum->at[1], sum->at[2],
		       sum->got, sum->want);
	printf("\n");
	fflush(stdout);
}

/* The operations on one device. 1: all ran and were right. */
static int basic(host *h, const pctl_device_entry *e, const options *o)
{
	double begun = target_seconds(), device_s;
	uint64_t cases = 0, wrong = 0, each;
	uint32_t n = 0;
	int ok = 1;
	target t;

	if (!target_open(h, e, &t)) {
		target_close(&t);
		return 0;
	}
	for (uint32_t i = 0; i < n_strict_ops; i++) {
		char name[40];

		snprintf(name, sizeof(name), "%s.%s", strict_ops[i].type, strict_ops[i].name);
		n += fnmatch(o->glob, name, 0) == 0;
	}
	each = (target_speed(&t) == TARGET_SIMULATOR ? o->simulated : o->cases) / (n == 0 ? 1 : n) +
	       1;
	each = (each + 255) / 256 * 256;
	printf("%s\n%-5s %-9s %12s %10s %9s\n", t.name, "type", "op", "cases", "mismatches",
	       "million/s");
	for (uint32_t i = 0; i < n_strict_ops; i++) {
		const strict_op *op = &strict_ops[i];
		part sum = {.op = op, .salt = strict_op_salt(op), .base = o->seed};
		char name[40], *text;
		pctl_status status;

		snprintf(name, sizeof(name), "%s.%s", op->type, op->name);
		if (fnmatch(o->glob, name, 0) != 0)
			continue;
		text = strict_op_text(op, each < SENT, each < ROW ? 256 : ROW);
		status = run_all(&t, text, &sum, each, each < SENT, o->plant && cases == 0,
				 &device_s);
		free(text);
		if (status != PCTL_OK) {
			printf("%-5s %-9s could not run\n", op->type, op->name);
			host_complain(h);
			ok = 0;
			continue;
		}
		line(&sum, each, device_s);
		cases += each;
		wrong += sum.wrong;
	}
	printf("%s: %" PRIu64 " cases, %" PRIu64 " mismatches, %.1f s\n\n", t.name, cases, wrong,
	       target_seconds() - begun);
	fflush(stdout);
	target_close(&t);
	return ok && cases != 0 && wrong == 0;
}

/* All pairs of one operation, or one share of them. */
static int exhaustive(host *h, const pctl_device_entry *e, const options *o)
{
	const uint64_t shares = 1ull << 31, first = shares / o->n_shards * o->shard,
		       end = o->shard + 1 == o->n_shards ? shares
							 : shares / o->n_shards * (o->shard + 1);
	const strict_op *op = NULL;
	pctl_str_buf record = PCTL_STR_BUF_INIT;
	double device_s = 0, begun = target_seconds();
	pctl_status status;
	char *text;
	part sum;
	target t;
	int ok;

	for (uint32_t i = 0; i < n_strict_ops; i++)
		if (strcmp(strict_ops[i].name, o->pairs_op) == 0 &&
		    strcmp(strict_ops[i].type, o->pairs_type) == 0 &&
		    strict_ops[i].format != &soft_f32 && strict_ops[i].n == 2)
			op = &strict_ops[i];
	if (op == NULL)
		return fprintf(stderr, "no binary operation %s of %s\n", o->pairs_op,
			       o->pairs_type),
		       0;
	if (!target_open(h, e, &t)) {
		target_close(&t);
		return 0;
	}
	sum = (part){.op = op, .pairs = 1, .base = (uint32_t)(2 * first)};
	text = strict_op_pairs(op, ROW);
	status = run_all(&t, text, &sum, end - first, 0, o->plant, &device_s);
	free(text);
	if (status == PCTL_OK) {
		printf("%s, all pairs, share %" PRIu32 "/%" PRIu32 ", %.1f s\n", t.name, o->shard,
		       o->n_shards, target_seconds() - begun);
		line(&sum, 2 * (end - first), device_s);
	}
	if (status == PCTL_OK && o->out != NULL) {
		char file[80];

		snprintf(file, sizeof(file), "%s.%s.pairs.%" PRIu32 "-of-%" PRIu32 ".cfg", op->name,
			 op->type, o->shard, o->n_shards);
		status = target_record_begin(&t, "pairs", &record);
		pctl_str_addf(
			&record,
			"  operation = \"%s\"; type = \"%s\"; shard = \"%" PRIu32 "/%" PRIu32
			"\";\n  pairs = \"%" PRIu64 "\";\n  mismatches = \"%" PRIu64 "\";\n"
			"  pairs_per_second = \"%.0f\"; // on the device, without transfers\n};\n",
			op->name, op->type, o->shard, o->n_shards, 2 * (end - first), sum.wrong,
			(double)(end - first) * 2 / device_s);
		if (status == PCTL_OK)
			status = target_record_write(&t, &record, o->out, file);
	}
	if (status != PCTL_OK)
		host_complain(h);
	ok = status == PCTL_OK && sum.wrong == 0;
	target_close(&t);
	return ok;
}

static int usage(void)
{
	fputs("usage: basic PLUGINS HOME [--device D|all] [--op GLOB] [--cases N] [--simulated N] "
	      "[--seed S] [--plant]\n"
	      "       basic PLUGINS HOME --exhaustive16 OP f16|bf16 --device D [--shard I/N] "
	      "[--out DIR]\n",
	      stderr);
	return 2;
}

static int parse(int argc, char **argv, options *o)
{
	for (int i = 3; i < argc; i++) {
		char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (strcmp(argv[i], "--plant") == 0) {
			o->plant = 1;
			continue;
		}
		if (value == NULL)
			return 0;
		i++;
		if (strcmp(argv[i - 1], "--device") == 0)
			o->device = value;
		else if (strcmp(argv[i - 1], "--op") == 0)
			o->glob = value;
		else if (strcmp(argv[i - 1], "--cases") == 0)
			o->cases = strtoull(value, NULL, 10);
		else if (strcmp(argv[i - 1], "--simulated") == 0)
			o->simulated = strtoull(value, NULL, 10);
		else if (strcmp(argv[i - 1], "--seed") == 0)
			o->seed = (uint32_t)strtoul(value, NULL, 0);
		else if (strcmp(argv[i - 1], "--out") == 0)
			o->out = value;
		else if (strcmp(argv[i - 1], "--shard") == 0) {
			if (sscanf(value, "%" SCNu32 "/%" SCNu32, &o->shard, &o->n_shards) != 2 ||
			    o->n_shards == 0 || o->shard >= o->n_shards)
				return 0;
		} else if (strcmp(argv[i - 1], "--exhaustive16") == 0 && i + 1 < argc) {
			o->pairs_op = value;
			o->pairs_type = argv[++i];
		} else
			return 0;
	}
	return o->cases != 0 && o->simulated != 0;
}

int main(int argc, char **argv)
{
	options o = {
		.device = "all", .glob = "*", .cases = 1000000, .simulated = 10000, .n_shards = 1};
	const pctl_device_entry *devices[TARGETS];
	uint32_t n;
	int ok;
	host h;

	if (argc < 3 || !parse(argc, argv, &o))
		return usage();
	ok = host_open(&h, argv[1], argv[2]);
	n = ok ? host_find(&h, o.device, devices) : 0;
	ok = n != 0;
	for (uint32_t i = 0; i < n; i++)
		ok &= o.pairs_op != NULL ? exhaustive(&h, devices[i], &o)
					 : basic(&h, devices[i], &o);
	host_close(&h);
	return !ok;
}
