/* The call interface of contracts as C sees it: what is filled in, what is written where, and that a call counts as a whole
 * or not at all. Scripts of calls drive the same. */
#include "main.h"

#include <stdlib.h>

#include "chain/contracts/contract_script.h"
#include "test_chain_service.h"

static pctl_contract *begin(uint64_t fuel_per_gas)
{
	const pctl_contract_options o = {.service = &toy_service,
					 .account = "contract",
					 .caller = "caller",
					 .paid = "executor",
					 .fuel_per_gas = fuel_per_gas,
					 .log = tell};
	pctl_contract *c;

	assert_int_equal(pctl_contract_begin(&o, &call, &c), PCTL_OK);
	return c;
}

static int32_t submit(pctl_contract *c, uint64_t gas, const char *sender, uint8_t *out)
{
	pctl_contract_host *h = pctl_contract_host_of(c);
	uint32_t n;
	uint8_t *message = toy_message(gas, sender, &n);
	const int32_t result = h->gpu_submit(h->ctx, message, n, out);

	free(message);
	return result;
}

static void test_chain_contract__its_jobs_are_its_own_accounts(void **state)
{
	uint8_t out[PCTL_CONTRACT_SUBMIT_BYTES];
	const char(*jobs)[PCTL_CONTRACT_ID_BYTES + 1];
	pctl_contract_host *h;
	pctl_contract *c = begin(0);

	(void)state;
	h = pctl_contract_host_of(c);
	assert_int_equal(submit(c, 50, NULL, out), 0);
	assert_string_equal(toy_sender, "contract");
	assert_memory_equal(out, toy_ids[0], 64);
	assert_memory_equal(out + 64, "\3\0\0\0\0\0\0\0", 8);
	assert_int_equal(submit(c, 50, "contract", out), 0);
	assert_int_equal(submit(c, 50, "other", out), -PC6126_CONTRACT_SENDER);
	assert_int_equal(submit(c, 7, NULL, out), -PC5713_LEDGER_FUNDS);
	assert_int_equal(h->gpu_submit(h->ctx, (const uint8_t *)"\xff", 1, out),
			 -PC5781_MESSAGE_WIRE);
	assert_int_equal(h->gpu_submit(h->ctx, NULL, 0, out), -PC5784_MESSAGE_MISSING);
	assert_int_equal(pctl_contract_jobs(c, &jobs), 2);
	assert_string_equal(jobs[1], toy_ids[1]);
	assert_true(h->spent > 6 * PCTL_CONTRACT_FUEL_SUBMIT);
	assert_int_equal(pctl_contract_end(c, PCTL_OK, 0, NULL), PCTL_OK);
	assert_int_equal(toy.n_jobs, 2);
	assert_int_equal(n_refused, 0);
}

static void test_chain_contract__results_are_laid_out_as_documented(void **state)
{
	uint8_t out[2000], ids[PCTL_CONTRACT_SUBMIT_BYTES];
	pctl_contract *c = begin(0);
	pctl_contract_host *h = pctl_contract_host_of(c);

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(submit(c, 50, NULL, ids), 0);
	toy.n_ended = 2;
#define RESULT(i, n) h->gpu_result(h->ctx, (const uint8_t *)toy_ids[i], out, n)
	memset(out, 0xee, sizeof(out));
	assert_int_equal(RESULT(0, 20 + 58), -PC6127_CONTRACT_ROOM);
	assert_int_equal(out[0], 0xee);
	assert_int_equal(RESULT(0, 20 + 59), PCTL_JOB_COMPLETE);
	assert_memory_equal(
		out,
		"\x08\x07\x06\x05\x04\x03\x02\x01\3\0\0\0\0\0\0\0\x3b\0\0\0" CID_OF_NOTHING "\xee",
		80);
	assert_int_equal(RESULT(1, 2000), PCTL_JOB_FAILED);
	assert_memory_equal(out + 16, "\x11\0\0\0dependency failed", 21);
	assert_int_equal(RESULT(2, 20), PCTL_JOB_PENDING);
	assert_memory_equal(out, "\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\0\0\0", 20);
	toy_ids[2][0] = 'X';
	assert_int_equal(RESULT(2, 20), -PC5787_MESSAGE_HASH);
	memset(toy_ids[7], 'a', 64);
	assert_int_equal(RESULT(7, 20), -5801);
	assert_int_equal(pctl_contract_end(c, PCTL_OK, 0, NULL), PCTL_OK);
}

static void test_chain_contract__bytes_come_whole_or_the_call_ends(void **state)
{
	uint8_t out[8] = "........";
	pctl_contract *c = begin(0);
	pctl_contract_host *h = pctl_contract_host_of(c);
	const uint8_t *cid = (const uint8_t *)CID_OF_NOTHING;
	uint8_t id[PCTL_CONTRACT_SUBMIT_BYTES];

	(void)state;
	assert_int_equal(submit(c, 50, NULL, id), 0);
	assert_int_equal(h->cas_get(h->ctx, cid, 59, out, 4), 6);
	assert_memory_equal(out, "outp....", 8);
	assert_int_equal(h->cas_get(h->ctx, cid, 59, NULL, 0), 6);
	assert_int_equal(h->cas_get(h->ctx, cid, 58, out, 8), -PC5786_MESSAGE_CID);
	assert_int_equal(h->cas_get(h->ctx, (const uint8_t *)"x", 1, out, 8), -PC5786_MESSAGE_CID);
	assert_int_equal(h->failure, PCTL_OK);
	toy_has_bytes = 0;
	h->cas_get(h->ctx, cid, 59, out, 8);
	assert_int_equal(h->failure, PCTL_E_NOT_FOUND);
	assert_int_equal(refused[0], PC6125_CONTRACT_BYTES);
	assert_int_equal(pctl_contract_end(c, PCTL_OK, 0, NULL), PCTL_E_NOT_FOUND);
	assert_int_equal(toy.n_jobs, 0);
}

static void test_chain_contract__the_caller_pays_or_nothing_happens(void **state)
{
	pctl_contract_options o = {.service = &toy_service,
				   .account = "contract",
				   .caller = "caller",
				   .paid = "executor",
				   .pay = 100,
				   .fuel_per_gas = 10};
	uint8_t id[PCTL_CONTRACT_SUBMIT_BYTES];
	pctl_contract *c;
	uint64_t gas;

	(void)state;
	assert_int_equal(pctl_contract_begin(&o, &call, &c), PCTL_OK);
	assert_int_equal(submit(c, 50, NULL, id), 0);
	assert_int_equal(pctl_contract_end(c, PCTL_OK, 91, &gas), PCTL_OK);
	assert_int_equal(gas, 10);
	assert_int_equal(toy.paid, 110);
	/* The fee cannot be paid: the jobs do not count either. */
	assert_int_equal(pctl_contract_begin(&o, &call, &c), PCTL_OK);
	assert_int_equal(submit(c, 50, NULL, id), 0);
	assert_int_equal(pctl_contract_end(c, PCTL_OK, 100000, &gas), PCTL_E_GAS);
	assert_int_equal(gas, 0);
	assert_int_equal(refused[0], PC5713_LEDGER_FUNDS);
	assert_int_equal(toy.n_jobs, 1);
	assert_int_equal(toy.paid, 110);
	o.pay = 5000;
	assert_int_equal(pctl_contract_begin(&o, &call, &c), PCTL_E_GAS);
	assert_null(c);
	assert_false(toy_is_open);
	/* Trouble of the node in the middle. */
	c = begin(0);
	for (int i = 0; i < 7; i++)
		assert_int_equal(submit(c, 50, NULL, id), 0);
	assert_true(submit(c, 50, NULL, id) < 0);
	assert_int_equal(pctl_contract_host_of(c)->failure, PCTL_E_STORE);
	assert_int_equal(pctl_contract_end(c, PCTL_OK, 0, NULL), PCTL_E_STORE);
	assert_int_equal(toy.n_jobs, 1);
}

/* ---- scripts -------------------------------------------------------------------------------- */

static pctl_status script(const char *lines, const char *argument, uint64_t fuel)
{
	pctl_contract *c = begin(0);
	char text[2000], hex[400] = "";
	uint64_t used;
	uint32_t n;
	uint8_t *message = toy_message(50, NULL, &n);

	for (uint32_t i = 0; i < n; i++)
		snprintf(hex + 2 * i, sizeof(hex) - 2 * i, "%02x", message[i]);
	free(message);
	/* %s stands for the message of a job. */
	snprintf(text, sizeof(text), lines, hex);
	return pctl_contract_end(c,
				 pctl_contract_script(text, strlen(text), argument,
						      pctl_contract_host_of(c), fuel, &call, &used),
				 used, NULL);
}

#define M PCTL_SCRIPT_MARK "\n"

static void test_chain_contract__a_script_drives_the_interface(void **state)
{
	(void)state;
	assert_int_equal(script(M
				"submit a %s\nresult a pending\n\n# note\nlog done\nreturn 0\ntrap",
				"", 1000000),
			 PCTL_OK);
	assert_string_equal(told, "pending gas 0 clock 3 \ndone\n");
	assert_int_equal(toy.n_jobs, 1);
	toy.n_ended = 1;
	told[0] = '\0';
	assert_int_equal(script(M "result $argument complete\nget $argument\nget " CID_OF_NOTHING,
				toy_ids[0], 1000000),
			 PCTL_OK);
	assert_string_equal(told, "complete gas 72623859790382856 clock 3 " CID_OF_NOTHING
				  "\ncas_get 6 6f7574707574\ncas_get 6 6f7574707574\n");
	assert_int_equal(script(M "refused 5781 ff", "", 1000000), PCTL_OK);
	assert_int_equal(n_refused, 0);
}

static void test_chain_contract__a_script_that_fails_changes_nothing(void **state)
{
	static const struct {
		const char *lines;
		uint64_t fuel;
		uint32_t code;
	} bad[] = {
		{"submit a %s", 1000000, PC6121_CONTRACT_MODULE},
		{M "submit a %s\nsubmitt b 00", 1000000, PC6121_CONTRACT_MODULE},
		{M "submit a %s\nsubmit b 0", 1000000, PC6121_CONTRACT_MODULE},
		{M "submit a %s\nresult b pending", 1000000, PC6121_CONTRACT_MODULE},
		{M "submit a %s\nresult a complete", 1000000, PC6122_CONTRACT_TRAP},
		{M "submit a %s\nget a", 1000000, PC6122_CONTRACT_TRAP},
		{M "submit a %s\nsubmit b ff", 1000000, PC6122_CONTRACT_TRAP},
		{M "submit a %s\nrefused 1 ff", 1000000, PC6122_CONTRACT_TRAP},
		{M "submit a %s\ntrap", 1000000, PC6122_CONTRACT_TRAP},
		{M "submit a %s\nlog x", 100, PC6123_CONTRACT_FUEL},
		{M "submit a %s\nreturn 4", 1000000, PC6124_CONTRACT_REFUSED},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		forget();
		assert_int_not_equal(script(bad[i].lines, "", bad[i].fuel), PCTL_OK);
		assert_int_equal(refused[0], bad[i].code);
		assert_int_equal(toy.n_jobs, 0);
	}
}

#define TOY_TEST(f) cmocka_unit_test_setup(f, toy_set_up)
PCTL_TESTS_MAIN(TOY_TEST(test_chain_contract__its_jobs_are_its_own_accounts),
		TOY_TEST(test_chain_contract__results_are_laid_out_as_documented),
		TOY_TEST(test_chain_contract__bytes_come_whole_or_the_call_ends),
		TOY_TEST(test_chain_contract__the_caller_pays_or_nothing_happens),
		TOY_TEST(test_chain_contract__a_script_drives_the_interface),
		TOY_TEST(test_chain_contract__a_script_that_fails_changes_nothing))
