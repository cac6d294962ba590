/* Laws of compositions: every one that is derived from the shipped ops holds of the chain of references and compiles to a
 * kernel without a call, and every theorem is shown to fail when a part does not keep the law it declares. */
#include "test_proof_fake.h"

#include "planted/planted.h"
#include "evidence/proof/compose.h"
#include "evidence/proof/gates.h"

#define THEOREMS 19u

static pctl_derived *derive(libraries *libs, uint32_t dtype, pctl_arena *arena, uint32_t *n)
{
	const pctl_selection s = {.track = PCTL_TRACK_INTEGER, .level = 4};
	pctl_derived *out = NULL;

	assert_int_equal(pctl_derive(&libs->source, &s, dtype, arena, NULL, &out, n), PCTL_OK);
	return out;
}

static void test_compose__shipped_laws_hold(void **state)
{
	static const uint32_t dtypes[] = {PCTL_SCALAR_U32, PCTL_SCALAR_I32};
	pctl_arena *arena = pctl_arena_create();
	pctl_evaluator *reference = NULL;
	libraries libs;
	pctl_proof_context b;

	(void)state;
	libraries_begin(&libs);
	libraries_open(&libs, "int");
	b = libraries_bench(&libs);
	assert_int_equal(pctl_evaluator_reference(&b, NULL, &reference), PCTL_OK);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t n = 0;
		pctl_derived *d = derive(&libs, dtypes[i], arena, &n);

		assert_in_range(n, 60, 200);
		for (uint32_t k = 0; k < n; k++) {
			const pctl_program *program = NULL;
			pctl_block block;
			char why[128];

			if (pctl_gate_kernel(b.kernels, &d[k].composition->f, PCTL_GATE_TEXT,
					     d[k].composition->text, &program, why) != PCTL_OK)
				fail_msg("%s: %s", d[k].composition->subject, why);
			assert_true(pctl_gate_cost(program) != 0);
			if (k % 8 != 0) /* the rest on devices */
				continue;
			assert_int_equal(
				pctl_derived_check(&d[k], reference, reference, 3, NULL, &block),
				PCTL_OK);
			if (block.failures != 0)
				fail_msg("%s: %s: %s got %s want %s", d[k].composition->subject,
					 d[k].theorem, block.first.inputs, block.first.got,
					 block.first.want);
			assert_int_equal(block.cases + block.skipped, pctl_derived_cases(&d[k]));
			assert_true(block.cases > 0);
		}
	}
	pctl_evaluator_destroy(reference);
	pctl_kernels_destroy(b.kernels);
	pctl_arena_destroy(arena);
}

/* ---- liars ------------------------------------------------------------------------------------ */

static uint32_t eval_lying(uint32_t a, uint32_t b, uint32_t held)
{
	(void)held;
	return 3 * a + 5 * b + 1;
}

static uint32_t eval_lying_too(uint32_t a, uint32_t b, uint32_t held)
{
	(void)held;
	return 7 * a + 11 * b + 2;
}

static uint32_t eval_wild(uint32_t a, uint32_t b, uint32_t held)
{
	(void)held;
	(void)b;
	return 0x9e3779b9u * a + 3;
}

static uint32_t eval_wilder(uint32_t a, uint32_t b, uint32_t held)
{
	(void)held;
	(void)b;
	return 0x85ebca6bu * a + 5;
}

/* Laws that none of them keeps. */
static const pctl_law lies[] = {
	{.law = PCTL_LAW_COMMUTATIVE},
	{.law = PCTL_LAW_ASSOCIATIVE},
	{.law = PCTL_LAW_IDENTITY},
	{.law = PCTL_LAW_SELF_INVERSE},
	{.law = PCTL_LAW_IDEMPOTENT},
	{.law = PCTL_LAW_ABSORBING},
	{.law = PCTL_LAW_DISTRIBUTIVE_OVER, .other = "fake.over"},
};
static const pctl_law wild_lies[] = {
	{.law = PCTL_LAW_INVOLUTION},
	{.law = PCTL_LAW_MONOTONE},
	{.law = PCTL_LAW_BOUNDED, .b = 1},
	{.law = PCTL_LAW_DE_MORGAN, .other = "fake.lie", .dual = "fake.over"},
};

static void liars(fake_library *l)
{
	memset(l, 0, sizeof(*l));
	fake_add(l, "fake.lie", 2,
		 "fn fake_lie(a: u32, b: u32) -> u32 {\n\treturn a * 3u + b * 5u + 1u;\n}\n",
		 eval_lying, lies, 7);
	fake_add(l, "fake.over", 2,
		 "fn fake_over(a: u32, b: u32) -> u32 {\n\treturn a * 7u + b * 11u + 2u;\n}\n",
		 eval_lying_too, NULL, 0);
	fake_add(l, "fake.wild", 1,
		 "fn fake_wild(x: u32) -> u32 {\n\treturn x * 0x9e3779b9u + 3u;\n}\n", eval_wild,
		 wild_lies, 4);
	fake_add(l, "fake.wilder", 1,
		 "fn fake_wilder(x: u32) -> u32 {\n\treturn x * 0x85ebca6bu + 5u;\n}\n",
		 eval_wilder, wild_lies, 4);
}

static void test_compose__every_theorem_can_fail(void **state)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_evaluator *reference = NULL;
	const char *seen[THEOREMS + 1] = {NULL};
	uint32_t n = 0, theorems = 0;
	fake_library fakes;
	pctl_derived *d;
	libraries libs;
	pctl_proof_context b;

	(void)state;
	liars(&fakes);
	b = fake_bench(&fakes, &libs);
	assert_int_equal(pctl_evaluator_reference(&b, NULL, &reference), PCTL_OK);
	d = derive(&libs, PCTL_SCALAR_U32, arena, &n);
	for (uint32_t k = 0; k < n; k++) {
		char caught_by[256];
		pctl_block block;

		assert_int_equal(pctl_derived_check(&d[k], reference, reference, 3, NULL, &block),
				 PCTL_OK);
		if (block.failures == 0)
			fail_msg("%s: %s passes", d[k].composition->subject, d[k].theorem);
		assert_string_equal(block.first.law, d[k].theorem);
		if (theorems == 0 || seen[theorems - 1] != d[k].theorem) {
			assert_true(theorems < THEOREMS);
			seen[theorems++] = d[k].theorem;
			snprintf(caught_by, sizeof(caught_by), "theorem: %s", d[k].theorem);
			planted("a part does not keep the law it declares",
				d[k].composition->subject, caught_by,
				planted_case(block.first.inputs, block.first.got,
					     block.first.want));
		}
	}
	assert_int_equal(theorems, THEOREMS);
	pctl_evaluator_destroy(reference);
	pctl_kernels_destroy(b.kernels);
	pctl_arena_destroy(arena);
}

/* ---- a wrong kernel --------------------------------------------------------------------------- */

static pctl_status apply_wrong(void *ctx, const pctl_op_function *f, const pctl_column *in,
			       uint64_t n, pctl_column *out, const pctl_call *call)
{
	pctl_evaluator *reference = ctx;
	const pctl_status status = reference->apply(reference->ctx, f, in, n, out, call);

	/* Symmetric in both operands, so that only the chain of references can tell. */
	if (n > 300)
		out->data[0] ^= 1;
	return status;
}

static void test_compose__kernel_is_held_against_the_chain(void **state)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_evaluator *reference = NULL, wrong = {NULL, "wrong", apply_wrong, ""};
	pctl_block block;
	uint32_t n = 0;
	pctl_derived *d;
	libraries libs;
	pctl_proof_context b;

	(void)state;
	libraries_begin(&libs);
	libraries_open(&libs, "int");
	b = libraries_bench(&libs);
	assert_int_equal(pctl_evaluator_reference(&b, NULL, &reference), PCTL_OK);
	wrong.ctx = reference;
	d = derive(&libs, PCTL_SCALAR_U32, arena, &n);
	assert_int_equal(pctl_derived_check(&d[0], &wrong, reference, 3, NULL, &block), PCTL_OK);
	assert_true(block.failures > 0);
	assert_string_equal(block.first.law, "the chain of references");
	planted("a composition's kernel is wrong and keeps its law", d[0].composition->subject,
		block.first.law,
		planted_case(block.first.inputs, block.first.got, block.first.want));
	pctl_evaluator_destroy(reference);
	pctl_kernels_destroy(b.kernels);
	pctl_arena_destroy(arena);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_compose__shipped_laws_hold),
		PCTL_TEST(test_compose__every_theorem_can_fail),
		PCTL_TEST(test_compose__kernel_is_held_against_the_chain))
