/* Memory that is inside its bounds: zeroed variables, atomics, workgroup memory with barriers,
 * workgroup ids, composite values. */
#include "harness.h"
#include "main.h"

#include <stdlib.h>

/* Every variable of a workgroup, a lane and a call starts as zero, again and again. */
static void variables_start_as_zero(void **state)
{
	static uint32_t out[64 * 40];
	rig_bytes array = {out, sizeof(out), 0};
	uint32_t result, shared, private, gid, lid, f, l, v;
	prog p;
	rig r;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	prog_begin(&p);
	result = prog_storage(&p, "out", pctl_build_array(p.b, p.u32, 0, 0), 1);
	shared = prog_var(&p, "shared", pctl_build_array(p.b, p.u32, 64, 0), PCTL_SPACE_WORKGROUP);
	private = prog_var(&p, "private", p.u32, PCTL_SPACE_PRIVATE);
	pctl_build_function_begin(p.b, "f", NULL, 0, p.u32);
	l = prog_local(pctl_build_local(p.b, "x", pctl_build_array(p.b, p.u32, 3, 0)));
	v = prog_load(&p, p.u32, l, 1, prog_u32(&p, 1));
	prog_store(&p, prog_add(&p, v, prog_u32(&p, 5)), l, 1, prog_u32(&p, 1));
	prog_op(&p, PCTL_OP_RETURN, 0, 1, prog_load(&p, p.u32, l, 1, prog_u32(&p, 1)));
	f = pctl_build_function_end(p.b);
	prog_main(&p);
	gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	lid = prog_builtin(&p, PCTL_BUILTIN_LOCAL_INDEX, 0);
	v = prog_op(&p, PCTL_OP_CALL, p.u32, 1, f);
	v = prog_add(&p, v, prog_op(&p, PCTL_OP_CALL, p.u32, 1, f)); /* 5 + 5 */
	prog_store(&p, prog_add(&p, prog_load(&p, p.u32, private, 0), prog_u32(&p, 100)), private,
		   0);
	v = prog_add(&p, v, prog_load(&p, p.u32, private, 0)); /* 100 */
	prog_store(&p, prog_add(&p, prog_load(&p, p.u32, shared, 1, lid), prog_u32(&p, 1000)),
		   shared, 1, lid);
	v = prog_add(&p, v, prog_load(&p, p.u32, shared, 1, lid));
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
	rig_bytes arrays[2] = {{in, sizeof(in), 0}, {out, sizeof(out), 0}};
	uint32_t src, dst, shared, gid, lid, wid;
	prog p;
	rig r;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
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
		other = prog_load(&p, p.u32, shared, 1, prog_add(&p, lid, prog_u32(&p, step)));
		prog_store(&p, prog_add(&p, prog_load(&p, p.u32, shared, 1, lid), other), shared, 1,
			   lid);
		prog_op(&p, PCTL_OP_END_IF, 0, 0);
	}
	prog_op(&p, PCTL_OP_BARRIER, 0, 1, PCTL_BARRIER_WORKGROUP);
	prog_op(&p, PCTL_OP_IF, 0, 1, prog_op(&p, PCTL_OP_EQ, p.boolean, 2, lid, prog_u32(&p, 0)));
	prog_store(&p, prog_load(&p, p.u32, shared, 1, prog_u32(&p, 0)), dst, 1, wid);
	prog_op(&p, PCTL_OP_END_IF, 0, 0);
	for (uint32_t i = 0; i < SIZE * GROUPS; i++)
		in[i] = (uint32_t)rig_random(3, i);
	rig_run_prog(&r, &p, SIZE, PCTL_BUILD_SANITIZE, arrays, 2, GROUPS);
	for (uint32_t g = 0; g < GROUPS; g++) {
		uint32_t sum = 0, n_findings;

		for (uint32_t i = 0; i < SIZE; i++)
			sum += in[g * SIZE + i];
		assert_int_equal(out[g], sum);
		assert_int_equal(r.api->findings(r.dev, &r.call, 0, NULL, &n_findings), PCTL_OK);
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
		rig_bytes arrays[3] = {{in, sizeof(in), 0}, {out, sizeof(out), 0}, {out, 0, 0}};
		static uint32_t old[4];
		uint32_t src, dst, results, gid, x, value_type;
		prog p;
		rig r;

		arrays[2] = (rig_bytes){old, sizeof(old), 0};
		harness_open(&r, PIPECTL_CPU_PLUGIN);
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
				(uint32_t)rig_random(9, i) | (i % 2 ? 0x0f0f0f00 : 0x88);

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
	rig_bytes array = {out, sizeof(out), 0};
	static const uint32_t which[] = {PCTL_BUILTIN_GLOBAL_ID, PCTL_BUILTIN_LOCAL_ID,
					 PCTL_BUILTIN_WORKGROUP_ID, PCTL_BUILTIN_NUM_WORKGROUPS};
	uint32_t dst, g[3], at;
	uint8_t *wire;
	uint64_t n_wire;
	prog p;
	rig r;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	prog_begin(&p);
	dst = prog_storage(&p, "out", pctl_build_array(p.b, p.u32, 0, 0), 1);
	prog_main(&p);
	for (uint32_t k = 0; k < 3; k++)
		g[k] = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, k);
	at = prog_add(&p,
		      prog_mul(&p, prog_add(&p, prog_mul(&p, g[2], prog_u32(&p, GY * LY)), g[1]),
			       prog_u32(&p, GX * LX)),
		      g[0]);
	at = prog_mul(&p, at, prog_u32(&p, 13));
	for (uint32_t k = 0; k < 12; k++)
		prog_store(&p, prog_builtin(&p, which[k / 3], k % 3), dst, 1,
			   prog_add(&p, at, prog_u32(&p, k)));
	prog_store(&p, prog_builtin(&p, PCTL_BUILTIN_LOCAL_INDEX, 0), dst, 1,
		   prog_add(&p, at, prog_u32(&p, 12)));
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
	rig_bytes array = {out, sizeof(out), 0};
	uint32_t dst, gid, x, n, sum, before, c;
	prog p;
	rig r;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	prog_begin(&p);
	dst = prog_storage(&p, "out", pctl_build_array(p.b, p.u32, 0, 0), 1);
	prog_main(&p);
	x = prog_local(pctl_build_local(p.b, "x", p.u32));
	n = prog_local(pctl_build_local(p.b, "n", p.u32));
	sum = prog_local(pctl_build_local(p.b, "sum", p.u32));
	gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	prog_store(&p, prog_add(&p, gid, prog_u32(&p, 10)), x, 0);
	before = prog_load(&p, p.u32, x, 0);
	prog_op(&p, PCTL_OP_LOOP, 0, 0);
	c = prog_op(&p, PCTL_OP_LT, p.boolean, 2, prog_load(&p, p.u32, n, 0), prog_u32(&p, 3));
	prog_op(&p, PCTL_OP_LOOP_TEST, 0, 1, c);
	prog_store(&p, prog_add(&p, prog_load(&p, p.u32, sum, 0), before), sum, 0);
	prog_store(&p, prog_u32(&p, 0), x, 0);
	prog_op(&p, PCTL_OP_CONTINUING, 0, 0);
	prog_store(&p, prog_add(&p, prog_load(&p, p.u32, n, 0), prog_u32(&p, 1)), n, 0);
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
	rig_bytes arrays[2] = {{in, sizeof(in), 0}, {out, sizeof(out), 0}};
	uint32_t src, dst, w[12], mat23, mat32, mat22, vec2, u64v2, v, m, t, shared, b, n = 0;
	prog p;
	rig r;
	(void)state;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
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
	t = prog_local(pctl_build_local(p.b, "t", vec2));
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
		in[i] = (uint32_t)rig_random(21, i);
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

PCTL_TESTS_MAIN(PCTL_TEST(variables_start_as_zero), PCTL_TEST(workgroup_memory_and_barriers),
		PCTL_TEST(atomics), PCTL_TEST(builtins),
		PCTL_TEST(a_loaded_value_outlives_later_stores), PCTL_TEST(composites))
