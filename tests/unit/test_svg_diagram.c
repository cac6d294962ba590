/* Graphs as pictures: the bytes of two, names of every kind inside their boxes, the bound, and what is no graph without cycles.
 * With PIPECTL_BLESS set the files of tests/golden/svg are made; tests/integration/cli parses them as XML. */
#include "main.h"

#include <stdlib.h>

#include "foundation/base/file.h"
#include "foundation/diag/diag.h"
#include "foundation/svg/diagram.h"

static uint32_t count(const char *text, const char *what)
{
	uint32_t n = 0;

	for (; (text = strstr(text, what)) != NULL; text += strlen(what))
		n++;
	return n;
}

static char *picture(const pctl_diagram *d)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	assert_int_equal(pctl_diagram_svg(d, NULL, &s), PCTL_OK);
	return pctl_str_finish(&s);
}

static void is_golden(const char *name, const pctl_diagram *d)
{
	char *text = picture(d), *again = picture(d), *want, path[512];
	uint64_t n;

	assert_string_equal(text, again);
	snprintf(path, sizeof(path), "%s/tests/golden/svg/%s.svg", PIPECTL_SOURCE_DIR, name);
	if (getenv("PIPECTL_BLESS") != NULL)
		assert_int_equal(pctl_file_write(path, text, strlen(text), 0, NULL), PCTL_OK);
	assert_int_equal(pctl_file_read(path, 1u << 20, NULL, &want, &n), PCTL_OK);
	assert_string_equal(text, want);
	free(text);
	free(again);
	free(want);
}

static void diagram__a_pipeline(void **state)
{
	static const pctl_diagram_box boxes[] = {
		{"$edges\nis u32[9,2]\n72 bytes", PCTL_DIAGRAM_DATA, 0},
		{"prepare\nrank.prepare@1\non cpu:0\ngas 100", PCTL_DIAGRAM_WORK, 0},
		{"iterate\nrank.step@1\n30 rounds", PCTL_DIAGRAM_WORK, 0},
		{"> ranks", PCTL_DIAGRAM_DATA, 0}};
	static const pctl_diagram_edge edges[] = {{0, 1}, {1, 2}, {0, 2}, {2, 3}};
	const pctl_diagram d = {"rank", boxes, edges, 4, 4};

	(void)state;
	is_golden("pipeline", &d);
}

/* Markup, bytes that are no UTF-8, letters that turn what stands beside them round, and texts that are too long. */
static void diagram__names_of_every_kind(void **state)
{
	static const char names[] =
		"<script>alert('1')</script>\n\"&]]>\x01\xff\n"
		"\xd7\xa9\xd7\x9c\xd7\x95\xd7\x9d \xe2\x80\xaegnp.exe\n\xe4\xb8\xad\xe6\x96\x87"
		"\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8"
		"\xad"
		"\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96\x87\xe4\xb8\xad\xe6\x96"
		"\x87"
		"\xe4\xb8\xad\xe6\x96\x87\n"
		"bafkreid2clswcnrtqxu573vlgjrwq4y4amhnjm3u472ys6widekz2keeyu\n\n1\n2\n3\n4\n5\n6\n7"
		"\n8\n9"
		"\n10\n11\n12\n13";
	const pctl_diagram_box boxes[] = {{names, PCTL_DIAGRAM_WORK, 0},
					  {"", PCTL_DIAGRAM_DATA, 0}};
	static const pctl_diagram_edge edges[] = {{0, 1}, {1, 1}, {7, 0}, {0, 9}};
	const pctl_diagram d = {names, boxes, edges, 2, 4};
	char *text = picture(&d);

	(void)state;
	is_golden("hostile", &d);
	assert_int_equal(count(text, "<script"), 0);
	assert_int_equal(count(text, "]]>"), 0);
	/* In a line the turning letter is gone; a title, which is shown alone, has the name as it is. */
	assert_non_null(strstr(text, "\xd7\x9d \xef\xbf\xbdgnp.exe</text>"));
	assert_non_null(strstr(text, ">bafkreid2clswcn\xe2\x80\xa6"));
	assert_int_equal(count(text, "class=\"edge\""), 1);
	assert_int_equal(count(text, "<text"), PCTL_DIAGRAM_LINES + 1);
	/* The widest line is as wide as a line can be. */
	assert_non_null(strstr(text, "width=\"272\""));
	free(text);
}

static void diagram__bound(void **state)
{
	enum { N = PCTL_DIAGRAM_BOXES + 25 };
	static pctl_diagram_box boxes[N];
	static pctl_diagram_edge edges[N];
	pctl_diagram d = {"many", boxes, edges, N, N - 1};
	char *text;

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		boxes[i].lines = "a";
		edges[i] = (pctl_diagram_edge){i, i + 1};
	}
	text = picture(&d);
	assert_int_equal(count(text, "<rect class=\"work\""), PCTL_DIAGRAM_BOXES);
	assert_int_equal(count(text, "class=\"edge\""), PCTL_DIAGRAM_BOXES - 1);
	assert_non_null(strstr(text, ">25 more boxes are not drawn<"));
	free(text);
	d.n_boxes = d.n_edges = 0;
	text = picture(&d);
	assert_int_equal(count(text, "<rect class=\"work\""), 0);
	free(text);
}

static void diagram__no_cycle(void **state)
{
	static const pctl_diagram_box boxes[] = {{"a", 0, 0}, {"b", 0, 0}};
	static const pctl_diagram_edge edges[] = {{0, 1}, {1, 0}};
	const pctl_diagram d = {"c", boxes, edges, 2, 2};
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	(void)state;
	assert_int_equal(pctl_diagram_svg(&d, pctl_diag_list_call(said), &s), PCTL_E_INTERNAL);
	assert_int_equal(pctl_diag_list_at(said, 0)->code, PC1_INTERNAL);
	assert_int_equal(s.n, 0);
	pctl_str_drop(&s);
	pctl_diag_list_destroy(said);
}

PCTL_TESTS_MAIN(PCTL_TEST(diagram__a_pipeline), PCTL_TEST(diagram__names_of_every_kind),
		PCTL_TEST(diagram__bound), PCTL_TEST(diagram__no_cycle))
