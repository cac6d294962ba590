/* The configuration reader: values and positions, every refusal with its place and a good twin,
 * includes, and a random comparison with libconfig itself. */
#include "main.h"

#include <libconfig.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/conf/conf.h"
#include "foundation/diag/diag.h"

static pctl_diag_list *diags;

static pctl_status read_text(const char *text, pctl_conf **out)
{
	pctl_diag_list_destroy(diags);
	diags = pctl_diag_list_create();
	return pctl_conf_read_text("t.cfg", text, strlen(text), pctl_diag_list_call(diags), out);
}

static void drop(pctl_conf *c)
{
	pctl_conf_destroy(c);
	pctl_diag_list_destroy(diags);
	diags = NULL;
}

/* The text is refused with exactly one error: this code, at this place. */
static void refused(const char *text, uint32_t code, uint32_t line, uint32_t column)
{
	pctl_conf *c = NULL;
	const pctl_diag *d;

	assert_int_not_equal(read_text(text, &c), PCTL_OK);
	assert_null(c);
	if (pctl_diag_list_count(diags) != 1)
		pctl_diag_render_text(diags, stderr, 0);
	assert_int_equal(pctl_diag_list_count(diags), 1);
	d = pctl_diag_list_at(diags, 0);
	assert_int_equal(d->code, code);
	assert_int_equal(d->pos.line, line);
	assert_int_equal(d->pos.column, column);
	drop(NULL);
}

static void accepted(const char *text)
{
	pctl_conf *c = NULL;

	if (read_text(text, &c) != PCTL_OK)
		pctl_diag_render_text(diags, stderr, 0);
	assert_non_null(c);
	assert_int_equal(pctl_diag_list_count(diags), 0);
	drop(c);
}

static void conf__values_and_positions(void **state)
{
	static const char text[] =
		"// c\n"
		"a = 1;\n"
		"g : { s = \"x\" \"y\"\n"
		"   \"z\"; b = TRUE; f = -1.5e3, l = ( 1, ( ), { k = [ 1L, 2L ] } ) }\n"
		"h = 0x1f # end";
	pctl_conf *c = NULL;
	const pctl_conf_value *v;
	char path[64];

	(void)state;
	assert_int_equal(read_text(text, &c), PCTL_OK);
	v = pctl_conf_get(pctl_conf_root(c), "a");
	assert_int_equal(v->integer, 1);
	assert_int_equal(v->key_pos.line, 2);
	assert_int_equal(v->key_pos.column, 1);
	assert_int_equal(v->pos.column, 5);
	assert_int_equal(v->pos.end_column, 6);
	v = pctl_conf_find(pctl_conf_root(c), "g.s");
	assert_string_equal(v->text, "xyz");
	assert_int_equal(v->pos.line, 3);
	assert_int_equal(v->pos.column, 11);
	assert_int_equal(v->pos.end_column, 18);
	assert_int_equal(pctl_conf_find(pctl_conf_root(c), "g.b")->integer, 1);
	assert_true(pctl_conf_find(pctl_conf_root(c), "g.f")->number == -1500.0);
	assert_int_equal(pctl_conf_get(pctl_conf_root(c), "h")->integer, 31);
	v = pctl_conf_find(pctl_conf_root(c), "g.l");
	assert_int_equal(v->n_items, 3);
	v = pctl_conf_get(v->items[2], "k")->items[1];
	assert_int_equal(v->integer, 2);
	assert_string_equal(v->text, "2L");
	assert_string_equal(pctl_conf_path(v, path, sizeof(path)), "g.l[2].k[1]");
	assert_null(pctl_conf_find(pctl_conf_root(c), "g.nothing.there"));
	assert_null(pctl_conf_get(v, "a"));
	drop(c);
}

static void conf__integers_keep_their_value_or_are_refused(void **state)
{
	(void)state;
	accepted("a = 2147483647;");
	refused("a = 2147483648;", PC1004_CONF_INTEGER, 1, 5);
	accepted("a = -2147483648;");
	refused("a = -2147483649;", PC1004_CONF_INTEGER, 1, 5);
	accepted("a = 0x7fffffff;");
	refused("a = 0x80000000;", PC1004_CONF_INTEGER, 1, 5);
	accepted("a = 9223372036854775807L;");
	refused("a = 9223372036854775808L;", PC1004_CONF_INTEGER, 1, 5);
	accepted("a = -9223372036854775808L;");
	refused("a = -9223372036854775809L;", PC1004_CONF_INTEGER, 1, 5);
	accepted("a = 0x7fffffffffffffffL;");
	refused("a = 0xffffffffffffffffL;", PC1004_CONF_INTEGER, 1, 5);
	refused("a = 99999999999999999999999999999999;", PC1004_CONF_INTEGER, 1, 5);
}

static void conf__floats_are_finite(void **state)
{
	(void)state;
	accepted("a = 1e308;");
	refused("a = 1e400;", PC1005_CONF_FLOAT, 1, 5);
	refused("a = -1e400;", PC1005_CONF_FLOAT, 1, 5);
	accepted("a = 0e-400; b = 1e-300;");
	refused("a = 1e-400;", PC1005_CONF_FLOAT, 1, 5);
	accepted("a = .5; b = 5.;");
	refused("a = .;", PC1005_CONF_FLOAT, 1, 5);
	refused("a = -.e5;", PC1005_CONF_FLOAT, 1, 5);
}

static void conf__characters(void **state)
{
	static const char nul[] = "a = 1;\0b = 2;\n";
	pctl_conf *c = NULL;

	(void)state;
	accepted("a = \"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\";");
	refused("a = 1;\nb = \"\xff\";", PC1002_CONF_CHARACTER, 2, 6);
	refused("a = \"\xc0\xaf\";", PC1002_CONF_CHARACTER, 1, 6);
	refused("a = \"\xed\xa0\x80\";", PC1002_CONF_CHARACTER, 1, 6);
	refused("a = \"\xe2\x82\";", PC1002_CONF_CHARACTER, 1, 6);
	accepted("a = \"\\x41\\\"\\\\\";");
	refused("a = \"\\x00\";", PC1002_CONF_CHARACTER, 1, 6);
	refused("a = \"\\xff\";", PC1002_CONF_CHARACTER, 1, 5);
	diags = pctl_diag_list_create();
	assert_int_equal(
		pctl_conf_read_text("t.cfg", nul, sizeof(nul) - 1, pctl_diag_list_call(diags), &c),
		PCTL_E_INVALID);
	assert_int_equal(pctl_diag_list_at(diags, 0)->code, PC1002_CONF_CHARACTER);
	assert_int_equal(pctl_diag_list_at(diags, 0)->pos.column, 7);
	drop(c);
}

static void conf__unterminated(void **state)
{
	(void)state;
	accepted("a = \"x\"; /* c */");
	refused("a = \"x;\nb = 2;\n", PC1003_CONF_UNTERMINATED, 1, 5);
	refused("a = 1;\n  /* c", PC1003_CONF_UNTERMINATED, 2, 3);
	accepted("a = \"two\nlines\"; b = 1;");
}

static void conf__duplicates_name_both_places(void **state)
{
	pctl_conf *c = NULL;
	const pctl_diag *d;

	(void)state;
	accepted("a : { b = 1; }; b = 1; l = ( { b = 1; }, { b = 2; } );");
	assert_int_equal(read_text("a = 1;\n g : { x = 1; y = 2;\n x = 3; };", &c), PCTL_E_INVALID);
	assert_int_equal(pctl_diag_list_count(diags), 1);
	d = pctl_diag_list_at(diags, 0);
	assert_int_equal(d->code, PC1006_CONF_DUPLICATE);
	assert_int_equal(d->pos.line, 3);
	assert_int_equal(d->n_notes, 1);
	assert_int_equal(d->notes[0].pos.line, 2);
	assert_int_equal(d->notes[0].pos.column, 8);
	drop(c);
}

static void conf__syntax_errors_have_carets(void **state)
{
	(void)state;
	refused("a = ;", PC1001_CONF_SYNTAX, 1, 5);
	refused("a 1;", PC1001_CONF_SYNTAX, 1, 3);
	refused("a = 30s;", PC1001_CONF_SYNTAX, 1, 7);
	refused("true = 1;", PC1001_CONF_SYNTAX, 1, 1);
	refused("a = [ 1, \"x\" ];", PC1001_CONF_SYNTAX, 1, 10);
	refused("a = [ 1, ( ) ];", PC1001_CONF_SYNTAX, 1, 10);
	refused("a = ( 1 2 );", PC1001_CONF_SYNTAX, 1, 9);
	refused("a = { b = 1; ];", PC1001_CONF_SYNTAX, 1, 14);
	/* The end of the file is behind its last byte. */
	refused("a = { b = 1;", PC1001_CONF_SYNTAX, 1, 13);
	refused("a = {\n  b = 1;\n", PC1001_CONF_SYNTAX, 3, 1);
	refused("a = {\n  b = 1; // c", PC1001_CONF_SYNTAX, 2, 14);
	refused("a = {\n  b = 1;\n/* c\n */  ", PC1001_CONF_SYNTAX, 4, 6);
	refused("a = 1; };", PC1001_CONF_SYNTAX, 1, 8);
	refused("a = 1 @ b = 2;", PC1001_CONF_SYNTAX, 1, 7);
	accepted("a = 1 b = 2, c = 3; d : [ ] e : ( ) f : { }");
	accepted("");
	accepted("# only a comment");
}

static void conf__many_errors_at_once(void **state)
{
	pctl_conf *c = NULL;

	(void)state;
	assert_int_equal(
		read_text("a = 99999999999;\nb = ;\nc = 1e999;\na = 2;\nd = ( 1, = );\ne = 5x;",
			  &c),
		PCTL_E_INVALID);
	assert_int_equal(pctl_diag_list_count(diags), 6);
	drop(c);
}

static void conf__error_flood_is_cut(void **state)
{
	char text[4000];
	pctl_conf *c = NULL;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(text); i++)
		text[i] = i % 2 == 0 ? '=' : ';';
	text[sizeof(text) - 1] = 0;
	assert_int_equal(read_text(text, &c), PCTL_E_INVALID);
	assert_int_equal(pctl_diag_list_count(diags), PCTL_CONF_ERRORS_MAX + 1);
	drop(c);
}

static char *nested(uint32_t depth)
{
	char *text = calloc(1, 8 * (size_t)depth + 16);

	strcpy(text, "a = ");
	for (uint32_t i = 0; i < depth; i++)
		strcat(text, "(");
	for (uint32_t i = 0; i < depth; i++)
		strcat(text, ")");
	return text;
}

static void conf__depth_and_size_are_limited(void **state)
{
	char *text = nested(PCTL_CONF_DEPTH_MAX), *big;
	pctl_conf *c = NULL;

	(void)state;
	accepted(text);
	free(text);
	text = nested(PCTL_CONF_DEPTH_MAX + 1);
	refused(text, PC1008_CONF_DEPTH, 1, 5 + PCTL_CONF_DEPTH_MAX);
	free(text);
	text = nested(100000);
	refused(text, PC1008_CONF_DEPTH, 1, 5 + PCTL_CONF_DEPTH_MAX);
	free(text);
	big = malloc(PCTL_CONF_FILE_BYTES_MAX + 2);
	memset(big, ' ', PCTL_CONF_FILE_BYTES_MAX + 1);
	big[PCTL_CONF_FILE_BYTES_MAX] = 0;
	accepted(big);
	big[PCTL_CONF_FILE_BYTES_MAX] = ' ';
	big[PCTL_CONF_FILE_BYTES_MAX + 1] = 0;
	assert_int_equal(read_text(big, &c), PCTL_E_LIMIT);
	drop(c);
	free(big);
}

static void conf__members_are_limited(void **state)
{
	char *text = malloc(16 * (size_t)(PCTL_CONF_MEMBERS_MAX + 1) + 1);
	size_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < PCTL_CONF_MEMBERS_MAX; i++)
		n += (size_t)sprintf(text + n, "k%u = 1;\n", i);
	accepted(text);
	sprintf(text + n, "more = 1;");
	refused(text, PC1009_CONF_SIZE, PCTL_CONF_MEMBERS_MAX + 1, 1);
	free(text);
}

/* ---- includes
 * -------------------------------------------------------------------------------------------------
 */

static char dir[64];

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/pctl-conf-XXXXXX");
	return mkdtemp(dir) == NULL || chdir(dir) != 0 || mkdir("sub", 0700) != 0;
}

static int drop_dir(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return chdir("/") != 0 || system(command) != 0;
}

static void put(const char *name, const char *text)
{
	assert_int_equal(pctl_file_write(name, text, strlen(text), 0, NULL), PCTL_OK);
}

static pctl_status read_file(const char *name, pctl_conf **out)
{
	pctl_diag_list_destroy(diags);
	diags = pctl_diag_list_create();
	return pctl_conf_read_file(name, pctl_diag_list_call(diags), out);
}

static void conf__includes_keep_positions(void **state)
{
	pctl_conf *c = NULL;
	const pctl_conf_value *v;
	size_t n;

	(void)state;
	put("main.cfg", "a = 1;\n  @include \"sub/one.cfg\" d = 4;\ng : {\n@include "
			"\"sub/two.cfg\"\n};\ne = 5;\n");
	put("sub/one.cfg", "\nb = 2;\n@include \"two.cfg\"\n");
	put("sub/two.cfg", "c = 3; # no newline at the end");
	assert_int_equal(read_file("main.cfg", &c), PCTL_OK);
	v = pctl_conf_get(pctl_conf_root(c), "b");
	assert_string_equal(v->pos.file, "sub/one.cfg");
	assert_int_equal(v->pos.line, 2);
	v = pctl_conf_get(pctl_conf_root(c), "c");
	assert_string_equal(v->pos.file, "sub/two.cfg");
	assert_int_equal(v->pos.line, 1);
	v = pctl_conf_get(pctl_conf_root(c), "d");
	assert_string_equal(v->pos.file, "main.cfg");
	assert_int_equal(v->pos.line, 2);
	assert_int_equal(v->pos.column, 30);
	assert_int_equal(pctl_conf_find(pctl_conf_root(c), "g.c")->integer, 3);
	v = pctl_conf_get(pctl_conf_root(c), "e");
	assert_int_equal(v->pos.line, 6);
	assert_int_equal(pctl_conf_source_count(c), 4);
	assert_string_equal(pctl_conf_source_name(c, 1), "sub/one.cfg");
	assert_non_null(pctl_conf_source_text(c, 3, &n));
	assert_int_equal(n, 30);
	assert_null(pctl_conf_source_name(c, 4));
	drop(c);
}

static void file_refused(const char *name, uint32_t code, const char *file, uint32_t line,
			 uint32_t column)
{
	pctl_conf *c = NULL;
	const pctl_diag *d;

	assert_int_not_equal(read_file(name, &c), PCTL_OK);
	assert_null(c);
	assert_true(pctl_diag_list_count(diags) >= 1);
	d = pctl_diag_list_at(diags, 0);
	assert_int_equal(d->code, code);
	assert_string_equal(d->pos.file, file);
	assert_int_equal(d->pos.line, line);
	assert_int_equal(d->pos.column, column);
	drop(NULL);
}

static void conf__bad_includes(void **state)
{
	char text[64], name[32];

	(void)state;
	put("main.cfg", "a = 1;\n@include \"nowhere.cfg\"\n");
	file_refused("main.cfg", PC1007_CONF_INCLUDE, "main.cfg", 2, 1);
	put("main.cfg", "a = 1;\n @include \"main.cfg\"\n");
	file_refused("main.cfg", PC1007_CONF_INCLUDE, "main.cfg", 2, 2);
	put("main.cfg", "a = 1;\n@include \"\"\n");
	file_refused("main.cfg", PC1007_CONF_INCLUDE, "main.cfg", 2, 1);
	put("main.cfg", "a = 1;\n@include \"x\nb = 2;");
	file_refused("main.cfg", PC1007_CONF_INCLUDE, "main.cfg", 2, 1);
	put("main.cfg", "a = 1;\n@include \"sub\"\n");
	file_refused("main.cfg", PC1007_CONF_INCLUDE, "main.cfg", 2, 1);
	put("main.cfg", "a = 1;\n@include \"one.cfg\"\n");
	put("one.cfg", "b = 1;\nc = = 2;\n");
	file_refused("main.cfg", PC1001_CONF_SYNTAX, "one.cfg", 2, 5);
	put("one.cfg", "b = \"open\n");
	file_refused("main.cfg", PC1003_CONF_UNTERMINATED, "one.cfg", 1, 5);
	put("one.cfg", "x = 1; a = 2;\n");
	file_refused("main.cfg", PC1006_CONF_DUPLICATE, "one.cfg", 1, 8);
	for (uint32_t i = 0; i < 12; i++) {
		snprintf(name, sizeof(name), "n%u.cfg", i);
		snprintf(text, sizeof(text), "v%u = 1;\n@include \"n%u.cfg\"\n", i, i + 1);
		put(name, i < 11 ? text : "last = 1;");
	}
	file_refused("n0.cfg", PC1007_CONF_INCLUDE, "n10.cfg", 2, 1);
	{
		pctl_conf *c = NULL;

		assert_int_equal(read_file("n1.cfg", &c), PCTL_OK); /* ten deep is fine */
		drop(c);
	}
}

static void conf__unreadable_file(void **state)
{
	pctl_conf *c = NULL;

	(void)state;
	assert_int_equal(read_file("absent.cfg", &c), PCTL_E_IO);
	assert_int_equal(pctl_diag_list_at(diags, 0)->code, PC3_IO);
	drop(c);
}

/* ---- typed reading
 * -------------------------------------------------------------------------------------------- */

static void quantity(const char *literal, uint32_t code, uint64_t wanted,
		     pctl_status (*as)(const pctl_conf_value *v, uint64_t min, uint64_t max,
				       const pctl_call *call, uint64_t *out))
{
	char text[128];
	pctl_conf *c = NULL;
	uint64_t value = 77;
	pctl_status status;

	snprintf(text, sizeof(text), "g : { q = %s; };", literal);
	assert_int_equal(read_text(text, &c), PCTL_OK);
	status = as(pctl_conf_find(pctl_conf_root(c), "g.q"), 2, UINT64_MAX - 1,
		    pctl_diag_list_call(diags), &value);
	assert_true(value == wanted);
	assert_int_equal(pctl_diag_list_count(diags), code != 0);
	assert_int_equal(status == PCTL_OK, code == 0);
	if (code != 0) {
		assert_int_equal(pctl_diag_list_at(diags, 0)->code, code);
		assert_int_equal(pctl_diag_list_at(diags, 0)->pos.column, 11);
		assert_non_null(strstr(pctl_diag_list_at(diags, 0)->message, "\"g.q\""));
	}
	drop(c);
}

static void conf__quantities(void **state)
{
	(void)state;
	quantity("5", 0, 5, pctl_conf_as_u64);
	quantity("5L", 0, 5, pctl_conf_as_u64);
	quantity("\"2_000_000_000_000\"", 0, 2000000000000, pctl_conf_as_u64);
	quantity("\"0xffff_ffff\"", 0, 0xffffffff, pctl_conf_as_u64);
	quantity("1", PC1024_CONF_RANGE, 0, pctl_conf_as_u64);
	quantity("-1", PC1024_CONF_RANGE, 0, pctl_conf_as_u64);
	quantity("\"18446744073709551615\"", PC1024_CONF_RANGE, 0, pctl_conf_as_u64);
	quantity("\"18446744073709551616\"", PC1025_CONF_QUANTITY, 0, pctl_conf_as_u64);
	quantity("\"12x\"", PC1025_CONF_QUANTITY, 0, pctl_conf_as_u64);
	quantity("\"4GiB\"", PC1025_CONF_QUANTITY, 0, pctl_conf_as_u64);
	quantity("true", PC1022_CONF_KIND, 0, pctl_conf_as_u64);
	quantity("{ }", PC1022_CONF_KIND, 0, pctl_conf_as_u64);
	quantity("\"4GiB\"", 0, 4ull << 30, pctl_conf_as_bytes);
	quantity("\"512K\"", 0, 512 << 10, pctl_conf_as_bytes);
	quantity("4096", 0, 4096, pctl_conf_as_bytes);
	quantity("\"4 GiB\"", PC1025_CONF_QUANTITY, 0, pctl_conf_as_bytes);
	quantity("\"99999999T\"", PC1025_CONF_QUANTITY, 0, pctl_conf_as_bytes);
	quantity("\"250ms\"", 0, 250, pctl_conf_as_duration);
	quantity("\"30s\"", 0, 30000, pctl_conf_as_duration);
	quantity("\"10min\"", 0, 600000, pctl_conf_as_duration);
	quantity("\"2h\"", 0, 7200000, pctl_conf_as_duration);
	quantity("250", 0, 250, pctl_conf_as_duration);
	quantity("\"250\"", PC1025_CONF_QUANTITY, 0, pctl_conf_as_duration);
	quantity("\"ms\"", PC1025_CONF_QUANTITY, 0, pctl_conf_as_duration);
	quantity("\"6000000000000000000h\"", PC1025_CONF_QUANTITY, 0, pctl_conf_as_duration);
}

static void conf__other_kinds(void **state)
{
	static const char *const words[] = {"red", "green", "blue"};
	pctl_conf *c = NULL;
	const pctl_conf_value *root;
	const pctl_call *call;
	const char *text;
	uint32_t which;
	int64_t i64;
	double number;
	int flag;

	(void)state;
	assert_int_equal(read_text("s = \"gren\"; n = -5; b = true; f = 1.5; w = \"a b\"; i = "
				   "\"-9_000_000_000\"; g = \"green\";",
				   &c),
			 PCTL_OK);
	root = pctl_conf_root(c);
	call = pctl_diag_list_call(diags);
	assert_int_equal(pctl_conf_as_string(pctl_conf_get(root, "s"), call, &text), PCTL_OK);
	assert_string_equal(text, "gren");
	assert_int_equal(pctl_conf_as_string(pctl_conf_get(root, "n"), call, &text),
			 PCTL_E_INVALID);
	assert_null(text);
	assert_int_equal(pctl_conf_as_name(pctl_conf_get(root, "s"), call, &text), PCTL_OK);
	assert_int_equal(pctl_conf_as_name(pctl_conf_get(root, "w"), call, &text), PCTL_E_INVALID);
	assert_int_equal(pctl_conf_as_bool(pctl_conf_get(root, "b"), call, &flag), PCTL_OK);
	assert_int_equal(flag, 1);
	assert_int_equal(pctl_conf_as_bool(pctl_conf_get(root, "n"), call, &flag), PCTL_E_INVALID);
	assert_int_equal(pctl_conf_as_i64(pctl_conf_get(root, "i"), INT64_MIN, 0, call, &i64),
			 PCTL_OK);
	assert_true(i64 == -9000000000);
	assert_int_equal(pctl_conf_as_i64(pctl_conf_get(root, "n"), -4, 4, call, &i64),
			 PCTL_E_INVALID);
	assert_int_equal(pctl_conf_as_i64(pctl_conf_get(root, "s"), -4, 4, call, &i64),
			 PCTL_E_INVALID);
	assert_int_equal(pctl_conf_as_double(pctl_conf_get(root, "n"), call, &number), PCTL_OK);
	assert_true(number == -5.0);
	assert_int_equal(pctl_conf_as_double(pctl_conf_get(root, "s"), call, &number),
			 PCTL_E_INVALID);
	assert_int_equal(pctl_conf_as_choice(pctl_conf_get(root, "g"), words, 3, call, &which),
			 PCTL_OK);
	assert_int_equal(which, 1);
	assert_int_equal(pctl_diag_list_count(diags), 6);
	assert_int_equal(pctl_conf_as_choice(pctl_conf_get(root, "s"), words, 3, call, &which),
			 PCTL_E_INVALID);
	assert_string_equal(pctl_diag_list_at(diags, 6)->hint,
			    "did you mean \"green\"? available: red, green, blue");
	assert_int_equal(pctl_conf_u64_or(root, "absent", 9), 9);
	assert_int_equal(pctl_conf_bool_or(root, "b", 0), 1);
	assert_string_equal(pctl_conf_string_or(root, "n", "?"), "?");
	drop(c);
}

/* ---- against libconfig
 * ---------------------------------------------------------------------------------------- */

static uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* libconfig 1.5 leaks the string it was reading when it meets an error. */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static int libconfig_accepts(const char *text)
{
	config_t cfg;
	int ok;

	if (__lsan_disable != NULL)
		__lsan_disable();
	config_init(&cfg);
	ok = config_read_string(&cfg, text);
	config_destroy(&cfg);
	if (__lsan_enable != NULL)
		__lsan_enable();
	return ok;
}

/* Whatever libconfig refuses is refused here; what it accepts, made of harmless tokens that do not
 * touch, is accepted. */
static void conf__agrees_with_libconfig(void **state)
{
	static const char *const tokens[] = {
		"a",  "b",     "c*",	 "=",	 ":",	   ";",	       ",",	   "{",
		"}",  "[",     "]",	 "(",	 ")",	   "1",	       "-2",	   "0x3",
		"4L", "1.5",   "2e3",	 "true", "FALSE",  "\"s\"",    "\"\\\"\"", "# c\n",
		"\n", "/* */", "// c\n", "@",	 "a = 1;", "b = ( 1 )"};
	const uint32_t n_tokens = sizeof(tokens) / sizeof(tokens[0]);
	uint64_t seed = 0x9e3779b97f4a7c15u;
	uint32_t both = 0, neither = 0;

	(void)state;
	for (uint32_t round = 0; round < PCTL_TEST_SHARE(40000); round++) {
		char text[256];
		size_t n = 0;
		const uint32_t length = (uint32_t)(random_next(&seed) % 9) + 1;
		pctl_conf *c = NULL;
		int ours, theirs;

		for (uint32_t i = 0; i < length; i++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s ",
					      tokens[random_next(&seed) % n_tokens]);
		snprintf(text + n, sizeof(text) - n, "\n");
		theirs = libconfig_accepts(text);
		ours = pctl_conf_read_text("r.cfg", text, strlen(text), NULL, &c) == PCTL_OK;
		pctl_conf_destroy(c);
		if (ours != theirs)
			fprintf(stderr, "round %u: ours %d, libconfig %d: %s\n", round, ours,
				theirs, text);
		assert_int_equal(ours, theirs);
		both += (uint32_t)ours;
		neither += (uint32_t)!ours;
	}
	assert_true(both > PCTL_TEST_SHARE(1000) && neither > PCTL_TEST_SHARE(1000));
}

PCTL_TESTS_MAIN(PCTL_TEST(conf__values_and_positions),
		PCTL_TEST(conf__integers_keep_their_value_or_are_refused),
		PCTL_TEST(conf__floats_are_finite), PCTL_TEST(conf__characters),
		PCTL_TEST(conf__unterminated), PCTL_TEST(conf__duplicates_name_both_places),
		PCTL_TEST(conf__syntax_errors_have_carets), PCTL_TEST(conf__many_errors_at_once),
		PCTL_TEST(conf__error_flood_is_cut), PCTL_TEST(conf__depth_and_size_are_limited),
		PCTL_TEST(conf__members_are_limited),
		cmocka_unit_test_setup_teardown(conf__includes_keep_positions, make_dir, drop_dir),
		cmocka_unit_test_setup_teardown(conf__bad_includes, make_dir, drop_dir),
		PCTL_TEST(conf__unreadable_file), PCTL_TEST(conf__quantities),
		PCTL_TEST(conf__other_kinds), PCTL_TEST(conf__agrees_with_libconfig))
