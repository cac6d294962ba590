/* Lists, tickets, caches and refusals of the opencl backend: what backend.h promises around the
 * kernels. */
#include "sketch.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define USAGE (PCTL_BUFFER_STORAGE | PCTL_BUFFER_TRANSFER | PCTL_BUFFER_INDIRECT)

/* cells[i] = cells[i] * 3 + 1, `rounds` times */
static uint8_t *step_wire(uint32_t rounds, uint64_t *n)
{
	uint32_t b, at, i, v;
	sketch s;

	sketch_begin(&s, 1);
	b = sketch_storage(&s, 0, pctl_build_array(s.b, s.t_u32, 0, 0), PCTL_ACCESS_READ_WRITE);
	sketch_main(&s);
	i = pctl_build_local(s.b, "i", s.t_u32);
	at = global_x(&s);
	OP0(&s, LOOP, 0);
	OP(&s, LOOP_TEST, 0,
	   OP(&s, LT, s.t_bool, OP(&s, LOAD, s.t_u32, PCTL_PLACE_LOCAL | i), k_u32(&s, rounds)));
	v = OP(&s, MUL, s.t_u32, OP(&s, LOAD, s.t_u32, b, at), k_u32(&s, 3));
	OP(&s, STORE, 0, OP(&s, ADD, s.t_u32, v, k_u32(&s, 1)), b, at);
	OP0(&s, CONTINUING, 0);
	v = OP(&s, ADD, s.t_u32, OP(&s, LOAD, s.t_u32, PCTL_PLACE_LOCAL | i), k_u32(&s, 1));
	OP(&s, STORE, 0, v, PCTL_PLACE_LOCAL | i);
	OP0(&s, END_LOOP, 0);
	return sketch_end(&s, n);
}

static uint32_t stepped(uint32_t x, uint32_t times)
{
	while (times--)
		x = x * 3 + 1;
	return x;
}

static pctl_buffer *buffer_of(rig *r, uint64_t n_bytes)
{
	pctl_buffer *buf = NULL;

	assert_int_equal(r->api->buffer_create(r->dev, &r->call, n_bytes, USAGE, &buf), PCTL_OK);
	return buf;
}

static pctl_list *list_of(rig *r)
{
	pctl_list *l = NULL;

	assert_int_equal(r->api->list_begin(r->dev, &r->call, &l), PCTL_OK);
	return l;
}

static void read_words(rig *r, pctl_buffer *buf, uint32_t *out, uint32_t n)
{
	assert_int_equal(r->api->buffer_read(r->dev, &r->call, buf, 0, out, (uint64_t)n * 4),
			 PCTL_OK);
}

/* Fill, dispatch, copy, timestamps, run many times over: more commands than are ever in flight. */
static void test_opencl__list_replay(void **state)
{
	enum { N = 4, TIMES = 150 };
	const uint32_t groups[3] = {N, 1, 1}, none[3] = {5, 0, 1};
	uint32_t words[8], want = 7;
	rig *r = *state;
	pctl_completion done;
	pctl_buffer *a = buffer_of(r, N * 4), *b = buffer_of(r, 32);
	const pctl_binding binding = {0, 0, a, 0, N * 4};
	uint64_t n;
	uint8_t *wire = step_wire(1, &n);
	pctl_kernel *k = rig_build(r, wire, n, 0);
	pctl_list *l = list_of(r);

	read_words(r, b, words, 8);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(words[i], 0);
	assert_int_equal(r->api->list_fill(l, &r->call, b, 0, 4, 0xabcdu), PCTL_OK);
	assert_int_equal(r->api->list_timestamp(l, &r->call, 0), PCTL_OK);
	assert_int_equal(r->api->list_dispatch(l, &r->call, k, &binding, 1, groups), PCTL_OK);
	assert_int_equal(r->api->list_barrier(l, &r->call), PCTL_OK);
	assert_int_equal(r->api->list_dispatch(l, &r->call, k, &binding, 1, groups), PCTL_OK);
	assert_int_equal(r->api->list_dispatch(l, &r->call, k, &binding, 1, none), PCTL_OK);
	assert_int_equal(r->api->list_copy(l, &r->call, a, 4, b, 12, 8), PCTL_OK);
	assert_int_equal(r->api->list_timestamp(l, &r->call, 3), PCTL_OK);
	assert_int_equal(r->api->list_end(l, &r->call), PCTL_OK);
	for (uint32_t i = 0; i < N; i++)
		words[i] = want;
	assert_int_equal(r->api->buffer_write(r->dev, &r->call, a, 0, words, N * 4), PCTL_OK);
	rig_submit(r, l, TIMES, &done);
	assert_int_equal(done.n_timestamps, 4);
	assert_true(done.timestamps[3] >= done.timestamps[0]);
	want = stepped(want, TIMES * 2);
	read_words(r, a, words, N);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(words[i], want);
	read_words(r, b, words, 8);
	assert_int_equal(words[0], 0xabcd);
	assert_int_equal(words[2], 0);
	assert_int_equal(words[3], want);
	assert_int_equal(words[4], want);
	rig_submit(r, l, 1, &done);
	read_words(r, a, words, N);
	assert_int_equal(words[0], stepped(want, 2));
	rig_submit(r, l, 0, &done);
	r->api->list_destroy(r->dev, l);
	r->api->kernel_destroy(r->dev, k);
	r->api->buffer_destroy(r->dev, a);
	r->api->buffer_destroy(r->dev, b);
	free(wire);
}

/* Two submits under way at once, the second waited for first. */
static void test_opencl__two_tickets(void **state)
{
	const uint32_t groups[3] = {1, 1, 1};
	rig *r = *state;
	pctl_buffer *a = buffer_of(r, 4);
	const pctl_binding binding = {0, 0, a, 0, 4};
	uint64_t n, ticket[2];
	uint8_t *wire = step_wire(1, &n);
	pctl_kernel *k = rig_build(r, wire, n, 0);
	pctl_completion done;
	pctl_list *l[2];
	uint32_t word;

	for (uint32_t i = 0; i < 2; i++) {
		l[i] = list_of(r);
		assert_int_equal(r->api->list_dispatch(l[i], &r->call, k, &binding, 1, groups),
				 PCTL_OK);
		assert_int_equal(r->api->list_end(l[i], &r->call), PCTL_OK);
		assert_int_equal(r->api->submit(r->dev, &r->call, l[i], 400, &ticket[i]), PCTL_OK);
	}
	assert_int_equal(r->api->wait(r->dev, &r->call, ticket[1], UINT64_MAX, &done), PCTL_OK);
	assert_int_equal(done.done, 1);
	assert_int_equal(r->api->wait(r->dev, &r->call, ticket[0], UINT64_MAX, &done), PCTL_OK);
	assert_int_equal(done.done, 1);
	read_words(r, a, &word, 1);
	assert_int_equal(word, stepped(0, 800));
	for (uint32_t i = 0; i < 2; i++)
		r->api->list_destroy(r->dev, l[i]);
	r->api->kernel_destroy(r->dev, k);
	r->api->buffer_destroy(r->dev, a);
	free(wire);
}

/* The counts come from a buffer that an earlier command of the same list wrote; they are clamped.
 */
static void test_opencl__indirect(void **state)
{
	enum { N = 16 };
	const uint32_t limit[3] = {9, 4, 4}, counts[4] = {0, 5, 1, 1};
	uint32_t words[N];
	rig *r = *state;
	pctl_buffer *a = buffer_of(r, N * 4), *from = buffer_of(r, 16), *to = buffer_of(r, 16);
	const pctl_binding binding = {0, 0, a, 0, N * 4};
	uint64_t n;
	uint8_t *wire = step_wire(1, &n);
	pctl_kernel *k = rig_build(r, wire, n, 0);
	pctl_completion done;
	pctl_list *l = list_of(r);

	assert_int_equal(r->api->buffer_write(r->dev, &r->call, from, 0, counts, 16), PCTL_OK);
	assert_int_equal(r->api->list_copy(l, &r->call, from, 0, to, 0, 16), PCTL_OK);
	assert_int_equal(r->api->list_dispatch_indirect(l, &r->call, k, &binding, 1, to, 4, limit),
			 PCTL_OK);
	assert_int_equal(r->api->list_fill(l, &r->call, to, 4, 4, 1000), PCTL_OK);
	assert_int_equal(r->api->list_dispatch_indirect(l, &r->call, k, &binding, 1, to, 4, limit),
			 PCTL_OK);
	assert_int_equal(r->api->list_fill(l, &r->call, to, 8, 4, 0), PCTL_OK);
	assert_int_equal(r->api->list_dispatch_indirect(l, &r->call, k, &binding, 1, to, 4, limit),
			 PCTL_OK);
	assert_int_equal(r->api->list_end(l, &r->call), PCTL_OK);
	rig_submit(r, l, 2, &done);
	read_words(r, a, words, N);
	for (uint32_t i = 0; i < N; i++)
		assert_int_equal(words[i], stepped(0, i < 5 ? 4 : i < 9 ? 2 : 0));
	r->api->list_destroy(r->dev, l);
	r->api->kernel_destroy(r->dev, k);
	r->api->buffer_destroy(r->dev, a);
	r->api->buffer_destroy(r->dev, from);
	r->api->buffer_destroy(r->dev, to);
	free(wire);
}

typedef struct canceller {
	rig *r;
	uint64_t ticket;
} canceller;

static void *cancel_soon(void *ctx)
{
	canceller *c = ctx;

	usleep(100000);
	c->r->api->cancel(c->r->dev, c->ticket);
	return NULL;
}

/* A long submit times out, then is cancelled from another thread; the device works on. */
static void test_opencl__timeout_and_cancel(void **state)
{
	const uint32_t groups[3] = {1, 1, 1};
	rig *r = *state;
	pctl_buffer *a = buffer_of(r, 4);
	const pctl_binding binding = {0, 0, a, 0, 4};
	uint64_t n;
	uint8_t *wire = step_wire(50, &n);
	pctl_kernel *k = rig_build(r, wire, n, 0);
	pctl_completion done;
	pctl_list *l = list_of(r);
	canceller c = {r, 0};
	pthread_t thread;

	assert_int_equal(r->api->list_dispatch(l, &r->call, k, &binding, 1, groups), PCTL_OK);
	assert_int_equal(r->api->list_end(l, &r->call), PCTL_OK);
	assert_int_equal(r->api->submit(r->dev, &r->call, l, 100000000u, &c.ticket), PCTL_OK);
	assert_int_equal(r->api->wait(r->dev, &r->call, c.ticket, 1000000, &done), PCTL_OK);
	assert_int_equal(done.done, 0);
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &c), 0);
	r->loud = 0;
	assert_int_equal(r->api->wait(r->dev, &r->call, c.ticket, UINT64_MAX, &done),
			 PCTL_E_CANCELLED);
	assert_int_equal(r->api->wait(r->dev, &r->call, c.ticket, 0, &done), PCTL_E_INVALID);
	r->loud = 1;
	pthread_join(thread, NULL);
	rig_submit(r, l, 1, &done);
	r->api->list_destroy(r->dev, l);
	r->api->kernel_destroy(r->dev, k);
	r->api->buffer_destroy(r->dev, a);
	free(wire);
}

/* The blob rebuilds the same kernel; a flipped byte anywhere, or a blob of another program, is
 * ignored. */
static void test_opencl__cache(void **state)
{
	const uint32_t groups[3] = {1, 1, 1};
	rig *r = *state;
	pctl_buffer *a = buffer_of(r, 4);
	const pctl_binding binding = {0, 0, a, 0, 4};
	uint64_t n, other_n, n_blob = 0, n_again = 0;
	uint8_t *wire = step_wire(3, &n), *other = step_wire(4, &other_n), *blob;
	pctl_kernel *k = rig_build(r, wire, n, 0), *cached;
	pctl_completion done;
	uint32_t word, zero = 0;

	assert_int_equal(r->api->kernel_cache(r->dev, &r->call, k, 0, NULL, &n_blob), PCTL_OK);
	/* PoCL with a folder for its kernels: they lie there, and it is not asked. */
	if (getenv("POCL_CACHE_DIR") != NULL) {
		assert_true(n_blob == 0);
		r->api->kernel_destroy(r->dev, k);
		r->api->buffer_destroy(r->dev, a);
		free(wire);
		free(other);
		return;
	}
	assert_true(n_blob > 0);
	blob = malloc(n_blob);
	assert_int_equal(r->api->kernel_cache(r->dev, &r->call, k, n_blob, blob, &n_again),
			 PCTL_OK);
	assert_int_equal(n_again, n_blob);
	for (uint32_t i = 0; i < 4; i++) {
		pctl_list *l = list_of(r);
		const uint8_t *w = i == 3 ? other : wire;

		if (i == 1)
			blob[n_blob / 2] ^= 1;
		if (i == 2)
			blob[n_blob / 2] ^= 1;
		assert_int_equal(r->api->kernel_build(r->dev, &r->call, w, i == 3 ? other_n : n, 0,
						      blob, i == 2 ? n_blob - 1 : n_blob, &cached),
				 PCTL_OK);
		assert_int_equal(r->api->buffer_write(r->dev, &r->call, a, 0, &zero, 4), PCTL_OK);
		assert_int_equal(r->api->list_dispatch(l, &r->call, cached, &binding, 1, groups),
				 PCTL_OK);
		assert_int_equal(r->api->list_end(l, &r->call), PCTL_OK);
		rig_submit(r, l, 1, &done);
		read_words(r, a, &word, 1);
		assert_int_equal(word, stepped(0, i == 3 ? 4 : 3));
		r->api->list_destroy(r->dev, l);
		r->api->kernel_destroy(r->dev, cached);
	}
	r->api->kernel_destroy(r->dev, k);
	r->api->buffer_destroy(r->dev, a);
	free(blob);
	free(wire);
	free(other);
}

static void refused(rig *r, pctl_status status, pctl_status want, uint32_t code)
{
	assert_int_equal(status, want);
	assert_int_equal(r->last_code, code);
}

/* Each broken contract has its code and leaves the device usable. */
static void test_opencl__refusals(void **state)
{
	const uint32_t groups[3] = {1, 1, 1}, many[3] = {1, 70000, 1};
	rig *r = *state;
	const pctl_backend *api = r->api;
	pctl_buffer *a = buffer_of(r, 256), *none = NULL;
	pctl_binding binding = {0, 0, a, 0, 256}, two[2] = {binding, {0, 1, a, 0, 4}};
	pctl_device *no_device;
	uint64_t n, ticket;
	uint8_t *wire = step_wire(1, &n), word[8] = {0};
	pctl_kernel *k = rig_build(r, wire, n, 0), *no_kernel;
	pctl_support support;
	pctl_list *l = list_of(r);

	r->loud = 0;
	refused(r, api->device_open(r->inst, &r->call, 999, &no_device), PCTL_E_UNSUPPORTED, 3273);
	refused(r, api->buffer_create(r->dev, &r->call, 4, 1u << 31, &none), PCTL_E_INVALID, 3201);
	refused(r, api->buffer_create(r->dev, &r->call, UINT64_MAX, USAGE, &none), PCTL_E_LIMIT,
		3208);
	assert_null(none);
	refused(r, api->buffer_write(r->dev, &r->call, a, 255, word, 2), PCTL_E_INVALID, 3202);
	refused(r, api->buffer_read(r->dev, &r->call, a, UINT64_MAX, word, 2), PCTL_E_INVALID,
		3202);
	refused(r,
		api->kernel_build(r->dev, &r->call, wire, n, PCTL_BUILD_COUNT, NULL, 0, &no_kernel),
		PCTL_E_INVALID, 3201);
	assert_true(api->kernel_build(r->dev, &r->call, wire, n - 1, 0, NULL, 0, &no_kernel) !=
		    PCTL_OK);
	assert_int_equal(api->supports(r->dev, &r->call, wire, n, &support), PCTL_OK);
	assert_int_equal(support.supported, 1);
	refused(r, api->submit(r->dev, &r->call, l, 1, &ticket), PCTL_E_INVALID, 3213);
	refused(r, api->list_dispatch(l, &r->call, k, NULL, 0, groups), PCTL_E_INVALID, 3204);
	refused(r, api->list_dispatch(l, &r->call, k, two, 2, groups), PCTL_E_INVALID, 3205);
	refused(r, api->list_dispatch(l, &r->call, k, &binding, 1, many), PCTL_E_LIMIT, 3209);
	binding.offset = 64;
	refused(r, api->list_dispatch(l, &r->call, k, &binding, 1, groups), PCTL_E_INVALID, 3202);
	binding.offset = 4;
	binding.n_bytes = 8;
	refused(r, api->list_dispatch(l, &r->call, k, &binding, 1, groups), PCTL_E_INVALID, 3203);
	refused(r, api->list_copy(l, &r->call, a, 2, a, 128, 4), PCTL_E_INVALID, 3203);
	refused(r, api->list_copy(l, &r->call, a, 0, a, 4, 8), PCTL_E_INVALID, 3201);
	refused(r, api->list_fill(l, &r->call, a, 252, 8, 0), PCTL_E_INVALID, 3202);
	refused(r, api->list_timestamp(l, &r->call, 64), PCTL_E_INVALID, 3201);
	refused(r, api->list_end(l, &r->call), PCTL_E_INVALID, 3213);
	r->loud = 1;
	api->list_destroy(r->dev, l);
	api->kernel_destroy(r->dev, k);
	api->buffer_destroy(r->dev, a);
	free(wire);
}

/* What the host keys profiles and receipts by. */
static void test_opencl__identity(void **state)
{
	static const char *const keys[] = {"vendor",	     "device",	 "driver",
					   "driver-version", "compiler", "compiler-options"};
	pctl_key_value facts[16];
	rig *r = *state;
	uint32_t n = 0, found = 0;

	assert_int_equal(r->api->device_identity(r->dev, &r->call, 16, facts, &n), PCTL_OK);
	for (uint32_t k = 0; k < 6; k++)
		for (uint32_t i = 0; i < n && i < 16; i++)
			found += !strcmp(facts[i].key, keys[k]) && facts[i].value[0];
	assert_int_equal(found, 6);
	assert_true(r->caps.max_invocations >= 64 && r->caps.max_binding_bytes >= 1 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opencl__list_replay),
		cmocka_unit_test(test_opencl__two_tickets),
		cmocka_unit_test(test_opencl__indirect),
		cmocka_unit_test(test_opencl__timeout_and_cancel),
		cmocka_unit_test(test_opencl__cache),
		cmocka_unit_test(test_opencl__refusals),
		cmocka_unit_test(test_opencl__identity),
	};

	return cmocka_run_group_tests(tests, sketch_setup, sketch_teardown) != 0;
}
