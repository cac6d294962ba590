/* Memory: out of bounds at every level, short and empty bindings, layout and padding, zeroed
 * variables, atomics, workgroup memory with barriers, workgroup ids, composite values. */
#include "harness.h"
#include "main.h"

#include <stdlib.h>

static uint32_t local(uint32_t index)
{
	return PCTL_PLACE_LOCAL | index;
}

static uint32_t add(prog *p, uint32_t a, uint32_t b)
{
	return prog_op(p, PCTL_OP_ADD, p->u32, 2, a, b);
}

static uint32_t mul(prog *p, uint32_t a, uint32_t b)
{
	return prog_op(p, PCTL_OP_MUL, p->u32, 2, a, b);
}

/* struct { head: u32, m: array<array<vec3<u32>, 3>, 2> }; every path of indices 0..4, i32 and u32.
 */
#define PATHS (5u * 5u * 5u)

static void three_levels(uint8_t space, int is_signed, uint32_t flags)
{
	uint32_t data[8 + 4 * 6] = {0}, out[PATHS * 2] = {0};
	bytes arrays[2] = {{data, sizeof(data), space == PCTL_SPACE_UNIFORM, 0},
			   {out, sizeof(out), 0, 0}};
	pctl_member_spec members[2] = {{"head", 0, 0, 0, PCTL_OFFSET_AUTO},
				       {"m", 0, 0, 0, PCTL_OFFSET_AUTO}};
	uint32_t type, source, result, gid, i[3], v, inner, row, member;
	prog p;
	rig r;

	rig_open(&r, PIPECTL_CPU_PLUGIN);
	prog_begin(&p);
	row = pctl_build_array(p.b, p.vec3, 3, 0);
	inner = pctl_build_array(p.b, row, 2, 0);
	members[0].type = p.u32;
	members[1].type = inner;
	type = pctl_build_struct(p.b, members, 2);
	source = space == PCTL_SPACE_UNIFORM ? prog_uniform(&p, "data", type)
					     : prog_storage(&p, "data", type, 1);
	result = prog_storage(&p, "out", pctl_build_array(p.b, p.u32, 0, 0), 1);
	if (space == PCTL_SPACE_UNIFORM) /* sorted by binding: unchanged */
		assert_true(source == 0 && result == 1);
	member = space == PCTL_SPACE_PRIVATE	 ? prog_var(&p, "mem", type, space)
		 : space == PCTL_SPACE_WORKGROUP ? prog_var(&p, "mem", type, space)
						 : source;
	prog_main(&p);
	if (space == PCTL_SPACE_FUNCTION)
		member = local(pctl_build_local(p.b, "mem", type));
	gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	if (member != source)
		prog_store(&p, prog_load(&p, type, source, 0), member, 0);
	if (space == PCTL_SPACE_WORKGROUP)
		prog_op(&p, PCTL_OP_BARRIER, 0, 1, PCTL_BARRIER_WORKGROUP);
	v = gid;
	for (int k = 0; k < 3; k++) {
		i[k] = prog_op(&p, PCTL_OP_MOD, p.u32, 2, v, prog_u32(&p, 5));
		v = prog_op(&p, PCTL_OP_DIV, p.u32, 2, v, prog_u32(&p, 5));
		/* 3 becomes -1 and 4 huge: both outside every level. */
		v = add(&p, v, prog_u32(&p, 0));
		i[k] = prog_op(&p, PCTL_OP_SELECT, p.u32, 3,
			       prog_op(&p, PCTL_OP_EQ, p.boolean, 2, i[k], prog_u32(&p, 4)),
			       prog_u32(&p, 0x40000001), i[k]);
		i[k] = prog_op(&p, PCTL_OP_SELECT, p.u32, 3,
			       prog_op(&p, PCTL_OP_EQ, p.boolean, 2, i[k], prog_u32(&p, 3)),
			       prog_u32(&p, 0xffffffff), i[k]);
		if (is_signed)
			i[k] = prog_op(&p, PCTL_OP_BITCAST, p.i32, 1, i[k]);
	}
	prog_store(&p, prog_load(&p, p.u32, member, 4, 1, i[0], i[1], i[2]), result, 1, gid);
	v = prog_load(&p, p.vec3, member, 3, 1, i[0], i[1]);
	v = prog_op(&p, PCTL_OP_EXTRACT_DYN, p.u32, 2, v, i[2]);
	prog_store(&p, v, result, 1, add(&p, gid, prog_u32(&p, PATHS)));
	for (uint32_t k = 0; k < sizeof(data) / 4; k++)
		data[k] = 1000 + k;
	rig_run_prog(&r, &p, 25, flags, arrays, 2, PATHS / 25); /* PATHS lanes, no more */
	for (uint32_t k = 0; k < PATHS; k++) {
		const uint32_t a = k % 5, b = k / 5 % 5, c = k / 25;
		/* head at 0, then rows of 3 vectors of 16 bytes from byte 16. */
		const uint32_t want = a < 2 && b < 3 && c < 3 ? 1000 + 4 + (a * 3 + b) * 4 + c : 0;

		if (out[k] != want || out[PATHS + k] != want)
			fail_msg("space %u signed %d flags %u path %u.%u.%u: %u and %u, not %u",
				 space, is_signed, flags, a, b, c, out[k], out[PATHS + k], want);
	}
	rig_close(&r);
}

static void a_miss_at_any_level_reads_zero(void **state)
{
	static const uint8_t spaces[] = {PCTL_SPACE_STORAGE, PCTL_SPACE_UNIFORM, PCTL_SPACE_PRIVATE,
					 PCTL_SPACE_WORKGROUP, PCTL_SPACE_FUNCTION};
	(void)state;
	for (size_t i = 0; i < sizeof(spaces); i++)
		for (int is_signed = 0; is_signed < 2; is_signed++)
			for (uint32_t flags = 0; flags < 4; flags++)
				three_levels(spaces[i], is_signed, flags);
}

/* Each lane stores its number through three indices; misses change nothing, padding stays. */
static void a_miss_at_any_level_writes_nothing(void **state)
{
	uint32_t data[4 * 6];
	bytes array = {data, sizeof(data), 0, 0};
	uint32_t root, gid, i[3], v;
	prog p;
	rig r;
	(void)state;

	rig_open(&r, PIPECTL_CPU_PLUGIN);
	prog_begin(&p);
	root = prog_storage(&p, "data",
			    pctl_build_array(p.b, pctl_build_array(p.b, p.vec3, 3, 0), 0, 0), 1);
	prog_main(&p);
	gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	v = gid;
	for (int k = 0; k < 3; k++) {
		i[k] = prog_op(&p, PCTL_OP_MOD, p.u32, 2, v, prog_u32(&p, 5));
		v = prog_op(&p, PCTL_OP_DIV, p.u32, 2, v, prog_u32(&p, 5));
	}
	prog_op(&p, PCTL_OP_IF, 0, 1,
		prog_op(&p, PCTL_OP_LT, p.boolean, 2, gid, prog_u32(&p, PATHS)));
	prog_store(&p, add(&p, gid, prog_u32(&p, 7)), root, 3, i[0], i[1], i[2]);
	prog_op(&p, PCTL_OP_END_IF, 0, 0);
	memset(data, 0xcd, sizeof(data));
	rig_run_prog(&r, &p, 64, 0, &array, 1, 2);
	for (uint32_t k = 0; k < sizeof(data) / 4; k++) {
		const uint32_t a = k / 12, b = k / 4 % 3, c = k % 4;
		const uint32_t want = c == 3 ? 0xcdcdcdcd : a + 5 * b + 25 * c + 7;

		assert_int_equal(data[k], want);
	}
	rig_close(&r);
}

/* out[n - 1 - gid] = in[gid * scale + shift] under a condition: one index, which falls off either
 * end. */
static void one_index(uint32_t width, int wide, uint32_t size, uint32_t scale, int32_t shift,
		      uint32_t flags)
{
	enum { N = 150, LENGTH = 100, WORDS = 8 };
	static uint32_t in[LENGTH * WORDS], out[N * WORDS];
	const uint8_t scalar = wide ? PCTL_SCALAR_U64 : PCTL_SCALAR_U32;
	const uint32_t part = wide ? 2 : 1, stride = part * (width == 3 ? 4 : width);
	bytes arrays[2] = {{in, LENGTH * stride * 4, 0, 0}, {out, N * stride * 4, 0, 0}};
	uint32_t type, src, dst, gid, at, c;
	prog p;
	rig r;

	rig_open(&r, PIPECTL_CPU_PLUGIN);
	prog_begin(&p);
	type = width == 1 ? pctl_build_scalar(p.b, scalar) : pctl_build_vector(p.b, scalar, width);
	src = prog_storage(&p, "in", pctl_build_array(p.b, type, 0, 0), 0);
	dst = prog_storage(&p, "out", pctl_build_array(p.b, type, 0, 0), 1);
	prog_main(&p);
	gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	at = prog_op(&p, PCTL_OP_BITCAST, p.i32, 1, mul(&p, gid, prog_u32(&p, scale)));
	at = prog_op(&p, PCTL_OP_ADD, p.i32, 2, at, prog_i32(&p, shift));
	c = prog_op(&p, PCTL_OP_MOD, p.u32, 2, gid, prog_u32(&p, 11));
	c = prog_op(&p, PCTL_OP_NE, p.boolean, 2, c, prog_u32(&p, flags & 8 ? 3 : 11));
	prog_op(&p, PCTL_OP_IF, 0, 1, c);
	prog_store(&p, prog_load(&p, type, src, 1, at), dst, 1,
		   prog_op(&p, PCTL_OP_SUB, p.u32, 2, prog_u32(&p, N - 1), gid));
	prog_op(&p, PCTL_OP_END_IF, 0, 0);
	for (uint32_t i = 0; i < LENGTH * WORDS; i++)
		in[i] = (uint32_t)rnd(31, i);
	memset(out, 0xdd, sizeof(out));
	rig_run_prog(&r, &p, size, flags & 3, arrays, 2, (N + size - 1) / size);
	for (uint32_t i = 0; i < N; i++) {
		const int64_t from = (int64_t)i * scale + shift;
		const int runs = !(flags & 8) || i % 11 != 3;

		for (uint32_t k = 0; k < stride; k++) {
			const uint32_t got = out[(N - 1 - i) * stride + k];
			const uint32_t want = !runs || k >= width * part ? 0xdddddddd
					      : from < 0 || from >= LENGTH
						      ? 0
						      : in[(uint64_t)from * stride + k];
			if (got != want)
				fail_msg("width %u wide %d size %u scale %u shift %d flags %u: "
					 "%u.%u is %x, not %x",
					 width, wide, size, scale, shift, flags, i, k, got, want);
		}
	}
	rig_close(&r);
}

static void one_index_off_either_end(void **state)
{
	static const int32_t shifts[] = {0, -60, 7, -1000};
	static const uint32_t sizes[] = {7, 64, 150};
	(void)state;

	for (uint32_t width = 1; width <= 4; width++)
		for (int wide = 0; wide < 2; wide++)
			for (uint32_t i = 0; i < 3; i++)
				for (uint32_t k = 0; k < 4; k++)
					for (uint32_t flags = 0; flags < 16; flags += 8)
						one_index(width, wide, sizes[i], 1 + k % 2,
							  shifts[k], flags | (k & 2) * (i == 2));
}

/* A whole struct with a bool, a 64-bit member and gaps: stores never touch padding. */
static void stores_leave_padding_alone(void **state)
{
	/* u32 at 0, vec3<u32> at 16, u64 at 32, u32 at 40; size 48 */
	uint8_t data[48 * 3];
	bytes array = {data, sizeof(data), 0, 0};
	pctl_member_spec m[4] = {{"a", 0, 0, 0, PCTL_OFFSET_AUTO},
				 {"v", 0, 0, 0, PCTL_OFFSET_AUTO},
				 {"l", 0, 0, 0, PCTL_OFFSET_AUTO},
				 {"z", 0, 0, 0, PCTL_OFFSET_AUTO}};
	uint32_t type, root, gid, one, value;
	prog p;
	rig r;
	(void)state;

	rig_open(&r, PIPECTL_CPU_PLUGIN);
	prog_begin(&p);
	m[0].type = m[3].type = p.u32;
	m[1].type = p.vec3;
	m[2].type = p.u64;
	type = pctl_build_struct(p.b, m, 4);
	root = prog_storage(&p, "data", pctl_build_array(p.b, type, 0, 0), 1);
	prog_main(&p);
	gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	one = prog_op(&p, PCTL_OP_COMPOSE, p.vec3, 3, gid, prog_u32(&p, 2), prog_u32(&p, 3));
	value = prog_op(&p, PCTL_OP_COMPOSE, type, 4, prog_u32(&p, 1), one,
			pctl_build_const(p.b, p.u64, 0x1122334455667788u), gid);
	value = prog_op(&p, PCTL_OP_INSERT, type, 3, value, prog_u32(&p, 9), 0);
	prog_store(&p, value, root, 1, gid);
	memset(data, 0xee, sizeof(data));
	rig_run_prog(&r, &p, 8, 0, &array, 1, 1);
	for (uint32_t i = 0; i < 3; i++) {
		const uint8_t *s = data + 48 * i;
		uint32_t w[12];
		uint64_t l;

		memcpy(w, s, sizeof(w));
		memcpy(&l, s + 32, 8);
		assert_int_equal(w[0], 9);
		for (int k = 1; k < 4; k++)
			assert_int_equal(w[k], 0xeeeeeeee);
		assert_int_equal(w[4], i);
		assert_int_equal(w[5], 2);
		assert_int_equal(w[6], 3);
		assert_int_equal(w[7], 0xeeeeeeee);
		assert_true(l == 0x1122334455667788u);
		assert_int_equal(w[10], i);
		assert_int_equal(w[11], 0xeeeeeeee);
	}
	rig_close(&r);
}

/* struct { n: u32, pad, data: array<vec2<u32>> } bound with every number of bytes. */
static void lengths_follow_the_bound_bytes(void **state)
{
	pctl_member_spec m[2] = {{"n", 0, 0, 0, PCTL_OFFSET_AUTO},
				 {"data", 0, 0, 0, PCTL_OFFSET_AUTO}};
	uint32_t in[16], out[4];
	bytes arrays[2] = {{in, 0, 0, 0}, {out, sizeof(out), 0, 0}};
	uint32_t type, root, result, v;
	uint8_t *wire;
	uint64_t n_wire;
	prog p;
	rig r;
	(void)state;

	rig_open(&r, PIPECTL_CPU_PLUGIN);
	prog_begin(&p);
	m[0].type = p.u32;
	m[1].type = pctl_build_array(p.b, pctl_build_vector(p.b, PCTL_SCALAR_U32, 2), 0, 0);
	type = pctl_build_struct(p.b, m, 2);
	root = prog_storage(&p, "in", type, 1);
	result = prog_storage(&p, "out", pctl_build_array(p.b, p.u32, 4, 0), 1);
	prog_main(&p);
	prog_store(&p, prog_op(&p, PCTL_OP_ARRAY_LENGTH, p.u32, 2, root, 1), result, 1,
		   prog_u32(&p, 0));
	prog_store(&p, prog_load(&p, p.u32, root, 1, 0), result, 1, prog_u32(&p, 1));
	v = prog_load(&p, p.u32, root, 3, 1, prog_u32(&p, 1), prog_u32(&p, 1));
	prog_store(&p, v, result, 1, prog_u32(&p, 2));
	prog_store(&p, prog_u32(&p, 77), root, 3, 1, prog_u32(&p, 0), prog_u32(&p, 0));
	prog_end(&p, 1, 1, 1, &wire, &n_wire);
	for (uint32_t n = 0; n <= 40; n += 4) {
		for (uint32_t k = 0; k < 16; k++)
			in[k] = 100 + k;
		memset(out, 0xff, sizeof(out));
		arrays[0].n_bytes = n;
		rig_run(&r, wire, n_wire, 0, arrays, 2, 1, 1, 1);
		assert_int_equal(out[0], n < 8 ? 0 : (n - 8) / 8);
		assert_int_equal(out[1], n >= 4 ? 100 : 0);
		assert_int_equal(out[2], n >= 24 ? 105 : 0);
		assert_int_equal(in[2], n >= 16 ? 77 : 102);
	}
	rig_run(&r, wire, n_wire, 0, arrays, 2, 0, 1, 1); /* no workgroups: nothing happens */
	rig_run(&r, wire, n_wire, 0, arrays, 2, 1, 0, 7);
	free(wire);
	rig_close(&r);
}

/* Bound bytes that end inside a fixed struct: what still fits is reached, the rest misses whole. */
static void a_short_binding_misses_what_does_not_fit(void **state)
{
	uint32_t in[12], out[12];
	bytes arrays[2] = {{in, 0, 0, 0}, {out, sizeof(out), 0, 0}};
	uint32_t root, result, gid, v, vec4;
	uint8_t *wire;
	uint64_t n_wire;
	prog p;
	rig r;
	(void)state;

	rig_open(&r, PIPECTL_CPU_PLUGIN);
	prog_begin(&p);
	vec4 = pctl_build_vector(p.b, PCTL_SCALAR_U32, 4);
	root = prog_storage(&p, "in", pctl_build_array(p.b, vec4, 3, 0), 0);
	result = prog_storage(&p, "out", pctl_build_array(p.b, p.u32, 0, 0), 1);
	prog_main(&p);
	gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	v = prog_load(&p, vec4, root, 1, gid); /* moved whole */
	for (uint32_t c = 0; c < 4; c++)
		prog_store(&p, prog_op(&p, PCTL_OP_EXTRACT, p.u32, 2, v, c), result, 1,
			   add(&p, mul(&p, gid, prog_u32(&p, 4)), prog_u32(&p, c)));
	prog_end(&p, 3, 1, 1, &wire, &n_wire);
	for (uint32_t n = 0; n <= 48; n += 4) {
		for (uint32_t k = 0; k < 12; k++)
			in[k] = 100 + k;
		arrays[0].n_bytes = n;
		rig_run(&r, wire, n_wire, 0, arrays, 2, 1, 1, 1);
		for (uint32_t k = 0; k < 12; k++)
			assert_int_equal(out[k], (k / 4 + 1) * 16 <= n ? 100 + k : 0);
	}
	free(wire);
	rig_close(&r);
}

/* Every variable of a workgroup, a lane and a call starts as zero, again and again. */
static void variables_start_as_zero(void **state)
{
	static uint32_t out[64 * 40];
	bytes array = {out, sizeof(out), 0, 0};
	uint32_t result, shared, private, gid, lid, f, l, v;
	prog p;
	rig r;
	(void)state;

	rig_open(&r, PIPECTL_CPU_PLUGIN);
	prog_begin(&p);
	result = prog_storage(&p, "out", pctl_build_array(p.b, p.u32, 0, 0), 1);
	shared = prog_var(&p, "shared", pctl_build_array(p.b, p.u32, 64, 0), PCTL_SPACE_WORKGROUP);
	private = prog_var(&p, "private", p.u32, PCTL_SPACE_PRIVATE);
	pctl_build_function_begin(p.b, "f", NULL, 0, p.u32);
	l = local(pctl_build_local(p.b, "x", pctl_build_array(p.b, p.u32, 3, 0)));
	v = prog_load(&p, p.u32, l, 1, prog_u32(&p, 1));
	prog_store(&p, add(&p, v, prog_u32(&p, 5)), l, 1, prog_u32(&p, 1));
	prog_op(&p, PCTL_OP_RETURN, 0, 1, prog_load(&p, p.u32, l, 1, prog_u32(&p, 1)));
	f = pctl_build_function_end(p.b);
	prog_main(&p);
	gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	lid = prog_builtin(&p, PCTL_BUILTIN_LOCAL_INDEX, 0);
	v = prog_op(&p, PCTL_OP_CALL, p.u32, 1, f);
	v = add(&p, v, prog_op(&p, PCTL_OP_CALL, p.u32, 1, f)); /* 5 + 5 */
	prog_store(&p, add(&p, prog_load(&p, p.u32, private, 0), prog_u32(&p, 100)), private, 0);
	v = add(&p, v, prog_load(&p, p.u32, private, 0)); /* 100 */
	prog_store(&p, add(&p, prog_load(&p, p.u32, shared, 1, lid), prog_u32(&p, 1000)), shared, 1,
		   lid);
	v = add(&p, v, prog_load(&p, p.u32, shared, 1, lid));
	prog_store(&p, v, result, 1, gid);
	rig_run_prog(&r, &p, 40, 0, &array, 1, 64);
	for (uint32_t i = 0; i < 64 * 40; i++)
		assert_int_equal(out[i], 1110);
	rig_close(&r);
}

/* A tree sum in workgroup memory with a barrier a level. */
static void workgroup_memory_and_barriers(void **state)
{
	enum { SIZE = 128, GROUPS = 9 };
	static uint32_t in[SIZE * GROUPS], out[GROUPS];
	bytes arrays[2] = {{in, sizeof(in), 0, 0}, {out, sizeof(out), 0, 0}};
	uint32_t src, dst, shared, gid, lid, wid;
	prog p;
	rig r;
	(void)state;

	rig_open(&r, PIPECTL_CPU_PLUGIN);
	prog_begin(&p);
	src = prog_storage(&p, "in", pctl_build_array(p.b, p.u32, 0, 0), 0);
	dst = prog_storage(&p, "out", pctl_build_array(p.b, p.u32, 0, 0), 1);
	shared =
		prog_var(&p, "shared", pctl_build_array(p.b, p.u32, SIZE, 0), PCTL_SPACE_WORKGROUP);
	prog_main(&p);
	gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	lid = prog_builtin(&p, PCTL_BUILTIN_LOCAL_INDEX, 0);
	wid = prog_builtin(&p, PCTL_BUILTIN_WORKGROUP_ID, 0);
	prog_store(&p, prog_load(&p, p.u32, src, 1, gid), shared, 1, lid);
	for (uint32_t step = SIZE / 2; step; step /= 2) {
		uint32_t other;

		prog_op(&p, PCTL_OP_BARRIER, 0, 1, PCTL_BARRIER_WORKGROUP);
		prog_op(&p, PCTL_OP_IF, 0, 1,
			prog_op(&p, PCTL_OP_LT, p.boolean, 2, lid, prog_u32(&p, step)));
		other = prog_load(&p, p.u32, shared, 1, add(&p, lid, prog_u32(&p, step)));
		prog_store(&p, add(&p, prog_load(&p, p.u32, shared, 1, lid), other), shared, 1,
			   lid);
		prog_op(&p, PCTL_OP_END_IF, 0, 0);
	}
	prog_op(&p, PCTL_OP_BARRIER, 0, 1, PCTL_BARRIER_WORKGROUP);
	prog_op(&p, PCTL_OP_IF, 0, 1, prog_op(&p, PCTL_OP_EQ, p.boolean, 2, lid, prog_u32(&p, 0)));
	prog_store(&p, prog_load(&p, p.u32, shared, 1, prog_u32(&p, 0)), dst, 1, wid);
	prog_op(&p, PCTL_OP_END_IF, 0, 0);
	for (uint32_t i = 0; i < SIZE * GROUPS; i++)
		in[i] = (uint32_t)rnd(3, i);
	rig_run_prog(&r, &p, SIZE, PCTL_BUILD_SANITIZE, arrays, 2, GROUPS);
	for (uint32_t g = 0; g < GROUPS; g++) {
		uint32_t sum = 0, n_findings;

		for (uint32_t i = 0; i < SIZE; i++)
			sum += in[g * SIZE + i];
		assert_int_equal(out[g], sum);
		assert_int_equal(r.be->findings(r.dev, &r.call, 0, NULL, &n_findings), PCTL_OK);
		assert_int_equal(n_findings, 0);
	}
	rig_close(&r);
}

/* Each atomic over storage and workgroup memory; old values of a single lane; misses return 0. */
static void atomics(void **state)
{
	static const uint16_t ops[] = {PCTL_OP_ATOMIC_ADD, PCTL_OP_ATOMIC_SUB, PCTL_OP_ATOMIC_MIN,
				       PCTL_OP_ATOMIC_MAX, PCTL_OP_ATOMIC_AND, PCTL_OP_ATOMIC_OR,
				       PCTL_OP_ATOMIC_XOR};
	enum { N = 7, LANES = 64 * 50 };
	(void)state;

	for (uint32_t is_signed = 0; is_signed < 2; is_signed++) {
		static uint32_t in[LANES], out[N + 1], want[N];
		bytes arrays[3] = {
			{in, sizeof(in), 0, 0}, {out, sizeof(out), 0, 0}, {out, 0, 0, 0}};
		static uint32_t old[4];
		uint32_t src, dst, results, gid, x, value_type;
		prog p;
		rig r;

		arrays[2] = (bytes){old, sizeof(old), 0, 0};
		rig_open(&r, PIPECTL_CPU_PLUGIN);
		prog_begin(&p);
		value_type = is_signed ? p.i32 : p.u32;
		src = prog_storage(&p, "in", pctl_build_array(p.b, value_type, 0, 0), 0);
		dst = prog_storage(
			&p, "out",
			pctl_build_array(p.b,
					 pctl_build_atomic(p.b, is_signed ? PCTL_SCALAR_I32
									  : PCTL_SCALAR_U32),
					 0, 0),
			1);
		results = prog_storage(&p, "old", pctl_build_array(p.b, value_type, 0, 0), 1);
		prog_main(&p);
		gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
		x = prog_load(&p, value_type, src, 1, gid);
		for (uint32_t k = 0; k < N; k++)
			prog_op(&p, ops[k], value_type, 3, x, dst, prog_u32(&p, k));
		prog_op(&p, PCTL_OP_IF, 0, 1,
			prog_op(&p, PCTL_OP_EQ, p.boolean, 2, gid, prog_u32(&p, 5)));
		prog_store(
			&p,
			prog_op(&p, PCTL_OP_ATOMIC_ADD, value_type, 3, x, dst, prog_u32(&p, N + 1)),
			results, 1, prog_u32(&p, 0)); /* misses: 0 */
		prog_op(&p, PCTL_OP_ATOMIC_STORE, 0, 3, pctl_build_const(p.b, value_type, 11), dst,
			prog_u32(&p, N));
		prog_store(&p,
			   prog_op(&p, PCTL_OP_ATOMIC_EXCHANGE, value_type, 3,
				   pctl_build_const(p.b, value_type, 12), dst, prog_u32(&p, N)),
			   results, 1, prog_u32(&p, 1)); /* 11 */
		prog_store(&p,
			   prog_op(&p, PCTL_OP_ATOMIC_CAS, value_type, 4,
				   pctl_build_const(p.b, value_type, 99),
				   pctl_build_const(p.b, value_type, 13), dst, prog_u32(&p, N)),
			   results, 1, prog_u32(&p, 2)); /* 12, unchanged */
		prog_op(&p, PCTL_OP_ATOMIC_CAS, value_type, 4,
			pctl_build_const(p.b, value_type, 12),
			pctl_build_const(p.b, value_type, 14), dst, prog_u32(&p, N));
		prog_store(&p,
			   prog_op(&p, PCTL_OP_ATOMIC_LOAD, value_type, 2, dst, prog_u32(&p, N)),
			   results, 1, prog_u32(&p, 3)); /* 14 */
		prog_op(&p, PCTL_OP_END_IF, 0, 0);
		for (uint32_t k = 0; k < N; k++)
			out[k] = want[k] = k == 4 ? 0xffffffff : k;
		out[N] = 0;
		for (uint32_t i = 0; i < LANES; i++) {
			const uint32_t v = in[i] =
				(uint32_t)rnd(9, i) | (i % 2 ? 0x0f0f0f00 : 0x88);

			want[0] += v;
			want[1] -= v;
			if (is_signed ? (int32_t)v < (int32_t)want[2] : v < want[2])
				want[2] = v;
			if (is_signed ? (int32_t)v > (int32_t)want[3] : v > want[3])
				want[3] = v;
			want[4] &= v;
			want[5] |= v;
			want[6] ^= v;
		}
		memset(old, 0xff, sizeof(old));
		rig_run_prog(&r, &p, 64, 0, arrays, 3, 50);
		for (uint32_t k = 0; k < N; k++)
			assert_int_equal(out[k], want[k]);
		assert_int_equal(out[N], 14);
		assert_int_equal(old[0], 0);
		assert_int_equal(old[1], 11);
		assert_int_equal(old[2], 12);
		assert_int_equal(old[3], 14);
		rig_close(&r);
	}
}

/* Workgroups of 3 x 2 x 2 in a grid of 4 x 3 x 2: every builtin, by position. */
static void builtins(void **state)
{
	enum { GX = 4, GY = 3, GZ = 2, LX = 3, LY = 2, LZ = 2, N = GX * GY * GZ * LX * LY * LZ };
	static uint32_t out[N * 13];
	bytes array = {out, sizeof(out), 0, 0};
	static const uint32_t which[] = {PCTL_BUILTIN_GLOBAL_ID, PCTL_BUILTIN_LOCAL_ID,
					 PCTL_BUILTIN_WORKGROUP_ID, PCTL_BUILTIN_NUM_WORKGROUPS};
	uint32_t dst, g[3], at;
	uint8_t *wire;
	uint64_t n_wire;
	prog p;
	rig r;
	(void)state;

	rig_open(&r, PIPECTL_CPU_PLUGIN);
	prog_begin(&p);
	dst = prog_storage(&p, "out", pctl_build_array(p.b, p.u32, 0, 0), 1);
	prog_main(&p);
	for (uint32_t k = 0; k < 3; k++)
		g[k] = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, k);
	at = add(
		&p,
		mul(&p, add(&p, mul(&p, g[2], prog_u32(&p, GY * LY)), g[1]), prog_u32(&p, GX * LX)),
		g[0]);
	at = mul(&p, at, prog_u32(&p, 13));
	for (uint32_t k = 0; k < 12; k++)
		prog_store(&p, prog_builtin(&p, which[k / 3], k % 3), dst, 1,
			   add(&p, at, prog_u32(&p, k)));
	prog_store(&p, prog_builtin(&p, PCTL_BUILTIN_LOCAL_INDEX, 0), dst, 1,
		   add(&p, at, prog_u32(&p, 12)));
	prog_end(&p, LX, LY, LZ, &wire, &n_wire);
	rig_run(&r, wire, n_wire, 0, &array, 1, GX, GY, GZ);
	free(wire);
	for (uint32_t i = 0; i < N; i++) {
		const uint32_t x = i % (GX * LX), y = i / (GX * LX) % (GY * LY),
			       z = i / (GX * LX * GY * LY);
		const uint32_t want[13] = {x,
					   y,
					   z,
					   x % LX,
					   y % LY,
					   z % LZ,
					   x / LX,
					   y / LY,
					   z / LZ,
					   GX,
					   GY,
					   GZ,
					   x % LX + y % LY * LX + z % LZ * LX * LY};

		assert_memory_equal(out + i * 13, want, sizeof(want));
	}
	rig_close(&r);
}

/* A variable read before a loop and written inside it: the value read stays what it was. */
static void a_loaded_value_outlives_later_stores(void **state)
{
	uint32_t out[64];
	bytes array = {out, sizeof(out), 0, 0};
	uint32_t dst, gid, x, n, sum, before, c;
	prog p;
	rig r;
	(void)state;

	rig_open(&r, PIPECTL_CPU_PLUGIN);
	prog_begin(&p);
	dst = prog_storage(&p, "out", pctl_build_array(p.b, p.u32, 0, 0), 1);
	prog_main(&p);
	x = local(pctl_build_local(p.b, "x", p.u32));
	n = local(pctl_build_local(p.b, "n", p.u32));
	sum = local(pctl_build_local(p.b, "sum", p.u32));
	gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	prog_store(&p, add(&p, gid, prog_u32(&p, 10)), x, 0);
	before = prog_load(&p, p.u32, x, 0);
	prog_op(&p, PCTL_OP_LOOP, 0, 0);
	c = prog_op(&p, PCTL_OP_LT, p.boolean, 2, prog_load(&p, p.u32, n, 0), prog_u32(&p, 3));
	prog_op(&p, PCTL_OP_LOOP_TEST, 0, 1, c);
	prog_store(&p, add(&p, prog_load(&p, p.u32, sum, 0), before), sum, 0);
	prog_store(&p, prog_u32(&p, 0), x, 0);
	prog_op(&p, PCTL_OP_CONTINUING, 0, 0);
	prog_store(&p, add(&p, prog_load(&p, p.u32, n, 0), prog_u32(&p, 1)), n, 0);
	prog_op(&p, PCTL_OP_END_LOOP, 0, 0);
	prog_store(&p, prog_load(&p, p.u32, sum, 0), dst, 1, gid);
	rig_run_prog(&r, &p, 64, 0, &array, 1, 1);
	for (uint32_t i = 0; i < 64; i++)
		assert_int_equal(out[i], 3 * (i + 10));
	rig_close(&r);
}

/* Bools in memory, casts, bitcasts, dot products, matrices, shuffles and swaps of a vector in
 * place. */
static void composites(void **state)
{
	enum { OUT = 32 };
	static uint32_t in[12], out[OUT];
	bytes arrays[2] = {{in, sizeof(in), 0, 0}, {out, sizeof(out), 0, 0}};
	uint32_t src, dst, w[12], mat23, mat32, mat22, vec2, u64v2, v, m, t, shared, b, n = 0;
	prog p;
	rig r;
	(void)state;

	rig_open(&r, PIPECTL_CPU_PLUGIN);
	prog_begin(&p);
	vec2 = pctl_build_vector(p.b, PCTL_SCALAR_U32, 2);
	u64v2 = pctl_build_vector(p.b, PCTL_SCALAR_U64, 2);
	mat23 = pctl_build_matrix(p.b, PCTL_SCALAR_U32, 2, 3);
	mat32 = pctl_build_matrix(p.b, PCTL_SCALAR_U32, 3, 2);
	mat22 = pctl_build_matrix(p.b, PCTL_SCALAR_U32, 2, 2);
	src = prog_storage(&p, "in", pctl_build_array(p.b, p.u32, 12, 0), 0);
	dst = prog_storage(&p, "out", pctl_build_array(p.b, p.u32, 0, 0), 1);
	shared = prog_var(&p, "flag", pctl_build_array(p.b, p.boolean, 2, 0), PCTL_SPACE_WORKGROUP);
	prog_main(&p);
	for (uint32_t i = 0; i < 12; i++)
		w[i] = prog_load(&p, p.u32, src, 1, prog_u32(&p, i));
#define OUTPUT(value) prog_store(&p, value, dst, 1, prog_u32(&p, n++))
	m = prog_op(&p, PCTL_OP_COMPOSE, mat23, 2,
		    prog_op(&p, PCTL_OP_COMPOSE, p.vec3, 3, w[0], w[1], w[2]),
		    prog_op(&p, PCTL_OP_COMPOSE, p.vec3, 3, w[3], w[4], w[5]));
	t = prog_op(&p, PCTL_OP_TRANSPOSE, mat32, 1, m);
	v = prog_op(&p, PCTL_OP_MATMUL, mat22, 2, t, m); /* 2x2: columns of dots */
	for (uint32_t c = 0; c < 2; c++)
		for (uint32_t k = 0; k < 2; k++)
			OUTPUT(prog_op(&p, PCTL_OP_EXTRACT, p.u32, 2,
				       prog_op(&p, PCTL_OP_EXTRACT, vec2, 2, v, c), k));
	v = prog_op(&p, PCTL_OP_MATMUL, p.vec3, 2, m,
		    prog_op(&p, PCTL_OP_COMPOSE, vec2, 2, w[6], w[7]));
	for (uint32_t k = 0; k < 3; k++)
		OUTPUT(prog_op(&p, PCTL_OP_EXTRACT, p.u32, 2, v, k));
	v = prog_op(&p, PCTL_OP_MATMUL, vec2, 2,
		    prog_op(&p, PCTL_OP_COMPOSE, p.vec3, 3, w[8], w[9], w[10]), m);
	for (uint32_t k = 0; k < 2; k++)
		OUTPUT(prog_op(&p, PCTL_OP_EXTRACT, p.u32, 2, v, k));
	OUTPUT(prog_op(&p, PCTL_OP_DOT, p.u32, 2, prog_op(&p, PCTL_OP_EXTRACT, p.vec3, 2, m, 0),
		       prog_op(&p, PCTL_OP_EXTRACT, p.vec3, 2, m, 1)));
	OUTPUT(prog_op(&p, PCTL_OP_BITCAST, p.u32, 1,
		       prog_op(&p, PCTL_OP_DOT4_I8, p.i32, 2, w[0], w[1])));
	OUTPUT(prog_op(&p, PCTL_OP_DOT4_U8, p.u32, 2, w[0], w[1]));
	/* vec2<u32> as u64, shifted, and back */
	v = prog_op(&p, PCTL_OP_BITCAST, p.u64, 1,
		    prog_op(&p, PCTL_OP_COMPOSE, vec2, 2, w[0], w[1]));
	v = prog_op(&p, PCTL_OP_SHR, p.u64, 2, v, prog_u32(&p, 16));
	v = prog_op(&p, PCTL_OP_BITCAST, vec2, 1, v);
	for (uint32_t k = 0; k < 2; k++)
		OUTPUT(prog_op(&p, PCTL_OP_EXTRACT, p.u32, 2, v, k));
	v = prog_op(&p, PCTL_OP_SPLAT, u64v2, 1, prog_op(&p, PCTL_OP_CAST, p.u64, 1, w[2]));
	v = prog_op(&p, PCTL_OP_MUL, u64v2, 2, v, v);
	v = prog_op(&p, PCTL_OP_EXTRACT, p.u64, 2, v, 1);
	OUTPUT(prog_op(&p, PCTL_OP_CAST, p.u32, 1,
		       prog_op(&p, PCTL_OP_SHR, p.u64, 2, v, prog_u32(&p, 32))));
	/* v = v.yx in a variable */
	t = local(pctl_build_local(p.b, "t", vec2));
	prog_store(&p, prog_op(&p, PCTL_OP_COMPOSE, vec2, 2, w[3], w[4]), t, 0);
	prog_store(&p, prog_op(&p, PCTL_OP_SHUFFLE, vec2, 3, prog_load(&p, vec2, t, 0), 1, 0), t,
		   0);
	OUTPUT(prog_load(&p, p.u32, t, 1, prog_u32(&p, 0)));
	OUTPUT(prog_load(&p, p.u32, t, 1, prog_u32(&p, 1)));
	/* a bool through memory; all and any */
	b = prog_op(&p, PCTL_OP_LT, p.boolean, 2, w[0], w[1]);
	prog_store(&p, b, shared, 1, prog_u32(&p, 1));
	b = prog_load(&p, p.boolean, shared, 1, prog_u32(&p, 1));
	OUTPUT(prog_op(&p, PCTL_OP_CAST, p.u32, 1, b));
	v = pctl_build_vector(p.b, PCTL_SCALAR_BOOL, 2);
	v = prog_op(&p, PCTL_OP_COMPOSE, v, 2, b, prog_op(&p, PCTL_OP_NOT, p.boolean, 1, b));
	OUTPUT(prog_op(&p, PCTL_OP_CAST, p.u32, 1, prog_op(&p, PCTL_OP_ALL, p.boolean, 1, v)));
	OUTPUT(prog_op(&p, PCTL_OP_CAST, p.u32, 1, prog_op(&p, PCTL_OP_ANY, p.boolean, 1, v)));
	/* i32 to i64 extends the sign, to u64 as well (the source's sign) */
	v = prog_op(&p, PCTL_OP_CAST, p.u64, 1, prog_i32(&p, -2));
	OUTPUT(prog_op(&p, PCTL_OP_CAST, p.u32, 1,
		       prog_op(&p, PCTL_OP_SHR, p.u64, 2, v, prog_u32(&p, 32))));
	v = prog_op(&p, PCTL_OP_CAST, p.i64, 1, w[11]);
	OUTPUT(prog_op(&p, PCTL_OP_CAST, p.u32, 1,
		       prog_op(&p, PCTL_OP_SHR, p.i64, 2, v, prog_u32(&p, 32))));
#undef OUTPUT
	for (uint32_t i = 0; i < 12; i++)
		in[i] = (uint32_t)rnd(21, i);
	in[0] = 0x80ff017f;
	in[1] = 0x80027fff;
	in[11] = 0xffffffff;
	rig_run_prog(&r, &p, 1, 0, arrays, 2, 1);
	{
		const uint32_t *a = in, *c = in + 3;
		const uint64_t pair = ((uint64_t)in[1] << 32 | in[0]) >> 16;
		const uint32_t want[] = {
			a[0] * a[0] + a[1] * a[1] + a[2] * a[2],
			a[0] * c[0] + a[1] * c[1] + a[2] * c[2],
			a[0] * c[0] + a[1] * c[1] + a[2] * c[2],
			c[0] * c[0] + c[1] * c[1] + c[2] * c[2],
			a[0] * in[6] + c[0] * in[7],
			a[1] * in[6] + c[1] * in[7],
			a[2] * in[6] + c[2] * in[7],
			in[8] * a[0] + in[9] * a[1] + in[10] * a[2],
			in[8] * c[0] + in[9] * c[1] + in[10] * c[2],
			a[0] * c[0] + a[1] * c[1] + a[2] * c[2],
			(uint32_t)(-128 * -128 + -1 * 2 + 1 * 127 + 127 * -1),
			0x80 * 0x80 + 0xff * 2 + 1 * 0x7f + 0x7f * 0xff,
			(uint32_t)pair,
			(uint32_t)(pair >> 32),
			(uint32_t)(((uint64_t)in[2] * in[2]) >> 32),
			in[4],
			in[3],
			in[0] < in[1],
			0,
			1,
			0xffffffff,
			0,
		};

		for (uint32_t i = 0; i < sizeof(want) / 4; i++)
			if (out[i] != want[i])
				fail_msg("output %u: %x, not %x", i, out[i], want[i]);
	}
	rig_close(&r);
}

PCTL_TESTS_MAIN(PCTL_TEST(a_miss_at_any_level_reads_zero),
		PCTL_TEST(a_miss_at_any_level_writes_nothing), PCTL_TEST(one_index_off_either_end),
		PCTL_TEST(stores_leave_padding_alone), PCTL_TEST(lengths_follow_the_bound_bytes),
		PCTL_TEST(a_short_binding_misses_what_does_not_fit),
		PCTL_TEST(variables_start_as_zero), PCTL_TEST(workgroup_memory_and_barriers),
		PCTL_TEST(atomics), PCTL_TEST(builtins),
		PCTL_TEST(a_loaded_value_outlives_later_stores), PCTL_TEST(composites))
