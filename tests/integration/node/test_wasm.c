/* Contracts in WebAssembly over a chain of the test's own: every host function, every way to end, fuel to the unit. The
 * library is named by PIPECTL_WASMTIME, the text of the contract by CONTRACT. */
#include "main.h"

#include <stdlib.h>

#include "chain/contracts/contract_wasm.h"
#include "test_chain_service.h"

static pctl_wasm *wasm;
static uint8_t *module;
static size_t n_module;
static uint64_t used;

static void load(void)
{
	static char text[20000];
	FILE *f;
	size_t n;

	if (wasm != NULL)
		return;
	assert_int_equal(pctl_wasm_open(getenv("PIPECTL_WASMTIME"), &call, &wasm), PCTL_OK);
	f = fopen(getenv("CONTRACT"), "r");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	assert_int_equal(pctl_wasm_assemble(wasm, text, n, &call, &module, &n_module), PCTL_OK);
}

/* One call of an export; jobs stay when it succeeds. */
static pctl_status run_module(const uint8_t *bytes, size_t n, const char *function,
			      const void *argument, uint32_t n_argument, uint64_t fuel)
{
	const pctl_contract_options o = {
		.service = &toy_service, .account = "contract", .log = tell};
	pctl_wasm_run run = {
		.function = function, .argument = argument, .n_argument = n_argument, .fuel = fuel};
	pctl_contract *c;
	pctl_status status;

	forget();
	told[0] = '\0';
	assert_int_equal(pctl_contract_begin(&o, &call, &c), PCTL_OK);
	status = pctl_wasm_call(wasm, bytes, n, pctl_contract_host_of(c), &run, &call);
	used = run.used;
	return pctl_contract_end(c, status, run.used, NULL);
}

static pctl_status run(const char *function, const void *argument, uint32_t n, uint64_t fuel)
{
	load();
	return run_module(module, n_module, function, argument, n, fuel);
}

static pctl_status run_text(const char *text, const char *function)
{
	uint8_t *bytes;
	size_t n;
	pctl_status status;

	load();
	assert_int_equal(pctl_wasm_assemble(wasm, text, strlen(text), &call, &bytes, &n), PCTL_OK);
	status = run_module(bytes, n, function, NULL, 0, PCTL_WASM_FUEL);
	free(bytes);
	return status;
}

static pctl_status run_job(const char *function, uint64_t gas, uint64_t fuel)
{
	uint32_t n;
	uint8_t *message = toy_message(gas, NULL, &n);
	const pctl_status status = run(function, message, n, fuel);

	free(message);
	return status;
}

#define F PCTL_WASM_FUEL

static void test_wasm__submits_now_and_reads_later(void **state)
{
	(void)state;
	assert_int_equal(run_job("submit", 50, F), PCTL_OK);
	assert_string_equal(toy_sender, "contract");
	assert_int_equal(strncmp(told, toy_ids[0], 64), 0);
	assert_int_equal(run_job("submit_twice", 50, F), PCTL_OK);
	assert_int_equal(toy.n_jobs, 3);
	/* Pending, then complete and failed: 100 + status. */
	assert_int_equal(run("read", toy_ids[0], 64, F), PCTL_E_EXEC);
	assert_string_equal(words, "read returned 100");
	toy.n_ended = 2;
	assert_int_equal(run("read", toy_ids[0], 64, F), PCTL_OK);
	assert_string_equal(told, CID_OF_NOTHING "\noutput\n");
	assert_int_equal(run("read", toy_ids[1], 64, F), PCTL_E_EXEC);
	assert_string_equal(words, "read returned 103");
	assert_string_equal(told, "dependency failed\n");
	/* A refusal's code is the contract's to see. */
	assert_int_equal(run_job("refused", 7, F), PCTL_E_EXEC);
	assert_string_equal(words, "refused returned 5713");
	assert_int_equal(run("nan", NULL, 0, F), PCTL_OK);
}

static void test_wasm__what_fails_leaves_nothing(void **state)
{
	static const struct {
		const char *function;
		uint64_t fuel;
		uint32_t code;
	} bad[] = {
		{"trap_after_submit", F, PC6122_CONTRACT_TRAP},
		{"spin_after_submit", 1000000, PC6123_CONTRACT_FUEL},
		{"submit", PCTL_CONTRACT_FUEL_SUBMIT, PC6123_CONTRACT_FUEL},
		{"submit", 3, PC6123_CONTRACT_FUEL},
		{"deep", F, PC6122_CONTRACT_TRAP},
		{"refuse", F, PC6124_CONTRACT_REFUSED},
		{"bad_message", F, PC6122_CONTRACT_TRAP},
		{"bad_out", F, PC6122_CONTRACT_TRAP},
		{"bad_wrap", F, PC6122_CONTRACT_TRAP},
		{"bad_get", F, PC6122_CONTRACT_TRAP},
		{"bad_log", F, PC6122_CONTRACT_TRAP},
		{"no_such", F, PC6121_CONTRACT_MODULE},
		{"memory", F, PC6121_CONTRACT_MODULE},
		{"one_parameter", F, PC6121_CONTRACT_MODULE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_not_equal(run_job(bad[i].function, 50, bad[i].fuel), PCTL_OK);
		assert_int_equal(refused[0], bad[i].code);
		assert_int_equal(n_refused, 1);
		assert_int_equal(toy.n_jobs, 0);
		assert_true(used <= bad[i].fuel);
	}
	/* Bytes that are not there end the call, whatever the contract would make of it. */
	assert_int_equal(run_job("submit", 50, F), PCTL_OK);
	toy.n_ended = 1;
	toy_has_bytes = 0;
	assert_int_equal(run("read", toy_ids[0], 64, F), PCTL_E_NOT_FOUND);
	assert_int_equal(refused[0], PC6125_CONTRACT_BYTES);
}

static void test_wasm__fuel_is_the_same_each_time(void **state)
{
	uint64_t all, deep;

	(void)state;
	assert_int_equal(run_job("submit", 50, F), PCTL_OK);
	all = used;
	assert_int_equal(run_job("submit", 50, all), PCTL_OK);
	assert_int_equal(used, all);
	assert_int_equal(run_job("submit", 50, all - 300), PCTL_E_GAS);
	/* Host functions are in it. */
	assert_true(all > PCTL_CONTRACT_FUEL_SUBMIT && all < PCTL_CONTRACT_FUEL_SUBMIT + 1000);
	assert_int_equal(run("deep", "x", 1, F), PCTL_E_EXEC);
	deep = used;
	assert_int_equal(run("deep", "x", 1, F), PCTL_E_EXEC);
	assert_int_equal(used, deep);
	/* The portable interpreter's frames: these numbers are the same on every machine. */
	assert_int_equal(all, 10319);
	assert_int_equal(deep, 37308);
}

static void test_wasm__modules_that_are_no_contracts(void **state)
{
	static const char *const bad[] = {
		"(module (import \"wasi_snapshot_preview1\" \"fd_write\" (func (param i32 i32 i32 "
		"i32) "
		"(result i32))))",
		"(module (import \"pipectl\" \"clock\" (func (result i64))))",
		"(module (import \"pipectl\" \"log\" (func (param i64))))",
		"(module (memory 1 1 shared))",
		"(module (func (result v128) (v128.const i32x4 0 0 0 0)))",
		"(module (memory 1) (memory 1))",
		"(module (memory i64 1))",
		"(module (memory 257))",
		"(module (tag))",
		"(module (func $f (return_call $f)))",
		"(module (type (struct)))",
	};
	uint8_t *out;
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(run_text(bad[i], "call"), PCTL_E_INVALID);
		assert_int_equal(refused[0], PC6121_CONTRACT_MODULE);
	}
	load();
	assert_int_equal(run_module((const uint8_t *)"\0asm", 4, "call", NULL, 0, F),
			 PCTL_E_INVALID);
	assert_int_equal(run_module(module, PCTL_WASM_MODULE_MAX + 1u, "call", NULL, 0, F),
			 PCTL_E_INVALID);
	assert_int_equal(run("submit", module, PCTL_WASM_ARGUMENT_MAX + 1u, F), PCTL_E_LIMIT);
	assert_int_equal(refused[0], PC6127_CONTRACT_ROOM);
	/* alloc says no, there is no alloc, and code that runs when the module is made. */
	assert_int_equal(run("submit", module, 65537, F), PCTL_E_EXEC);
	assert_int_equal(refused[0], PC6122_CONTRACT_TRAP);
	assert_int_equal(run_text("(module (func $f unreachable) (start $f))", "call"),
			 PCTL_E_EXEC);
	assert_int_equal(run_text("(module (func $f (loop $l (br $l))) (start $f))", "call"),
			 PCTL_E_GAS);
	assert_int_equal(run_text("(module (func (export \"call\") (param i32 i32) (result i32) "
				  "(i32.const 0)))",
				  NULL),
			 PCTL_OK);
	assert_int_equal(pctl_wasm_assemble(wasm, "(module", 7, &call, &out, &n), PCTL_E_INVALID);
	/* Without a memory there is nothing a host function could be pointed at. */
	assert_int_equal(run_text("(module (import \"pipectl\" \"log\" (func $l (param i32 i32))) "
				  "(func (export \"call\") (param i32 i32) (result i32) "
				  "(call $l (i32.const 0) (i32.const 0)) (i32.const 0)))",
				  "call"),
			 PCTL_E_EXEC);
}

static void test_wasm__a_library_is_the_right_one_or_none(void **state)
{
	static const char *const bad[] = {"libwasmtime.so", "/nowhere/libwasmtime.so",
					  "/proc/self/exe", "/lib/x86_64-linux-gnu/libm.so.6"};
	pctl_wasm *w;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		forget();
		assert_int_equal(pctl_wasm_open(bad[i], &call, &w), PCTL_E_UNSUPPORTED);
		assert_int_equal(refused[0], PC6120_CONTRACT_RUNTIME);
		assert_null(w);
	}
}

#define TOY_TEST(f) cmocka_unit_test_setup(f, toy_set_up)
PCTL_TESTS_MAIN(TOY_TEST(test_wasm__submits_now_and_reads_later),
		TOY_TEST(test_wasm__what_fails_leaves_nothing),
		TOY_TEST(test_wasm__fuel_is_the_same_each_time),
		TOY_TEST(test_wasm__modules_that_are_no_contracts),
		TOY_TEST(test_wasm__a_library_is_the_right_one_or_none))
