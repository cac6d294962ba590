/* Gas: profiles and prices of small programs against numbers worked by hand from the weights of the
 * Cybergraph document (section 6.2: integer 1, division 4, read 10 and write 15 for 4 bytes, atomic
 * 20, barriers 50 and 100). */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foundation/diag/diag.h"
#include "runtime/gas/schedule.h"
#include "main.h"
#include "test_ir_samples.h"

#define CYBERGRAPH PIPECTL_SOURCE_DIR "/conf/gas/cybergraph-0.2.cfg"
#define STRUCTURED PIPECTL_SOURCE_DIR "/conf/gas/structured-2.cfg"
#define CYBERGRAPH_FIRST PIPECTL_SOURCE_DIR "/conf/gas/cybergraph-0.1.cfg"
#define FOLDED PIPECTL_SOURCE_DIR "/conf/gas/structured-3.cfg"
#define STRUCTURED_FIRST PIPECTL_SOURCE_DIR "/conf/gas/structured-1.cfg"

static pctl_gas_schedule *schedule(const char *path)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_gas_schedule *s = NULL;

	if (pctl_gas_schedule_read(path, pctl_diag_list_call(l), &s) != PCTL_OK)
		pctl_diag_render_text(l, stderr, 0);
	pctl_diag_list_destroy(l);
	assert_non_null(s);
	return s;
}

static void without(pctl_cost_table *t, uint16_t first, uint16_t last)
{
	for (uint16_t op = first; op <= last; op++) {
		if (!pctl_op_get(op)->name)
			continue;
		t->kind[op] = PCTL_COST_UNPRICED;
		t->count[op] = 0;
	}
}

/* Schedules before structured-3 price neither subgroup operations nor tiles, nor erf and the like. */
static void without_later_ones(pctl_cost_table *t)
{
	without(t, PCTL_OP_SUBGROUP_ADD, PCTL_OP_TILE_MULTIPLY_ADD);
	without(t, PCTL_OP_FERF, PCTL_OP_FEXPM1);
}

/* The files hold what the profile of an analysis is made with: one truth, told twice and compared.
 */
static void files_agree_with_the_default(void **state)
{
	pctl_gas_schedule *a = schedule(CYBERGRAPH), *b = schedule(STRUCTURED),
			  *c = schedule(FOLDED);
	pctl_cost_table t;

	(void)state;
	pctl_cost_table_default(&t);
	assert_memory_equal(&c->costs, &t, sizeof(t));
	pctl_gas_schedule_destroy(c);
	without_later_ones(&t);
	assert_memory_equal(&a->costs, &t, sizeof(t));
	assert_memory_equal(&b->costs, &t, sizeof(t));
	assert_string_equal(pctl_gas_schedule_name(a), "cybergraph-0.2");
	assert_string_equal(pctl_gas_schedule_name(b), "structured-2");
	assert_false(a->structured);
	assert_true(b->structured);
	assert_int_equal(a->memory_unit_bytes, 32);
	assert_int_equal(a->dependency_hop, 500);
	pctl_gas_schedule_destroy(a);
	pctl_gas_schedule_destroy(b);
}

/* The first schedules say of integers what the second say, and know nothing of floats. */
static void first_schedules_are_as_they_were(void **state)
{
	static const char *const files[] = {CYBERGRAPH_FIRST, STRUCTURED_FIRST};
	pctl_cost_table t;
	uint32_t i, op;

	(void)state;
	pctl_cost_table_default(&t);
	for (op = 0; op < PCTL_COST_OPS; op++) {
		if ((op >= 0x100 && op < 0x180 && pctl_op_get((uint16_t)op)->name) ||
		    op == PCTL_OP_LOOKUP) {
			t.kind[op] = PCTL_COST_UNPRICED;
			t.count[op] = 0;
		}
	}
	without_later_ones(&t);
	t.float_op = t.float_division = t.elementary = 0;
	for (i = 0; i < 2; i++) {
		pctl_gas_schedule *s = schedule(files[i]);

		assert_memory_equal(&s->costs, &t, sizeof(t));
		pctl_gas_schedule_destroy(s);
	}
}

/* The price of a workgroup under both schedules. */
static void price(pctl_builder *b, uint64_t *multiply, uint64_t *structured)
{
	pctl_gas_schedule *one = schedule(CYBERGRAPH), *two = schedule(STRUCTURED);
	pctl_gas_query q = {.groups = {1, 1, 1}};
	pctl_program *p = NULL;
	pctl_analysis *a = NULL;
	pctl_gas_price out;

	assert_int_equal(pctl_builder_finish(b, NULL, &p), PCTL_OK);
	pctl_builder_destroy(b);
	assert_int_equal(pctl_program_analyse(p, NULL, NULL, &a), PCTL_OK);
	q.program = p;
	q.analysis = a;
	assert_int_equal(pctl_gas_price_of(one, &q, NULL, &out), PCTL_OK);
	*multiply = out.cost_per_workgroup;
	assert_int_equal(pctl_gas_price_of(two, &q, NULL, &out), PCTL_OK);
	*structured = out.cost_per_workgroup;
	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
	pctl_gas_schedule_destroy(one);
	pctl_gas_schedule_destroy(two);
}

/* arrayLength 1, comparison 1, two checked indices 2, product 1, sum 1: 6 integer operations; one
 * read 10, one write 15: 31 for each of 64 invocations. */
static void guarded(void **state)
{
	uint64_t m, s;

	(void)state;
	price(sample_guarded(), &m, &s);
	assert_int_equal(m, 31 * 64);
	assert_int_equal(s, 31 * 64);
}

/* for (i = 0; i < 10; i++) data[gid] = data[i] / 3 (u64 quotient where wide); barrier at the end; 2
 * invocations. */
static pctl_builder *looping(void)
{
	uint32_t local, i, x, gid, barrier = PCTL_BARRIER_STORAGE;
	sample s;

	sample_begin(&s);
	s.data = sample_storage(&s, "data", s.array, 0, 1);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	local = pctl_build_local(s.b, "i", s.u32);
	gid = sample_builtin(&s, PCTL_BUILTIN_GLOBAL_ID, 0);
	i = sample_for_begin(&s, local, sample_const(&s, 10));
	x = sample_load_at(&s, s.data, i);
	x = sample_op(&s, PCTL_OP_DIV, x, sample_const(&s, 3));
	sample_store_at(&s, x, s.data, gid);
	sample_for_end(&s, local);
	sample_mark(&s, PCTL_OP_BARRIER, barrier, 1);
	sample_entry(&s, pctl_build_function_end(s.b), 2, 1, 1);
	return s.b;
}

/*
 * Before the loop: a store to function memory, 1. Test: a load and a comparison, 2. Body: a load of
 * i, two checked indices, 3 integer operations, a division 4, a read 10, a write 15: 32. Update:
 * load, sum, store: 3. structured-2: 1 + 11*2 + 10*(32 + 3) = 373 an invocation, 746 for two, and
 * the storage barrier: 846. cybergraph-0.2: (1 + 2*2 + 32 + 3 = 40) * 2 + 100 = 180, times the
 * loop's bound: 1800.
 */
static void loops_and_barriers(void **state)
{
	uint64_t m, s;

	(void)state;
	price(looping(), &m, &s);
	assert_int_equal(m, 1800);
	assert_int_equal(s, 846);
}

/* if (gid < 5) data[gid] = 1; else atomicAdd(count, gid / 2 twice): the dearer side. */
static void dearer_side(void **state)
{
	uint32_t gid, x, args[2];
	uint64_t m, st;
	sample s;

	(void)state;
	sample_begin(&s);
	s.data = sample_storage(&s, "data", s.array, 0, 1);
	s.uniforms = sample_storage(&s, "count", pctl_build_atomic(s.b, PCTL_SCALAR_U32), 1, 1);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	gid = sample_builtin(&s, PCTL_BUILTIN_GLOBAL_ID, 0);
	sample_mark(&s, PCTL_OP_IF, sample_compare(&s, PCTL_OP_LT, gid, sample_const(&s, 5)), 1);
	sample_store_at(&s, sample_const(&s, 1), s.data, gid); /* 1 + 15 */
	sample_mark(&s, PCTL_OP_ELSE, 0, 0);
	x = sample_op(&s, PCTL_OP_DIV, gid, sample_const(&s, 2)); /* 4 */
	args[0] = x;
	args[1] = s.uniforms;
	pctl_build_inst(s.b, PCTL_OP_ATOMIC_ADD, s.u32, args, 2); /* 20 */
	sample_mark(&s, PCTL_OP_END_IF, 0, 0);
	sample_entry(&s, pctl_build_function_end(s.b), 1, 1, 1);
	price(s.b, &m, &st);
	assert_int_equal(m, 1 + 24);
	assert_int_equal(st, 1 + 24);
}

/* A vec4 sum of 64-bit components is 8 operations; an index masked to its array's length costs no
 * check. */
static void units_and_proof_rule(void **state)
{
	uint32_t wide, words, x, lid;
	uint64_t m, st;
	sample s;

	(void)state;
	sample_begin(&s);
	wide = pctl_build_vector(s.b, PCTL_SCALAR_U64, 4);
	words = sample_var(&s, "words", pctl_build_array(s.b, s.u32, 64, 0), PCTL_SPACE_WORKGROUP,
			   0);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	lid = sample_builtin(&s, PCTL_BUILTIN_LOCAL_INDEX, 0);
	x = pctl_build_inst(s.b, PCTL_OP_ZERO, wide, NULL, 0);
	pctl_build_op(s.b, PCTL_OP_ADD, wide, x, x);		   /* 8 */
	x = sample_op(&s, PCTL_OP_AND, lid, sample_const(&s, 63)); /* 1 */
	sample_load_at(&s, words, x);				   /* 1 of memory, no check */
	x = sample_op(&s, PCTL_OP_AND, lid, sample_const(&s, 64)); /* 1 */
	sample_load_at(&s, words, x);				   /* 1 of memory, 1 check */
	sample_entry(&s, pctl_build_function_end(s.b), 1, 1, 1);
	price(s.b, &m, &st);
	assert_int_equal(m, 8 + 1 + 1 + 1 + 2);
	assert_int_equal(st, m);
}

/* data[lid] = u32(sqrt(f(x) * y) < sin(x)) over vec2<f32>, and a table. */
static pctl_builder *floating(void)
{
	uint32_t vec, bools, x, y, lid, args[5];
	sample s;

	sample_begin(&s);
	vec = pctl_build_vector(s.b, PCTL_SCALAR_F32, 2);
	bools = pctl_build_vector(s.b, PCTL_SCALAR_BOOL, 2);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	lid = sample_builtin(&s, PCTL_BUILTIN_LOCAL_INDEX, 0);
	x = pctl_build_inst(s.b, PCTL_OP_ZERO, vec, NULL, 0);
	y = pctl_build_op(s.b, PCTL_OP_FMUL, vec, x, x);  /* 2 float */
	y = pctl_build_op(s.b, PCTL_OP_FSQRT, vec, y, 0); /* 2 divisions */
	x = pctl_build_op(s.b, PCTL_OP_FSIN, vec, x, 0);  /* 2 elementary */
	pctl_build_op(s.b, PCTL_OP_FLT, bools, y, x);	  /* 2 float */
	x = pctl_build_op(s.b, PCTL_OP_FCONVERT, pctl_build_scalar(s.b, PCTL_SCALAR_F16), lid,
			  0); /* 1 float */
	pctl_build_op(s.b, PCTL_OP_FNEG, pctl_build_scalar(s.b, PCTL_SCALAR_F16), x, 0); /* 1 */
	args[0] = lid;
	args[1] = args[2] = args[3] = args[4] = 7;
	pctl_build_inst(s.b, PCTL_OP_LOOKUP, s.u32, args, 5); /* 1 integer */
	pctl_build_inst(s.b, PCTL_OP_LOOKUP, pctl_build_scalar(s.b, PCTL_SCALAR_U64), args,
			5); /* 2 integer */
	sample_entry(&s, pctl_build_function_end(s.b), 3, 1, 1);
	return s.b;
}

static void floats(void **state)
{
	uint64_t m, s;

	(void)state;
	price(floating(), &m, &s);
	assert_int_equal(m, 3 * (2 + 2 * 8 + 2 * 64 + 2 + 1 + 1 + 1 + 2));
	assert_int_equal(s, m);
}

/* A schedule older than floats refuses them, naming operation and schedule. */
static void unpriced(void **state)
{
	pctl_gas_schedule *first = schedule(STRUCTURED_FIRST);
	pctl_counts counts = {.head = PCTL_HEAD(pctl_counts)};
	pctl_gas_query q = {.groups = {1, 1, 1}};
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_builder *b = floating();
	pctl_program *p = NULL;
	pctl_analysis *a = NULL;
	pctl_gas_price out;
	uint64_t actual;

	(void)state;
	assert_int_equal(pctl_builder_finish(b, NULL, &p), PCTL_OK);
	pctl_builder_destroy(b);
	assert_int_equal(pctl_program_analyse(p, NULL, NULL, &a), PCTL_OK);
	q.program = p;
	q.analysis = a;
	assert_int_equal(pctl_gas_price_of(first, &q, pctl_diag_list_call(l), &out),
			 PCTL_E_INVALID);
	assert_int_equal(pctl_diag_list_at(l, 0)->code, PC2604_GAS_UNPRICED);
	assert_non_null(strstr(pctl_diag_list_at(l, 0)->message, "structured-1"));
	assert_non_null(strstr(pctl_diag_list_at(l, 0)->message, "FMUL"));
	counts.op_units[PCTL_OP_LOOKUP] = 1;
	assert_int_equal(pctl_gas_actual(first, &counts, pctl_diag_list_call(l), &actual),
			 PCTL_E_INVALID);
	assert_int_equal(actual, 0);
	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
	pctl_diag_list_destroy(l);
	pctl_gas_schedule_destroy(first);
}

/* What only legalised programs hold is never priced, and its numbers stay inside the table. */
static void legalised(void **state)
{
	uint32_t x;
	uint64_t m, st;
	sample s;

	(void)state;
	sample_begin(&s);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	x = sample_builtin(&s, PCTL_BUILTIN_LOCAL_INDEX, 0);
	sample_op(&s, PCTL_OP_MUL_HIGH, x, x);
	x = pctl_build_op(s.b, PCTL_OP_NCONVERT, pctl_build_scalar(s.b, PCTL_SCALAR_F64), x, 0);
	pctl_build_op(s.b, PCTL_OP_NMUL, pctl_build_scalar(s.b, PCTL_SCALAR_F64), x, x);
	sample_entry(&s, pctl_build_function_end(s.b), 1, 1, 1);
	price(s.b, &m, &st);
	assert_int_equal(m, 0);
	assert_int_equal(st, 0);
}

static void a_whole_job(void **state)
{
	pctl_gas_schedule *s = schedule(STRUCTURED);
	pctl_builder *b = sample_guarded();
	pctl_gas_query q = {.groups = {3, 1, 1},
			    .input_bytes = 1,
			    .output_bytes = 256,
			    .uniform_bytes = 16,
			    .hops = 2};
	pctl_program *p = NULL;
	pctl_analysis *a = NULL;
	pctl_gas_price out;

	(void)state;
	assert_int_equal(pctl_builder_finish(b, NULL, &p), PCTL_OK);
	pctl_builder_destroy(b);
	assert_int_equal(pctl_program_analyse(p, NULL, NULL, &a), PCTL_OK);
	q.program = p;
	q.analysis = a;
	assert_int_equal(pctl_gas_price_of(s, &q, NULL, &out), PCTL_OK);
	assert_int_equal(out.dispatch, 3 * 31 * 64);
	assert_int_equal(out.memory, 9); /* 273 bytes are nine started units of 32 */
	assert_int_equal(out.hops, 1000);
	assert_int_equal(out.total, 3 * 31 * 64 + 9 + 1000);
	q.groups[0] = q.groups[1] = q.groups[2] = UINT32_MAX; /* 2^96 groups */
	assert_int_equal(pctl_gas_price_of(s, &q, NULL, &out), PCTL_E_GAS);
	assert_int_equal(out.total, 0);
	q.groups[0] = q.groups[1] = q.groups[2] = 1;
	q.hops = UINT64_MAX / 100;
	assert_int_equal(pctl_gas_price_of(s, &q, NULL, &out), PCTL_E_GAS);
	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
	pctl_gas_schedule_destroy(s);
}

/* A load of 16 components a lane (their bytes, three steps each), a product of 8 components and 32 terms of two steps. Older
 * schedules have no price. */
static void tiles(void **state)
{
	pctl_gas_schedule *old = schedule(STRUCTURED), *now = schedule(FOLDED);
	pctl_gas_query q = {.groups = {1, 1, 1}};
	pctl_analysis *a = NULL;
	pctl_program *p = NULL;
	pctl_gas_price out;
	uint32_t left, right, result, words[3];
	sample s;

	(void)state;
	sample_begin(&s);
	s.data = sample_storage(&s, "data", pctl_build_array(s.b, s.i32, 0, 0), 0, 1);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	left = pctl_build_tile(s.b, PCTL_SCALAR_I8, PCTL_TILE_LEFT, 32, 16);
	right = pctl_build_tile(s.b, PCTL_SCALAR_I8, PCTL_TILE_RIGHT, 16, 32);
	result = pctl_build_tile(s.b, PCTL_SCALAR_I32, PCTL_TILE_RESULT, 16, 16);
	words[0] = words[1] = sample_const(&s, 0);
	words[2] = s.data;
	words[0] = pctl_build_inst(s.b, PCTL_OP_TILE_LOAD_ROWS, left, words, 3);
	words[1] = pctl_build_inst(s.b, PCTL_OP_ZERO, right, NULL, 0);
	words[2] = pctl_build_inst(s.b, PCTL_OP_ZERO, result, NULL, 0);
	pctl_build_inst(s.b, PCTL_OP_TILE_MULTIPLY_ADD, result, words, 3);
	sample_entry(&s, pctl_build_function_end(s.b), 32, 1, 1);
	assert_int_equal(pctl_builder_finish(s.b, NULL, &p), PCTL_OK);
	pctl_builder_destroy(s.b);
	assert_int_equal(pctl_program_analyse(p, NULL, NULL, &a), PCTL_OK);
	assert_int_equal(a->ticks[1][0].storage_read_bytes, 16);
	assert_int_equal(a->ticks[1][0].integer_ops, 16 * 3 + 8 * 32 * 2);
	q.program = p;
	q.analysis = a;
	assert_int_equal(pctl_gas_price_of(now, &q, NULL, &out), PCTL_OK);
	assert_int_equal(pctl_gas_price_of(old, &q, NULL, &out),
			 pctl_code_status(PC2604_GAS_UNPRICED));
	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
	pctl_gas_schedule_destroy(old);
	pctl_gas_schedule_destroy(now);
}

/* A sum of two components over 32 lanes is 64 units, a shuffle of them 2 of 2 each, elect 1; 64 invocations. Older schedules
 * have no price. */
static void subgroups(void **state)
{
	pctl_gas_schedule *old = schedule(STRUCTURED), *now = schedule(FOLDED);
	pctl_gas_query q = {.groups = {1, 1, 1}};
	pctl_analysis *a = NULL;
	pctl_program *p = NULL;
	pctl_gas_price out;
	uint32_t pair, x, zero, words[3];
	sample s;

	(void)state;
	sample_begin(&s);
	s.data = sample_storage(&s, "data", s.array, 0, 1);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	pair = pctl_build_vector(s.b, PCTL_SCALAR_U32, 2);
	x = pctl_build_inst(s.b, PCTL_OP_ZERO, pair, NULL, 0);
	zero = sample_const(&s, 0);
	words[0] = x;
	words[1] = 32;
	pctl_build_inst(s.b, PCTL_OP_SUBGROUP_ADD, pair, words, 2);
	words[1] = zero;
	words[2] = 32;
	pctl_build_inst(s.b, PCTL_OP_SUBGROUP_SHUFFLE, pair, words, 3);
	pctl_build_inst(s.b, PCTL_OP_SUBGROUP_ELECT, pctl_build_scalar(s.b, PCTL_SCALAR_BOOL),
			words + 2, 1);
	sample_entry(&s, pctl_build_function_end(s.b), 64, 1, 1);
	assert_int_equal(pctl_builder_finish(s.b, NULL, &p), PCTL_OK);
	pctl_builder_destroy(s.b);
	assert_int_equal(pctl_program_analyse(p, NULL, NULL, &a), PCTL_OK);
	q.program = p;
	q.analysis = a;
	assert_int_equal(pctl_gas_price_of(now, &q, NULL, &out), PCTL_OK);
	assert_int_equal(out.cost_per_workgroup, 64 * (64 + 4 + 1));
	assert_int_equal(pctl_gas_price_of(old, &q, NULL, &out),
			 pctl_code_status(PC2604_GAS_UNPRICED));
	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
	pctl_gas_schedule_destroy(old);
	pctl_gas_schedule_destroy(now);
}

/* Sums of f64 count as two floats each, and a load as its eight bytes; schedules before structured-3 have no price. */
static void doubles(void **state)
{
	static const char *const before[] = {CYBERGRAPH_FIRST, CYBERGRAPH, STRUCTURED_FIRST,
					     STRUCTURED};
	pctl_gas_schedule *now = schedule(FOLDED);
	pctl_gas_query q = {.groups = {1, 1, 1}};
	uint32_t words[2], f64, pair;
	pctl_analysis *a = NULL;
	pctl_program *p = NULL;
	pctl_gas_price out;
	sample s;

	(void)state;
	sample_begin(&s);
	s.data = sample_storage(&s, "data", s.array, 0, 1);
	pctl_build_function_begin(s.b, "main", NULL, 0, 0);
	f64 = pctl_build_scalar(s.b, PCTL_SCALAR_F64);
	pair = pctl_build_vector(s.b, PCTL_SCALAR_F64, 2);
	words[0] = words[1] = pctl_build_const(s.b, f64, 0x3ff0000000000000u);
	pctl_build_inst(s.b, PCTL_OP_FADD, f64, words, 2);
	words[0] = words[1] = pctl_build_inst(s.b, PCTL_OP_ZERO, pair, NULL, 0);
	pctl_build_inst(s.b, PCTL_OP_FDIV, pair, words, 2);
	sample_entry(&s, pctl_build_function_end(s.b), 64, 1, 1);
	assert_int_equal(pctl_builder_finish(s.b, NULL, &p), PCTL_OK);
	pctl_builder_destroy(s.b);
	assert_int_equal(pctl_program_analyse(p, NULL, NULL, &a), PCTL_OK);
	q.program = p;
	q.analysis = a;
	assert_int_equal(pctl_gas_price_of(now, &q, NULL, &out), PCTL_OK);
	assert_int_equal(out.cost_per_workgroup, 64 * (2 + 8 * 4));
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		pctl_gas_schedule *old = schedule(before[i]);

		assert_int_equal(pctl_gas_price_of(old, &q, NULL, &out),
				 pctl_code_status(PC2604_GAS_UNPRICED));
		pctl_gas_schedule_destroy(old);
	}
	pctl_analysis_destroy(a);
	pctl_program_destroy(p);
	pctl_gas_schedule_destroy(now);
}

/* What a backend would count for `guarded` with all 64 invocations below the length. */
static void counted(void **state)
{
	pctl_gas_schedule *s = schedule(STRUCTURED);
	pctl_counts c = {.head = PCTL_HEAD(pctl_counts)};
	uint64_t out;

	(void)state;
	c.op_units[PCTL_OP_ARRAY_LENGTH] = c.op_units[PCTL_OP_LT] = c.op_units[PCTL_OP_MUL] = 64;
	c.op_units[PCTL_OP_ADD] = 64;
	c.op_units[PCTL_OP_LOAD] = c.op_units[PCTL_OP_STORE] = 256; /* bytes, priced below */
	c.storage_read_bytes = c.storage_write_bytes = 256;
	assert_int_equal(pctl_gas_actual(s, &c, NULL, &out), PCTL_OK);
	assert_int_equal(out, 64 * (4 + 10 + 15));
	c.barriers[PCTL_BARRIER_WORKGROUP | PCTL_BARRIER_STORAGE] = 2;
	assert_int_equal(pctl_gas_actual(s, &c, NULL, &out), PCTL_OK);
	assert_int_equal(out, 64 * (4 + 10 + 15) + 300);
	c.op_units[PCTL_OP_DIV] = UINT64_MAX / 2;
	assert_int_equal(pctl_gas_actual(s, &c, NULL, &out), PCTL_E_GAS);
	pctl_gas_schedule_destroy(s);
}

/* ---- reading ---- */

/* The shipped file with one edit: the code of the first diagnostic and its line. */
static uint32_t edited(const char *from, const char *to, uint32_t *line)
{
	char path[] = "/tmp/pctl-test-gas-XXXXXX", *text, *at;
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_gas_schedule *s = NULL;
	FILE *f = fopen(STRUCTURED, "r");
	int fd = mkstemp(path);
	uint32_t code;
	size_t n;

	assert_non_null(f);
	assert_true(fd >= 0);
	text = calloc(1, 65536);
	n = fread(text, 1, 65535, f);
	fclose(f);
	assert_true(n > 0);
	at = strstr(text, from);
	assert_non_null(at);
	f = fdopen(fd, "w");
	fwrite(text, 1, (size_t)(at - text), f);
	fputs(to, f);
	fputs(at + strlen(from), f);
	fclose(f);
	assert_int_not_equal(pctl_gas_schedule_read(path, pctl_diag_list_call(l), &s), PCTL_OK);
	assert_null(s);
	code = pctl_diag_list_at(l, 0)->code;
	*line = pctl_diag_list_at(l, 0)->pos.line;
	unlink(path);
	free(text);
	pctl_diag_list_destroy(l);
	return code;
}

static void strict_reading(void **state)
{
	uint32_t line;

	(void)state;
	assert_int_equal(edited("ADD = \"integer 1\"", "ADD = \"integer\"", &line),
			 PC2600_GAS_COST);
	assert_true(line > 20);
	assert_int_equal(edited("LOAD = \"bytes\"", "LOAD = \"none\"", &line), PC2600_GAS_COST);
	assert_int_equal(edited("    MUL = \"integer 1\";\n", "", &line), PC2601_GAS_COST_KEY);
	assert_int_equal(edited("    MUL = ", "    MULL = \"none\"; MUL = ", &line),
			 PC2601_GAS_COST_KEY);
	assert_true(line > 20);
	assert_int_equal(edited("memory_unit_bytes = \"32\"", "memory_unit_bytes = \"0\"", &line),
			 PC2603_GAS_SCHEDULE);
	assert_int_not_equal(edited("    division = \"4\";", "", &line), 0);
	/* so do the prices of subgroup operations */
	assert_int_equal(edited("    MUL = ", "    SUBGROUP_ADD = \"integer 1\"; MUL = ", &line),
			 PC2601_GAS_COST_KEY);
	/* weights and prices of floats come together or not at all */
	/* and of erf and the like */
	assert_int_equal(edited("    MUL = ", "    FERF = \"elementary 1\"; MUL = ", &line),
			 PC2601_GAS_COST_KEY);
	assert_int_equal(edited("    float = \"1\";", "", &line), PC2603_GAS_SCHEDULE);
	assert_int_equal(edited("    FMUL = \"float 1\";\n", "", &line), PC2601_GAS_COST_KEY);
	assert_int_equal(edited("    LOOKUP = \"integer 1\";\n", "", &line), PC2601_GAS_COST_KEY);
	assert_int_equal(edited("    FMUL = ", "    NMUL = \"none\"; FMUL = ", &line),
			 PC2601_GAS_COST_KEY);
	assert_int_equal(edited("    FMUL = ", "    MUL_HIGH = \"none\"; FMUL = ", &line),
			 PC2601_GAS_COST_KEY);
	assert_int_not_equal(edited("    division = ", "    divisions = \"4\"; division = ", &line),
			     0);
	assert_int_not_equal(edited("loops = \"structured\"", "loops = \"often\"", &line), 0);
}

PCTL_TESTS_MAIN(PCTL_TEST(files_agree_with_the_default),
		PCTL_TEST(first_schedules_are_as_they_were), PCTL_TEST(floats), PCTL_TEST(unpriced),
		PCTL_TEST(subgroups), PCTL_TEST(doubles), PCTL_TEST(tiles), PCTL_TEST(legalised),
		PCTL_TEST(guarded), PCTL_TEST(loops_and_barriers), PCTL_TEST(dearer_side),
		PCTL_TEST(units_and_proof_rule), PCTL_TEST(a_whole_job), PCTL_TEST(counted),
		PCTL_TEST(strict_reading))
