/* The runtime half of the plugin: devices, buffers, lists, submits. */
#include "main.h"
#include "step.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

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
		pctl_buffer *b = step_buffer(r, sizes[s]);

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
			assert_int_equal(step_word(r, held[s], 0), mark[s]);
			assert_int_equal(step_word(r, held[s], 1), ~mark[s]);
			r->api->buffer_destroy(r->dev, held[s]);
			held[s] = NULL;
			continue;
		}
		size = 8 + (uint32_t)(rig_random(2, i) % 60000);
		held[s] = step_buffer(r, size);
		assert_int_equal(step_word(r, held[s], 0), 0);
		assert_int_equal(step_word(r, held[s], (size - 4) / 4), 0);
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
	b = step_buffer(r, 0);
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
	pctl_buffer *a = step_buffer(r, sizeof(in)), *b = step_buffer(r, sizeof(in)),
		    *c = step_buffer(r, sizeof(counts));
	pctl_kernel *k = step_kernel(r, 0);
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
	pctl_buffer *in = step_buffer(r, sizeof(ones)), *data = step_buffer(r, sizeof(ones));
	pctl_buffer *more = step_buffer(r, sizeof(ones));
	pctl_kernel *k = step_kernel(r, 0);
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
		assert_int_equal(step_word(r, data, i), x);
		assert_int_equal(step_word(r, more, i), x);
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
	pctl_buffer *in = step_buffer(r, 4 * N), *data = step_buffer(r, 4 * N);
	pctl_kernel *k = step_kernel(r, 2000);
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
	r->cancel_after = 1;
	assert_int_equal(r->api->wait(r->dev, &r->call, c.ticket, UINT64_MAX, &done),
			 PCTL_E_CANCELLED);
	r->cancel_after = 0;
	OK(r->api->submit(r->dev, &r->call, l, 1, &c.ticket));
	OK(r->api->wait(r->dev, &r->call, c.ticket, UINT64_MAX, &done));
	assert_int_equal(done.done, 1);
	r->api->list_destroy(r->dev, l);
	r->api->kernel_destroy(r->dev, k);
	r->api->buffer_destroy(r->dev, in);
	r->api->buffer_destroy(r->dev, data);
}

DEVICE_TEST(identity_and_caps, identity)
DEVICE_TEST(transfers_of_any_size, transfers)
DEVICE_TEST(small_buffers_stay_apart, small_buffers)
DEVICE_TEST(buffer_limits, buffer_limits)
DEVICE_TEST(recorded_commands, recorded)
DEVICE_TEST(repeated_submits, repeated)
DEVICE_TEST(timeout_and_cancel, cancelled)

PCTL_TESTS_MAIN(PCTL_TEST(test_vulkan__identity_and_caps),
		PCTL_TEST(test_vulkan__transfers_of_any_size),
		PCTL_TEST(test_vulkan__small_buffers_stay_apart),
		PCTL_TEST(test_vulkan__buffer_limits), PCTL_TEST(test_vulkan__recorded_commands),
		PCTL_TEST(test_vulkan__repeated_submits),
		PCTL_TEST(test_vulkan__timeout_and_cancel))
