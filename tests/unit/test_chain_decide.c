/* Decided blocks: whole or absent, the same when they are asked for again; and what is only tried leaves no trace. */
#include "test_chain_block.h"

#include "chain/accounts/account.h"
#include "chain/engine/abci/making.h"
#include "chain/engine/abci/snapshots.h"
#include "chain/engine/check.h"
#include "chain/engine/decide.h"
#include "foundation/base/file.h"

/* A message of alice with this number, encoded and signed. */
static pctl_msg_bytes message(rig *r, const pctl_request *q, uint64_t number, pctl_arena *a)
{
	uint8_t id[PCTL_DIGEST_BYTES], *bytes;
	pctl_request own = *q;
	uint64_t n;

	OK(pctl_chain_id(pctl_cursor(r->chain), &call, id));
	own.auth = (pctl_msg_auth){
		.is_given = 1, .chain = {id, sizeof(id)}, .nonce = number, .expiry = 1000};
	OK(author_sign(NULL, r->chain, "alice", &own, a, &call));
	OK(pctl_request_encode(&own, &call, &bytes, &n));
	own.owner = pctl_arena_dup_n(a, (char *)bytes, n);
	free(bytes);
	return (pctl_msg_bytes){own.owner, n};
}

static pctl_msg_bytes transfer(rig *r, uint64_t amount, uint64_t number, pctl_arena *a)
{
	const pctl_request q = {.kind = PCTL_MSG_LEDGER,
				.as.ledger = {.sender = "alice",
					      .op = PCTL_LEDGER_TRANSFER,
					      .to = "bob",
					      .amount = amount}};

	return message(r, &q, number, a);
}

/* Of whole words, so that it is an input, too. */
static const char source[] = SHADER_TEXT "   ";

static pctl_msg_bytes upload(rig *r, uint64_t number, pctl_arena *a)
{
	const pctl_request q = {.kind = PCTL_MSG_UPLOAD,
				.as.upload = {.sender = "alice",
					      .source = (const uint8_t *)source,
					      .n_source = sizeof(source) - 1,
					      .description = "",
					      .implements = ""}};

	return message(r, &q, number, a);
}

static pctl_msg_bytes run(rig *r, uint64_t number, pctl_arena *a)
{
	const pctl_msg_binding binding = {0, 2, r->input};
	const pctl_request q = {.kind = PCTL_MSG_EXECUTE,
				.as.execute = {.sender = "alice",
					       .shader_cid = r->shader,
					       .input = r->input,
					       .dispatch = {8, 1, 1},
					       .gas_limit = 1000000,
					       .bindings = &binding,
					       .n_bindings = 1,
					       .uniform_cid = "",
					       .output_bytes = 32,
					       .entry = ""}};

	return message(r, &q, number, a);
}

/* As rig_begin_under, without a message: alice's gas is of genesis. */
typedef struct engine {
	rig r;
	pctl_decider *d;
	pctl_arena *a;
	char kept[80];
} engine;

static void open_decider(engine *e)
{
	OK(pctl_decider_open(e->r.chain, e->kept, &call, &e->d));
}

static void begin_in(engine *e, int on_disk)
{
	const pctl_request gas = {.kind = PCTL_MSG_LEDGER,
				  .as.ledger = {.sender = "alice",
						.op = PCTL_LEDGER_CREDIT,
						.to = "alice",
						.amount = 1000000000}};
	pctl_cid cid;
	rig *r = &e->r;
	char store[96];

	memset(e, 0, sizeof(*e));
	strcpy(r->dir, "/tmp/pctl-decide-XXXXXX");
	assert_non_null(mkdtemp(r->dir));
	snprintf(e->kept, sizeof(e->kept), "%s/decided", r->dir);
	snprintf(store, sizeof(store), "%s/store", r->dir);
	OK(on_disk ? pctl_store_open(store, 0, &call, &r->store)
		   : pctl_store_open_memory(&call, &r->store));
	r->kernels = pctl_kernels_create(NULL);
	pctl_params_default(&r->genesis);
	r->genesis.values[PCTL_PARAM_RULES] = 2;
	r->genesis.values[PCTL_PARAM_FEE_PPM] = 0;
	r->executor = (pctl_executor){.run = fake_run, .describe = fake_describe, .ctx = &r->fake};
	rig_open(r, 1);
	OK(pctl_chain_apply_genesis(r->chain, &gas, &call));
	author_begin(r->chain, 1, &call);
	OK(pctl_cid_of(source, sizeof(source) - 1, &call, &cid));
	pctl_cid_format(&cid, r->shader);
	/* Bytes that are state as soon as the shader is. */
	memcpy(r->input, r->shader, sizeof(r->input));
	e->a = pctl_arena_create();
	open_decider(e);
}

static void begin(engine *e)
{
	begin_in(e, 0);
}

static void finish(engine *e)
{
	pctl_decider_close(e->d);
	pctl_arena_destroy(e->a);
	rig_end(&e->r);
}

static void reopen(engine *e)
{
	pctl_decider_close(e->d);
	rig_close(&e->r);
	rig_open(&e->r, 1);
	open_decider(e);
}

static uint64_t last(const engine *e)
{
	return pctl_decider_last_of(e->d)->height;
}

static void test_chain_decide__whole_or_absent(void **state)
{
	engine e;
	uint8_t before[PCTL_DIGEST_BYTES], after[PCTL_DIGEST_BYTES], root[PCTL_DIGEST_BYTES];
	pctl_decided b;

	(void)state;
	begin(&e);
	{
		const pctl_msg_bytes m[] = {upload(&e.r, 0, e.a),
					    run(&e.r, 1, e.a),
					    {(const uint8_t *)"\xff\xff", 2},
					    transfer(&e.r, 5, 1, e.a),
					    transfer(&e.r, 5, 2, e.a)};

		state_root(&e.r, before);
		OK(pctl_decide(e.d, 1, m, 5, &call, &b));
		assert_int_equal(b.n_results, 5);
		assert_int_equal(b.results[0].code, 0);
		assert_int_equal(b.results[1].code, 0);
		assert_true(b.results[1].gas_wanted > 0);
		assert_int_equal(b.results[1].gas_used, b.results[1].gas_wanted);
		assert_int_equal(b.results[2].code, PC5781_MESSAGE_WIRE);
		assert_int_equal(b.results[3].code, PC5842_AUTH_NONCE);
		assert_int_equal(b.results[4].code, 0);
		memcpy(root, b.root, sizeof(root));
		/* Not committed: gone with the process. */
		assert_int_equal(last(&e), 0);
		reopen(&e);
		state_root(&e.r, after);
		assert_memory_equal(before, after, sizeof(before));
		assert_int_equal(last(&e), 0);
		assert_memory_equal(pctl_decider_last_of(e.d)->root, pctl_decider_chain(e.d), 32);
		/* Made again, to the bit. */
		OK(pctl_decide(e.d, 1, m, 5, &call, &b));
		assert_memory_equal(root, b.root, sizeof(root));
		OK(pctl_decide_commit(e.d, &call));
		assert_int_equal(last(&e), 1);
		FAILS(pctl_decide_commit(e.d, &call), PC6170_ENGINE_TURN);
		/* Done: the answer that was kept, also after a crash. */
		reopen(&e);
		assert_int_equal(last(&e), 1);
		assert_memory_equal(pctl_decider_last_of(e.d)->root, root, sizeof(root));
		OK(pctl_decide(e.d, 1, m, 5, &call, &b));
		assert_int_equal(b.n_results, 5);
		assert_int_equal(b.results[3].code, PC5842_AUTH_NONCE);
		assert_true(b.results[1].gas_used > 0 && b.results[1].data.n > 0);
		assert_memory_equal(root, b.root, sizeof(root));
		FAILS(pctl_decide(e.d, 1, m, 4, &call, &b), PC6167_DECIDE_OTHER);
		{
			/* As many messages, as long. */
			const pctl_msg_bytes other[] = {m[0], m[1], m[2], m[4], m[3]};

			assert_int_equal(m[3].n, m[4].n);
			FAILS(pctl_decide(e.d, 1, other, 5, &call, &b), PC6167_DECIDE_OTHER);
		}
		FAILS(pctl_decide(e.d, 3, m, 0, &call, &b), PC6166_DECIDE_HEIGHT);
		FAILS(pctl_decide(e.d, 0, m, 0, &call, &b), PC6166_DECIDE_HEIGHT);
	}
	finish(&e);
}

static void test_chain_decide__trouble_leaves_nothing(void **state)
{
	engine e;
	uint8_t before[PCTL_DIGEST_BYTES], after[PCTL_DIGEST_BYTES];
	pctl_decided b;

	(void)state;
	begin(&e);
	{
		const pctl_msg_bytes m[] = {upload(&e.r, 0, e.a), run(&e.r, 1, e.a)};

		state_root(&e.r, before);
		e.r.fake.trouble = PCTL_E_DEVICE_LOST;
		assert_int_equal(pctl_decide(e.d, 1, m, 2, &call, &b), PCTL_E_DEVICE_LOST);
		state_root(&e.r, after);
		assert_memory_equal(before, after, sizeof(before));
		e.r.fake.trouble = PCTL_OK;
		OK(pctl_decide(e.d, 1, m, 2, &call, &b));
		OK(pctl_decide_commit(e.d, &call));
	}
	finish(&e);
}

static void test_chain_decide__old_results_are_forgotten(void **state)
{
	engine e;
	pctl_decided b;

	(void)state;
	begin(&e);
	for (uint64_t h = 1; h <= PCTL_DECIDE_KEPT + 1; h++) {
		OK(pctl_decide(e.d, h, NULL, 0, &call, &b));
		OK(pctl_decide_commit(e.d, &call));
	}
	OK(pctl_decide(e.d, 2, NULL, 0, &call, &b));
	FAILS(pctl_decide(e.d, 1, NULL, 0, &call, &b), PC6168_DECIDE_FORGOTTEN);
	{
		char path[96];

		snprintf(path, sizeof(path), "%s/2", e.kept);
		OK(pctl_file_write(path, "\x08\x03", 2, 0, &call));
		FAILS(pctl_decide(e.d, 2, NULL, 0, &call, &b), PC6168_DECIDE_FORGOTTEN);
	}
	finish(&e);
}

static void test_chain_decide__what_is_tried_leaves_no_trace(void **state)
{
	engine e;
	uint8_t before[PCTL_DIGEST_BYTES], after[PCTL_DIGEST_BYTES];
	pctl_decided_result out;
	pctl_judgement j;
	pctl_decided b;
	uint32_t chosen[4], n;
	pctl_cid shader;
	pctl_checker *k;

	(void)state;
	begin(&e);
	OK(pctl_checker_open(&call, &k));
	assert_true(pctl_cid_parse(e.r.shader, &shader));
	{
		const pctl_msg_bytes m[] = {upload(&e.r, 0, e.a), run(&e.r, 1, e.a),
					    transfer(&e.r, 7, 2, e.a), transfer(&e.r, 8, 2, e.a)};

		state_root(&e.r, before);
		OK(pctl_check(k, e.r.chain, &m[0], &call, &out));
		assert_int_equal(out.code, 0);
		/* The sender's numbers go on; what it sent before is not there. */
		OK(pctl_check(k, e.r.chain, &m[0], &call, &out));
		assert_int_equal(out.code, PC5842_AUTH_NONCE);
		OK(pctl_check(k, e.r.chain, &m[1], &call, &out));
		assert_int_equal(out.code, 0);
		assert_int_equal(out.gas_wanted, 1000000);
		OK(pctl_decide_judge(e.d, 1, m, 3, &call, &j));
		assert_int_equal(j.code, 0);
		OK(pctl_decide_judge(e.d, 1, m, 4, &call, &j));
		assert_int_equal(j.code, PC5842_AUTH_NONCE);
		assert_int_equal(j.index, 3);
		OK(pctl_decide_judge(e.d, 2, m, 3, &call, &j));
		assert_int_equal(j.code, PC6166_DECIDE_HEIGHT);
		OK(pctl_decide_choose(e.d, m, 4, 1 << 20, &call, chosen, &n));
		assert_int_equal(n, 3);
		assert_int_equal(chosen[0], 0);
		assert_int_equal(chosen[1], 1);
		OK(pctl_decide_choose(e.d, m, 4, m[0].n + 5, &call, chosen, &n));
		assert_int_equal(n, 0);
		OK(pctl_decide_choose(e.d, m, 4, m[0].n + 6, &call, chosen, &n));
		assert_int_equal(n, 1);
		state_root(&e.r, after);
		assert_memory_equal(before, after, sizeof(before));
		assert_false(pctl_store_has(e.r.store, &shader));
		/* A block that waits stays as it is. */
		OK(pctl_decide(e.d, 1, m, 2, &call, &b));
		OK(pctl_check(k, e.r.chain, &m[2], &call, &out));
		assert_int_equal(out.code, 0);
		OK(pctl_decide_commit(e.d, &call));
		assert_true(pctl_store_has(e.r.store, &shader));
		OK(pctl_check(k, e.r.chain, &m[2], &call, &out));
		assert_int_equal(out.code, PC5842_AUTH_NONCE);
		OK(pctl_checker_forget(k, &call));
		OK(pctl_check(k, e.r.chain, &m[2], &call, &out));
		assert_int_equal(out.code, 0);
	}
	pctl_checker_close(k);
	finish(&e);
}

/* Who would not keep up says so of a proposal, and follows what was decided all the same. */
static void test_chain_decide__a_slow_node_says_so_before_it_votes(void **state)
{
	engine e;
	pctl_judgement j;
	pctl_decided b;

	(void)state;
	begin(&e);
	pctl_decider_close(e.d);
	pctl_chain_set_pace(e.r.chain, 170, 1); /* a job takes about a second */
	open_decider(&e);
	{
		pctl_msg_bytes m[25] = {upload(&e.r, 0, e.a)};

		for (uint32_t i = 1; i < 25; i++)
			m[i] = run(&e.r, i, e.a);
		OK(pctl_decide_judge(e.d, 1, m, 2, &call, &j));
		assert_int_equal(j.code, 0);
		OK(pctl_decide_judge(e.d, 1, m, 25, &call, &j));
		assert_int_equal(j.code, PC5868_BLOCK_PLAN);
		OK(pctl_decide(e.d, 1, m, 25, &call, &b));
		assert_int_equal(b.results[1].code, 0);
		OK(pctl_decide_commit(e.d, &call));
	}
	finish(&e);
}

static void test_chain_decide__the_open_block_is_the_engines(void **state)
{
	engine e;
	pctl_decider *second;
	pctl_decided b;
	rig old;

	(void)state;
	begin(&e);
	ledger(&e.r, "alice", PCTL_LEDGER_TRANSFER, "bob", 1);
	FAILS(pctl_decide(e.d, 1, NULL, 0, &call, &b), PC6165_ENGINE_OPEN);
	FAILS(pctl_decider_open(e.r.chain, e.kept, &call, &second), PC6165_ENGINE_OPEN);
	finish(&e);
	rig_begin(&old, 0, 0);
	(void)end(&old);
	FAILS(pctl_decider_open(old.chain, old.dir, &call, &second), PC6164_ENGINE_RULES);
	rig_end(&old);
}

/* One message, decided and committed. */
static void one_more(engine *e, pctl_msg_bytes m)
{
	pctl_decided b;

	OK(pctl_decide(e->d, last(e) + 1, &m, 1, &call, &b));
	assert_int_equal(b.results[0].code, 0);
	OK(pctl_decide_commit(e->d, &call));
}

/* Blocks are made while it is, and it is of none of them. */
static void test_chain_decide__a_snapshot_is_of_its_moment(void **state)
{
	pctl_abci_snapshot found[PCTL_ABCI_SNAPSHOTS_KEPT];
	pctl_abci_making *m;
	pctl_abci what = {.due = 1};
	char dir[96];
	uint32_t n;
	engine e;

	(void)state;
	begin_in(&e, 1);
	snprintf(dir, sizeof(dir), "%s/snapshots", e.r.dir);
	what.snapshots = dir;
	what.chain = e.r.chain;
	OK(pctl_abci_making_open(&call, &m));
	assert_int_equal(pctl_abci_making_ended(m, 1), 0);
	one_more(&e, upload(&e.r, 0, e.a));
	for (uint64_t first = 1; first < 6; first += 2) {
		what.due = first;
		pctl_abci_making_begin(m, &what, &call);
		assert_int_equal(what.due, 0);
		assert_true(pctl_abci_making_is_busy(m));
		one_more(&e, transfer(&e.r, 1, first, e.a));
		one_more(&e, transfer(&e.r, 2, first + 1, e.a));
		assert_int_equal(pctl_abci_making_ended(m, 1), 1);
		assert_false(pctl_abci_making_is_busy(m));
		OK(pctl_abci_snapshot_list(dir, e.a, &call, found, &n));
		assert_int_equal(n, first == 1 ? 1 : 2);
		assert_int_equal(found[0].height, first);
	}
	/* Left alone it is waited for. */
	what.due = 7;
	pctl_abci_making_begin(m, &what, &call);
	pctl_abci_making_close(m);
	OK(pctl_abci_snapshot_list(dir, e.a, &call, found, &n));
	assert_int_equal(found[0].height, 7);
	finish(&e);
}

/* A block that became final before the first byte of it was written is not in it. */
static void test_chain_decide__a_moment_is_held(void **state)
{
	pctl_abci_snapshot found[PCTL_ABCI_SNAPSHOTS_KEPT];
	pctl_store *store;
	pctl_chain *c;
	char dir[96];
	uint32_t n;
	engine e;

	(void)state;
	begin_in(&e, 1);
	snprintf(dir, sizeof(dir), "%s/snapshots", e.r.dir);
	one_more(&e, upload(&e.r, 0, e.a));
	OK(pctl_chain_open_apart(e.r.chain, &call, &c, &store));
	OK(pctl_chain_moment_begin(pctl_cursor(c), &call));
	one_more(&e, transfer(&e.r, 1, 1, e.a));
	OK(pctl_abci_snapshot_make(c, dir, &call));
	OK(pctl_abci_snapshot_list(dir, e.a, &call, found, &n));
	assert_int_equal(n, 1);
	assert_int_equal(found[0].height, 1);
	pctl_chain_moment_end(pctl_cursor(c));
	pctl_chain_close(c);
	pctl_store_close(store);
	finish(&e);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_decide__whole_or_absent),
		PCTL_TEST(test_chain_decide__trouble_leaves_nothing),
		PCTL_TEST(test_chain_decide__old_results_are_forgotten),
		PCTL_TEST(test_chain_decide__what_is_tried_leaves_no_trace),
		PCTL_TEST(test_chain_decide__a_slow_node_says_so_before_it_votes),
		PCTL_TEST(test_chain_decide__the_open_block_is_the_engines),
		PCTL_TEST(test_chain_decide__a_snapshot_is_of_its_moment),
		PCTL_TEST(test_chain_decide__a_moment_is_held))
