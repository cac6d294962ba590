/* How often a message is checked, packed and its signature computed on its way into the queue, and how often anything is synced for
 * it: counted at the check of requests and at the one function that packs, both behind the linker's --wrap
 * (tests/CMakeLists.txt), by what is kept of signatures, and at fsync, which stands in this program before the C library's. */
#include "test_chain_block.h"

#include <messages.pb-c.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "chain/accounts/account.h"
#include "chain/accounts/verify.h"
#include "chain/chain_private.h"
#include "chain/node/frame.h"
#include "chain/node/node_chain.h"
#include "chain/replay/replay.h"
#include "chain/replay/verify.h"

/* ---- counting ------------------------------------------------------------------------------ */

static atomic_uint checks, packs; /* of requests */
static atomic_uint syncs;

/* SQLite's and the store's: the libraries find these first. */
#define VISIBLE __attribute__((visibility("default")))
VISIBLE int fsync(int fd)
{
	syncs++;
	return (int)syscall(SYS_fsync, fd);
}

VISIBLE int fdatasync(int fd)
{
	syncs++;
	return (int)syscall(SYS_fdatasync, fd);
}

VISIBLE int syncfs(int fd)
{
	syncs++;
	return (int)syscall(SYS_syncfs, fd);
}

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

/* A block is ended and made again. Each job is read once from the rows of the open block, for the choice of jobs; the manifest takes
 * it from there. Rows of a file are checked where they are read; nothing is packed. */
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
	COUNTED(N_JOBS, 0);
	OK(pctl_history_open(pctl_chain_log(r.chain), &row.commit, &call, &h));
	again = r;
	again.in_memory = 1;
	rig_open(&again, 1);
	count_anew();
	OK(pctl_replay(again.chain, h,
		       &(pctl_chain_replay_options){.to = 1, .run_from = UINT64_MAX, .check = 1},
		       &call, &report));
	assert_int_equal(report.messages, N_MESSAGES);
	COUNTED(N_MESSAGES /* taken in */ + N_JOBS, 0);
	pctl_history_close(h);
	rig_close(&again);
	rig_end(&r);
}

/* ---- signatures ---------------------------------------------------------------------------- */

typedef struct signed_job {
	uint8_t *bytes;
	uint64_t n;
} signed_job;

static uint64_t sequence_of(const rig *r, const char *name)
{
	sqlite3_stmt *stmt;
	uint64_t n;

	assert_int_equal(sqlite3_prepare_v2(pctl_chain_db(pctl_cursor(r->chain)),
					    "SELECT sequence FROM main.accounts WHERE name = ?", -1,
					    &stmt, NULL),
			 SQLITE_OK);
	sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	n = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return n;
}

/* The `more`th job of alice behind what she has sent. */
static signed_job sign_job(const rig *r, uint64_t more)
{
	pctl_arena *a = pctl_arena_create();
	uint8_t id[PCTL_DIGEST_BYTES];
	signed_job out = {NULL, 0};
	pctl_msg_binding b;
	pctl_request q = job_of(r, &b);

	OK(pctl_chain_id(pctl_cursor(r->chain), &call, id));
	q.auth = (pctl_msg_auth){.is_given = 1,
				 .chain = {id, sizeof(id)},
				 .nonce = sequence_of(r, "alice") + more,
				 .expiry = 100};
	OK(author_sign(NULL, r->chain, "alice", &q, a, &call));
	OK(pctl_request_encode(&q, &call, &out.bytes, &out.n));
	pctl_arena_destroy(a);
	return out;
}

static uint32_t take_bytes(const rig *r, const signed_job *j)
{
	pctl_response got = {.kind = 0};
	uint64_t paid;
	uint32_t code;

	OK(pctl_chain_take_bytes(r->chain, j->bytes, j->n, &call, &paid, &got));
	code = got.kind == PCTL_MSG_ERROR ? got.as.error.code : 0;
	pctl_response_destroy(&got);
	return code;
}

#define COMPUTED(r, n_computed)                                                           \
	do {                                                                              \
		const uint64_t now_ = pctl_verified_count((r)->chain->verified).computed; \
		assert_int_equal(now_ - computed, n_computed);                            \
		computed = now_;                                                          \
	} while (0)

/* Tried for a mempool, tried for a proposal, judged, decided: one computation; and through a node, where it is ahead. */
static void test_chain_message_once__a_signature_is_computed_once(void **state)
{
	uint64_t computed;
	signed_job j;
	rig r;
	int fd;

	(void)state;
	rig_begin_under(&r, 2, 0, 0);
	computed = pctl_verified_count(r.chain->verified).computed;
	j = sign_job(&r, 0);
	for (uint32_t i = 0; i < 3; i++) {
		OK(pctl_chain_attempt_begin(r.chain, &call));
		assert_int_equal(take_bytes(&r, &j), 0);
		OK(pctl_chain_attempt_end(r.chain, &call));
	}
	COMPUTED(&r, 1);
	assert_int_equal(take_bytes(&r, &j), 0);
	COMPUTED(&r, 0);
	free(j.bytes);
	j = sign_job(&r, 0);
	loses_bytes = 0;
	fd = start_node(&r);
	count_anew();
	ask_node(fd, j.bytes, j.n);
	COUNTED(1, 0);
	COMPUTED(&r, 1);
	stop_node(fd);
	free(j.bytes);
	/* A block computes none. */
	(void)end(&r);
	COMPUTED(&r, 0);
	rig_end(&r);
}

/* What is known is known of all bytes: each bit of the signature and of what stands beside it makes another message of it, and of
 * one that was refused nothing is kept. */
static void test_chain_message_once__what_is_known_is_no_way_around(void **state)
{
	static const uint8_t small_r[32] = {1};
	uint64_t computed;
	signed_job j;
	uint32_t n_refused = 0;
	rig r;

	(void)state;
	rig_begin_under(&r, 2, 0, 0);
	j = sign_job(&r, 0);
	OK(pctl_chain_attempt_begin(r.chain, &call));
	assert_int_equal(take_bytes(&r, &j), 0);
	OK(pctl_chain_attempt_end(r.chain, &call));
	computed = pctl_verified_count(r.chain->verified).computed;
	for (uint64_t at = 0; at < j.n; at++) {
		j.bytes[at] ^= 1;
		/* Twice: the first refusal leaves nothing that helps the second. */
		for (uint32_t again = 0; again < 2; again++) {
			const uint32_t code = take_bytes(&r, &j);

			assert_int_not_equal(code, 0);
			n_refused += code == PC5845_AUTH_SIGNATURE;
		}
		j.bytes[at] ^= 1;
	}
	/* Every bit of R and S, at least, came as far as the signature. */
	assert_true(n_refused >= 2 * 64);
	COMPUTED(&r, n_refused);
	/* R of small order, whatever the equation says. */
	for (uint64_t at = 0; at + 64 <= j.n; at++) {
		uint8_t kept[32];

		memcpy(kept, j.bytes + at, 32);
		memcpy(j.bytes + at, small_r, 32);
		assert_int_not_equal(take_bytes(&r, &j), 0);
		memcpy(j.bytes + at, kept, 32);
	}
	assert_int_equal(take_bytes(&r, &j), 0);
	free(j.bytes);
	rig_end(&r);
}

/* ---- what is made durable ------------------------------------------------------------------ */

typedef struct copying {
	pctl_store *from, *to;
} copying;

static int copy_blob(void *ctx, const pctl_cid *cid, uint64_t n)
{
	const copying *c = ctx;
	pctl_blob b;

	(void)n;
	OK(pctl_store_get(c->from, cid, &call, &b));
	OK(pctl_store_put(c->to, b.data, b.n_bytes, &call, NULL));
	pctl_blob_release(&b);
	return 0;
}

/* The chain's bytes lie in its folder from now on. */
static pctl_store *move_store(const rig *r)
{
	copying c = {.from = r->store};
	char folder[256];

	snprintf(folder, sizeof(folder), "%s/store", r->dir);
	OK(pctl_store_open(folder, 0, &call, &c.to));
	OK(pctl_store_list(c.from, &call, copy_blob, &c));
	r->chain->store = c.to;
	return c.to;
}

/* A batch of many messages and a block of many jobs sync as often as those of few. */
static void test_chain_message_once__nothing_is_synced_for_one_message(void **state)
{
	uint32_t of_batch[2], of_block[2];

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		const uint32_t n = i == 0 ? 2 : 40;
		pctl_store *store;
		rig r;

		rig_begin_under(&r, 2, 0, 0);
		store = move_store(&r);
		syncs = 0;
		OK(pctl_chain_batch_begin(r.chain, &call));
		for (uint32_t k = 0; k < n; k++) {
			const uint8_t data[4] = {(uint8_t)k, 1, 2, 3};
			const pctl_request blob = {.kind = PCTL_MSG_BLOB,
						   .as.blob = {"alice", data, sizeof(data), 5}};
			signed_job j;

			OK(pctl_chain_apply(r.chain, &blob, &call, NULL));
			j = sign_job(&r, 0);
			assert_int_equal(take_bytes(&r, &j), 0);
			free(j.bytes);
		}
		OK(pctl_chain_batch_commit(r.chain, &call));
		of_batch[i] = syncs;
		syncs = 0;
		(void)end(&r);
		of_block[i] = syncs;
		rig_end(&r);
		pctl_store_close(store);
	}
	assert_int_not_equal(of_batch[0], 0);
	assert_int_equal(of_batch[1], of_batch[0]);
	assert_int_not_equal(of_block[0], 0);
	assert_int_equal(of_block[1], of_block[0]);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_message_once__made_by_hand_it_is_checked_and_packed_once),
		PCTL_TEST(test_chain_message_once__a_charged_refusal_too),
		PCTL_TEST(test_chain_message_once__by_a_node_it_is_checked_once_and_never_packed),
		PCTL_TEST(test_chain_message_once__blocks_and_replays_pack_nothing),
		PCTL_TEST(test_chain_message_once__a_signature_is_computed_once),
		PCTL_TEST(test_chain_message_once__what_is_known_is_no_way_around),
		PCTL_TEST(test_chain_message_once__nothing_is_synced_for_one_message))
