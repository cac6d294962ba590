/* How often a message is checked and packed on its way into the queue: counted at the check of requests and at the one
 * function that packs, both behind the linker's --wrap (tests/CMakeLists.txt). */
#include "test_chain_block.h"

#include <messages.pb-c.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "chain/node/frame.h"
#include "chain/node/node_chain.h"
#include "chain/replay/replay.h"
#include "chain/replay/verify.h"

/* ---- counting ------------------------------------------------------------------------------ */

static atomic_uint checks, packs; /* of requests */

pctl_status __real_pctl_request_check(const pctl_request *r, const pctl_call *c);
pctl_status __wrap_pctl_request_check(const pctl_request *r, const pctl_call *c);
size_t __real_protobuf_c_message_pack(const ProtobufCMessage *m, uint8_t *out);
size_t __wrap_protobuf_c_message_pack(const ProtobufCMessage *m, uint8_t *out);

pctl_status __wrap_pctl_request_check(const pctl_request *r, const pctl_call *c)
{
	checks++;
	return __real_pctl_request_check(r, c);
}

size_t __wrap_protobuf_c_message_pack(const ProtobufCMessage *m, uint8_t *out)
{
	packs += m->descriptor == &gpu__request__descriptor ||
		 m->descriptor == &gpu__msg_gpu_execute__descriptor;
	return __real_protobuf_c_message_pack(m, out);
}

static void count_anew(void)
{
	checks = packs = 0;
}

#define COUNTED(n_checks, n_packs)                  \
	do {                                        \
		assert_int_equal(checks, n_checks); \
		assert_int_equal(packs, n_packs);   \
		count_anew();                       \
	} while (0)

/* ---- messages ------------------------------------------------------------------------------ */

static pctl_request job_of(const rig *r, pctl_msg_binding *b)
{
	*b = (pctl_msg_binding){0, 2, r->input};
	return (pctl_request){.kind = PCTL_MSG_EXECUTE,
			      .as.execute = {.sender = "alice",
					     .shader_cid = r->shader,
					     .input = r->input,
					     .dispatch = {8, 1, 1},
					     .gas_limit = 10000000,
					     .bindings = b,
					     .n_bindings = 1,
					     .uniform_cid = "",
					     .output_bytes = 32,
					     .entry = ""}};
}

/* ---- a node over the chain ----------------------------------------------------------------- */

static char path[128];
static pctl_node *node;
static pthread_t thread;
static atomic_int is_ended;
static pctl_node_service chain_service;
static int loses_bytes;

static uint32_t is_stopped(void *ctx)
{
	(void)ctx;
	return (uint32_t)is_ended;
}

static const pctl_call node_call = {.head = PCTL_HEAD(pctl_call), .cancelled = is_stopped};

/* Planted: the request goes on without the bytes beside it. */
static pctl_status serve(void *ctx, const pctl_request *r, const pctl_call *c, pctl_response *out)
{
	pctl_request bare = *r;

	bare.owner = NULL;
	return chain_service.serve(ctx, loses_bytes ? &bare : r, c, out);
}

static void *run_node(void *unused)
{
	(void)unused;
	(void)pctl_node_run(node, &node_call);
	return NULL;
}

static int start_node(rig *r)
{
	const pctl_node_options o = {.path = path};
	struct sockaddr_un where = {.sun_family = AF_UNIX};
	static pctl_node_service service; /* the node keeps the pointer */
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(path, sizeof(path), "%s/socket", r->dir);
	strcpy(where.sun_path, path);
	is_ended = 0;
	chain_service = pctl_node_service_of(r->chain);
	service = chain_service;
	service.serve = serve;
	OK(pctl_node_open(&o, &service, &call, &node));
	assert_int_equal(pthread_create(&thread, NULL, run_node, NULL), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&where, sizeof(where)), 0);
	return fd;
}

static void stop_node(int fd)
{
	close(fd);
	is_ended = 1;
	pthread_join(thread, NULL);
	pctl_node_close(node);
}

/* Bytes that a client packed go in; a response of kind EXECUTE comes out. */
static void ask_node(int fd, const uint8_t *bytes, uint64_t n)
{
	pctl_response answer;
	uint8_t *back = NULL;
	uint32_t n_back = 0;

	OK(pctl_frame_send(fd, bytes, (uint32_t)n, 5000, &call));
	OK(pctl_frame_receive(fd, 5000, &call, &back, &n_back));
	OK(pctl_response_decode(back, n_back, &call, &answer));
	assert_int_equal(answer.kind, PCTL_MSG_EXECUTE);
	pctl_response_destroy(&answer);
	free(back);
}

/* ---- tests --------------------------------------------------------------------------------- */

/* What `job submit` does: the one packing is the sender's. */
static void test_chain_message_once__made_by_hand_it_is_checked_and_packed_once(void **state)
{
	pctl_msg_binding b;
	pctl_request q;
	rig r;

	(void)state;
	rig_begin(&r, 0, 0);
	q = job_of(&r, &b);
	count_anew();
	OK(pctl_chain_apply(r.chain, &q, &call, NULL));
	COUNTED(1, 1);
	rig_end(&r);
}

/* A refusal that is kept as a job goes the same way. */
static void test_chain_message_once__a_charged_refusal_too(void **state)
{
	pctl_msg_binding b;
	pctl_request q;
	rig r;

	(void)state;
	rig_begin_under(&r, 2, 0, 0);
	q = job_of(&r, &b);
	q.as.execute.gas_limit = 1;
	count_anew();
	FAILS(pctl_chain_apply(r.chain, &q, &call, NULL), PC5818_JOB_GAS);
	assert_non_null(strstr(last_text, "the refusal costs 1 gas"));
	/* Once to be signed, by the author, and once with the signature. */
	COUNTED(2, 2);
	rig_end(&r);
}

static void test_chain_message_once__by_a_node_it_is_checked_once_and_never_packed(void **state)
{
	pctl_msg_binding b;
	pctl_request q;
	uint8_t *bytes;
	uint64_t n;
	rig r;
	int fd;

	(void)state;
	rig_begin(&r, 0, 0);
	q = job_of(&r, &b);
	OK(pctl_request_encode(&q, &call, &bytes, &n));
	fd = start_node(&r);
	loses_bytes = 0;
	count_anew();
	ask_node(fd, bytes, n);
	COUNTED(1, 0);
	/* A service that hands on the message without its bytes is seen. */
	loses_bytes = 1;
	ask_node(fd, bytes, n);
	COUNTED(2, 1);
	stop_node(fd);
	free(bytes);
	rig_end(&r);
}

/* A block is ended and made again. Each message is read twice from the rows of the open block, for the choice of jobs
 * and for the manifest, and rows of a file are checked where they are read; nothing is packed. */
static void test_chain_message_once__blocks_and_replays_pack_nothing(void **state)
{
	enum { N_JOBS = 3, N_MESSAGES = N_JOBS + 2 /* credit, upload */ };
	pctl_replay_report report;
	pctl_history *h = NULL;
	pctl_block_row row;
	pctl_msg_binding b;
	pctl_request q;
	rig r, again;

	(void)state;
	rig_begin(&r, 0, 0);
	q = job_of(&r, &b);
	for (uint32_t i = 0; i < N_JOBS; i++)
		OK(pctl_chain_apply(r.chain, &q, &call, NULL));
	count_anew();
	row = end(&r);
	COUNTED(N_JOBS + N_MESSAGES, 0);
	OK(pctl_history_open(pctl_chain_log(r.chain), &row.commit, &call, &h));
	again = r;
	again.in_memory = 1;
	rig_open(&again, 1);
	count_anew();
	OK(pctl_replay(again.chain, h,
		       &(pctl_chain_replay_options){.to = 1, .run_from = UINT64_MAX, .check = 1},
		       &call, &report));
	assert_int_equal(report.messages, N_MESSAGES);
	COUNTED(N_MESSAGES /* taken in */ + N_JOBS + N_MESSAGES, 0);
	pctl_history_close(h);
	rig_close(&again);
	rig_end(&r);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_message_once__made_by_hand_it_is_checked_and_packed_once),
		PCTL_TEST(test_chain_message_once__a_charged_refusal_too),
		PCTL_TEST(test_chain_message_once__by_a_node_it_is_checked_once_and_never_packed),
		PCTL_TEST(test_chain_message_once__blocks_and_replays_pack_nothing))
