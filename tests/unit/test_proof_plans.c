/* Plan ops under proof: every problem of every shipped plan op on the reference backend, every law known; levels select;
 * an op that nobody knows gets problems too. PIPECTL_PROOF_DEVICE names another device. */
#include "test_proof_devices.h"

/* ---- every unit holds on the reference ------------------------------------------------------------ */

/* Of a unit's blocks, of which each unit has another first: one of 60, or one of fewer (under sanitizers one of 25, in test_proof_plans_more
 * one of 15); by night (test_proof_plans_all) all. A block's problems are drawn as its neighbours' are, and every op is held against Python besides
 * (integration_ops_*). */
static uint32_t every(uint64_t n_blocks)
{
	const uint32_t most = PCTL_TEST_SANITIZED ? 25 : pctl_test_more() ? 15 : 60;

	if (!PCTL_TEST_SANITIZED && getenv("PCTL_TEST_ALL") != NULL)
		return 1;
	return n_blocks < most ? (uint32_t)n_blocks : most;
}

/* A block that holds; its cases and those skipped are added. */
static void hold(const pctl_unit *u, uint64_t b, uint64_t *cases, uint64_t *skipped,
		 pctl_hasher *all)
{
	pctl_block out;

	MUST(u->run(u, &rig.context, b, rig.call, &out));
	if (out.failures != 0)
		fail_msg("%s %s block %llu: %s: got %s, want %s", u->subject, u->name,
			 (unsigned long long)b, out.first.inputs, out.first.got, out.first.want);
	assert_true(out.cases + out.skipped > 0);
	*cases += out.cases;
	*skipped += out.skipped;
	if (all != NULL)
		MUST(pctl_hasher_update(all, out.digest, sizeof(out.digest)));
}

/* Where a unit stands among those of its op: the op's how many-th type, the type's how many-th law. */
typedef struct place {
	uint32_t type, law;
} place;

static void place_next(place *at, const pctl_units *list, uint32_t i)
{
	const char *now = list->units[i].subject,
		   *before = i == 0 ? "" : list->units[i - 1].subject;
	const size_t op = strcspn(now, " ");

	if (op != strcspn(before, " ") || strncmp(now, before, op) != 0)
		*at = (place){0, 0};
	else if (strcmp(now, before) != 0)
		*at = (place){at->type + 1, 0};
	else
		at->law++;
}

/* All laws in the first type of an op, each in every fourth of the further types, as they go through the same code; under sanitizers the
 * first unit of each op and one of 40 of the rest. All of them in test_proof_plans_more. */
static int is_taken(const place *at, uint32_t i)
{
	if (PCTL_TEST_SANITIZED)
		return i % 40 == 0 || (at->type == 0 && at->law == 0);
	return pctl_test_more() || at->type == 0 || (at->type + at->law) % 4 == 0;
}

static uint64_t run_track(const char *ops, uint32_t track, uint32_t level, uint32_t least_units,
			  uint8_t digests[32])
{
	const pctl_selection s = {ops, track, level};
	pctl_hasher *all;
	place at = {0, 0};
	uint64_t cases = 0;
	pctl_units *list;
	pctl_cid sum;

	MUST(pctl_units_create(rig.call, &list));
	MUST(pctl_plan_units(&rig.context, &s, rig.call, list));
	MUST(pctl_hasher_create(rig.call, &all));
	assert_true(list->n >= least_units);
	for (uint32_t i = 0; i < list->n; i++) {
		const pctl_unit *u = &list->units[i];
		const uint32_t step = every(u->n_blocks);
		uint64_t of_unit = 0, skipped = 0;

		place_next(&at, list, i);
		if (!is_taken(&at, i))
			continue;
		for (uint64_t b = i % step; b < u->n_blocks; b += step)
			hold(u, b, &of_unit, &skipped, all);
		if (step == 1)
			assert_int_equal(of_unit + skipped, u->n_cases);
		/* A law that nothing was left of proves nothing. */
		for (uint64_t b = 0; b < u->n_blocks && of_unit == 0 && !PCTL_TEST_SANITIZED; b++)
			hold(u, b, &of_unit, &skipped, all);
		if (of_unit == 0 && !PCTL_TEST_SANITIZED)
			fail_msg("%s %s: every problem was skipped", u->subject, u->name);
		cases += of_unit;
	}
	MUST(pctl_hasher_finish(all, &sum));
	memcpy(digests, sum.digest, 32);
	pctl_units_destroy(list);
	return cases;
}

static void test_proof_plans__integer_ops_hold(void **state)
{
	uint8_t digest[32];

	(void)state;
	/* Parity of reduce_max and scan in two types, of sort and the three of rank, and all their laws. */
	assert_true(run_track(NULL, PCTL_TRACK_INTEGER, 4, 8 + 4 + 4 + 3 + 8, digest) >
		    PCTL_TEST_SHARE(1000));
	assert_int_equal(count_of(PC5351_PLAN_PROSE), 0);
}

static void test_proof_plans__digests_repeat(void **state)
{
	uint8_t one[32], two[32];

	(void)state;
	(void)run_track("tensor.scan@1", PCTL_TRACK_INTEGER, 3, 6, one);
	(void)run_track("tensor.scan@1", PCTL_TRACK_INTEGER, 3, 6, two);
	assert_memory_equal(one, two, 32);
}

static void test_proof_plans__float_ops_hold(void **state)
{
	uint8_t digest[32];

	(void)state;
	assert_true(run_track(NULL, PCTL_TRACK_FLOAT, 2, 6 + 6 + 9, digest) >
		    PCTL_TEST_SHARE(1000));
	assert_int_equal(count_of(PC5351_PLAN_PROSE), 0);
}

static void test_proof_plans__approximate_ops_hold(void **state)
{
	uint8_t digest[32];

	(void)state;
	assert_true(run_track(NULL, PCTL_TRACK_APPROXIMATE, 1, 6, digest) > PCTL_TEST_SHARE(24));
	assert_int_equal(count_of(PC5351_PLAN_PROSE), 0);
}

static void test_proof_plans__levels_select(void **state)
{
	const pctl_selection none = {NULL, PCTL_TRACK_INTEGER, 2},
			     one = {"tensor.scan@1", PCTL_TRACK_INTEGER, 3},
			     parity = {"ieee.reduce_*", PCTL_TRACK_FLOAT, 1};
	pctl_units *list;

	(void)state;
	MUST(pctl_units_create(rig.call, &list));
	MUST(pctl_plan_units(&rig.context, &none, rig.call, list));
	assert_int_equal(list->n, 0);
	MUST(pctl_plan_units(&rig.context, &one, rig.call, list));
	assert_int_equal(list->n, 6); /* u32 and u64: parity and two laws */
	MUST(pctl_plan_units(&rig.context, &parity, rig.call, list));
	assert_int_equal(list->n, 12); /* two ops in three types */
	for (uint32_t i = 6; i < 12; i++)
		assert_int_equal(list->units[i].kind, PCTL_UNIT_PARITY);
	pctl_units_destroy(list);
}

/* Levels 3 and 4 of floats: compositions are laws of level 4, each of whose uses is held against the reference too. */
static void test_proof_plans__compositions_hold(void **state)
{
	const char *ops = "tensor.softmax,tensor.layer_norm,tensor.rms_norm,tensor.matmul";
	const pctl_selection third = {ops, PCTL_TRACK_FLOAT, 3}, all = {ops, PCTL_TRACK_FLOAT, 4};
	uint32_t n = 0;
	pctl_units *list;

	(void)state;
	MUST(pctl_units_create(rig.call, &list));
	MUST(pctl_plan_units(&rig.context, &third, rig.call, list));
	for (uint32_t i = 0; i < list->n; i++)
		assert_int_not_equal(list->units[i].kind, PCTL_UNIT_COMPOSITION);
	pctl_units_destroy(list);
	MUST(pctl_units_create(rig.call, &list));
	MUST(pctl_plan_units(&rig.context, &all, rig.call, list));
	for (uint32_t i = 0; i < list->n; i++) {
		const pctl_unit *u = &list->units[i];
		const uint64_t some = PCTL_TEST_SANITIZED ? 3 : pctl_test_more() ? 15 : 6;
		uint64_t cases = 0, skipped = 0;

		if (u->kind != PCTL_UNIT_COMPOSITION)
			continue;
		assert_int_equal(u->level, 4);
		n++;
		for (uint64_t b = n % 3; b < u->n_blocks && (b < some || every(u->n_blocks) == 1);
		     b += 3)
			hold(u, b, &cases, &skipped, NULL);
		for (uint64_t b = 0; b < u->n_blocks && cases == 0 && !PCTL_TEST_SANITIZED; b++)
			hold(u, b, &cases, &skipped, NULL);
		if (cases == 0 && !PCTL_TEST_SANITIZED)
			fail_msg("%s %s: every problem was skipped", u->subject, u->name);
	}
	/* Three of products on eleven types, and of three float types two of softmax and one of each norm. */
	assert_int_equal(n, 3 * 11 + 3 * (2 + 1 + 1));
	pctl_units_destroy(list);
}

/* A reference that knows better finds what the law alone does not: both sides of an equation are of the same wrong device. */
static pctl_status off_by_one(void *ctx, const pctl_problem *p, const pctl_call *call,
			      pctl_answer *out)
{
	const pctl_session_solver *s = ctx;
	const pctl_status status = s->solver.solve(s->solver.ctx, p, call, out);

	if (status == PCTL_OK && strcmp(p->op.desc->name, "tensor.matmul") == 0)
		for (uint64_t i = 0; i + 4 <= out->bytes[0]; i += 4)
			out->data[0][i] ^= 1;
	return status;
}

static void test_proof_plans__compositions_ask_the_reference(void **state)
{
	pctl_session_solver device, reference;
	pctl_solver wrong = {&device, off_by_one};
	pctl_plan_judge j = {rig.context.ops, &wrong, &reference.solver, NULL, NULL};
	pctl_problems problems;
	pctl_plan_law law;
	uint32_t found = 0, alone = 0;
	pctl_arena *arena = pctl_arena_create();
	pctl_op_ref op;

	(void)state;
	MUST(pctl_op_find(rig.context.ops, "tensor.matmul", 1, 1, NULL, rig.call, &op));
	MUST(pctl_problems_of(&rig.context, &op, PCTL_SCALAR_U32, arena, rig.call, &problems));
	assert_true(pctl_plan_law_find(
		&op, "the products of the rows of a in two parts, joined, are y", &law));
	assert_int_equal(law.composed, 1);
	j.law = &law;
	pctl_solver_session(&device, &rig.context, rig.context.device);
	pctl_solver_reference(&reference, &rig.context);
	for (uint32_t way = 0; way < 2; way++) {
		law.composed = way == 0;
		for (uint64_t i = 0; i < problems.n && i < 40; i++) {
			pctl_verdict v;
			pctl_problem p;

			MUST(pctl_problems_make(&problems, i, rig.call, &p));
			MUST(pctl_plan_judge_problem(&j, &p, NULL, rig.call, &v));
			*(way == 0 ? &found : &alone) += v.failed;
			pctl_problem_clear(&p);
		}
	}
	assert_true(found > 0);
	assert_int_equal(alone, 0);
	pctl_arena_destroy(arena);
}

/* ---- ops of others -------------------------------------------------------------------------------- */

static pctl_op_desc foreign_desc;
static pctl_op_rules foreign_rules;
static uint32_t foreign_refuses;

static pctl_status foreign_infer(pctl_instance *inst, const pctl_call *call, const pctl_op_query *q,
				 pctl_op_result *out)
{
	(void)inst;
	out->out[0] = q->in[0];
	if (foreign_refuses)
		return pctl_refuse(call, PC4201_OP_TYPE, "no");
	return q->in[0].dim[0] == q->in[1].dim[0] ? PCTL_OK
						  : pctl_refuse(call, PC4201_OP_TYPE, "no");
}

static const pctl_op_rules *foreign_rules_of(pctl_instance *inst, uint32_t op)
{
	(void)inst;
	(void)op;
	return &foreign_rules;
}

static uint32_t one_op(void *ctx)
{
	(void)ctx;
	return 1;
}

static void foreign_at(void *ctx, uint32_t i, pctl_op_ref *out)
{
	static pctl_oplib lib = {
		.head = PCTL_HEAD(pctl_oplib), .infer = foreign_infer, .rules = foreign_rules_of};

	(void)ctx;
	(void)i;
	*out = (pctl_op_ref){.lib = &lib, .desc = &foreign_desc, .plugin = "foreign", .digest = ""};
}

static void test_proof_plans__an_op_nobody_knows_gets_problems(void **state)
{
	static const pctl_port in[] = {{"x", "u16|f16[r,3]", "", 0, 0}, {"w", "u32[r]", "", 0, 0}};
	static const pctl_port out[] = {{"y", "u16|f16[r,3]", "", 0, 0}};
	static const pctl_law laws[] = {{PCTL_LAW_CUSTOM, 0, 0, 0, NULL, NULL, "y looks like x"}};
	static const pctl_attr_desc attr[] = {{"fast", NULL, "", PCTL_ATTR_BOOL, 0, 0, 1}};
	const pctl_op_source source = {NULL, one_op, foreign_at};
	const pctl_selection s = {NULL, PCTL_TRACK_INTEGER, 3},
			     a = {NULL, PCTL_TRACK_APPROXIMATE, 1};
	pctl_proof_context context = {.ops = &source, .seed = 1, .cases = 1000};
	pctl_units *list;

	(void)state;
	foreign_refuses = 0;
	foreign_rules =
		(pctl_op_rules){.head = PCTL_HEAD(pctl_op_rules), .laws = laws, .n_laws = 1};
	foreign_desc = (pctl_op_desc){.head = PCTL_HEAD(pctl_op_desc),
				      .name = "foreign.op",
				      .version = 3,
				      .kind = PCTL_OPDEF_PLAN,
				      .op_class = PCTL_CLASS_INTEGER,
				      .n_in = 2,
				      .n_out = 1,
				      .n_attr = 1,
				      .in = in,
				      .out = out,
				      .attr = attr};
	MUST(pctl_units_create(rig.call, &list));
	MUST(pctl_plan_units(&context, &s, rig.call, list));
	assert_int_equal(list->n, 4); /* parity in two types; the law is prose, and said to be */
	for (uint32_t i = 1; i < 4; i += 2) {
		pctl_block b;

		assert_string_equal(list->units[i].name, "laws that nobody checks");
		assert_int_equal(list->units[i].run(&list->units[i], &context, 0, rig.call, &b),
				 PCTL_E_INVALID);
	}
	assert_int_equal(count_of(PC5354_PLAN_LAWLESS), 2);
	assert_string_equal(list->units[0].subject, "foreign.op@3 u16");
	assert_non_null(strstr(list->units[0].domain, "fast=false|true"));
	assert_true(list->units[0].n_cases > 100);
	assert_int_equal(count_of(PC5351_PLAN_PROSE), 1);

	/* An op of more attributes than a problem holds is refused; it is not left out. */
	foreign_desc.n_attr = PCTL_ATTRS_MAX + 1;
	assert_int_equal(pctl_plan_units(&context, &s, rig.call, list), PCTL_E_PLUGIN);
	assert_int_equal(count_of(PC3038_PLUGIN_OP_SIZE), 1);
	foreign_desc.n_attr = 1;

	/* An approximate op whose measure nobody knows. */
	foreign_desc.op_class = PCTL_CLASS_APPROXIMATE;
	assert_int_equal(pctl_plan_units(&context, &a, rig.call, list), PCTL_E_UNSUPPORTED);
	assert_int_equal(count_of(PC5352_PLAN_TOLERANCE), 1);

	/* An op that takes nothing. */
	foreign_desc.op_class = PCTL_CLASS_INTEGER;
	foreign_refuses = 1;
	assert_int_equal(pctl_plan_units(&context, &s, rig.call, list), PCTL_E_FAILED);
	assert_int_equal(count_of(PC5350_PLAN_PROBLEMS), 1);
	pctl_units_destroy(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PCTL_TEST(test_proof_plans__integer_ops_hold),
		PCTL_TEST(test_proof_plans__digests_repeat),
		PCTL_TEST(test_proof_plans__float_ops_hold),
		PCTL_TEST(test_proof_plans__approximate_ops_hold),
		PCTL_TEST(test_proof_plans__levels_select),
		PCTL_TEST(test_proof_plans__compositions_hold),
		PCTL_TEST(test_proof_plans__compositions_ask_the_reference),
		PCTL_TEST(test_proof_plans__an_op_nobody_knows_gets_problems),
	};

	return run_all(tests, sizeof(tests) / sizeof(tests[0]));
}
