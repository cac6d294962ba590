/* Serving any request: answers, what is taken in, and refusals as error responses. */
#include "test_chain_submit.h"

#define NONE64 "1111111111111111111111111111111111111111111111111111111111111111"

static pctl_response serve(rig *g, const pctl_request *r)
{
	pctl_response out;

	forget();
	assert_int_equal(pctl_chain_serve(g->chain, r, &call, &out), PCTL_OK);
	assert_int_equal(n_refused, 0); /* a refusal is the response, not a complaint */
	assert_int_equal(pctl_response_check(&out, &call), PCTL_OK);
	return out;
}

static void refuses(rig *g, const pctl_request *r, uint32_t code)
{
	pctl_response out = serve(g, r);

	assert_int_equal(out.kind, PCTL_MSG_ERROR);
	assert_int_equal(out.as.error.code, code);
	pctl_response_destroy(&out);
}

static void test_chain_serve__jobs_are_taken_and_asked_for(void **state)
{
	rig g = start_default();
	pctl_msg_binding b;
	pctl_request r = job_of(&g, &b), query = {.kind = PCTL_MSG_QUERY, .as.query = {NONE64}};
	pctl_response out, answer;

	(void)state;
	refuses(&g, &query, PC5801_JOB_UNKNOWN);
	r.as.execute.gas_limit = 1;
	refuses(&g, &r, PC5818_JOB_GAS);
	r.as.execute.gas_limit = 0;
	refuses(&g, &r, PC5784_MESSAGE_MISSING);
	r.as.execute.gas_limit = 100000;
	out = serve(&g, &r);
	assert_int_equal(out.kind, PCTL_MSG_EXECUTE);
	query.as.query.job_id = out.as.execute.job_id;
	answer = serve(&g, &query);
	assert_int_equal(answer.kind, PCTL_MSG_QUERY);
	assert_int_equal(answer.as.query.status, PCTL_JOB_PENDING);
	assert_true(answer.as.query.logical_clock == 1 && answer.as.query.gas_used == 0);
	pctl_response_destroy(&answer);
	pctl_response_destroy(&out);
	stop(&g);
}

static void test_chain_serve__bytes_come_back(void **state)
{
	static uint8_t large[PCTL_MESSAGE_DATA_MAX + 4];
	rig g = start_default();
	pctl_request put_it = {.kind = PCTL_MSG_PUT, .as.put = {(const uint8_t *)"a\0b", 3}};
	pctl_request get = {.kind = PCTL_MSG_GET};
	pctl_response made = serve(&g, &put_it), back;
	char cid[PCTL_CID_TEXT_SIZE];

	(void)state;
	get.as.get.cid = made.as.put.cid;
	back = serve(&g, &get);
	assert_int_equal(back.as.get.n_data, 3);
	assert_memory_equal(back.as.get.data, "a\0b", 3);
	pctl_response_destroy(&back);
	pctl_response_destroy(&made);
	put_it.as.put = (pctl_msg_data){NULL, 0};
	made = serve(&g, &put_it);
	get.as.get.cid = made.as.put.cid;
	back = serve(&g, &get);
	assert_int_equal(back.as.get.n_data, 0);
	pctl_response_destroy(&back);
	pctl_response_destroy(&made);
	put(&g, large, sizeof(large), cid);
	get.as.get.cid = cid;
	refuses(&g, &get, PC5789_MESSAGE_COUNT);
	stop(&g);
}

static void test_chain_serve__acknowledgements_count(void **state)
{
	rig g = start_default();
	pctl_request r = ledger_of(PCTL_LEDGER_BOND, "ann", "", 10);
	pctl_request block = {.kind = PCTL_MSG_BLOCK_QUERY};
	pctl_response out = serve(&g, &r);

	(void)state;
	/* a credit and an upload went before */
	assert_true(out.as.ack.sequence == 2 && out.as.ack.proposal == 0);
	pctl_response_destroy(&out);
	out = serve(&g, &r);
	assert_true(out.as.ack.sequence == 3);
	pctl_response_destroy(&out);
	refuses(&g, &block, PC5852_BLOCK_UNKNOWN);
	stop(&g);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_serve__jobs_are_taken_and_asked_for),
		PCTL_TEST(test_chain_serve__bytes_come_back),
		PCTL_TEST(test_chain_serve__acknowledgements_count))
