/* Inputs of elementary functions compared one by one with the oracle, where whole blocks (sweep.c) are too many: inputs
 * spread over all of a unary function's, the hard cases that tests/forms documents, and pairs for pow and atan2.
 * usage: spots PLUGINS HOME DEVICE|all [--spread N] [--pairs N] [--hard FILE.txt]... [--only NAME] [--seed S]
 *              [--simulated PERCENT] [--fourth TEXT]... [--plant]
 * A slow driver takes a second and more to compile a function, so the f32 hard cases of one go through the kernel of its spread
 * inputs where both are asked for: `p.b` chooses between the counter and the buffer `q`. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#include "pairs.h"
#include "target.h"

#define MOST (1u << 22) /* results a dispatch */
#define ROW 4096u
#define FILES 64u
#define FOURTHS 4u

typedef struct options {
	uint64_t spread, pairs;
	uint32_t seed, simulated;
	const char *only;
	const char *fourth[FOURTHS]; /* devices of these names take every fourth function */
	uint32_t n_fourth;
	const char *hard[FILES];
	uint32_t n_hard;
	int plant;
} options;

/* What one thread judges. */
typedef struct part {
	const oracle *o;
	const pair_function *f;
	const uint32_t *words;
	uint32_t base, stride, first, n;
	uint64_t wrong, undecided;
	uint32_t at[2], got, want;
	pthread_t thread;
} part;

static void *judge(void *arg)
{
	part *p = arg;

	for (uint32_t i = p->first; i < p->first + p->n; i++) {
		uint32_t v[2] = {p->base + i * p->stride, 0}, want;

		if (p->f != NULL) {
			p->f->operands(p->base + i, v);
			want = pair_eval(p->f, v[0], v[1], &p->undecided);
		} else {
			want = oracle_eval(p->o, v[0], &p->undecided);
		}
		if (p->words[i] == want || p->wrong++ != 0)
			continue;
		memcpy(p->at, v, sizeof(v));
		p->got = p->words[i];
		p->want = want;
	}
	return NULL;
}

static void judge_all(part *sum, const uint32_t *words, uint32_t n)
{
	const uint32_t threads = target_threads(), each = (n + threads - 1) / threads;
	part parts[64];
	uint32_t k = 0;

	for (uint32_t first = 0; first < n; first += each, k++) {
		parts[k] = *sum;
		parts[k].words = words;
		parts[k].first = first;
		parts[k].n = n - first < each ? n - first : each;
		parts[k].wrong = parts[k].undecided = 0;
		if (pthread_create(&parts[k].thread, NULL, judge, &parts[k]) != 0) {
			perror("a thread");
			exit(1);
		}
	}
	for (uint32_t i = 0; i < k; i++) {
		pthread_join(parts[i].thread, NULL);
		if (parts[i].wrong != 0 && sum->wrong == 0) {
			memcpy(sum->at, parts[i].at, sizeof(sum->at));
			sum->got = parts[i].got;
			sum->want = parts[i].want;
		}
		sum->wrong += parts[i].wrong;
		sum->undecided += parts[i].undecided;
	}
}

/* ---- lists of the documented hard cases ---- */

typedef struct hard_list {
	uint32_t *operands, *want; /* two operands a case */
	uint32_t n;
	int two;
} hard_list;

static int hard_read(const char *path, const char *format, hard_list *l)
{
	FILE *file = fopen(path, "r");
	uint32_t room = 0;
	char text[160], type[8];

	memset(l, 0, sizeof(*l));
	if (file == NULL) {
		perror(path);
		return 0;
	}
	while (fgets(text, sizeof(text), file) != NULL) {
		unsigned v[3] = {0, 0, 0};
		const int n = sscanf(text, "%7s %x %x %x", type, &v[0], &v[1], &v[2]);

		if (text[0] == '#' || n < 3 || strcmp(type, format) != 0)
			continue;
		if (l->n == room) {
			room = room * 2 + 256;
			l->operands = realloc(l->operands, (size_t)room * 8);
			l->want = realloc(l->want, (size_t)room * 4);
		}
		l->two = n == 4;
		l->operands[2 * l->n] = v[0];
		l->operands[2 * l->n + 1] = n == 4 ? v[1] : 0;
		l->want[l->n++] = n == 4 ? v[2] : v[1];
	}
	fclose(file);
	return 1;
}

static void hard_drop(hard_list *l)
{
	free(l->operands);
	free(l->want);
	memset(l, 0, sizeof(*l));
}

/* The function that a file of hard cases is named after. */
static void hard_function(const char *path, char out[32])
{
	const char *base = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;

	snprintf(out, 32, "%.*s", (int)strcspn(base, "."), base);
}

/* The f32 cases of a function, none where no file is of it. 0: its file cannot be read. */
static int hard_of(const options *o, const char *function, hard_list *l)
{
	char name[32];

	memset(l, 0, sizeof(*l));
	for (uint32_t i = 0; i < o->n_hard; i++) {
		hard_function(o->hard[i], name);
		if (strcmp(name, function) == 0)
			return hard_read(o->hard[i], "f32", l);
	}
	return 1;
}

/* What is wrong of a list's results. */
static void hard_judge(part *sum, const hard_list *l, const uint32_t *words)
{
	for (uint32_t k = 0; k < l->n; k++) {
		if (words[k] == l->want[k] || sum->wrong++ != 0)
			continue;
		sum->at[0] = l->operands[2 * k];
		sum->at[1] = l->operands[2 * k + 1];
		sum->got = words[k];
		sum->want = l->want[k];
	}
}

typedef struct tally {
	uint64_t cases, wrong, failed;
	int plant, plant_hard; /* one wrong result of the inputs spread, one of the hard cases */
} tally;

static void line(tally *all, const char *what, const char *name, const part *p, uint64_t n,
		 double device_s)
{
	printf("%-7s %-9s %12" PRIu64 " %10" PRIu64 " wrong, %" PRIu64
	       " decided by MPFR, %.1f million/s",
	       what, name, n, p->wrong, p->undecided,
	       device_s > 0 ? (double)n / device_s * 1e-6 : 0);
	if (p->wrong != 0)
		printf("; %08x %08x: %08x, should be %08x", p->at[0], p->at[1], p->got, p->want);
	printf("\n");
	fflush(stdout);
	all->cases += n;
	all->wrong += p->wrong;
}

/* n results of a kernel in the order of a counter, then those of the function's hard cases. */
static void run(target *t, const options *o, const char *what, const char *name, const char *text,
		part *sum, uint64_t n, tally *all)
{
	const uint32_t most = (uint32_t)(n < MOST ? n : MOST);
	part hard_sum = {.o = NULL};
	pctl_status status;
	uint32_t *words;
	hard_list l;
	target_run r;

	if (!hard_of(o, name, &l)) {
		all->failed++;
		return;
	}
	words = malloc((size_t)(most > l.n ? most : l.n) * 4);
	status = target_run_open(t, name, text, ROW, most > l.n ? most : l.n,
				 l.n != 0 ? 2ull * l.n : 2, &r);
	for (uint64_t done = 0; status == PCTL_OK && done < n; done += most) {
		const uint32_t now = (uint32_t)(n - done < most ? n - done : most);
		const uint32_t uniform[4] = {sum->base, sum->stride, 0, 0};

		status = target_run_go(&r, uniform, words, now);
		if (all->plant && status == PCTL_OK)
			words[now / 2] ^= 1;
		all->plant = 0;
		if (status == PCTL_OK)
			judge_all(sum, words, now);
		sum->base += now * (sum->f != NULL ? 1 : sum->stride);
	}
	if (status == PCTL_OK)
		line(all, what, name, sum, n, r.device_s);
	if (status == PCTL_OK && l.n != 0) {
		const uint32_t uniform[4] = {0, 0, 1, 0};

		status = target_run_inputs(&r, l.operands, 2ull * l.n);
		if (status == PCTL_OK)
			status = target_run_go(&r, uniform, words, l.n);
		if (all->plant_hard && status == PCTL_OK)
			words[l.n / 2] ^= 1;
		all->plant_hard = 0;
		if (status == PCTL_OK) {
			hard_judge(&hard_sum, &l, words);
			line(all, "f32", name, &hard_sum, l.n, 0);
		}
	}
	if (status != PCTL_OK) {
		printf("%-7s %-9s could not run\n", what, name);
		host_complain(t->host);
		all->failed++;
	}
	target_run_close(&r);
	hard_drop(&l);
	free(words);
}

static void spread(target *t, const options *opts, const oracle *o, uint64_t n, tally *all)
{
	pctl_str_buf b = PCTL_STR_BUF_INIT;
	part sum = {.o = o, .stride = (uint32_t)(0xffffffffu / n) | 1, .base = opts->seed};
	char *text;

	pctl_str_addf(&b,
		      "  let x = bitcast<f32>(select(p.base + i * p.a, q[2u * i], p.b != 0u));\n"
		      "  r[i] = %s;\n",
		      o->wgsl);
	text = target_text(strcmp(o->name, "to_f16") == 0 ? "enable f16;\n" : "", "", b.data, 1,
			   ROW);
	run(t, opts, "spread", o->name, text, &sum, n, all);
	free(text);
	pctl_str_drop(&b);
}

static void pairs(target *t, const options *opts, const pair_function *f, uint64_t n, tally *all)
{
	pctl_str_buf module = PCTL_STR_BUF_INIT, body = PCTL_STR_BUF_INIT;
	part sum = {.f = f, .base = opts->seed};
	char *text;

	pctl_str_addf(&module, "%s%s", pair_wgsl, f->wgsl);
	pctl_str_addf(&body,
		      "  let v = bitcast<vec2<f32>>(select(operands(p.base + i), "
		      "vec2<u32>(q[2u * i], q[2u * i + 1u]), p.b != 0u));\n"
		      "  r[i] = bitcast<u32>(%s(v.x, v.y));\n",
		      f->name);
	text = target_text("", module.data, body.data, 1, ROW);
	run(t, opts, "pairs", f->name, text, &sum, n, all);
	free(text);
	pctl_str_drop(&module);
	pctl_str_drop(&body);
}

/* 1: its f32 cases went through the kernel of its spread inputs or pairs. */
static int went(const options *o, const char *function)
{
	if (o->spread != 0 && oracle_find(function) != NULL)
		return 1;
	for (uint32_t i = 0; o->pairs != 0 && i < n_pair_functions; i++)
		if (strcmp(pair_functions[i].name, function) == 0)
			return 1;
	return 0;
}

/* ---- the documented hard cases that have no spread kernel ---- */

static char *hard_text(const char *function, const char *format, int two)
{
	const int wide = strcmp(format, "f32") == 0;
	pctl_str_buf b = PCTL_STR_BUF_INIT;
	char operand[2][80], *text;

	for (int i = 0; i < 2; i++)
		snprintf(operand[i], sizeof(operand[i]),
			 wide ? "bitcast<%s>(q[2u * i + p.a + %du])"
			      : "bitcast<vec2<%s>>(q[2u * i + p.a + %du]).x",
			 format, i);
	pctl_str_addf(&b, "  let v = %s(%s%s%s);\n", function, operand[0], two ? ", " : "",
		      two ? operand[1] : "");
	if (wide)
		pctl_str_addf(&b, "  r[i] = bitcast<u32>(v);\n");
	else
		pctl_str_addf(&b, "  r[i] = bitcast<u32>(vec2<%s>(v, %s(0.0)));\n", format, format);
	text = target_text(strcmp(format, "f16") == 0 ? "enable f16;\n" : "", "", b.data, 1, 256);
	pctl_str_drop(&b);
	return text;
}

static void hard(target *t, const char *path, const options *o, tally *all)
{
	static const char *const formats[3] = {"f32", "f16", "bf16"};
	const uint32_t uniform[4] = {0, 0, 0, 0};
	char function[32];

	hard_function(path, function);
	if (o->only != NULL && strcmp(o->only, function) != 0)
		return;
	for (int i = went(o, function); i < 3; i++) {
		part sum = {.o = NULL};
		uint32_t *words;
		hard_list l;
		target_run r;
		char *text;
		pctl_status status;

		if (!hard_read(path, formats[i], &l)) {
			all->failed++;
			return;
		}
		if (l.n != 0) {
			words = malloc((size_t)l.n * 4);
			text = hard_text(function, formats[i], l.two);
			status = target_run_open(t, function, text, 256, l.n, 2ull * l.n, &r);
			if (status == PCTL_OK)
				status = target_run_inputs(&r, l.operands, 2ull * l.n);
			if (status == PCTL_OK)
				status = target_run_go(&r, uniform, words, l.n);
			if (status == PCTL_OK)
				hard_judge(&sum, &l, words);
			if (status == PCTL_OK)
				line(all, formats[i], function, &sum, l.n, 0);
			else {
				printf("%-7s %-9s could not run\n", formats[i], function);
				host_complain(t->host);
				all->failed++;
			}
			target_run_close(&r);
			free(text);
			free(words);
		}
		hard_drop(&l);
	}
}

static int one_device(host *h, const pctl_device_entry *e, const options *o)
{
	double begun = target_seconds();
	tally all = {.plant = o->plant, .plant_hard = o->plant};
	uint64_t share = 100;
	uint32_t step = 1, first = 0;
	target t;

	if (!target_open(h, e, &t)) {
		target_close(&t);
		return 0;
	}
	if (target_speed(&t) == TARGET_SIMULATOR)
		share = o->simulated;
	/* Devices that take a part each take another. */
	for (uint32_t i = 0; i < o->n_fourth; i++) {
		if (strstr(t.name, o->fourth[i]) == NULL)
			continue;
		step = 4;
		first = i;
	}
	printf("%s\n", t.name);
	for (uint32_t i = first; o->spread != 0 && i < n_oracles; i += step)
		if (o->only == NULL || strcmp(o->only, oracles[i].name) == 0)
			spread(&t, o, &oracles[i], (o->spread * share + 99) / 100, &all);
	for (uint32_t i = first % 2; o->pairs != 0 && i < n_pair_functions; i += step)
		if (o->only == NULL || strcmp(o->only, pair_functions[i].name) == 0)
			pairs(&t, o, &pair_functions[i], (o->pairs * share + 99) / 100, &all);
	for (uint32_t i = first; i < o->n_hard; i += step)
		hard(&t, o->hard[i], o, &all);
	printf("%s: %" PRIu64 " cases, %" PRIu64 " wrong, %" PRIu64 " not run, %.1f s\n\n", t.name,
	       all.cases, all.wrong, all.failed, target_seconds() - begun);
	fflush(stdout);
	target_close(&t);
	return all.cases != 0 && all.wrong == 0 && all.failed == 0;
}

static int parse(int argc, char **argv, options *o)
{
	for (int i = 4; i < argc; i++) {
		char *value = i + 1 < argc ? argv[i + 1] : NULL;

		if (strcmp(argv[i], "--plant") == 0) {
			o->plant = 1;
			continue;
		}
		if (value == NULL)
			return 0;
		i++;
		if (strcmp(argv[i - 1], "--spread") == 0)
			o->spread = strtoull(value, NULL, 10);
		else if (strcmp(argv[i - 1], "--pairs") == 0)
			o->pairs = strtoull(value, NULL, 10);
		else if (strcmp(argv[i - 1], "--simulated") == 0)
			o->simulated = (uint32_t)strtoul(value, NULL, 10);
		else if (strcmp(argv[i - 1], "--seed") == 0)
			o->seed = (uint32_t)strtoul(value, NULL, 0);
		else if (strcmp(argv[i - 1], "--only") == 0)
			o->only = value;
		else if (strcmp(argv[i - 1], "--fourth") == 0 && o->n_fourth < FOURTHS)
			o->fourth[o->n_fourth++] = value;
		else if (strcmp(argv[i - 1], "--hard") == 0 && o->n_hard < FILES)
			o->hard[o->n_hard++] = value;
		else
			return 0;
	}
	return o->simulated != 0;
}

int main(int argc, char **argv)
{
	options o = {.simulated = 100};
	const pctl_device_entry *devices[TARGETS];
	uint32_t n;
	int ok;
	host h;

	if (argc < 5 || !parse(argc, argv, &o)) {
		fputs("usage: spots PLUGINS HOME DEVICE|all [--spread N] [--pairs N] [--hard "
		      "FILE.txt].. [--only NAME]\n"
		      "             [--seed S] [--simulated PERCENT] [--fourth TEXT].. [--plant]\n",
		      stderr);
		return 2;
	}
	ok = host_open(&h, argv[1], argv[2]);
	n = ok ? host_find(&h, argv[3], devices) : 0;
	ok = n != 0;
	for (uint32_t i = 0; i < n; i++)
		ok &= one_device(&h, devices[i], &o);
	host_close(&h);
	return !ok;
}
