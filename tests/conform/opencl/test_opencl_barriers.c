/* The OpenCL C of programs with barriers, without a device: where all meet, who leaves at once, what is written out in main. What goes wrong
 * without is the engine suite's to show, on drivers (barrier-parted, barrier-rest). */
#include "sketch.h"

#include <stdio.h>
#include <string.h>

#include "planted.h" /* before emit.h, whose type `text` its arguments would shadow */

#include "clc/emit.h"

/* ---- where all meet ---- */

static uint32_t times(const char *source, const char *words)
{
	uint32_t n = 0;

	for (const char *at = source; (at = strstr(at, words)) != NULL; at++)
		n++;
	return n;
}

/* f1 waits. Main calls it in a loop: in both sides of a condition, in one of two cases, from which some go on with the next turn. */
static void text_of_sides(uint32_t local_x, uint32_t flags, text *out)
{
	const pctl_call call = {0};
	const uint32_t cases[2][2] = {{0, 3}, {1, 4}};
	uint32_t wait, x, local, var;
	pctl_program *p = NULL;
	emit_inlined inlined;
	sketch k;

	sketch_begin(&k, local_x);
	var = sketch_storage(&k, 0, pctl_build_array(k.b, k.t_u32, 0, 0), PCTL_ACCESS_READ_WRITE);
	pctl_build_function_begin(k.b, "wait", NULL, 0, 0);
	OP(&k, BARRIER, 0, PCTL_BARRIER_WORKGROUP);
	wait = pctl_build_function_end(k.b);
	sketch_main(&k);
	local = pctl_build_local(k.b, "i", k.t_u32) | PCTL_PLACE_LOCAL;
	OP0(&k, LOOP, 0);
	x = OP(&k, LOAD, k.t_u32, local);
	OP(&k, LOOP_TEST, 0, OP(&k, LT, k.t_bool, x, k_u32(&k, 9)));
	x = OP(&k, LOAD, k.t_u32, local);
	OP(&k, IF, 0, OP(&k, LT, k.t_bool, x, k_u32(&k, 4)));
	OP(&k, CALL, 0, wait);
	OP(&k, IF, 0, OP(&k, EQ, k.t_bool, global_x(&k), x));
	OP(&k, STORE, 0, x, var, x);
	OP0(&k, END_IF, 0);
	OP0(&k, ELSE, 0);
	OP(&k, BARRIER, 0, PCTL_BARRIER_STORAGE);
	OP0(&k, END_IF, 0);
	OP(&k, SWITCH, 0, x);
	pctl_build_inst(k.b, PCTL_OP_CASE, 0, cases[0], 2);
	OP(&k, CALL, 0, wait);
	OP(&k, IF, 0, OP(&k, EQ, k.t_bool, global_x(&k), x));
	OP0(&k, CONTINUE, 0);
	OP0(&k, END_IF, 0);
	OP(&k, STORE, 0, x, var, k_u32(&k, 7));
	pctl_build_inst(k.b, PCTL_OP_CASE, 0, cases[1], 2);
	OP0(&k, END_SWITCH, 0);
	OP0(&k, CONTINUING, 0);
	x = OP(&k, LOAD, k.t_u32, local);
	OP(&k, STORE, 0, OP(&k, ADD, k.t_u32, x, k_u32(&k, 1)), local);
	OP0(&k, END_LOOP, 0);
	pctl_build_entry(k.b,
			 &(const pctl_entry){.function = pctl_build_function_end(k.b),
					     .workgroup_size = {local_x, 1, 1}},
			 "main");
	assert_int_equal(pctl_builder_finish(k.b, &call, &p), PCTL_OK);
	pctl_builder_destroy(k.b);
	emit_inline(p, 1, &inlined);
	assert_int_equal(emit_program(&inlined.program, &call, flags, out), PCTL_OK);
	emit_inlined_free(&inlined);
	pctl_program_destroy(p);
}

/* One barrier for all, in one loop, and a label for each of the program's. */
static void test_opencl__conditions_that_wait_go_by_ticks(void **state)
{
	text met = {0}, plain = {0}, alone = {0};
	char named[64];

	(void)state;
	text_of_sides(64, EMIT_MEET, &met);
	text_of_sides(64, 0, &plain);
	text_of_sides(1, EMIT_MEET, &alone);
	assert_int_equal(times(met.s, "barrier("), 1);
	assert_int_equal(times(met.s, "; goto wait; t"), 3);
	assert_int_equal(times(met.s, "u: goto t"), 4);
	/* The loop of its own begins at one, and is gone on with by it, not by a cycle within. */
	assert_int_equal(times(met.s, "; goto again;"), 1);
	/* Values live from tick to tick: none is a variable of a block. */
	assert_int_equal(times(met.s, "\t\tuint v"), 0);
	assert_int_equal(times(plain.s, "barrier("), 3);
	assert_int_equal(times(plain.s, "tick"), 0);
	snprintf(named, sizeof(named), "%u barriers where invocations part",
		 times(plain.s, "barrier("));
	planted("what waits under a condition is left to the driver", "opencl source",
		"one barrier for all", named);
	assert_int_equal(times(alone.s, "barrier("), 0);
	assert_int_equal(times(alone.s, "tick"), 0);
	text_free(&met);
	text_free(&plain);
	text_free(&alone);
}

/* The source of main that calls a function with a barrier, a parameter, a local and a result behind n conditions, one after the
 * other, as inline.c leaves it, for lanes or with all functions in main; `early`: the function may return before its end. */
static int text_of_calls(uint32_t n, int early, int all, text *out)
{
	const pctl_call call = {0};
	uint32_t wait, x, var, local;
	pctl_program *p = NULL;
	emit_inlined inlined;
	int is_owned;
	sketch k;

	sketch_begin(&k, 64);
	var = sketch_storage(&k, 0, pctl_build_array(k.b, k.t_u32, 0, 0), PCTL_ACCESS_READ_WRITE);
	pctl_build_function_begin(k.b, "wait", &k.t_u32, 1, k.t_u32);
	local = pctl_build_local(k.b, "l", k.t_u32) | PCTL_PLACE_LOCAL;
	OP(&k, BARRIER, 0, PCTL_BARRIER_WORKGROUP);
	if (early) {
		OP(&k, IF, 0, OP(&k, LT, k.t_bool, 0, k_u32(&k, 4)));
		OP(&k, RETURN, 0, k_u32(&k, 4));
		OP0(&k, END_IF, 0);
	}
	OP(&k, STORE, 0, OP(&k, ADD, k.t_u32, 0, k_u32(&k, 1)), local);
	OP(&k, RETURN, 0, OP(&k, LOAD, k.t_u32, local));
	wait = pctl_build_function_end(k.b);
	sketch_main(&k);
	for (uint32_t i = 0; i < n; i++) {
		x = OP(&k, LOAD, k.t_u32, var, k_u32(&k, i));
		OP(&k, IF, 0, OP(&k, LT, k.t_bool, x, k_u32(&k, 4)));
		x = OP(&k, CALL, k.t_u32, wait, x);
		OP(&k, STORE, 0, x, var, global_x(&k));
		OP0(&k, END_IF, 0);
	}
	pctl_build_entry(k.b,
			 &(const pctl_entry){.function = pctl_build_function_end(k.b),
					     .workgroup_size = {64, 1, 1}},
			 "main");
	assert_int_equal(pctl_builder_finish(k.b, &call, &p), PCTL_OK);
	pctl_builder_destroy(k.b);
	emit_inline(p, all, &inlined);
	is_owned = inlined.owned;
	assert_int_equal(emit_program(&inlined.program, &call, all ? EMIT_MEET : 0, out), PCTL_OK);
	emit_inlined_free(&inlined);
	pctl_program_destroy(p);
	return is_owned;
}

/* For lanes, where many sides wait, main has all barriers, and locals of its own for each call; elsewhere calls stay. For ticks it
 * always has them, and what returns early is a block with its result in a local. */
static void test_opencl__functions_that_wait_are_written_out(void **state)
{
	text many = {0}, few = {0}, early = {0}, all = {0};

	(void)state;
	assert_true(text_of_calls(7, 0, 0, &many));
	assert_false(text_of_calls(5, 0, 0, &few));
	assert_false(text_of_calls(7, 1, 0, &early));
	assert_true(text_of_calls(2, 1, 1, &all));
	assert_int_equal(times(many.s, "barrier("), 7);
	assert_null(strstr(many.s, "f1("));
	assert_non_null(strstr(many.s, "uint l6;"));
	assert_non_null(strstr(few.s, " = f1("));
	assert_non_null(strstr(early.s, " = f1("));
	assert_null(strstr(all.s, "f1("));
	assert_int_equal(times(all.s, "barrier("), 1);
	/* Of each call its local, and what it returns. */
	assert_non_null(strstr(all.s, "uint l3;"));
	assert_null(strstr(all.s, "uint l4;"));
	text_free(&many);
	text_free(&few);
	text_free(&early);
	text_free(&all);
}

static void test_opencl__the_rest_of_a_vector_leaves(void **state)
{
	static const uint32_t sizes[] = {17, 64, 1};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		text asked = {0}, plain = {0};

		text_of_sides(sizes[i], EMIT_REST_LEAVES, &asked);
		text_of_sides(sizes[i], 0, &plain);
		assert_int_equal(strstr(asked.s, " >= 17u)\n\t\treturn;\n") != NULL, i == 0);
		assert_null(strstr(plain.s, ">= 17u)"));
		text_free(&asked);
		text_free(&plain);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opencl__conditions_that_wait_go_by_ticks),
		cmocka_unit_test(test_opencl__the_rest_of_a_vector_leaves),
		cmocka_unit_test(test_opencl__functions_that_wait_are_written_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
