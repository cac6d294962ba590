/* Memory through the plugin: layouts, composites, workgroup memory that starts as zero, atomics,
 * barriers. */
#include "main.h"
#include "devices.h"

#include <stdlib.h>

static uint32_t u32_type(pctl_builder *b)
{
	return pctl_build_scalar(b, PCTL_SCALAR_U32);
}

/* ---- composites ---- */

/* A struct with padding, bools and arrays travels storage -> local -> storage; padding is not
 * touched. The big array takes the looped way. */
static void composites(rig *r)
{
	enum { BIG = 100, WORDS = 4 + 4 + 4 + 8 + BIG };
	uint32_t from[2 * WORDS + 8], to[2 * WORDS + 8], pick[2] = {1, 7};
	pctl_builder *b = rig_builder();
	const uint32_t u32 = u32_type(b), boolean = pctl_build_scalar(b, PCTL_SCALAR_BOOL);
	const uint32_t vec3 = pctl_build_vector(b, PCTL_SCALAR_I32, 3);
	const uint32_t inner_members =
		pctl_build_array(b, pctl_build_vector(b, PCTL_SCALAR_BOOL, 2), 2, 0);
	const pctl_member_spec inner_spec[] = {{"a", boolean, 0, 0, PCTL_OFFSET_AUTO},
					       {"v", vec3, 0, 0, PCTL_OFFSET_AUTO}};
	const uint32_t inner = pctl_build_struct(b, inner_spec, 2);
	const pctl_member_spec spec[] = {
		{"s", inner, 0, 0, PCTL_OFFSET_AUTO},	      /* 0: bool, pad x3, vec3, pad */
		{"b", inner_members, 0, 0, PCTL_OFFSET_AUTO}, /* 32: 4 bools */
		{"m", pctl_build_matrix(b, PCTL_SCALAR_U32, 2, 3), 0, 0, PCTL_OFFSET_AUTO}, /* 48 */
		{"big", pctl_build_array(b, u32, BIG, 0), 0, 0, PCTL_OFFSET_AUTO},	    /* 80 */
	};
	const uint32_t type = pctl_build_struct(b, spec, 4);
	const uint32_t size = pctl_build_type_at(b, type)->size;
	const uint32_t list = pctl_build_array(b, type, 0, 0);
	const uint32_t v_from = rig_storage(b, 0, list, 0);
	const uint32_t v_to = rig_storage(b, 1, list, 1);
	const uint32_t v_pick = rig_storage(b, 2, pctl_build_array(b, u32, 0, 0), 0);
	rig_bytes bytes[3] = {{from, 2u * size, 0}, {to, 2u * size, 0}, {pick, 8, 0}};
	uint32_t local, x, at, i, w = size / 4;
	rig_program p;

	assert_true(2 * w <= 2 * WORDS + 8);
	for (i = 0; i < 2 * w; i++)
		from[i] = 3000 + i;
	for (i = 0; i < 2; i++) { /* bools as the host writes them */
		from[i * w] = i;
		memcpy(&from[i * w + 8], (const uint32_t[]){1, 0, 0, 1}, 16);
	}
	memset(to, 0xcc, sizeof(to));
	pctl_build_function_begin(b, "main", NULL, 0, 0);
	local = PCTL_PLACE_LOCAL | pctl_build_local(b, "l", type);
	at = rig_inst(b, PCTL_OP_LOAD, u32, 2, v_pick, rig_u32(b, 0));
	x = rig_inst(b, PCTL_OP_LOAD, type, 2, v_from, at);
	rig_inst(b, PCTL_OP_STORE, 0, 2, x, local);
	x = rig_inst(b, PCTL_OP_LOAD, type, 1, local);
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, v_to, rig_u32(b, 0));
	at = rig_inst(b, PCTL_OP_LOAD, u32, 2, v_pick, rig_u32(b, 1));
	x = rig_inst(b, PCTL_OP_LOAD, type, 2, v_from, at); /* misses: all zero */
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, v_to, rig_u32(b, 1));
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, v_to, at); /* misses: nothing */
	rig_entry(b, 1, 1, 1);
	p = rig_finish(b);
	rig_run(r, p.wire, p.n, 0, bytes, 3, 1, 1, 1);
	for (i = 0; i < w; i++) {
		const int pad = (i >= 1 && i < 4) || i == 7 || i == 15 || i == 19 || i >= 20 + BIG;

		assert_int_equal(to[i], pad ? 0xcccccccc : from[w + i]);
		assert_int_equal(to[w + i], pad ? 0xcccccccc : 0);
	}
	free(p.wire);
}

/* Function and private variables start as zero, every time a function is entered, and take dynamic
 * indices with the same bounds. */
static void locals(rig *r)
{
	enum { N = 32 };
	uint32_t out[N * 4];
	rig_bytes bytes[1] = {{out, sizeof(out), 0}};
	pctl_builder *b = rig_builder();
	const uint32_t u32 = u32_type(b);
	const uint32_t vec4 = pctl_build_vector(b, PCTL_SCALAR_U32, 4);
	const uint32_t list = pctl_build_array(b, vec4, 5, 0);
	const uint32_t v_out = rig_storage(b, 0, pctl_build_array(b, u32, 0, 0), 1);
	const uint32_t v_private = rig_private(b, list);
	uint32_t f, x, y, i, local, at, base;
	rig_program p;

	pctl_build_function_begin(b, "f", (const uint32_t[]){u32, u32}, 2, u32);
	local = PCTL_PLACE_LOCAL | pctl_build_local(b, "l", list);
	x = 0, y = 1; /* the parameters */
	/* what a call before left here must be gone */
	at = rig_inst(b, PCTL_OP_LOAD, u32, 3, local, rig_u32(b, 1), rig_u32(b, 1));
	rig_inst(b, PCTL_OP_STORE, 0, 4, pctl_build_op(b, PCTL_OP_ADD, u32, x, rig_u32(b, 1000)),
		 local, x, y);
	rig_inst(b, PCTL_OP_STORE, 0, 4, rig_u32(b, 55), local, rig_u32(b, 1), rig_u32(b, 1));
	rig_inst(b, PCTL_OP_STORE, 0, 4, x, v_private, y, x);
	x = rig_inst(b, PCTL_OP_LOAD, u32, 3, local, x, y);
	x = pctl_build_op(b, PCTL_OP_ADD, u32, x,
			  pctl_build_op(b, PCTL_OP_MUL, u32, at, rig_u32(b, 7)));
	rig_inst(b, PCTL_OP_RETURN, 0, 1, x);
	f = pctl_build_function_end(b);
	pctl_build_function_begin(b, "main", NULL, 0, 0);
	i = rig_global_x(b);
	x = pctl_build_op(b, PCTL_OP_MOD, u32, i, rig_u32(b, 8));
	y = pctl_build_op(b, PCTL_OP_DIV, u32, i, rig_u32(b, 6));
	base = pctl_build_op(b, PCTL_OP_MUL, u32, i, rig_u32(b, 4));
	at = rig_inst(b, PCTL_OP_CALL, u32, 3, f, y, x);
	rig_inst(b, PCTL_OP_STORE, 0, 3, at, v_out, base);
	at = rig_inst(b, PCTL_OP_CALL, u32, 3, f, x, y);
	rig_inst(b, PCTL_OP_STORE, 0, 3, at, v_out,
		 pctl_build_op(b, PCTL_OP_ADD, u32, base, rig_u32(b, 1)));
	at = rig_inst(b, PCTL_OP_LOAD, u32, 3, v_private, y, x);
	rig_inst(b, PCTL_OP_STORE, 0, 3, at, v_out,
		 pctl_build_op(b, PCTL_OP_ADD, u32, base, rig_u32(b, 2)));
	at = rig_inst(b, PCTL_OP_LOAD, vec4, 2, v_private, x);
	at = rig_inst(b, PCTL_OP_EXTRACT_DYN, u32, 2, at, y);
	rig_inst(b, PCTL_OP_STORE, 0, 3, at, v_out,
		 pctl_build_op(b, PCTL_OP_ADD, u32, base, rig_u32(b, 3)));
	rig_entry(b, N, 1, 1);
	p = rig_finish(b);
	memset(out, 0xee, sizeof(out));
	rig_run(r, p.wire, p.n, 0, bytes, 1, 1, 1, 1);
	for (i = 0; i < N; i++) {
		const uint32_t a = i % 8, c = i / 6;
		uint32_t shadow[5][4] = {{0}};
		uint32_t first = c < 5 && a < 4 ? c + 1000 : 0,
			 second = a < 5 && c < 4 ? a + 1000 : 0;

		if (c == 1 && a == 1)
			first = second = 55;
		/* calls f(c, a), then f(a, c): private[y][x] = x */
		if (a < 5 && c < 4)
			shadow[a][c] = c;
		if (c < 5 && a < 4)
			shadow[c][a] = a;
		assert_int_equal(out[4 * i], first);
		assert_int_equal(out[4 * i + 1], second);
		assert_int_equal(out[4 * i + 2], c < 5 && a < 4 ? shadow[c][a] : 0);
		assert_int_equal(out[4 * i + 3], a < 5 && c < 4 ? shadow[a][c] : 0);
	}
	free(p.wire);
}

/* ---- workgroup memory and atomics ---- */

/* Reads all of its workgroup memory before any store: zero, on the second group on a core as well.
 */
static void group_zero(rig *r)
{
	enum { GROUPS = 64, SIZE = 64 };
	uint32_t out[GROUPS];
	rig_bytes bytes[1] = {{out, sizeof(out), 0}};
	pctl_builder *b = rig_builder();
	const uint32_t u32 = u32_type(b), boolean = pctl_build_scalar(b, PCTL_SCALAR_BOOL);
	const uint32_t vec3 = pctl_build_vector(b, PCTL_SCALAR_U32, 3);
	const pctl_member_spec spec[] = {{"flag", boolean, 0, 0, PCTL_OFFSET_AUTO},
					 {"x", u32, 0, 0, PCTL_OFFSET_AUTO}};
	const uint32_t type = pctl_build_struct(b, spec, 2);
	const uint32_t grid = pctl_build_array(b, pctl_build_array(b, type, 7, 0), 30, 0);
	const uint32_t v_grid = rig_group_var(b, grid);
	const uint32_t v_one = rig_group_var(b, type);
	const uint32_t v_sum = rig_group_var(b, pctl_build_atomic(b, PCTL_SCALAR_U32));
	const uint32_t v_out = rig_storage(b, 0, pctl_build_array(b, u32, 0, 0), 1);
	uint32_t index, group, x, y, k, seen, nothing;
	rig_program p;

	pctl_build_function_begin(b, "main", NULL, 0, 0);
	index = rig_inst(b, PCTL_OP_BUILTIN, u32, 1, PCTL_BUILTIN_LOCAL_INDEX);
	group = rig_inst(b, PCTL_OP_BUILTIN, vec3, 1, PCTL_BUILTIN_WORKGROUP_ID);
	group = rig_inst(b, PCTL_OP_EXTRACT, u32, 2, group, 0);
	seen = rig_u32(b, 0);
	for (k = 0; k < 4;
	     k++) { /* cells index, index + 64, .. of 210; the last is past the end for some */
		x = pctl_build_op(b, PCTL_OP_ADD, u32, index, rig_u32(b, 64 * k));
		y = pctl_build_op(b, PCTL_OP_DIV, u32, x, rig_u32(b, 7));
		x = pctl_build_op(b, PCTL_OP_MOD, u32, x, rig_u32(b, 7));
		nothing = rig_inst(b, PCTL_OP_LOAD, u32, 4, v_grid, y, x, 1);
		seen = pctl_build_op(b, PCTL_OP_OR, u32, seen, nothing);
		nothing = rig_inst(b, PCTL_OP_LOAD, boolean, 4, v_grid, y, x, 0);
		seen = pctl_build_op(b, PCTL_OP_OR, u32, seen,
				     rig_inst(b, PCTL_OP_CAST, u32, 1, nothing));
	}
	nothing = rig_inst(b, PCTL_OP_LOAD, u32, 2, v_one, 1);
	seen = pctl_build_op(b, PCTL_OP_OR, u32, seen, nothing);
	rig_inst(b, PCTL_OP_BARRIER, 0, 1, PCTL_BARRIER_WORKGROUP);
	/* leave dirt for the next group */
	for (k = 0; k < 4; k++) {
		x = pctl_build_op(b, PCTL_OP_ADD, u32, index, rig_u32(b, 64 * k));
		y = pctl_build_op(b, PCTL_OP_DIV, u32, x, rig_u32(b, 7));
		x = pctl_build_op(b, PCTL_OP_MOD, u32, x, rig_u32(b, 7));
		rig_inst(b, PCTL_OP_STORE, 0, 5, rig_u32(b, 0xdeadbeef), v_grid, y, x, 1);
		rig_inst(b, PCTL_OP_STORE, 0, 5, pctl_build_const(b, boolean, 1), v_grid, y, x, 0);
	}
	rig_inst(b, PCTL_OP_ATOMIC_ADD, u32, 2,
		 pctl_build_op(b, PCTL_OP_ADD, u32, seen, rig_u32(b, 1)), v_sum);
	rig_inst(b, PCTL_OP_BARRIER, 0, 1, PCTL_BARRIER_WORKGROUP);
	rig_inst(b, PCTL_OP_STORE, 0, 3, rig_u32(b, 0xdeadbeef), v_one, 1);
	x = rig_inst(b, PCTL_OP_LOAD_UNIFORM, u32, 2, v_one, 1);
	y = rig_inst(b, PCTL_OP_ATOMIC_LOAD, u32, 1, v_sum);
	x = pctl_build_op(b, PCTL_OP_XOR, u32, x, rig_u32(b, 0xdeadbeef));
	x = pctl_build_op(b, PCTL_OP_ADD, u32, x, y);
	rig_inst(b, PCTL_OP_IF, 0, 1, pctl_build_op(b, PCTL_OP_EQ, boolean, index, rig_u32(b, 0)));
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, v_out, group);
	rig_inst(b, PCTL_OP_END_IF, 0, 0);
	rig_entry(b, 8, 4, 2);
	p = rig_finish(b);
	memset(out, 0xee, sizeof(out));
	rig_run(r, p.wire, p.n, 0, bytes, 1, GROUPS, 1, 1);
	for (k = 0; k < GROUPS; k++)
		assert_int_equal(out[k], SIZE);
	free(p.wire);
}

typedef struct atomic_case {
	uint16_t op;
	uint8_t scalar;
	uint32_t start;
	uint32_t want;
} atomic_case;

/* N invocations with operand i*3+1 (or the pattern of the op) on one cell; some aim past the end.
 */
static void atomics(rig *r)
{
	enum { N = 256 };
	static const atomic_case cases[] = {
		{PCTL_OP_ATOMIC_ADD, PCTL_SCALAR_U32, 5, 5 + 3 * (255 * 256 / 2) + 256},
		{PCTL_OP_ATOMIC_SUB, PCTL_SCALAR_U32, 5, 5u - 3 * (255 * 256 / 2) - 256},
		{PCTL_OP_ATOMIC_MIN, PCTL_SCALAR_U32, 0xfffffff0, 1},
		{PCTL_OP_ATOMIC_MIN, PCTL_SCALAR_I32, 0xfffffff0, 0xfffffff0},
		{PCTL_OP_ATOMIC_MAX, PCTL_SCALAR_U32, 0xfffffff0, 0xfffffff0},
		{PCTL_OP_ATOMIC_MAX, PCTL_SCALAR_I32, 0xfffffff0, 766},
		{PCTL_OP_ATOMIC_AND, PCTL_SCALAR_U32, 0xffffff01, 0},
		{PCTL_OP_ATOMIC_OR, PCTL_SCALAR_U32, 0x80000000, 0x800003ff},
		{PCTL_OP_ATOMIC_XOR, PCTL_SCALAR_U32, 0, 0},
	};
	uint32_t k, i;

	for (k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		const atomic_case *c = &cases[k];
		uint32_t cells[4] = {c->start, 0x1234, 0x5678, 0x9abc}, old[N], want = c->start, x,
			 at;
		rig_bytes bytes[2] = {{cells, sizeof(cells), 0}, {old, sizeof(old), 0}};
		pctl_builder *b = rig_builder();
		const uint32_t type = pctl_build_scalar(b, c->scalar), u32 = u32_type(b);
		const uint32_t v = rig_storage(
			b, 0, pctl_build_array(b, pctl_build_atomic(b, c->scalar), 0, 0), 1);
		const uint32_t v_old = rig_storage(b, 1, pctl_build_array(b, type, 0, 0), 1);
		rig_program p;

		pctl_build_function_begin(b, "main", NULL, 0, 0);
		at = rig_global_x(b);
		x = pctl_build_op(b, PCTL_OP_ADD, u32,
				  pctl_build_op(b, PCTL_OP_MUL, u32, at, rig_u32(b, 3)),
				  rig_u32(b, 1));
		x = rig_inst(b, PCTL_OP_CAST, type, 1, x);
		rig_inst(b, c->op, type, 3, x, v, rig_u32(b, 0));
		x = rig_inst(b, c->op, type, 3, x, v,
			     pctl_build_op(b, PCTL_OP_ADD, u32, at, rig_u32(b, 0x40000000)));
		rig_inst(b, PCTL_OP_STORE, 0, 3, x, v_old, at);
		rig_entry(b, 64, 1, 1);
		p = rig_finish(b);
		memset(old, 0xee, sizeof(old));
		rig_run(r, p.wire, p.n, 0, bytes, 2, N / 64, 1, 1);
		if (c->op == PCTL_OP_ATOMIC_XOR)
			for (i = 0, want = 0; i < N; i++)
				want ^= 3 * i + 1;
		else
			want = c->want;
		assert_int_equal(cells[0], want);
		assert_int_equal(cells[1], 0x1234);
		for (i = 0; i < N; i++)
			assert_int_equal(old[i], 0);
		free(p.wire);
	}
}

/* Exchange, compare-exchange, load and store, one invocation: the old values in order. */
static void atomic_values(rig *r)
{
	uint32_t cell[1] = {10}, out[6];
	rig_bytes bytes[2] = {{cell, 4, 0}, {out, sizeof(out), 0}};
	pctl_builder *b = rig_builder();
	const uint32_t u32 = u32_type(b);
	const uint32_t v = rig_storage(b, 0, pctl_build_atomic(b, PCTL_SCALAR_U32), 1);
	const uint32_t v_out = rig_storage(b, 1, pctl_build_array(b, u32, 0, 0), 1);
	uint32_t x[6], i;
	rig_program p;

	pctl_build_function_begin(b, "main", NULL, 0, 0);
	x[0] = rig_inst(b, PCTL_OP_ATOMIC_EXCHANGE, u32, 2, rig_u32(b, 11), v);
	x[1] = rig_inst(b, PCTL_OP_ATOMIC_CAS, u32, 3, rig_u32(b, 99), rig_u32(b, 12), v);
	x[2] = rig_inst(b, PCTL_OP_ATOMIC_CAS, u32, 3, rig_u32(b, 11), rig_u32(b, 13), v);
	x[3] = rig_inst(b, PCTL_OP_ATOMIC_LOAD, u32, 1, v);
	rig_inst(b, PCTL_OP_ATOMIC_STORE, 0, 2, rig_u32(b, 14), v);
	x[4] = rig_inst(b, PCTL_OP_ATOMIC_LOAD, u32, 1, v);
	x[5] = rig_inst(b, PCTL_OP_ATOMIC_MAX, u32, 2, rig_u32(b, 0xffffffff), v);
	for (i = 0; i < 6; i++)
		rig_inst(b, PCTL_OP_STORE, 0, 3, x[i], v_out, rig_u32(b, i));
	rig_entry(b, 1, 1, 1);
	p = rig_finish(b);
	rig_run(r, p.wire, p.n, 0, bytes, 2, 1, 1, 1);
	for (i = 0; i < 6; i++)
		assert_int_equal(out[i], ((const uint32_t[]){10, 11, 11, 13, 14, 14})[i]);
	assert_int_equal(cell[0], 0xffffffff);
	free(p.wire);
}

/* A storage barrier makes stores of one invocation visible to the others of the workgroup. */
static void storage_barrier(rig *r)
{
	enum { GROUPS = 32, SIZE = 128, N = GROUPS * SIZE };
	static uint32_t data[N], out[N];
	rig_bytes bytes[2] = {{data, sizeof(data), 0}, {out, sizeof(out), 0}};
	pctl_builder *b = rig_builder();
	const uint32_t u32 = u32_type(b);
	const uint32_t list = pctl_build_array(b, u32, 0, 0);
	const uint32_t v = rig_storage(b, 0, list, 1), v_out = rig_storage(b, 1, list, 1);
	uint32_t at, other, i, x, round;
	rig_program p;

	pctl_build_function_begin(b, "main", NULL, 0, 0);
	at = rig_global_x(b);
	other = pctl_build_op(b, PCTL_OP_XOR, u32, at, rig_u32(b, SIZE - 1));
	for (round = 0; round < 4; round++) {
		x = rig_inst(b, PCTL_OP_LOAD, u32, 2, v, other);
		rig_inst(b, PCTL_OP_BARRIER, 0, 1, PCTL_BARRIER_STORAGE);
		x = pctl_build_op(b, PCTL_OP_ADD, u32, x, at);
		rig_inst(b, PCTL_OP_STORE, 0, 3, x, v, at);
		rig_inst(b, PCTL_OP_BARRIER, 0, 1, PCTL_BARRIER_STORAGE | PCTL_BARRIER_WORKGROUP);
	}
	x = rig_inst(b, PCTL_OP_LOAD, u32, 2, v, other);
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, v_out, at);
	rig_entry(b, SIZE, 1, 1);
	p = rig_finish(b);
	for (i = 0; i < N; i++)
		data[i] = 7 * i;
	rig_run(r, p.wire, p.n, 0, bytes, 2, GROUPS, 1, 1);
	for (i = 0; i < N; i++) {
		const uint32_t o = i ^ (SIZE - 1);

		/* after an even number of swaps each holds its own start and both numbers twice */
		assert_int_equal(data[i], 7 * i + 2 * (i + o));
		assert_int_equal(out[i], 7 * o + 2 * (i + o));
	}
	free(p.wire);
}

DEVICE_TEST(composites_keep_padding, composites)
DEVICE_TEST(locals_start_as_zero, locals)
DEVICE_TEST(workgroup_memory_starts_as_zero, group_zero)
DEVICE_TEST(atomics_commute, atomics)
DEVICE_TEST(atomics_return_old_values, atomic_values)
DEVICE_TEST(storage_barrier_orders, storage_barrier)

PCTL_TESTS_MAIN(PCTL_TEST(test_vulkan__composites_keep_padding),
		PCTL_TEST(test_vulkan__locals_start_as_zero),
		PCTL_TEST(test_vulkan__workgroup_memory_starts_as_zero),
		PCTL_TEST(test_vulkan__atomics_commute),
		PCTL_TEST(test_vulkan__atomics_return_old_values),
		PCTL_TEST(test_vulkan__storage_barrier_orders))
