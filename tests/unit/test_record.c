/* Tables of fields: every kind of field written, read and written again; each byte of a text changed, each key dropped, doubled
 * or made strange is refused, with a code and a place. */
#include "foundation/record/record.h"

#include <stddef.h>
#include <stdlib.h>

#include "foundation/diag/diag.h"
#include "main.h"

typedef struct entry {
	const char *name;
	uint32_t number;
} entry;

typedef struct sample {
	const char *text, *maybe, *line;
	char chars[8];
	uint32_t small, flag, has_group, n_entries, n_inside, n_lines, n_shown;
	uint64_t large;
	uint8_t hex[4];
	uint32_t coded;
	uint32_t keyed[2];
	entry *entries;
	const char **lines;
	entry inside[2];
	entry group;
} sample;

static void print_coded(const void *member, char *out)
{
	strcpy(out, *(const uint32_t *)member == 0 ? "none" : "some");
}

static int parse_coded(const char *text, void *member)
{
	*(uint32_t *)member = strcmp(text, "some") == 0;
	return strcmp(text, "some") == 0 || strcmp(text, "none") == 0;
}

static const char *key_name(uint32_t i)
{
	return i == 0 ? "first" : "second";
}

static void print_keyed(const void *member, uint32_t i, char *out)
{
	print_coded((const uint32_t *)member + i, out);
}

static int parse_keyed(const char *text, uint32_t i, void *member)
{
	return parse_coded(text, (uint32_t *)member + i);
}

static void derive(const void *record, pctl_str_buf *out)
{
	const sample *s = record;

	pctl_str_addf(out, " = \"%llu\"", (unsigned long long)(s->large + s->small));
}

static const pctl_record_coding coding = {"\"some\" or \"none\"", print_coded, parse_coded};
static const pctl_record_keys keys = {"a word", key_name, print_keyed, parse_keyed, NULL};

#define AT(member) offsetof(sample, member)
static const pctl_record_field entry_fields[] = {
	{.key = "name", .kind = PCTL_RECORD_TEXT, .at = offsetof(entry, name), .means = "a name"},
	{.key = "number",
	 .kind = PCTL_RECORD_U32,
	 .flags = PCTL_RECORD_BARE | PCTL_RECORD_LINE,
	 .at = offsetof(entry, number),
	 .least = 1,
	 .bound = 99,
	 .means = "a number"}};
static const pctl_record_field pair_fields[] = {
	{.key = "name", .kind = PCTL_RECORD_TEXT, .at = offsetof(entry, name), .means = "a name"},
	{.key = "number",
	 .kind = PCTL_RECORD_U32,
	 .at = offsetof(entry, number),
	 .means = "a number"}};
static const pctl_record_field line_fields[] = {{.key = "line", .kind = PCTL_RECORD_TEXT}};
static const pctl_record_shape one_line =
	PCTL_RECORD_SHAPE(entry_fields, PCTL_RECORD_INLINE, entry);
static const pctl_record_shape block = PCTL_RECORD_SHAPE(entry_fields, PCTL_RECORD_BLOCK, entry);
static const pctl_record_shape pair = PCTL_RECORD_SHAPE(pair_fields, PCTL_RECORD_ARRAY, entry);
static const pctl_record_shape split =
	PCTL_RECORD_SHAPE(line_fields, PCTL_RECORD_SPLIT, const char *);
static const pctl_record_field fields[] = {
	{.key = "schema", .kind = PCTL_RECORD_CONSTANT, .constant = "sample/1", .means = "it"},
	{.key = "text", .kind = PCTL_RECORD_TEXT, .at = AT(text), .means = "a text"},
	{.key = "maybe",
	 .kind = PCTL_RECORD_TEXT,
	 .flags = PCTL_RECORD_OPTIONAL,
	 .at = AT(maybe),
	 .means = "a text"},
	{.key = "chars", .kind = PCTL_RECORD_CHARS, .at = AT(chars), .bound = 8, .means = "a text"},
	{.key = "small", .kind = PCTL_RECORD_U32, .at = AT(small), .means = "a number"},
	{.key = "large", .kind = PCTL_RECORD_U64, .at = AT(large), .means = "a number"},
	{.key = "flag", .kind = PCTL_RECORD_BOOL, .at = AT(flag), .means = "a flag"},
	{.key = "hex", .kind = PCTL_RECORD_HEX, .at = AT(hex), .bound = 4, .means = "bytes"},
	{.key = "coded",
	 .kind = PCTL_RECORD_CODED,
	 .at = AT(coded),
	 .coding = &coding,
	 .means = "a word"},
	{.key = "sum", .kind = PCTL_RECORD_DERIVED, .derive = derive, .means = "small and large"},
	{.key = "keyed",
	 .kind = PCTL_RECORD_KEYED,
	 .at = AT(keyed),
	 .bound = 2,
	 .keys = &keys,
	 .comment = "words",
	 .means = "words"},
	{.key = "group",
	 .kind = PCTL_RECORD_GROUP,
	 .flags = PCTL_RECORD_OPTIONAL,
	 .at = AT(group),
	 .n_at = AT(has_group),
	 .of = &one_line,
	 .means = "an entry"},
	{.key = "entries",
	 .kind = PCTL_RECORD_LIST,
	 .at = AT(entries),
	 .n_at = AT(n_entries),
	 .of = &block,
	 .means = "entries"},
	{.key = "again",
	 .kind = PCTL_RECORD_LIST,
	 .flags = PCTL_RECORD_SAME | PCTL_RECORD_EQUALS,
	 .at = AT(entries),
	 .n_at = AT(n_entries),
	 .of = &pair,
	 .means = "the same"},
	{.key = "inside",
	 .kind = PCTL_RECORD_LIST,
	 .flags = PCTL_RECORD_WITHIN | PCTL_RECORD_CLOSE,
	 .at = AT(inside),
	 .n_at = AT(n_inside),
	 .bound = 2,
	 .of = &one_line,
	 .means = "entries"},
	{.key = "lines",
	 .kind = PCTL_RECORD_LIST,
	 .flags = PCTL_RECORD_FOLLOWS,
	 .at = AT(lines),
	 .n_at = AT(n_lines),
	 .of = &split,
	 .means = "lines"}};
static const pctl_record_shape shape = PCTL_RECORD_SHAPE(fields, PCTL_RECORD_BLOCK, sample);
static const pctl_record_type type = {.group = "sample",
				      .opening = "// A sample.\n",
				      .shape = &shape,
				      .form = PC5901_RECEIPT_FORM,
				      .contradicts = PC5902_RECEIPT_CONTRADICTS,
				      .title = "Sample",
				      .where = "nowhere"};

static const char text_of_sample[] =
	"// A sample.\nsample : {\n  schema = \"sample/1\";\n  text = \"a \\\"b\\\" \\\\ \\x01\";\n"
	"  maybe = \"m\";\n  chars = \"1234567\";\n  small = \"4294967295\";\n"
	"  large = \"18446744069414584320\";\n  flag = true;\n  hex = \"00ff10a9\";\n"
	"  coded = \"some\";\n  sum = \"18446744073709551615\";\n  // words\n  keyed : {\n"
	"    first = \"none\";\n    second = \"some\";\n  };\n"
	"  group : { name = \"g\";\n    number = 1; };\n  entries : (\n    {\n"
	"      name = \"x\";\n      number = 98;\n    },\n    {\n      name = \"\";\n"
	"      number = 99;\n    } );\n  again = (\n    [ \"x\", \"98\" ],\n    [ \"\", \"99\" ] "
	");\n"
	"  inside : (\n    { name = \"i\";\n      number = 7; }\n  );\n"
	"  lines : ( [ \"a\", \"b c\", \"\" ],\n    [ \"d\" ] );\n};\n";

static pctl_status take(const char *text, pctl_arena *arena, const pctl_call *call, sample *out)
{
	pctl_status status;

	memset(out, 0, sizeof(*out));
	status = pctl_record_read(&type, "s.cfg", text, strlen(text), arena, call, out);
	return status != PCTL_OK ? status
				 : pctl_record_check(&type, "s.cfg", text, strlen(text), call, out);
}

static void test_record__every_kind_comes_back(void **state)
{
	entry entries[2] = {{"x", 98}, {"", 99}};
	const char *lines[2] = {"a\tb c\t", "d"};
	const sample s = {.text = "a \"b\" \\ \x01",
			  .maybe = "m",
			  .chars = "1234567",
			  .small = UINT32_MAX,
			  .flag = 1,
			  .has_group = 1,
			  .n_entries = 2,
			  .n_inside = 1,
			  .n_lines = 2,
			  .large = UINT64_C(0xffffffff00000000),
			  .hex = {0, 0xff, 0x10, 0xa9},
			  .coded = 1,
			  .keyed = {0, 1},
			  .entries = entries,
			  .lines = lines,
			  .inside = {{"i", 7}},
			  .group = {"g", 1}};
	pctl_arena *arena = pctl_arena_create();
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	sample back;

	(void)state;
	pctl_record_text(&type, &s, &text);
	assert_string_equal(text.data, text_of_sample);
	assert_int_equal(take(text.data, arena, NULL, &back), PCTL_OK);
	assert_string_equal(back.text, s.text);
	assert_string_equal(back.lines[0], lines[0]);
	assert_memory_equal(back.hex, s.hex, 4);
	assert_true(back.large == s.large && back.inside[0].number == 7);
	pctl_str_drop(&text);
	pctl_arena_destroy(arena);
}

/* What is planted here, one byte at every place, is what a forger of a signed text would change. */
static void test_record__every_other_byte_is_refused(void **state)
{
	static const char bytes[] = "0a\"; \n{}()[],\\=:/\xff";
	sample back;

	(void)state;
	for (size_t i = 0; i < sizeof(text_of_sample) - 1; i++)
		for (size_t k = 0; k < sizeof(bytes) - 1; k++) {
			pctl_arena *arena = pctl_arena_create();
			char text[sizeof(text_of_sample)];
			const char *said;
			pctl_str_buf again = PCTL_STR_BUF_INIT;

			memcpy(text, text_of_sample, sizeof(text));
			text[i] = bytes[k];
			if (bytes[k] != text_of_sample[i] &&
			    take(text, arena, NULL, &back) == PCTL_OK) {
				/* Another value in a place that holds one: it must be written so. */
				pctl_record_text(&type, &back, &again);
				said = again.data;
				assert_string_equal(said, text);
			}
			pctl_str_drop(&again);
			pctl_arena_destroy(arena);
		}
}

static void test_record__faults_are_told_with_their_place(void **state)
{
	static const struct {
		const char *from, *to, *said;
		uint32_t code, line;
	} cases[] = {
		{"sample :", "simple :", "`sample` is missing", PC5901_RECEIPT_FORM, 1},
		{"sample/1", "sample/2", "`sample.schema` is \"sample/2\", not sample/1",
		 PC5901_RECEIPT_FORM, 3},
		{"  text = \"a", "  next = \"a", "`sample.text` is missing", PC5901_RECEIPT_FORM,
		 2},
		{"1234567", "12345678", "not a text of at most 7 bytes", PC5901_RECEIPT_FORM, 6},
		{"\"4294967295\"", "\"4294967296\"",
		 "`sample.small` is \"4294967296\", not a number "
		 "from 0 to 4294967295",
		 PC5901_RECEIPT_FORM, 7},
		{"flag = true", "flag = \"1\"", "`sample.flag` is \"1\", not a bool",
		 PC5901_RECEIPT_FORM, 9},
		{"00ff10a9", "00FF10A9", "not 8 lower-case hex digits", PC5901_RECEIPT_FORM, 10},
		{"coded = \"some", "coded = \"all", "not \"some\" or \"none\"", PC5901_RECEIPT_FORM,
		 11},
		{"second = \"some\";", "second = \"some\"; third = \"some\";",
		 "keys that are not known", PC5901_RECEIPT_FORM, 14},
		{"number = 98;", "number = 100;",
		 "`sample.entries[0].number` is \"100\", not a number "
		 "from 1 to 99",
		 PC5901_RECEIPT_FORM, 23},
		{"[ \"x\", \"98\" ],", "", "another number of items", PC5901_RECEIPT_FORM, 29},
		{"[ \"d\" ]", "[ \"d\" ], \"e\"", "`sample.lines[2]` is \"e\", not an array",
		 PC5901_RECEIPT_FORM, 37},
		{"[ \"d\" ] );", "[ \"d\" ] );\n  more = 1;", "`sample.more` is not a known key",
		 PC5901_RECEIPT_FORM, 38},
		{"51615", "51614", "line 12 is not what follows from the rest",
		 PC5902_RECEIPT_CONTRADICTS, 12},
		{"  flag = true;\n", "  flag  = true;\n", "line 9 is not what follows",
		 PC5902_RECEIPT_CONTRADICTS, 9},
	};
	sample back;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *at = strstr(text_of_sample, cases[i].from);
		pctl_diag_list *l = pctl_diag_list_create();
		pctl_arena *arena = pctl_arena_create();
		const pctl_diag *d;
		char text[2000];

		assert_non_null(at);
		snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - text_of_sample), text_of_sample,
			 cases[i].to, at + strlen(cases[i].from));
		if (take(text, arena, pctl_diag_list_call(l), &back) == PCTL_OK ||
		    pctl_diag_list_count(l) != 1)
			fail_msg("case %zu", i);
		d = pctl_diag_list_at(l, 0);
		if (strstr(d->message, cases[i].said) == NULL || d->code != cases[i].code ||
		    d->pos.line != cases[i].line)
			fail_msg("case %zu: line %u: PC%u: %s", i, d->pos.line, d->code,
				 d->message);
		pctl_arena_destroy(arena);
		pctl_diag_list_destroy(l);
	}
}

/* ---- lines -------------------------------------------------------------------------------- */

typedef struct spot {
	const char *name;
	uint32_t x, y, how, n_more;
	entry *more;
} spot;

static const char *const hows[] = {"far", NULL, "near"};
static const pctl_record_field point_fields[] = {
	PCTL_RECORD_FIELD(U32, "x", spot, x, .means = "a number"),
	PCTL_RECORD_FIELD(U32, "y", spot, y, .bound = 9, .means = "a number")};
static const pctl_record_shape point =
	PCTL_RECORD_OF_LINES(point_fields, PCTL_RECORD_ROW, ',', spot);
static const pctl_record_field more_fields[] = {
	PCTL_RECORD_FIELD(TEXT, "name", entry, name, .means = "a name"),
	PCTL_RECORD_FIELD(U32, "number", entry, number, .means = "a number")};
static const pctl_record_shape more =
	PCTL_RECORD_OF_LINES(more_fields, PCTL_RECORD_ROW, '=', entry);
static const pctl_record_field spot_fields[] = {
	PCTL_RECORD_FIELD(TEXT, "name", spot, name, .flags = PCTL_RECORD_NAMED, .means = "a name"),
	PCTL_RECORD_FIELD(WORD, "how", spot, how, PCTL_RECORD_WORDS(hows), .means = "a word"),
	{.key = "point", .kind = PCTL_RECORD_GROUP, .of = &point, .means = "two numbers"},
	PCTL_RECORD_FIELD(LIST, "more", spot, more, .n_at = offsetof(spot, n_more), .bound = 2,
			  .flags = PCTL_RECORD_NAMED, .of = &more, .means = "entries")};
static const pctl_record_shape spots =
	PCTL_RECORD_OF_LINES(spot_fields, PCTL_RECORD_LINES, ' ', spot);
static const pctl_record_type spot_type = {.opening = "spot 1\n",
					   .shape = &spots,
					   .quoting = PCTL_RECORD_ESCAPES,
					   .form = PC5901_RECEIPT_FORM};

static void test_record__lines_are_read_and_written(void **state)
{
	static const char text[] = "spot 1\nname a \\t\\n\\\\b\nnear\n1,9\nmore x=1\nmore =2\n";
	static const struct {
		const char *text, *said;
		uint32_t line;
	} cases[] = {
		{"spot 2\nname a\n", "is not how such a text begins", 1},
		{"spot 1\nnear\n", "`name` is missing", 2},
		{"spot 1\nname\n", "`name` is missing", 2},
		{"spot 1\nname a\\x\n", "backslash before another byte", 2},
		{"spot 1\nname a", "is not ended", 2},
		{"spot 1\nname a\nhere\n", "is \"here\", not \"far\" or \"near\"", 3},
		{"spot 1\nname a\nfar\n1,10\n", "`y` is \"10\", not a number from 0 to 9", 4},
		{"spot 1\nname a\nfar\n1\n", "`y` is missing", 4},
		{"spot 1\nname a\nfar\n1,2,3\n", "goes on behind its last value", 4},
		{"spot 1\nname a\nfar\n1,2\nmore a=1=2\n", "goes on behind its last value", 5},
		{"spot 1\nname a\nfar\n1,2\nmore a=1\nmore b=2\nmore c=3\n", "too many items", 7},
		{"spot 1\nname a\nfar\n1,2\nless\n", "line 5 is not one that may stand here", 5}};
	pctl_arena *arena = pctl_arena_create();
	pctl_str_buf again = PCTL_STR_BUF_INIT;
	spot s = {.name = NULL};

	(void)state;
	assert_int_equal(pctl_record_read(&spot_type, "s", text, strlen(text), arena, NULL, &s),
			 PCTL_OK);
	assert_string_equal(s.name, "a \t\n\\b");
	assert_true(s.how == 2 && s.x == 1 && s.y == 9 && s.n_more == 2 && s.more[1].number == 2);
	pctl_record_text(&spot_type, &s, &again);
	assert_string_equal(again.data, text);
	pctl_str_drop(&again);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pctl_diag_list *l = pctl_diag_list_create();
		const pctl_diag *d;

		if (pctl_record_read(&spot_type, "s", cases[i].text, strlen(cases[i].text), arena,
				     pctl_diag_list_call(l), &s) == PCTL_OK ||
		    pctl_diag_list_count(l) != 1)
			fail_msg("case %zu", i);
		d = pctl_diag_list_at(l, 0);
		if (strstr(d->message, cases[i].said) == NULL || d->pos.line != cases[i].line ||
		    d->code != PC5901_RECEIPT_FORM)
			fail_msg("case %zu: line %u: %s", i, d->pos.line, d->message);
		pctl_diag_list_destroy(l);
	}
	pctl_arena_destroy(arena);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_record__lines_are_read_and_written),
		PCTL_TEST(test_record__every_kind_comes_back),
		PCTL_TEST(test_record__every_other_byte_is_refused),
		PCTL_TEST(test_record__faults_are_told_with_their_place))
