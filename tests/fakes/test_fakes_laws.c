/* Laws and problems of a stranger's op library, asked for in its worker: what it wants run is run by the host, what it
 * claims is compared by the host, a wrong op is caught by its own law, and no law takes the host with it. */
#include <stdio.h>
#include <string.h>

#include "evidence/proof/plans.h"
#include "planted/planted.h"
#include "setup.h"

typedef struct asking {
	fixture f;
	pctl_op_ref op;
	uint32_t add; /* what the device adds */
	uint32_t n_solved;
	uint32_t wrong_from; /* the use from which on it adds one more */
} asking;

static uint32_t count(void *ctx)
{
	(void)ctx;
	return 1;
}

static void at(void *ctx, uint32_t i, pctl_op_ref *out)
{
	(void)i;
	*out = ((asking *)ctx)->op;
}

static pctl_status solve(void *ctx, const pctl_problem *p, const pctl_call *call, pctl_answer *out)
{
	asking *a = ctx;
	const uint32_t add = a->add + (a->n_solved++ >= a->wrong_from);
	pctl_problem copy;

	memset(out, 0, sizeof(*out));
	assert_int_equal(pctl_problem_copy(p, call, &copy), PCTL_OK);
	for (uint64_t i = 0; i < p->bytes[0] / 4; i++)
		((uint32_t *)(void *)copy.data[0])[i] += add;
	*out = (pctl_answer){
		.out = {p->in[0]}, .data = {copy.data[0]}, .bytes = {p->bytes[0]}, .n_out = 1};
	return PCTL_OK;
}

static void begin(asking *a, const char *op, uint32_t call_ms)
{
	const char *dirs[] = {a->f.dir};
	pctl_registry_options o = {.dirs = dirs,
				   .n_dirs = 1,
				   .flags = PCTL_REGISTRY_NO_DEFAULT_DIRS,
				   .worker = WORKER,
				   .call_ms = call_ms};
	pctl_oplib_instance lib;
	char path[256];
	FILE *out;

	memset(a, 0, sizeof(*a));
	a->add = 1;
	a->wrong_from = UINT32_MAX;
	fixture_begin(&a->f);
	snprintf(path, sizeof(path), "%s/stranger.plugin.cfg", a->f.dir);
	out = fopen(path, "w");
	assert_non_null(out);
	fprintf(out, "@include \"%s\"\n", FAKES "/stranger.plugin.cfg");
	assert_int_equal(fclose(out), 0);
	o.home = a->f.home;
	assert_int_equal(pctl_registry_open(&o, a->f.call, &a->f.r), PCTL_OK);
	assert_int_equal(pctl_registry_find_op(a->f.r, op, 1, a->f.call, &lib, &a->op.index),
			 PCTL_OK);
	a->op.lib = lib.table;
	a->op.inst = lib.inst;
	a->op.desc = lib.table->op_at(lib.inst, a->op.index);
	a->op.plugin = "stranger";
}

/* The law of the op on three numbers, which the device answers. */
static pctl_status check(asking *a, pctl_verdict *out)
{
	const pctl_tensor_type t = {PCTL_SCALAR_U32, 1, {3}};
	const pctl_op_source ops = {a, count, at};
	pctl_solver device = {a, solve};
	pctl_plan_law law;
	const pctl_plan_judge j = {&ops, &device, NULL, &law, NULL};
	pctl_problem p;
	pctl_answer y;
	pctl_status s;

	assert_true(pctl_plan_law_of(&a->op, 0, &law));
	assert_string_equal(law.name, "next");
	assert_int_equal(pctl_problem_other(&ops, a->op.desc->name, 1, a->f.call, &p), PCTL_OK);
	assert_int_equal(pctl_problem_port(&p, 0, &t, a->f.call), PCTL_OK);
	memcpy(p.data[0], (const uint32_t[]){0, 41, UINT32_MAX}, 12);
	assert_int_equal(solve(a, &p, a->f.call, &y), PCTL_OK);
	s = pctl_plan_law_check(&j, &p, &y, a->f.call, out);
	pctl_answer_clear(&y);
	pctl_problem_clear(&p);
	return s;
}

static const char *words(const asking *a, uint32_t code)
{
	for (uint32_t i = pctl_diag_list_count(a->f.diags); i-- > 0;)
		if (pctl_diag_list_at(a->f.diags, i)->code == code)
			return pctl_diag_list_at(a->f.diags, i)->message;
	fail_msg("code %u is missing", code);
	return "";
}

static void laws__a_right_op_holds(void **state)
{
	pctl_verdict v;
	asking a;

	(void)state;
	begin(&a, "stranger.lawful", 5000);
	assert_int_equal(check(&a, &v), PCTL_OK);
	assert_int_equal(v.failed, 0);
	assert_int_equal(v.skipped, 0);
	assert_int_equal(a.n_solved, 2); /* the problem, and the use that the law asked for */
	fixture_end(&a.f);
}

static void laws__a_wrong_op_is_caught(void **state)
{
	pctl_verdict v;
	asking a;

	(void)state;
	begin(&a, "stranger.lawful", 5000);
	a.add = 2;
	assert_int_equal(check(&a, &v), PCTL_OK);
	assert_int_equal(v.failed, 1);
	assert_string_equal(v.got, "y[0] = 0x00000002");
	assert_string_equal(v.want, "y[0] = 0x00000001");
	planted("an op of a stranger's library adds two", "stranger.lawful",
		"law: y - x = 1, always", planted_case("x=u32[3]", v.got, v.want));
	/* Wrong only the second time: the library's own judgement, of the second round. */
	a.add = 1;
	a.n_solved = 0;
	a.wrong_from = 1;
	assert_int_equal(check(&a, &v), PCTL_OK);
	assert_int_equal(v.failed, 1);
	assert_string_equal(v.got, "another y the second time");
	fixture_end(&a.f);
}

static void laws__prose_is_told_from_a_law(void **state)
{
	pctl_plan_law law;
	asking a;

	(void)state;
	begin(&a, "stranger.good", 5000);
	assert_false(pctl_plan_law_of(&a.op, 0, &law));
	assert_null(pctl_problems_own(&a.op));
	fixture_end(&a.f);
}

/* The end of its worker is the end of the check, not of the host. */
static void laws__one_that_ends_hangs_or_is_senseless(void **state)
{
	static const struct {
		const char *op;
		uint32_t code;
		const char *caught_by;
	} cases[] = {{"stranger.crash_law", PC3111_WORKER_OPLIB, "PC3111 worker-oplib"},
		     {"stranger.hang_law", PC3111_WORKER_OPLIB, "PC3111 worker-oplib"},
		     {"stranger.wild_law", PC5353_PLAN_LAW, "PC5353 plan-law"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pctl_verdict v;
		asking a;

		begin(&a, cases[i].op, 1000);
		assert_int_equal(check(&a, &v), pctl_code_status(cases[i].code));
		planted("a law that cannot be checked", cases[i].op, cases[i].caught_by,
			words(&a, cases[i].code));
		fixture_end(&a.f);
	}
}

static void laws__problems_come_from_the_worker(void **state)
{
	pctl_problem p;
	asking a;
	int made;

	(void)state;
	begin(&a, "stranger.lawful", 5000);
	pctl_problems l = {
		.op = a.op, .own = pctl_problems_own(&a.op), .dtype = PCTL_SCALAR_U32, .seed = 9};

	assert_non_null(l.own);
	assert_string_equal(l.own->about, "rows of numbers");
	assert_int_equal(l.own->n, 4);
	for (uint64_t i = 0; i < 4; i++) {
		p = (pctl_problem){.op = a.op, .n_in = 1, .size = UINT64_MAX};
		assert_int_equal(pctl_problems_own_make(&l, i, a.f.call, &p, &made), PCTL_OK);
		assert_int_equal(made, i != 1);
		if (i == 3)
			assert_memory_equal(p.data[0], ((const uint32_t[]){9, 1, 2}), 12);
		pctl_problem_clear(&p);
	}
	fixture_end(&a.f);
	begin(&a, "stranger.wild_problem", 5000);
	l = (pctl_problems){.op = a.op, .own = pctl_problems_own(&a.op), .dtype = PCTL_SCALAR_U32};
	p = (pctl_problem){.op = a.op, .n_in = 1, .size = UINT64_MAX};
	assert_int_equal(pctl_problems_own_make(&l, 2, a.f.call, &p, &made),
			 pctl_code_status(PC5353_PLAN_LAW));
	planted("a problem for a port that is not there", "stranger.wild_problem",
		"PC5353 plan-law", words(&a, PC5353_PLAN_LAW));
	pctl_problem_clear(&p);
	fixture_end(&a.f);
}

PCTL_TESTS_MAIN(PCTL_TEST(laws__a_right_op_holds), PCTL_TEST(laws__a_wrong_op_is_caught),
		PCTL_TEST(laws__prose_is_told_from_a_law),
		PCTL_TEST(laws__one_that_ends_hangs_or_is_senseless),
		PCTL_TEST(laws__problems_come_from_the_worker))
