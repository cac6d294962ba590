/* Messages of the ledger, parameters, names, links, verdicts and bytes: both ways, and every field wrong in turn. */
#include "test_chain_message.h"

static const pctl_msg_param_change two_changes[] = {{"quorum_ppm", "500_000"}, {"scale", "1000"}};

static pctl_request ledger(uint32_t op)
{
	const int has_to = op == PCTL_LEDGER_CREDIT || op == PCTL_LEDGER_TRANSFER;

	return (pctl_request){.kind = PCTL_MSG_LEDGER,
			      .as.ledger = {"alice", op, 0, has_to ? "bob" : "", UINT64_MAX}};
}

static pctl_request params(uint32_t op)
{
	pctl_request r = {.kind = PCTL_MSG_PARAMS, .as.params = {.sender = "alice", .op = op}};

	if (op == PCTL_PARAMS_PROPOSE) {
		r.as.params.height = 9;
		r.as.params.changes = two_changes;
		r.as.params.n_changes = 2;
	} else {
		r.as.params.proposal = 3;
		r.as.params.yes = op == PCTL_PARAMS_VOTE;
	}
	return r;
}

static pctl_request name(uint32_t op)
{
	return (pctl_request){
		.kind = PCTL_MSG_NAME,
		.as.name = {"alice", op, 0, op == PCTL_NAME_ALIAS ? "rank-1.0" : "", CID}};
}

static pctl_request verdict(void)
{
	return (pctl_request){.kind = PCTL_MSG_VERDICT,
			      .as.verdict = {"alice", "bob", CID, "", ""}};
}

static pctl_request dispute(void)
{
	return (pctl_request){.kind = PCTL_MSG_VERDICT, .as.verdict = {"alice", "", "", ID_A, CID}};
}

static const uint8_t thirty_two[2][32] = {{1}, {2}}, sixty_four[64] = {3};
static const pctl_msg_bytes two_keys[] = {{thirty_two[0], 32}, {thirty_two[1], 32}};
static const pctl_msg_bytes swapped_keys[] = {{thirty_two[1], 32}, {thirty_two[0], 32}};
static const pctl_msg_bytes short_keys[] = {{thirty_two[0], 32}, {thirty_two[1], 31}};
static const pctl_msg_signature two_signatures[] = {{{thirty_two[0], 32}, {sixty_four, 64}},
						    {{thirty_two[1], 32}, {sixty_four, 64}}};
static const pctl_msg_signature same_signatures[] = {{{thirty_two[0], 32}, {sixty_four, 64}},
						     {{thirty_two[0], 32}, {sixty_four, 64}}};
static const pctl_msg_signature short_signatures[] = {{{thirty_two[0], 32}, {sixty_four, 63}}};

static pctl_request keys(void)
{
	return (pctl_request){.kind = PCTL_MSG_KEYS, .as.keys = {"alice", two_keys, 2, 2}};
}

static pctl_request role(void)
{
	return (pctl_request){.kind = PCTL_MSG_ROLE,
			      .as.role = {"alice", "bob", PCTL_ROLE_BLOCK, 1}};
}

static pctl_request blob(void)
{
	return (pctl_request){.kind = PCTL_MSG_BLOB,
			      .as.blob = {"alice", (const uint8_t *)"a\0b", 3, 9}};
}

static pctl_request statement(void)
{
	return (pctl_request){
		.kind = PCTL_MSG_STATEMENT,
		.as.statement = {
			"alice", {thirty_two[0], 32}, {thirty_two[1], 32}, {sixty_four, 64}, 9}};
}

static pctl_request authored(pctl_request r)
{
	r.auth = (pctl_msg_auth){1, 2, {thirty_two[0], 32}, 7, 9, two_signatures};
	return r;
}

static pctl_response ack(uint32_t kind)
{
	return (pctl_response){.kind = kind, .as.ack = {5, kind == PCTL_MSG_PARAMS ? 2 : 0}};
}

static void test_chain_message_kinds__good_messages_pass_both_ways(void **state)
{
	pctl_request q[] = {
		{.kind = PCTL_MSG_BLOCK_END, .as.block = {9, "bob"}},
		ledger(PCTL_LEDGER_CREDIT),
		ledger(PCTL_LEDGER_TRANSFER),
		ledger(PCTL_LEDGER_BOND),
		ledger(PCTL_LEDGER_UNBOND),
		params(PCTL_PARAMS_PROPOSE),
		params(PCTL_PARAMS_VOTE),
		params(PCTL_PARAMS_APPLY),
		name(PCTL_NAME_ALIAS),
		name(PCTL_NAME_DEPRECATE),
		{.kind = PCTL_MSG_CANCEL, .as.cancel = {"alice", ID_A}},
		{.kind = PCTL_MSG_LINK, .as.link = {"alice", CID, CID, 0, 0}},
		verdict(),
		dispute(),
		{.kind = PCTL_MSG_LINK, .as.link = {"alice", CID, CID, 1, 0}},
		keys(),
		role(),
		blob(),
		statement(),
		authored(statement()),
		authored(blob()),
		authored(keys()),
		authored(verdict()),
		authored((pctl_request){.kind = PCTL_MSG_BLOCK_END, .as.block = {9, "bob"}}),
		{.kind = PCTL_MSG_PUT, .as.put = {(const uint8_t *)"a\0b", 3}},
		{.kind = PCTL_MSG_PUT, .as.put = {NULL, 0}},
		{.kind = PCTL_MSG_GET, .as.get = {.cid = CID}},
		{.kind = PCTL_MSG_GET, .as.get = {CID, 7, PCTL_MESSAGE_DATA_MAX}}};
	pctl_response r[] = {ack(PCTL_MSG_LEDGER),
			     ack(PCTL_MSG_PARAMS),
			     ack(PCTL_MSG_NAME),
			     ack(PCTL_MSG_CANCEL),
			     ack(PCTL_MSG_LINK),
			     ack(PCTL_MSG_VERDICT),
			     ack(PCTL_MSG_KEYS),
			     ack(PCTL_MSG_ROLE),
			     ack(PCTL_MSG_BLOB),
			     ack(PCTL_MSG_STATEMENT),
			     {.kind = PCTL_MSG_PUT, .as.put = {CID}},
			     {.kind = PCTL_MSG_GET, .as.get = {(const uint8_t *)"x", 1}}};

	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++)
		request_passes(&q[i]);
	for (size_t i = 0; i < sizeof(r) / sizeof(r[0]); i++)
		response_passes(&r[i]);
}

static void test_chain_message_kinds__moves_and_votes_refuse_every_field(void **state)
{
	static const pctl_msg_param_change twice[] = {{"a", "1"}, {"a", "1"}};
	static const pctl_msg_param_change unsorted[] = {{"b", "1"}, {"a", "1"}};
	static const pctl_msg_param_change unnamed[] = {{"", "1"}}, empty[] = {{"a", ""}};
	static const pctl_msg_param_change control[] = {{"a", "1\n"}},
					   long_name[] = {{LONG65, "1"}};
	static pctl_msg_param_change many[65];
	static char names[65][4];
	const pctl_request end = {.kind = PCTL_MSG_BLOCK_END, .as.block = {9, "bob"}};

	(void)state;
	for (uint32_t i = 0; i < 65; i++) {
		snprintf(names[i], 4, "%02u", i);
		many[i] = (pctl_msg_param_change){names[i], "1"};
	}
	WRONG_REQUEST(end, block.executor = "B", PC5785_MESSAGE_SENDER, "block.executor");
	WRONG_REQUEST(ledger(1), ledger.sender = "", PC5784_MESSAGE_MISSING, "ledger.sender");
	WRONG_REQUEST(ledger(1), ledger.sender = "A", PC5785_MESSAGE_SENDER, "ledger.sender");
	WRONG_REQUEST(ledger(1), ledger.op = 0, PC5784_MESSAGE_MISSING, "ledger.op");
	WRONG_REQUEST(ledger(1), ledger.op = 5, PC5730_MESSAGE_OPERATION, "ledger.op");
	WRONG_REQUEST(ledger(2), ledger.to = "", PC5784_MESSAGE_MISSING, "ledger.to");
	WRONG_REQUEST(ledger(2), ledger.to = "B", PC5785_MESSAGE_SENDER, "ledger.to");
	WRONG_REQUEST(ledger(3), ledger.to = "bob", PC5730_MESSAGE_OPERATION, "ledger.to");
	WRONG_REQUEST(ledger(4), ledger.to = "bob", PC5730_MESSAGE_OPERATION, "ledger.to");
	WRONG_REQUEST(ledger(4), ledger.amount = 0, PC5784_MESSAGE_MISSING, "ledger.amount");
	WRONG_REQUEST(params(1), params.sender = "", PC5784_MESSAGE_MISSING, "params.sender");
	WRONG_REQUEST(params(1), params.op = 0, PC5784_MESSAGE_MISSING, "params.op");
	WRONG_REQUEST(params(1), params.op = 4, PC5730_MESSAGE_OPERATION, "params.op");
	WRONG_REQUEST(params(1), params.height = 0, PC5784_MESSAGE_MISSING, "params.height");
	WRONG_REQUEST(params(1), params.height = 1ull << 63, PC5793_MESSAGE_NUMBER,
		      "params.height");
	WRONG_REQUEST(params(1), params.proposal = 1, PC5730_MESSAGE_OPERATION, "params.proposal");
	WRONG_REQUEST(params(1), params.yes = 1, PC5730_MESSAGE_OPERATION, "params.yes");
	WRONG_REQUEST(params(1), params.n_changes = 0, PC5784_MESSAGE_MISSING, "params.changes");
	WRONG_REQUEST(params(2), params.proposal = 0, PC5784_MESSAGE_MISSING, "params.proposal");
	WRONG_REQUEST(params(2), params.proposal = 1ull << 63, PC5793_MESSAGE_NUMBER,
		      "params.proposal");
	WRONG_REQUEST(params(2), params.height = 1, PC5730_MESSAGE_OPERATION, "params.height");
	WRONG_REQUEST(params(3), params.proposal = 0, PC5784_MESSAGE_MISSING, "params.proposal");
	WRONG_REQUEST(params(3), params.yes = 1, PC5730_MESSAGE_OPERATION, "params.yes");
	WRONG_REQUEST(params(3), params.changes = two_changes;
		      m.as.params.n_changes = 2, PC5730_MESSAGE_OPERATION, "params.changes");
#define CHANGES(list, count, code, field) \
	WRONG_REQUEST(params(1), params.changes = list; m.as.params.n_changes = count, code, field)
	CHANGES(twice, 2, PC5792_MESSAGE_ORDER, "params.changes[1].name");
	CHANGES(unsorted, 2, PC5792_MESSAGE_ORDER, "params.changes[1].name");
	CHANGES(unnamed, 1, PC5784_MESSAGE_MISSING, "params.changes[0].name");
	CHANGES(long_name, 1, PC5789_MESSAGE_COUNT, "params.changes[0].name");
	CHANGES(empty, 1, PC5784_MESSAGE_MISSING, "params.changes[0].value");
	CHANGES(control, 1, PC5788_MESSAGE_TEXT, "params.changes[0].value");
	CHANGES(many, 65, PC5789_MESSAGE_COUNT, "params.changes");
}

static void test_chain_message_kinds__names_and_bytes_refuse_every_field(void **state)
{
	static uint8_t data[PCTL_MESSAGE_DATA_MAX + 1];
	const pctl_request cancel = {.kind = PCTL_MSG_CANCEL, .as.cancel = {"alice", ID_A}};
	const pctl_request link = {.kind = PCTL_MSG_LINK, .as.link = {"alice", CID, CID, 0, 0}};
	const pctl_request put = {.kind = PCTL_MSG_PUT, .as.put = {data, 1}};
	const pctl_request get = {.kind = PCTL_MSG_GET, .as.get = {.cid = CID}};
	const pctl_response put_response = {.kind = PCTL_MSG_PUT, .as.put = {CID}};
	const pctl_response get_response = {.kind = PCTL_MSG_GET, .as.get = {data, 1}};

	(void)state;
	WRONG_REQUEST(name(1), name.sender = "", PC5784_MESSAGE_MISSING, "name.sender");
	WRONG_REQUEST(name(1), name.op = 0, PC5784_MESSAGE_MISSING, "name.op");
	WRONG_REQUEST(name(1), name.op = 3, PC5730_MESSAGE_OPERATION, "name.op");
	WRONG_REQUEST(name(1), name.name = "", PC5784_MESSAGE_MISSING, "name.name");
	WRONG_REQUEST(name(1), name.name = "Rank", PC5731_MESSAGE_NAME, "name.name");
	WRONG_REQUEST(name(1), name.name = LONG65, PC5731_MESSAGE_NAME, "name.name");
	WRONG_REQUEST(name(2), name.name = "rank", PC5730_MESSAGE_OPERATION, "name.name");
	WRONG_REQUEST(name(2), name.cid = "", PC5784_MESSAGE_MISSING, "name.cid");
	WRONG_REQUEST(name(1), name.cid = "x", PC5786_MESSAGE_CID, "name.cid");
	WRONG_REQUEST(cancel, cancel.sender = "", PC5784_MESSAGE_MISSING, "cancel.sender");
	WRONG_REQUEST(cancel, cancel.job_id = "12", PC5787_MESSAGE_HASH, "cancel.job_id");
	WRONG_REQUEST(link, link.sender = "A", PC5785_MESSAGE_SENDER, "link.sender");
	WRONG_REQUEST(link, link.source = "", PC5784_MESSAGE_MISSING, "link.source");
	WRONG_REQUEST(link, link.target = "job:" ID_A, PC5786_MESSAGE_CID, "link.target");
	WRONG_REQUEST(verdict(), verdict.sender = "", PC5784_MESSAGE_MISSING, "verdict.sender");
	WRONG_REQUEST(verdict(), verdict.accused = "", PC5784_MESSAGE_MISSING, "verdict.accused");
	WRONG_REQUEST(verdict(), verdict.accused = "B", PC5785_MESSAGE_SENDER, "verdict.accused");
	WRONG_REQUEST(verdict(), verdict.evidence = "x", PC5786_MESSAGE_CID, "verdict.evidence");
	WRONG_REQUEST(dispute(), verdict.job_id = "12", PC5787_MESSAGE_HASH, "verdict.job_id");
	WRONG_REQUEST(dispute(), verdict.job_id = "", PC5784_MESSAGE_MISSING, "verdict.job_id");
	WRONG_REQUEST(dispute(), verdict.output = "", PC5784_MESSAGE_MISSING, "verdict.output");
	WRONG_REQUEST(dispute(), verdict.output = "x", PC5786_MESSAGE_CID, "verdict.output");
	WRONG_REQUEST(dispute(), verdict.accused = "bob", PC5730_MESSAGE_OPERATION,
		      "verdict.accused");
	WRONG_REQUEST(dispute(), verdict.evidence = CID, PC5730_MESSAGE_OPERATION,
		      "verdict.evidence");
	WRONG_REQUEST(put, put.n_data = sizeof(data), PC5789_MESSAGE_COUNT, "put.data");
	WRONG_REQUEST(get, get.cid = "", PC5784_MESSAGE_MISSING, "get.cid");
	WRONG_REQUEST(get, get.offset = 1ull << 63, PC5793_MESSAGE_NUMBER, "get.offset");
	WRONG_REQUEST(get, get.length = sizeof(data), PC5793_MESSAGE_NUMBER, "get.length");
	WRONG_REQUEST(blob(), blob.sender = "", PC5784_MESSAGE_MISSING, "blob.sender");
	WRONG_REQUEST(blob(), blob.n_data = 0, PC5784_MESSAGE_MISSING, "blob.data");
	WRONG_REQUEST(blob(), blob.blocks = 0, PC5784_MESSAGE_MISSING, "blob.blocks");
	WRONG_REQUEST(blob(), blob.blocks = 1ull << 63, PC5793_MESSAGE_NUMBER, "blob.blocks");
	WRONG_RESPONSE(put_response, put.cid = "x", PC5786_MESSAGE_CID, "put.cid");
	WRONG_RESPONSE(get_response, get.n_data = sizeof(data), PC5789_MESSAGE_COUNT, "get.data");
	WRONG_RESPONSE(ack(PCTL_MSG_LINK), ack.sequence = 1ull << 63, PC5793_MESSAGE_NUMBER,
		       "ack.sequence");
	WRONG_RESPONSE(ack(PCTL_MSG_LINK), ack.proposal = 1, PC5730_MESSAGE_OPERATION,
		       "ack.proposal");
}

/* As WRONG_REQUEST, of `auth`. */
#define WRONG_AUTH(REQUEST, CHANGE, CODE, FIELD)                                       \
	do {                                                                           \
		pctl_request wrong_one = authored(REQUEST);                            \
		uint8_t *bytes;                                                        \
		uint64_t n;                                                            \
		wrong_one.auth.CHANGE;                                                 \
		forget();                                                              \
		only(CODE, FIELD, pctl_request_encode(&wrong_one, &call, &bytes, &n)); \
	} while (0)

static void test_chain_message_kinds__keys_and_signatures_refuse_every_field(void **state)
{
	(void)state;
	WRONG_REQUEST(keys(), keys.sender = "", PC5784_MESSAGE_MISSING, "keys.sender");
	WRONG_REQUEST(keys(), keys.threshold = 0, PC5784_MESSAGE_MISSING, "keys.threshold");
	WRONG_REQUEST(keys(), keys.threshold = 3, PC5793_MESSAGE_NUMBER, "keys.threshold");
	WRONG_REQUEST(keys(), keys.keys = short_keys, PC5732_MESSAGE_BYTES, "keys.keys[1]");
	WRONG_REQUEST(keys(), keys.keys = swapped_keys, PC5792_MESSAGE_ORDER, "keys.keys[1]");
	WRONG_REQUEST(statement(), statement.sender = "", PC5784_MESSAGE_MISSING,
		      "statement.sender");
	WRONG_REQUEST(statement(), statement.key.n = 31, PC5732_MESSAGE_BYTES, "statement.key");
	WRONG_REQUEST(statement(), statement.root.n = 0, PC5732_MESSAGE_BYTES, "statement.root");
	WRONG_REQUEST(statement(), statement.signature.n = 63, PC5732_MESSAGE_BYTES,
		      "statement.signature");
	WRONG_REQUEST(statement(), statement.height = 0, PC5784_MESSAGE_MISSING,
		      "statement.height");
	WRONG_REQUEST(statement(), statement.height = 1ull << 63, PC5793_MESSAGE_NUMBER,
		      "statement.height");
	WRONG_REQUEST(role(), role.sender = "", PC5784_MESSAGE_MISSING, "role.sender");
	WRONG_REQUEST(role(), role.account = "B", PC5785_MESSAGE_SENDER, "role.account");
	WRONG_REQUEST(role(), role.role = 0, PC5784_MESSAGE_MISSING, "role.role");
	WRONG_REQUEST(role(), role.role = 3, PC5793_MESSAGE_NUMBER, "role.role");
	WRONG_AUTH(role(), chain.n = 31, PC5732_MESSAGE_BYTES, "role.auth.chain");
	WRONG_AUTH(role(), nonce = 1ull << 63, PC5793_MESSAGE_NUMBER, "role.auth.nonce");
	WRONG_AUTH(role(), expiry = 0, PC5784_MESSAGE_MISSING, "role.auth.expiry");
	WRONG_AUTH(role(), expiry = 1ull << 63, PC5793_MESSAGE_NUMBER, "role.auth.expiry");
	WRONG_AUTH(role(), signatures = same_signatures, PC5792_MESSAGE_ORDER,
		   "role.auth.signatures[1]");
	WRONG_AUTH(role(), signatures = short_signatures; wrong_one.auth.n_signatures = 1,
							  PC5732_MESSAGE_BYTES,
							  "role.auth.signatures[0]");
	WRONG_AUTH(((pctl_request){.kind = PCTL_MSG_GET, .as.get = {.cid = CID}}), is_given = 1,
		   PC5730_MESSAGE_OPERATION, "get.auth");
}

/* What is signed is the same before and behind the wire, and does not depend on who signed. */
static void test_chain_message_kinds__signed_bytes_are_of_the_bare_message(void **state)
{
	pctl_request made = authored(role()), back;
	uint8_t *bytes, *one, *other;
	uint64_t n, n_one, n_other;

	(void)state;
	forget();
	assert_int_equal(pctl_request_encode(&made, &call, &bytes, &n), PCTL_OK);
	assert_int_equal(pctl_request_decode(bytes, n, &call, &back), PCTL_OK);
	made.auth.n_signatures = 0;
	assert_int_equal(pctl_request_signed(&made, &call, &one, &n_one), PCTL_OK);
	assert_int_equal(pctl_request_signed(&back, &call, &other, &n_other), PCTL_OK);
	assert_int_equal(n_one, n_other);
	assert_memory_equal(one, other, n_one);
	made.auth.nonce++;
	free(other);
	assert_int_equal(pctl_request_signed(&made, &call, &other, &n_other), PCTL_OK);
	assert_memory_not_equal(one, other, n_one);
	pctl_request_destroy(&back);
	free(bytes);
	free(one);
	free(other);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_message_kinds__good_messages_pass_both_ways),
		PCTL_TEST(test_chain_message_kinds__moves_and_votes_refuse_every_field),
		PCTL_TEST(test_chain_message_kinds__names_and_bytes_refuse_every_field),
		PCTL_TEST(test_chain_message_kinds__keys_and_signatures_refuse_every_field),
		PCTL_TEST(test_chain_message_kinds__signed_bytes_are_of_the_bare_message))
