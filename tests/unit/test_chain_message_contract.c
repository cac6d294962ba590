/* Messages of contracts: both ways, and every field wrong in turn. */
#include "test_chain_message.h"

static const uint8_t code[] = "\0asm";

static pctl_request contract(void)
{
	return (pctl_request){.kind = PCTL_MSG_CONTRACT, .as.contract = {"alice", code, 4}};
}

static pctl_request calling(void)
{
	return (pctl_request){.kind = PCTL_MSG_CALL,
			      .as.call = {"alice", CID, "start", code, 4, UINT64_MAX, 7, 0}};
}

static pctl_request view(void)
{
	return (pctl_request){.kind = PCTL_MSG_VIEW, .as.call = {"", CID, "", code, 4, 1, 0, 9}};
}

static const char *const jobs[] = {ID_A, ID_A};
static const pctl_msg_bytes texts[] = {{code, 4}, {code, 0}};

static pctl_response complete(uint32_t kind)
{
	return (pctl_response){.kind = kind,
			       .as.call = {.call_id = kind == PCTL_MSG_VIEW ? "" : ID_A,
					   .status = PCTL_JOB_COMPLETE,
					   .fuel_used = 5,
					   .gas_used = 6,
					   .height = 9,
					   .jobs = jobs,
					   .log = texts,
					   .n_jobs = 2,
					   .n_log = 2,
					   .error = ""}};
}

static pctl_response failed(void)
{
	pctl_response r = complete(PCTL_MSG_CALL);

	r.as.call.status = PCTL_JOB_FAILED;
	r.as.call.returned = UINT32_MAX;
	r.as.call.n_jobs = 0;
	r.as.call.code = PC6124_CONTRACT_REFUSED;
	r.as.call.error = "it returned -1";
	return r;
}

static void test_chain_message_contract__good_messages_pass_both_ways(void **state)
{
	pctl_request q[] = {contract(), calling(), view()};
	pctl_response r[] = {
		{.kind = PCTL_MSG_CONTRACT, .as.contract = {CID, 5}},
		complete(PCTL_MSG_CALL),
		complete(PCTL_MSG_VIEW),
		failed(),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++)
		request_passes(&q[i]);
	for (size_t i = 0; i < sizeof(r) / sizeof(r[0]); i++)
		response_passes(&r[i]);
}

static void test_chain_message_contract__requests_refuse_every_field(void **state)
{
	(void)state;
	WRONG_REQUEST(contract(), contract.sender = "", PC5784_MESSAGE_MISSING, "contract.sender");
	WRONG_REQUEST(contract(), contract.n_code = 0, PC5784_MESSAGE_MISSING, "contract.code");
	WRONG_REQUEST(contract(), contract.n_code = PCTL_MESSAGE_CODE_MAX + 1u,
		      PC5789_MESSAGE_COUNT, "contract.code");
	WRONG_REQUEST(calling(), call.sender = "", PC5784_MESSAGE_MISSING, "call.sender");
	WRONG_REQUEST(calling(), call.contract = "", PC5784_MESSAGE_MISSING, "call.contract");
	WRONG_REQUEST(calling(), call.contract = ID_A, PC5786_MESSAGE_CID, "call.contract");
	WRONG_REQUEST(calling(), call.function = "a\n", PC5788_MESSAGE_TEXT, "call.function");
	WRONG_REQUEST(calling(), call.n_argument = PCTL_MESSAGE_ARGUMENT_MAX + 1u,
		      PC5789_MESSAGE_COUNT, "call.argument");
	WRONG_REQUEST(calling(), call.fuel = 0, PC5784_MESSAGE_MISSING, "call.fuel");
	WRONG_REQUEST(calling(), call.height = 1, PC5730_MESSAGE_OPERATION, "call.height");
	WRONG_REQUEST(view(), call.contract = "", PC5784_MESSAGE_MISSING, "view.contract");
	WRONG_REQUEST(view(), call.fuel = 0, PC5784_MESSAGE_MISSING, "view.fuel");
	WRONG_REQUEST(view(), call.pay = 1, PC5730_MESSAGE_OPERATION, "view.pay");
	WRONG_REQUEST(view(), call.height = 1ull << 63, PC5793_MESSAGE_NUMBER, "view.height");
}

static void test_chain_message_contract__responses_refuse_every_field(void **state)
{
	static const pctl_msg_bytes long_text[] = {{code, PCTL_MESSAGE_LOGS_MAX + 1u}};
	const pctl_response there = {.kind = PCTL_MSG_CONTRACT, .as.contract = {CID, 5}};

	(void)state;
	WRONG_RESPONSE(there, contract.contract = "", PC5784_MESSAGE_MISSING, "contract.contract");
	WRONG_RESPONSE(complete(PCTL_MSG_CALL), call.call_id = "", PC5784_MESSAGE_MISSING,
		       "call.call_id");
	WRONG_RESPONSE(complete(PCTL_MSG_VIEW), call.call_id = ID_A, PC5730_MESSAGE_OPERATION,
		       "view.call_id");
	WRONG_RESPONSE(complete(PCTL_MSG_CALL), call.status = PCTL_JOB_PENDING,
		       PC5795_MESSAGE_STATUS, "call.status");
	WRONG_RESPONSE(failed(), call.jobs = jobs;
		       m.as.call.n_jobs = 1, PC5795_MESSAGE_STATUS, "call.jobs");
	WRONG_RESPONSE(complete(PCTL_MSG_CALL), call.log = long_text;
		       m.as.call.n_log = 1, PC5789_MESSAGE_COUNT, "call.log");
	WRONG_RESPONSE(complete(PCTL_MSG_CALL), call.code = PC6122_CONTRACT_TRAP,
		       PC5795_MESSAGE_STATUS, "call.code");
	WRONG_RESPONSE(failed(), call.code = 9999, PC5795_MESSAGE_STATUS, "call.code");
	WRONG_RESPONSE(failed(), call.error = "", PC5784_MESSAGE_MISSING, "call.error");
	WRONG_RESPONSE(complete(PCTL_MSG_CALL), call.error = "x", PC5795_MESSAGE_STATUS,
		       "call.error");
	WRONG_RESPONSE(complete(PCTL_MSG_CALL), call.height = 1ull << 63, PC5793_MESSAGE_NUMBER,
		       "call.height");
}

PCTL_TESTS_MAIN(cmocka_unit_test(test_chain_message_contract__good_messages_pass_both_ways),
		cmocka_unit_test(test_chain_message_contract__requests_refuse_every_field),
		cmocka_unit_test(test_chain_message_contract__responses_refuse_every_field))
