/* Private arrays that are made zero where they are first wanted (clc/late.c), as NVIDIA's devices get them: the source, and what it does on a driver, against a loop over the same in C. */
#include "planted.h" /* before emit.h, whose type `text` its arguments would shadow */

#include "text_driver.h"

#include <stdio.h>
#include <string.h>

#define PLACES 20u

/* Counts in an array: by a function, under conditions, in a loop, or not at all. */
static void build(uint32_t flags, text *out)
{
	const pctl_call call = {0};
	uint32_t in, to, type, counts, x, v, add, i, local;
	pctl_program *p = NULL;
	sketch k;

	sketch_begin(&k, 1);
	in = sketch_storage(&k, 0, pctl_build_array(k.b, k.t_u32, 0, 0), PCTL_ACCESS_READ);
	to = sketch_storage(&k, 1, pctl_build_array(k.b, k.t_u32, 0, 0), PCTL_ACCESS_READ_WRITE);
	type = pctl_build_array(k.b, k.t_u32, PLACES, 0);
	counts = sketch_var(&k, PCTL_SPACE_PRIVATE, type);
	pctl_build_function_begin(k.b, "add", &k.t_u32, 1, 0);
	x = OP(&k, LOAD, k.t_u32, counts, OP(&k, MOD, k.t_u32, 0, k_u32(&k, PLACES)));
	x = OP(&k, ADD, k.t_u32, x, 0);
	OP(&k, STORE, 0, x, counts, OP(&k, MOD, k.t_u32, 0, k_u32(&k, PLACES)));
	add = pctl_build_function_end(k.b);
	sketch_main(&k);
	local = pctl_build_local(k.b, "i", k.t_u32) | PCTL_PLACE_LOCAL;
	x = global_x(&k);
	v = OP(&k, LOAD, k.t_u32, in, x);
	OP(&k, IF, 0, OP(&k, NE, k.t_bool, OP(&k, AND, k.t_u32, v, k_u32(&k, 1)), k_u32(&k, 0)));
	OP(&k, CALL, 0, add, v);
	OP(&k, CALL, 0, add, v);
	OP0(&k, END_IF, 0);
	OP0(&k, LOOP, 0);
	i = OP(&k, LOAD, k.t_u32, local);
	OP(&k, LOOP_TEST, 0, OP(&k, LT, k.t_bool, i, k_u32(&k, 4)));
	i = OP(&k, LOAD, k.t_u32, local);
	OP(&k, IF, 0, OP(&k, NE, k.t_bool, OP(&k, AND, k.t_u32, v, k_u32(&k, 2)), k_u32(&k, 0)));
	OP(&k, STORE, 0, OP(&k, ADD, k.t_u32, OP(&k, LOAD, k.t_u32, counts, i), v), counts, i);
	OP0(&k, ELSE, 0);
	OP(&k, CALL, 0, add, i);
	OP0(&k, END_IF, 0);
	OP0(&k, CONTINUING, 0);
	i = OP(&k, LOAD, k.t_u32, local);
	OP(&k, STORE, 0, OP(&k, ADD, k.t_u32, i, k_u32(&k, 1)), local);
	OP0(&k, END_LOOP, 0);
	OP(&k, IF, 0, OP(&k, NE, k.t_bool, OP(&k, AND, k.t_u32, v, k_u32(&k, 8)), k_u32(&k, 0)));
	OP(&k, STORE, 0, OP0(&k, ZERO, type), counts);
	OP(&k, CALL, 0, add, v);
	OP0(&k, END_IF, 0);
	OP(&k, IF, 0, OP(&k, NE, k.t_bool, OP(&k, AND, k.t_u32, v, k_u32(&k, 4)), k_u32(&k, 0)));
	i = OP(&k, LOAD, k.t_u32, counts, OP(&k, MOD, k.t_u32, v, k_u32(&k, PLACES)));
	OP(&k, STORE, 0, OP(&k, ADD, k.t_u32, i, OP(&k, LOAD, k.t_u32, counts, k_u32(&k, 1))), to,
	   x);
	OP0(&k, END_IF, 0);
	pctl_build_entry(k.b,
			 &(const pctl_entry){.function = pctl_build_function_end(k.b),
					     .workgroup_size = {1, 1, 1}},
			 "main");
	assert_int_equal(pctl_builder_finish(k.b, &call, &p), PCTL_OK);
	pctl_builder_destroy(k.b);
	assert_int_equal(emit_program(p, &call, flags, out), PCTL_OK);
	pctl_program_destroy(p);
}

static uint32_t expected(uint32_t v)
{
	uint32_t counts[PLACES] = {0};

	counts[v % PLACES] += (v & 1) * 2 * v;
	for (uint32_t i = 0; i < 4; i++)
		counts[i] += v & 2 ? v : i;
	if (v & 8) {
		memset(counts, 0, sizeof(counts));
		counts[v % PLACES] = v;
	}
	return v & 4 ? counts[v % PLACES] + counts[1] : UNTOUCHED;
}

/* How many of all are wrong. */
static uint32_t wrong(driver *d, const char *source)
{
	uint32_t in[N], out[N], n = 0;

	for (uint32_t i = 0; i < N; i++) {
		in[i] = i * 7 + 3;
		out[i] = UNTOUCHED;
	}
	run_text(d, source, N, 0, in, out);
	for (uint32_t i = 0; i < N; i++)
		n += out[i] != expected(in[i]);
	return n;
}

static void test_opencl__arrays_become_zero_when_they_are_wanted(void **state)
{
	text late = {0}, early = {0}, plant = {0};
	char found[64];
	const char *at;

	build(EMIT_WARPS, &late);
	build(0, &early);
	/* Nothing at the beginning of the kernel; in the function, in a side of the condition in the loop, and behind it. */
	assert_null(strstr(strstr(late.s, "pctl_main"), "for ("));
	assert_non_null(strstr(strstr(early.s, "pctl_main"), "for ("));
	assert_non_null(strstr(late.s, ", uint *z2"));
	at = late.s;
	for (uint32_t i = 0; i < 3; i++) {
		at = strstr(at, "if (*z2) {");
		assert_non_null(at);
		at++;
	}
	assert_null(strstr(at, "if (*z2) {"));
	/* Zero again where nothing of it is used. */
	assert_non_null(strstr(late.s, "*z2 = 1u;"));
	assert_int_equal(wrong(*state, late.s), 0);
	assert_int_equal(wrong(*state, early.s), 0);
	/* It is ready once, not each time. */
	for (const char *rest = late.s; *rest != '\0';) {
		const char *mark = strstr(rest, "*z2 = 0u;\n");

		text_printf(&plant, "%.*s",
			    (int)(mark == NULL ? strlen(rest) : (size_t)(mark - rest)), rest);
		rest = mark == NULL ? "" : mark + strlen("*z2 = 0u;\n");
	}
	snprintf(found, sizeof(found), "%u of %u elements are wrong", wrong(*state, plant.s), N);
	assert_true(wrong(*state, plant.s) != 0);
	planted("a private array becomes zero whenever it is wanted", "opencl source",
		"the same counts in C", found);
	text_free(&late);
	text_free(&early);
	text_free(&plant);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opencl__arrays_become_zero_when_they_are_wanted),
	};

	return cmocka_run_group_tests(tests, open_driver, close_driver);
}
