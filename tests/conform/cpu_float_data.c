/* Floats as data on the reference: memory of 2-byte elements in every space, bits that only move, casts
 * of u16, tables, and what surrounds arithmetic: masks, contraction, the processor's float modes,
 * counting and watching. */
#include "float_run.h"
#include "main.h"

#include <fenv.h>
#include <stdlib.h>

enum { LANES = 300 };

typedef struct desk {
	rig r;
	prog p;
	uint32_t f16, bf16, f32, u16;
	uint32_t in, out, gid;
} desk;

static void desk_open(desk *d)
{
	memset(d, 0, sizeof(*d));
	harness_open(&d->r, PIPECTL_CPU_PLUGIN);
	prog_begin(&d->p);
	d->f16 = pctl_build_scalar(d->p.b, PCTL_SCALAR_F16);
	d->bf16 = pctl_build_scalar(d->p.b, PCTL_SCALAR_BF16);
	d->f32 = pctl_build_scalar(d->p.b, PCTL_SCALAR_F32);
	d->u16 = pctl_build_scalar(d->p.b, PCTL_SCALAR_U16);
}

/* Arrays `in` of type `from` and `out` of type `to`; main is open. */
static void desk_main(desk *d, uint32_t from, uint32_t to)
{
	d->in = prog_storage(&d->p, "in", pctl_build_array(d->p.b, from, 0, 0), 0);
	d->out = prog_storage(&d->p, "out", pctl_build_array(d->p.b, to, 0, 0), 1);
	prog_main(&d->p);
	d->gid = prog_builtin(&d->p, PCTL_BUILTIN_GLOBAL_ID, 0);
}

static void desk_run(desk *d, uint8_t *in, uint32_t n_in, uint8_t *out, uint32_t n_out,
		     uint32_t flags)
{
	rig_bytes arrays[2] = {{in, n_in, 0}, {out, n_out, 0}};

	rig_run_prog(&d->r, &d->p, 64, flags, arrays, 2, (LANES + 63) / 64);
}

static void desk_close(desk *d)
{
	rig_close(&d->r);
	float_oracle_close();
}

static void fill_random(uint8_t *at, uint32_t n, uint64_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		at[i] = (uint8_t)rig_random(seed, i);
}

/*
 * struct { a: f16, b: vec3<f16>, c: bf16, m: mat2x3<f16>, d: array<bf16, 3>, e: vec2<bf16>, f: f32 }
 * by WGSL's rules: a 0, b 8, c 14, m 16 (columns 8 apart), d 32, e 40, f 44; 48 bytes.
 */
static const uint8_t in_record[48] = {1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1,
				      1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0,
				      1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};

static uint32_t record(desk *d)
{
	const pctl_member_spec members[] = {
		{"a", d->f16, 0, 0, PCTL_OFFSET_AUTO},
		{"b", pctl_build_vector(d->p.b, PCTL_SCALAR_F16, 3), 0, 0, PCTL_OFFSET_AUTO},
		{"c", d->bf16, 0, 0, PCTL_OFFSET_AUTO},
		{"m", pctl_build_matrix(d->p.b, PCTL_SCALAR_F16, 2, 3), 0, 0, PCTL_OFFSET_AUTO},
		{"d", pctl_build_array(d->p.b, d->bf16, 3, 0), 0, 0, PCTL_OFFSET_AUTO},
		{"e", pctl_build_vector(d->p.b, PCTL_SCALAR_BF16, 2), 0, 0, PCTL_OFFSET_AUTO},
		{"f", d->f32, 0, 0, PCTL_OFFSET_AUTO}};

	return pctl_build_struct(d->p.b, members, sizeof(members) / sizeof(members[0]));
}

/* A record goes from memory to memory through a space; NaN payloads and all other bits arrive. */
static void records_through_every_space(void **state)
{
	static uint8_t in[LANES * 48], out[LANES * 48];
	(void)state;

	for (uint8_t space = PCTL_SPACE_FUNCTION; space <= PCTL_SPACE_WORKGROUP; space++) {
		uint32_t type, root, lid;
		desk d;

		desk_open(&d);
		type = record(&d);
		if (space != PCTL_SPACE_FUNCTION)
			root = prog_var(&d.p, "through", pctl_build_array(d.p.b, type, 64, 0),
					space);
		desk_main(&d, type, type);
		if (space == PCTL_SPACE_FUNCTION)
			root = prog_local(pctl_build_local(d.p.b, "through",
							   pctl_build_array(d.p.b, type, 64, 0)));
		lid = prog_builtin(&d.p, PCTL_BUILTIN_LOCAL_INDEX, 0);
		prog_store(&d.p, prog_load(&d.p, type, d.in, 1, d.gid), root, 1, lid);
		prog_store(&d.p, prog_load(&d.p, type, root, 1, lid), d.out, 1, d.gid);
		fill_random(in, sizeof(in), space);
		memset(out, 0x5a, sizeof(out));
		desk_run(&d, in, sizeof(in), out, sizeof(out), 0);
		for (uint32_t i = 0; i < sizeof(out); i++)
			assert_int_equal(out[i], in_record[i % 48] ? in[i] : 0x5a);
		desk_close(&d);
	}
}

/* out[i] = in[pattern of i] element by element, one lane out of three off, indices past both ends. */
static void elements_one_by_one(void **state)
{
	static uint16_t in[LANES], out[LANES];
	(void)state;

	for (uint32_t kind = 0; kind < 8; kind++) {
		const int flags = kind & 4 ? PCTL_BUILD_SANITIZE | PCTL_BUILD_COUNT : 0;
		uint32_t from, to, c;
		desk d;

		desk_open(&d);
		desk_main(&d, kind & 1 ? d.bf16 : d.f16, kind & 1 ? d.bf16 : d.f16);
		from = prog_op(&d.p, PCTL_OP_SUB, d.p.u32, 2, prog_u32(&d.p, LANES + 9), d.gid);
		to = d.gid;
		if (kind & 2) { /* lines of neighbours instead */
			from = prog_add(&d.p, d.gid, prog_u32(&d.p, 5));
			to = prog_op(&d.p, PCTL_OP_XOR, d.p.u32, 2, d.gid, prog_u32(&d.p, 1));
		}
		c = prog_op(&d.p, PCTL_OP_MOD, d.p.u32, 2, d.gid, prog_u32(&d.p, 3));
		c = prog_op(&d.p, PCTL_OP_NE, d.p.boolean, 2, c, prog_u32(&d.p, 1));
		prog_op(&d.p, PCTL_OP_IF, 0, 1, c);
		prog_store(&d.p, prog_load(&d.p, kind & 1 ? d.bf16 : d.f16, d.in, 1, from), d.out,
			   1, to);
		prog_op(&d.p, PCTL_OP_END_IF, 0, 0);
		fill_random((uint8_t *)in, sizeof(in), kind);
		memset(out, 0x77, sizeof(out));
		desk_run(&d, (uint8_t *)in, sizeof(in), (uint8_t *)out, sizeof(out),
			 (uint32_t)flags);
		for (uint32_t i = 0; i < LANES; i++) {
			const uint32_t lane = kind & 2 ? i ^ 1 : i;
			const uint32_t at = kind & 2 ? lane + 5 : LANES + 9 - lane;

			assert_int_equal(out[i], lane % 3 == 1 ? 0x7777 : at < LANES ? in[at] : 0);
		}
		if (flags) { /* neighbours of 2 bytes do not race; the misses are found */
			pctl_finding f[4];
			uint32_t n;

			rig_must(&d.r, d.r.api->findings(d.r.dev, &d.r.call, 4, f, &n), "findings");
			for (uint32_t i = 0; i < n; i++)
				assert_int_equal(f[i].kind, PCTL_FINDING_OUT_OF_BOUNDS);
			assert_true(n >= 1);
		}
		desk_close(&d);
	}
}

/* One element for all lanes, by a constant index and by one from a uniform buffer. */
static void elements_shared_by_all(void **state)
{
	static uint16_t in[LANES], out[LANES * 4], uniform[8] = {0, 5, 0x7d01};
	rig_bytes arrays[3] = {{in, sizeof(in), 0}, {out, sizeof(out), 0}, {uniform, 16, 1}};
	uint32_t vec4, u, index;
	desk d;
	(void)state;

	desk_open(&d);
	vec4 = pctl_build_vector(d.p.b, PCTL_SCALAR_F16, 4);
	d.in = prog_storage(&d.p, "in", pctl_build_array(d.p.b, d.f16, 0, 0), 0);
	d.out = prog_storage(&d.p, "out", pctl_build_array(d.p.b, vec4, 0, 0), 1);
	u = prog_uniform(&d.p, "u", vec4);
	prog_main(&d.p);
	d.gid = prog_builtin(&d.p, PCTL_BUILTIN_GLOBAL_ID, 0);
	index = prog_load(&d.p, d.f16, u, 1, prog_u32(&d.p, 1)); /* a tiny number: its bits are 5 */
	index = prog_op(&d.p, PCTL_OP_CAST, d.p.u32, 1,
			prog_op(&d.p, PCTL_OP_BITCAST, d.u16, 1, index));
	prog_store(&d.p,
		   prog_op(&d.p, PCTL_OP_COMPOSE, vec4, 4,
			   prog_load(&d.p, d.f16, d.in, 1, prog_u32(&d.p, 3)),
			   prog_load(&d.p, d.f16, d.in, 1, index),
			   prog_load(&d.p, d.f16, d.in, 1, prog_u32(&d.p, LANES)),
			   prog_load(&d.p, d.f16, u, 1, prog_u32(&d.p, 2))),
		   d.out, 1, d.gid);
	fill_random((uint8_t *)in, sizeof(in), 6);
	rig_run_prog(&d.r, &d.p, 64, 0, arrays, 3, (LANES + 63) / 64);
	for (uint32_t i = 0; i < LANES; i++) {
		assert_int_equal(out[i * 4], in[3]);
		assert_int_equal(out[i * 4 + 1], in[5]);
		assert_int_equal(out[i * 4 + 2], 0);
		assert_int_equal(out[i * 4 + 3], 0x7d01);
	}
	desk_close(&d);
}

/* Every reinterpretation between the widths 16, 32 and 64 keeps bytes; also through other moves. */
static void bitcasts_keep_bytes(void **state)
{
	static const uint8_t shapes[][3] = {
		{PCTL_SCALAR_F16, 2, 4},  {PCTL_SCALAR_BF16, 2, 4}, {PCTL_SCALAR_U32, 1, 4},
		{PCTL_SCALAR_F32, 1, 4},  {PCTL_SCALAR_I32, 1, 4},  {PCTL_SCALAR_F16, 4, 8},
		{PCTL_SCALAR_BF16, 4, 8}, {PCTL_SCALAR_U32, 2, 8},  {PCTL_SCALAR_F32, 2, 8},
		{PCTL_SCALAR_U64, 1, 8},  {PCTL_SCALAR_I64, 1, 8},  {PCTL_SCALAR_U16, 1, 2},
		{PCTL_SCALAR_F16, 1, 2},  {PCTL_SCALAR_BF16, 1, 2}, {PCTL_SCALAR_F32, 4, 16},
		{PCTL_SCALAR_U64, 2, 16}};
	static uint8_t in[LANES * 16], out[LANES * 16];
	const uint32_t n = sizeof(shapes) / sizeof(shapes[0]);
	uint32_t tried = 0;
	(void)state;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++) {
			uint32_t type[2], v;
			desk d;

			if (shapes[i][2] != shapes[k][2])
				continue;
			desk_open(&d);
			for (uint32_t e = 0; e < 2; e++) {
				const uint8_t *s = shapes[e ? k : i];
				type[e] = s[1] == 1 ? pctl_build_scalar(d.p.b, s[0])
						    : pctl_build_vector(d.p.b, s[0], s[1]);
			}
			desk_main(&d, type[0], type[1]);
			v = prog_load(&d.p, type[0], d.in, 1, d.gid);
			if (i != k)
				v = prog_op(&d.p, PCTL_OP_BITCAST, type[1], 1, v);
			prog_store(&d.p, v, d.out, 1, d.gid);
			fill_random(in, sizeof(in), i * 16 + k);
			memset(out, 0, sizeof(out));
			desk_run(&d, in, LANES * shapes[i][2], out, LANES * shapes[k][2], 0);
			assert_memory_equal(in, out, LANES * shapes[i][2]);
			desk_close(&d);
			tried++;
		}
	assert_true(tried > 60);
}

/* select, shuffle, extract, insert, transpose, parameters: signalling NaNs come out as they went in. */
static void moves_keep_bits(void **state)
{
	static uint32_t in[LANES * 4], out[LANES * 8];
	uint32_t vec4, vec2, mat, v, w, c, f, at, mask;
	desk d;
	(void)state;

	desk_open(&d);
	vec4 = pctl_build_vector(d.p.b, PCTL_SCALAR_F32, 4);
	vec2 = pctl_build_vector(d.p.b, PCTL_SCALAR_F32, 2);
	mat = pctl_build_matrix(d.p.b, PCTL_SCALAR_F32, 2, 2);
	mask = pctl_build_vector(d.p.b, PCTL_SCALAR_BOOL, 4);
	pctl_build_function_begin(d.p.b, "swap", &vec4, 1, vec4);
	prog_op(&d.p, PCTL_OP_RETURN, 0, 1, prog_op(&d.p, PCTL_OP_SHUFFLE, vec4, 5, 0, 3, 2, 1, 0));
	f = pctl_build_function_end(d.p.b);
	desk_main(&d, vec4, vec4);
	v = prog_op(&d.p, PCTL_OP_CALL, vec4, 2, f, prog_load(&d.p, vec4, d.in, 1, d.gid));
	/* columns (a b) (c d) become (a c) (b d) */
	w = prog_op(&d.p, PCTL_OP_COMPOSE, mat, 2, prog_op(&d.p, PCTL_OP_SHUFFLE, vec2, 3, v, 0, 1),
		    prog_op(&d.p, PCTL_OP_SHUFFLE, vec2, 3, v, 2, 3));
	w = prog_op(&d.p, PCTL_OP_TRANSPOSE, mat, 1, w);
	at = prog_op(&d.p, PCTL_OP_AND, d.p.u32, 2, d.gid, prog_u32(&d.p, 3));
	c = prog_op(&d.p, PCTL_OP_EXTRACT_DYN, d.f32, 2, v, at);
	w = prog_op(&d.p, PCTL_OP_COMPOSE, vec4, 4,
		    prog_op(&d.p, PCTL_OP_EXTRACT, d.f32, 2,
			    prog_op(&d.p, PCTL_OP_EXTRACT, vec2, 2, w, 0), 1),
		    c, prog_op(&d.p, PCTL_OP_EXTRACT, d.f32, 2, v, 3),
		    pctl_build_const(d.p.b, d.f32, 0x7f800001));
	prog_store(&d.p, w, d.out, 1, prog_mul(&d.p, d.gid, prog_u32(&d.p, 2)));
	c = prog_op(&d.p, PCTL_OP_FLT, mask, 2, v, prog_op(&d.p, PCTL_OP_ZERO, vec4, 0));
	v = prog_op(&d.p, PCTL_OP_SELECT, vec4, 3, c, v, prog_op(&d.p, PCTL_OP_FNEG, vec4, 1, v));
	prog_store(&d.p, v, d.out, 1,
		   prog_add(&d.p, prog_mul(&d.p, d.gid, prog_u32(&d.p, 2)), prog_u32(&d.p, 1)));
	for (uint32_t i = 0; i < LANES * 4; i++)
		in[i] = float_operand(&float_formats[FLOAT_F32], 1, 0, i, 3);
	desk_run(&d, (uint8_t *)in, sizeof(in), (uint8_t *)out, sizeof(out), 0);
	for (uint32_t i = 0; i < LANES; i++) {
		const uint32_t *x = &in[i * 4], *y = &out[i * 8];

		assert_int_equal(y[0], x[1]); /* v is x reversed, so v[2] is x[1] */
		assert_int_equal(y[1], x[3 - i % 4]);
		assert_int_equal(y[2], x[0]);
		assert_int_equal(y[3], 0x7f800001);
		for (uint32_t k = 0; k < 4; k++) {
			const uint32_t b = x[3 - k];
			const int below = b > 0x80000000u && b <= 0xff800000u;

			assert_int_equal(y[4 + k], below ? b : b ^ 0x80000000u);
		}
	}
	desk_close(&d);
}

static void casts_of_u16(void **state)
{
	static uint16_t in[LANES];
	static uint32_t out[LANES * 8];
	uint32_t vec4, v, w, at[2];
	desk d;
	(void)state;

	desk_open(&d);
	vec4 = pctl_build_vector(d.p.b, PCTL_SCALAR_U32, 4);
	desk_main(&d, d.u16, vec4);
	v = prog_load(&d.p, d.u16, d.in, 1, d.gid);
	w = prog_op(&d.p, PCTL_OP_CAST, d.p.u32, 1, v);
	w = prog_mul(&d.p, w, prog_u32(&d.p, 0x10003)); /* cut to 16 bits again below */
	at[0] = prog_mul(&d.p, d.gid, prog_u32(&d.p, 2));
	at[1] = prog_add(&d.p, at[0], prog_u32(&d.p, 1));
	prog_store(&d.p,
		   prog_op(&d.p, PCTL_OP_COMPOSE, vec4, 4,
			   prog_op(&d.p, PCTL_OP_CAST, d.p.u32, 1, v),
			   prog_op(&d.p, PCTL_OP_CAST, d.p.u32, 1,
				   prog_op(&d.p, PCTL_OP_CAST, d.u16, 1, w)),
			   prog_op(&d.p, PCTL_OP_SELECT, d.p.u32, 3,
				   prog_op(&d.p, PCTL_OP_CAST, d.p.boolean, 1, v),
				   prog_u32(&d.p, 1), prog_u32(&d.p, 0)),
			   prog_op(&d.p, PCTL_OP_CAST, d.p.u32, 1,
				   prog_op(&d.p, PCTL_OP_CAST, d.p.i64, 1, v))),
		   d.out, 1, at[0]);
	w = prog_op(&d.p, PCTL_OP_NOT, d.p.u64, 1, prog_op(&d.p, PCTL_OP_CAST, d.p.u64, 1, w));
	prog_store(&d.p,
		   prog_op(&d.p, PCTL_OP_SPLAT, vec4, 1,
			   prog_op(&d.p, PCTL_OP_CAST, d.p.u32, 1,
				   prog_op(&d.p, PCTL_OP_CAST, d.u16, 1, w))),
		   d.out, 1, at[1]);
	fill_random((uint8_t *)in, sizeof(in), 4);
	in[7] = 0;
	desk_run(&d, (uint8_t *)in, sizeof(in), (uint8_t *)out, sizeof(out), 0);
	for (uint32_t i = 0; i < LANES; i++) {
		const uint32_t x = in[i], cut = x * 3 & 0xffff;

		assert_int_equal(out[i * 8], x);
		assert_int_equal(out[i * 8 + 1], cut);
		assert_int_equal(out[i * 8 + 2], x != 0);
		assert_int_equal(out[i * 8 + 3], x);
		assert_int_equal(out[i * 8 + 4], 0xffff - cut);
	}
	desk_close(&d);
}

static void tables_and_high_words(void **state)
{
	static uint32_t in[LANES], out[LANES * 4];
	const uint32_t words[] = {0, 7, 0x7f800001, 0xffffffff, 5, 6};
	uint32_t vec4, v, a[4], signed_index, narrow[6], broad[7];
	desk d;
	(void)state;

	desk_open(&d);
	vec4 = pctl_build_vector(d.p.b, PCTL_SCALAR_U32, 4);
	desk_main(&d, d.p.u32, vec4);
	v = prog_load(&d.p, d.p.u32, d.in, 1, d.gid);
	signed_index = prog_op(&d.p, PCTL_OP_BITCAST, d.p.i32, 1, v);
	narrow[0] = v;
	memcpy(narrow + 1, words, 5 * 4);
	a[0] = prog_op(&d.p, PCTL_OP_BITCAST, d.p.u32, 1,
		       pctl_build_inst(d.p.b, PCTL_OP_LOOKUP, d.f32, narrow, 6));
	broad[0] = signed_index;
	memcpy(broad + 1, words, 6 * 4);
	a[1] = pctl_build_inst(d.p.b, PCTL_OP_LOOKUP, d.p.u64, broad, 7);
	a[2] = prog_op(&d.p, PCTL_OP_SHR, d.p.u64, 2, a[1], prog_u32(&d.p, 32));
	a[2] = prog_op(&d.p, PCTL_OP_XOR, d.p.u64, 2, a[1], a[2]);
	a[1] = prog_op(&d.p, PCTL_OP_CAST, d.p.u32, 1, a[2]);
	broad[0] = prog_i32(&d.p, 2); /* one element for all lanes */
	a[2] = prog_op(&d.p, PCTL_OP_CAST, d.p.u32, 1,
		       pctl_build_inst(d.p.b, PCTL_OP_LOOKUP, d.p.u64, broad, 7));
	a[3] = prog_op(&d.p, PCTL_OP_MUL_HIGH, d.p.u32, 2, v,
		       prog_op(&d.p, PCTL_OP_NOT, d.p.u32, 1, d.gid));
	prog_store(&d.p, prog_op(&d.p, PCTL_OP_COMPOSE, vec4, 4, a[0], a[1], a[2], a[3]), d.out, 1,
		   d.gid);
	for (uint32_t i = 0; i < LANES; i++)
		in[i] = i < 9 ? i : i < 20 ? 0u - i + 9 : (uint32_t)rig_random(9, i);
	desk_run(&d, (uint8_t *)in, sizeof(in), (uint8_t *)out, sizeof(out), PCTL_BUILD_COUNT);
	for (uint32_t i = 0; i < LANES; i++) {
		const uint64_t product = (uint64_t)in[i] * (0xffffffffu - i);

		assert_int_equal(out[i * 4], in[i] < 5 ? words[in[i]] : 0);
		assert_int_equal(out[i * 4 + 1],
				 in[i] < 3 ? words[2 * in[i]] ^ words[2 * in[i] + 1] : 0);
		assert_int_equal(out[i * 4 + 2], 5);
		assert_int_equal(out[i * 4 + 3], product >> 32);
	}
	desk_close(&d);
}

/* Lanes that are off keep what they have; each side of a branch sees its own lanes only. */
static void masked_lanes(void **state)
{
	static uint32_t in[LANES], out[LANES];
	const float_format *f = &float_formats[FLOAT_F32];
	uint32_t x, n, c;
	desk d;
	(void)state;

	desk_open(&d);
	desk_main(&d, d.f32, d.f32);
	x = prog_local(pctl_build_local(d.p.b, "x", d.f32));
	n = prog_local(pctl_build_local(d.p.b, "n", d.p.u32));
	prog_store(&d.p, prog_load(&d.p, d.f32, d.in, 1, d.gid), x, 0);
	/* gid % 3 == 0: log, else cos; then sqrt(gid % 5) times x = exp2(x - 1) */
	c = prog_op(&d.p, PCTL_OP_MOD, d.p.u32, 2, d.gid, prog_u32(&d.p, 3));
	prog_op(&d.p, PCTL_OP_IF, 0, 1,
		prog_op(&d.p, PCTL_OP_EQ, d.p.boolean, 2, c, prog_u32(&d.p, 0)));
	prog_store(&d.p, prog_op(&d.p, PCTL_OP_FLOG, d.f32, 1, prog_load(&d.p, d.f32, x, 0)), x, 0);
	prog_op(&d.p, PCTL_OP_ELSE, 0, 0);
	prog_store(&d.p, prog_op(&d.p, PCTL_OP_FCOS, d.f32, 1, prog_load(&d.p, d.f32, x, 0)), x, 0);
	prog_op(&d.p, PCTL_OP_END_IF, 0, 0);
	prog_op(&d.p, PCTL_OP_LOOP, 0, 0);
	c = prog_op(&d.p, PCTL_OP_LT, d.p.boolean, 2, prog_load(&d.p, d.p.u32, n, 0),
		    prog_op(&d.p, PCTL_OP_MOD, d.p.u32, 2, d.gid, prog_u32(&d.p, 5)));
	prog_op(&d.p, PCTL_OP_LOOP_TEST, 0, 1, c);
	c = prog_op(&d.p, PCTL_OP_FSUB, d.f32, 2, prog_load(&d.p, d.f32, x, 0),
		    pctl_build_const(d.p.b, d.f32, 0x3f800000));
	prog_store(&d.p, prog_op(&d.p, PCTL_OP_FEXP2, d.f32, 1, c), x, 0);
	prog_op(&d.p, PCTL_OP_CONTINUING, 0, 0);
	prog_store(&d.p, prog_add(&d.p, prog_load(&d.p, d.p.u32, n, 0), prog_u32(&d.p, 1)), n, 0);
	prog_op(&d.p, PCTL_OP_END_LOOP, 0, 0);
	prog_store(&d.p, prog_load(&d.p, d.f32, x, 0), d.out, 1, d.gid);
	for (uint32_t i = 0; i < LANES; i++)
		in[i] = float_operand(f, 1, 0, i + 13, 21);
	desk_run(&d, (uint8_t *)in, sizeof(in), (uint8_t *)out, sizeof(out), 0);
	for (uint32_t i = 0; i < LANES; i++) {
		uint32_t v[2] = {in[i], 0x3f800000};

		v[0] = float_expect(i % 3 ? PCTL_OP_FCOS : PCTL_OP_FLOG, f, v);
		for (uint32_t k = 0; k < i % 5; k++) {
			v[0] = float_expect(PCTL_OP_FSUB, f, v);
			v[0] = float_expect(PCTL_OP_FEXP2, f, v);
		}
		assert_int_equal(out[i], v[0]);
	}
	desk_close(&d);
}

/* a * a - 1 for a = 1 + 2^-12: the product rounds before the sum, fma once, wherever they stand. */
static void nothing_is_contracted(void **state)
{
	static uint32_t in[LANES], out[LANES * 4];
	uint32_t vec4, vec2, one, f, a, sum, c, shared, lid, part[4], n, x;
	desk d;
	(void)state;

	desk_open(&d);
	vec4 = pctl_build_vector(d.p.b, PCTL_SCALAR_F32, 4);
	vec2 = pctl_build_vector(d.p.b, PCTL_SCALAR_F32, 2);
	shared = prog_var(&d.p, "shared", pctl_build_array(d.p.b, d.f32, 64, 0),
			  PCTL_SPACE_WORKGROUP);
	pctl_build_function_begin(d.p.b, "both", &d.f32, 1, vec2);
	a = 0; /* the parameter */
	one = pctl_build_const(d.p.b, d.f32, 0xbf800000);
	sum = prog_op(&d.p, PCTL_OP_FADD, d.f32, 2, prog_op(&d.p, PCTL_OP_FMUL, d.f32, 2, a, a),
		      one);
	prog_op(&d.p, PCTL_OP_RETURN, 0, 1,
		prog_op(&d.p, PCTL_OP_COMPOSE, vec2, 2, sum,
			prog_op(&d.p, PCTL_OP_FFMA, d.f32, 3, a, a, one)));
	f = pctl_build_function_end(d.p.b);
	desk_main(&d, d.f32, vec4);
	lid = prog_builtin(&d.p, PCTL_BUILTIN_LOCAL_INDEX, 0);
	n = prog_local(pctl_build_local(d.p.b, "n", d.p.u32));
	x = prog_local(pctl_build_local(d.p.b, "x", d.f32));
	a = prog_load(&d.p, d.f32, d.in, 1, d.gid);
	c = prog_op(&d.p, PCTL_OP_CALL, vec2, 2, f, a);
	part[0] = prog_op(&d.p, PCTL_OP_EXTRACT, d.f32, 2, c, 0);
	part[1] = prog_op(&d.p, PCTL_OP_EXTRACT, d.f32, 2, c, 1);
	one = pctl_build_const(d.p.b, d.f32, 0xbf800000);
	prog_store(&d.p, prog_op(&d.p, PCTL_OP_FMUL, d.f32, 2, a, a), shared, 1, lid);
	part[2] = prog_op(&d.p, PCTL_OP_FSUB, d.f32, 2, prog_load(&d.p, d.f32, shared, 1, lid),
			  prog_op(&d.p, PCTL_OP_FNEG, d.f32, 1, one));
	prog_op(&d.p, PCTL_OP_LOOP, 0, 0);
	c = prog_op(&d.p, PCTL_OP_LT, d.p.boolean, 2, prog_load(&d.p, d.p.u32, n, 0),
		    prog_u32(&d.p, 2));
	prog_op(&d.p, PCTL_OP_LOOP_TEST, 0, 1, c);
	prog_store(&d.p,
		   prog_op(&d.p, PCTL_OP_FADD, d.f32, 2,
			   prog_op(&d.p, PCTL_OP_FMUL, d.f32, 2, a, a), one),
		   x, 0);
	prog_op(&d.p, PCTL_OP_CONTINUING, 0, 0);
	prog_store(&d.p, prog_add(&d.p, prog_load(&d.p, d.p.u32, n, 0), prog_u32(&d.p, 1)), n, 0);
	prog_op(&d.p, PCTL_OP_END_LOOP, 0, 0);
	part[3] = prog_load(&d.p, d.f32, x, 0);
	prog_store(&d.p,
		   prog_op(&d.p, PCTL_OP_COMPOSE, vec4, 4, part[0], part[1], part[2], part[3]),
		   d.out, 1, d.gid);
	for (uint32_t i = 0; i < LANES; i++)
		in[i] = 0x3f800800;
	desk_run(&d, (uint8_t *)in, sizeof(in), (uint8_t *)out, sizeof(out), 0);
	for (uint32_t i = 0; i < LANES * 4; i++)
		assert_int_equal(out[i], i % 4 == 1 ? 0x3a000400 : 0x3a000000);
	desk_close(&d);
}

/* Threads inherit the modes of the thread that makes them: here upwards, and where possible flushing. */
static void the_modes_of_the_host_do_not_matter(void **state)
{
	const float_op add = {PCTL_OP_FADD, 2, 0}, mul = {PCTL_OP_FMUL, 2, 0};
	const float_op root = {PCTL_OP_FSQRT, 1, 0}, fma = {PCTL_OP_FFMA, 3, 0};
	const float_op log2 = {PCTL_OP_FLOG2, 1, 0};
	fenv_t saved;
	rig r;
	(void)state;

	fegetenv(&saved);
	fesetround(FE_UPWARD);
#if defined(__SSE2__)
	__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);
#endif
	harness_open(&r, PIPECTL_CPU_PLUGIN);
	fesetenv(&saved);
	for (uint32_t k = 0; k < N_FLOAT_FORMATS; k++) {
		float_check(&r, &add, &float_formats[k], 1, 0, 9000, 0);
		float_check(&r, &mul, &float_formats[k], 1, 0, 9000, 0);
		float_check(&r, &root, &float_formats[k], 1, 0, 3000, 0);
		float_check(&r, &fma, &float_formats[k], 1, 0, 9000, 0);
		float_check(&r, &log2, &float_formats[k], 1, 0, 300, 0);
	}
	rig_close(&r);
	float_oracle_close();
}

static void counts_are_components(void **state)
{
	static uint8_t in[LANES * 8], out[LANES * 8];
	static pctl_counts counts;
	uint32_t vec3, bools, v, w;
	desk d;
	(void)state;

	desk_open(&d);
	vec3 = pctl_build_vector(d.p.b, PCTL_SCALAR_F16, 3);
	bools = pctl_build_vector(d.p.b, PCTL_SCALAR_BOOL, 3);
	desk_main(&d, vec3, vec3);
	v = prog_load(&d.p, vec3, d.in, 1, d.gid);
	w = prog_op(&d.p, PCTL_OP_FADD, vec3, 2, v, v);
	w = prog_op(&d.p, PCTL_OP_FEXP, vec3, 1, w);
	w = prog_op(&d.p, PCTL_OP_FCONVERT, pctl_build_vector(d.p.b, PCTL_SCALAR_F32, 3), 1, w);
	w = prog_op(&d.p, PCTL_OP_FCONVERT, vec3, 1, w);
	w = prog_op(&d.p, PCTL_OP_SELECT, vec3, 3, prog_op(&d.p, PCTL_OP_FLE, bools, 2, v, w), v,
		    w);
	prog_store(&d.p, w, d.out, 1, d.gid);
	desk_run(&d, in, sizeof(in), out, sizeof(out), PCTL_BUILD_COUNT);
	rig_must(&d.r, d.r.api->counts(d.r.dev, &d.r.call, &counts), "counts");
	assert_int_equal(counts.op_units[PCTL_OP_FADD], 320 * 3); /* 5 workgroups of 64 */
	assert_int_equal(counts.op_units[PCTL_OP_FEXP], 320 * 3);
	assert_int_equal(counts.op_units[PCTL_OP_FCONVERT], 2 * 320 * 3);
	assert_int_equal(counts.op_units[PCTL_OP_FLE], 320 * 3);
	assert_int_equal(counts.storage_read_bytes, 320 * 6);
	assert_int_equal(counts.storage_write_bytes, 320 * 6);
	desk_close(&d);
}

/* A store of a pair by one invocation and of its second half by another is a race; of two different
 * halves it is none. */
static void races_of_halves(void **state)
{
	(void)state;
	for (uint32_t how = 0; how < 3; how++) {
		static uint16_t in[LANES * 2], out[LANES * 2];
		uint32_t vec2, c, pair, half, at;
		pctl_finding f[4];
		uint32_t n = 0;
		desk d;

		desk_open(&d);
		vec2 = pctl_build_vector(d.p.b, PCTL_SCALAR_BF16, 2);
		desk_main(&d, vec2, vec2);
		at = prog_op(&d.p, PCTL_OP_SHR, d.p.u32, 2, d.gid, prog_u32(&d.p, 1));
		c = prog_op(&d.p, PCTL_OP_AND, d.p.u32, 2, d.gid, prog_u32(&d.p, 1));
		half = prog_op(&d.p, PCTL_OP_EXTRACT, d.bf16, 2,
			       prog_op(&d.p, PCTL_OP_ZERO, vec2, 0), 0);
		prog_op(&d.p, PCTL_OP_IF, 0, 1,
			prog_op(&d.p, PCTL_OP_EQ, d.p.boolean, 2, c, prog_u32(&d.p, 0)));
		pair = prog_load(&d.p, vec2, d.in, 1, at);
		if (how == 0)
			prog_store(&d.p, pair, d.out, 1, at);
		else
			prog_store(&d.p, half, d.out, 2, at, prog_u32(&d.p, how - 1));
		prog_op(&d.p, PCTL_OP_ELSE, 0, 0);
		prog_store(&d.p, half, d.out, 2, at, prog_u32(&d.p, 1));
		prog_op(&d.p, PCTL_OP_END_IF, 0, 0);
		desk_run(&d, (uint8_t *)in, sizeof(in), (uint8_t *)out, sizeof(out),
			 PCTL_BUILD_SANITIZE);
		rig_must(&d.r, d.r.api->findings(d.r.dev, &d.r.call, 4, f, &n), "findings");
		assert_int_equal(n, how == 1 ? 0 : 1);
		if (n) {
			assert_int_equal(f[0].kind, PCTL_FINDING_RACE);
			assert_int_equal(f[0].address % 4, 2);
			assert_int_equal(f[0].count, 160);
		}
		desk_close(&d);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(records_through_every_space), PCTL_TEST(elements_one_by_one),
		PCTL_TEST(elements_shared_by_all), PCTL_TEST(bitcasts_keep_bytes),
		PCTL_TEST(moves_keep_bits), PCTL_TEST(casts_of_u16),
		PCTL_TEST(tables_and_high_words), PCTL_TEST(masked_lanes),
		PCTL_TEST(nothing_is_contracted), PCTL_TEST(the_modes_of_the_host_do_not_matter),
		PCTL_TEST(counts_are_components), PCTL_TEST(races_of_halves))
