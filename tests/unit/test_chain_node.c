/* The node over a service of the test's own: what clients send whole, in pieces, wrongly, or never take; what is answered
 * and when. */
#include "main.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "chain/node/frame.h"
#include "chain/node/node.h"
#include "foundation/base/clock.h"
#include "test_chain_bytes.h"

/* A machine that has much else to do answers late, and these tests ask what is answered. */
#define PATIENCE_MS 120000
#define ID "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

/* ---- a service that notes what it is asked ------------------------------------------------- */

/* b begin, s served, c commit, a abort, E end of a block; an odd gas_limit is refused, 1001 is trouble. */
static char story[4096];
static size_t n_story;
static atomic_int stop, commit_fails;
static uint64_t served;

static void note(char what)
{
	if (n_story + 1 < sizeof(story))
		story[n_story++] = what;
	story[n_story] = '\0';
}

static pctl_status fake_begin(void *ctx, const pctl_call *c)
{
	(void)ctx;
	(void)c;
	note('b');
	return PCTL_OK;
}

static pctl_status fake_serve(void *ctx, const pctl_request *r, const pctl_call *c,
			      pctl_response *out)
{
	(void)ctx;
	if (r->kind == PCTL_MSG_BLOCK_END) {
		note('E');
		if (r->as.block.height == 8)
			return PCTL_E_CANCELLED;
		if (r->as.block.height == 9)
			return pctl_refuse(c, PC5703_CHAIN_BUSY, "%s", "no device");
		*out = (pctl_response){.kind = PCTL_MSG_BLOCK_END,
				       .as.block = {.height = r->as.block.height,
						    .final_clock = 1,
						    .state_root = ID,
						    .commit = ID}};
		return PCTL_OK;
	}
	note('s');
	served++;
	if (r->kind == PCTL_MSG_EXECUTE && r->as.execute.gas_limit == 1001)
		return pctl_refuse(c, PC5701_CHAIN_STATE, "%s", "the disk is full");
	if (r->kind == PCTL_MSG_EXECUTE && r->as.execute.gas_limit % 2 == 1) {
		*out = (pctl_response){
			.kind = PCTL_MSG_ERROR,
			.as.error = {.code = PC5713_LEDGER_FUNDS, .message = "too little"}};
		return PCTL_OK;
	}
	if (r->kind == PCTL_MSG_EXECUTE) {
		*out = (pctl_response){
			.kind = PCTL_MSG_EXECUTE,
			.as.execute = {.job_id = ID, .logical_clock = r->as.execute.gas_limit}};
		return PCTL_OK;
	}
	*out = (pctl_response){.kind = PCTL_MSG_QUERY, .as.query = {.logical_clock = 7}};
	return PCTL_OK;
}

static pctl_status fake_commit(void *ctx, const pctl_call *c)
{
	(void)ctx;
	note('c');
	return commit_fails ? pctl_refuse(c, PC5701_CHAIN_STATE, "%s", "no commit") : PCTL_OK;
}

static void fake_abort(void *ctx)
{
	(void)ctx;
	note('a');
}

static const pctl_node_service service = {
	.begin = fake_begin, .serve = fake_serve, .commit = fake_commit, .abort = fake_abort};

/* ---- a node in a thread -------------------------------------------------------------------- */

static char dir[64], path[128];
static pctl_node *node;
static pthread_t thread;
static pctl_status ended;
static uint32_t reported;

static uint32_t is_stopped(void *ctx)
{
	(void)ctx;
	return (uint32_t)stop;
}

static const pctl_call node_call = {.head = PCTL_HEAD(pctl_call), .cancelled = is_stopped};

static void report(void *ctx, uint32_t code, const char *text)
{
	(void)ctx;
	(void)text;
	reported = code;
}

static void *run(void *unused)
{
	(void)unused;
	ended = pctl_node_run(node, &node_call);
	return NULL;
}

static void start(uint32_t clients, uint32_t stall_ms)
{
	const pctl_node_options o = {
		.path = path, .clients = clients, .stall_ms = stall_ms, .report = report};

	assert_int_equal(pctl_node_open(&o, &service, &call, &node), PCTL_OK);
	assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
}

static void finish(void)
{
	stop = 1;
	pthread_join(thread, NULL);
	assert_int_equal(ended, PCTL_E_CANCELLED);
	pctl_node_close(node);
	assert_int_equal(access(path, F_OK), -1);
}

static int set_up(void **state)
{
	(void)state;
	forget();
	strcpy(dir, "/tmp/pctl-node-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/socket", dir);
	n_story = 0;
	story[0] = '\0';
	stop = commit_fails = 0;
	served = reported = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	rmdir(dir);
	return 0;
}

/* ---- clients ------------------------------------------------------------------------------- */

static int join(void)
{
	struct sockaddr_un where = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(where.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&where, sizeof(where)), 0);
	return fd;
}

static uint8_t *request(uint64_t gas, uint64_t *n)
{
	static const char cid[] = "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku";
	const pctl_request r = {.kind = PCTL_MSG_EXECUTE,
				.as.execute = {.sender = "a",
					       .shader_cid = cid,
					       .input = cid,
					       .dispatch = {1, 1, 1},
					       .gas_limit = gas,
					       .uniform_cid = "",
					       .entry = ""}};
	uint8_t *out;

	assert_int_equal(pctl_request_encode(&r, &call, &out, n), PCTL_OK);
	return out;
}

static void send_execute(int fd, uint64_t gas)
{
	uint64_t n;
	uint8_t *bytes = request(gas, &n);

	assert_int_equal(pctl_frame_send(fd, bytes, (uint32_t)n, PATIENCE_MS, &call), PCTL_OK);
	free(bytes);
}

static void send_block_end(int fd, uint64_t height)
{
	const pctl_request r = {.kind = PCTL_MSG_BLOCK_END, .as.block = {.height = height}};
	uint8_t *bytes;
	uint64_t n;

	assert_int_equal(pctl_request_encode(&r, &call, &bytes, &n), PCTL_OK);
	assert_int_equal(pctl_frame_send(fd, bytes, (uint32_t)n, PATIENCE_MS, &call), PCTL_OK);
	free(bytes);
}

/* The next response: the clock of an EXECUTE, the code of an ERROR, the height of a block; 0 at the end. */
static uint64_t answer(int fd, uint32_t *kind)
{
	pctl_response r;
	uint8_t *bytes;
	uint32_t n;
	uint64_t value;

	*kind = 0;
	if (pctl_frame_receive(fd, PATIENCE_MS, &call, &bytes, &n) != PCTL_OK || bytes == NULL)
		return 0;
	assert_int_equal(pctl_response_decode(bytes, n, &call, &r), PCTL_OK);
	free(bytes);
	*kind = r.kind;
	value = r.kind == PCTL_MSG_EXECUTE ? r.as.execute.logical_clock
		: r.kind == PCTL_MSG_ERROR ? r.as.error.code
					   : r.as.block.height;
	pctl_response_destroy(&r);
	return value;
}

#define EXPECT(fd, KIND, value)                             \
	do {                                                \
		uint32_t kind_;                             \
		const uint64_t value_ = answer(fd, &kind_); \
		assert_int_equal(kind_, KIND);              \
		assert_int_equal(value_, value);            \
	} while (0)

/* ---- tests --------------------------------------------------------------------------------- */

static void test_chain_node__answers_come_in_order_after_the_commit(void **state)
{
	struct stat st;
	int fd;

	(void)state;
	start(0, 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	fd = join();
	for (uint64_t i = 0; i < 500; i++)
		send_execute(fd, i % 7 == 3 ? 5 : 2 + 2 * i);
	for (uint64_t i = 0; i < 500; i++) {
		if (i % 7 == 3)
			EXPECT(fd, PCTL_MSG_ERROR, PC5713_LEDGER_FUNDS);
		else
			EXPECT(fd, PCTL_MSG_EXECUTE, 2 + 2 * i);
	}
	close(fd);
	finish();
	/* b s..s c, again and again: nothing is served outside a batch, none is left open. */
	assert_int_equal(served, 500);
	assert_int_equal(story[0], 'b');
	assert_int_equal(story[n_story - 1], 'c');
	for (size_t i = 1; i < n_story; i++)
		assert_true(story[i] == 'b' ? story[i - 1] == 'c' : story[i - 1] != 'c');
}

static void test_chain_node__the_end_of_a_block_stands_alone(void **state)
{
	uint8_t *bytes, all[2000];
	uint64_t n;
	size_t at = 0;
	int fd;

	(void)state;
	start(0, 0);
	fd = join();
	/* In one write: s s E s. */
	bytes = request(2, &n);
	for (int i = 0; i < 3; i++) {
		if (i == 2) {
			memcpy(all + at, "\x04\0\0\0\x22\x02\x08\x05", 8);
			at += 8;
		}
		memcpy(all + at, (uint8_t[]){(uint8_t)n, (uint8_t)(n >> 8), 0, 0}, 4);
		memcpy(all + at + 4, bytes, n);
		at += 4 + n;
	}
	free(bytes);
	assert_int_equal(write(fd, all, at), at);
	EXPECT(fd, PCTL_MSG_EXECUTE, 2);
	EXPECT(fd, PCTL_MSG_EXECUTE, 2);
	EXPECT(fd, PCTL_MSG_BLOCK_END, 5);
	EXPECT(fd, PCTL_MSG_EXECUTE, 2);
	assert_string_equal(story, "bsscEbsc");
	send_block_end(fd, 9);
	EXPECT(fd, PCTL_MSG_ERROR, PC5703_CHAIN_BUSY);
	assert_int_equal(reported, PC5703_CHAIN_BUSY);
	send_block_end(fd, 8);
	EXPECT(fd, PCTL_MSG_ERROR, PC6113_NODE_STOPPING);
	send_block_end(fd, 6);
	EXPECT(fd, PCTL_MSG_BLOCK_END, 6);
	close(fd);
	finish();
}

static void test_chain_node__trouble_answers_the_whole_batch(void **state)
{
	int fd;

	(void)state;
	commit_fails = 1;
	start(0, 0);
	fd = join();
	send_execute(fd, 2);
	EXPECT(fd, PCTL_MSG_ERROR, PC5701_CHAIN_STATE);
	assert_int_equal(reported, PC5701_CHAIN_STATE);
	commit_fails = 0;
	send_execute(fd, 2);
	EXPECT(fd, PCTL_MSG_EXECUTE, 2);
	send_execute(fd, 1001);
	EXPECT(fd, PCTL_MSG_ERROR, PC5701_CHAIN_STATE);
	send_execute(fd, 4);
	EXPECT(fd, PCTL_MSG_EXECUTE, 4);
	assert_string_equal(story, "bscbscbsabsc");
	close(fd);
	finish();
}

static void test_chain_node__bad_frames_end_what_is_out_of_step(void **state)
{
	static const char *const garbage[] = {"00000000", "ffffffff 00", "01002000 aa"};
	int fd;

	(void)state;
	start(0, 0);
	/* A frame that holds no request is answered; the next one still counts. */
	fd = join();
	assert_int_equal(write(fd, "\x02\0\0\0\xff\xff", 6), 6);
	EXPECT(fd, PCTL_MSG_ERROR, PC5781_MESSAGE_WIRE);
	send_execute(fd, 2);
	EXPECT(fd, PCTL_MSG_EXECUTE, 2);
	close(fd);
	for (size_t i = 0; i < 3; i++) {
		size_t n;
		uint8_t *bytes = unhex(garbage[i], &n);

		fd = join();
		send_execute(fd, 8);
		assert_int_equal(write(fd, bytes, n), n);
		EXPECT(fd, PCTL_MSG_EXECUTE, 8);
		EXPECT(fd, PCTL_MSG_ERROR, PC5797_FRAME_SIZE);
		EXPECT(fd, 0, 0);
		close(fd);
		free(bytes);
	}
	finish();
}

#define STALL_MS 1000

static void test_chain_node__a_frame_may_come_byte_by_byte_but_not_for_ever(void **state)
{
	uint64_t n;
	uint8_t *bytes = request(6, &n);
	int fd, half;

	(void)state;
	start(0, STALL_MS);
	half = join();
	assert_int_equal(write(half, "\x10\0\0\0\x01\x02", 6), 6);
	/* On a machine that has much else to do it is this client that is late: then once more. */
	for (int tries = 0;; tries++) {
		const uint64_t begun = pctl_clock_ms();
		uint64_t sent = 0, took, value;
		uint32_t kind;

		fd = join();
		if (write(fd, (uint8_t[]){(uint8_t)n, 0, 0, 0}, 4) == 4)
			for (; sent < n && send(fd, bytes + sent, 1, MSG_NOSIGNAL) == 1; sent++)
				if (sent % 8 == 0)
					usleep(1000);
		value = answer(fd, &kind);
		took = pctl_clock_ms() - begun;
		if (sent == n && kind == PCTL_MSG_EXECUTE && value == 6)
			break;
		if (took < STALL_MS || tries == 100)
			fail_msg("a frame of %llu ms: %llu of %llu bytes, answer %u, %llu",
				 (unsigned long long)took, (unsigned long long)sent,
				 (unsigned long long)n, kind, (unsigned long long)value);
		close(fd);
	}
	EXPECT(half, PCTL_MSG_ERROR, PC5799_FRAME_TIMEOUT);
	EXPECT(half, 0, 0);
	/* Between frames one may be silent for longer than inside of one. */
	send_execute(fd, 4);
	EXPECT(fd, PCTL_MSG_EXECUTE, 4);
	close(half);
	/* What was asked before the client closed its end is still answered, a half is not. */
	send_execute(fd, 12);
	assert_int_equal(write(fd, "\x10\0", 2), 2);
	shutdown(fd, SHUT_WR);
	EXPECT(fd, PCTL_MSG_EXECUTE, 12);
	EXPECT(fd, 0, 0);
	close(fd);
	free(bytes);
	finish();
}

static void test_chain_node__who_never_reads_stops_nobody(void **state)
{
	uint64_t n;
	uint8_t *bytes = request(6, &n);
	const uint8_t head[4] = {(uint8_t)n, 0, 0, 0};
	uint8_t *frame = malloc(n + 4);
	uint64_t at = 0;
	int fd, deaf, quiet = 0;

	(void)state;
	assert_non_null(frame);
	memcpy(frame, head, 4);
	memcpy(frame + 4, bytes, n);
	start(0, 500);
	deaf = join();
	/* Until nothing more is taken from it, and not because the node is slower than this for a moment. */
	for (uint32_t i = 0; quiet < 200 && i < 4000000; i++) {
		const ssize_t sent =
			send(deaf, frame + at, n + 4 - at, MSG_DONTWAIT | MSG_NOSIGNAL);

		quiet = sent > 0 ? 0 : quiet + 1;
		at = sent > 0 ? (at + (uint64_t)sent) % (n + 4) : at;
		if (sent <= 0)
			usleep(1000);
	}
	assert_int_equal(quiet, 200);
	fd = join();
	for (uint64_t i = 0; i < 50; i++) {
		send_execute(fd, 2 + i * 2);
		EXPECT(fd, PCTL_MSG_EXECUTE, 2 + i * 2);
	}
	/* And it is closed in the end. */
	for (int i = 0; i < 2400 && send(deaf, head, 1, MSG_NOSIGNAL | MSG_DONTWAIT) >= -1; i++) {
		if (errno == EPIPE)
			break;
		usleep(50000);
		errno = 0;
	}
	assert_int_equal(send(deaf, head, 1, MSG_NOSIGNAL | MSG_DONTWAIT), -1);
	assert_int_equal(errno, EPIPE);
	close(deaf);
	close(fd);
	free(bytes);
	free(frame);
	finish();
}

#define IDLE_MS 400

static void test_chain_node__a_full_house_turns_away_or_takes_the_place_of_the_idle(void **state)
{
	int fd[3];

	(void)state;
	/* Who has asked just now keeps its place. Where this process is late both have been idle for long, and one of them goes: then
	 * once more. */
	for (int tries = 0;; tries++) {
		struct pollfd said[3];
		uint64_t begun;

		start(2, IDLE_MS);
		begun = pctl_clock_ms();
		for (int i = 0; i < 2; i++) {
			fd[i] = join();
			send_execute(fd[i], 2);
			EXPECT(fd[i], PCTL_MSG_EXECUTE, 2);
		}
		fd[2] = join();
		for (int i = 0; i < 3; i++)
			said[i] = (struct pollfd){fd[i], POLLIN, 0};
		assert_true(poll(said, 3, PATIENCE_MS) > 0);
		if (!said[0].revents && !said[1].revents)
			break;
		if (pctl_clock_ms() - begun < IDLE_MS || tries == 100)
			fail_msg("the place of somebody who asked %llu ms ago was taken",
				 (unsigned long long)(pctl_clock_ms() - begun));
		for (int i = 0; i < 3; i++)
			close(fd[i]);
		finish();
		stop = 0;
	}
	EXPECT(fd[2], PCTL_MSG_ERROR, PC6112_NODE_FULL);
	EXPECT(fd[2], 0, 0);
	close(fd[2]);
	usleep((IDLE_MS + 200) * 1000);
	send_execute(fd[1], 4);
	EXPECT(fd[1], PCTL_MSG_EXECUTE, 4);
	fd[2] = join();
	send_execute(fd[2], 6);
	EXPECT(fd[2], PCTL_MSG_EXECUTE, 6);
	EXPECT(fd[0], 0, 0);
	for (int i = 0; i < 3; i++)
		close(fd[i]);
	finish();
}

static pctl_status try_open(const char *where)
{
	const pctl_node_options o = {.path = where};
	pctl_node *n;
	const pctl_status status = pctl_node_open(&o, &service, &call, &n);

	pctl_node_close(n);
	return status;
}

static void test_chain_node__takes_the_path_of_a_dead_node_only(void **state)
{
	struct sockaddr_un where = {.sun_family = AF_UNIX};
	char longer[200];
	FILE *f;
	int fd;

	(void)state;
	memset(longer, 'x', sizeof(longer));
	memcpy(longer, "/tmp/", 5);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(try_open(longer), PCTL_E_IO);
	longer[sizeof(where.sun_path)] = '\0';
	assert_int_equal(try_open(longer), PCTL_E_IO);
	assert_int_equal(try_open(""), PCTL_E_IO);
	assert_int_equal(refused[0], PC6110_NODE_SOCKET);
	/* A file, a living node, and at last a socket that nobody listens on. */
	f = fopen(path, "w");
	fclose(f);
	forget();
	assert_int_equal(try_open(path), PCTL_E_IO);
	assert_int_equal(refused[0], PC6110_NODE_SOCKET);
	assert_int_equal(unlink(path), 0);
	start(0, 0);
	forget();
	assert_int_equal(try_open(path), PCTL_E_INVALID);
	assert_int_equal(refused[0], PC6111_NODE_TAKEN);
	assert_int_equal(access(path, F_OK), 0);
	finish();
	stop = 0;
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	strcpy(where.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&where, sizeof(where)), 0);
	close(fd);
	start(0, 0);
	fd = join();
	send_execute(fd, 2);
	EXPECT(fd, PCTL_MSG_EXECUTE, 2);
	close(fd);
	finish();
}

static void test_chain_node__stops_in_good_order(void **state)
{
	int fd;

	(void)state;
	start(0, 0);
	fd = join();
	for (uint64_t i = 0; i < 20; i++)
		send_execute(fd, 2);
	EXPECT(fd, PCTL_MSG_EXECUTE, 2);
	finish();
	assert_int_equal(story[n_story - 1], 'c');
	/* Everything that was served was answered. */
	for (uint64_t i = 1; i < served; i++)
		EXPECT(fd, PCTL_MSG_EXECUTE, 2);
	EXPECT(fd, 0, 0);
	close(fd);
}

#define WITH_DIR(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
PCTL_TESTS_MAIN(WITH_DIR(test_chain_node__answers_come_in_order_after_the_commit),
		WITH_DIR(test_chain_node__the_end_of_a_block_stands_alone),
		WITH_DIR(test_chain_node__trouble_answers_the_whole_batch),
		WITH_DIR(test_chain_node__bad_frames_end_what_is_out_of_step),
		WITH_DIR(test_chain_node__a_frame_may_come_byte_by_byte_but_not_for_ever),
		WITH_DIR(test_chain_node__who_never_reads_stops_nobody),
		WITH_DIR(test_chain_node__a_full_house_turns_away_or_takes_the_place_of_the_idle),
		WITH_DIR(test_chain_node__takes_the_path_of_a_dead_node_only),
		WITH_DIR(test_chain_node__stops_in_good_order))
