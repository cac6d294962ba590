/* Compositions and baselines on a real session: the cpu backend, in this process. */
#include "test_proof_libraries.h"

#include "pipectl/backend.h"
#include "evidence/proof/gates.h"

static pctl_session *open_cpu(void)
{
	pctl_session_options o = {.name = "cpu", .id = "cpu", .device_kind = PCTL_DEVICE_REFERENCE};
	pctl_session *s = NULL;
	const pctl_plugin *plugin;

	o.inst = libraries_plugin(PIPECTL_BINARY_DIR "/plugins/cpu.so", &plugin);
	o.table = plugin->interface(o.inst, PCTL_BACKEND_INTERFACE);
	assert_int_equal(pctl_session_open(&o, NULL, &s), PCTL_OK);
	return s;
}

static pctl_proof_context context(libraries *libs)
{
	pctl_proof_context b;

	libraries_begin(libs);
	libraries_open(libs, "ieee");
	libraries_open(libs, "int");
	b = libraries_bench(libs);
	b.device = open_cpu();
	return b;
}

/* Every step-th unit of a list; under sanitizers one of five of these. */
static void run_some(pctl_proof_context *b, pctl_units *list, uint32_t step, uint32_t kind)
{
	for (uint32_t i = 0; i < list->n; i += PCTL_TEST_SANITIZED ? 5 * step : step) {
		const pctl_unit *u = &list->units[i];
		pctl_block block, again;

		assert_int_equal(u->kind, kind);
		assert_int_equal(u->level, 4);
		assert_int_equal(strlen(u->program), PCTL_CID_TEXT_SIZE - 1);
		assert_int_equal(u->run(u, b, 0, NULL, &block), PCTL_OK);
		if (block.failures != 0)
			fail_msg("%s: %s: %s", u->subject, block.first.law, block.first.inputs);
		assert_int_equal(block.cases + block.skipped, u->n_cases);
		if (kind == PCTL_UNIT_BASELINE) {
			assert_non_null(strstr(block.value, "elements/s"));
			assert_true(strtod(block.value, NULL) > 0);
		} else if (i == 0) {
			assert_int_equal(u->run(u, b, 0, NULL, &again), PCTL_OK);
			assert_memory_equal(block.digest, again.digest, sizeof(block.digest));
		}
	}
}

static void close_bench(pctl_proof_context *b, pctl_units *list)
{
	pctl_units_destroy(list);
	pctl_session_close(b->device);
	pctl_kernels_destroy(b->kernels);
}

static void test_baseline__compositions_on_a_device(void **state)
{
	const pctl_selection s = {.track = PCTL_TRACK_INTEGER, .level = 4};
	pctl_units *list = NULL;
	libraries libs;
	pctl_proof_context b = context(&libs);

	(void)state;
	assert_int_equal(pctl_units_create(NULL, &list), PCTL_OK);
	assert_int_equal(pctl_composition_units(&b, &s, NULL, list), PCTL_OK);
	assert_in_range(list->n, 120, 400);
	for (uint32_t i = 0; i < list->n; i++)
		for (uint32_t k = 0; k < i; k++)
			if (strcmp(list->units[i].subject, list->units[k].subject) == 0)
				assert_string_not_equal(list->units[i].name, list->units[k].name);
	run_some(&b, list, 29, PCTL_UNIT_COMPOSITION);
	close_bench(&b, list);
}

/* Of floats: what needs no guard, and one kernel against its ops one by one, on three types. */
static void test_baseline__compositions_of_floats(void **state)
{
	const pctl_selection s = {.track = PCTL_TRACK_FLOAT,
				  .level = 4,
				  .ops = "ieee.add,ieee.sub,ieee.mul,ieee.neg,ieee.max"};
	uint32_t unfused = 0, contracted = 0, commutative = 0;
	pctl_units *list = NULL;
	libraries libs;
	pctl_proof_context b = context(&libs);

	(void)state;
	assert_int_equal(pctl_units_create(NULL, &list), PCTL_OK);
	assert_int_equal(pctl_composition_units(&b, &s, NULL, list), PCTL_OK);
	for (uint32_t i = 0; i < list->n; i++) {
		unfused += strncmp(list->units[i].name, "unfused", 7) == 0;
		contracted += strncmp(list->units[i].name, "sum of a product", 16) == 0;
		commutative += strncmp(list->units[i].name, "commutative", 11) == 0;
		assert_int_equal(list->units[i].track, PCTL_TRACK_FLOAT);
		assert_null(strstr(list->units[i].name, "identity"));
	}
	assert_int_equal(unfused, 3 * 10 * 3);
	assert_int_equal(contracted, 3);
	assert_true(commutative > 0);
	run_some(&b, list, 7, PCTL_UNIT_COMPOSITION);
	close_bench(&b, list);
}

static void test_baseline__throughput_is_measured(void **state)
{
	const pctl_selection s = {
		.track = PCTL_TRACK_INTEGER, .level = 4, .ops = "int.add*,int.eq"};
	pctl_units *list = NULL;
	libraries libs;
	pctl_proof_context b = context(&libs);

	(void)state;
	assert_int_equal(pctl_units_create(NULL, &list), PCTL_OK);
	assert_int_equal(pctl_baseline_units(&b, &s, NULL, list), PCTL_OK);
	assert_int_equal(list->n, 8); /* on four types each */
	assert_string_equal(list->units[0].op, "int.add@1");
	run_some(&b, list, 3, PCTL_UNIT_BASELINE);
	close_bench(&b, list);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_baseline__compositions_on_a_device),
		PCTL_TEST(test_baseline__compositions_of_floats),
		PCTL_TEST(test_baseline__throughput_is_measured))
