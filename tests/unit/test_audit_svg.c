/* The plots of a report: what is drawn, how often, and that nothing from outside gets out of its text. */
#include "main.h"

#include <stdlib.h>

#include "evidence/audit/svg.h"

static uint32_t count(const char *text, const char *what)
{
	uint32_t n = 0;

	for (; (text = strstr(text, what)) != NULL; text += strlen(what))
		n++;
	return n;
}

static void test_audit__text_is_made_safe(void **state)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char *text;
	(void)state;

	pctl_html_text(&s, "<script>alert(\"1\" & '2')</script>");
	pctl_html_text(&s, NULL);
	pctl_html_text(&s, "a\x01"
			   "b\xff"
			   "c\xc3\xa4\xed\xa0\x80\xef\xbf\xbf");
	text = pctl_str_finish(&s);
	assert_string_equal(
		text, "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;"
		      "a b\xef\xbf\xbd"
		      "c\xc3\xa4"
		      "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	free(text);
}

static void test_audit__bars_have_the_lengths_of_their_values(void **state)
{
	const pctl_svg_bar bars[] = {
		{"a<b", "10", "time", 10}, {"b", "5", "time", 5}, {"c", "0", "time", 0}};
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char *text;
	(void)state;

	pctl_svg_bars(&s, bars, 3, "a \"title\"");
	text = pctl_str_finish(&s);
	assert_int_equal(count(text, "<rect "), 3);
	assert_int_equal(count(text, "width=\"330\""), 1);
	assert_int_equal(count(text, "width=\"165\""), 1);
	assert_int_equal(count(text, "width=\"0\""), 1);
	assert_non_null(strstr(text, "a&lt;b"));
	assert_non_null(strstr(text, "aria-label=\"a &quot;title&quot;\""));
	free(text);
}

static void test_audit__histogram_shows_every_bucket_with_something(void **state)
{
	uint64_t counts[PCTL_DRIFT_BUCKETS] = {1000000, 1, 0, 70, 0};
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char *text;
	(void)state;

	counts[32] = UINT64_MAX;
	pctl_svg_histogram(&s, counts, "h");
	text = pctl_str_finish(&s);
	assert_int_equal(count(text, "class=\"same\""), 1);
	assert_int_equal(count(text, "class=\"drift\""), 3);
	assert_non_null(strstr(text, ">2^31<"));
	free(text);
	memset(counts, 0, sizeof(counts));
	s = (pctl_str_buf)PCTL_STR_BUF_INIT;
	pctl_svg_histogram(&s, counts, "h");
	text = pctl_str_finish(&s);
	assert_int_equal(count(text, "<rect "), 0);
	free(text);
}

static void test_audit__strip_marks_where_a_buffer_differs(void **state)
{
	pctl_audit_drift d = {.n_elements = 2560, .n_different = 20, .max_ulp = 1024};
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char *text;
	(void)state;

	d.strip_ppm[10] = d.strip_ppm[11] = 1000000;
	d.strip_ulp[10] = 1024;
	d.strip_ulp[11] = 1;
	pctl_svg_strip(&s, &d, "s");
	text = pctl_str_finish(&s);
	/* the two parts are one bar of the share and two of the distance */
	assert_int_equal(count(text, "class=\"drift\""), 1);
	assert_int_equal(count(text, "class=\"far\""), 2);
	assert_non_null(strstr(text, "x=\"76\" y=\"14\" width=\"6\" height=\"40\""));
	assert_non_null(strstr(text, "element 2559"));
	free(text);
}

static void test_audit__bits_mark_what_flipped(void **state)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char *text;
	(void)state;

	pctl_svg_bits(&s, 0x3f800001, 0x3f800000, 32, 8, "b");
	text = pctl_str_finish(&s);
	assert_int_equal(count(text, "<rect "), 64);
	assert_int_equal(count(text, " flip\""), 2);
	assert_int_equal(count(text, " exponent"), 16);
	assert_int_equal(count(text, " sign"), 2);
	assert_int_equal(count(text, "class=\"mark\""), 1);
	free(text);
	s = (pctl_str_buf)PCTL_STR_BUF_INIT;
	pctl_svg_bits(&s, 1ull << 63, 0, 64, 0, "b");
	text = pctl_str_finish(&s);
	assert_int_equal(count(text, "<rect "), 128);
	assert_int_equal(count(text, " flip\""), 2);
	assert_non_null(strstr(text, ">63<"));
	free(text);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_audit__text_is_made_safe),
		PCTL_TEST(test_audit__bars_have_the_lengths_of_their_values),
		PCTL_TEST(test_audit__histogram_shows_every_bucket_with_something),
		PCTL_TEST(test_audit__strip_marks_where_a_buffer_differs),
		PCTL_TEST(test_audit__bits_mark_what_flipped))
