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

/* Products of packed bytes: by integers, or where the device has them by its own instructions. */
static void test_opencl__packed_products(void **state)
{
	const pctl_call call = {0};
	text plain = {0}, own = {0};
	pctl_program *p = NULL;
	uint32_t out, x, y;
	sketch s;

	(void)state;
	sketch_begin(&s, 1);
	out = sketch_storage(&s, 0, pctl_build_array(s.b, s.t_u32, 0, 0), PCTL_ACCESS_READ_WRITE);
	sketch_main(&s);
	x = global_x(&s);
	y = OP(&s, BITCAST, s.t_u32, OP(&s, DOT4_I8, s.t_i32, x, k_u32(&s, 0x80ff7f01)));
	OP(&s, STORE, 0, OP(&s, ADD, s.t_u32, y, OP(&s, DOT4_U8, s.t_u32, x, x)), out, x);
	pctl_build_entry(s.b,
			 &(const pctl_entry){.function = pctl_build_function_end(s.b),
					     .workgroup_size = {1, 1, 1}},
			 "main");
	assert_int_equal(pctl_builder_finish(s.b, &call, &p), PCTL_OK);
	pctl_builder_destroy(s.b);
	assert_int_equal(emit_program(p, &call, 0, &plain), PCTL_OK);
	assert_int_equal(emit_program(p, &call, EMIT_DP4A, &own), PCTL_OK);
	assert_null(strstr(plain.s, "asm"));
	assert_non_null(strstr(plain.s, "p_dot4_i8("));
	assert_non_null(strstr(own.s, "asm(\"dp4a.s32.s32 %0, %1, %2, %3;\""));
	assert_non_null(strstr(own.s, "asm(\"dp4a.u32.u32 %0, %1, %2, %3;\""));
	assert_non_null(strstr(own.s, "p_dp4a_i8("));
	assert_null(strstr(own.s, "p_dot4_"));
	text_free(&plain);
	text_free(&own);
	pctl_program_destroy(p);
}

/* All subgroup operations of one size in workgroups of 64, as NVIDIA's warps do them. */
static void subgroup_text(uint32_t size, uint32_t flags, text *out)
{
	static const uint16_t plain[] = {
		PCTL_OP_SUBGROUP_ADD,		PCTL_OP_SUBGROUP_MUL,
		PCTL_OP_SUBGROUP_MIN,		PCTL_OP_SUBGROUP_MAX,
		PCTL_OP_SUBGROUP_AND,		PCTL_OP_SUBGROUP_OR,
		PCTL_OP_SUBGROUP_XOR,		PCTL_OP_SUBGROUP_INCLUSIVE_ADD,
		PCTL_OP_SUBGROUP_INCLUSIVE_MUL, PCTL_OP_SUBGROUP_EXCLUSIVE_ADD,
		PCTL_OP_SUBGROUP_EXCLUSIVE_MUL};
	const pctl_call call = {0};
	pctl_program *p = NULL;
	uint32_t out_var, x, y, pair;
	sketch s;

	sketch_begin(&s, 1);
	pair = pctl_build_vector(s.b, PCTL_SCALAR_U32, 2);
	out_var =
		sketch_storage(&s, 0, pctl_build_array(s.b, s.t_u32, 0, 0), PCTL_ACCESS_READ_WRITE);
	sketch_main(&s);
	x = global_x(&s);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		const uint32_t args[2] = {x, size};

		y = pctl_build_inst(s.b, plain[i], s.t_u32, args, 2);
		OP(&s, STORE, 0, y, out_var, x);
	}
	y = OP(&s, SUBGROUP_MIN, s.t_i32, OP(&s, BITCAST, s.t_i32, x), size);
	x = OP(&s, SUBGROUP_BROADCAST, s.t_u32, x, 3, size);
	y = OP(&s, SUBGROUP_SHUFFLE_UP, s.t_u32, OP(&s, BITCAST, s.t_u32, y), x, size);
	y = OP(&s, SUBGROUP_SHUFFLE, pair, OP(&s, SPLAT, pair, y), x, size);
	OP(&s, STORE, 0, OP(&s, EXTRACT, s.t_u32, y, 1), out_var, x);
	pctl_build_entry(s.b,
			 &(const pctl_entry){.function = pctl_build_function_end(s.b),
					     .workgroup_size = {16, 4, 1}},
			 "main");
	assert_int_equal(pctl_builder_finish(s.b, &call, &p), PCTL_OK);
	pctl_builder_destroy(s.b);
	assert_int_equal(emit_program(p, &call, flags, out), PCTL_OK);
	pctl_program_destroy(p);
}

static void test_opencl__subgroups(void **state)
{
	text whole = {0}, steps = {0}, part = {0};

	(void)state;
	subgroup_text(32, EMIT_WARPS | EMIT_REDUX, &whole);
	subgroup_text(32, EMIT_WARPS, &steps);
	subgroup_text(8, EMIT_WARPS | EMIT_REDUX, &part);
	assert_non_null(strstr(whole.s, "#define P_SIZE 32u\n#define P_FULL 0xffffffffu\n"));
	assert_non_null(
		strstr(whole.s, "get_local_id(1) * 16u + (uint)get_local_id(2) * 64u) & 31u"));
	assert_non_null(strstr(whole.s, "P_REDUX(p_sum_smin, \"min.s32\")"));
	assert_non_null(strstr(steps.s, "P_SUM(p_sum_smin, as_uint(min(as_int(x), as_int(y))))"));
	assert_null(strstr(steps.s, "P_REDUX(p_"));
	assert_non_null(strstr(part.s, "#define P_SIZE 8u\n#define P_FULL 0xffu\n"));
	assert_null(strstr(part.s, "P_REDUX(p_"));
	assert_non_null(strstr(part.s, "p_sum_smin(("));
	assert_non_null(strstr(part.s, "(uint2)(p_move((v"));
	assert_ptr_equal(strstr(strstr(part.s, "#define P_SIZE") + 1, "#define P_SIZE"), NULL);
	if (getenv("PCTL_TEST_PRINT"))
		puts(part.s);
	text_free(&whole);
	text_free(&steps);
	text_free(&part);
}

/* A product of m x n x k, its factors out of workgroup memory (left by rows, right by columns) or out of storage (the other way
 * round), as NVIDIA's matrix units do it. */
static void tile_text(uint32_t m, uint32_t n, uint32_t k, int shared, text *out)
{
	const pctl_call call = {0};
	pctl_program *p = NULL;
	uint32_t left, right, result, array, to, from, x, y, zero;
	sketch s;

	sketch_begin(&s, 1);
	left = pctl_build_tile(s.b, PCTL_SCALAR_I8, PCTL_TILE_LEFT, k, m);
	right = pctl_build_tile(s.b, PCTL_SCALAR_I8, PCTL_TILE_RIGHT, n, k);
	result = pctl_build_tile(s.b, PCTL_SCALAR_I32, PCTL_TILE_RESULT, n, m);
	array = pctl_build_array(s.b, s.t_i32, 1024, 0);
	to = sketch_storage(&s, 0, array, PCTL_ACCESS_READ_WRITE);
	from = to;
	if (shared) {
		const pctl_var v = {.type = array,
				    .space = PCTL_SPACE_WORKGROUP,
				    .access = PCTL_ACCESS_READ_WRITE};

		from = pctl_build_var(s.b, &v, "t");
	}
	sketch_main(&s);
	zero = k_u32(&s, 0);
	if (shared) {
		x = OP(&s, TILE_LOAD_ROWS, left, zero, k_u32(&s, 48), from);
		y = OP(&s, TILE_LOAD_COLUMNS, right, zero, k_u32(&s, 48), from);
	} else {
		x = OP(&s, TILE_LOAD_COLUMNS, left, zero, k_u32(&s, 48), from);
		y = OP(&s, TILE_LOAD_ROWS, right, zero, k_u32(&s, 48), from);
	}
	x = OP(&s, TILE_MULTIPLY_ADD, result, x, y,
	       pctl_build_inst(s.b, PCTL_OP_ZERO, result, NULL, 0));
	OP(&s, TILE_STORE_ROWS, 0, x, zero, k_u32(&s, 16), to);
	OP(&s, BARRIER, 0, PCTL_BARRIER_SUBGROUP);
	pctl_build_entry(s.b,
			 &(const pctl_entry){.function = pctl_build_function_end(s.b),
					     .workgroup_size = {64, 1, 1}},
			 "main");
	assert_int_equal(pctl_builder_finish(s.b, &call, &p), PCTL_OK);
	pctl_builder_destroy(s.b);
	assert_int_equal(emit_program(p, &call, EMIT_WARPS | EMIT_MMA, out), PCTL_OK);
	pctl_program_destroy(p);
}

static uint32_t count_text(const char *in, const char *what)
{
	uint32_t n = 0;

	for (const char *s = strstr(in, what); s; s = strstr(s + 1, what))
		n++;
	return n;
}

static void test_opencl__tiles(void **state)
{
	text large = {0}, small = {0}, bytes = {0};

	(void)state;
	tile_text(16, 16, 32, 1, &large);
	tile_text(8, 8, 16, 1, &small);
	tile_text(16, 8, 32, 0, &bytes);
	/* Eight columns a product; of eight rows the other eight are none. */
	assert_int_equal(count_text(large.s, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"), 2);
	assert_int_equal(count_text(small.s, "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32"), 1);
	assert_non_null(strstr(small.s, "\"=r\"(n2), \"=r\"(n3)"));
	assert_null(strstr(large.s, "(n2)"));
	/* Sums wrap. */
	assert_null(strstr(large.s, "satfinite"));
	/* Lines of 16 bytes out of workgroup memory by one instruction, others byte by byte. */
	assert_int_equal(count_text(large.s, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 2);
	assert_int_equal(count_text(small.s, "ldmatrix.sync.aligned.m8n8.x1.shared.b16"), 2);
	assert_null(strstr(bytes.s, "ldmatrix"));
	assert_int_equal(count_text(bytes.s, "*(const __global uchar *)"), 4 * 4 + 2 * 4);
	/* 8 words of a result: rows g and g + 8, columns 2 t and the next, and eight further. */
	assert_int_equal(count_text(large.s, "*(__global uint *)"), 8);
	assert_non_null(strstr(large.s, "2u * t + 9u"));
	assert_non_null(strstr(large.s, "bar.warp.sync 0xffffffff;"));
	if (getenv("PCTL_TEST_PRINT"))
		puts(large.s);
	text_free(&large);
	text_free(&small);
	text_free(&bytes);
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
		cmocka_unit_test(test_opencl__packed_products),
		cmocka_unit_test(test_opencl__subgroups),
		cmocka_unit_test(test_opencl__tiles),
		cmocka_unit_test(test_opencl__numbers_are_bits),
		cmocka_unit_test(test_opencl__tables_end_in_zero),
		cmocka_unit_test(test_opencl__wholes_are_no_values),
		cmocka_unit_test(test_opencl__whole_values_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL) != 0;
}
