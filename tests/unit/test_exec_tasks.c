/* Tasks on a fake backend that records what it is asked: how few calls there are, where bytes lie, how work is cut, and
 * that no failing call loses anything. Real devices: tests/integration/executor. */
#include "test_exec_tasks.h"

#define HEADED                                                                              \
	"struct P { @size(4) @align(4) a: u32, @size(4) @align(4) b: u32 }\n"               \
	"struct S { @size(8) @align(4) head: array<u32, 2>, @align(4) rest: array<u32> }\n" \
	"@group(0) @binding(0) var<storage, read> x: S;\n"                                  \
	"@group(0) @binding(1) var<uniform> p: P;\n"                                        \
	"@group(1) @binding(0) var<storage, read_write> y: array<u32>;\n"                   \
	"@compute @workgroup_size(1)\n"                                                     \
	"fn main() { y[0] = x.head[1] + x.rest[0] + p.b; }\n"
#define WRITES_TWO                                                        \
	"@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n" \
	"@group(1) @binding(0) var<storage, read_write> y: array<u32>;\n" \
	"@compute @workgroup_size(1)\n"                                   \
	"fn main() { x[0] = 1u; y[0] = 2u; }\n"

static void test_exec_tasks__one_list_for_all(void **state)
{
	pctl_task_stats stats;
	struct bench b;

	(void)state;
	bench_open(&b, 64, 1u << 20);
	for (uint32_t i = 0; i < 50; i++)
		(void)add(&b, 40 + 4 * (i % 7), 52, i, 1);
	assert_int_equal(pctl_tasks_check(b.tasks, b.n, b.call), PCTL_OK);
	assert_int_equal(pctl_tasks_qualify(b.s, b.tasks, b.n, b.call), PCTL_OK);
	assert_int_equal(run(&b, NULL, &stats), PCTL_OK);
	expect(&b);
	assert_int_equal(log_.submits, 1);
	assert_int_equal(log_.lists, 1);
	assert_int_equal(log_.dispatches, 50);
	assert_int_equal(log_.barriers, 0);
	assert_int_equal(log_.buffers, 2);
	assert_int_equal(log_.writes, 1);
	assert_int_equal(log_.reads, 1);
	assert_int_equal(stats.submits, 1);
	assert_int_equal(stats.dispatches, 50);
	assert_int_equal(stats.bytes_down, 50 * 52);
	for (uint32_t i = 0; i < 50; i++) {
		assert_true(log_.traces[i] == pctl_trace(b.names[i], 0, 0));
		/* Outputs lie side by side, each in a place of its own. */
		assert_int_equal(log_.bound[i][1].offset, 64 * i);
	}
	bench_close(&b);
}

static void test_exec_tasks__equal_cids_share(void **state)
{
	pctl_task_stats stats;
	struct bench b;

	(void)state;
	bench_open(&b, 16, 1u << 20);
	(void)add(&b, 64, 64, 1, 1);
	(void)add(&b, 64, 64, 1, 1);
	(void)add(&b, 64, 64, 2, 1);
	(void)add(&b, 64, 64, 1, 0); /* the same bytes, no name */
	assert_int_equal(run(&b, NULL, &stats), PCTL_OK);
	expect(&b);
	assert_int_equal(stats.bytes_up, 3 * 64);
	assert_int_equal(log_.bound[0][0].offset, log_.bound[1][0].offset);
	assert_int_not_equal(log_.bound[0][0].offset, log_.bound[2][0].offset);
	assert_int_not_equal(log_.bound[0][0].offset, log_.bound[3][0].offset);
	bench_close(&b);
}

/* Programs of strangers: each another kernel, of which a bounded number stays, the last ones asked for; the rest is built again. */
static void test_exec_tasks__kernels_are_bounded(void **state)
{
	enum { MANY = 40, KEPT = 16 };
	char text[sizeof(COPY)];
	struct bench b;
	int alive;

	(void)state;
	bench_open(&b, 16, 1u << 20);
	alive = log_.alive;
	for (uint32_t i = 0; i < MANY; i++) {
		memcpy(text, COPY, sizeof(text));
		strstr(text, "size(64)")[5] = (char)('2' + i / 10); /* of 20 to 59 invocations */
		strstr(text, "4)\n")[0] = (char)('0' + i % 10);
		add(&b, 64, 64, i, 1)->unit = unit_of(&b, text);
	}
	assert_int_equal(run(&b, NULL, NULL), PCTL_OK);
	expect(&b);
	assert_int_equal(pctl_session_kernels_kept(b.s), MANY);
	assert_int_equal(log_.alive - alive, MANY);
	/* At the bound nothing goes. */
	assert_int_equal(pctl_session_forget_kernels(b.s, MANY, b.call), PCTL_OK);
	assert_int_equal(pctl_session_kernels_kept(b.s), MANY);
	/* The first is asked for once more, and so is among those that stay. */
	b.n = 1;
	assert_int_equal(run(&b, NULL, NULL), PCTL_OK);
	assert_int_equal(pctl_session_forget_kernels(b.s, KEPT, b.call), PCTL_OK);
	assert_int_equal(pctl_session_kernels_kept(b.s), KEPT / 2);
	assert_int_equal(log_.alive - alive, KEPT / 2);
	assert_int_equal(run(&b, NULL, NULL), PCTL_OK);
	assert_int_equal(pctl_session_kernels_kept(b.s), KEPT / 2);
	/* All again: those that went are built anew, and the bytes are the same. */
	b.n = MANY;
	assert_int_equal(run(&b, NULL, NULL), PCTL_OK);
	expect(&b);
	assert_int_equal(pctl_session_kernels_kept(b.s), MANY);
	bench_close(&b);
}

static void test_exec_tasks__cut_by_limits(void **state)
{
	const pctl_task_limits bytes = {.submit_bytes = 4096}, few = {.submit_tasks = 7};
	struct bench b;

	(void)state;
	bench_open(&b, 64, 1u << 20);
	for (uint32_t i = 0; i < 40; i++)
		(void)add(&b, 256, 256, i, 1);
	assert_int_equal(run(&b, &bytes, NULL), PCTL_OK);
	expect(&b);
	assert_int_equal(log_.submits, 5);
	assert_true(log_.most_bytes <= 4096);
	log_.submits = 0;
	assert_int_equal(run(&b, &few, NULL), PCTL_OK);
	expect(&b);
	assert_int_equal(log_.submits, 6);
	/* One that is larger than all runs alone. */
	(void)add(&b, 8192, 256, 41, 1);
	log_.submits = 0;
	assert_int_equal(run(&b, &bytes, NULL), PCTL_OK);
	expect(&b);
	assert_int_equal(log_.submits, 6);
	assert_int_equal(log_.most_bytes, 8192 + 256);
	bench_close(&b);
}

/* Inputs and outputs of more than one buffer, some larger than a stage. */
static void test_exec_tasks__many_buffers(void **state)
{
	static const uint64_t sizes[] = {100, 5u << 20, 60, 3000000, 3000000, 12, 700000, 2};
	struct bench b;

	(void)state;
	bench_open(&b, 256, 6u << 20);
	for (uint32_t i = 0; i < 24; i++)
		(void)add(&b, sizes[i % 8], sizes[(i + 3) % 8], i, i % 2 == 0);
	assert_int_equal(run(&b, NULL, NULL), PCTL_OK);
	expect(&b);
	assert_int_equal(log_.submits, 1);
	assert_true(log_.buffers > 4);
	bench_close(&b);
}

static void test_exec_tasks__nothing_is_valid(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b, 64, 1u << 20);
	(void)add(&b, 0, 0, 1, 1);
	add(&b, 64, 64, 2, 1)->groups[1] = 0;
	(void)add(&b, 64, 0, 3, 1);
	assert_int_equal(run(&b, NULL, NULL), PCTL_OK);
	expect(&b);
	assert_int_equal(log_.calls, 0); /* no device is needed for it */
	(void)add(&b, 0, 64, 4, 1);
	assert_int_equal(run(&b, NULL, NULL), PCTL_OK);
	expect(&b);
	assert_int_equal(log_.dispatches, 1);
	b.tasks[3].n_bindings = 0;
	assert_int_equal(pctl_tasks_run(b.s, &(pctl_task_limits){0}, b.tasks, 0, b.call, NULL),
			 PCTL_OK);
	bench_close(&b);
}

static void refuse(struct bench *b, const pctl_task *t, const char *want)
{
	const uint32_t before = pctl_diag_list_count(b->l);
	const pctl_diag *d;

	assert_int_equal(pctl_tasks_check(t, 1, b->call), PCTL_E_INVALID);
	assert_int_equal(pctl_diag_list_count(b->l), before + 1);
	d = pctl_diag_list_at(b->l, before);
	assert_int_equal(d->code, PC5831_TASK_BINDING);
	assert_non_null(strstr(d->message, want));
}

static void test_exec_tasks__bindings_are_checked(void **state)
{
	struct bench b;
	pctl_task t;

	(void)state;
	bench_open(&b, 64, 1u << 20);
	t = *add(&b, 64, 64, 1, 1);
	assert_int_equal(pctl_tasks_check(&t, 1, b.call), PCTL_OK);
	b.bindings[0][1] = (pctl_task_binding){0, 7, NULL, "", 0};
	t.n_bindings = 2; /* what the program does not have is no matter */
	assert_int_equal(pctl_tasks_check(&t, 1, b.call), PCTL_OK);
	b.bindings[0][1].binding = 0;
	refuse(&b, &t, "bound 2 times");
	b.bindings[0][1].group = 1;
	refuse(&b, &t, "group 1 binding 0 is bound 2 times");
	t.n_bindings = 0;
	refuse(&b, &t, "bound 0 times");
	t.n_bindings = 1;
	t.unit = unit_of(&b, WRITES_TWO);
	refuse(&b, &t, "is written and is not the output");
	t.unit = unit_of(&b, HEADED);
	t.n_bindings = 2;
	b.bindings[0][1] = (pctl_task_binding){0, 1, NULL, "12345678", 8};
	assert_int_equal(pctl_tasks_check(&t, 1, b.call), PCTL_OK);
	b.bindings[0][1].n_bytes = 7;
	refuse(&b, &t, "gets 7 bytes, its type has 8");
	b.bindings[0][1].n_bytes = 0;
	assert_int_equal(pctl_tasks_check(&t, 1, b.call), PCTL_OK);
	b.bindings[0][0].n_bytes = 4;
	refuse(&b, &t, "gets 4 bytes, its type has 8");
	b.bindings[0][0].n_bytes = 8;
	assert_int_equal(pctl_tasks_check(&t, 1, b.call), PCTL_OK);
	bench_close(&b);
}

static void test_exec_tasks__over_a_limit_of_the_device(void **state)
{
	struct bench b;
	pctl_task *t;

	(void)state;
	bench_open(&b, 64, 1u << 20);
	t = add(&b, 64, 64, 1, 1);
	t->groups[2] = 65536;
	assert_int_equal(pctl_tasks_qualify(b.s, b.tasks, 1, b.call), PCTL_E_LIMIT);
	t->groups[2] = 1;
	assert_int_equal(pctl_tasks_qualify(b.s, b.tasks, 1, b.call), PCTL_OK);
	t->n_output = (1u << 20) + 4;
	assert_int_equal(pctl_tasks_qualify(b.s, b.tasks, 1, b.call), PCTL_E_LIMIT);
	t->n_output = 64;
	bench_close(&b);
}

static void test_exec_tasks__a_failure_anywhere_loses_nothing(void **state)
{
	pctl_shapes shapes = {.seed = 3};
	const pctl_task_limits few = {.submit_tasks = 2, .shapes = &shapes};
	pctl_status status = PCTL_E_DEVICE_LOST;
	uint32_t at = 0;

	(void)state;
	while (status != PCTL_OK) {
		struct bench b;

		bench_open(&b, 64, 1u << 20);
		for (uint32_t i = 0; i < 5; i++)
			(void)add(&b, 64, 64, i, 1);
		log_.fail_at = ++at;
		status = run(&b, &few, NULL);
		assert_true(status == PCTL_OK || status == PCTL_E_DEVICE_LOST);
		bench_close(&b);
	}
	assert_true(at > 20);
}

static uint32_t always(void *ctx)
{
	(void)ctx;
	return 1;
}

static void test_exec_tasks__stops(void **state)
{
	pctl_task_limits soon = {.timeout_ms = 5};
	struct bench b;

	(void)state;
	/* The submit has to begin in that time: on a machine that has other work, once more with longer. */
	for (;; soon.timeout_ms *= 2) {
		bench_open(&b, 64, 1u << 20);
		(void)add(&b, 64, 64, 1, 1);
		log_.never_done = 1;
		assert_int_equal(run(&b, &soon, NULL), PCTL_E_TIMEOUT);
		assert_int_equal(pctl_diag_list_at(b.l, 0)->code, PC5206_TIMEOUT);
		if (log_.submits != 0 || soon.timeout_ms > 60000)
			break;
		bench_close(&b);
	}
	assert_int_equal(log_.cancels, 1);
	log_.cancels = 0;
	pctl_diag_list_set_cancel(b.l, always, NULL);
	assert_int_equal(run(&b, NULL, NULL), PCTL_E_CANCELLED);
	bench_close(&b);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_exec_tasks__one_list_for_all),
		PCTL_TEST(test_exec_tasks__equal_cids_share),
		PCTL_TEST(test_exec_tasks__kernels_are_bounded),
		PCTL_TEST(test_exec_tasks__cut_by_limits), PCTL_TEST(test_exec_tasks__many_buffers),
		PCTL_TEST(test_exec_tasks__nothing_is_valid),
		PCTL_TEST(test_exec_tasks__bindings_are_checked),
		PCTL_TEST(test_exec_tasks__over_a_limit_of_the_device),
		PCTL_TEST(test_exec_tasks__a_failure_anywhere_loses_nothing),
		PCTL_TEST(test_exec_tasks__stops))
