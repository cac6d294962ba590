/* A chain of the tests' own, behind the interface that node and contracts see: jobs in an array, results by a rule, and a
 * batch that can be taken back. */
#ifndef PIPECTL_TESTS_CHAIN_SERVICE_H
#define PIPECTL_TESTS_CHAIN_SERVICE_H

#include <stdio.h>

#include "chain/node/node.h"
#include "test_chain_bytes.h"

#define CID_OF_NOTHING "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"

/* What is kept when a batch is committed. paid: gas moved by the caller. */
typedef struct toy_chain {
	uint32_t n_jobs, n_ended;
	uint64_t paid;
} toy_chain;

static toy_chain toy, toy_before;
static char toy_sender[65], toy_ids[8][65];
static int toy_is_open, toy_has_bytes;

static pctl_status toy_begin(void *ctx, const pctl_call *c)
{
	(void)ctx;
	(void)c;
	assert_false(toy_is_open);
	toy_is_open = 1;
	toy_before = toy;
	return PCTL_OK;
}

static pctl_status toy_commit(void *ctx, const pctl_call *c)
{
	(void)ctx;
	(void)c;
	assert_true(toy_is_open);
	toy_is_open = 0;
	return PCTL_OK;
}

static void toy_abort(void *ctx)
{
	(void)ctx;
	assert_true(toy_is_open);
	toy_is_open = 0;
	toy = toy_before;
}

static pctl_status toy_refuse(uint32_t code, pctl_response *out)
{
	*out = (pctl_response){.kind = PCTL_MSG_ERROR,
			       .as.error = {.code = code, .message = "refused"}};
	return PCTL_OK;
}

/* gas_limit 7 is too little; the id is the number of the job. */
static pctl_status toy_serve(void *ctx, const pctl_request *r, const pctl_call *c,
			     pctl_response *out)
{
	(void)ctx;
	assert_int_equal(pctl_request_check(r, &call), PCTL_OK);
	if (r->kind == PCTL_MSG_LEDGER && r->as.ledger.amount > 1000)
		return toy_refuse(PC5713_LEDGER_FUNDS, out);
	if (r->kind == PCTL_MSG_LEDGER) {
		toy.paid += r->as.ledger.amount;
		*out = (pctl_response){.kind = PCTL_MSG_LEDGER, .as.ack = {.sequence = 1}};
		return PCTL_OK;
	}
	if (r->kind == PCTL_MSG_EXECUTE && r->as.execute.gas_limit == 7)
		return toy_refuse(PC5713_LEDGER_FUNDS, out);
	if (r->kind == PCTL_MSG_EXECUTE) {
		if (toy.n_jobs == 8)
			return pctl_refuse(c, PC5701_CHAIN_STATE, "%s", "full");
		snprintf(toy_sender, sizeof(toy_sender), "%s", r->as.execute.sender);
		snprintf(toy_ids[toy.n_jobs], 65, "%064x", 0xabc0u + toy.n_jobs);
		*out = (pctl_response){
			.kind = PCTL_MSG_EXECUTE,
			.as.execute = {.job_id = toy_ids[toy.n_jobs], .logical_clock = 3}};
		toy.n_jobs++;
		return PCTL_OK;
	}
	if (r->kind == PCTL_MSG_QUERY) {
		for (uint32_t i = 0; i < toy.n_jobs; i++) {
			if (strcmp(r->as.query.job_id, toy_ids[i]) != 0)
				continue;
			*out = (pctl_response){
				.kind = PCTL_MSG_QUERY,
				.as.query = {.output_cid = "", .error = "", .logical_clock = 3}};
			if (i >= toy.n_ended)
				return PCTL_OK;
			out->as.query.gas_used = 0x0102030405060708;
			out->as.query.status = i == 0 ? PCTL_JOB_COMPLETE : PCTL_JOB_FAILED;
			out->as.query.output_cid = i == 0 ? CID_OF_NOTHING : "";
			out->as.query.error = i == 0 ? "" : "dependency failed";
			return PCTL_OK;
		}
		return toy_refuse(5801, out);
	}
	assert_int_equal(r->kind, PCTL_MSG_GET);
	if (!toy_has_bytes)
		return toy_refuse(PC5004_CAS_ABSENT, out);
	*out = (pctl_response){.kind = PCTL_MSG_GET,
			       .as.get = {.data = (const uint8_t *)"output", .n_data = 6}};
	return PCTL_OK;
}

static const pctl_node_service toy_service = {
	.begin = toy_begin, .serve = toy_serve, .commit = toy_commit, .abort = toy_abort};

/* ---- what a call logs ----------------------------------------------------------------------- */

static char told[4096];

static void tell(void *ctx, const uint8_t *text, uint32_t n)
{
	const size_t at = strlen(told);

	(void)ctx;
	snprintf(told + at, sizeof(told) - at, "%.*s\n", (int)n, (const char *)text);
}

static int toy_set_up(void **state)
{
	(void)state;
	forget();
	toy = (toy_chain){.n_jobs = 0};
	toy_is_open = 0;
	toy_has_bytes = 1;
	told[0] = '\0';
	return 0;
}

/* The message of a job, without its sender. */
static inline uint8_t *toy_message(uint64_t gas, const char *sender, uint32_t *n)
{
	const pctl_msg_execute m = {.sender = "x",
				    .shader_cid = CID_OF_NOTHING,
				    .input = CID_OF_NOTHING,
				    .dispatch = {1, 1, 1},
				    .gas_limit = gas,
				    .uniform_cid = "",
				    .entry = ""};
	pctl_request named = {.kind = PCTL_MSG_EXECUTE, .as.execute = m}, sealed;
	const uint8_t *inner;
	uint64_t n_bytes;
	uint8_t *bytes;

	if (sender != NULL)
		named.as.execute.sender = sender;
	assert_int_equal(pctl_request_seal(&named, &call, &sealed), PCTL_OK);
	inner = pctl_execute_bytes(&sealed, &n_bytes);
	bytes = malloc(n_bytes);
	assert_non_null(bytes);
	memcpy(bytes, inner, n_bytes);
	pctl_request_destroy(&sealed);
	*n = (uint32_t)n_bytes;
	if (sender == NULL) {
		*n -= 3;
		memmove(bytes, bytes + 3, *n);
	}
	return bytes;
}

#endif
