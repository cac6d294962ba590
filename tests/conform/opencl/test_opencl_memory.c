/* Memory: WGSL's layout to the byte, misses at every level and in every address space, bindings
 * without bytes, atomics, and zero at the start. Expected values are written out here or computed
 * by plain C. */
#include "sketch.h"

#include <stdlib.h>

#define RW PCTL_ACCESS_READ_WRITE
#define RO PCTL_ACCESS_READ

/* struct { a: vec3<u32>, b: u32, c: mat3x3<u32>, d: array<vec2<u64>,2>, e: vec3<u64>, f: i64, g:
 * array<vec3<i32>,2> } Offsets by WGSL's rules: a 0, b 12, c 16 (3 columns of stride 16), d 64
 * (stride 16), e 96 (align 32, size 24), f 120, g 128 (stride 16); size 160. */
#define STRUCT_BYTES 160u
static const struct {
	uint32_t at, n;
} live[] = {{0, 16},  {16, 12}, {32, 12},  {48, 12}, {64, 32},
	    {96, 24}, {120, 8}, {128, 12}, {144, 12}};

static uint32_t build_struct(sketch *s)
{
	const uint32_t u3 = pctl_build_vector(s->b, PCTL_SCALAR_U32, 3),
		       i3 = pctl_build_vector(s->b, PCTL_SCALAR_I32, 3);
	const uint32_t u64x2 = pctl_build_vector(s->b, PCTL_SCALAR_U64, 2);
	const pctl_member_spec members[] = {
		{"a", u3, 0, 0, PCTL_OFFSET_AUTO},
		{"b", s->t_u32, 0, 0, PCTL_OFFSET_AUTO},
		{"c", pctl_build_matrix(s->b, PCTL_SCALAR_U32, 3, 3), 0, 0, PCTL_OFFSET_AUTO},
		{"d", pctl_build_array(s->b, u64x2, 2, 0), 0, 0, PCTL_OFFSET_AUTO},
		{"e", pctl_build_vector(s->b, PCTL_SCALAR_U64, 3), 0, 0, PCTL_OFFSET_AUTO},
		{"f", s->t_i64, 0, 0, PCTL_OFFSET_AUTO},
		{"g", pctl_build_array(s->b, i3, 2, 0), 0, 0, PCTL_OFFSET_AUTO},
	};

	return pctl_build_struct(s->b, members, 7);
}

/* A composite moved whole through storage, private and workgroup memory keeps every byte and
 * touches no padding. */
static void test_opencl__composite_copy(void **state)
{
	enum { N = 5 };
	uint8_t in[N * STRUCT_BYTES], out[N * STRUCT_BYTES], want[N * STRUCT_BYTES];
	uint32_t type, array, a, b, private_var, shared, local, at, v;
	rig_bytes bounds[2] = {{in, sizeof(in), 0}, {out, sizeof(out), 0}};
	uint8_t *wire;
	uint64_t n;
	sketch s;

	sketch_begin(&s, 1);
	type = build_struct(&s);
	array = pctl_build_array(s.b, type, 0, 0);
	a = sketch_storage(&s, 0, array, RO);
	b = sketch_storage(&s, 1, array, RW);
	private_var = sketch_var(&s, PCTL_SPACE_PRIVATE, type);
	shared = sketch_var(&s, PCTL_SPACE_WORKGROUP, pctl_build_array(s.b, type, 2, 0));
	sketch_main(&s);
	local = pctl_build_local(s.b, "l", type);
	at = global_x(&s);
	v = OP(&s, LOAD, type, a, at);
	OP(&s, STORE, 0, v, private_var);
	v = OP(&s, LOAD, type, private_var);
	OP(&s, STORE, 0, v, shared, k_u32(&s, 1));
	v = OP(&s, LOAD, type, shared, k_u32(&s, 1));
	OP(&s, STORE, 0, v, PCTL_PLACE_LOCAL | local);
	v = OP(&s, LOAD, type, PCTL_PLACE_LOCAL | local);
	OP(&s, STORE, 0, v, b, at);
	wire = sketch_end(&s, &n);
	for (uint32_t i = 0; i < sizeof(in); i++) {
		in[i] = (uint8_t)rig_random(5, i);
		out[i] = want[i] = 0xaa;
	}
	for (uint32_t i = 0; i < N; i++)
		for (uint32_t k = 0; k < sizeof(live) / sizeof(live[0]); k++)
			memcpy(want + i * STRUCT_BYTES + live[k].at,
			       in + i * STRUCT_BYTES + live[k].at, live[k].n);
	sketch_run(*state, wire, n, bounds, 2, N);
	assert_memory_equal(out, want, sizeof(out));
}

/* Every member by its own path, down to components, with constant and computed indices. */
static void test_opencl__member_paths(void **state)
{
	uint8_t in[STRUCT_BYTES];
	uint32_t out[64] = {0}, want[64] = {0}, n_want = 0;
	rig_bytes bounds[2] = {{in, sizeof(in), 0}, {out, sizeof(out), 0}};
	uint32_t type, a, b, one, u3, k[4];
	uint8_t *wire;
	uint64_t n;
	sketch s;
#define WANT(value_id)                                    \
	OP(&s, STORE, 0, value_id, b, k_u32(&s, n_want)); \
	want[n_want++] =
#define WORD(offset) (*(const uint32_t *)(const void *)(in + (offset)))

	for (uint32_t i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)rig_random(6, i);
	sketch_begin(&s, 1);
	type = build_struct(&s);
	u3 = pctl_build_vector(s.b, PCTL_SCALAR_U32, 3);
	a = sketch_storage(&s, 0, type, RO);
	b = sketch_storage(&s, 1, pctl_build_array(s.b, s.t_u32, 0, 0), RW);
	sketch_main(&s);
	one = OP(&s, ADD, s.t_u32, global_x(&s), k_u32(&s, 1)); /* 1, but not a constant */
	for (uint32_t i = 0; i < 4; i++)
		k[i] = k_u32(&s, i);
	WANT(OP(&s, LOAD, s.t_u32, a, 0, k[2])) WORD(8);
	WANT(OP(&s, LOAD, s.t_u32, a, 0, one)) WORD(4);
	WANT(OP(&s, LOAD, s.t_u32, a, 0, k[3])) 0;
	WANT(OP(&s, LOAD, s.t_u32, a, 1)) WORD(12);
	WANT(OP(&s, LOAD, s.t_u32, a, 2, k[2], k[1])) WORD(16 + 2 * 16 + 4);
	WANT(OP(&s, LOAD, s.t_u32, a, 2, one, one)) WORD(16 + 16 + 4);
	WANT(OP(&s, LOAD, s.t_u32, a, 2, k[3], k[0])) 0;
	WANT(OP(&s, EXTRACT, s.t_u32, OP(&s, LOAD, u3, a, 2, one), 2)) WORD(16 + 16 + 8);
	WANT(OP(&s, CAST, s.t_u32, OP(&s, LOAD, s.t_u64, a, 3, one, one))) WORD(64 + 16 + 8);
	WANT(OP(&s, CAST, s.t_u32, OP(&s, LOAD, s.t_u64, a, 3, k[2], k[0]))) 0;
	WANT(OP(&s, CAST, s.t_u32, OP(&s, LOAD, s.t_u64, a, 4, k[2]))) WORD(96 + 16);
	WANT(OP(&s, CAST, s.t_u32, OP(&s, LOAD, s.t_u64, a, 4, one))) WORD(96 + 8);
	WANT(OP(&s, CAST, s.t_u32,
		OP(&s, SHR, s.t_i64, OP(&s, LOAD, s.t_i64, a, 5), k_u32(&s, 32))))
	WORD(124);
	WANT(OP(&s, CAST, s.t_u32, OP(&s, LOAD, s.t_i32, a, 6, one, k[2]))) WORD(128 + 16 + 8);
	wire = sketch_end(&s, &n);
	sketch_run(*state, wire, n, bounds, 2, 1);
	assert_memory_equal(out, want, sizeof(out));
#undef WANT
#undef WORD
}

/* Indices that miss, at either of two array levels and at the component, in one address space. */
static void misses(rig *r, uint8_t space, int as_signed)
{
	enum { OUTER = 3, INNER = 4, LANES = 2, CELLS = OUTER * INNER * LANES };
	static const uint32_t picks[] = {0, 1,		 2,	      3,	   4,
					 5, 0x7fffffffu, 0x80000000u, 0x40000001u, 0xffffffffu};
	enum { N_PICKS = sizeof(picks) / sizeof(picks[0]), N = N_PICKS * N_PICKS * N_PICKS };
	uint32_t *index = calloc((size_t)N * 3, 4), *got = calloc(N, 4), cells[CELLS], kept[CELLS];
	uint32_t *after = calloc((size_t)N * CELLS, 4);
	rig_bytes bounds[4] = {{index, (uint64_t)N * 12, 0},
			       {got, (uint64_t)N * 4, 0},
			       {cells, sizeof(cells), 0},
			       {after, (uint64_t)N * CELLS * 4, 0}};
	uint32_t u2, grid, table, at, base, i3[3], root, b_index, b_got, b_cells, b_after, t_index;
	uint8_t *wire;
	uint64_t n;
	sketch s;

	sketch_begin(&s, 1);
	t_index = as_signed ? s.t_i32 : s.t_u32;
	u2 = pctl_build_vector(s.b, PCTL_SCALAR_U32, LANES);
	table = pctl_build_array(s.b, u2, INNER, 0);
	grid = pctl_build_array(s.b, table, OUTER, 0);
	b_index = sketch_storage(&s, 0, pctl_build_array(s.b, t_index, 0, 0), RO);
	b_got = sketch_storage(&s, 1, pctl_build_array(s.b, s.t_u32, 0, 0), RW);
	b_cells = sketch_storage(&s, 2, pctl_build_array(s.b, table, 0, 0), RO);
	b_after = sketch_storage(&s, 3, pctl_build_array(s.b, grid, 0, 0), RW);
	root = b_after;
	if (space == PCTL_SPACE_PRIVATE || space == PCTL_SPACE_WORKGROUP)
		root = sketch_var(&s, space, grid);
	sketch_main(&s);
	if (space == PCTL_SPACE_FUNCTION)
		root = PCTL_PLACE_LOCAL | pctl_build_local(s.b, "grid", grid);
	at = global_x(&s);
	base = OP(&s, MUL, s.t_u32, at, k_u32(&s, 3));
	for (uint32_t i = 0; i < 3; i++)
		i3[i] = OP(&s, LOAD, t_index, b_index, OP(&s, ADD, s.t_u32, base, k_u32(&s, i)));
	for (uint32_t i = 0; i < OUTER; i++) {
		const uint32_t row = OP(&s, LOAD, table, b_cells, k_u32(&s, i));

		if (root == b_after)
			OP(&s, STORE, 0, row, root, at, k_u32(&s, i));
		else
			OP(&s, STORE, 0, row, root, k_u32(&s, i));
	}
	if (root == b_after) {
		OP(&s, STORE, 0, OP(&s, LOAD, s.t_u32, root, at, i3[0], i3[1], i3[2]), b_got, at);
		OP(&s, STORE, 0, k_u32(&s, 0xdeadbeefu), root, at, i3[0], i3[1], i3[2]);
	} else {
		OP(&s, STORE, 0, OP(&s, LOAD, s.t_u32, root, i3[0], i3[1], i3[2]), b_got, at);
		OP(&s, STORE, 0, k_u32(&s, 0xdeadbeefu), root, i3[0], i3[1], i3[2]);
		OP(&s, STORE, 0, OP(&s, LOAD, grid, root), b_after, at);
	}
	wire = sketch_end(&s, &n);
	for (uint32_t i = 0; i < CELLS; i++)
		cells[i] = kept[i] = 1000 + i;
	for (uint32_t i = 0; i < N; i++) {
		index[i * 3] = picks[i % N_PICKS];
		index[i * 3 + 1] = picks[i / N_PICKS % N_PICKS];
		index[i * 3 + 2] = picks[i / N_PICKS / N_PICKS];
	}
	sketch_run(r, wire, n, bounds, 4, N);
	for (uint32_t i = 0; i < N; i++) {
		const uint32_t *x = index + i * 3;
		const int hit = x[0] < OUTER && x[1] < INNER && x[2] < LANES;
		const uint32_t cell = hit ? (x[0] * INNER + x[1]) * LANES + x[2] : 0;

		if (got[i] != (hit ? kept[cell] : 0))
			fail_msg("space %u: load [%x][%x][%x] gives %u", space, x[0], x[1], x[2],
				 got[i]);
		for (uint32_t c = 0; c < CELLS; c++)
			if (after[i * CELLS + c] != (hit && c == cell ? 0xdeadbeefu : kept[c]))
				fail_msg("space %u: store [%x][%x][%x] left %x in cell %u", space,
					 x[0], x[1], x[2], after[i * CELLS + c], c);
	}
	free(index);
	free(got);
	free(after);
}

static void test_opencl__misses_storage(void **state)
{
	misses(*state, PCTL_SPACE_STORAGE, 0);
	misses(*state, PCTL_SPACE_STORAGE, 1);
}

static void test_opencl__misses_private(void **state)
{
	misses(*state, PCTL_SPACE_PRIVATE, 0);
	misses(*state, PCTL_SPACE_FUNCTION, 1);
}

static void test_opencl__misses_workgroup(void **state)
{
	misses(*state, PCTL_SPACE_WORKGROUP, 0);
	misses(*state, PCTL_SPACE_WORKGROUP, 1);
}

/* The runtime array's own rig_bytes, its length, and neighbours in the same buffer. */
static void test_opencl__runtime_bounds(void **state)
{
	static const uint32_t picks[] = {
		0, 6, 7, 8, 100, 0x40000000u, 0x40000001u, 0x7fffffffu, 0x80000000u, 0xffffffffu};
	enum { N = sizeof(picks) / sizeof(picks[0]) };
	rig *r = *state;
	uint32_t index[N], out[2 * N + 1] = {0}, data[64], counts[3] = {N, 1, 1};
	uint32_t b_index, b_out, b_data, at, i, u3, back[64];
	pctl_buffer *buffers[3];
	pctl_binding bindings[3];
	pctl_completion done;
	pctl_kernel *k;
	pctl_list *l;
	uint8_t *wire;
	uint64_t n;
	sketch s;

	sketch_begin(&s, 1);
	u3 = pctl_build_vector(s.b, PCTL_SCALAR_U32, 3);
	b_index = sketch_storage(&s, 0, pctl_build_array(s.b, s.t_u32, 0, 0), RO);
	b_out = sketch_storage(&s, 1, pctl_build_array(s.b, s.t_u32, 0, 0), RW);
	b_data = sketch_storage(&s, 2, pctl_build_array(s.b, u3, 0, 0), RW);
	sketch_main(&s);
	at = global_x(&s);
	i = OP(&s, LOAD, s.t_u32, b_index, at);
	OP(&s, STORE, 0, OP(&s, EXTRACT, s.t_u32, OP(&s, LOAD, u3, b_data, i), 1), b_out, at);
	OP(&s, STORE, 0, OP(&s, SPLAT, u3, k_u32(&s, 0x5555u)), b_data, i);
	OP(&s, STORE, 0, OP(&s, ARRAY_LENGTH, s.t_u32, b_data), b_out, k_u32(&s, 2 * N));
	wire = sketch_end(&s, &n);
	k = rig_build(r, wire, n, 0);
	memcpy(index, picks, sizeof(index));
	for (uint32_t j = 0; j < 64; j++)
		data[j] = j + 1;
	for (uint32_t b = 0; b < 3; b++) {
		const uint64_t sizes[3] = {sizeof(index), sizeof(out), sizeof(data)};
		const void *from[3] = {index, out, data};

		assert_int_equal(r->api->buffer_create(r->dev, &r->call, sizes[b],
						       PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER,
						       &buffers[b]),
				 PCTL_OK);
		assert_int_equal(
			r->api->buffer_write(r->dev, &r->call, buffers[b], 0, from[b], sizes[b]),
			PCTL_OK);
		bindings[b] = (pctl_binding){0, b, buffers[b], 0, sizes[b]};
	}
	/* Elements of 16 bytes from byte 64, 120 bytes long: seven whole ones. */
	bindings[2].offset = 64;
	bindings[2].n_bytes = 120;
	assert_int_equal(r->api->list_begin(r->dev, &r->call, &l), PCTL_OK);
	assert_int_equal(r->api->list_dispatch(l, &r->call, k, bindings, 3, counts), PCTL_OK);
	assert_int_equal(r->api->list_end(l, &r->call), PCTL_OK);
	rig_submit(r, l, 1, &done);
	assert_int_equal(r->api->buffer_read(r->dev, &r->call, buffers[1], 0, out, sizeof(out)),
			 PCTL_OK);
	assert_int_equal(r->api->buffer_read(r->dev, &r->call, buffers[2], 0, back, sizeof(back)),
			 PCTL_OK);
	assert_int_equal(out[2 * N], 7);
	for (uint32_t j = 0; j < N; j++)
		assert_int_equal(out[j], picks[j] < 7 ? data[16 + picks[j] * 4 + 1] : 0);
	for (uint32_t j = 0; j < 64; j++) {
		const int hit = (j >= 16 && j < 19) || (j >= 16 + 24 && j < 16 + 27);

		assert_int_equal(back[j], hit ? 0x5555u : data[j]);
	}
	r->api->list_destroy(r->dev, l);
	for (uint32_t b = 0; b < 3; b++)
		r->api->buffer_destroy(r->dev, buffers[b]);
	r->api->kernel_destroy(r->dev, k);
	free(wire);
}

/* Bindings of zero bytes: loads give zero, stores and atomics nothing, the length is 0. */
static void test_opencl__zero_bytes(void **state)
{
	uint32_t out[8] = {9, 9, 9, 9, 9, 9, 9, 9};
	const uint32_t want[8] = {0, 0, 0, 0, 0, 0, 1, 9};
	rig_bytes bounds[4] = {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}, {out, sizeof(out), 0}};
	uint32_t fixed, atomic, runtime, array, b_out, zero, k[8];
	pctl_member_spec members[2];
	uint8_t *wire;
	uint64_t n;
	sketch s;

	sketch_begin(&s, 1);
	members[0] = (pctl_member_spec){"x", s.t_u32, 0, 0, PCTL_OFFSET_AUTO};
	members[1] = (pctl_member_spec){"y", pctl_build_vector(s.b, PCTL_SCALAR_U32, 4), 0, 0,
					PCTL_OFFSET_AUTO};
	fixed = sketch_storage(&s, 0, pctl_build_struct(s.b, members, 2), RW);
	atomic = sketch_storage(&s, 1, pctl_build_atomic(s.b, PCTL_SCALAR_U32), RW);
	array = pctl_build_array(s.b, s.t_u32, 0, 0);
	runtime = sketch_storage(&s, 2, array, RW);
	b_out = sketch_storage(&s, 3, array, RW);
	sketch_main(&s);
	for (uint32_t i = 0; i < 8; i++)
		k[i] = k_u32(&s, i);
	zero = global_x(&s);
	OP(&s, STORE, 0, k[7], fixed, 0);
	OP(&s, STORE, 0, k[7], fixed, 1, k[2]);
	OP(&s, STORE, 0, OP(&s, LOAD, s.t_u32, fixed, 0), b_out, k[0]);
	OP(&s, STORE, 0, OP(&s, LOAD, s.t_u32, fixed, 1, k[2]), b_out, k[1]);
	OP(&s, ATOMIC_ADD, s.t_u32, k[5], atomic);
	OP(&s, STORE, 0, OP(&s, ATOMIC_EXCHANGE, s.t_u32, k[6], atomic), b_out, k[2]);
	OP(&s, STORE, 0, OP(&s, ATOMIC_LOAD, s.t_u32, atomic), b_out, k[3]);
	OP(&s, STORE, 0, k[7], runtime, zero);
	OP(&s, STORE, 0, OP(&s, LOAD, s.t_u32, runtime, zero), b_out, k[4]);
	OP(&s, STORE, 0, OP(&s, ARRAY_LENGTH, s.t_u32, runtime), b_out, k[5]);
	OP(&s, STORE, 0, k[1], b_out, k[6]);
	wire = sketch_end(&s, &n);
	sketch_run(*state, wire, n, bounds, 4, 1);
	assert_memory_equal(out, want, sizeof(out));
}

static const uint16_t families[] = {PCTL_OP_ATOMIC_ADD, PCTL_OP_ATOMIC_SUB, PCTL_OP_ATOMIC_MIN,
				    PCTL_OP_ATOMIC_MAX, PCTL_OP_ATOMIC_AND, PCTL_OP_ATOMIC_OR,
				    PCTL_OP_ATOMIC_XOR};
enum { N_FAMILIES = sizeof(families) / sizeof(families[0]) };

static uint32_t fold(uint16_t op, uint32_t a, uint32_t b, int is_signed)
{
	const int less = is_signed ? (int32_t)a < (int32_t)b : a < b;

	switch (op) {
	case PCTL_OP_ATOMIC_ADD:
		return a + b;
	case PCTL_OP_ATOMIC_SUB:
		return a - b;
	case PCTL_OP_ATOMIC_MIN:
		return less ? a : b;
	case PCTL_OP_ATOMIC_MAX:
		return less ? b : a;
	case PCTL_OP_ATOMIC_AND:
		return a & b;
	case PCTL_OP_ATOMIC_OR:
		return a | b;
	default:
		return a ^ b;
	}
}

/* Many invocations fold values into one cell a family, in storage and in workgroup memory. */
static void atomics(rig *r, int is_signed)
{
	enum { GROUPS = 8, LOCAL = 64, N = GROUPS * LOCAL };
	uint32_t values[N], cells[N_FAMILIES], shared_out[GROUPS * N_FAMILIES] = {0},
								   want[N_FAMILIES];
	rig_bytes bounds[3] = {{values, sizeof(values), 0},
			       {cells, sizeof(cells), 0},
			       {shared_out, sizeof(shared_out), 0}};
	uint32_t type, b_values, b_cells, b_out, shared, at, v, group, cell_array;
	uint8_t *wire;
	uint64_t n;
	sketch s;

	sketch_begin(&s, LOCAL);
	type = is_signed ? s.t_i32 : s.t_u32;
	cell_array = pctl_build_array(
		s.b, pctl_build_atomic(s.b, is_signed ? PCTL_SCALAR_I32 : PCTL_SCALAR_U32),
		N_FAMILIES, 0);
	b_values = sketch_storage(&s, 0, pctl_build_array(s.b, type, 0, 0), RO);
	b_cells = sketch_storage(&s, 1, cell_array, RW);
	b_out = sketch_storage(&s, 2, pctl_build_array(s.b, type, 0, 0), RW);
	shared = sketch_var(&s, PCTL_SPACE_WORKGROUP, cell_array);
	sketch_main(&s);
	at = global_x(&s);
	group = OP(&s, EXTRACT, s.t_u32, OP(&s, BUILTIN, s.t_uvec3, PCTL_BUILTIN_WORKGROUP_ID), 0);
	v = OP(&s, LOAD, type, b_values, at);
	for (uint32_t i = 0; i < N_FAMILIES; i++) {
		const uint32_t storage_args[] = {v, b_cells, k_u32(&s, i)},
			       shared_args[] = {v, shared, k_u32(&s, i)};

		pctl_build_inst(s.b, families[i], type, storage_args, 3);
		pctl_build_inst(s.b, families[i], type, shared_args, 3);
	}
	OP(&s, BARRIER, 0, PCTL_BARRIER_WORKGROUP);
	group = OP(&s, MUL, s.t_u32, group, k_u32(&s, N_FAMILIES));
	for (uint32_t i = 0; i < N_FAMILIES; i++)
		OP(&s, STORE, 0, OP(&s, ATOMIC_LOAD, type, shared, k_u32(&s, i)), b_out,
		   OP(&s, ADD, s.t_u32, group, k_u32(&s, i)));
	wire = sketch_end(&s, &n);
	for (uint32_t i = 0; i < N; i++)
		values[i] = (uint32_t)rig_random(11, i);
	for (uint32_t i = 0; i < N_FAMILIES; i++) {
		cells[i] = want[i] = (uint32_t)rig_random(12, i);
		for (uint32_t j = 0; j < N; j++)
			want[i] = fold(families[i], want[i], values[j], is_signed);
	}
	sketch_run(r, wire, n, bounds, 3, GROUPS);
	assert_memory_equal(cells, want, sizeof(want));
	for (uint32_t g = 0; g < GROUPS; g++) {
		for (uint32_t i = 0; i < N_FAMILIES; i++) {
			uint32_t x = 0;

			for (uint32_t j = 0; j < LOCAL; j++)
				x = fold(families[i], x, values[g * LOCAL + j], is_signed);
			assert_int_equal(shared_out[g * N_FAMILIES + i], x);
		}
	}
}

static void test_opencl__atomics(void **state)
{
	atomics(*state, 0);
	atomics(*state, 1);
}

/* Old values, exchange, compare-exchange, and atomics that miss. */
static void test_opencl__atomic_results(void **state)
{
	uint32_t cells[2] = {5, 77}, out[8] = {0};
	const uint32_t want[8] = {5, 8, 20, 20, 21, 0, 0, 21};
	rig_bytes bounds[2] = {{cells, sizeof(cells), 0}, {out, sizeof(out), 0}};
	uint32_t c, b, zero, two, r[8];
	uint8_t *wire;
	uint64_t n;
	sketch s;

	sketch_begin(&s, 1);
	c = sketch_storage(
		&s, 0, pctl_build_array(s.b, pctl_build_atomic(s.b, PCTL_SCALAR_U32), 0, 0), RW);
	b = sketch_storage(&s, 1, pctl_build_array(s.b, s.t_u32, 0, 0), RW);
	sketch_main(&s);
	zero = global_x(&s);
	two = OP(&s, ADD, s.t_u32, zero, k_u32(&s, 2));
	r[0] = OP(&s, ATOMIC_ADD, s.t_u32, k_u32(&s, 3), c, zero);
	r[1] = OP(&s, ATOMIC_EXCHANGE, s.t_u32, k_u32(&s, 20), c, zero);
	r[2] = OP(&s, ATOMIC_CAS, s.t_u32, k_u32(&s, 19), k_u32(&s, 1), c, zero);
	r[3] = OP(&s, ATOMIC_CAS, s.t_u32, k_u32(&s, 20), k_u32(&s, 21), c, zero);
	r[4] = OP(&s, ATOMIC_LOAD, s.t_u32, c, zero);
	r[5] = OP(&s, ATOMIC_ADD, s.t_u32, k_u32(&s, 3), c, two);
	OP(&s, ATOMIC_STORE, 0, k_u32(&s, 99), c, two);
	r[6] = OP(&s, ATOMIC_LOAD, s.t_u32, c, two);
	r[7] = OP(&s, ATOMIC_LOAD, s.t_u32, c, k_u32(&s, 0));
	for (uint32_t i = 0; i < 8; i++)
		OP(&s, STORE, 0, r[i], b, k_u32(&s, i));
	wire = sketch_end(&s, &n);
	sketch_run(*state, wire, n, bounds, 2, 1);
	assert_memory_equal(out, want, sizeof(want));
	assert_int_equal(cells[0], 21);
	assert_int_equal(cells[1], 77);
}

/* Workgroup memory is zero for every workgroup, whatever the one before left there. */
static void test_opencl__workgroup_starts_zero(void **state)
{
	enum { GROUPS = 24, LOCAL = 8, WORDS = 100 };
	uint32_t out[GROUPS * LOCAL];
	rig_bytes bounds[1] = {{out, sizeof(out), 0}};
	uint32_t b, w, at, lane, sum;
	uint8_t *wire;
	uint64_t n;
	sketch s;

	sketch_begin(&s, LOCAL);
	b = sketch_storage(&s, 0, pctl_build_array(s.b, s.t_u32, 0, 0), RW);
	w = sketch_var(&s, PCTL_SPACE_WORKGROUP, pctl_build_array(s.b, s.t_u32, WORDS, 0));
	sketch_main(&s);
	at = global_x(&s);
	lane = OP(&s, BUILTIN, s.t_u32, PCTL_BUILTIN_LOCAL_INDEX);
	sum = OP(&s, LOAD, s.t_u32, w, lane);
	for (uint32_t i = 0; i < WORDS; i++)
		sum = OP(&s, OR, s.t_u32, sum, OP(&s, LOAD, s.t_u32, w, k_u32(&s, i)));
	OP(&s, BARRIER, 0, PCTL_BARRIER_WORKGROUP);
	for (uint32_t i = 0; i < WORDS; i += LOCAL)
		OP(&s, STORE, 0, k_u32(&s, 0xffffffffu), w,
		   OP(&s, ADD, s.t_u32, lane, k_u32(&s, i)));
	OP(&s, STORE, 0, sum, b, at);
	wire = sketch_end(&s, &n);
	memset(out, 0x77, sizeof(out));
	sketch_run(*state, wire, n, bounds, 1, GROUPS);
	for (uint32_t i = 0; i < GROUPS * LOCAL; i++)
		assert_int_equal(out[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opencl__composite_copy),
		cmocka_unit_test(test_opencl__member_paths),
		cmocka_unit_test(test_opencl__misses_storage),
		cmocka_unit_test(test_opencl__misses_private),
		cmocka_unit_test(test_opencl__misses_workgroup),
		cmocka_unit_test(test_opencl__runtime_bounds),
		cmocka_unit_test(test_opencl__zero_bytes),
		cmocka_unit_test(test_opencl__atomics),
		cmocka_unit_test(test_opencl__atomic_results),
		cmocka_unit_test(test_opencl__workgroup_starts_zero),
	};

	return cmocka_run_group_tests(tests, sketch_setup, sketch_teardown) != 0;
}
