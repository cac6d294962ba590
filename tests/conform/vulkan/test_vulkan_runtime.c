/* The runtime half of the plugin: devices, buffers, lists, submits, caches, and what each broken
 * contract is answered with. */
#include "main.h"
#include "rig.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define ALL_USES \
	(PCTL_BUFFER_STORAGE | PCTL_BUFFER_UNIFORM | PCTL_BUFFER_TRANSFER | PCTL_BUFFER_INDIRECT)

#define OK(call_of_api)                                                                            \
	do {                                                                                       \
		const pctl_status ok_status = (call_of_api);                                       \
		if (ok_status != PCTL_OK)                                                          \
			fail_msg("%s: status %d, %s", #call_of_api, (int)ok_status, r->last_text); \
	} while (0)

#define REFUSED(number, call_of_api)                          \
	do {                                                  \
		r->last_code = 0;                             \
		assert_int_not_equal((call_of_api), PCTL_OK); \
		assert_int_equal(r->last_code, number);       \
	} while (0)

static pctl_buffer *buffer(rig *r, uint64_t n_bytes)
{
	pctl_buffer *b = NULL;

	OK(r->api->buffer_create(r->dev, &r->call, n_bytes, ALL_USES, &b));
	return b;
}

static uint32_t word_at(rig *r, pctl_buffer *b, uint64_t index)
{
	uint32_t w = 0;

	OK(r->api->buffer_read(r->dev, &r->call, b, index * 4, &w, 4));
	return w;
}

/* data[i] = data[i] * 3 + in[i]; plus an optional loop that makes an invocation slow. */
static rig_program step_program(uint32_t spins)
{
	pctl_builder *b = rig_builder();
	const uint32_t u32 = pctl_build_scalar(b, PCTL_SCALAR_U32);
	const uint32_t list = pctl_build_array(b, u32, 0, 0);
	const uint32_t v_in = rig_storage(b, 0, list, 0), v = rig_storage(b, 1, list, 1);
	uint32_t i, x, n;

	pctl_build_function_begin(b, "main", NULL, 0, 0);
	n = PCTL_PLACE_LOCAL | pctl_build_local(b, "n", u32);
	i = rig_global_x(b);
	if (spins) {
		rig_inst(b, PCTL_OP_LOOP, 0, 0);
		x = rig_inst(b, PCTL_OP_LOAD, u32, 1, n);
		rig_inst(b, PCTL_OP_LOOP_TEST, 0, 1,
			 pctl_build_op(b, PCTL_OP_LT, pctl_build_scalar(b, PCTL_SCALAR_BOOL), x,
				       rig_u32(b, spins)));
		x = rig_inst(b, PCTL_OP_LOAD, u32, 1, n);
		rig_inst(b, PCTL_OP_STORE, 0, 3, x, v,
			 pctl_build_op(b, PCTL_OP_ADD, u32, i, rig_u32(b, 1)));
		rig_inst(b, PCTL_OP_CONTINUING, 0, 0);
		x = rig_inst(b, PCTL_OP_LOAD, u32, 1, n);
		rig_inst(b, PCTL_OP_STORE, 0, 2,
			 pctl_build_op(b, PCTL_OP_ADD, u32, x, rig_u32(b, 1)), n);
		rig_inst(b, PCTL_OP_END_LOOP, 0, 0);
	}
	x = rig_inst(b, PCTL_OP_LOAD, u32, 2, v, i);
	x = pctl_build_op(b, PCTL_OP_MUL, u32, x, rig_u32(b, 3));
	x = pctl_build_op(b, PCTL_OP_ADD, u32, x, rig_inst(b, PCTL_OP_LOAD, u32, 2, v_in, i));
	rig_inst(b, PCTL_OP_STORE, 0, 3, x, v, i);
	rig_entry(b, 32, 1, 1);
	return rig_finish(b);
}

static pctl_kernel *kernel(rig *r, uint32_t spins)
{
	rig_program p = step_program(spins);
	pctl_kernel *k = NULL;

	OK(r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 0, NULL, 0, &k));
	free(p.wire);
	return k;
}

/* ---- devices ---- */

static void identity(rig *r)
{
	static const char *const keys[] = {"vendor",   "device", "driver", "driver-version",
					   "compiler", "uuid",	 "api"};
	pctl_key_value facts[32];
	pctl_device *none = NULL;
	uint32_t n = 0, few = 0, i, j;

	OK(r->api->device_identity(r->dev, &r->call, 32, facts, &n));
	assert_in_range(n, 7, 32);
	for (i = 0; i < 7; i++) {
		for (j = 0; j < n && strcmp(facts[j].key, keys[i]) != 0; j++)
			;
		assert_true(j < n);
	}
	OK(r->api->device_identity(r->dev, &r->call, 0, NULL, &few));
	assert_int_equal(few, n);
	assert_in_range(r->info.kind, PCTL_DEVICE_OTHER, PCTL_DEVICE_DISCRETE);
	assert_true(r->info.name[0] && r->info.driver[0]);
	assert_true(r->caps.max_binding_bytes >= 1u << 27 && r->caps.max_invocations >= 128);
	assert_true(r->caps.max_bindings >= 20 && r->caps.binding_alignment <= 256);
	REFUSED(PC3231_DEVICE_UNKNOWN, r->api->device_open(r->inst, &r->call, r->n_devices, &none));
	assert_null(none);
}

/* ---- buffers ---- */

static void transfers(rig *r)
{
	static const uint64_t sizes[] = {1, 3, 4, 255, 4096, 1048577, 20971523};
	uint8_t *data, *back;
	uint64_t i, n, s;

	for (s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
		pctl_buffer *b = buffer(r, sizes[s]);

		n = sizes[s];
		data = malloc(n);
		back = malloc(n);
		assert_true(data && back);
		memset(back, 0xee, n);
		OK(r->api->buffer_read(r->dev, &r->call, b, 0, back, n));
		for (i = 0; i < n; i++)
			if (back[i])
				fail_msg("byte %llu of a new buffer is not zero",
					 (unsigned long long)i);
		for (i = 0; i < n; i++)
			data[i] = (uint8_t)rig_random(s, i);
		OK(r->api->buffer_write(r->dev, &r->call, b, 0, data, n));
		OK(r->api->buffer_write(r->dev, &r->call, b, n, data, 0));
		if (n > 2) { /* an odd piece in the middle */
			data[1] = 0x5a;
			OK(r->api->buffer_write(r->dev, &r->call, b, 1, data + 1, 1));
		}
		OK(r->api->buffer_read(r->dev, &r->call, b, 0, back, n));
		assert_memory_equal(data, back, n);
		if (n > 2) {
			OK(r->api->buffer_read(r->dev, &r->call, b, 1, back, n - 2));
			assert_memory_equal(data + 1, back, n - 2);
		}
		REFUSED(PC3202_BACKEND_RANGE,
			r->api->buffer_write(r->dev, &r->call, b, 1, data, n));
		REFUSED(PC3202_BACKEND_RANGE,
			r->api->buffer_read(r->dev, &r->call, b, UINT64_MAX, back, 2));
		r->api->buffer_destroy(r->dev, b);
		free(data);
		free(back);
	}
}

/* Many small buffers in any order of life: none overlaps another, a fresh one is zero again. */
static void small_buffers(rig *r)
{
	enum { N = 200, ROUNDS = 2000 };
	pctl_buffer *held[N] = {0};
	uint32_t mark[N] = {0}, i, s, size;

	for (i = 0; i < ROUNDS; i++) {
		s = (uint32_t)(rig_random(1, i) % N);
		if (held[s]) {
			assert_int_equal(word_at(r, held[s], 0), mark[s]);
			assert_int_equal(word_at(r, held[s], 1), ~mark[s]);
			r->api->buffer_destroy(r->dev, held[s]);
			held[s] = NULL;
			continue;
		}
		size = 8 + (uint32_t)(rig_random(2, i) % 60000);
		held[s] = buffer(r, size);
		assert_int_equal(word_at(r, held[s], 0), 0);
		assert_int_equal(word_at(r, held[s], (size - 4) / 4), 0);
		mark[s] = i;
		OK(r->api->buffer_write(r->dev, &r->call, held[s], 0, (const uint32_t[]){i, ~i},
					8));
	}
	for (s = 0; s < N; s++)
		r->api->buffer_destroy(r->dev, held[s]);
}

static void buffer_limits(rig *r)
{
	pctl_buffer *b = NULL, *plain = NULL;
	uint32_t w = 0;

	REFUSED(PC3208_BUFFER_LIMIT,
		r->api->buffer_create(r->dev, &r->call, r->caps.max_buffer_bytes + 1, ALL_USES,
				      &b));
	assert_null(b);
	REFUSED(PC3208_BUFFER_LIMIT,
		r->api->buffer_create(r->dev, &r->call, UINT64_MAX, ALL_USES, &b));
	REFUSED(PC3201_BACKEND_ARGUMENT, r->api->buffer_create(r->dev, &r->call, 4, 16, &b));
	OK(r->api->buffer_create(r->dev, &r->call, 4, PCTL_BUFFER_STORAGE, &plain));
	REFUSED(PC3207_BUFFER_USAGE, r->api->buffer_read(r->dev, &r->call, plain, 0, &w, 4));
	REFUSED(PC3201_BACKEND_ARGUMENT, r->api->buffer_read(r->dev, &r->call, NULL, 0, &w, 4));
	r->api->buffer_destroy(r->dev, plain);
	b = buffer(r, 0);
	OK(r->api->buffer_read(r->dev, &r->call, b, 0, &w, 0));
	REFUSED(PC3202_BACKEND_RANGE, r->api->buffer_read(r->dev, &r->call, b, 0, &w, 1));
	r->api->buffer_destroy(r->dev, b);
	r->api->buffer_destroy(r->dev, NULL);
}

/* ---- lists ---- */

/* fill, copy, dispatch, indirect dispatch, each seen by the next; submitted several times. */
static void recorded(rig *r)
{
	enum { N = 1024 };
	static uint32_t in[N], out[N];
	/* counts at word 3: 5 groups asked, the limit below is 3; y asks for more than any device
	 * has */
	const uint32_t counts[6] = {7, 7, 7, 5, 0xffffffff, 1};
	const uint32_t groups[3] = {N / 32, 1, 1}, limit[3] = {3, 1, 0xffffffff};
	pctl_buffer *a = buffer(r, sizeof(in)), *b = buffer(r, sizeof(in)),
		    *c = buffer(r, sizeof(counts));
	pctl_kernel *k = kernel(r, 0);
	const pctl_binding bindings[2] = {{0, 1, b, 0, sizeof(in)}, {0, 0, a, 0, sizeof(in)}};
	pctl_completion done;
	pctl_list *l = NULL;
	uint64_t ticket = 0;
	uint32_t i, x, times;

	for (i = 0; i < N; i++)
		in[i] = i;
	OK(r->api->buffer_write(r->dev, &r->call, a, 0, in, sizeof(in)));
	OK(r->api->buffer_write(r->dev, &r->call, c, 0, counts, sizeof(counts)));
	OK(r->api->list_begin(r->dev, &r->call, &l));
	OK(r->api->list_timestamp(l, &r->call, 3));
	OK(r->api->list_fill(l, &r->call, b, 0, 2048, 10));
	OK(r->api->list_barrier(l, &r->call));
	OK(r->api->list_copy(l, &r->call, b, 0, b, 2048, 2048));
	OK(r->api->list_barrier(l, &r->call));
	OK(r->api->list_dispatch(l, &r->call, k, bindings, 2, groups));
	OK(r->api->list_barrier(l, &r->call));
	OK(r->api->list_dispatch_indirect(l, &r->call, k, bindings, 2, c, 12, limit));
	OK(r->api->list_dispatch(l, &r->call, k, bindings, 2, (const uint32_t[]){4, 0, 4}));
	OK(r->api->list_timestamp(l, &r->call, 5));
	OK(r->api->list_end(l, &r->call));
	for (times = 0; times < 4; times++) {
		OK(r->api->submit(r->dev, &r->call, l, times, &ticket));
		memset(&done, 0xff, sizeof(done));
		OK(r->api->wait(r->dev, &r->call, ticket, UINT64_MAX, &done));
		assert_int_equal(done.done, 1);
		REFUSED(PC3214_TICKET_UNKNOWN, r->api->wait(r->dev, &r->call, ticket, 0, &done));
	}
	OK(r->api->submit(r->dev, &r->call, l, 1, &ticket));
	OK(r->api->wait(r->dev, &r->call, ticket, UINT64_MAX, &done));
	if (r->caps.timestamp_ns_den) {
		assert_int_equal(done.n_timestamps, 6);
		assert_int_equal(done.timestamps[3], 0);
		assert_true(done.timestamps[5] > 0 && done.device_ns > 0);
		assert_true(done.timestamps[5] < 60000000000ull && done.device_ns < 60000000000ull);
	}
	OK(r->api->buffer_read(r->dev, &r->call, b, 0, out, sizeof(out)));
	for (i = 0; i < N; i++) {
		x = 10 * 3 + i;
		if (i < 3 * 32)
			x = x * 3 + i;
		assert_int_equal(out[i], x);
	}
	r->api->list_destroy(r->dev, l);
	r->api->kernel_destroy(r->dev, k);
	r->api->buffer_destroy(r->dev, a);
	r->api->buffer_destroy(r->dev, b);
	r->api->buffer_destroy(r->dev, c);
}

/* A list of one dispatch of `k` over in and data. */
static pctl_list *simple_list(rig *r, pctl_kernel *k, pctl_buffer *in, pctl_buffer *data,
			      uint32_t n_words)
{
	const pctl_binding bindings[2] = {{0, 0, in, 0, 4u * n_words},
					  {0, 1, data, 0, 4u * n_words}};
	const uint32_t groups[3] = {n_words / 32, 1, 1};
	pctl_list *l = NULL;

	OK(r->api->list_begin(r->dev, &r->call, &l));
	OK(r->api->list_dispatch(l, &r->call, k, bindings, 2, groups));
	OK(r->api->list_end(l, &r->call));
	return l;
}

/* A list run many times sees its own results; two lists in flight keep the order of their submits.
 */
static void repeated(rig *r)
{
	enum { N = 64, TIMES = 1000 };
	uint32_t ones[N], i, x = 0;
	pctl_buffer *in = buffer(r, sizeof(ones)), *data = buffer(r, sizeof(ones));
	pctl_buffer *more = buffer(r, sizeof(ones));
	pctl_kernel *k = kernel(r, 0);
	pctl_list *l = simple_list(r, k, in, data, N), *second = simple_list(r, k, data, more, N);
	pctl_completion done;
	uint64_t t1, t2;

	for (i = 0; i < N; i++)
		ones[i] = 1;
	OK(r->api->buffer_write(r->dev, &r->call, in, 0, ones, sizeof(ones)));
	OK(r->api->submit(r->dev, &r->call, l, TIMES, &t1));
	REFUSED(PC3213_LIST_STATE, r->api->submit(r->dev, &r->call, l, 1, &t2));
	OK(r->api->submit(r->dev, &r->call, second, 1, &t2));
	OK(r->api->wait(r->dev, &r->call, t2, UINT64_MAX, &done));
	assert_int_equal(done.done, 1);
	OK(r->api->wait(r->dev, &r->call, t1, UINT64_MAX, &done));
	assert_int_equal(done.done, 1);
	for (i = 0; i < TIMES; i++)
		x = x * 3 + 1;
	for (i = 0; i < N; i++) {
		assert_int_equal(word_at(r, data, i), x);
		assert_int_equal(word_at(r, more, i), x);
	}
	r->api->list_destroy(r->dev, l);
	r->api->list_destroy(r->dev, second);
	r->api->kernel_destroy(r->dev, k);
	r->api->buffer_destroy(r->dev, in);
	r->api->buffer_destroy(r->dev, data);
	r->api->buffer_destroy(r->dev, more);
}

typedef struct canceller {
	rig *r;
	uint64_t ticket;
} canceller;

static void *cancel_soon(void *p)
{
	const canceller *c = p;

	usleep(100000);
	c->r->api->cancel(c->r->dev, c->ticket);
	return NULL;
}

/* Far too much work: a timeout comes back in time, cancel stops it, the caller's cancel test too,
 * and the device works on. */
static void cancelled(rig *r)
{
	enum { N = 4096 };
	pctl_buffer *in = buffer(r, 4 * N), *data = buffer(r, 4 * N);
	pctl_kernel *k = kernel(r, 2000);
	pctl_list *l = simple_list(r, k, in, data, N);
	pctl_completion done;
	canceller c = {r, 0};
	pthread_t thread;

	OK(r->api->submit(r->dev, &r->call, l, UINT32_MAX, &c.ticket));
	OK(r->api->wait(r->dev, &r->call, c.ticket, 20000000, &done));
	assert_int_equal(done.done, 0);
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &c), 0);
	REFUSED(PC3216_SUBMIT_CANCELLED,
		r->api->wait(r->dev, &r->call, c.ticket, UINT64_MAX, &done));
	assert_int_equal(done.done, 0);
	pthread_join(thread, NULL);
	r->api->cancel(r->dev, c.ticket); /* gone already: nothing */
	OK(r->api->submit(r->dev, &r->call, l, UINT32_MAX, &c.ticket));
	r->cancel_now = 1;
	assert_int_equal(r->api->wait(r->dev, &r->call, c.ticket, UINT64_MAX, &done),
			 PCTL_E_CANCELLED);
	r->cancel_now = 0;
	OK(r->api->submit(r->dev, &r->call, l, 1, &c.ticket));
	OK(r->api->wait(r->dev, &r->call, c.ticket, UINT64_MAX, &done));
	assert_int_equal(done.done, 1);
	r->api->list_destroy(r->dev, l);
	r->api->kernel_destroy(r->dev, k);
	r->api->buffer_destroy(r->dev, in);
	r->api->buffer_destroy(r->dev, data);
}

/* ---- refusals ---- */

static void list_refusals(rig *r)
{
	const uint64_t step = r->caps.binding_alignment;
	pctl_buffer *a = buffer(r, 4096), *b = buffer(r, 4096), *bare = NULL;
	pctl_kernel *k = kernel(r, 0);
	const pctl_binding good[2] = {{0, 0, a, 0, 4096}, {0, 1, b, 0, 4096}};
	const uint32_t groups[3] = {1, 1, 1}, many[3] = {1, (uint32_t)r->caps.max_groups[1] + 1, 0};
	pctl_completion done;
	pctl_list *l = NULL;
	uint64_t ticket;
	uint32_t i;
	const struct {
		uint32_t code;
		uint32_t n;
		pctl_binding at[3];
	} cases[] = {
		{PC3204_BINDING_MISSING, 1, {{0, 0, a, 0, 4096}}},
		{PC3205_BINDING_UNKNOWN, 3, {{0, 0, a, 0, 8}, {0, 1, b, 0, 8}, {1, 0, b, 0, 8}}},
		{PC3205_BINDING_UNKNOWN, 2, {{0, 0, a, 0, 8}, {0, 0, b, 0, 8}}},
		{PC3206_BINDING_OVERLAP, 2, {{0, 0, a, 0, 4096}, {0, 1, a, step, 8}}},
		{PC3202_BACKEND_RANGE, 2, {{0, 0, a, 0, 4097}, {0, 1, b, 0, 8}}},
		{PC3202_BACKEND_RANGE, 2, {{0, 0, a, UINT64_MAX, 8}, {0, 1, b, 0, 8}}},
		{PC3203_BACKEND_ALIGNMENT, 2, {{0, 0, a, 4, 8}, {0, 1, b, 0, 8}}},
		{PC3201_BACKEND_ARGUMENT, 2, {{0, 0, NULL, 0, 8}, {0, 1, b, 0, 8}}},
	};

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		OK(r->api->list_begin(r->dev, &r->call, &l));
		REFUSED(cases[i].code,
			r->api->list_dispatch(l, &r->call, k, cases[i].at, cases[i].n, groups));
		REFUSED(PC3213_LIST_STATE, r->api->list_end(l, &r->call));
		REFUSED(PC3213_LIST_STATE, r->api->submit(r->dev, &r->call, l, 1, &ticket));
		r->api->list_destroy(r->dev, l);
	}
	OK(r->api->list_begin(r->dev, &r->call, &l));
	REFUSED(PC3209_GROUPS_LIMIT, r->api->list_dispatch(l, &r->call, k, good, 2, many));
	r->api->list_destroy(r->dev, l);
	OK(r->api->list_begin(r->dev, &r->call, &l));
	REFUSED(PC3203_BACKEND_ALIGNMENT, r->api->list_copy(l, &r->call, a, 2, b, 0, 4));
	r->api->list_destroy(r->dev, l);
	OK(r->api->list_begin(r->dev, &r->call, &l));
	REFUSED(PC3202_BACKEND_RANGE, r->api->list_copy(l, &r->call, a, 0, a, 4, 8));
	r->api->list_destroy(r->dev, l);
	OK(r->api->list_begin(r->dev, &r->call, &l));
	REFUSED(PC3202_BACKEND_RANGE, r->api->list_fill(l, &r->call, a, 4096, 4, 0));
	r->api->list_destroy(r->dev, l);
	OK(r->api->list_begin(r->dev, &r->call, &l));
	REFUSED(PC3201_BACKEND_ARGUMENT, r->api->list_timestamp(l, &r->call, 64));
	r->api->list_destroy(r->dev, l);
	OK(r->api->buffer_create(r->dev, &r->call, 64, PCTL_BUFFER_TRANSFER, &bare));
	OK(r->api->list_begin(r->dev, &r->call, &l));
	REFUSED(PC3207_BUFFER_USAGE,
		r->api->list_dispatch_indirect(l, &r->call, k, good, 2, bare, 0, groups));
	r->api->list_destroy(r->dev, l);
	OK(r->api->list_begin(r->dev, &r->call, &l));
	REFUSED(PC3213_LIST_STATE, r->api->submit(r->dev, &r->call, l, 1, &ticket));
	OK(r->api->list_end(l, &r->call));
	REFUSED(PC3213_LIST_STATE, r->api->list_barrier(l, &r->call));
	OK(r->api->submit(r->dev, &r->call, l, 1, &ticket)); /* an empty list is a list */
	OK(r->api->wait(r->dev, &r->call, ticket, UINT64_MAX, &done));
	r->api->list_destroy(r->dev, l);
	REFUSED(PC3214_TICKET_UNKNOWN, r->api->wait(r->dev, &r->call, 12345, 0, &done));
	r->api->kernel_destroy(r->dev, k);
	r->api->buffer_destroy(r->dev, a);
	r->api->buffer_destroy(r->dev, b);
	r->api->buffer_destroy(r->dev, bare);
}

static rig_program shaped(uint8_t scalar, uint32_t size_x, uint32_t size_y, uint32_t group_words,
			  uint32_t n_bindings)
{
	pctl_builder *b = rig_builder();
	const uint32_t type = pctl_build_scalar(b, scalar);
	uint32_t i, v[80];

	for (i = 0; i < n_bindings; i++)
		v[i] = rig_storage(b, i, pctl_build_array(b, type, 0, 0), 1);
	if (group_words)
		v[70] = rig_group_var(b, pctl_build_array(b, type, group_words, 0));
	pctl_build_function_begin(b, "main", NULL, 0, 0);
	for (i = 0; i < n_bindings; i++)
		rig_inst(b, PCTL_OP_STORE, 0, 3,
			 rig_inst(b, PCTL_OP_LOAD, type, 2, group_words ? v[70] : v[0],
				  rig_u32(b, 0)),
			 v[i], rig_u32(b, 1));
	rig_entry(b, size_x, size_y, 1);
	return rig_finish(b);
}

static void programs(rig *r)
{
	const struct {
		uint32_t code; /* 0: supported */
		uint8_t scalar;
		uint32_t x, y, words, bindings;
	} cases[] = {
		{0, PCTL_SCALAR_U32, 64, 1, 16, 1},
		{0, PCTL_SCALAR_U32, 64, 1, 0, 20},
		{PC3211_KERNEL_LIMIT, PCTL_SCALAR_U32, r->caps.max_local[0] + 1, 1, 0, 1},
		{PC3211_KERNEL_LIMIT, PCTL_SCALAR_U32, r->caps.max_invocations, 2, 0, 1},
		{PC3211_KERNEL_LIMIT, PCTL_SCALAR_U32, 64, 1, r->caps.max_workgroup_bytes / 4 + 1,
		 1},
		{PC3211_KERNEL_LIMIT, PCTL_SCALAR_U32, 64, 1, 0, r->caps.max_bindings + 1},
		{r->caps.caps & PCTL_CAP_I64 ? 0 : PC3210_KERNEL_CAPABILITY, PCTL_SCALAR_U64, 64, 1,
		 0, 1},
		{PC3210_KERNEL_CAPABILITY, PCTL_SCALAR_F32, 64, 1, 0, 1},
	};
	pctl_support answer;
	pctl_kernel *k = NULL;
	uint32_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rig_program p = shaped(cases[i].scalar, cases[i].x, cases[i].y, cases[i].words,
				       cases[i].bindings);

		OK(r->api->supports(r->dev, &r->call, p.wire, p.n, &answer));
		assert_int_equal(answer.code, cases[i].code);
		assert_int_equal(answer.supported, cases[i].code == 0);
		if (cases[i].code) {
			assert_true(answer.reason[0]);
			REFUSED(cases[i].code, r->api->kernel_build(r->dev, &r->call, p.wire, p.n,
								    0, NULL, 0, &k));
			assert_null(k);
		} else {
			OK(r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 0, NULL, 0, &k));
			r->api->kernel_destroy(r->dev, k);
			k = NULL;
			REFUSED(PC3201_BACKEND_ARGUMENT,
				r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 1, NULL, 0,
						     &k));
		}
		p.wire[p.n / 2] ^= 0x40;
		assert_int_not_equal(
			r->api->kernel_build(r->dev, &r->call, p.wire, p.n / 2, 0, NULL, 0, &k),
			PCTL_OK);
		free(p.wire);
	}
}

/* Structs of structs of structs: moving one whole would take 8^levels instructions. */
static void large_values(rig *r)
{
	uint32_t levels;

	for (levels = 3; levels <= 5; levels += 2) {
		pctl_builder *b = rig_builder();
		uint32_t type = pctl_build_scalar(b, PCTL_SCALAR_U32), level, i, from, to;
		pctl_member_spec members[8];
		pctl_support answer;
		rig_program p;

		for (level = 0; level < levels; level++) {
			for (i = 0; i < 8; i++)
				members[i] = (pctl_member_spec){
					(const char *[]){"a", "b", "c", "d", "e", "f", "g", "h"}[i],
					type, 0, 0, PCTL_OFFSET_AUTO};
			type = pctl_build_struct(b, members, 8);
		}
		from = rig_storage(b, 0, type, 0);
		to = rig_storage(b, 1, type, 1);
		pctl_build_function_begin(b, "main", NULL, 0, 0);
		rig_inst(b, PCTL_OP_STORE, 0, 2, rig_inst(b, PCTL_OP_LOAD, type, 1, from), to);
		rig_entry(b, 1, 1, 1);
		p = rig_finish(b);
		OK(r->api->supports(r->dev, &r->call, p.wire, p.n, &answer));
		assert_int_equal(answer.code, levels == 3 ? 0 : PC3211_KERNEL_LIMIT);
		free(p.wire);
	}
}

/* ---- caches ---- */

/* A kernel built from a blob computes the same; a damaged blob is ignored. */
static void blobs(rig *r)
{
	rig_program p = step_program(0);
	uint8_t blob[1 << 16];
	uint64_t n = 0, again = 0, i;
	pctl_kernel *k = NULL;

	OK(r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 0, NULL, 0, &k));
	OK(r->api->kernel_cache(r->dev, &r->call, k, 0, NULL, &n));
	assert_true(n < sizeof(blob));
	OK(r->api->kernel_cache(r->dev, &r->call, k, sizeof(blob), blob, &again));
	assert_int_equal(n, again);
	r->api->kernel_destroy(r->dev, k);
	for (i = 0; i < 40 && n; i++) {
		const uint64_t at = rig_random(7, i) % n;

		OK(r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 0, blob, i == 1 ? n / 2 : n,
					&k));
		r->api->kernel_destroy(r->dev, k);
		blob[at] ^= 0x10;
	}
	free(p.wire);
}

static uint32_t n_cached(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	uint32_t n = 0;

	assert_non_null(d);
	while ((e = readdir(d)) != NULL)
		if (strncmp(e->d_name, "vk-", 3) == 0) {
			assert_null(strstr(e->d_name, ".bin.")); /* nothing half written */
			n++;
		}
	closedir(d);
	return n;
}

static void spoil(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	char name[600];
	int fd;

	assert_non_null(d);
	while ((e = readdir(d)) != NULL) {
		if (strncmp(e->d_name, "vk-", 3) != 0)
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		fd = open(name, O_WRONLY);
		assert_true(fd >= 0);
		assert_int_equal(pwrite(fd, "spoiled", 7, 90), 7);
		close(fd);
	}
	closedir(d);
}

static void clear(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	char name[600];

	assert_non_null(d);
	while ((e = readdir(d)) != NULL) {
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		unlink(name);
	}
	closedir(d);
	assert_int_equal(rmdir(path), 0);
}

static void test_vulkan__cache_directory(void **state)
{
	char path[] = "/tmp/pipectl-vk-XXXXXX";
	uint32_t i, round, n = 0;
	rig one, *r = &one;

	(void)state;
	assert_non_null(mkdtemp(path));
	setenv("PIPECTL_TEST_CACHE_DIR", path, 1);
	for (round = 0; round < 3; round++) {
		for (i = 0; rig_open(r, i); i++) {
			rig_program p = step_program(0);
			pctl_kernel *k = NULL;

			OK(r->api->kernel_build(r->dev, &r->call, p.wire, p.n, 0, NULL, 0, &k));
			r->api->kernel_destroy(r->dev, k);
			free(p.wire);
			rig_close(r);
		}
		if (round == 0)
			n = n_cached(path);
		assert_int_equal(n_cached(path), n);
		if (round == 1)
			spoil(path);
	}
	unsetenv("PIPECTL_TEST_CACHE_DIR");
	clear(path);
}

#define DEVICE_TEST(name, body)                       \
	static void test_vulkan__##name(void **state) \
	{                                             \
		(void)state;                          \
		rig_each(body);                       \
	}
DEVICE_TEST(identity_and_caps, identity)
DEVICE_TEST(transfers_of_any_size, transfers)
DEVICE_TEST(small_buffers_stay_apart, small_buffers)
DEVICE_TEST(buffer_limits, buffer_limits)
DEVICE_TEST(recorded_commands, recorded)
DEVICE_TEST(repeated_submits, repeated)
DEVICE_TEST(timeout_and_cancel, cancelled)
DEVICE_TEST(list_refusals, list_refusals)
DEVICE_TEST(program_refusals, programs)
DEVICE_TEST(values_too_large_to_move, large_values)
DEVICE_TEST(cache_blobs, blobs)

PCTL_TESTS_MAIN(PCTL_TEST(test_vulkan__identity_and_caps),
		PCTL_TEST(test_vulkan__transfers_of_any_size),
		PCTL_TEST(test_vulkan__small_buffers_stay_apart),
		PCTL_TEST(test_vulkan__buffer_limits), PCTL_TEST(test_vulkan__recorded_commands),
		PCTL_TEST(test_vulkan__repeated_submits),
		PCTL_TEST(test_vulkan__timeout_and_cancel), PCTL_TEST(test_vulkan__list_refusals),
		PCTL_TEST(test_vulkan__program_refusals),
		PCTL_TEST(test_vulkan__values_too_large_to_move),
		PCTL_TEST(test_vulkan__cache_blobs), PCTL_TEST(test_vulkan__cache_directory))
