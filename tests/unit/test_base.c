/* The containers and parsers everything stands on, at their edges. */
#include "main.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/arena.h"
#include "foundation/base/clock.h"
#include "foundation/base/file.h"
#include "foundation/base/hash.h"
#include "foundation/base/hex.h"
#include "foundation/base/json.h"
#include "foundation/base/json_read.h"
#include "foundation/base/map.h"
#include "foundation/base/num.h"
#include "foundation/base/utf8.h"
#include "foundation/base/vec.h"

/* bad: the byte at which it is none; -1: it is one. */
static void json_of_others(void **state)
{
	static const struct {
		const char *text;
		int bad;
	} rows[] = {
		{"{}", -1},
		{"[]", -1},
		{" \t\r\n{\"a\" : [1, -0.5e+3, true, false, null, \"\\u00e9\\n\\ud83d\\ude00\"]}\n",
		 -1},
		{"0", -1},
		{"\"\"", -1},
		{"\"\xc3\xa9\x7f\"", -1},
		{"[1e5,10,0.0,-0]", -1},
		{"", 0},
		{" ", 1},
		{"{", 1},
		{"{]", 1},
		{"[}", 1},
		{"[1}", 2},
		{"{\"a\"}", 4},
		{"{\"a\":}", 5},
		{"{\"a\":1,}", 7},
		{"{\"a\":1 \"b\":2}", 7},
		{"{a:1}", 1},
		{"{1:1}", 1},
		{"[1,]", 3},
		{"[,1]", 1},
		{"[1 2]", 3},
		{"[1]]", 3},
		{"{}x", 2},
		{"{} {}", 3},
		{"01", 1},
		{"-", 1},
		{"+1", 0},
		{".5", 0},
		{"[5.]", 3},
		{"[1e]", 3},
		{"[1e+]", 4},
		{"0x1", 1},
		{"NaN", 0},
		{"Infinity", 0},
		{"nul", 0},
		{"nullx", 4},
		{"TRUE", 0},
		{"'a'", 0},
		{"\"a", 2},
		{"\"a\nb\"", 2},
		{"\"\\", 1},
		{"\"\\x41\"", 1},
		{"\"\\u12\"", 1},
		{"\"\\u12g4\"", 1},
		{"\"ab\\u0000c\"", 3},
		{"\"\\\\u0000\"", -1}, /* a backslash, and then five letters */
		{"\"\\ud83d\"", 1},
		{"\"\\ud83d\\u0041\"", 1},
		{"\"\\ude00\"", 1},
		{"\xef\xbb\xbf{}", 0},
		{"[\x0b]", 1},
		{"[\x01]", 1},
		{"\"\xff\"", 1},
		{"\"\xed\xa0\x80\"", 1},
		{"/**/{}", 0},
	};
	char deep[2 * PCTL_JSON_DEPTH_MAX + 3];
	const char *why;
	size_t bad;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const size_t n = strlen(rows[i].text),
			     want = rows[i].bad < 0 ? n : (size_t)rows[i].bad;
		const int good = pctl_json_good(rows[i].text, n, &bad, &why);

		if (bad != want || good != (rows[i].bad < 0) || good != (why == NULL))
			fail_msg("row %zu, %s: byte %zu, not %zu: %s", i, rows[i].text, bad, want,
				 why == NULL ? "taken" : why);
	}
	assert_int_equal(pctl_json_good("[\0]", 3, &bad, &why), 0);
	assert_int_equal(bad, 1);
	for (uint32_t n = PCTL_JSON_DEPTH_MAX; n < PCTL_JSON_DEPTH_MAX + 2; n++) {
		memset(deep, '[', n);
		memset(deep + n, ']', n);
		assert_int_equal(pctl_json_good(deep, 2 * (size_t)n, &bad, &why),
				 n == PCTL_JSON_DEPTH_MAX);
		assert_int_equal(bad, n == PCTL_JSON_DEPTH_MAX ? 2 * n : n - 1);
	}
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		int good;
		uint64_t value;
	} u64[] = {{"0", 1, 0},
		   {"18446744073709551615", 1, UINT64_MAX},
		   {"18446744073709551616", 0, 0},
		   {"1_000", 1, 1000},
		   {"1__0", 0, 0},
		   {"_1", 0, 0},
		   {"1_", 0, 0},
		   {"", 0, 0},
		   {"0x", 0, 0},
		   {"0xff", 1, 255},
		   {"0xffffffffffffffff", 1, UINT64_MAX},
		   {"0x10000000000000000", 0, 0},
		   {"-1", 0, 0},
		   {"+1", 0, 0},
		   {" 1", 0, 0},
		   {"1 ", 0, 0},
		   {"1a", 0, 0}},
	  bytes[] = {{"1K", 1, 1024},
		     {"2KiB", 1, 2048},
		     {"3KB", 1, 3072},
		     {"7B", 1, 7},
		     {"0x1B", 1, 27},
		     {"0x1KB", 1, 1024},
		     {"5iB", 0, 0},
		     {"K", 0, 0},
		     {"B", 0, 0},
		     {"16777216T", 0, 0},
		     {"16777215T", 1, 16777215ull << 40},
		     {"1KK", 0, 0},
		     {"1.5K", 0, 0}};
	int64_t i64;

	(void)state;
	for (uint32_t i = 0; i < sizeof(u64) / sizeof(u64[0]); i++) {
		uint64_t got = 1;

		if (pctl_num_parse_u64(u64[i].text, strlen(u64[i].text), &got) != u64[i].good ||
		    got != u64[i].value)
			fail_msg("\"%s\" is %llu", u64[i].text, (unsigned long long)got);
	}
	for (uint32_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		uint64_t got = 1;

		if (pctl_num_parse_bytes(bytes[i].text, strlen(bytes[i].text), &got) !=
			    bytes[i].good ||
		    got != bytes[i].value)
			fail_msg("\"%s\" is %llu bytes", bytes[i].text, (unsigned long long)got);
	}
	assert_true(pctl_num_parse_i64("-9223372036854775808", 20, &i64) && i64 == INT64_MIN);
	assert_false(pctl_num_parse_i64("-9223372036854775809", 20, &i64));
	assert_false(pctl_num_parse_i64("9223372036854775808", 19, &i64));
	assert_false(pctl_num_parse_i64("--1", 3, &i64));
	assert_false(pctl_num_parse_i64("-", 1, &i64));
}

static void maps(void **state)
{
	pctl_map *m = pctl_map_create();
	char key[16];
	int values[1000];

	(void)state;
	assert_null(pctl_map_get(m, "k0"));
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 1000; i++) {
			snprintf(key, sizeof(key), "k%d", i);
			assert_true(pctl_map_put(m, key, round == 0 ? NULL : &values[i]));
		}
	}
	assert_int_equal(pctl_map_count(m), 1000);
	for (uint32_t i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "k%u", i);
		assert_string_equal(pctl_map_key_at(m, i), key);
		assert_ptr_equal(pctl_map_get(m, key), &values[i]);
	}
	assert_false(pctl_map_has(m, "k1000"));
	pctl_map_destroy(m);
}

static void arenas(void **state)
{
	pctl_arena *a = pctl_arena_create();
	char *first = pctl_arena_alloc(a, 0);

	(void)state;
	assert_non_null(first);
	for (size_t n = 0; n < 20000; n += 37) {
		char *p = pctl_arena_alloc(a, n);

		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, n);
	}
	assert_null(pctl_arena_alloc(a, SIZE_MAX));
	assert_null(pctl_arena_array(a, SIZE_MAX / 2, 3));
	assert_string_equal(pctl_arena_printf(a, "%s-%d", "x", 7), "x-7");
	assert_null(pctl_arena_dup(a, NULL));
	pctl_arena_destroy(a);
}

static void json(void **state)
{
	pctl_json j;
	char *text;

	(void)state;
	pctl_json_init(&j, 0);
	pctl_json_object_begin(&j);
	pctl_json_kv_string(&j, "a\"\\\n\x01", "\xff\xc3\xa9\xed\xa0\x80\xf4\x90\x80\x80\xc3");
	pctl_json_kv_u64(&j, "b", UINT64_MAX);
	pctl_json_key(&j, "c");
	pctl_json_array_begin(&j);
	pctl_json_array_end(&j);
	pctl_json_key(&j, "d");
	pctl_json_array_begin(&j);
	pctl_json_double(&j, 0.1);
	pctl_json_double(&j, 1.0 / 0.0);
	pctl_json_string(&j, NULL);
	pctl_json_array_end(&j);
	pctl_json_kv_bool(&j, "e", 5);
	pctl_json_object_end(&j);
	text = pctl_json_finish(&j);
	assert_string_equal(
		text,
		"{\"a\\\"\\\\\\n\\u0001\":\"\\ufffd\xc3\xa9\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd"
		"\\ufffd\\ufffd\\ufffd\",\"b\":\"18446744073709551615\",\"c\":[],\"d\":[0.1,"
		"null,null],\"e\":true}\n");
	free(text);
	pctl_json_init(&j, 2);
	for (int i = 0; i < 70; i++)
		pctl_json_array_begin(&j);
	assert_null(pctl_json_finish(&j)); /* deeper than it counts: refused, not wrong */
	pctl_json_init(&j, 2);
	pctl_json_array_end(&j);
	assert_null(pctl_json_finish(&j));
}

static void nearest(void **state)
{
	const char *names[] = {"rank.step", "rank.prepare", ""};
	const char *options[] = {"--profile", "--log", "--log-level", "--color"};
	char longest[200];

	(void)state;
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_string_equal(pctl_str_nearest("rank.stop", names, 3), "rank.step");
	assert_null(pctl_str_nearest("something", names, 2));
	assert_null(pctl_str_nearest(longest, names, 3));
	assert_null(pctl_str_nearest("x", names, 0));
	assert_string_equal(pctl_str_nearest("--log-file", options, 4), "--log");
	assert_string_equal(pctl_str_nearest("--log-levels", options, 4), "--log-level");
	assert_string_equal(pctl_str_nearest("--log-level-of-all", options, 4), "--log-level");
	assert_string_equal(pctl_str_nearest("--profiles", options, 4), "--profile");
	assert_string_equal(pctl_str_nearest("--logs", options, 4), "--log");
	assert_null(pctl_str_nearest("--type", options, 4)); /* not --log, for its dashes */
}

static void files(void **state)
{
	char dir[] = "/tmp/pipectl-base-XXXXXX", path[64], *text;
	uint64_t n;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(pctl_file_make_dirs("", NULL), PCTL_E_IO);
	snprintf(path, sizeof(path), "%s/a/b/", dir);
	assert_int_equal(pctl_file_make_dirs(path, NULL), PCTL_OK);
	assert_int_equal(pctl_file_make_dirs(path, NULL), PCTL_OK);
	snprintf(path, sizeof(path), "%s/a/b/f", dir);
	assert_int_equal(pctl_file_write(path, "12345", 5, 1, NULL), PCTL_OK);
	assert_int_equal(pctl_file_make_dirs(path, NULL), PCTL_E_IO);
	assert_int_equal(pctl_file_read(path, 5, NULL, &text, &n), PCTL_OK);
	assert_int_equal(n, 5);
	assert_string_equal(text, "12345");
	free(text);
	assert_int_equal(pctl_file_read(path, 4, NULL, &text, &n), PCTL_E_IO);
	assert_int_equal(pctl_file_read(path, 0, NULL, &text, &n), PCTL_E_IO);
	assert_null(text);
	assert_int_equal(pctl_file_read(dir, 4, NULL, &text, &n), PCTL_E_IO);
	assert_int_equal(pctl_file_read("/dev/zero", 100000, NULL, &text, &n), PCTL_E_IO);
	unlink(path);
	snprintf(path, sizeof(path), "%s/a/b", dir);
	assert_int_equal(rmdir(path), 0);
	snprintf(path, sizeof(path), "%s/a", dir);
	assert_int_equal(rmdir(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void vectors(void **state)
{
	PCTL_VEC(uint64_t) v = {NULL, 0, 0};
	uint32_t cap = UINT32_MAX / 2 + 1;
	void *none = NULL;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		assert_true(PCTL_VEC_PUSH(&v, i * i));
	assert_int_equal(v.items[999], 998001);
	free(v.items);
	assert_false(pctl_vec_reserve(&none, cap, &cap, 1));
	assert_null(none);
}

static size_t encode(uint32_t c, char out[4])
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 63));
		out[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 63));
	out[2] = (char)(0x80 | (c >> 6 & 63));
	out[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* Every code point there is decodes to itself and no shorter; and so many texts of two, three and four bytes are one code
 * point as there are code points of that length, so that nothing else passes. */
static void utf8(void **state)
{
	uint32_t n_good[5] = {0}, got;
	char s[4];

	(void)state;
	for (uint32_t c = 0; c < 0x120000; c++) {
		const size_t n = encode(c, s);
		const int is = c < 0x110000 && (c < 0xd800 || c > 0xdfff);

		if (pctl_utf8_decode(s, n, &got) != (is ? n : 0) || (is && got != c) ||
		    (n > 1 && pctl_utf8_decode(s, n - 1, NULL) != 0))
			fail_msg("U+%04X", c);
	}
	for (uint32_t i = 0; i < 1u << 24; i++) {
		s[0] = (char)(i >> 16);
		s[1] = (char)(i >> 8);
		s[2] = (char)i;
		n_good[pctl_utf8_decode(s, 3, NULL)]++;
	}
	assert_int_equal(n_good[1], 0x80 << 16);
	assert_int_equal(n_good[2], 0x780 << 8);
	assert_int_equal(n_good[3], 0xf800 - 0x800);
	for (uint32_t i = 0; i < 1u << 19; i++) { /* what can follow f0 to f7, last byte fixed */
		s[0] = (char)(0xf0 | i >> 16);
		s[1] = (char)(i >> 8);
		s[2] = (char)i;
		s[3] = (char)0x80;
		n_good[4] += pctl_utf8_decode(s, 4, NULL) == 4;
	}
	assert_int_equal(n_good[4], 0x100000 / 64);
	assert_int_equal(pctl_utf8_decode(s, 0, NULL), 0);

	assert_int_equal(pctl_utf8_bad("a\0b", 3, 0), 3);
	assert_int_equal(pctl_utf8_bad("a\0b", 3, PCTL_UTF8_NO_NUL), 1);
	assert_int_equal(pctl_utf8_bad("a\xc2\x9f", 3, 0), 3);
	assert_int_equal(pctl_utf8_bad("a\xc2\x9f", 3, PCTL_UTF8_PLAIN), 1);
	assert_int_equal(pctl_utf8_bad("\xc2\xa0\x7f", 3, PCTL_UTF8_PLAIN), 2);
	assert_int_equal(pctl_utf8_bad("ab\xe2\x82", 4, 0), 2);
	assert_int_equal(pctl_utf8_cut("a\xe2\x82\xac", 3), 1);
	assert_int_equal(pctl_utf8_cut("a\xe2\x82\xac", 1), 1);
	assert_int_equal(pctl_utf8_cut("ab", 1), 1);
}

static void hex(void **state)
{
	static const uint8_t bytes[] = {0x00, 0x9f, 0xa0, 0xff};
	uint8_t large[700], back[4];
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char text[9], *whole;

	(void)state;
	assert_string_equal(pctl_hex_print(bytes, 4, text), "009fa0ff");
	assert_int_equal(pctl_hex_parse(text, 4, back), 1);
	assert_memory_equal(back, bytes, 4);
	assert_string_equal(pctl_hex_print_number(bytes, 4, text), "ffa09f00");
	assert_string_equal(pctl_hex_print(bytes, 0, text), "");
	for (uint32_t c = 0; c < 256; c++) {
		const char pair[] = {(char)c, '0', '\0'}, swapped[] = {'0', (char)c, '\0'};
		const int digit = pctl_hex_digit((char)c);
		const int lower = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');

		assert_int_equal(digit >= 0, lower || (c >= 'A' && c <= 'F'));
		if (digit >= 0)
			assert_int_equal(digit, strtol((char[]){(char)c, '\0'}, NULL, 16));
		assert_int_equal(pctl_hex_parse(pair, 1, back), lower);
		assert_int_equal(back[0], lower ? digit * 16 : 0);
		assert_int_equal(pctl_hex_parse(swapped, 1, back), lower);
		assert_int_equal(back[0], lower ? digit : 0);
	}
	assert_int_equal(pctl_hex_is("0af", 3), 1);
	assert_int_equal(pctl_hex_is("0af", 2), 0);
	assert_int_equal(pctl_hex_is("0af", 4), 0);
	assert_int_equal(pctl_hex_is("0aF", 3), 0);
	for (uint32_t i = 0; i < sizeof(large); i++)
		large[i] = (uint8_t)(i * 7);
	pctl_hex_add(&s, large, sizeof(large));
	whole = pctl_str_finish(&s);
	assert_non_null(whole);
	assert_int_equal(strlen(whole), 2 * sizeof(large));
	for (uint32_t i = 0; i < sizeof(large); i++) {
		assert_int_equal(pctl_hex_parse(whole + 2 * (size_t)i, 1, back), 1);
		assert_int_equal(back[0], large[i]);
	}
	free(whole);
}

/* The published values of both hashes: state and samples of released records hang on them. */
static void hashes(void **state)
{
	uint64_t before;

	(void)state;
	assert_int_equal(pctl_fnv32(PCTL_FNV32, "foobar", 6), 0xbf9cf968);
	assert_true(pctl_fnv64(PCTL_FNV64, "foobar", 6) == 0x85944171f73967e8);
	assert_true(pctl_fnv64_text(PCTL_FNV64, "foobar") == 0x85944171f73967e8);
	assert_true(pctl_mix64(PCTL_SPLITMIX_STEP) == 0xe220a8397b1dcdaf);
	assert_true(pctl_mix64(2 * PCTL_SPLITMIX_STEP) == 0x6e789e6aa1b965f4);
	before = pctl_clock_ns();
	assert_true(pctl_clock_ns() >= before && pctl_clock_ms() >= before / 1000000);
	assert_true(pctl_clock_s() <= pctl_clock_ms() / 1000 && pctl_clock_thread_ns() > 0);
}

PCTL_TESTS_MAIN(PCTL_TEST(numbers), PCTL_TEST(maps), PCTL_TEST(arenas), PCTL_TEST(json),
		PCTL_TEST(json_of_others), PCTL_TEST(nearest), PCTL_TEST(files), PCTL_TEST(vectors),
		PCTL_TEST(utf8), PCTL_TEST(hex), PCTL_TEST(hashes))
