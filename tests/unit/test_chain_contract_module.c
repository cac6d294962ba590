/* Modules as they are judged and metered, byte by byte: what is added to a function, what is refused and with which words, and that no bytes whatever
 * crash the walk. Whether a metered module does what it did is tests/integration/node/test_wasm.c. */
#include "main.h"

#include <stdlib.h>
#include <string.h>

#include "chain/contracts/contract_module.h"

static char said[300];
static uint32_t refused;

static void keep(void *ctx, const pctl_diag *d)
{
	(void)ctx;
	refused = d->code;
	snprintf(said, sizeof(said), "%s", d->message);
}
static const pctl_call call = {.head = PCTL_HEAD(pctl_call), .diag = keep};

#define HEAD "\0asm\1\0\0\0"
#define TYPES "\1\7\1\x60\2\x7f\x7f\1\x7f" /* (i32, i32) -> i32 */
#define FUNCTIONS "\3\2\1\0"
#define MEMORY "\5\3\1\0\1"
#define EXPORTS "\7\x11\2\6memory\2\0\4call\0\0"

static void same(const char *from, size_t n, const char *to, size_t n_to)
{
	uint8_t *out;
	size_t n_out;

	refused = 0;
	if (pctl_contract_meter((const uint8_t *)from, n, &call, &out, &n_out) != PCTL_OK)
		fail_msg("%s", said);
	assert_int_equal(n_out, n_to);
	assert_memory_equal(out, to, n_to);
	free(out);
}
#define SAME(from, to) same(from, sizeof(from) - 1, to, sizeof(to) - 1)

/* global 0 of 262,144; 16 units, 2 parameters, half of 4 bytes. */
#define GLOBALS "\6\x08\1\x7f\1\x41\x80\x80\x10\x0b"
#define TAKE(u) "\x23\0\x41" u "\x6b\x24\0\x23\0\x41\0\x48\4\x40\0\x0b"
#define GIVE(u) "\x23\0\x41" u "\x6a\x24\0"

static void test_chain_contract_module__functions_take_and_give_their_units(void **state)
{
	(void)state;
	SAME(HEAD TYPES FUNCTIONS MEMORY EXPORTS "\x0a\6\1\4\0\x41\0\x0b",
	     HEAD TYPES FUNCTIONS MEMORY GLOBALS EXPORTS
	     "\x0a\x20\1\x1e\0" TAKE("\x14") "\2\x7f\x41\0\x0b" GIVE("\x14") "\x0b");
	/* `return` inside one block leaves the function's block, which is one further out; a custom section is left out. */
	SAME(HEAD "\0\2\1x" TYPES FUNCTIONS MEMORY EXPORTS
		  "\x0a\x0b\1\x09\0\2\x40\x41\0\x0f\x0b\0\x0b",
	     HEAD TYPES FUNCTIONS MEMORY GLOBALS EXPORTS "\x0a\x26\1\x24\0" TAKE(
		     "\x16") "\2\x7f\2\x40\x41\0\x0c\1\x0b\0\x0b" GIVE("\x16") "\x0b");
	/* Locals count, and globals of the module come first. */
	SAME(HEAD TYPES FUNCTIONS MEMORY "\6\6\1\x7f\0\x41\5\x0b" EXPORTS
					 "\x0a\x08\1\6\1\3\x7e\x41\0\x0b",
	     HEAD TYPES FUNCTIONS MEMORY
	     "\6\x0d\2\x7f\0\x41\5\x0b\x7f\1\x41\x80\x80\x10\x0b" EXPORTS
	     "\x0a\x22\1\x20\1\3\x7e\x23\1\x41\x18\x6b\x24\1\x23\1\x41\0\x48\4\x40\0\x0b\2\x7f\x41"
	     "\0\x0b\x23\1\x41\x18\x6a\x24\1\x0b");
}

#define CANONICAL "\x22\2\x43\0\0\xc0\x7f\x20\2\x20\2\x5b\x1b" /* local 2, behind two parameters */

static void test_chain_contract_module__nans_are_made_canonical(void **state)
{
	(void)state;
	/* f32.const 0; f32.sqrt; i32.reinterpret_f32 */
	SAME(HEAD TYPES FUNCTIONS MEMORY EXPORTS "\x0a\x0b\1\x09\0\x43\0\0\0\0\x91\xbc\x0b",
	     HEAD TYPES FUNCTIONS MEMORY GLOBALS EXPORTS
	     "\x0a\x36\1\x34\2\1\x7d\1\x7c" TAKE("\x16") "\2\x7f\x43\0\0\0\0\x91" CANONICAL
							 "\xbc\x0b" GIVE("\x16") "\x0b");
}

#define BODY(n, m, ops) HEAD TYPES FUNCTIONS MEMORY EXPORTS "\x0a" n "\1" m ops

static void test_chain_contract_module__what_is_refused_says_why(void **state)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *words;
	} bad[] = {
#define BAD(bytes, words) {bytes, sizeof(bytes) - 1, words}
		BAD("", "does not begin"),
		BAD("\0asm\2\0\0\0", "does not begin"),
		BAD(HEAD, "no memory"),
		BAD(HEAD "\1", "ends too early"),
		BAD(HEAD "\1\xff", "ends too early"),
		BAD(HEAD "\1\x80\x80\x80\x80\x80\1", "too long"),
		BAD(HEAD "\1\x80\x80\x80\x80\x7f", "too large"),
		BAD(HEAD "\x0d\0", "not in its place"),
		BAD(HEAD MEMORY TYPES, "not in its place"),
		BAD(HEAD MEMORY MEMORY, "not in its place"),
		BAD(HEAD "\1\2\1\x5f", "none of a function"),
		BAD(HEAD "\1\5\1\x60\0\2\x7f", "more than one result"),
		BAD(HEAD "\1\5\1\x60\1\x7b\0", "a parameter is no"),
		BAD(HEAD "\1\5\1\x60\0\1\x7b", "a result is no"),
		BAD(HEAD "\1\3\1\x60\x41", "65 parameters of a function, at most 64"),
		BAD(HEAD "\1\2\x81\x08", "1025 types, at most 1024"),
		BAD(HEAD TYPES "\2\7\1\1x\1y\0\0", "another module"),
		BAD(HEAD TYPES "\2\x10\1\7pipectl\3log\2\0\0", "something else than a function"),
		BAD(HEAD TYPES "\2\x0f\1\7pipectl\3log\0\0",
		    "that there is not, or as another type"),
		BAD(HEAD "\3\2\1\0", "type that is not there"),
		BAD(HEAD "\4\4\1\x6f\0\1", "none of functions"),
		BAD(HEAD "\4\5\1\x70\0\x91\x4e", "10001 elements"),
		BAD(HEAD "\4\1\2", "more than one table"),
		BAD(HEAD "\5\1\2", "more than one memory"),
		BAD(HEAD "\5\4\1\0\x81\2", "257 pages"),
		BAD(HEAD "\5\4\1\3\1\1", "shared or of 64 bits"),
		BAD(HEAD "\6\2\x81\x08", "1025 globals"),
		BAD(HEAD "\7\5\1\1g\3\0", "a global that is not there"),
		BAD(HEAD "\7\2\x81\x08", "1025 exports"),
		BAD(HEAD "\x0b\2\x81\x08", "1025 segments"),
		BAD(HEAD TYPES FUNCTIONS "\x0a\1\0", "as many bodies"),
		BAD(BODY("\7", "\5", "\0\x23\0\x1a\x0b"), "a global is not there"),
		BAD(BODY("\6", "\4", "\0\xfc\x0b\x0b"), "bulk memory"),
		BAD(BODY("\5", "\3", "\0\xfd\x0b"), "that contracts do not have"),
		BAD(BODY("\5", "\3", "\0\x12\x0b"), "that contracts do not have"),
		BAD(BODY("\5", "\3", "\0\xd0\x0b"), "that contracts do not have"),
		BAD(BODY("\6", "\4", "\0\2\0\x0b"), "a block has another type"),
		BAD(BODY("\7", "\5", "\1\1\x70\0\x0b"), "a local is no"),
		BAD(BODY("\x08", "\6", "\1\x81\x08\x7f\0\x0b"), "1027 locals"),
		BAD(BODY("\5", "\3", "\0\x0b\x0b"), "does not end where it says"),
		BAD(BODY("\4", "\2", "\0\0"), "ends too early"),
		BAD(BODY("\x08", "\6", "\0\x0e\x81\x08\0\x0b"), "1025 targets"),
#undef BAD
	};
	uint8_t *out;
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		refused = 0;
		if (pctl_contract_meter((const uint8_t *)bad[i].bytes, bad[i].n, &call, &out, &n) !=
			    PCTL_E_INVALID ||
		    strstr(said, bad[i].words) == NULL)
			fail_msg("%zu: wanted \"%s\", said \"%s\"", i, bad[i].words, said);
		assert_int_equal(refused, PC6121_CONTRACT_MODULE);
		assert_null(out);
	}
}

/* Every module that is one byte other than a good one, or ends earlier, is walked to an end. */
static void test_chain_contract_module__any_bytes_are_survived(void **state)
{
	static const char good[] =
		HEAD TYPES FUNCTIONS MEMORY EXPORTS "\x0a\x0b\1\x09\0\2\x40\x41\0\x0f\x0b\0\x0b";
	uint32_t n_taken = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(good) - 1; i++) {
		for (uint32_t v = 0; v < 257; v++) {
			const size_t n = v == 256 ? i : sizeof(good) - 1;
			uint8_t *bytes = malloc(n + 1), *out; /* of its very size, for sanitizers */
			size_t n_out;

			memcpy(bytes, good, n);
			if (v < 256)
				bytes[i] = (uint8_t)v;
			n_taken += pctl_contract_meter(bytes, n, &call, &out, &n_out) == PCTL_OK;
			(void)pctl_contract_has(bytes, n, "call", "ii", "i");
			free(out);
			free(bytes);
		}
	}
	assert_true(n_taken > sizeof(good) && n_taken < sizeof(good) * 256);
}

static void test_chain_contract_module__exports_have_their_types(void **state)
{
	static const char good[] = HEAD TYPES FUNCTIONS MEMORY EXPORTS "\x0a\6\1\4\0\x41\0\x0b";

	(void)state;
#define HAS(name, parameters, result) \
	pctl_contract_has((const uint8_t *)good, sizeof(good) - 1, name, parameters, result)
	assert_true(HAS("call", "ii", "i"));
	assert_false(HAS("call", "i", "i"));
	assert_false(HAS("call", "ii", ""));
	assert_false(HAS("call", "iI", "i"));
	assert_false(HAS("cal", "ii", "i"));
	assert_false(HAS("memory", "ii", "i"));
}

PCTL_TESTS_MAIN(cmocka_unit_test(test_chain_contract_module__functions_take_and_give_their_units),
		cmocka_unit_test(test_chain_contract_module__nans_are_made_canonical),
		cmocka_unit_test(test_chain_contract_module__what_is_refused_says_why),
		cmocka_unit_test(test_chain_contract_module__any_bytes_are_survived),
		cmocka_unit_test(test_chain_contract_module__exports_have_their_types))
