/* The analysis on small programs: loop bounds and their edges, uniform barriers, races, atomics,
 * bounds for emission. Every kind of answer has a case that gets it and a near one that does not.
 */
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "main.h"
#include "compiler/analysis/analyse.h"
#include "test_ir_samples.h"

static const uint32_t groups[3] = {16, 1, 1};
/* The released rules: what ranges of values add to them is test_wgsl_ranges.c's. */
static const pctl_analysis_query query = {.groups = groups, .flags = PCTL_ANALYSE_RELEASED};

static pctl_program *finish(pctl_builder *b)
{
	pctl_program *p = NULL;
	pctl_diag_list *l = pctl_diag_list_create();

	if (pctl_builder_finish(b, pctl_diag_list_call(l), &p) != PCTL_OK)
		pctl_diag_render_text(l, stderr, 0);
	pctl_builder_destroy(b);
	pctl_diag_list_destroy(l);
	assert_non_null(p);
	return p;
}

/* A program of which analyse() says PC2050 is analysed all the same when its loops are asked for. */
static void listed(const pctl_program *p)
{
	const pctl_analysis_query asked = {.groups = groups,
					   .flags = PCTL_ANALYSE_UNBOUNDED | PCTL_ANALYSE_RELEASED};
	pctl_analysis *a;
	uint32_t i, n = 0;

	assert_int_equal(pctl_program_analyse(p, &asked, NULL, &a), PCTL_OK);
	for (i = 0; i < a->n_loops; i++) {
		const pctl_loop_bound *b = &a->loops[i];

		n += b->bound_kind == PCTL_BOUND_NONE;
		assert_int_equal(b->bound_kind == PCTL_BOUND_NONE, b->max_iterations == UINT64_MAX);
		assert_true(b->folded_iterations <= b->max_iterations);
	}
	assert_int_equal(a->n_unbounded, n);
	assert_true(n != 0 && a->product_lost && a->max_loop_iterations == UINT64_MAX);
	pctl_analysis_destroy(a);
}

/* The code analysis refuses with, 0 and the analysis when it does not. */
static uint32_t analyse(pctl_program *p, pctl_analysis **out)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_status status = pctl_program_analyse(p, &query, pctl_diag_list_call(l), out);
	uint32_t code = pctl_diag_list_count(l) ? pctl_diag_list_at(l, 0)->code : 0;

	assert_int_equal(status == PCTL_OK, code == 0);
	assert_int_equal(status == PCTL_OK, *out != NULL);
	if (*out)
		assert_int_equal((*out)->n_unbounded, 0);
	if (code == PC2050_ANALYSE_LOOP)
		listed(p);
	pctl_diag_list_destroy(l);
	return code;
}

/* ---- loops ---- */

#define UNBOUNDED UINT64_MAX

struct loop_case {
	uint8_t scalar;
	uint64_t start;
	uint16_t test;
	uint64_t limit;
	uint16_t step;
	uint64_t amount;
	uint64_t rounds;
};

static const struct loop_case loop_cases[] = {
	{PCTL_SCALAR_U32, 0, PCTL_OP_LT, 10, PCTL_OP_ADD, 1, 10},
	{PCTL_SCALAR_U32, 0, PCTL_OP_LE, 10, PCTL_OP_ADD, 1, 11},
	{PCTL_SCALAR_U32, 0, PCTL_OP_LT, 10, PCTL_OP_ADD, 3, 4},
	{PCTL_SCALAR_U32, 10, PCTL_OP_LT, 10, PCTL_OP_ADD, 1, 0},
	{PCTL_SCALAR_U32, 0, PCTL_OP_LE, 0xffffffff, PCTL_OP_ADD, 1, UNBOUNDED},
	{PCTL_SCALAR_U32, 0, PCTL_OP_LT, 0xffffffff, PCTL_OP_ADD, 1, 0xffffffff},
	{PCTL_SCALAR_U32, 0, PCTL_OP_LT, 0xffffffff, PCTL_OP_ADD, 2, UNBOUNDED},
	{PCTL_SCALAR_U32, 0, PCTL_OP_LT, 10, PCTL_OP_ADD, 0, UNBOUNDED},
	{PCTL_SCALAR_U32, 0, PCTL_OP_LT, 10, PCTL_OP_SUB, 1, UNBOUNDED},
	{PCTL_SCALAR_U32, 9, PCTL_OP_GT, 0, PCTL_OP_SUB, 1, 9},
	{PCTL_SCALAR_U32, 9, PCTL_OP_GE, 0, PCTL_OP_SUB, 1, UNBOUNDED},
	{PCTL_SCALAR_U32, 9, PCTL_OP_GE, 1, PCTL_OP_SUB, 1, 9},
	{PCTL_SCALAR_U32, 9, PCTL_OP_GT, 0, PCTL_OP_SUB, 2, UNBOUNDED},
	{PCTL_SCALAR_U32, 0, PCTL_OP_NE, 12, PCTL_OP_ADD, 3, 4},
	{PCTL_SCALAR_U32, 0, PCTL_OP_NE, 13, PCTL_OP_ADD, 3, UNBOUNDED},
	{PCTL_SCALAR_U32, 128, PCTL_OP_GT, 0, PCTL_OP_SHR, 1, 8},
	{PCTL_SCALAR_U32, 128, PCTL_OP_NE, 0, PCTL_OP_SHR, 2, 4},
	{PCTL_SCALAR_U32, 128, PCTL_OP_GE, 0, PCTL_OP_SHR, 1, UNBOUNDED},
	{PCTL_SCALAR_U32, 128, PCTL_OP_GT, 0, PCTL_OP_SHR, 32, UNBOUNDED},
	{PCTL_SCALAR_U32, 1, PCTL_OP_LT, 256, PCTL_OP_SHL, 1, 8},
	{PCTL_SCALAR_U32, 0, PCTL_OP_LT, 256, PCTL_OP_SHL, 1, UNBOUNDED},
	{PCTL_SCALAR_U32, 1, PCTL_OP_LT, 0x80000002, PCTL_OP_SHL, 1, UNBOUNDED},
	{PCTL_SCALAR_U32, 1, PCTL_OP_LT, 256, PCTL_OP_MUL, 2, 8},
	{PCTL_SCALAR_U32, 1, PCTL_OP_LE, 243, PCTL_OP_MUL, 3, 6},
	{PCTL_SCALAR_U32, 0, PCTL_OP_LT, 256, PCTL_OP_MUL, 2, UNBOUNDED},
	{PCTL_SCALAR_U32, 1, PCTL_OP_LT, 256, PCTL_OP_MUL, 1, UNBOUNDED},
	{PCTL_SCALAR_U32, 1, PCTL_OP_LT, 0x80000000, PCTL_OP_MUL, 2, 31},
	{PCTL_SCALAR_U32, 1, PCTL_OP_LE, 0x80000000, PCTL_OP_MUL, 2, UNBOUNDED},
	{PCTL_SCALAR_I32, 1, PCTL_OP_LT, 100, PCTL_OP_MUL, 0xfffffffe, UNBOUNDED},
	{PCTL_SCALAR_I32, 0xffffffff, PCTL_OP_LT, 100, PCTL_OP_MUL, 2, UNBOUNDED},
	{PCTL_SCALAR_U64, 1, PCTL_OP_LT, 1ull << 62, PCTL_OP_MUL, 4, 31},
	{PCTL_SCALAR_U32, 128, PCTL_OP_GT, 0, PCTL_OP_DIV_WGSL, 2, 8},
	{PCTL_SCALAR_U32, 100, PCTL_OP_GE, 1, PCTL_OP_DIV_WGSL, 10, 3},
	{PCTL_SCALAR_U32, 128, PCTL_OP_GE, 0, PCTL_OP_DIV_WGSL, 2, UNBOUNDED},
	{PCTL_SCALAR_U32, 128, PCTL_OP_GT, 0, PCTL_OP_DIV_WGSL, 1, UNBOUNDED},
	{PCTL_SCALAR_U32, 128, PCTL_OP_GT, 0, PCTL_OP_DIV_WGSL, 0, UNBOUNDED},
	{PCTL_SCALAR_I32, 0xffffff80, PCTL_OP_GT, 0, PCTL_OP_DIV_WGSL, 2, 0},
	{PCTL_SCALAR_I32, 128, PCTL_OP_GT, 0xffffffff, PCTL_OP_DIV_WGSL, 2, UNBOUNDED},
	{PCTL_SCALAR_I32, 0xfffffffb, PCTL_OP_LT, 5, PCTL_OP_ADD, 1, 10},
	{PCTL_SCALAR_I32, 0, PCTL_OP_LE, 0x7fffffff, PCTL_OP_ADD, 1, UNBOUNDED},
	{PCTL_SCALAR_I32, 5, PCTL_OP_GE, 0, PCTL_OP_SUB, 1, 6},
	{PCTL_SCALAR_I32, 5, PCTL_OP_GE, 0, PCTL_OP_ADD, 0xffffffff, 6},
	{PCTL_SCALAR_I32, 0, PCTL_OP_GE, 0x80000000, PCTL_OP_SUB, 1, UNBOUNDED},
	{PCTL_SCALAR_U64, 0, PCTL_OP_LT, 1ull << 40, PCTL_OP_ADD, 1, 1ull << 40},
	{PCTL_SCALAR_U64, 0, PCTL_OP_LE, UINT64_MAX, PCTL_OP_ADD, 1, UNBOUNDED},
};

static pctl_program *one_loop(const struct loop_case *c)
{
	const int shift = c->step == PCTL_OP_SHL || c->step == PCTL_OP_SHR;
	uint32_t type, local, i, amount, limit;
	sample s;

	sample_begin(&s);
	type = pctl_build_scalar(s.b, c->scalar);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	local = pctl_build_local(s.b, "i", type) | PCTL_PLACE_LOCAL;
	amount = pctl_build_const(s.b, shift ? s.u32 : type, c->amount);
	limit = pctl_build_const(s.b, type, c->limit);
	sample_store(&s, pctl_build_const(s.b, type, c->start), local, NULL, 0);
	sample_mark(&s, PCTL_OP_LOOP, 0, 0);
	i = sample_load(&s, type, local, NULL, 0);
	sample_mark(&s, PCTL_OP_LOOP_TEST, pctl_build_op(s.b, c->test, s.boolean, i, limit), 1);
	sample_mark(&s, PCTL_OP_CONTINUING, 0, 0);
	i = sample_load(&s, type, local, NULL, 0);
	sample_store(&s, pctl_build_op(s.b, c->step, type, i, amount), local, NULL, 0);
	sample_mark(&s, PCTL_OP_END_LOOP, 0, 0);
	sample_entry(&s, pctl_build_function_end(s.b), 1, 1, 1);
	return finish(s.b);
}

static void loop_bounds(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(loop_cases) / sizeof(loop_cases[0]); i++) {
		const struct loop_case *c = &loop_cases[i];
		pctl_program *p = one_loop(c);
		pctl_analysis *a;
		uint32_t code = analyse(p, &a);

		if (code != (c->rounds == UNBOUNDED ? PC2050_ANALYSE_LOOP : 0) ||
		    (a && a->loops[0].max_iterations != c->rounds))
			fail_msg("loop case %u: code %u, %llu rounds", i, code,
				 (unsigned long long)(a ? a->loops[0].max_iterations : 0));
		pctl_analysis_destroy(a);
		pctl_program_destroy(p);
	}
}

/* for (i < bound) with a bound that is no constant: declared maximum, min with a literal, neither;
 * a second store. */
static uint32_t bound_by(int maximum, int minimum, int second_store, uint64_t *rounds)
{
	pctl_max max = {.value = 64};
	uint32_t local, bound;
	pctl_analysis *a;
	pctl_program *p;
	uint32_t code;
	sample s;

	sample_begin(&s);
	s.uniforms = sample_var(&s, "n", s.u32, PCTL_SPACE_UNIFORM, 0);
	max.var = s.uniforms;
	if (maximum)
		pctl_build_max(s.b, &max);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	local = pctl_build_local(s.b, "i", s.u32);
	bound = sample_load(&s, s.u32, s.uniforms, NULL, 0);
	if (minimum)
		bound = sample_op(&s, PCTL_OP_MIN, bound, sample_const(&s, 100));
	sample_for_begin(&s, local, bound);
	if (second_store)
		sample_store(&s, sample_const(&s, 0), local | PCTL_PLACE_LOCAL, NULL, 0);
	sample_for_end(&s, local);
	sample_entry(&s, pctl_build_function_end(s.b), 1, 1, 1);
	p = finish(s.b);
	code = analyse(p, &a);
	*rounds = a ? a->loops[0].max_iterations : 0;
	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
	return code;
}

static void loop_bounds_not_literal(void **state)
{
	uint64_t n;

	(void)state;
	assert_int_equal(bound_by(1, 0, 0, &n), 0);
	assert_int_equal(n, 64);
	assert_int_equal(bound_by(0, 1, 0, &n), 0);
	assert_int_equal(n, 100);
	assert_int_equal(bound_by(1, 1, 0, &n), 0);
	assert_int_equal(n, 64);
	assert_int_equal(bound_by(0, 0, 0, &n), PC2050_ANALYSE_LOOP);
	assert_int_equal(bound_by(1, 1, 1, &n), PC2050_ANALYSE_LOOP);
}

/* ---- barriers ---- */

enum { BY_CONST, BY_GROUP, BY_UNIFORM, BY_LOCAL, BY_WRITTEN_STORAGE, BY_MERGED_LOCAL };

/* if (value == 1) barrier; */
static uint32_t barrier_under(int what)
{
	uint32_t value, local, args[1] = {PCTL_BARRIER_WORKGROUP}, code, zero;
	pctl_analysis *a;
	pctl_program *p;
	sample s;

	sample_begin(&s);
	s.data = sample_storage(&s, "data", s.array, 0, 1);
	s.uniforms = sample_var(&s, "n", s.u32, PCTL_SPACE_UNIFORM, 1);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	local = pctl_build_local(s.b, "x", s.u32) | PCTL_PLACE_LOCAL;
	zero = sample_const(&s, 0);
	value = zero;
	if (what == BY_GROUP)
		value = sample_builtin(&s, PCTL_BUILTIN_WORKGROUP_ID, 0);
	if (what == BY_UNIFORM)
		value = sample_load(&s, s.u32, s.uniforms, NULL, 0);
	if (what == BY_LOCAL || what == BY_MERGED_LOCAL || what == BY_WRITTEN_STORAGE)
		value = sample_builtin(&s, PCTL_BUILTIN_LOCAL_INDEX, 0);
	if (what == BY_WRITTEN_STORAGE) {
		sample_store_at(&s, value, s.data, value);
		value = sample_load_at(&s, s.data, zero);
	}
	if (what == BY_MERGED_LOCAL) {
		sample_mark(&s, PCTL_OP_IF, sample_compare(&s, PCTL_OP_EQ, value, zero), 1);
		sample_store(&s, sample_const(&s, 1), local, NULL, 0);
		sample_mark(&s, PCTL_OP_END_IF, 0, 0);
		value = sample_load(&s, s.u32, local, NULL, 0);
	}
	sample_mark(&s, PCTL_OP_IF, sample_compare(&s, PCTL_OP_EQ, value, sample_const(&s, 1)), 1);
	pctl_build_inst(s.b, PCTL_OP_BARRIER, 0, args, 1);
	sample_mark(&s, PCTL_OP_END_IF, 0, 0);
	sample_entry(&s, pctl_build_function_end(s.b), 64, 1, 1);
	p = finish(s.b);
	code = analyse(p, &a);
	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
	return code;
}

static void uniform_barriers(void **state)
{
	(void)state;
	assert_int_equal(barrier_under(BY_GROUP), 0);
	assert_int_equal(barrier_under(BY_UNIFORM), 0);
	assert_int_equal(barrier_under(BY_LOCAL), PC2051_ANALYSE_BARRIER);
	assert_int_equal(barrier_under(BY_WRITTEN_STORAGE), PC2051_ANALYSE_BARRIER);
	assert_int_equal(barrier_under(BY_MERGED_LOCAL), PC2051_ANALYSE_BARRIER);
}

/* ---- races ---- */

/* End main with `size` invocations a workgroup; what the analysis says of races. */
static uint32_t end_and_race(sample *s, uint32_t size)
{
	pctl_analysis *a;
	pctl_program *p;
	uint32_t race;

	sample_entry(s, pctl_build_function_end(s->b), size, 1, 1);
	p = finish(s->b);
	assert_int_equal(analyse(p, &a), 0);
	race = a->race;
	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
	return race;
}

/* data[gid * scale / divide + add] = data[gid * scale / divide + add + read] */
static uint32_t race_of(uint32_t size, uint32_t scale, uint32_t divide, uint32_t add, uint32_t read)
{
	uint32_t gid, x;
	sample s;

	sample_begin(&s);
	s.data = sample_storage(&s, "data", s.array, 0, 1);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	gid = sample_builtin(&s, PCTL_BUILTIN_GLOBAL_ID, 0);
	gid = sample_op(&s, PCTL_OP_MUL, gid, sample_const(&s, scale));
	gid = sample_op(&s, PCTL_OP_DIV, gid, sample_const(&s, divide));
	gid = sample_op(&s, PCTL_OP_ADD, gid, sample_const(&s, add));
	x = sample_load_at(&s, s.data, sample_op(&s, PCTL_OP_ADD, gid, sample_const(&s, read)));
	sample_store_at(&s, x, s.data, gid);
	return end_and_race(&s, size);
}

static void races_by_index(void **state)
{
	(void)state;
	assert_int_equal(race_of(64, 1, 1, 0, 0), PCTL_PROOF_PROVEN);
	assert_int_equal(race_of(64, 4, 1, 3, 0), PCTL_PROOF_PROVEN);
	assert_int_equal(race_of(64, 4, 4, 3, 0), PCTL_PROOF_PROVEN);
	assert_int_equal(race_of(64, 2, 1, 0, 1), PCTL_PROOF_PROVEN);	/* writes even, reads odd */
	assert_int_equal(race_of(64, 1, 1, 0, 1), PCTL_PROOF_UNPROVEN); /* reads its neighbour's */
	assert_int_equal(race_of(64, 2, 1, 0, 2), PCTL_PROOF_UNPROVEN);
	assert_int_equal(race_of(64, 1, 2, 0, 0), PCTL_PROOF_UNPROVEN); /* two share an element */
	assert_int_equal(race_of(64, 1u << 26, 1, 0, 0), PCTL_PROOF_UNPROVEN); /* 64 * 2^26 wraps */
}

/* s[li] = li; (barrier;) data[gid] = s[li + 1]; */
static uint32_t race_through_workgroup(int with_barrier)
{
	uint32_t lid, gid, x, words, args[1] = {PCTL_BARRIER_WORKGROUP};
	sample s;

	sample_begin(&s);
	s.data = sample_storage(&s, "data", s.array, 0, 1);
	words = sample_var(&s, "s", pctl_build_array(s.b, s.u32, 65, 0), PCTL_SPACE_WORKGROUP, 0);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	lid = sample_builtin(&s, PCTL_BUILTIN_LOCAL_INDEX, 0);
	gid = sample_builtin(&s, PCTL_BUILTIN_GLOBAL_ID, 0);
	sample_store_at(&s, lid, words, lid);
	if (with_barrier)
		pctl_build_inst(s.b, PCTL_OP_BARRIER, 0, args, 1);
	x = sample_load_at(&s, words, sample_op(&s, PCTL_OP_ADD, lid, sample_const(&s, 1)));
	sample_store_at(&s, x, s.data, gid);
	return end_and_race(&s, 64);
}

static void races_between_barriers(void **state)
{
	(void)state;
	assert_int_equal(race_through_workgroup(1), PCTL_PROOF_PROVEN);
	assert_int_equal(race_through_workgroup(0), PCTL_PROOF_UNPROVEN);
}

/* data[0] = value; by `size` invocations */
static uint32_t race_at_zero(uint32_t size, int own_value)
{
	sample s;

	sample_begin(&s);
	s.data = sample_storage(&s, "data", s.array, 0, 1);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	sample_store_at(&s,
			own_value ? sample_builtin(&s, PCTL_BUILTIN_LOCAL_INDEX, 0)
				  : sample_const(&s, 7),
			s.data, sample_const(&s, 0));
	return end_and_race(&s, size);
}

static void certain_races(void **state)
{
	(void)state;
	assert_int_equal(race_at_zero(64, 1), PCTL_PROOF_REFUTED);
	assert_int_equal(race_at_zero(64, 0), PCTL_PROOF_UNPROVEN);
	assert_int_equal(race_at_zero(1, 0), PCTL_PROOF_UNPROVEN); /* 16 workgroups */
}

/* ---- atomics ---- */

static uint32_t order_of(uint16_t first, uint16_t second, int use_old)
{
	uint32_t atomic, old, args[2], order;
	pctl_analysis *a;
	pctl_program *p;
	sample s;

	sample_begin(&s);
	atomic = pctl_build_atomic(s.b, PCTL_SCALAR_U32);
	s.data = sample_storage(&s, "data", s.array, 0, 1);
	s.uniforms = sample_storage(&s, "count", atomic, 1, 1);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	args[0] = sample_const(&s, 1);
	args[1] = s.uniforms;
	old = pctl_build_inst(s.b, first, s.u32, args, 2);
	if (second == PCTL_OP_ATOMIC_LOAD)
		pctl_build_inst(s.b, second, s.u32, &args[1], 1);
	else if (second)
		pctl_build_inst(s.b, second, s.u32, args, 2);
	if (use_old)
		sample_store_at(&s, old, s.data, sample_builtin(&s, PCTL_BUILTIN_GLOBAL_ID, 0));
	sample_entry(&s, pctl_build_function_end(s.b), 64, 1, 1);
	p = finish(s.b);
	assert_int_equal(analyse(p, &a), 0);
	order = a->order_dependent;
	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
	return order;
}

static void order_of_atomics(void **state)
{
	(void)state;
	assert_int_equal(order_of(PCTL_OP_ATOMIC_ADD, 0, 0), 0);
	assert_int_equal(order_of(PCTL_OP_ATOMIC_ADD, PCTL_OP_ATOMIC_SUB, 0), 0);
	assert_int_equal(order_of(PCTL_OP_ATOMIC_ADD, 0, 1), 1);
	assert_int_equal(order_of(PCTL_OP_ATOMIC_ADD, PCTL_OP_ATOMIC_MAX, 0), 1);
	assert_int_equal(order_of(PCTL_OP_ATOMIC_ADD, PCTL_OP_ATOMIC_LOAD, 0), 1);
	assert_int_equal(order_of(PCTL_OP_ATOMIC_EXCHANGE, 0, 0), 1);
}

/* ---- bounds ---- */

static void proven_bounds(void **state)
{
	pctl_program *p = finish(sample_guarded());
	pctl_analysis *a;
	uint32_t v, proven = 0;

	(void)state;
	assert_int_equal(analyse(p, &a), 0);
	assert_int_equal(a->race, PCTL_PROOF_PROVEN);
	assert_int_equal(a->determinism, 1);
	pctl_program_mark_proven(p, a);
	for (v = 0; v < p->n_insts; v++)
		proven += (p->insts[v].flags & PCTL_INST_PROVEN(0)) != 0;
	assert_int_equal(proven, 2); /* the load and the store below the guard */
	assert_int_equal(pctl_program_verify(p, NULL), PCTL_OK);
	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
}

PCTL_TESTS_MAIN(PCTL_TEST(loop_bounds), PCTL_TEST(loop_bounds_not_literal),
		PCTL_TEST(uniform_barriers), PCTL_TEST(races_by_index),
		PCTL_TEST(races_between_barriers), PCTL_TEST(certain_races),
		PCTL_TEST(order_of_atomics), PCTL_TEST(proven_bounds))
