/* The OpenCL C of float programs, without a device: what no driver here would show when it is lost. */
#include "sketch.h"

#include <stdlib.h>

#include "planted.h" /* before emit.h, whose type `text` its arguments would shadow */

#include "clc/emit.h"

#define CONTRACT "#pragma OPENCL FP_CONTRACT OFF\n"

/* out[0] = word of (a constant times itself, plus itself), and a table's element. */
static char *text_of(uint8_t scalar, uint64_t bits)
{
	const pctl_call call = {0};
	const uint32_t words[3] = {0xffc12345, 2, 3};
	pctl_program *p = NULL;
	uint32_t out, type, pair, x, args[4] = {0};
	text t = {0};
	sketch s;

	sketch_begin(&s, 1);
	type = pctl_build_scalar(s.b, scalar);
	out = sketch_storage(&s, 0, pctl_build_array(s.b, s.t_u32, 0, 0), PCTL_ACCESS_READ_WRITE);
	sketch_main(&s);
	x = pctl_build_const(s.b, type, bits);
	if (scalar == PCTL_SCALAR_F64) {
		pair = pctl_build_vector(s.b, PCTL_SCALAR_U32, 2);
		x = OP(&s, NADD, type, OP(&s, NMUL, type, x, x), x);
		x = OP(&s, EXTRACT, s.t_u32, OP(&s, BITCAST, pair, x), 1);
	} else if (scalar == PCTL_SCALAR_F32) {
		x = OP(&s, NADD, type, OP(&s, NMUL, type, x, x), x);
		x = OP(&s, BITCAST, s.t_u32, x);
	}
	OP(&s, STORE, 0, x, out, k_u32(&s, 0));
	args[0] = global_x(&s);
	memcpy(args + 1, words, sizeof(words));
	x = pctl_build_inst(s.b, PCTL_OP_LOOKUP, s.t_u32, args, 4);
	OP(&s, STORE, 0, x, out, k_u32(&s, 1));
	pctl_build_entry(s.b,
			 &(const pctl_entry){.function = pctl_build_function_end(s.b),
					     .workgroup_size = {1, 1, 1}},
			 "main");
	assert_int_equal(pctl_builder_finish(s.b, &call, &p), PCTL_OK);
	pctl_builder_destroy(s.b);
	assert_int_equal(emit_program(p, &call, 0, &t), PCTL_OK);
	pctl_program_destroy(p);
	return t.s;
}

static void test_opencl__pragmas_stand_first(void **state)
{
	char *single = text_of(PCTL_SCALAR_F32, 0x3f800001);
	char *twice = text_of(PCTL_SCALAR_F64, 0x3ff0000000000001);
	char *whole = text_of(PCTL_SCALAR_U32, 7);

	(void)state;
	assert_ptr_equal(strstr(single, CONTRACT), single);
	assert_null(strstr(single, "fp64"));
	assert_ptr_equal(strstr(twice, CONTRACT), twice);
	assert_true(strstr(twice, "cl_khr_fp64 : enable\n") < strchr(twice, '{'));
	assert_non_null(strstr(twice, "cl_khr_fp64 : enable\n"));
	assert_null(strstr(whole, "#pragma"));
	free(single);
	free(twice);
	free(whole);
}

static void test_opencl__numbers_are_bits(void **state)
{
	char *single = text_of(PCTL_SCALAR_F32, 0x7fc00001);
	char *twice = text_of(PCTL_SCALAR_F64, 0xfff8000000000003);

	(void)state;
	assert_non_null(strstr(single, "as_float(0x7fc00001u)"));
	assert_non_null(strstr(twice, "as_double(0xfff8000000000003ul)"));
	free(single);
	free(twice);
}

static void test_opencl__tables_end_in_zero(void **state)
{
	char *whole = text_of(PCTL_SCALAR_U32, 7);

	(void)state;
	assert_non_null(strstr(whole, "__constant uint c0[4] = {\n\t0xffc12345u, 0x00000002u, "
				      "0x00000003u,\n\t0};\n"));
	assert_non_null(strstr(whole, ", 3u)]"));
	free(whole);
}

/* ---- no whole is a value of C ---- */

/* Names of wholes are t and digits. What passes, returns or assigns one as a value, as far as text shows it: such a
 * name that opens a function's head or a parameter without an asterisk, and a declaration with an initializer. */
static int has_whole_value(const char *source, const char **where)
{
	for (const char *at = source; (at = strchr(at, 't')) != NULL; at++) {
		const char before = at == source ? '\n' : at[-1];
		const char *end = at + 1 + strspn(at + 1, "0123456789");
		const char *name = end + strspn(end, " ");
		const char *after = name + strcspn(name, " ;,()\n");

		if (end == at + 1 || *end != ' ' || !strchr("\n\t (,", before) || *name == '*')
			continue;
		*where = at;
		after += strspn(after, " ");
		if (*after == '=' || *after == '(' || *after == ',' || *after == ')')
			return 1;
	}
	return 0;
}

/* S { u32, array<u32, n> }: made in a function from an array, stored, loaded, inserted into and chosen as a whole; in
 * main an array whose element is written at a proven index is stored alone and within S. */
static char *text_of_wholes(uint32_t n)
{
	const pctl_call call = {0};
	pctl_member_spec members[2];
	uint32_t params[2], out, in, array, type, make, local, x, v, s;
	pctl_program *p = NULL;
	sketch k;
	text t = {0};

	sketch_begin(&k, 64);
	array = pctl_build_array(k.b, k.t_u32, n, 0);
	members[0] = (pctl_member_spec){.name = "n", .type = k.t_u32, .offset = PCTL_OFFSET_AUTO};
	members[1] = (pctl_member_spec){.name = "a", .type = array, .offset = PCTL_OFFSET_AUTO};
	type = pctl_build_struct(k.b, members, 2);
	out = sketch_storage(&k, 0, pctl_build_array(k.b, type, 0, 0), PCTL_ACCESS_READ_WRITE);
	in = sketch_storage(&k, 1, pctl_build_array(k.b, k.t_u32, 0, 0), PCTL_ACCESS_READ);
	params[0] = array;
	params[1] = k.t_u32;
	pctl_build_function_begin(k.b, "make", params, 2, type);
	v = OP(&k, COMPOSE, type, 1, 0);
	OP(&k, RETURN, 0, v);
	make = pctl_build_function_end(k.b);
	sketch_main(&k);
	local = pctl_build_local(k.b, "a", array) | PCTL_PLACE_LOCAL;
	x = OP(&k, LOAD, k.t_u32, in, global_x(&k));
	OP(&k, STORE, 0, k_u32(&k, 77), local, OP(&k, AND, k.t_u32, x, k_u32(&k, 1)));
	v = OP(&k, LOAD, array, local);
	s = OP(&k, CALL, type, make, v, x);
	OP(&k, STORE, 0, s, out, global_x(&k));
	s = OP(&k, LOAD, type, out, x);
	s = OP(&k, INSERT, type, s, v, 1);
	s = OP(&k, SELECT, type, OP(&k, LT, k.t_bool, x, k_u32(&k, 9)), s, OP0(&k, ZERO, type));
	v = OP(&k, EXTRACT, array, s, 1);
	OP(&k, STORE, 0, OP(&k, COMPOSE, type, x, v), out, x);
	pctl_build_entry(k.b,
			 &(const pctl_entry){.function = pctl_build_function_end(k.b),
					     .workgroup_size = {64, 1, 1}},
			 "main");
	assert_int_equal(pctl_builder_finish(k.b, &call, &p), PCTL_OK);
	pctl_builder_destroy(k.b);
	assert_int_equal(emit_program(p, &call, 0, &t), PCTL_OK);
	pctl_program_destroy(p);
	return t.s;
}

static void test_opencl__wholes_are_no_values(void **state)
{
	const uint32_t counts[] = {2, 4, 16, 32, 1000};
	const char *where = "";

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		char *t = text_of_wholes(counts[i]);

		assert_non_null(strstr(t, "static inline void f1(t"));
		if (has_whole_value(t, &where))
			fail_msg("a whole is a value at: %.60s", where);
		assert_int_equal(strstr(t, "for (uint i0 = 0") != NULL, counts[i] > 16);
		assert_true(strlen(t) < 20000);
		free(t);
	}
}

/* What this backend wrote before, which NVIDIA's compiler got wrong. */
static void test_opencl__whole_values_are_found(void **state)
{
	static const char *const old[] = {
		"static inline t5 loadg5(const __global uchar *p)\n{\n",
		"static inline void storeg5(__global uchar *p, t5 x)\n{\n",
		"static inline t5 zero5(void)\n{\n",
		"static inline uint f2(t5 v0, uint v1)\n{\n",
		"\tt5 v7 = l0;\n",
		"\tt12 l0 = zero12();\n",
	};
	static const char *const fine[] = {
		"\tt5 v7;\n", "static inline void f2(t5 *r, const t5 *v0, uint v1)\n{\n", "} t5;\n",
		"\tt5 *q3 = &Q3;\n", "uint count0(uint x)"};
	const char *where;

	(void)state;
	for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++)
		assert_true(has_whole_value(old[i], &where));
	planted("an array passed by value to a store function", "opencl source",
		"no whole is a value of C", old[1]);
	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
		assert_false(has_whole_value(fine[i], &where));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opencl__pragmas_stand_first),
		cmocka_unit_test(test_opencl__numbers_are_bits),
		cmocka_unit_test(test_opencl__tables_end_in_zero),
		cmocka_unit_test(test_opencl__wholes_are_no_values),
		cmocka_unit_test(test_opencl__whole_values_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
