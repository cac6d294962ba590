/* Zones around the spans of tasks, on a fake backend: they cost few calls, and no stray byte is missed. On real devices, and
 * with the faults of the mock: tests/integration/executor. */
#include "test_exec_tasks.h"

static pctl_shapes shapes_of(const struct bench *b, uint64_t seed)
{
	pctl_shapes shapes = {.seed = seed};

	assert_int_equal(pctl_shapes_block(&shapes, 0, b->call), PCTL_OK);
	return shapes;
}

/* As few calls as without zones, but for one write of outputs and one read of inputs; other zones each time. */
static void test_exec_tasks_zones__few_calls(void **state)
{
	uint64_t first = 0, differ = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct bench b;
		pctl_shapes shapes;
		pctl_task_limits limits = {.shapes = &shapes};

		bench_open(&b, 64, 1u << 20);
		shapes = shapes_of(&b, seed);
		for (uint32_t i = 0; i < 50; i++)
			(void)add(&b, 38 + 2 * (i % 7), 50 + i % 3, i, 1);
		assert_int_equal(run(&b, &limits, NULL), PCTL_OK);
		expect(&b);
		assert_int_equal(log_.submits, 1);
		assert_int_equal(log_.writes, 2);
		assert_int_equal(log_.reads, 2);
		for (uint32_t i = 0; i < 50; i++) {
			const pctl_binding *out = &log_.bound[i][1];

			assert_true(out->offset >=
				    (i == 0 ? 256 : out[-2].offset + out[-2].n_bytes + 16));
		}
		first = seed == 1 ? log_.bound[0][1].offset : first;
		differ += log_.bound[0][1].offset != first;
		bench_close(&b);
	}
	assert_true(differ != 0);
}

/* Is a byte of buffer `number` an output's, or of the bytes that round a span up to whole words. */
static int is_free(const struct bench *b, uint32_t number, uint64_t at)
{
	for (uint32_t i = 0; i < b->n; i++)
		for (uint32_t g = 0; g < 2; g++) {
			const pctl_binding *s = &log_.bound[i][g];
			const uint64_t end = s->offset + s->n_bytes;

			if (s->buffer == log_.made[number] && at >= (g == 1 ? s->offset : end) &&
			    at < (end + 3) / 4 * 4)
				return 1;
		}
	return 0;
}

/* PC5224, PC5223: every byte of every buffer that is no output's. */
static void test_exec_tasks_zones__a_stray_byte(void **state)
{
	uint32_t zones = 0, inputs = 0, outputs = 0;

	(void)state;
	for (uint32_t number = 0; number < 2; number++) {
		uint64_t left = 1;

		for (uint64_t at = 0; left != 0; at++) {
			pctl_shapes shapes;
			pctl_task_limits limits = {.shapes = &shapes};
			struct bench b;
			pctl_status status;

			bench_open(&b, 16, 1u << 20);
			shapes = shapes_of(&b, 5);
			(void)add(&b, 6, 10, 1, 1);
			(void)add(&b, 24, 4, 2, 0);
			(void)add(&b, 64, 21, 3, 1);
			log_.stray = number + 1;
			log_.stray_at = at;
			status = run(&b, &limits, NULL);
			left = log_.stray_left;
			if (left == 0 || is_free(&b, number, at)) {
				assert_int_equal(status, PCTL_OK);
				outputs += left != 0;
			} else {
				const uint32_t code = pctl_diag_list_at(b.l, 0)->code;

				assert_int_equal(status, PCTL_E_MISMATCH);
				assert_true(code == PC5224_GUARD || code == PC5223_NOT_HELD);
				zones += code == PC5224_GUARD;
				inputs += code == PC5223_NOT_HELD;
			}
			bench_close(&b);
		}
	}
	assert_int_equal(inputs, 6 + 24 + 64);
	assert_int_equal(outputs, 2 + 12 + 4 + 24);
	assert_true(zones > 4 * 256);
}

/* What is large and only read is read back where all of it is to be held, and else its zones are; where a buffer may not be
 * larger, it has none. */
static void test_exec_tasks_zones__large_ones(void **state)
{
	static const struct {
		uint64_t n, most, at;
		uint32_t held, code;
	} cases[] = {{100000, 1u << 20, 90000, 0, 0},
		     {100000, 1u << 20, 90000, 1, PC5223_NOT_HELD},
		     {3000000, 4u << 20, 2900000, 0, 0},
		     {3000000, 4u << 20, 2900000, 1, PC5223_NOT_HELD},
		     {3000000, 4u << 20, UINT64_MAX, 0, PC5224_GUARD},
		     {3000000, 3000000, 2900000, 0, 0},
		     {3000000, 3000000, 2900000, 1, PC5223_NOT_HELD}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pctl_shapes shapes;
		pctl_task_limits limits = {.shapes = &shapes, .held = cases[i].held};
		struct bench b;

		bench_open(&b, 256, cases[i].most);
		shapes = shapes_of(&b, i);
		(void)add(&b, 64, 64, 1, 1);
		(void)add(&b, cases[i].n, cases[i].n, 2, 1);
		assert_int_equal(run(&b, &limits, NULL), PCTL_OK);
		expect(&b);
		log_.buffers = 0;
		for (log_.stray = 1; log_.made[log_.stray - 1] != log_.bound[1][0].buffer;)
			log_.stray++;
		log_.stray_at = log_.bound[1][0].offset +
				(cases[i].at == UINT64_MAX ? cases[i].n : cases[i].at);
		shapes = shapes_of(&b, i);
		log_.dispatches = 0;
		assert_int_equal(run(&b, &limits, NULL),
				 cases[i].code == 0 ? PCTL_OK : PCTL_E_MISMATCH);
		assert_true(log_.stray_left != 0);
		if (cases[i].code != 0)
			assert_int_equal(pctl_diag_list_at(b.l, 0)->code, cases[i].code);
		bench_close(&b);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(test_exec_tasks_zones__few_calls),
		PCTL_TEST(test_exec_tasks_zones__a_stray_byte),
		PCTL_TEST(test_exec_tasks_zones__large_ones))
