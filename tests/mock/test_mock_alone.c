/* The synthetic device: zeroed buffers that move bytes, kernels that do nothing, fences that pass late. */
#include "device_fixture.h"

#include "runtime/ipc/process.h"
#include "foundation/base/clock.h"

static const uint32_t modes[2] = {0, PCTL_INSTANCE_IN_PROCESS};

static pctl_status wait_once(device_fixture *b, uint64_t ticket, uint64_t ns, pctl_completion *c)
{
	*c = (pctl_completion){.head = PCTL_HEAD(pctl_completion)};
	return b->t->wait(b->dev, &b->call, ticket, ns, c);
}

static void move_bytes(device_fixture *b)
{
	uint32_t words[DEVICE_WORDS], got[DEVICE_WORDS];
	pctl_completion c;
	pctl_buffer *from, *to, *none;
	pctl_kernel *k;
	pctl_list *l;
	uint64_t ticket;

	for (uint32_t i = 0; i < DEVICE_WORDS; i++)
		words[i] = i + 1;
	from = device_buffer(b, words, DEVICE_WORDS);
	to = device_buffer(b, NULL, DEVICE_WORDS);
	none = device_buffer(b, NULL, 0);
	device_read(b, to, got, DEVICE_WORDS);
	for (uint32_t i = 0; i < DEVICE_WORDS; i++)
		assert_int_equal(got[i], 0);
	k = device_floats(b);
	l = device_list(b);
	assert_int_equal(b->t->list_timestamp(l, &b->call, 0), PCTL_OK);
	assert_int_equal(b->t->list_copy(l, &b->call, from, 0, to, 8, 16), PCTL_OK);
	assert_int_equal(b->t->list_fill(l, &b->call, to, 100, 8, 0x01020304), PCTL_OK);
	device_record(b, l, k, from, 48, to, 64, 4);
	assert_int_equal(b->t->list_timestamp(l, &b->call, 1), PCTL_OK);
	assert_int_equal(b->t->list_end(l, &b->call), PCTL_OK);
	assert_int_equal(b->t->submit(b->dev, &b->call, l, 2, &ticket), PCTL_OK);
	assert_int_equal(wait_once(b, ticket, UINT64_MAX, &c), PCTL_OK);
	assert_int_equal(c.done, 1);
	assert_int_equal(c.n_timestamps, 2);
	assert_true(c.timestamps[1] >= c.timestamps[0]);
	device_read(b, to, got, DEVICE_WORDS);
	for (uint32_t i = 0; i < DEVICE_WORDS; i++)
		assert_int_equal(got[i], i >= 2 && i < 6      ? i - 1
					 : i == 25 || i == 26 ? 0x01020304
							      : 0);
	assert_int_not_equal(wait_once(b, ticket, 0, &c), PCTL_OK);
	b->t->list_destroy(b->dev, l);
	b->t->kernel_destroy(b->dev, k);
	b->t->buffer_destroy(b->dev, none);
	b->t->buffer_destroy(b->dev, to);
	b->t->buffer_destroy(b->dev, from);
}

static void alone__bytes_move_and_kernels_do_nothing(void **state)
{
	device_fixture b;

	(void)state;
	for (int i = 0; i < 2; i++) {
		device_open(&b, "mock", modes[i]);
		assert_int_equal(b.e->kind, PCTL_DEVICE_OTHER);
		move_bytes(&b);
		device_close(&b);
	}
}

static void alone__a_fence_passes_after_so_many_waits(void **state)
{
	pctl_completion c;
	uint64_t ticket;
	uint32_t word;
	pctl_buffer *to;
	pctl_list *l;
	device_fixture b;

	(void)state;
	for (int i = 0; i < 2; i++) {
		device_open(&b, "mock:waits=3", modes[i]);
		to = device_buffer(&b, NULL, 1);
		l = device_list(&b);
		assert_int_equal(b.t->list_fill(l, &b.call, to, 0, 4, 7), PCTL_OK);
		assert_int_equal(b.t->list_end(l, &b.call), PCTL_OK);
		assert_int_equal(b.t->submit(b.dev, &b.call, l, 1, &ticket), PCTL_OK);
		for (int k = 0; k < 3; k++) {
			assert_int_equal(wait_once(&b, ticket, 1000, &c), PCTL_OK);
			assert_int_equal(c.done, 0);
			device_read(&b, to, &word, 1);
			assert_int_equal(word, 0);
		}
		assert_int_equal(wait_once(&b, ticket, 1000, &c), PCTL_OK);
		assert_int_equal(c.done, 1);
		device_read(&b, to, &word, 1);
		assert_int_equal(word, 7);
		b.t->list_destroy(b.dev, l);
		b.t->buffer_destroy(b.dev, to);
		device_close(&b);
	}
}

static void alone__a_slow_one_takes_its_time_and_a_cancel_ends_it(void **state)
{
	pctl_completion c;
	uint64_t ticket, begin;
	pctl_list *l;
	device_fixture b;

	(void)state;
	for (int i = 0; i < 2; i++) {
		/* It may be done at the first look where this process was not run meanwhile: then once more. */
		for (int tries = 0;; tries++) {
			device_open(&b, "mock:slow=60+hang@2", modes[i]);
			l = device_list(&b);
			assert_int_equal(b.t->list_end(l, &b.call), PCTL_OK);
			begin = pctl_clock_ms();
			assert_int_equal(b.t->submit(b.dev, &b.call, l, 1, &ticket), PCTL_OK);
			assert_int_equal(wait_once(&b, ticket, 1000000, &c), PCTL_OK);
			if (!c.done)
				break;
			assert_true(pctl_clock_ms() - begin >= 55 && tries < 100);
			b.t->list_destroy(b.dev, l);
			device_close(&b);
		}
		assert_int_equal(wait_once(&b, ticket, UINT64_MAX, &c), PCTL_OK);
		assert_int_equal(c.done, 1);
		assert_true(pctl_clock_ms() - begin >= 55);
		/* The second never ends by itself. */
		assert_int_equal(b.t->submit(b.dev, &b.call, l, 1, &ticket), PCTL_OK);
		assert_int_equal(wait_once(&b, ticket, 100000000, &c), PCTL_OK);
		assert_int_equal(c.done, 0);
		b.t->cancel(b.dev, ticket);
		assert_int_equal(wait_once(&b, ticket, UINT64_MAX, &c), PCTL_E_CANCELLED);
		assert_null(pctl_backend_instance_lost(b.s));
		/* And the third is as good as ever. */
		assert_int_equal(device_run(&b, l, 1), PCTL_OK);
		b.t->list_destroy(b.dev, l);
		device_close(&b);
	}
}

PCTL_TESTS_MAIN(PCTL_TEST(alone__bytes_move_and_kernels_do_nothing),
		PCTL_TEST(alone__a_fence_passes_after_so_many_waits),
		PCTL_TEST(alone__a_slow_one_takes_its_time_and_a_cancel_ends_it))
