/* What messages pay from version 2 of the rules on: each kind, taken in and refused, to the unit, by the schedule; who has less; whose
 * messages are free. */
#include "test_chain_submit.h"

#include "runtime/gas/gas.h"

#define RICH 1000000000000ull
#define NONE64 "1111111111111111111111111111111111111111111111111111111111111111"
#define NO_CID "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku" /* of no bytes */
#define KERNEL                                                                                  \
	"@group(0) @binding(0) var<storage, read> a: array<u32>;\n"                             \
	"@group(1) @binding(0) var<storage, read_write> o: array<u32>;\n"                       \
	"@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n" \
	"  o[id.x] = a[id.x] + 1u;\n}\n"

static const uint8_t data[32] = {1};

static rig begin(uint64_t fee_ppm)
{
	const pctl_request funds[] = {ledger_of(PCTL_LEDGER_CREDIT, "bank", "ann", RICH),
				      ledger_of(PCTL_LEDGER_CREDIT, "bank", "bob", RICH),
				      ledger_of(PCTL_LEDGER_CREDIT, "bank", "zoe", 1)};
	pctl_params p;
	rig g;

	pctl_params_default(&p);
	p.values[PCTL_PARAM_RULES] = 2;
	p.values[PCTL_PARAM_FEE_PPM] = fee_ppm;
	g = not_begun(&p);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(pctl_chain_apply_genesis(g.chain, &funds[i], &call), PCTL_OK);
	author_begin(g.chain, 1, &call);
	return g;
}

static pctl_gas_schedule *prices(void)
{
	pctl_gas_schedule *s = NULL;

	assert_int_equal(
		pctl_gas_schedule_read(PIPECTL_SOURCE_DIR "/conf/gas/consensus-2.cfg", NULL, &s),
		PCTL_OK);
	return s;
}

static uint64_t refusal(void)
{
	pctl_gas_schedule *s = prices();
	uint64_t out;

	assert_int_equal(pctl_gas_refusal(s, NULL, &out), PCTL_OK);
	pctl_gas_schedule_destroy(s);
	return out;
}

static uint64_t build(uint64_t instructions)
{
	pctl_gas_schedule *s = prices();
	uint64_t out;

	assert_int_equal(pctl_gas_build(s, 1, instructions, NULL, &out), PCTL_OK);
	pctl_gas_schedule_destroy(s);
	return out;
}

static pctl_ledger_account of(rig *g, const char *name)
{
	pctl_ledger_account a;

	assert_int_equal(pctl_ledger_account_read(pctl_cursor(g->chain), name, &call, &a), PCTL_OK);
	return a;
}

/* What the sender has less of, beyond what the message itself moved; *bytes: of the message as it was signed. */
static uint64_t paid(rig *g, const pctl_request *r, const char *sender, int ok)
{
	const uint64_t before = of(g, sender).balance;
	pctl_status status;

	forget();
	status = take(g, r);
	if ((status == PCTL_OK) != ok)
		fail_msg("kind %u: %s", r->kind, words);
	return before - of(g, sender).balance;
}

/* A message in so many bytes: what is around it is the same for all of one sender, whose numbers are small. */
static uint64_t fee(uint64_t n_bytes, uint64_t source, uint32_t beside)
{
	const pctl_gas_message m = {.n_bytes = n_bytes, .source_bytes = source, .beside = beside};
	pctl_gas_schedule *s = prices();
	uint64_t out;

	assert_int_equal(pctl_gas_of_message(s, &m, NULL, &out), PCTL_OK);
	pctl_gas_schedule_destroy(s);
	return out;
}

/* Bytes of a message with its signature: chain 32, key 32, value 64, and what wraps them. */
static uint64_t bytes_of(const pctl_request *r, uint64_t nonce)
{
	static const uint8_t id[32], key[32], value[64];
	const pctl_msg_signature s = {{key, 32}, {value, 64}};
	pctl_request own = *r, sealed;
	uint64_t n;

	own.auth = (pctl_msg_auth){.is_given = 1,
				   .chain = {id, 32},
				   .nonce = nonce,
				   .expiry = 101,
				   .signatures = &s,
				   .n_signatures = 1};
	if (pctl_request_seal(&own, &call, &sealed) != PCTL_OK)
		fail_msg("%s", words);
	(void)pctl_request_bytes(&sealed, &n);
	pctl_request_destroy(&sealed);
	return n;
}

static void test_chain_fees__each_kind(void **state)
{
	static const uint8_t raw[32] = {9};
	const pctl_msg_bytes one = {raw, sizeof(raw)};
	char cid[PCTL_CID_TEXT_SIZE];
	pctl_cid of_data;
	const pctl_request link = {.kind = PCTL_MSG_LINK, .as.link = {"ann", cid, cid, 0, 0}};
	const pctl_request transfer = ledger_of(PCTL_LEDGER_TRANSFER, "ann", "bob", 5);
	const pctl_request bond = ledger_of(PCTL_LEDGER_BOND, "ann", "", 2000000);
	const pctl_request blob = blob_of("ann", data, sizeof(data));
	const pctl_request keys = {.kind = PCTL_MSG_KEYS, .as.keys = {"bob", &one, 1, 1}};
	const pctl_request role = {.kind = PCTL_MSG_ROLE,
				   .as.role = {"ann", "bob", PCTL_ROLE_CREDIT, 0}};
	uint64_t nonce = 0;
	rig g = begin(1000000);

	(void)state;
	assert_int_equal(pctl_cid_of(data, sizeof(data), &call, &of_data), PCTL_OK);
	pctl_cid_format(&of_data, cid);
#define COSTS(r, more, beside)                                            \
	assert_int_equal(paid(&g, &(r), "ann", 1),                        \
			 (more) + fee(bytes_of(&(r), nonce), 0, beside)), \
		nonce++
	COSTS(transfer, 5, PCTL_GAS_WEIGHTS);
	COSTS(bond, 2000000, PCTL_GAS_WEIGHTS);
	COSTS(link, 1000, PCTL_GAS_LINK); /* and link_cost */
	COSTS(blob, 32 + 16, PCTL_GAS_WEIGHTS);
	COSTS(role, 0, PCTL_GAS_WEIGHTS);
#undef COSTS
	/* bob's first message. */
	assert_int_equal(paid(&g, &keys, "bob", 1), fee(bytes_of(&keys, 0), 0, PCTL_GAS_WEIGHTS));
	stop(&g);
}

static void test_chain_fees__uploads_names_and_jobs(void **state)
{
	const pctl_request upload = upload_of("ann", KERNEL);
	char shader[PCTL_CID_TEXT_SIZE], input[PCTL_CID_TEXT_SIZE];
	const pctl_request blob = blob_of("bob", data, sizeof(data));
	pctl_request name = {.kind = PCTL_MSG_NAME,
			     .as.name = {.sender = "ann", .op = 1, .name = "sum", .cid = shader}};
	pctl_request cancel = {.kind = PCTL_MSG_CANCEL, .as.cancel = {"ann", NULL}}, job;
	rig g = begin(1000000);
	uint64_t spent, plain;
	pctl_cid cid;

	(void)state;
	plain = fee(bytes_of(&upload, 0), strlen(KERNEL), PCTL_GAS_UPLOAD);
	spent = paid(&g, &upload, "ann", 1);
	/* What devices will do for it: a kernel, and its instructions, of which it has some. */
	assert_true(spent > plain + build(0) && spent < plain + build(100));
	/* Again: it is there, and nothing is built. */
	assert_int_equal(paid(&g, &upload, "ann", 1),
			 fee(bytes_of(&upload, 1), strlen(KERNEL), PCTL_GAS_UPLOAD));
	assert_int_equal(pctl_cid_of(KERNEL, strlen(KERNEL), &call, &cid), PCTL_OK);
	pctl_cid_format(&cid, shader);
	assert_int_equal(paid(&g, &name, "ann", 1),
			 1000 + fee(bytes_of(&name, 2), 0, PCTL_GAS_ALIAS));
	assert_int_equal(take(&g, &blob), PCTL_OK);
	assert_int_equal(pctl_cid_of(data, sizeof(data), &call, &cid), PCTL_OK);
	pctl_cid_format(&cid, input);
	job = (pctl_request){.kind = PCTL_MSG_EXECUTE,
			     .as.execute = {.sender = "ann",
					    .shader_cid = shader,
					    .input = input,
					    .dispatch = {2, 1, 1},
					    .gas_limit = 10000000,
					    .uniform_cid = "",
					    .output_bytes = 32,
					    .entry = ""}};
	/* The gas limit is set aside, the fee is gone. */
	assert_int_equal(paid(&g, &job, "ann", 1),
			 10000000 + fee(bytes_of(&job, 3), 0, PCTL_GAS_WEIGHTS));
	cancel.as.cancel.job_id = g.job;
	/* What was set aside comes back when the block ends, less what looking at the job cost. */
	assert_int_equal(paid(&g, &cancel, "ann", 1),
			 fee(bytes_of(&cancel, 4), 0, PCTL_GAS_WEIGHTS));
	stop(&g);
}

/* A refusal leaves its fee, what refusals cost and a used-up number, and nothing else; from an account with too little for the fee, and of
 * what is not signed right, nothing. */
static void test_chain_fees__refusals(void **state)
{
	const pctl_request over = ledger_of(PCTL_LEDGER_TRANSFER, "ann", "bob", 10 * RICH);
	const pctl_request unbond = ledger_of(PCTL_LEDGER_UNBOND, "ann", "", 5);
	const pctl_request upload = upload_of("ann", "fn main( {");
	const pctl_request vote = {
		.kind = PCTL_MSG_PARAMS,
		.as.params = {.sender = "ann", .op = PCTL_PARAMS_VOTE, .proposal = 7, .yes = 1}};
	const pctl_request verdict = {.kind = PCTL_MSG_VERDICT,
				      .as.verdict = {"ann", "bob", NO_CID, "", ""}};
	const pctl_request cancel = {.kind = PCTL_MSG_CANCEL, .as.cancel = {"ann", NONE64}};
	const pctl_request gone = {.kind = PCTL_MSG_LINK, .as.link = {"ann", NO_CID, NO_CID, 1, 0}};
	const pctl_request name = {
		.kind = PCTL_MSG_NAME,
		.as.name = {.sender = "ann", .op = 2, .name = "", .cid = NO_CID}};
	pctl_request poor = ledger_of(PCTL_LEDGER_TRANSFER, "zoe", "bob", 1);
	const struct {
		const pctl_request *r;
		uint64_t source;
		uint32_t beside, code;
	} all[] = {{&over, 0, PCTL_GAS_WEIGHTS, PC5713_LEDGER_FUNDS},
		   {&unbond, 0, PCTL_GAS_WEIGHTS, 0},
		   {&upload, 10, PCTL_GAS_UPLOAD, 0},
		   {&vote, 0, PCTL_GAS_WEIGHTS, PC5724_PARAM_PROPOSAL},
		   {&verdict, 0, PCTL_GAS_WEIGHTS, 0},
		   {&cancel, 0, PCTL_GAS_WEIGHTS, 0},
		   {&gone, 0, PCTL_GAS_LINK, PC6105_LINK_UNKNOWN},
		   {&name, 0, PCTL_GAS_WEIGHTS, 0}};
	rig g = begin(1000000);

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const uint64_t want =
			fee(bytes_of(all[i].r, i), all[i].source, all[i].beside) + refusal();
		const uint64_t burned = of(&g, "ann").balance;
		char told[64];

		assert_int_equal(paid(&g, all[i].r, "ann", 0), want);
		if (all[i].code != 0)
			assert_int_equal(refused[0], all[i].code);
		snprintf(told, sizeof(told), "; the refusal costs %llu gas",
			 (unsigned long long)want);
		assert_non_null(strstr(words, told));
		assert_int_equal(burned - of(&g, "ann").balance, want);
	}
	refused_with(&g, &poor, PC5869_MESSAGE_FEE);
	stop(&g);
}

/* Without a share of the price nothing is paid, and a refusal leaves no trace. */
static void test_chain_fees__a_share(void **state)
{
	const pctl_request transfer = ledger_of(PCTL_LEDGER_TRANSFER, "ann", "bob", 5);
	const pctl_request over = ledger_of(PCTL_LEDGER_TRANSFER, "ann", "bob", 10 * RICH);
	rig g = begin(0);

	(void)state;
	assert_int_equal(paid(&g, &transfer, "ann", 1), 5);
	refused_with(&g, &over, PC5713_LEDGER_FUNDS);
	stop(&g);
	g = begin(500000);
	assert_int_equal(paid(&g, &transfer, "ann", 1),
			 5 + fee(bytes_of(&transfer, 0), 0, PCTL_GAS_WEIGHTS) / 2);
	stop(&g);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_fees__each_kind),
		PCTL_TEST(test_chain_fees__uploads_names_and_jobs),
		PCTL_TEST(test_chain_fees__refusals), PCTL_TEST(test_chain_fees__a_share))
