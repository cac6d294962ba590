/* Bounds: every index that misses, at every level, short and empty bindings, layout and padding. */
#include "harness.h"
#include "main.h"

#include <stdlib.h>

/* struct { head: u32, m: array<array<vec3<u32>, 3>, 2> }; every path of indices 0..4, i32 and u32.
 */
#define PATHS (5u * 5u * 5u)

static void three_levels(uint8_t space, int is_signed, uint32_t flags)
{
	uint32_t data[8 + 4 * 6] = {0}, out[PATHS * 2] = {0};
	rig_bytes arrays[2] = {{data, sizeof(data), space == PCTL_SPACE_UNIFORM},
			       {out, sizeof(out), 0}};
	pctl_member_spec members[2] = {{"head", 0, 0, 0, PCTL_OFFSET_AUTO},
				       {"m", 0, 0, 0, PCTL_OFFSET_AUTO}};
	uint32_t type, source, result, gid, i[3], v, inner, row, member;
	prog p;
	rig r;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
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
		member = prog_local(pctl_build_local(p.b, "mem", type));
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
		v = prog_add(&p, v, prog_u32(&p, 0));
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
	prog_store(&p, v, result, 1, prog_add(&p, gid, prog_u32(&p, PATHS)));
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
	rig_bytes array = {data, sizeof(data), 0};
	uint32_t root, gid, i[3], v;
	prog p;
	rig r;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
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
	prog_store(&p, prog_add(&p, gid, prog_u32(&p, 7)), root, 3, i[0], i[1], i[2]);
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
	rig_bytes arrays[2] = {{in, LENGTH * stride * 4, 0}, {out, N * stride * 4, 0}};
	uint32_t type, src, dst, gid, at, c;
	prog p;
	rig r;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	prog_begin(&p);
	type = width == 1 ? pctl_build_scalar(p.b, scalar) : pctl_build_vector(p.b, scalar, width);
	src = prog_storage(&p, "in", pctl_build_array(p.b, type, 0, 0), 0);
	dst = prog_storage(&p, "out", pctl_build_array(p.b, type, 0, 0), 1);
	prog_main(&p);
	gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	at = prog_op(&p, PCTL_OP_BITCAST, p.i32, 1, prog_mul(&p, gid, prog_u32(&p, scale)));
	at = prog_op(&p, PCTL_OP_ADD, p.i32, 2, at, prog_i32(&p, shift));
	c = prog_op(&p, PCTL_OP_MOD, p.u32, 2, gid, prog_u32(&p, 11));
	c = prog_op(&p, PCTL_OP_NE, p.boolean, 2, c, prog_u32(&p, flags & 8 ? 3 : 11));
	prog_op(&p, PCTL_OP_IF, 0, 1, c);
	prog_store(&p, prog_load(&p, type, src, 1, at), dst, 1,
		   prog_op(&p, PCTL_OP_SUB, p.u32, 2, prog_u32(&p, N - 1), gid));
	prog_op(&p, PCTL_OP_END_IF, 0, 0);
	for (uint32_t i = 0; i < LENGTH * WORDS; i++)
		in[i] = (uint32_t)rig_random(31, i);
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
	rig_bytes array = {data, sizeof(data), 0};
	pctl_member_spec m[4] = {{"a", 0, 0, 0, PCTL_OFFSET_AUTO},
				 {"v", 0, 0, 0, PCTL_OFFSET_AUTO},
				 {"l", 0, 0, 0, PCTL_OFFSET_AUTO},
				 {"z", 0, 0, 0, PCTL_OFFSET_AUTO}};
	uint32_t type, root, gid, one, value;
	prog p;
	rig r;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
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
	rig_bytes arrays[2] = {{in, 0, 0}, {out, sizeof(out), 0}};
	uint32_t type, root, result, v;
	uint8_t *wire;
	uint64_t n_wire;
	prog p;
	rig r;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
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
	rig_bytes arrays[2] = {{in, 0, 0}, {out, sizeof(out), 0}};
	uint32_t root, result, gid, v, vec4;
	uint8_t *wire;
	uint64_t n_wire;
	prog p;
	rig r;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	prog_begin(&p);
	vec4 = pctl_build_vector(p.b, PCTL_SCALAR_U32, 4);
	root = prog_storage(&p, "in", pctl_build_array(p.b, vec4, 3, 0), 0);
	result = prog_storage(&p, "out", pctl_build_array(p.b, p.u32, 0, 0), 1);
	prog_main(&p);
	gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	v = prog_load(&p, vec4, root, 1, gid); /* moved whole */
	for (uint32_t c = 0; c < 4; c++)
		prog_store(&p, prog_op(&p, PCTL_OP_EXTRACT, p.u32, 2, v, c), result, 1,
			   prog_add(&p, prog_mul(&p, gid, prog_u32(&p, 4)), prog_u32(&p, c)));
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

PCTL_TESTS_MAIN(PCTL_TEST(a_miss_at_any_level_reads_zero),
		PCTL_TEST(a_miss_at_any_level_writes_nothing), PCTL_TEST(one_index_off_either_end),
		PCTL_TEST(stores_leave_padding_alone), PCTL_TEST(lengths_follow_the_bound_bytes),
		PCTL_TEST(a_short_binding_misses_what_does_not_fit))
