/* Contracts in WebAssembly over a host of the test's own: every import, every way to end, fuel to the unit, and that calls end where they are
 * counted to, before any stack does. The library is named by PIPECTL_WASMTIME, the text of the contract by CONTRACT. */
#include "main.h"

#include <stdlib.h>
#include <string.h>

#include "chain/contracts/contract_wasm.h"

static pctl_wasm *wasm;
static pctl_wasm_module *contract;
static pctl_wasm_run last;
static uint32_t refused;
static char told[200];
static uint32_t n_told, n_asked;
static int fails_now;

static void keep(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	if (refused == 0 && d->severity == PCTL_SEVERITY_ERROR)
		refused = d->code;
}
static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = keep};

/* ---- a host --------------------------------------------------------------------------------- */

static pctl_contract_host host;

static int32_t toy_submit(void *ctx, const uint8_t *message, uint32_t n, uint8_t out[72])
{
	(void)ctx;
	(void)message;
	n_asked++;
	if (!host.take_fuel(host.fuel, 1000 + (uint64_t)n))
		return -1;
	memset(out, 'j', 64);
	if (fails_now)
		host.failure = PCTL_E_STORE;
	return n == 7 ? -(int32_t)PC5713_LEDGER_FUNDS : 0;
}

static int32_t toy_result(void *ctx, const uint8_t id[64], uint8_t *out, uint32_t n_out)
{
	(void)ctx;
	(void)id;
	if (n_out < 25)
		return -(int32_t)PC6127_CONTRACT_ROOM;
	memcpy(out + 16, "\5\0\0\0a cid", 9);
	return 2;
}

static int64_t toy_get(void *ctx, const uint8_t *cid, uint32_t n, uint8_t *out, uint32_t n_out)
{
	(void)ctx;
	memcpy(out, cid, n < n_out ? n : n_out);
	return n;
}

static void toy_log(void *ctx, const uint8_t *text, uint32_t n)
{
	(void)ctx;
	if (n_told + n < sizeof(told))
		memcpy(told + n_told, text, n);
	n_told += n;
}

static int64_t toy_row_get(void *ctx, const uint8_t *key, uint32_t n_key, uint8_t *out,
			   uint32_t n_out)
{
	return toy_get(ctx, key, n_key, out, n_out);
}

static int32_t toy_row_set(void *ctx, const uint8_t *key, uint32_t n_key, const uint8_t *value,
			   uint32_t n_value)
{
	toy_log(ctx, key, n_key);
	toy_log(ctx, value, n_value);
	return 0;
}

static int32_t toy_row_drop(void *ctx, const uint8_t *key, uint32_t n_key)
{
	(void)ctx;
	(void)key;
	return n_key == 4 ? -(int32_t)PC6134_CONTRACT_ROW : 0;
}

static int32_t toy_pay(void *ctx, const uint8_t *to, uint32_t n, uint64_t amount)
{
	toy_log(ctx, to, n);
	return amount == 7 ? 0 : -1;
}

static int32_t toy_caller(void *ctx, uint8_t *out, uint32_t n_out)
{
	(void)ctx;
	memcpy(out, "ada", n_out < 3 ? n_out : 3);
	return 3;
}

static int64_t toy_paid(void *ctx)
{
	(void)ctx;
	return 0x4141414141414141;
}

static int64_t toy_height(void *ctx)
{
	(void)ctx;
	return 0x4242424242424242;
}

/* ---- calls ---------------------------------------------------------------------------------- */

static void load(void)
{
	static char text[30000];
	uint8_t *bytes;
	FILE *f;
	size_t n;

	if (wasm != NULL)
		return;
	assert_int_equal(pctl_wasm_open(getenv("PIPECTL_WASMTIME"), &call, &wasm), PCTL_OK);
	f = fopen(getenv("CONTRACT"), "r");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text), f);
	fclose(f);
	assert_true(n < sizeof(text));
	assert_int_equal(pctl_wasm_assemble(wasm, text, n, &call, &bytes, &n), PCTL_OK);
	assert_int_equal(pctl_wasm_compile(wasm, bytes, n, &call, &contract), PCTL_OK);
	free(bytes);
}

static pctl_status run_module(pctl_wasm_module *m, const char *function, const void *argument,
			      uint64_t n, uint64_t fuel)
{
	host = (pctl_contract_host){toy_submit,	 toy_result,   toy_get, toy_log,    toy_row_get,
				    toy_row_set, toy_row_drop, toy_pay, toy_caller, toy_paid,
				    toy_height,	 NULL,	       NULL,	NULL,	    PCTL_OK};
	last = (pctl_wasm_run){
		.function = function, .argument = argument, .n_argument = n, .fuel = fuel};
	memset(told, 0, sizeof(told));
	n_told = n_asked = refused = 0;
	return pctl_wasm_call(m, &host, &last, &call);
}

#define F UINT64_C(100000000)

/* The code that a call of the contract ends with. */
static uint32_t run(const char *function, const void *argument, uint64_t n, uint64_t fuel)
{
	load();
	assert_int_equal(run_module(contract, function, argument, n, fuel), PCTL_OK);
	assert_true(last.used <= fuel);
	return last.code;
}

static pctl_status compile(const char *text, pctl_wasm_module **out)
{
	uint8_t *bytes;
	size_t n;
	pctl_status status;

	load();
	refused = 0;
	assert_int_equal(pctl_wasm_assemble(wasm, text, strlen(text), &call, &bytes, &n), PCTL_OK);
	status = pctl_wasm_compile(wasm, bytes, n, &call, out);
	free(bytes);
	return status;
}

static uint32_t run_text(const char *text, uint64_t fuel)
{
	pctl_wasm_module *m;
	pctl_status status = compile(text, &m);

	if (status != PCTL_OK)
		return refused;
	assert_int_equal(run_module(m, "", NULL, 0, fuel), PCTL_OK);
	pctl_wasm_release(m);
	return last.code;
}

/* ---- the tests ------------------------------------------------------------------------------ */

static void test_wasm__each_import_does_what_it_says(void **state)
{
	(void)state;
	assert_int_equal(run("submit", "message", 8, F), 0);
	assert_string_equal(told,
			    "jjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjjj");
	assert_int_equal(run("refused", "message", 7, F), PC6124_CONTRACT_REFUSED);
	assert_int_equal(last.returned, PC5713_LEDGER_FUNDS);
	assert_int_equal(run("read", "an id of 64 bytes", 64, F), 0);
	assert_string_equal(told, "a cida cid");
	assert_int_equal(run("bytes", "abc", 3, F), 0);
	assert_string_equal(told, "abc");
	assert_int_equal(run("put", "keyvalue", 8, F), 0);
	assert_string_equal(told, "keyvalue");
	assert_int_equal(run("take", "key1", 4, F), 0);
	assert_string_equal(told, "key1");
	assert_int_equal(run("drop", "key1", 4, F), PC6124_CONTRACT_REFUSED);
	assert_int_equal(last.returned, PC6134_CONTRACT_ROW);
	assert_int_equal(run("give", "bob", 3, F), 0);
	assert_string_equal(told, "bob");
	assert_int_equal(run("who", NULL, 0, F), 0);
	assert_string_equal(told, "adaAAAAAAAABBBBBBBB");
	assert_int_equal(run("nan", NULL, 0, F), 0);
	assert_int_equal(run("grow", NULL, 0, F), 0);
	assert_int_equal(run("bomb", NULL, 0, F), 0);
}

static void test_wasm__every_end_has_its_code(void **state)
{
	static const struct {
		const char *function;
		uint64_t fuel;
		uint32_t code;
	} bad[] = {
		{"trap_after_submit", F, PC6122_CONTRACT_TRAP},
		{"spin_after_submit", F / 10, PC6123_CONTRACT_FUEL},
		{"spin", F / 10, PC6123_CONTRACT_FUEL},
		{"submit", 3, PC6123_CONTRACT_FUEL},
		{"deep", F, PC6122_CONTRACT_TRAP},
		{"refuse", F, PC6124_CONTRACT_REFUSED},
		{"bad_message", F, PC6122_CONTRACT_TRAP},
		{"bad_out", F, PC6122_CONTRACT_TRAP},
		{"bad_wrap", F, PC6122_CONTRACT_TRAP},
		{"bad_get", F, PC6122_CONTRACT_TRAP},
		{"bad_row", F, PC6122_CONTRACT_TRAP},
		{"bad_pay", F, PC6122_CONTRACT_TRAP},
		{"bad_caller", F, PC6122_CONTRACT_TRAP},
		{"bad_log", F, PC6122_CONTRACT_TRAP},
		{"no_such", F, PC6121_CONTRACT_MODULE},
		{"memory", F, PC6121_CONTRACT_MODULE},
		{"one_parameter", F, PC6121_CONTRACT_MODULE},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (run(bad[i].function, "message", 8, bad[i].fuel) != bad[i].code)
			fail_msg("%s: %u %s", bad[i].function, last.code, last.words);
		assert_int_equal(refused, 0);
		assert_true(last.words[0] != '\0');
		assert_true(bad[i].code != PC6123_CONTRACT_FUEL || last.used == bad[i].fuel);
	}
	/* alloc says no, and a node that cannot go on ends the call without an outcome. */
	assert_int_equal(run("submit", calloc(1, 70000), 65537, F), PC6122_CONTRACT_TRAP);
	fails_now = 1;
	assert_int_equal(run_module(contract, "submit_twice", "message", 8, F), PCTL_E_STORE);
	assert_int_equal(n_asked, 1);
	fails_now = 0;
}

static void test_wasm__fuel_is_the_same_each_time(void **state)
{
	uint64_t all, deep, base;

	(void)state;
	assert_int_equal(run("refuse", NULL, 0, F), PC6124_CONTRACT_REFUSED);
	base = last.used;
	assert_int_equal(run("submit", "message", 8, F), 0);
	all = last.used;
	assert_int_equal(run("submit", "message", 8, all), 0);
	assert_int_equal(last.used, all);
	assert_int_equal(run("submit", "message", 8, all - 300), PC6123_CONTRACT_FUEL);
	assert_int_equal(run("deep", NULL, 0, F), PC6122_CONTRACT_TRAP);
	deep = last.used;
	assert_int_equal(run("deep", NULL, 0, F), PC6122_CONTRACT_TRAP);
	assert_int_equal(last.used, deep);
	/* These numbers are the same on every machine. */
	assert_int_equal(all - base, 1061);
	assert_int_equal(deep - base, 148154);
}

/* As deep as units allow, and not one call deeper; what ends it is the count, never a stack. */
static void test_wasm__depth_is_counted(void **state)
{
	uint64_t least = 0, most = 65536;
	static uint8_t argument[65536];

	(void)state;
	while (most - least > 1) {
		const uint64_t n = (least + most) / 2;

		*(run("down", argument, n, F) == 0 ? &least : &most) = n;
		if (last.code != 0)
			assert_string_equal(last.words, "unreachable, or called too deep");
	}
	assert_int_equal(least, 10080);
}

/* The largest frames that a module of the allowed sizes has: locals that are all alive across the call, operands that are. */
static char *large_frames(uint32_t n_locals, uint32_t n_operands, const char *type)
{
	char *text = malloc(1u << 20), *at = text;

	at += sprintf(
		at, "(module (memory (export \"memory\") 1) (func $f (param i32 i32) (result i32)");
	for (uint32_t i = 0; i < n_locals; i++)
		at += sprintf(at, " (local %s)", type);
	for (uint32_t i = 0; i < n_locals; i++)
		at += sprintf(at, " (local.set %u (%s.load (i32.const %u)))", i + 2, type, 8 * i);
	for (uint32_t i = 0; i < n_operands; i++)
		at += sprintf(at, " (%s.load (i32.const %u))", type, 8 * i);
	at += sprintf(at, " (i32.store (i32.const 0) (call $f (local.get 0) (local.get 1)))");
	for (uint32_t i = 0; i < n_operands; i++)
		at += sprintf(at, " local.set %u", i % 2 + 2);
	for (uint32_t i = 0; i < n_locals; i++)
		at += sprintf(at, " (%s.store (i32.const %u) (local.get %u))", type, 8 * i, i + 2);
	sprintf(at, " i32.const 0) (export \"call\" (func $f)))");
	return text;
}

static void test_wasm__no_frame_is_larger_than_its_units(void **state)
{
	static const struct {
		uint32_t locals, operands;
		const char *type;
	} frames[] = {{0, 0, "i64"},	{2, 0, "i32"},	  {1000, 0, "i64"},   {1000, 0, "f64"},
		      {2, 4000, "i64"}, {2, 4000, "f32"}, {500, 2000, "i64"}, {20, 20, "f64"}};

	(void)state;
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		char *text = large_frames(frames[i].locals, frames[i].operands, frames[i].type);

		if (run_text(text, UINT64_C(2000000000)) != PC6122_CONTRACT_TRAP ||
		    strcmp(last.words, "unreachable, or called too deep") != 0)
			fail_msg("%u locals, %u operands of %s: %u %s", frames[i].locals,
				 frames[i].operands, frames[i].type, last.code, last.words);
		free(text);
	}
}

/* Every operation that computes a float, of a signalling NaN with a sign and a payload: the canonical NaN and no other; what moves bits keeps them. */
static void test_wasm__a_nan_is_the_canonical_one(void **state)
{
	static const char *const computed[] = {"ceil", "floor", "trunc", "nearest", "sqrt"};
	static const char *const combined[] = {"add", "sub", "mul", "div", "min", "max"};
	static const char *const moved[] = {"f64.neg", "f64.abs", "f64.copysign (f64.const 1)"};
	char text[1000], x32[] = "(f32.reinterpret_i32 (i32.const 0xffa01234))",
			 x64[] = "(f64.reinterpret_i64 (i64.const 0xfff4000000001234))";
	char made[300];

	(void)state;
#define IS(f, i, nan, expression)                                                                 \
	do {                                                                                      \
		snprintf(text, sizeof(text),                                                      \
			 "(module (memory (export \"memory\") 1) (func (export \"call\") (param " \
			 "i32 i32) "                                                              \
			 "(result i32) (" i ".ne (" i ".reinterpret_" f " %s) (" i                \
			 ".const 0x%llx))))",                                                     \
			 expression, (unsigned long long)(nan));                                  \
		if (run_text(text, F) != 0)                                                       \
			fail_msg("%s: %s", text, last.words);                                     \
	} while (0)
	for (size_t i = 0; i < 5; i++) {
		snprintf(made, sizeof(made), "(f32.%s %s)", computed[i], x32);
		IS("f32", "i32", 0x7fc00000, made);
		snprintf(made, sizeof(made), "(f64.%s %s)", computed[i], x64);
		IS("f64", "i64", 0x7ff8000000000000, made);
	}
	for (size_t i = 0; i < 6; i++) {
		snprintf(made, sizeof(made), "(f32.%s (f32.const 1) %s)", combined[i], x32);
		IS("f32", "i32", 0x7fc00000, made);
		snprintf(made, sizeof(made), "(f64.%s %s (f64.const 1))", combined[i], x64);
		IS("f64", "i64", 0x7ff8000000000000, made);
	}
	snprintf(made, sizeof(made), "(f32.demote_f64 %s)", x64);
	IS("f32", "i32", 0x7fc00000, made);
	snprintf(made, sizeof(made), "(f64.promote_f32 %s)", x32);
	IS("f64", "i64", 0x7ff8000000000000, made);
	for (size_t i = 0; i < 3; i++) {
		snprintf(made, sizeof(made), "(%s %s)", moved[i], x64);
		IS("f64", "i64", i == 2 ? 0xbff0000000000000 : 0x7ff4000000001234, made);
	}
}

#define MEMORY "(memory (export \"memory\") 1) "
#define CALL "(func (export \"call\") (param i32 i32) (result i32) (i32.const 0))"

static void test_wasm__modules_that_are_no_contracts(void **state)
{
	static const char *const bad[] = {
		"(module (import \"wasi_snapshot_preview1\" \"fd_write\" (func (param i32 i32 i32 "
		"i32) (result i32))) " MEMORY ")",
		"(module (import \"wasi_snapshot_preview1\" \"random_get\" (func (param i32 i32) "
		"(result i32))) " MEMORY ")",
		"(module (import \"pipectl\" \"clock\" (func (result i64))) " MEMORY ")",
		"(module (import \"pipectl\" \"log\" (func (param i64))) " MEMORY ")",
		"(module (import \"pipectl\" \"memory\" (memory 1)))",
		"(module (memory (export \"memory\") 1 1 shared))",
		"(module " MEMORY "(func (result v128) (v128.const i32x4 0 0 0 0)))",
		"(module " MEMORY "(memory 1))",
		"(module (memory (export \"memory\") i64 1))",
		"(module (memory (export \"memory\") 257))",
		"(module (memory 1))",
		"(module " MEMORY "(table 10001 funcref))",
		"(module " MEMORY "(table 1 externref))",
		"(module " MEMORY "(tag))",
		"(module " MEMORY "(func $f (return_call $f)))",
		"(module " MEMORY "(type (struct)))",
		"(module " MEMORY "(func (result i32 i32) (i32.const 0) (i32.const 0)))",
		"(module " MEMORY "(func (memory.fill (i32.const 0) (i32.const 0) (i32.const 1))))",
		"(module " MEMORY "(func (memory.copy (i32.const 0) (i32.const 0) (i32.const 1))))",
		"(module " MEMORY
		"(table 1 funcref) (func (drop (table.grow (ref.null func) (i32.const 1)))))",
		"(module " MEMORY "(func (local funcref)))",
		"(module " MEMORY "(func (drop (ref.null func))))",
		"(module " MEMORY "(func (memory.atomic.notify (i32.const 0) (i32.const 0)) drop))",
	};
	pctl_wasm_module *m;
	uint8_t *out;
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (compile(bad[i], &m) != PCTL_E_INVALID || refused != PC6121_CONTRACT_MODULE)
			fail_msg("%s: %u", bad[i], refused);
		assert_null(m);
	}
	assert_int_equal(run_text("(module " MEMORY CALL ")", F), 0);
	/* The count is a global behind the module's own, which it cannot name; and what runs when the module is made is metered, too. */
	assert_int_equal(
		pctl_wasm_compile(wasm,
				  (const uint8_t *)"\0asm\1\0\0\0\1\4\1\x60\0\0\3\2\1\0\5\3\1\0\1\7"
						   "\x0a\1\6memory\2\0\x0a\6\1\4\0\x23\0\x1a\x0b",
				  44, &call, &m),
		PCTL_E_INVALID);
	assert_int_equal(run_text("(module " MEMORY CALL "(func $f unreachable) (start $f))", F),
			 PC6122_CONTRACT_TRAP);
	assert_int_equal(run_text("(module " MEMORY CALL "(func $f (call $f)) (start $f))", F),
			 PC6122_CONTRACT_TRAP);
	assert_int_equal(
		run_text("(module " MEMORY CALL "(func $f (loop $l (br $l))) (start $f))", F),
		PC6123_CONTRACT_FUEL);
	assert_int_equal(run_text("(module " MEMORY CALL "(data (i32.const 65536) \"x\"))", F),
			 PC6122_CONTRACT_TRAP);
	/* A return from inside blocks gives back what the function took. */
	assert_int_equal(
		run_text("(module " MEMORY
			 "(func $f (param i32) (result i32) (block (block (br_if 1 (local.get 0)) "
			 "(return (i32.const 0)))) (i32.const 0)) (func (export \"call\") (param "
			 "i32 i32) (result i32) "
			 "(local i32) (loop $l (drop (call $f (i32.and (local.get 2) (i32.const "
			 "1)))) (br_if $l (i32.lt_u "
			 "(local.tee 2 (i32.add (local.get 2) (i32.const 1))) (i32.const "
			 "100000)))) (i32.const 0)))",
			 F),
		0);
	assert_int_equal(pctl_wasm_assemble(wasm, "(module", 7, &call, &out, &n), PCTL_E_INVALID);
}

static void test_wasm__a_library_is_the_right_one_or_none(void **state)
{
	static const char *const bad[] = {"libwasmtime.so", "/nowhere/libwasmtime.so",
					  "/proc/self/exe", "/lib/x86_64-linux-gnu/libm.so.6"};
	pctl_wasm *w;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		refused = 0;
		assert_int_equal(pctl_wasm_open(bad[i], &call, &w), PCTL_E_UNSUPPORTED);
		assert_int_equal(refused, PC6120_CONTRACT_RUNTIME);
		assert_null(w);
	}
}

PCTL_TESTS_MAIN(cmocka_unit_test(test_wasm__each_import_does_what_it_says),
		cmocka_unit_test(test_wasm__every_end_has_its_code),
		cmocka_unit_test(test_wasm__fuel_is_the_same_each_time),
		cmocka_unit_test(test_wasm__depth_is_counted),
		cmocka_unit_test(test_wasm__no_frame_is_larger_than_its_units),
		cmocka_unit_test(test_wasm__a_nan_is_the_canonical_one),
		cmocka_unit_test(test_wasm__modules_that_are_no_contracts),
		cmocka_unit_test(test_wasm__a_library_is_the_right_one_or_none))
