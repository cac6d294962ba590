/* Frames over a socket pair: cut anywhere, too long, unfinished, or never coming. */
#include "main.h"

#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "chain/node/frame.h"
#include "test_chain_bytes.h"

static int pair[2];

static int set_up(void **state)
{
	(void)state;
	forget();
	return socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
}

static int tear_down(void **state)
{
	(void)state;
	close(pair[0]);
	if (pair[1] >= 0)
		close(pair[1]);
	return 0;
}

static void write_hex(const char *hex)
{
	size_t n;
	uint8_t *bytes = unhex(hex, &n);

	assert_int_equal(write(pair[1], bytes, n), n);
	free(bytes);
}

static void close_peer(void)
{
	close(pair[1]);
	pair[1] = -1;
}

static pctl_status receive(uint8_t **out, uint32_t *n)
{
	return pctl_frame_receive(pair[0], 200, &call, out, n);
}

static void test_chain_frame__the_length_is_four_bytes_least_first(void **state)
{
	uint8_t *out, seen[8];
	uint32_t n;

	(void)state;
	assert_int_equal(pctl_frame_send(pair[0], "abc", 3, 1000, &call), PCTL_OK);
	assert_int_equal(read(pair[1], seen, sizeof(seen)), 7);
	assert_memory_equal(seen, "\x03\0\0\0abc", 7);
	write_hex("02000000 6162 01000000 63");
	assert_int_equal(receive(&out, &n), PCTL_OK);
	assert_int_equal(n, 2);
	assert_memory_equal(out, "ab", 2);
	free(out);
	assert_int_equal(receive(&out, &n), PCTL_OK);
	assert_int_equal(n, 1);
	assert_int_equal(out[0], 'c');
	free(out);
	/* Between frames the peer may go. */
	close_peer();
	assert_int_equal(receive(&out, &n), PCTL_OK);
	assert_null(out);
	assert_int_equal(n_refused, 0);
}

static void test_chain_frame__lengths_out_of_range_are_refused(void **state)
{
	uint8_t *out;
	uint32_t n;

	(void)state;
	write_hex("00000000");
	assert_int_equal(receive(&out, &n), PCTL_E_INVALID);
	assert_int_equal(refused[0], PC5797_FRAME_SIZE);
	forget();
	write_hex("01002000");
	assert_int_equal(receive(&out, &n), PCTL_E_INVALID);
	assert_int_equal(refused[0], PC5797_FRAME_SIZE);
	forget();
	assert_int_equal(pctl_frame_send(pair[0], "", 0, 100, &call), PCTL_E_INVALID);
	assert_int_equal(refused[0], PC5797_FRAME_SIZE);
	forget();
	assert_int_equal(pctl_frame_send(pair[0], "", PCTL_FRAME_MAX + 1, 100, &call),
			 PCTL_E_INVALID);
	assert_int_equal(refused[0], PC5797_FRAME_SIZE);
}

static void test_chain_frame__a_peer_that_goes_within_a_frame_is_trouble(void **state)
{
	static const char *const cut[] = {"05", "050000", "05000000", "05000000 61626364"};
	uint8_t *out;
	uint32_t n;

	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		write_hex(cut[i]);
		close_peer();
		forget();
		assert_int_equal(receive(&out, &n), PCTL_E_IO);
		assert_int_equal(refused[0], PC5798_FRAME_CLOSED);
		assert_null(out);
		assert_int_equal(pctl_frame_send(pair[0], "a", 1, 100, &call), PCTL_E_IO);
		tear_down(state);
		assert_int_equal(set_up(state), 0);
	}
}

static void test_chain_frame__time_runs_out(void **state)
{
	static uint8_t much[PCTL_FRAME_MAX];
	uint8_t *out;
	uint32_t n;

	(void)state;
	assert_int_equal(pctl_frame_receive(pair[0], 20, &call, &out, &n), PCTL_E_TIMEOUT);
	assert_int_equal(refused[0], PC5799_FRAME_TIMEOUT);
	write_hex("05000000 6162");
	forget();
	assert_int_equal(pctl_frame_receive(pair[0], 20, &call, &out, &n), PCTL_E_TIMEOUT);
	assert_int_equal(refused[0], PC5799_FRAME_TIMEOUT);
	/* A peer that takes nothing. */
	forget();
	assert_int_equal(pctl_frame_send(pair[0], much, sizeof(much), 20, &call), PCTL_E_TIMEOUT);
	assert_int_equal(refused[0], PC5799_FRAME_TIMEOUT);
}

static uint32_t always(void *ctx)
{
	(void)ctx;
	return 1;
}

static void test_chain_frame__a_wait_can_be_cancelled(void **state)
{
	const pctl_call cancelled = {
		.head = PCTL_HEAD(pctl_call), .diag = keep, .cancelled = always};
	uint8_t *out;
	uint32_t n;

	(void)state;
	assert_int_equal(pctl_frame_receive(pair[0], 0, &cancelled, &out, &n), PCTL_E_CANCELLED);
}

static void *dribble(void *ctx)
{
	const uint8_t *bytes = ctx;

	for (size_t i = 0; i < 300; i++) {
		if (write(pair[1], bytes + i, 1) != 1)
			return NULL;
		usleep(100);
	}
	for (size_t at = 300; at < 4 + PCTL_FRAME_MAX;) {
		ssize_t sent = write(pair[1], bytes + at, 4 + PCTL_FRAME_MAX - at);

		if (sent <= 0)
			return NULL;
		at += (size_t)sent;
	}
	return ctx;
}

/* The largest frame, its first bytes one by one and the rest as the socket takes it; then back. */
static void test_chain_frame__whole_however_it_is_cut(void **state)
{
	uint8_t *sent = malloc(4 + PCTL_FRAME_MAX), *out;
	pthread_t thread;
	void *done;
	uint32_t n;

	(void)state;
	for (size_t i = 0; i < PCTL_FRAME_MAX; i++)
		sent[4 + i] = (uint8_t)(i * 7 + i / 251);
	memcpy(sent, "\0\0\x20\0", 4);
	assert_int_equal(pthread_create(&thread, NULL, dribble, sent), 0);
	assert_int_equal(pctl_frame_receive(pair[0], 30000, &call, &out, &n), PCTL_OK);
	assert_int_equal(pthread_join(thread, &done), 0);
	assert_ptr_equal(done, sent);
	assert_int_equal(n, PCTL_FRAME_MAX);
	assert_memory_equal(out, sent + 4, n);
	free(out);
	free(sent);
}

#define FRAME_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
PCTL_TESTS_MAIN(FRAME_TEST(test_chain_frame__the_length_is_four_bytes_least_first),
		FRAME_TEST(test_chain_frame__lengths_out_of_range_are_refused),
		FRAME_TEST(test_chain_frame__a_peer_that_goes_within_a_frame_is_trouble),
		FRAME_TEST(test_chain_frame__time_runs_out),
		FRAME_TEST(test_chain_frame__a_wait_can_be_cancelled),
		FRAME_TEST(test_chain_frame__whole_however_it_is_cut))
