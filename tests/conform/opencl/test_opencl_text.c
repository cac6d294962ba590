/* The OpenCL C of float programs, without a device: what no driver here would show when it is lost. */
#include "sketch.h"

#include <stdlib.h>

#include "emit.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opencl__pragmas_stand_first),
		cmocka_unit_test(test_opencl__numbers_are_bits),
		cmocka_unit_test(test_opencl__tables_end_in_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
