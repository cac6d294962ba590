/* Every form of a group on a device against its oracle. See forms.h and README.md. */
#include "forms.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>

#define BATCH (1u << 16)
#define SHOWN 4

static const char *const group_names[] = {"int", "f64", "normal", "root", "fused", "exact"};

static struct {
	const char *plugin;
	const char *only; /* the one form to run, or NULL */
	uint64_t cases, seed, first;
	uint32_t groups;
	int planted, quiet, exhaustive, apart, strict;
} set = {.cases = 1000000, .seed = 1, .groups = 1};

typedef struct bench {
	rig r;
	pctl_kernel *kernel;
	pctl_binding bindings[5];
	uint64_t *arrays[4]; /* three operands, then results */
	forms_triple *triples;
} bench;

static uint64_t array_bytes(int i)
{
	return i < 4 ? BATCH * sizeof(uint64_t) : sizeof(uint32_t);
}

static void build(bench *b, uint32_t only)
{
	const rig_program p = set.strict ? forms_strict_program(&b->r, set.groups, only)
					 : forms_program(set.groups, only, set.planted);

	if (b->kernel)
		b->r.api->kernel_destroy(b->r.dev, b->kernel);
	b->kernel = rig_build(&b->r, p.wire, p.n, 0);
	free(p.wire);
}

static void bench_open(bench *b)
{
	b->kernel = NULL;
	rig_open(&b->r, set.plugin);
	b->r.loud = 1;
	fprintf(stderr, "device: %s (%s)\n", b->r.info.name, b->r.info.driver);
	if (!set.apart)
		build(b, UINT32_MAX);
	b->triples = calloc(BATCH, sizeof(*b->triples));
	for (int i = 0; i < 5; i++) {
		b->bindings[i] = (pctl_binding){.binding = (uint32_t)i, .n_bytes = array_bytes(i)};
		rig_must(&b->r,
			 b->r.api->buffer_create(
				 b->r.dev, &b->r.call, array_bytes(i),
				 PCTL_BUFFER_TRANSFER |
					 (i == 4 ? PCTL_BUFFER_UNIFORM : PCTL_BUFFER_STORAGE),
				 &b->bindings[i].buffer),
			 "a buffer");
		if (i < 4)
			b->arrays[i] = calloc(BATCH, sizeof(uint64_t));
	}
}

static void bench_close(bench *b)
{
	for (int i = 0; i < 5; i++) {
		b->r.api->buffer_destroy(b->r.dev, b->bindings[i].buffer);
		if (i < 4)
			free(b->arrays[i]);
	}
	free(b->triples);
	b->r.api->kernel_destroy(b->r.dev, b->kernel);
	rig_close(&b->r);
}

static void put(bench *b, int i, const void *data)
{
	rig_must(&b->r,
		 b->r.api->buffer_write(b->r.dev, &b->r.call, b->bindings[i].buffer, 0, data,
					array_bytes(i)),
		 "an upload");
}

/* Triples `first` and on through the form; results are left in arrays[3]. */
static void run_batch(bench *b, uint32_t form, uint64_t first)
{
	const forms_case *f = &forms_cases[form];
	const uint32_t groups[3] = {BATCH / 64, 1, 1};

	for (uint32_t i = 0; i < BATCH; i++) {
		if (set.exhaustive)
			b->triples[i] = (forms_triple){{i & 0xffff, (first + i) >> 16 & 0xffff, 0}};
		else
			forms_input(f->inputs, set.seed, first + i, &b->triples[i]);
		for (int k = 0; k < 3; k++)
			b->arrays[k][i] = b->triples[i].x[k];
	}
	for (int k = 0; f->signature[2 + k]; k++)
		put(b, k, b->arrays[k]);
	put(b, 4, &form);
	rig_dispatch(&b->r, b->kernel, b->bindings, 5, groups);
	rig_must(&b->r,
		 b->r.api->buffer_read(b->r.dev, &b->r.call, b->bindings[3].buffer, 0, b->arrays[3],
				       array_bytes(3)),
		 "a download");
}

/* What the form may leave open: the bits of a NaN, the sign of a zero. */
static uint64_t settled(char type, uint64_t bits)
{
	if (type == 'L' && bits << 1 == 0)
		return 0;
	if ((type == 'D' || type == 'L' || type == 'n') && bits << 1 > 0xffe0000000000000u)
		return 0x7ff8000000000000u;
	return bits;
}

static uint32_t check_batch(const bench *b, const forms_case *f, uint32_t shown)
{
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < BATCH; i++) {
		const uint64_t *x = b->triples[i].x;
		const uint64_t want = set.exhaustive ? f->each(x) : f->oracle(x);
		const uint64_t got = settled(f->signature[0], b->arrays[3][i]);

		if (got == want)
			continue;
		if (!set.quiet && shown + wrong < SHOWN)
			fprintf(stderr,
				"%s(%" PRIx64 ", %" PRIx64 ", %" PRIx64 ") is %" PRIx64
				", expected %" PRIx64 "\n",
				f->name, x[0], x[1], x[2], got, want);
		wrong++;
	}
	return wrong;
}

static int is_each(const forms_case *f)
{
	return f->inputs == IN_F16_EACH || f->inputs == IN_BF16_EACH;
}

static uint64_t run_form(bench *b, uint32_t form)
{
	const uint64_t n = is_each(&forms_cases[form]) ? BATCH : set.cases;
	uint64_t wrong = 0, done = 0;

	if (set.apart)
		build(b, form);
	for (; done < n; done += BATCH) {
		run_batch(b, form, set.first + done);
		wrong += check_batch(b, &forms_cases[form],
				     (uint32_t)(wrong < SHOWN ? wrong : SHOWN));
	}
	printf("%-20s %12" PRIu64 " cases, %" PRIu64 " wrong\n", forms_cases[form].name, done,
	       wrong);
	fflush(stdout);
	return wrong;
}

static int is_chosen(uint32_t form)
{
	if (set.strict ? !forms_is_strict(&forms_cases[form])
		       : !(set.groups >> forms_cases[form].group & 1))
		return 0;
	if (set.exhaustive && !forms_cases[form].each)
		return 0;
	return !set.only || strcmp(set.only, forms_cases[form].name) == 0;
}

static void test_forms__equal_their_oracles(void **state)
{
	uint32_t n = 0, n_wrong = 0;
	bench b;

	(void)state;
	bench_open(&b);
	for (uint32_t i = 0; i < forms_n_cases; i++) {
		if (!is_chosen(i))
			continue;
		n++;
		n_wrong += run_form(&b, i) != 0;
	}
	bench_close(&b);
	assert_int_not_equal(n, 0);
	assert_int_equal(n_wrong, 0);
}

static void test_forms__the_fast_oracles_agree(void **state)
{
	forms_triple t;

	(void)state;
	for (uint32_t i = 0; i < forms_n_cases; i++) {
		const forms_case *f = &forms_cases[i];

		for (uint32_t k = 0; f->each && k < 20000; k++) {
			forms_input(f->inputs, set.seed, k, &t);
			if (f->each(t.x) != f->oracle(t.x))
				fail_msg("%s(%" PRIx64 ", %" PRIx64 "): %" PRIx64 " and %" PRIx64,
					 f->name, t.x[0], t.x[1], f->each(t.x), f->oracle(t.x));
		}
	}
}

static uint32_t number_of(const char *name)
{
	for (uint32_t i = 0; i < forms_n_cases; i++)
		if (strcmp(forms_cases[i].name, name) == 0)
			return i;
	fail_msg("there is no form %s", name);
	return 0;
}

static void test_forms__a_planted_fault_is_found(void **state)
{
	bench b;

	(void)state;
	set.planted = set.quiet = 1;
	set.groups = 1u << G_INT;
	bench_open(&b);
	assert_int_not_equal(run_form(&b, number_of("f32_add_int")), 0);
	assert_int_not_equal(run_form(&b, number_of("f32_mul_int")), 0);
	assert_int_equal(run_form(&b, number_of("f32_floor_int")), 0);
	bench_close(&b);
}

static uint32_t parse_groups(char *list)
{
	uint32_t groups = 0;

	for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
		const uint32_t before = groups;

		for (uint32_t i = 0; i < sizeof(group_names) / sizeof(group_names[0]); i++)
			if (strcmp(name, group_names[i]) == 0)
				groups |= 1u << i;
		if (groups == before)
			return 0;
	}
	return groups;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"plugin", required_argument, NULL, 'p'}, {"groups", required_argument, NULL, 'g'},
		{"cases", required_argument, NULL, 'n'},  {"seed", required_argument, NULL, 's'},
		{"only", required_argument, NULL, 'o'},	  {"first", required_argument, NULL, 'f'},
		{"exhaustive", no_argument, NULL, 'e'},	  {"apart", no_argument, NULL, 'a'},
		{"strict", no_argument, NULL, 'S'},	  {NULL, 0, NULL, 0}};
	const struct CMUnitTest one_form[] = {cmocka_unit_test(test_forms__equal_their_oracles)};
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms__equal_their_oracles),
					   cmocka_unit_test(test_forms__the_fast_oracles_agree),
					   cmocka_unit_test(test_forms__a_planted_fault_is_found)};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'p')
			set.plugin = optarg;
		else if (c == 'g')
			set.groups = parse_groups(optarg);
		else if (c == 'n')
			set.cases = strtoull(optarg, NULL, 10);
		else if (c == 's')
			set.seed = strtoull(optarg, NULL, 10);
		else if (c == 'o')
			set.only = optarg;
		else if (c == 'f')
			set.first = strtoull(optarg, NULL, 10);
		else if (c == 'e')
			set.exhaustive = 1;
		else if (c == 'a')
			set.apart = 1;
		else if (c == 'S')
			set.strict = 1;
		else
			return 2;
	}
	if (!set.plugin || !set.groups) {
		fprintf(stderr, "usage: test_forms --plugin FILE [--groups "
				"int,f64,normal,root,fused,exact] "
				"[--cases N] [--first N] [--seed N] [--only FORM] [--exhaustive] "
				"[--apart] [--strict]\n");
		return 2;
	}
	forms_each_open();
	if (set.only || set.exhaustive || set.strict)
		return cmocka_run_group_tests(one_form, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
