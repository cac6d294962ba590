/* Bytes that are state from version 2 of the rules on: who pays for them, how long they stay, who may name them, and where a node gets
 * those that it lacks. */
#define JOB_LIMIT 400000 /* under version 2 of the rules */
#include "test_chain_submit.h"

#include "chain/state/cursor.h"
#include "foundation/base/arena.h"

static const uint8_t bytes[2000] = {1};

static rig version_2(uint64_t blob_bytes, uint64_t memory)
{
	pctl_params p;

	pctl_params_default(&p);
	p.values[PCTL_PARAM_RULES] = 2;
	p.values[PCTL_PARAM_FEE_PPM] = 0;
	p.values[PCTL_PARAM_BLOB_BYTES_MAX] = blob_bytes;
	p.values[PCTL_PARAM_JOB_MEMORY_MAX] = memory;
	p.values[PCTL_PARAM_BLOB_BLOCKS_MAX] = 5000;
	return start(&p);
}

static uint64_t number(rig *g, const char *sql, const char *cid)
{
	sqlite3_stmt *stmt = NULL;
	uint64_t n = UINT64_MAX;
	int more = 0;

	assert_int_equal(pctl_cursor_open(pctl_cursor(g->chain), &call, &stmt, sql, "t", cid),
			 PCTL_OK);
	assert_int_equal(pctl_cursor_next(pctl_cursor(g->chain), stmt, &call, &more), PCTL_OK);
	if (more)
		n = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return n;
}

static uint64_t balance(rig *g)
{
	pctl_ledger_account a;

	assert_int_equal(pctl_ledger_account_read(pctl_cursor(g->chain), "ann", &call, &a),
			 PCTL_OK);
	return a.balance;
}

static void end(rig *g)
{
	const pctl_request r = {.kind = PCTL_MSG_BLOCK_END, .as.block = {.executor = ""}};

	forget();
	if (pctl_chain_end_block(g->chain, &r, &call, NULL) != PCTL_OK)
		fail_msg("%s", words);
}

static void cid_of(const void *data, uint64_t n, char out[PCTL_CID_TEXT_SIZE])
{
	pctl_cid cid;

	assert_int_equal(pctl_cid_of(data, n, &call, &cid), PCTL_OK);
	pctl_cid_format(&cid, out);
}

static void test_chain_data__a_blob_is_paid_for_and_bounded(void **state)
{
	rig g = version_2(2000, 1 << 20);
	pctl_request r = blob_of("ann", bytes, 1500);
	pctl_ledger_totals before, after;
	char cid[PCTL_CID_TEXT_SIZE];
	uint64_t had = balance(&g);

	(void)state;
	cid_of(bytes, 1500, cid);
	assert_int_equal(pctl_ledger_totals_read(pctl_cursor(g.chain), &call, &before), PCTL_OK);
	r.as.blob.blocks = 1025;
	accepted(&g, &r);
	/* 1500 bytes, and 16 for each of two started KiB in each of two started 1024 blocks; burned. */
	assert_int_equal(had - balance(&g), 1500 + 16 * 2 * 2);
	assert_int_equal(pctl_ledger_totals_read(pctl_cursor(g.chain), &call, &after), PCTL_OK);
	assert_int_equal(after.burned - before.burned, 1564);
	assert_int_equal(pctl_ledger_check(pctl_cursor(g.chain), &call), PCTL_OK);
	assert_int_equal(number(&g, "SELECT bytes FROM blobs WHERE cid = ?", cid), 1500);
	assert_int_equal(number(&g, "SELECT expiry FROM blobs WHERE cid = ?", cid), 1026);
	refused_with(&g, &r, PC5837_DATA_BLOCK); /* once a block */
	r = blob_of("ann", bytes, 2001 - 1);
	r.as.blob.blocks = 5001;
	refused_with(&g, &r, PC5836_DATA_SIZE);
	r.as.blob.blocks = 0;
	refused_with(&g, &r, PC5784_MESSAGE_MISSING);
	r = blob_of("ann", "", 0);
	refused_with(&g, &r, PC5784_MESSAGE_MISSING);
	r = blob_of("zoe", bytes, 10);
	refused_with(&g, &r, PC5714_LEDGER_ACCOUNT);
	stop(&g);
	g = version_2(1000, 1 << 20);
	r = blob_of("ann", bytes, 1001);
	refused_with(&g, &r, PC5836_DATA_SIZE);
	r = ledger_of(PCTL_LEDGER_TRANSFER, "ann", "bob", balance(&g) - 100);
	accepted(&g, &r);
	r = blob_of("ann", bytes, 1000);
	refused_with(&g, &r, PC5713_LEDGER_FUNDS);
	stop(&g);
	/* Version 1 has none. */
	g = start_default();
	r = blob_of("ann", bytes, 10);
	refused_with(&g, &r, PC5840_AUTH_MISSING);
	stop(&g);
}

static void test_chain_data__a_blob_expires_and_is_renewed(void **state)
{
	rig g = version_2(2000, 1 << 20);
	pctl_request r = blob_of("ann", bytes, 32), job;
	pctl_msg_binding b;
	char cid[PCTL_CID_TEXT_SIZE];

	(void)state;
	cid_of(bytes, 32, cid);
	r.as.blob.blocks = 1;
	accepted(&g, &r);
	end(&g); /* 1 */
	job = job_of(&g, &b);
	job.as.execute.input = cid;
	accepted(&g, &job); /* height 2, the last */
	{
		const pctl_request cancel = {.kind = PCTL_MSG_CANCEL, .as.cancel = {"ann", g.job}};

		accepted(&g, &cancel);
	}
	end(&g); /* 2 */
	/* The state has it still, for disputes; nobody may name it. */
	assert_int_equal(number(&g, "SELECT count(*) FROM blobs WHERE cid = ?", cid), 1);
	refused_with(&g, &job, PC5834_DATA_MISSING);
	accepted(&g, &r);
	end(&g); /* 3 */
	r.as.blob.blocks = 7;
	accepted(&g, &r);
	assert_int_equal(number(&g, "SELECT expiry FROM blobs WHERE cid = ?", cid), 11);
	accepted(&g, &job);
	stop(&g);
}

static void test_chain_data__a_job_names_what_is_state(void **state)
{
	rig g = version_2(2000, 1 << 20);
	pctl_request r;
	pctl_msg_binding b;
	char cid[PCTL_CID_TEXT_SIZE], empty[PCTL_CID_TEXT_SIZE];

	(void)state;
	put(&g, bytes, 64, cid); /* of this node's store alone */
	cid_of("", 0, empty);
	r = job_of(&g, &b);
	r.as.execute.input = cid;
	refused_with(&g, &r, PC5834_DATA_MISSING);
	r = job_of(&g, &b);
	r.as.execute.uniform_cid = cid;
	refused_with(&g, &r, PC5834_DATA_MISSING);
	r = job_of(&g, &b);
	b.cid = cid;
	refused_with(&g, &r, PC5834_DATA_MISSING);
	r = job_of(&g, &b);
	r.as.execute.input = empty; /* the bytes of no length are everybody's */
	accepted(&g, &r);
	r = job_of(&g, &b);
	r.as.execute.dispatch[1] = 0;
	refused_with(&g, &r, PC5866_JOB_EMPTY);
	stop(&g);
}

static void test_chain_data__memory_is_computed(void **state)
{
	static const char wide[] =
		"@group(0) @binding(0) var<storage, read> a: array<u32>;\n"
		"@group(1) @binding(0) var<storage, read_write> o: array<u32>;\n"
		"var<private> p: array<u32, 64>;\nvar<workgroup> w: array<u32, 256>;\n"
		"@compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: "
		"vec3<u32>, "
		"@builtin(local_invocation_index) l: u32) {\n"
		"  p[l & 63u] = a[id.x]; w[l] = p[(l + 1u) & 63u]; o[id.x] = w[l];\n}\n";
	/* 32 bytes in, 1 MiB out, 256 * 256 bytes of private memory, 1024 of the workgroup's. */
	const uint64_t need = 32 + (1 << 20) + 256 * 256 + 1024;
	rig g = version_2(2000, need);
	pctl_request r = upload_of("ann", wide), job;
	pctl_msg_binding b;
	char shader[PCTL_CID_TEXT_SIZE];

	(void)state;
	cid_of(wide, sizeof(wide) - 1, shader);
	accepted(&g, &r);
	job = job_of(&g, &b);
	job.as.execute.shader_cid = shader;
	job.as.execute.uniform_cid = "";
	job.as.execute.n_bindings = 0;
	job.as.execute.gas_limit = 900000;
	job.as.execute.output_bytes = 1 << 20;
	accepted(&g, &job);
	stop(&g);
	g = version_2(2000, need - 1);
	accepted(&g, &r);
	forget();
	assert_int_not_equal(take(&g, &job), PCTL_OK);
	assert_int_equal(refused[0], PC5867_JOB_MEMORY);
	/* It is charged as other refusals are. */
	assert_non_null(strstr(words, "the refusal costs"));
	stop(&g);
}

/* Another node, as a store of its own. */
typedef struct other {
	pctl_store *store;
	uint32_t asked;
} other;

static pctl_status fetch(void *ctx, const pctl_cid *cid, pctl_store *store, const pctl_call *on)
{
	other *o = ctx;
	pctl_blob blob;
	pctl_status status = pctl_store_get(o->store, cid, on, &blob);

	o->asked++;
	if (status != PCTL_OK)
		return status;
	status = pctl_store_put(store, blob.data, blob.n_bytes, on, NULL);
	pctl_blob_release(&blob);
	return status;
}

static void test_chain_data__what_a_node_lacks_it_asks_for(void **state)
{
	pctl_params p;
	rig g, empty;
	other o = {.asked = 0};
	const pctl_chain_source *source;

	(void)state;
	pctl_params_default(&p);
	p.values[PCTL_PARAM_RULES] = 2;
	p.values[PCTL_PARAM_FEE_PPM] = 0;
	g = start(&p);
	empty = not_begun(&p);
	o.store = g.store;
	/* The state knows nothing of either; that it is state was asked before. */
	forget();
	assert_int_equal(pctl_chain_source_of(empty.chain, g.shader, &call, &source), PCTL_E_STORE);
	assert_int_equal(refused[0], PC5838_DATA_LACKING);
	pctl_chain_set_fetch(empty.chain, fetch, &o);
	assert_int_equal(pctl_chain_source_of(empty.chain, g.shader, &call, &source), PCTL_OK);
	assert_int_equal(source->n_text, sizeof(SHADER) - 1);
	assert_int_equal(o.asked, 1);
	stop(&empty);
	stop(&g);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_data__a_blob_is_paid_for_and_bounded),
		PCTL_TEST(test_chain_data__a_blob_expires_and_is_renewed),
		PCTL_TEST(test_chain_data__a_job_names_what_is_state),
		PCTL_TEST(test_chain_data__memory_is_computed),
		PCTL_TEST(test_chain_data__what_a_node_lacks_it_asks_for))
