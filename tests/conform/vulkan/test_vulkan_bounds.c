/* Bounds through the plugin: indices that miss at every level, empty and short bindings,
 * lengths. */
#include "main.h"
#include "devices.h"

#include <stdlib.h>

static uint32_t u32_type(pctl_builder *b)
{
	return pctl_build_scalar(b, PCTL_SCALAR_U32);
}

/* ---- runtime arrays ---- */

/* out[i] = data[index[i]] for vectors of `width`; then data2[index[i]] = marker, counted by
 * atomics. */
static void bounds_of_width(rig *r, uint32_t width)
{
	static const uint32_t wild[] = {0,	    1,		6,	    7,
					8,	    9,		0x40000000, 0x40000001,
					0x20000001, 0x10000001, 0x80000000, 0x80000001,
					0xfffffffe, 0xffffffff, 0x3fffffff, 0x7fffffff};
	enum { N = 16, LENGTH = 7 };
	const uint32_t step = width == 3 ? 4 : width;
	uint32_t index[N], data[LENGTH * 4], out[N * 4], stored[LENGTH * 4 + 4];
	rig_bytes bytes[] = {{index, sizeof(index), 0},
			     {data, LENGTH * step * 4u, 0},
			     {out, N * step * 4u, 0},
			     {stored, LENGTH * step * 4u, 0}};
	pctl_builder *b = rig_builder();
	const uint32_t u32 = u32_type(b);
	const uint32_t type = width == 1 ? u32 : pctl_build_vector(b, PCTL_SCALAR_U32, width);
	const uint32_t list = pctl_build_array(b, type, 0, 0);
	const uint32_t v_index = rig_storage(b, 0, pctl_build_array(b, u32, 0, 0), 0);
	const uint32_t v_data = rig_storage(b, 1, list, 0);
	const uint32_t v_out = rig_storage(b, 2, list, 1);
	const uint32_t v_stored = rig_storage(b, 3, list, 1);
	uint32_t i, c, at, x;
	rig_program p;

	memcpy(index, wild, sizeof(index));
	for (i = 0; i < LENGTH * 4; i++)
		data[i] = 100 + i;
	memset(out, 0xee, sizeof(out));
	memset(stored, 0, sizeof(stored));
	pctl_build_function_begin(b, "main", NULL, 0, 0);
	i = rig_global_x(b);
	at = rig_inst(b, PCTL_OP_LOAD, u32, 2, v_index, i);
	x = rig_inst(b, PCTL_OP_LOAD, type, 2, v_data, at);
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, v_out, i);
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, v_stored, at);
	rig_entry(b, N, 1, 1);
	p = rig_finish(b);
	rig_run(r, p.wire, p.n, 0, bytes, 4, 1, 1, 1);
	for (i = 0; i < N; i++)
		for (c = 0; c < width; c++)
			assert_int_equal(out[i * step + c],
					 index[i] < LENGTH ? data[index[i] * step + c] : 0);
	for (i = 0; i < LENGTH; i++)
		for (c = 0; c < step; c++)
			assert_int_equal(stored[i * step + c],
					 (i < 2 || i == 6) && c < width ? data[i * step + c] : 0);
	free(p.wire);
}

static void bounds(rig *r)
{
	uint32_t w;

	for (w = 1; w <= 4; w++)
		bounds_of_width(r, w);
}

/* An array of arrays: an inner index that misses never reaches a neighbour; a negative i32 misses;
 * the component of a vector and the column of a matrix are levels like any other. */
static void nested(rig *r)
{
	enum { N = 64 };
	int32_t index[N][3];
	uint32_t data[6][5][2], out[N], m[4 * 4], mout[N];
	rig_bytes bytes[] = {{index, sizeof(index), 0},
			     {data, sizeof(data), 0},
			     {out, sizeof(out), 0},
			     {m, sizeof(m), 0},
			     {mout, sizeof(mout), 0}};
	pctl_builder *b = rig_builder();
	const uint32_t u32 = u32_type(b), i32 = pctl_build_scalar(b, PCTL_SCALAR_I32);
	const uint32_t vec2 = pctl_build_vector(b, PCTL_SCALAR_U32, 2);
	const uint32_t inner = pctl_build_array(b, vec2, 5, 0);
	const uint32_t mat = pctl_build_matrix(b, PCTL_SCALAR_U32, 4, 3);
	const uint32_t v_index = rig_storage(b, 0, pctl_build_array(b, i32, 0, 0), 0);
	const uint32_t v_data = rig_storage(b, 1, pctl_build_array(b, inner, 0, 0), 1);
	const uint32_t v_out = rig_storage(b, 2, pctl_build_array(b, u32, 0, 0), 1);
	const uint32_t v_m = rig_storage(b, 3, mat, 1);
	const uint32_t v_mout = rig_storage(b, 4, pctl_build_array(b, u32, 0, 0), 1);
	uint32_t i, k, at, idx[3], x, first;
	rig_program p;

	for (i = 0; i < N; i++)
		for (k = 0; k < 3; k++)
			index[i][k] = (int32_t)(rig_random(k + 1, i) % 11) - 2;
	index[0][0] = 0, index[0][1] = 5, index[0][2] = 0; /* neighbour's first */
	index[1][0] = 0, index[1][1] = 0, index[1][2] = 2; /* next vector */
	index[2][0] = 1, index[2][1] = -1, index[2][2] = 1;
	for (i = 0; i < 60; i++)
		(&data[0][0][0])[i] = 1000 + i;
	for (i = 0; i < 16; i++)
		m[i] = 500 + i;
	memset(out, 0xee, sizeof(out));
	pctl_build_function_begin(b, "main", NULL, 0, 0);
	at = rig_global_x(b);
	first = pctl_build_op(b, PCTL_OP_MUL, u32, at, rig_u32(b, 3));
	for (k = 0; k < 3; k++)
		idx[k] = rig_inst(b, PCTL_OP_LOAD, i32, 2, v_index,
				  pctl_build_op(b, PCTL_OP_ADD, u32, first, rig_u32(b, k)));
	x = rig_inst(b, PCTL_OP_LOAD, u32, 4, v_data, idx[0], idx[1], idx[2]);
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, v_out, at);
	x = rig_inst(b, PCTL_OP_LOAD, u32, 3, v_m, idx[1], idx[2]);
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, v_mout, at);
	rig_entry(b, N, 1, 1);
	p = rig_finish(b);
	rig_run(r, p.wire, p.n, 0, bytes, 5, 1, 1, 1);
	for (i = 0; i < N; i++) {
		const int32_t *j = index[i];
		const int in =
			j[0] >= 0 && j[0] < 6 && j[1] >= 0 && j[1] < 5 && j[2] >= 0 && j[2] < 2;
		const int in_m = j[1] >= 0 && j[1] < 4 && j[2] >= 0 && j[2] < 3;

		assert_int_equal(out[i], in ? 1000 + j[0] * 10 + j[1] * 2 + j[2] : 0);
		assert_int_equal(mout[i], in_m ? 500 + j[1] * 4 + j[2] : 0);
	}
	free(p.wire);
}

/* The largest binding the device admits to: its first and last elements are where they should be,
 * one past the last misses, and no index that passes its check wraps around. */
static void largest(rig *r)
{
	const uint64_t most = r->info.kind == PCTL_DEVICE_CPU ? 1ull << 30 : UINT32_MAX;
	const uint64_t n_bytes =
		(r->caps.max_binding_bytes < most ? r->caps.max_binding_bytes : most) / 16 * 16;
	const uint32_t n = (uint32_t)(n_bytes / 16);
	const uint32_t wanted[8] = {0, 1, n - 1, n, n / 2, n - 2, 0x10000000 + 1, 0xffffffff};
	pctl_builder *b = rig_builder();
	const uint32_t u32 = u32_type(b);
	const uint32_t vec4 = pctl_build_vector(b, PCTL_SCALAR_U32, 4);
	const uint32_t list = pctl_build_array(b, vec4, 0, 0);
	const uint32_t v_index = rig_storage(b, 0, pctl_build_array(b, u32, 0, 0), 0);
	const uint32_t v_big = rig_storage(b, 1, list, 1);
	const uint32_t v_out = rig_storage(b, 2, list, 1);
	const uint32_t groups[3] = {1, 1, 1};
	const uint32_t uses = PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER;
	const uint64_t sizes[3] = {sizeof(wanted), n_bytes, 8 * 16};
	uint32_t i, c, at, x, out[8][4];
	pctl_binding bindings[3] = {0};
	pctl_completion done;
	rig_program p;
	pctl_kernel *k;
	pctl_list *l;
	uint64_t ticket;

	pctl_build_function_begin(b, "main", NULL, 0, 0);
	i = rig_global_x(b);
	at = rig_inst(b, PCTL_OP_LOAD, u32, 2, v_index, i);
	x = rig_inst(b, PCTL_OP_LOAD, vec4, 2, v_big, at);
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, v_out, i);
	x = rig_inst(b, PCTL_OP_SPLAT, vec4, 1,
		     pctl_build_op(b, PCTL_OP_ADD, u32, at, rig_u32(b, 5)));
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, v_big, at);
	rig_entry(b, 8, 1, 1);
	p = rig_finish(b);
	for (i = 0; i < 3; i++) {
		bindings[i] = (pctl_binding){.binding = i, .n_bytes = sizes[i]};
		assert_int_equal(r->api->buffer_create(r->dev, &r->call, sizes[i], uses,
						       &bindings[i].buffer),
				 PCTL_OK);
	}
	for (i = 0; i < 8; i++)
		if (wanted[i] < n) {
			const uint32_t v[4] = {wanted[i], 1, 2, ~wanted[i]};

			assert_int_equal(r->api->buffer_write(r->dev, &r->call, bindings[1].buffer,
							      16ull * wanted[i], v, 16),
					 PCTL_OK);
		}
	r->api->buffer_write(r->dev, &r->call, bindings[0].buffer, 0, wanted, sizeof(wanted));
	assert_int_equal(r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 0, NULL, 0, &k),
			 PCTL_OK);
	assert_int_equal(r->api->list_begin(r->dev, &r->call, &l), PCTL_OK);
	assert_int_equal(r->api->list_dispatch(l, &r->call, k, bindings, 3, groups), PCTL_OK);
	assert_int_equal(r->api->list_end(l, &r->call), PCTL_OK);
	assert_int_equal(r->api->submit(r->dev, &r->call, l, 1, &ticket), PCTL_OK);
	assert_int_equal(r->api->wait(r->dev, &r->call, ticket, UINT64_MAX, &done), PCTL_OK);
	assert_int_equal(
		r->api->buffer_read(r->dev, &r->call, bindings[2].buffer, 0, out, sizeof(out)),
		PCTL_OK);
	for (i = 0; i < 8; i++) {
		const uint32_t w = wanted[i];
		const uint32_t want[4] = {w < n ? w : 0, w < n, w < n ? 2 : 0, w < n ? ~w : 0};
		uint32_t now[4];

		assert_memory_equal(out[i], want, 16);
		if (w >= n)
			continue;
		assert_int_equal(r->api->buffer_read(r->dev, &r->call, bindings[1].buffer,
						     16ull * w, now, 16),
				 PCTL_OK);
		for (c = 0; c < 4; c++)
			assert_int_equal(now[c], w + 5);
	}
	r->api->list_destroy(r->dev, l);
	r->api->kernel_destroy(r->dev, k);
	for (i = 0; i < 3; i++)
		r->api->buffer_destroy(r->dev, bindings[i].buffer);
	free(p.wire);
}

/* ---- empty and short bindings, lengths ---- */

static rig_program length_program(void)
{
	pctl_builder *b = rig_builder();
	const uint32_t u32 = u32_type(b);
	const uint32_t vec3 = pctl_build_vector(b, PCTL_SCALAR_U32, 3);
	const pctl_member_spec members[] = {
		{"n", u32, 0, 0, PCTL_OFFSET_AUTO},
		{"list", pctl_build_array(b, vec3, 0, 0), 0, 0, PCTL_OFFSET_AUTO}};
	const uint32_t s = rig_storage(b, 0, pctl_build_struct(b, members, 2), 1);
	const uint32_t u = rig_uniform(b, 1, pctl_build_vector(b, PCTL_SCALAR_U32, 4));
	const uint32_t out = rig_storage(b, 2, pctl_build_array(b, u32, 0, 0), 1);
	const uint32_t atomic = rig_storage(b, 3, pctl_build_atomic(b, PCTL_SCALAR_U32), 1);
	uint32_t x, v;

	pctl_build_function_begin(b, "main", NULL, 0, 0);
	x = rig_inst(b, PCTL_OP_ARRAY_LENGTH, u32, 2, s, 1);
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, out, rig_u32(b, 0));
	rig_inst(b, PCTL_OP_STORE, 0, 3, rig_u32(b, 77), s, 0);
	x = rig_inst(b, PCTL_OP_LOAD, u32, 2, s, 0);
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, out, rig_u32(b, 1));
	v = rig_inst(b, PCTL_OP_LOAD, vec3, 3, s, 1, rig_u32(b, 1));
	x = rig_inst(b, PCTL_OP_EXTRACT, u32, 2, v, 2);
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, out, rig_u32(b, 2));
	x = rig_inst(b, PCTL_OP_LOAD, u32, 2, u, rig_u32(b, 3));
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, out, rig_u32(b, 3));
	rig_inst(b, PCTL_OP_ATOMIC_ADD, u32, 2, rig_u32(b, 5), atomic);
	x = rig_inst(b, PCTL_OP_ATOMIC_ADD, u32, 2, rig_u32(b, 5), atomic);
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, out, rig_u32(b, 4));
	rig_entry(b, 1, 1, 1);
	return rig_finish(b);
}

static void lengths(rig *r)
{
	rig_program p = length_program();
	uint32_t s[12], u[4] = {1, 2, 3, 4}, out[8], a[1], n;
	rig_bytes bytes[4] = {{s, 0, 0}, {u, 0, 1}, {out, sizeof(out), 0}, {a, 0, 0}};

	for (n = 0; n <= 12; n++) { /* words of the first binding */
		uint32_t i, want;

		if (n > 0 && n < 4)
			continue; /* shorter than its fixed part: refused */
		for (i = 0; i < 12; i++)
			s[i] = 200 + i;
		memset(out, 0xee, sizeof(out));
		a[0] = 9;
		bytes[0].n_bytes = 4u * n;
		bytes[1].n_bytes = n ? sizeof(u) : 0;
		bytes[3].n_bytes = n ? sizeof(a) : 0;
		rig_run(r, p.wire, p.n, 0, bytes, 4, 1, 1, 1);
		want = n >= 4 ? (n - 4) / 4 : 0;
		assert_int_equal(out[0], want);
		assert_int_equal(out[1], n ? 77 : 0);
		assert_int_equal(out[2], want > 1 ? 200 + 4 + 4 + 2 : 0);
		assert_int_equal(out[3], n ? 4 : 0);
		assert_int_equal(out[4], n ? 14 : 0);
		assert_int_equal(s[0], n ? 77 : 200);
		assert_int_equal(a[0], n ? 19 : 9);
	}
	bytes[2].n_bytes = 0; /* every store misses */
	rig_run(r, p.wire, p.n, 0, bytes, 4, 1, 1, 1);
	free(p.wire);
}

DEVICE_TEST(runtime_array_bounds, bounds)
DEVICE_TEST(nested_bounds, nested)
DEVICE_TEST(largest_binding, largest)
DEVICE_TEST(lengths_and_empty_bindings, lengths)

PCTL_TESTS_MAIN(PCTL_TEST(test_vulkan__runtime_array_bounds), PCTL_TEST(test_vulkan__nested_bounds),
		PCTL_TEST(test_vulkan__largest_binding),
		PCTL_TEST(test_vulkan__lengths_and_empty_bindings))
