/* Every message kind with every field wrong in turn: one typed refusal each, and the state root as it was. (Fields of an
 * execute message that the shader decides about are in test_chain_submit.c.) */
#include "test_chain_submit.h"

#define NONE64 "1111111111111111111111111111111111111111111111111111111111111111"
#define NO_CID "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku" /* of no bytes */
#define NOWHERE \
	"bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy" /* of bytes that no test has */
#define NO_NAME "Ann Boleyn"
#define CUT "\xc3" /* the first byte of two */

/* Change one field of a good message, which is accepted without that. */
#define WRONG(good, field, value, code)          \
	do {                                     \
		pctl_request wrong_ = (good);    \
		wrong_.as.field = (value);       \
		refused_with(&g, &wrong_, code); \
	} while (0)

static void test_chain_refusals__upload(void **state)
{
	static const char *const twice[] = {"sum", "sum"}, *const empty[] = {""};
	rig g = start_default();
	pctl_request r = upload_of("ann", MAXIMA STRUCTS BODY "// again\n"), tags = r;

	(void)state;
	WRONG(r, upload.sender, "", PC5784_MESSAGE_MISSING);
	WRONG(r, upload.sender, NO_NAME, PC5785_MESSAGE_SENDER);
	WRONG(r, upload.n_source, 0, PC5784_MESSAGE_MISSING);
	WRONG(r, upload.source, (const uint8_t *)CUT, PC5788_MESSAGE_TEXT);
	WRONG(r, upload.description, "line\nline", PC5788_MESSAGE_TEXT);
	WRONG(r, upload.implements, "bafk", PC5786_MESSAGE_CID);
	tags.as.upload.n_tags = 2;
	WRONG(tags, upload.tags, twice, PC5792_MESSAGE_ORDER);
	tags.as.upload.n_tags = 1;
	WRONG(tags, upload.tags, empty, PC5784_MESSAGE_MISSING);
	accepted(&g, &r);
	stop(&g);
}

static void test_chain_refusals__execute(void **state)
{
	static const char *const short_id[] = {"12"}, *const wrong_order[] = {NONE64, NONE64};
	static const pctl_msg_override nameless = {"", 1};
	rig g = start_default();
	pctl_msg_binding b, taken = {0, 1, NO_CID}, far = {9, 0, NO_CID}, no_cid = {0, 2, "x"};
	pctl_request r = job_of(&g, &b), list;

	(void)state;
	WRONG(r, execute.sender, NO_NAME, PC5785_MESSAGE_SENDER);
	WRONG(r, execute.shader_cid, "", PC5784_MESSAGE_MISSING);
	WRONG(r, execute.input, "job:12", PC5787_MESSAGE_HASH);
	WRONG(r, execute.input, "", PC5784_MESSAGE_MISSING);
	WRONG(r, execute.dispatch[2], 65536, PC5790_MESSAGE_DISPATCH);
	WRONG(r, execute.gas_limit, 0, PC5784_MESSAGE_MISSING);
	WRONG(r, execute.bindings, &taken, PC5791_MESSAGE_SLOT);
	WRONG(r, execute.bindings, &far, PC5791_MESSAGE_SLOT);
	WRONG(r, execute.bindings, &no_cid, PC5786_MESSAGE_CID);
	WRONG(r, execute.parent_clock, UINT64_MAX, PC5793_MESSAGE_NUMBER);
	WRONG(r, execute.uniform_cid, "bafk", PC5786_MESSAGE_CID);
	WRONG(r, execute.output_bytes, 33, PC5793_MESSAGE_NUMBER);
	WRONG(r, execute.entry, "a b", PC2040_SPECIALISE_ENTRY);
	list = r;
	list.as.execute.n_parent_jobs = 1;
	WRONG(list, execute.parent_jobs, short_id, PC5787_MESSAGE_HASH);
	list.as.execute.n_parent_jobs = 2;
	WRONG(list, execute.parent_jobs, wrong_order, PC5792_MESSAGE_ORDER);
	list = r;
	list.as.execute.n_after = 1;
	WRONG(list, execute.after, short_id, PC5787_MESSAGE_HASH);
	list = r;
	list.as.execute.n_overrides = 1;
	WRONG(list, execute.overrides, &nameless, PC5784_MESSAGE_MISSING);
	accepted(&g, &r);
	stop(&g);
}

static void test_chain_refusals__ledger(void **state)
{
	rig g = start_default();
	pctl_request credit = ledger_of(PCTL_LEDGER_CREDIT, "ann", "bob", 5);
	pctl_request transfer = ledger_of(PCTL_LEDGER_TRANSFER, "ann", "bob", 5);
	pctl_request bond = ledger_of(PCTL_LEDGER_BOND, "ann", "", 5);
	pctl_request unbond = ledger_of(PCTL_LEDGER_UNBOND, "ann", "", 5);

	(void)state;
	WRONG(credit, ledger.sender, NO_NAME, PC5785_MESSAGE_SENDER);
	WRONG(credit, ledger.op, 0, PC5784_MESSAGE_MISSING);
	WRONG(credit, ledger.op, 5, PC5730_MESSAGE_OPERATION);
	WRONG(credit, ledger.to, NO_NAME, PC5785_MESSAGE_SENDER);
	WRONG(credit, ledger.amount, 0, PC5784_MESSAGE_MISSING);
	WRONG(credit, ledger.amount, UINT64_MAX, PC5712_LEDGER_OVERFLOW);
	WRONG(transfer, ledger.sender, "zoe", PC5714_LEDGER_ACCOUNT);
	WRONG(transfer, ledger.to, "", PC5784_MESSAGE_MISSING);
	WRONG(transfer, ledger.amount, 1000001, PC5713_LEDGER_FUNDS);
	WRONG(bond, ledger.sender, "zoe", PC5714_LEDGER_ACCOUNT);
	WRONG(bond, ledger.to, "bob", PC5730_MESSAGE_OPERATION);
	WRONG(bond, ledger.amount, 1000001, PC5713_LEDGER_FUNDS);
	WRONG(unbond, ledger.amount, 5, PC5713_LEDGER_FUNDS);
	accepted(&g, &credit);
	accepted(&g, &transfer);
	accepted(&g, &bond);
	accepted(&g, &unbond);
	stop(&g);
}

static void test_chain_refusals__params(void **state)
{
	static const pctl_msg_param_change good = {"scale", "1000"}, unknown = {"scales", "1"},
					   range = {"scale", "0"}, none = {"scale", ""};
	rig g = start_default();
	pctl_request bond = ledger_of(PCTL_LEDGER_BOND, "ann", "", 500);
	pctl_request propose = {.kind = PCTL_MSG_PARAMS,
				.as.params = {.sender = "ann",
					      .op = PCTL_PARAMS_PROPOSE,
					      .height = 5,
					      .changes = &good,
					      .n_changes = 1}};
	pctl_request vote = {
		.kind = PCTL_MSG_PARAMS,
		.as.params = {.sender = "ann", .op = PCTL_PARAMS_VOTE, .proposal = 1, .yes = 1}};
	pctl_request apply = {
		.kind = PCTL_MSG_PARAMS,
		.as.params = {.sender = "ann", .op = PCTL_PARAMS_APPLY, .proposal = 1}};

	(void)state;
	accepted(&g, &bond);
	WRONG(propose, params.sender, "zoe", PC5714_LEDGER_ACCOUNT);
	WRONG(propose, params.op, 4, PC5730_MESSAGE_OPERATION);
	WRONG(propose, params.yes, 1, PC5730_MESSAGE_OPERATION);
	WRONG(propose, params.height, 1, PC5725_CHAIN_HEIGHT);
	WRONG(propose, params.height, UINT64_MAX, PC5793_MESSAGE_NUMBER);
	WRONG(propose, params.proposal, 1, PC5730_MESSAGE_OPERATION);
	WRONG(propose, params.n_changes, 0, PC5784_MESSAGE_MISSING);
	WRONG(propose, params.changes, &unknown, PC5720_PARAM_UNKNOWN);
	WRONG(propose, params.changes, &range, PC5721_PARAM_VALUE);
	WRONG(propose, params.changes, &none, PC5784_MESSAGE_MISSING);
	accepted(&g, &propose);
	WRONG(vote, params.sender, "zoe", PC5714_LEDGER_ACCOUNT);
	WRONG(vote, params.proposal, 2, PC5724_PARAM_PROPOSAL);
	WRONG(vote, params.proposal, 0, PC5784_MESSAGE_MISSING);
	WRONG(vote, params.yes, 2, PC5793_MESSAGE_NUMBER);
	WRONG(vote, params.height, 5, PC5730_MESSAGE_OPERATION);
	WRONG(apply, params.proposal, 1, PC5727_PARAM_QUORUM);
	accepted(&g, &vote);
	refused_with(&g, &vote, PC5726_PARAM_VOTER);
	WRONG(apply, params.proposal, 9, PC5724_PARAM_PROPOSAL);
	WRONG(apply, params.yes, 1, PC5730_MESSAGE_OPERATION);
	accepted(&g, &apply);
	refused_with(&g, &apply, PC5724_PARAM_PROPOSAL);
	stop(&g);
}

static void test_chain_refusals__names_links_cancels(void **state)
{
	rig g = start_default();
	pctl_msg_binding b;
	pctl_request job = job_of(&g, &b);
	pctl_request alias = {
		.kind = PCTL_MSG_NAME,
		.as.name = {
			.sender = "ann", .op = PCTL_NAME_ALIAS, .name = "sum", .cid = g.shader}};
	pctl_request deprecate = {
		.kind = PCTL_MSG_NAME,
		.as.name = {
			.sender = "ann", .op = PCTL_NAME_DEPRECATE, .name = "", .cid = g.shader}};
	pctl_request link = {.kind = PCTL_MSG_LINK,
			     .as.link = {.sender = "ann", .source = g.input, .target = g.shader}};
	pctl_request cancel = {.kind = PCTL_MSG_CANCEL,
			       .as.cancel = {.sender = "ann", .job_id = g.job}};

	(void)state;
	accepted(&g, &job);
	WRONG(alias, name.sender, NO_NAME, PC5785_MESSAGE_SENDER);
	WRONG(alias, name.op, 3, PC5730_MESSAGE_OPERATION);
	WRONG(alias, name.name, "Sum", PC5731_MESSAGE_NAME);
	WRONG(alias, name.name, "", PC5784_MESSAGE_MISSING);
	WRONG(alias, name.cid, NO_CID, PC5804_SHADER_UNKNOWN);
	accepted(&g, &alias);
	WRONG(alias, name.sender, "bob", PC5821_ALIAS_OWNER);
	WRONG(deprecate, name.sender, "bob", PC5823_SHADER_OWNER);
	WRONG(deprecate, name.name, "sum", PC5730_MESSAGE_OPERATION);
	WRONG(deprecate, name.cid, NO_CID, PC5804_SHADER_UNKNOWN);
	WRONG(link, link.sender, "", PC5784_MESSAGE_MISSING);
	WRONG(link, link.source, "x", PC5786_MESSAGE_CID);
	WRONG(link, link.target, "", PC5784_MESSAGE_MISSING);
	accepted(&g, &link);
	WRONG(cancel, cancel.sender, "bob", PC5824_JOB_OWNER);
	WRONG(cancel, cancel.job_id, NONE64, PC5801_JOB_UNKNOWN);
	WRONG(cancel, cancel.job_id, "12", PC5787_MESSAGE_HASH);
	accepted(&g, &cancel);
	refused_with(&g, &cancel, PC5802_JOB_ENDED);
	accepted(&g, &deprecate);
	refused_with(&g, &job, PC5805_SHADER_DEPRECATED);
	stop(&g);
}

static void test_chain_refusals__verdict_and_others(void **state)
{
	rig g = start_default();
	pctl_request bond = ledger_of(PCTL_LEDGER_BOND, "ann", "", 500);
	pctl_request credit = ledger_of(PCTL_LEDGER_CREDIT, "ann", "bob", 5);
	pctl_request verdict = {.kind = PCTL_MSG_VERDICT,
				.as.verdict = {"ann", "bob", NO_CID, "", ""}};
	pctl_request query = {.kind = PCTL_MSG_QUERY, .as.query = {NONE64}};
	pctl_request block = {.kind = PCTL_MSG_BLOCK_END,
			      .as.block = {.height = 7, .executor = ""}};
	pctl_request none = {.kind = 15};

	(void)state;
	accepted(&g, &credit);
	WRONG(verdict, verdict.sender, "ann", PC5825_VERDICT_VOTE); /* no bond yet */
	accepted(&g, &bond);
	WRONG(verdict, verdict.sender, NO_NAME, PC5785_MESSAGE_SENDER);
	WRONG(verdict, verdict.accused, "", PC5784_MESSAGE_MISSING);
	WRONG(verdict, verdict.accused, "zoe", PC5714_LEDGER_ACCOUNT);
	WRONG(verdict, verdict.evidence, "x", PC5786_MESSAGE_CID);
	refused_with(&g, &query, PC5826_CHAIN_MESSAGE); /* is answered, never taken in */
	refused_with(&g, &block, PC5826_CHAIN_MESSAGE);
	refused_with(&g, &none, PC5796_MESSAGE_ENVELOPE);
	assert_int_not_equal(pctl_chain_end_block(g.chain, &block, &call, NULL), PCTL_OK);
	stop(&g);
}

/* ---- what a refusal costs ------------------------------------------------------------------ */

static pctl_ledger_account account(rig *g, const char *name)
{
	pctl_ledger_account a;

	assert_int_equal(pctl_ledger_account_read(pctl_cursor(g->chain), name, &call, &a), PCTL_OK);
	return a;
}

/* The newest job. */
static int first_job(void *ctx, const pctl_chain_job *job)
{
	pctl_chain_job *out = ctx;

	*out = *job;
	out->message = NULL;
	return 1;
}

static void charged_with(rig *g, const pctl_request *r, uint32_t code, uint64_t want)
{
	const pctl_ledger_account before = account(g, r->as.execute.sender);
	char told[64], why[32];
	pctl_ledger_account after;
	pctl_chain_job job = {.position = 0};

	forget();
	assert_int_not_equal(take(g, r), PCTL_OK);
	assert_int_equal(refused[0], code);
	snprintf(told, sizeof(told), "; the refusal costs %u gas, job ", (unsigned)want);
	if (strstr(words, told) == NULL)
		fail_msg("%s", words);
	after = account(g, r->as.execute.sender);
	assert_int_equal(before.balance - after.balance, want);
	assert_int_equal(after.reserved - before.reserved, want);
	assert_int_equal(pctl_jobs_all(pctl_cursor(g->chain), "ann", first_job, &job, &call),
			 PCTL_OK);
	snprintf(why, sizeof(why), "refused: PC%u", code);
	assert_string_equal(job.error, why);
	assert_int_equal(job.status, PCTL_JOB_FAILED);
	assert_int_equal(job.gas_used, want);
	assert_int_equal(job.ended, 1);
}

static uint64_t sequence_of(rig *g, const char *name)
{
	pctl_request again = ledger_of(PCTL_LEDGER_CREDIT, name, "bob", 1);
	pctl_response out;
	uint64_t n;

	assert_int_equal(pctl_chain_apply(g->chain, &again, &call, &out), PCTL_OK);
	n = out.as.ack.sequence;
	pctl_response_destroy(&out);
	return n;
}

static void test_chain_refusals__version_2_charges(void **state)
{
	const uint64_t n = sizeof(SHADER) - 1;
	pctl_params p;
	pctl_msg_binding b, missing;
	pctl_request r, away;
	uint64_t sequence;
	rig g;

	(void)state;
	pctl_params_default(&p);
	p.values[PCTL_PARAM_WEIGHT_STORAGE_READ] = 1000;
	/* Version 1: no trace. */
	g = start(&p);
	r = job_of(&g, &b);
	WRONG(r, execute.gas_limit, n + 1, PC5818_JOB_GAS);
	stop(&g);
	p.values[PCTL_PARAM_RULES] = 2;
	p.values[PCTL_PARAM_FEE_PPM] = 0;
	g = start(&p);
	r = job_of(&g, &b);
	sequence = sequence_of(&g, "ann");
	r.as.execute.gas_limit = n + 1;
	charged_with(&g, &r, PC5818_JOB_GAS, n);
	r.as.execute.gas_limit = 7; /* never more than was offered */
	charged_with(&g, &r, PC5818_JOB_GAS, 7);
	assert_int_equal(sequence_of(&g, "ann"), sequence + 3);
	/* Refused for something else, or naming what is not there, or by nobody who has gas: no trace. */
	WRONG(r, execute.sender, "zoe", PC5818_JOB_GAS);
	WRONG(r, execute.dispatch[0], 9, PC5810_JOB_DISPATCH);
	WRONG(r, execute.input, NOWHERE, PC5834_DATA_MISSING);
	missing = (pctl_msg_binding){0, 2, NOWHERE};
	WRONG(r, execute.bindings, &missing, PC5834_DATA_MISSING);
	away = ledger_of(PCTL_LEDGER_TRANSFER, "ann", "bob", account(&g, "ann").balance - 5);
	accepted(&g, &away);
	r.as.execute.gas_limit = n + 1;
	charged_with(&g, &r, PC5818_JOB_GAS, 5); /* never more than there is */
	refused_with(&g, &r, PC5818_JOB_GAS);
	stop(&g);
}

static void test_chain_refusals__version_2_charges_budgets_and_rules(void **state)
{
	static const char racing[] =
		STRUCTS "override same: bool = false;\n"
			"@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: "
			"vec3<u32>) {\n"
			"  o[select(id.x, 0u, same)] = a[id.x] + b[id.x & 3u] + u.n;\n}\n";
	static const pctl_msg_override same = {"same", 1};
	pctl_params p;
	pctl_msg_binding b;
	pctl_request r, upload = upload_of("ann", racing);
	char shader[PCTL_CID_TEXT_SIZE];
	pctl_cid cid;
	rig g;

	(void)state;
	pctl_params_default(&p);
	p.values[PCTL_PARAM_RULES] = 2;
	p.values[PCTL_PARAM_FEE_PPM] = 0;
	p.values[PCTL_PARAM_THROUGHPUT] = 1;
	p.values[PCTL_PARAM_BLOCK_TIME_MS] = 20;
	g = start(&p);
	r = job_of(&g, &b);
	r.as.execute.gas_limit = 400000;
	charged_with(&g, &r, PC5819_JOB_BUDGET, sizeof(SHADER) - 1);
	accepted(&g, &upload);
	assert_int_equal(pctl_cid_of(racing, sizeof(racing) - 1, &call, &cid), PCTL_OK);
	r.as.execute.shader_cid = pctl_cid_format(&cid, shader);
	r.as.execute.overrides = &same;
	r.as.execute.n_overrides = 1;
	charged_with(&g, &r, PC5808_SHADER_RACE, sizeof(racing) - 1);
	/* What it names must be there for a rule's refusal too, and nothing is free to name. */
	WRONG(r, execute.input, NOWHERE, PC5834_DATA_MISSING);
	WRONG(r, execute.input, "job:" NONE64, PC5808_SHADER_RACE);
	stop(&g);
	/* A validation that costs nothing leaves nothing. */
	p.values[PCTL_PARAM_VALIDATION_COST] = 0;
	g = start(&p);
	r = job_of(&g, &b);
	r.as.execute.gas_limit = 400000;
	refused_with(&g, &r, PC5819_JOB_BUDGET);
	stop(&g);
}

/* What a chain begins with is taken in unsigned, and so only before it has begun, of three kinds, under version 2. */
static void test_chain_refusals__genesis_ends_when_the_chain_begins(void **state)
{
	static const uint8_t raw[32] = {9};
	const pctl_msg_bytes one = {raw, sizeof(raw)};
	const pctl_request keys = {.kind = PCTL_MSG_KEYS, .as.keys = {"eve", &one, 1, 1}};
	const pctl_request link = {.kind = PCTL_MSG_LINK, .as.link = {"eve", NO_CID, NO_CID, 0, 0}};
	pctl_params p;
	rig g;

	(void)state;
	pctl_params_default(&p);
	p.values[PCTL_PARAM_RULES] = 2;
	p.values[PCTL_PARAM_FEE_PPM] = 0;
	g = start(&p);
	forget();
	assert_int_not_equal(pctl_chain_apply_genesis(g.chain, &keys, &call), PCTL_OK);
	assert_int_equal(refused[0], PC5848_GENESIS);
	assert_non_null(strstr(words, "the chain has begun"));
	stop(&g);
	g = not_begun(&p);
	forget();
	assert_int_not_equal(pctl_chain_apply_genesis(g.chain, &link, &call), PCTL_OK);
	assert_int_equal(refused[0], PC5848_GENESIS);
	assert_non_null(strstr(words, "keys, roles and gas"));
	forget();
	assert_int_equal(pctl_chain_apply_genesis(g.chain, &keys, &call), PCTL_OK);
	/* Without an author a message made by hand is nobody's. */
	assert_int_not_equal(pctl_chain_apply(g.chain, &link, &call, NULL), PCTL_OK);
	assert_int_equal(refused[0], PC5840_AUTH_MISSING);
	stop(&g);
	pctl_params_default(&p);
	g = not_begun(&p);
	forget();
	assert_int_not_equal(pctl_chain_apply_genesis(g.chain, &keys, &call), PCTL_OK);
	assert_int_equal(refused[0], PC5848_GENESIS);
	stop(&g);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_refusals__upload), PCTL_TEST(test_chain_refusals__execute),
		PCTL_TEST(test_chain_refusals__ledger), PCTL_TEST(test_chain_refusals__params),
		PCTL_TEST(test_chain_refusals__names_links_cancels),
		PCTL_TEST(test_chain_refusals__verdict_and_others),
		PCTL_TEST(test_chain_refusals__version_2_charges),
		PCTL_TEST(test_chain_refusals__version_2_charges_budgets_and_rules),
		PCTL_TEST(test_chain_refusals__genesis_ends_when_the_chain_begins))
