/* Estimates are upper bounds: programs run on the reference backend, which counts, and what it
 * counted is priced with the same schedule. What is proven in bounds or free of races is held
 * against what the reference saw. */
#include <stdlib.h>

#include "runtime/gas/gas.h"
#include "main.h"
#include "compiler/eval/specialise.h"
#include "rig.h"
#include "test_ir_samples.h"

/* Run p on buffers of n words that all hold `word`; counts and the number of races seen. */
static void run_counted(rig *r, const pctl_program *p, const uint32_t groups[3], uint32_t n,
			uint32_t word, pctl_counts *counts, uint32_t *races)
{
	pctl_binding bindings[8] = {{0}};
	pctl_finding findings[16];
	uint32_t i, j, n_bindings = 0, n_findings = 0;
	pctl_kernel *kernel;
	uint8_t *wire = NULL;
	uint64_t size = 0;

	assert_int_equal(pctl_program_encode(p, NULL, &wire, &size), PCTL_OK);
	kernel = rig_build(r, wire, size, PCTL_BUILD_COUNT | PCTL_BUILD_SANITIZE);
	for (i = 0; i < p->n_vars; i++) {
		pctl_binding *x = &bindings[n_bindings];

		if (p->vars[i].space != PCTL_SPACE_UNIFORM &&
		    p->vars[i].space != PCTL_SPACE_STORAGE)
			continue;
		x->group = p->vars[i].group;
		x->binding = p->vars[i].binding;
		x->n_bytes = 4ull * n;
		rig_must(r,
			 r->api->buffer_create(r->dev, NULL, x->n_bytes,
					       PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM |
						       PCTL_BUFFER_TRANSFER,
					       &x->buffer),
			 "buffer_create");
		for (j = 0; j < n; j++)
			rig_must(r,
				 r->api->buffer_write(r->dev, NULL, x->buffer, 4ull * j, &word, 4),
				 "buffer_write");
		n_bindings++;
	}
	rig_dispatch(r, kernel, bindings, n_bindings, groups);
	rig_must(r, r->api->counts(r->dev, NULL, counts), "counts");
	rig_must(r, r->api->findings(r->dev, NULL, 16, findings, &n_findings), "findings");
	for (i = 0, *races = 0; i < n_findings && i < 16; i++)
		*races += findings[i].kind == PCTL_FINDING_RACE;
	for (i = 0; i < n_bindings; i++)
		r->api->buffer_destroy(r->dev, bindings[i].buffer);
	r->api->kernel_destroy(r->dev, kernel);
	free(wire);
}

static void hold(pctl_builder *b, uint32_t n, uint32_t word)
{
	static const char *const files[] = {PIPECTL_SOURCE_DIR "/conf/gas/cybergraph-0.2.cfg",
					    PIPECTL_SOURCE_DIR "/conf/gas/structured-2.cfg",
					    PIPECTL_SOURCE_DIR "/conf/gas/structured-3.cfg"};
	pctl_gas_query q = {.groups = {4, 1, 1}};
	const pctl_analysis_query query = {.groups = q.groups};
	pctl_counts counts = {.head = PCTL_HEAD(pctl_counts)};
	pctl_program *p = NULL, *special = NULL;
	pctl_analysis *a = NULL;
	uint64_t actual;
	uint32_t races, i;
	rig r;

	rig_open(&r, PIPECTL_BINARY_DIR "/plugins/cpu.so");
	assert_int_equal(pctl_builder_finish(b, NULL, &p), PCTL_OK);
	pctl_builder_destroy(b);
	assert_int_equal(pctl_program_specialise(p, NULL, NULL, 0, NULL, &special), PCTL_OK);
	assert_int_equal(pctl_program_analyse(special, &query, NULL, &a), PCTL_OK);
	run_counted(&r, special, q.groups, n, word, &counts, &races);
	if (a->race == PCTL_PROOF_PROVEN)
		assert_int_equal(races, 0);
	q.program = special;
	q.analysis = a;
	for (i = 0; i < 3; i++) {
		pctl_gas_schedule *s = NULL;
		pctl_gas_price price;

		assert_int_equal(pctl_gas_schedule_read(files[i], NULL, &s), PCTL_OK);
		assert_int_equal(pctl_gas_price_of(s, &q, NULL, &price), PCTL_OK);
		assert_int_equal(pctl_gas_actual(s, &counts, NULL, &actual), PCTL_OK);
		assert_true(actual > 0);
		assert_true(actual <= price.dispatch);
		pctl_gas_schedule_destroy(s);
	}
	pctl_analysis_destroy(a);
	pctl_program_destroy(special);
	pctl_program_destroy(p);
	rig_close(&r);
}

static void straight(void **state)
{
	(void)state;
	hold(sample_guarded(), 1024, 3); /* all in bounds */
	hold(sample_guarded(), 5, 3);	 /* most stop at the guard */
}

/* The loop runs as often as its declared maximum allows, and not at all. */
static void looping(void **state)
{
	(void)state;
	hold(sample_everything(), 4096, 64);
	hold(sample_everything(), 4096, 0);
}

/* Strict floats in three formats and a table, all through the loop and stopped by the condition. */
static void floating(void **state)
{
	(void)state;
	hold(sample_floats(), 1024, 0x3f800000);
	hold(sample_floats(), 1024, 0x7f000000);
	hold(sample_floats(), 7, 0xbf800001);
}

PCTL_TESTS_MAIN(PCTL_TEST(straight), PCTL_TEST(looping), PCTL_TEST(floating))
