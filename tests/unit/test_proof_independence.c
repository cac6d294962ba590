/* The independence gate and collisions: laws that say nothing, that nothing breaks, that are of another op or false;
 * alternates that are none; an oracle that copies; ops that their laws do not tell apart. */
#include "test_proof_fake.h"

#include "planted/planted.h"
#include "evidence/proof/gates.h"

static uint32_t eval_add(uint32_t a, uint32_t b, uint32_t held)
{
	(void)held;
	return a + b;
}

static uint32_t eval_sub(uint32_t a, uint32_t b, uint32_t held)
{
	(void)held;
	return a - b;
}

static uint32_t eval_not(uint32_t a, uint32_t b, uint32_t held)
{
	(void)b;
	(void)held;
	return ~a;
}

static uint32_t eval_held(uint32_t a, uint32_t b, uint32_t held)
{
	return held != 0 ? held : a + b;
}

#define ADD "fn fake_add(a: u32, b: u32) -> u32 {\n\treturn a + b;\n}\n"
#define SUB "fn fake_sub(a: u32, b: u32) -> u32 {\n\treturn a - b;\n}\n"
#define NOT "fn fake_not(x: u32) -> u32 {\n\treturn ~x;\n}\n"

static const pctl_law good_laws[] = {
	{.law = PCTL_LAW_COMMUTATIVE},
	{.law = PCTL_LAW_ASSOCIATIVE},
	{.law = PCTL_LAW_IDENTITY},
	FAKE_LAW("not(add(not(a), b)) = sub(a, b)"),
};
static const pctl_law sub_laws[] = {{.law = PCTL_LAW_SELF_INVERSE}, FAKE_LAW("sub(a, 0) = a")};
static const pctl_law not_laws[] = {{.law = PCTL_LAW_INVOLUTION}};

static fake_row *ops(fake_library *l, const pctl_law *laws, uint32_t n)
{
	memset(l, 0, sizeof(*l));
	fake_add(l, "fake.add", 2, ADD, eval_add, laws, n);
	fake_add(l, "fake.sub", 2, SUB, eval_sub, sub_laws, 2);
	fake_add(l, "fake.not", 1, NOT, eval_not, not_laws, 1);
	return &l->rows[0];
}

static pctl_block gate(fake_library *l, pctl_gate_checks checks)
{
	libraries libs;
	pctl_proof_context b = fake_bench(l, &libs);
	pctl_block block;
	pctl_op_ref op;

	libs.source.at(libs.source.ctx, 0, &op);
	assert_int_equal(pctl_gate_run(&op, checks, &b, NULL, &block), PCTL_OK);
	assert_true(block.cases > 0);
	pctl_kernels_destroy(b.kernels);
	return block;
}

static void refused(const pctl_block *block, const char *spoilt, const char *name, const char *why)
{
	char caught_by[300];

	assert_int_equal(block->failures, 1);
	assert_string_equal(block->first.law, name);
	assert_string_equal(block->first.inputs, "fake.add@1");
	if (strstr(block->first.got, why) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", block->first.got, why);
	snprintf(caught_by, sizeof(caught_by), "gate: %s", block->first.law);
	planted(spoilt, block->first.inputs, caught_by, block->first.got);
}

/* The op with its good laws and this one. */
static void law_refused(const char *text, const char *name, const char *why)
{
	pctl_law laws[2] = {{.law = PCTL_LAW_COMMUTATIVE}, FAKE_LAW(text)};
	char spoilt[128];
	fake_library l;
	pctl_block block;

	ops(&l, laws, 2);
	block = gate(&l, pctl_gate_independence);
	assert_int_equal(block.cases, 4);
	snprintf(spoilt, sizeof(spoilt), "declared a law: %s", text);
	refused(&block, spoilt, name, why);
}

static void test_independence__good_laws_pass(void **state)
{
	fake_library l;
	pctl_block block;

	(void)state;
	ops(&l, good_laws, 4);
	block = gate(&l, pctl_gate_independence);
	if (block.failures != 0)
		fail_msg("%s: %s", block.first.law, block.first.got);
	assert_int_equal(block.cases, 6);
	assert_string_equal(block.value, "no mutant alive");
}

static void test_independence__tautologies(void **state)
{
	(void)state;
	law_refused("add(a, b) = add(a, b)", "independent law", "tautological");
	law_refused("fake.add(a, not(b)) = add(a, fake.not(b))", "independent law", "tautological");
	law_refused("add(x, 0x0) >= add(a, 0)", "independent law", "tautological");
}

static void test_independence__foreign_laws(void **state)
{
	(void)state;
	law_refused("not(not(a)) = a", "independent law", "foreign");
	law_refused("add(a, b) = 3: sub(a, a) = 0", "independent law", "foreign");
}

static void test_independence__vacuous_laws(void **state)
{
	(void)state;
	law_refused("add(a, b) >= 0", "independent law", "vacuous");
	law_refused("a < 0: add(a, b) = b", "independent law", "vacuous");
	law_refused("sub(add(a, b), add(a, b)) = 0", "independent law", "vacuous");
}

static void test_independence__false_and_unread_laws(void **state)
{
	fake_library l;
	pctl_block block;
	static const pctl_law prose[] = {{.law = PCTL_LAW_COMMUTATIVE},
					 FAKE_LAW("adds, as one would think")};

	(void)state;
	law_refused("add(a, b) = sub(a, b)", "independent law", "false");
	ops(&l, prose, 2);
	block = gate(&l, pctl_gate_independence);
	assert_int_equal(block.failures, 2); /* of the text, and of a law without an equation */
	assert_string_equal(block.first.law, "laws are equations");
	planted("a law in prose", block.first.inputs, "gate: laws are equations", block.first.got);
	law_refused("i32 | add(a, b) = add(b, a)", "independent law", "none of the op's types");
}

/* Commutative alone leaves the wrong ops alive that are commutative. */
static void test_independence__live_mutants_are_named(void **state)
{
	static const pctl_law laws[] = {{.law = PCTL_LAW_COMMUTATIVE}};
	fake_library l;
	pctl_block block;

	(void)state;
	ops(&l, laws, 1);
	block = gate(&l, pctl_gate_independence);
	assert_int_equal(block.failures, 0);
	assert_string_equal(block.value, "alive: flip zero");
	planted("laws that leave wrong ops alive", "fake.add@1", "gate: independence (a remark)",
		block.value);
}

static void test_independence__alternates(void **state)
{
	static const char *const same[] = {
		"fn fake_add(p: u32, q: u32) -> u32 {\n\treturn p + q;\n}\n"};
	static const char *const other[] = {
		"fn fake_add(a: u32, b: u32) -> u32 {\n\treturn a - (0u - b);\n}\n"};
	static const char *const broken[] = {"fn fake_add(a: u32) -> u32 {\n\treturn a;\n}\n"};
	fake_library l;
	fake_row *row;
	pctl_block block;

	(void)state;
	row = ops(&l, good_laws, 4);
	row->rules.n_alternates = 1;
	row->rules.alternates = same;
	block = gate(&l, pctl_gate_independence);
	refused(&block, "an alternate that is the op's own text", "independent alternate",
		"same program");
	row->rules.alternates = broken;
	block = gate(&l, pctl_gate_independence);
	refused(&block, "an alternate of other operands", "independent alternate",
		"none of the op's types");
	row->rules.alternates = other;
	block = gate(&l, pctl_gate_independence);
	assert_int_equal(block.failures, 0);
	assert_int_equal(block.cases, 7);
}

static void test_independence__oracle_that_copies(void **state)
{
	fake_library l;
	pctl_block block;

	(void)state;
	ops(&l, NULL, 0)->eval = eval_held;
	block = gate(&l, pctl_gate_independence);
	refused(&block, "an oracle that copies what the output held", "independent oracle",
		"held before");
}

/* ---- collisions ------------------------------------------------------------------------------- */

static const pctl_law twin_laws[] = {{.law = PCTL_LAW_SELF_INVERSE}, FAKE_LAW("fake.add(a,0)=a")};
static const pctl_law less_laws[] = {{.law = PCTL_LAW_SELF_INVERSE}};

static void test_collisions__the_same_laws(void **state)
{
	fake_library l;
	pctl_block block;

	(void)state;
	ops(&l, good_laws, 4);
	block = gate(&l, pctl_gate_collisions);
	assert_int_equal(block.cases, 1);
	assert_int_equal(block.failures, 0);
	/* sub's laws, said of add: examples do not excuse it. */
	ops(&l, twin_laws, 2);
	block = gate(&l, pctl_gate_collisions);
	refused(&block, "an op with the laws of another, word by word", "collision",
		"very same laws");
}

static void test_collisions__laws_of_both(void **state)
{
	fake_library l;
	fake_row *row;
	pctl_block block;

	(void)state;
	/* The examples tell add from sub. */
	ops(&l, less_laws, 1);
	block = gate(&l, pctl_gate_collisions);
	assert_int_equal(block.failures, 0);
	assert_string_equal(block.value, "beside fake.sub told apart by examples");
	/* Without examples nothing does. */
	row = ops(&l, less_laws, 1);
	row[0].rules.n_classes = row[1].rules.n_classes = 0;
	block = gate(&l, pctl_gate_collisions);
	refused(&block, "two ops of the same laws without examples", "collision",
		"no example tells them apart");
	/* An op that answers the same is not told apart by any example. */
	row = ops(&l, less_laws, 1);
	row[0].eval = eval_sub;
	block = gate(&l, pctl_gate_collisions);
	refused(&block, "two ops that answer the same", "collision", "no example tells them apart");
}

PCTL_TESTS_MAIN(PCTL_TEST(test_independence__good_laws_pass),
		PCTL_TEST(test_independence__tautologies),
		PCTL_TEST(test_independence__foreign_laws),
		PCTL_TEST(test_independence__vacuous_laws),
		PCTL_TEST(test_independence__false_and_unread_laws),
		PCTL_TEST(test_independence__live_mutants_are_named),
		PCTL_TEST(test_independence__alternates),
		PCTL_TEST(test_independence__oracle_that_copies),
		PCTL_TEST(test_collisions__the_same_laws), PCTL_TEST(test_collisions__laws_of_both))
