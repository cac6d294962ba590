/* The text of an answer: however its bytes are cut into pieces, it is the same text, and ends at the same stop string. The expectation is
 * found on all bytes at once, by other means. */
#include "main.h"

#include <stdlib.h>

#include "foundation/base/hash.h"
#include "foundation/base/utf8.h"
#include "model/serve/text.h"

static uint64_t state;

static uint32_t below(uint32_t n)
{
	state += PCTL_SPLITMIX_STEP;
	return (uint32_t)(pctl_mix64(state) % n);
}

/* Bytes where whole code points, beginnings of some and nonsense meet often. */
static size_t make_bytes(char *out, size_t n)
{
	static const char *const parts[] = {"a",
					    "b",
					    "ab",
					    "\xc3\xa9",
					    "\xe6\x97\xa5",
					    "\xf0\x9f\x98\x80",
					    "\xe6",
					    "\x97",
					    "\xf0\x9f",
					    "\xff",
					    "\xed\xa0\x80",
					    "\xc0\x80",
					    "\xf4\x90",
					    "\xe0\x9f\xbf",
					    "\xc3"};
	size_t at = 0;

	while (at + 4 < n) {
		const char *part = parts[below(sizeof(parts) / sizeof(parts[0]))];

		memcpy(out + at, part, strlen(part));
		at += strlen(part);
	}
	return at;
}

static void feed(serve_text *t, const serve_stops *stops, const char *bytes, size_t n,
		 uint32_t largest, size_t *settled)
{
	size_t at = 0, had = 0;
	int stopped = 0;

	while (!stopped && at < n) {
		size_t step = 1 + below(largest), now;

		step = step < n - at ? step : n - at;
		stopped = serve_text_add(t, stops, bytes + at, step);
		at += step;
		now = serve_text_settled(t, stops);
		/* What a stream was told stays. */
		assert_true(stopped || now >= had);
		assert_true(t->all.n >= had);
		had = stopped || now < had ? had : now;
	}
	if (!stopped)
		(void)serve_text_end(t, stops);
	assert_true(t->all.n >= had);
	*settled = had;
}

static void test_model_serve_text__any_pieces_one_text(void **unused)
{
	char bytes[64];

	(void)unused;
	for (uint32_t round = 0; round < 20000; round++) {
		serve_text one = {.n_tail = 0}, many = {.n_tail = 0};
		static const serve_stops all[] = {{.n = 0},
						  {{"ab"}, {2}, 1},
						  {{"\xe6\x97\xa5", "aba", "ba"}, {3, 3, 2}, 3},
						  {{"\xef\xbf\xbd"
						    "a",
						    "bb"},
						   {4, 2},
						   2}};
		const serve_stops *stops = &all[round % 4];
		const size_t n = make_bytes(bytes, sizeof(bytes) - below(40));
		size_t unused_settled;

		feed(&one, stops, bytes, n, 64, &unused_settled);
		feed(&many, stops, bytes, n, 3, &unused_settled);
		assert_int_equal(one.all.n, many.all.n);
		assert_memory_equal(one.all.data == NULL ? "" : one.all.data,
				    many.all.data == NULL ? "" : many.all.data, one.all.n);
		assert_int_equal(
			pctl_utf8_bad(one.all.data == NULL ? "" : one.all.data, one.all.n, 0),
			one.all.n);
		for (uint32_t i = 0; i < stops->n && one.all.n != 0; i++)
			assert_null(memmem(one.all.data, one.all.n, stops->items[i],
					   stops->lengths[i]));
		serve_text_clear(&one);
		serve_text_clear(&many);
	}
}

static void expect(const char *bytes, size_t n, const serve_stops *stops, const char *want)
{
	serve_text t = {.n_tail = 0};
	int stopped = 0;

	for (size_t i = 0; i < n && !stopped; i++)
		stopped = serve_text_add(&t, stops, bytes + i, 1);
	if (!stopped)
		(void)serve_text_end(&t, stops);
	assert_string_equal(t.all.data == NULL ? "" : t.all.data, want);
	serve_text_clear(&t);
}

/* Table 3-8 and D93b of the Unicode Standard: one U+FFFD for each maximal part. */
static void test_model_serve_text__what_is_no_utf8(void **unused)
{
	static const serve_stops none = {.n = 0};

	(void)unused;
	expect("\x61\xf1\x80\x80\xe1\x80\xc2\x62\x80\x63\x80\xbf\x64", 13, &none,
	       "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
	       "b\xef\xbf\xbd"
	       "c\xef\xbf\xbd\xef\xbf\xbd"
	       "d");
	expect("\xc0\xaf\xe0\x80\xbf\x41", 6, &none,
	       "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
	       "A");
	expect("\xf0\x9f\x98", 3, &none, "\xef\xbf\xbd");
}

static void test_model_serve_text__the_first_to_end_counts(void **unused)
{
	static const serve_stops nested = {{"abc", "b"}, {3, 1}, 2},
				 longer = {{"c", "abc"}, {1, 3}, 2},
				 at_end = {{"\xef\xbf\xbd"}, {3}, 1};

	(void)unused;
	expect("xabc", 4, &nested, "xa");
	expect("xabc", 4, &longer, "x");
	expect("x\xe6", 2, &at_end, "x");
}

/* A piece begins where its first byte's character does, also behind bytes of which nobody knew yet that they are none. */
static void test_model_serve_text__where_pieces_begin(void **unused)
{
	static const char bytes[] = "\xe2\x82>R\xf0\x9f\xc3\xa9\xe0\x80!";
	static const size_t begins[] = {0, 0, 3, 4, 5, 5, 8, 8, 10, 13, 16};
	const serve_stops none = {.n = 0};
	serve_text t = {.n_tail = 0};

	(void)unused;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		assert_int_equal(serve_text_add(&t, &none, bytes + i, 1), 0);
		assert_int_equal(t.begins, begins[i]);
	}
	assert_string_equal(t.all.data,
			    "\xef\xbf\xbd>R\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd!");
	serve_text_clear(&t);
}

static void test_model_serve_text__held_back(void **unused)
{
	static const serve_stops stops = {{"abab", "zz"}, {4, 2}, 2};
	serve_text t = {.n_tail = 0};

	(void)unused;
	assert_int_equal(serve_text_add(&t, &stops, "xaba", 4), 0);
	assert_int_equal(serve_text_settled(&t, &stops), 1);
	assert_int_equal(serve_text_add(&t, &stops, "c", 1), 0);
	assert_int_equal(serve_text_settled(&t, &stops), 5);
	assert_int_equal(serve_text_add(&t, &stops, "z", 1), 0);
	assert_int_equal(serve_text_settled(&t, &stops), 5);
	assert_int_equal(serve_text_add(&t, &stops, "z", 1), 1);
	assert_string_equal(t.all.data, "xabac");
	serve_text_clear(&t);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_model_serve_text__any_pieces_one_text),
		PCTL_TEST(test_model_serve_text__what_is_no_utf8),
		PCTL_TEST(test_model_serve_text__the_first_to_end_counts),
		PCTL_TEST(test_model_serve_text__where_pieces_begin),
		PCTL_TEST(test_model_serve_text__held_back))
