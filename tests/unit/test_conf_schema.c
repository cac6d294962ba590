/* Schemas: every kind of deviation with a good twin, all at once, and settings over layers with
 * their origins. */
#include "main.h"

#include "foundation/conf/schema.h"
#include "foundation/diag/diag.h"

static const char *const words[] = {"low", "high", NULL};

static pctl_status check_even(const pctl_conf_value *v, const pctl_call *call)
{
	return v->integer % 2 == 0 ? PCTL_OK
				   : pctl_refuse_at(call, PC1024_CONF_RANGE, &v->pos, NULL, "odd");
}

static const pctl_conf_field inner_fields[] = {
	{.key = "id", .kind = PCTL_FIELD_NAME, .flags = PCTL_FIELD_REQUIRED, .doc = "its name"},
	{.key = "size", .kind = PCTL_FIELD_BYTES, .max = 1u << 20, .default_text = "4096"},
};
static const pctl_conf_schema inner = PCTL_CONF_SCHEMA("an item", inner_fields);
static const pctl_conf_field item = {.kind = PCTL_FIELD_GROUP, .group = &inner};
static const pctl_conf_field number = {.kind = PCTL_FIELD_U64, .max = 9};

static const pctl_conf_field fields[] = {
	{.key = "text", .kind = PCTL_FIELD_STRING, .default_text = "none"},
	{.key = "flag", .kind = PCTL_FIELD_BOOL},
	{.key = "count", .kind = PCTL_FIELD_U64, .min = 1, .max = 10},
	{.key = "offset", .kind = PCTL_FIELD_I64, .min = (uint64_t)-5, .max = 5},
	{.key = "any_offset", .kind = PCTL_FIELD_I64},
	{.key = "wait", .kind = PCTL_FIELD_DURATION, .max = 1000},
	{.key = "ratio", .kind = PCTL_FIELD_FLOAT},
	{.key = "level", .kind = PCTL_FIELD_CHOICE, .words = words},
	{.key = "scalar", .kind = PCTL_FIELD_SCALAR},
	{.key = "group", .kind = PCTL_FIELD_GROUP, .group = &inner},
	{.key = "map", .kind = PCTL_FIELD_MAP, .element = &number},
	{.key = "list", .kind = PCTL_FIELD_LIST, .element = &item, .min = 1, .max = 2},
	{.key = "any", .kind = PCTL_FIELD_ANY},
	{.key = "even", .kind = PCTL_FIELD_U64, .check = check_even},
};
static const pctl_conf_schema schema = PCTL_CONF_SCHEMA("the test", fields);

/* Number of diagnostics; *first is the code of the first. */
static uint32_t judge(const char *text, uint32_t *first)
{
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_conf *c = NULL;
	pctl_status status;
	uint32_t n;

	assert_int_equal(
		pctl_conf_read_text("t.cfg", text, strlen(text), pctl_diag_list_call(l), &c),
		PCTL_OK);
	status = pctl_conf_check(pctl_conf_root(c), &schema, pctl_diag_list_call(l));
	n = pctl_diag_list_count(l);
	*first = n > 0 ? pctl_diag_list_at(l, 0)->code : 0;
	assert_int_equal(status == PCTL_OK, n == 0);
	pctl_conf_destroy(c);
	pctl_diag_list_destroy(l);
	return n;
}

static void twins(const char *good, const char *bad, uint32_t code)
{
	uint32_t first;

	assert_int_equal(judge(good, &first), 0);
	assert_int_equal(judge(bad, &first), 1);
	assert_int_equal(first, code);
}

static void conf_schema__every_kind(void **state)
{
	(void)state;
	twins("text = \"x\";", "text = 1;", PC1022_CONF_KIND);
	twins("flag = true;", "flag = 1;", PC1022_CONF_KIND);
	twins("count = 10;", "count = 11;", PC1024_CONF_RANGE);
	twins("count = 1;", "count = 0;", PC1024_CONF_RANGE);
	twins("count = \"0x0a\";", "count = \"ten\";", PC1025_CONF_QUANTITY);
	twins("offset = -5;", "offset = -6;", PC1024_CONF_RANGE);
	twins("any_offset = -2147483648;", "any_offset = 1.0;", PC1022_CONF_KIND);
	twins("wait = \"1s\";", "wait = \"2s\";", PC1024_CONF_RANGE);
	twins("ratio = 1;", "ratio = \"1\";", PC1022_CONF_KIND);
	twins("level = \"low\";", "level = \"lo\";", PC1023_CONF_WORD);
	twins("scalar = 1.5;", "scalar = ( 1 );", PC1022_CONF_KIND);
	twins("group = { id = \"a\"; };", "group = { };", PC1021_CONF_MISSING_KEY);
	twins("group = { id = \"a\"; };", "group = 1;", PC1022_CONF_KIND);
	twins("group = { id = \"a\"; };", "group = { id = \"a b\"; };", PC1023_CONF_WORD);
	twins("group = { id = \"a\"; size = \"1M\"; };", "group = { id = \"a\"; size = \"1G\"; };",
	      PC1024_CONF_RANGE);
	twins("map = { x = 1; y = 9; };", "map = { x = 1; y = 10; };", PC1024_CONF_RANGE);
	twins("map = { };", "map = ( );", PC1022_CONF_KIND);
	twins("list = ( { id = \"a\"; } );", "list = ( );", PC1024_CONF_RANGE);
	twins("list = ( { id = \"a\"; }, { id = \"b\"; } );",
	      "list = ( { id = \"a\"; }, { id = \"b\"; }, { id = \"c\"; } );", PC1024_CONF_RANGE);
	twins("list = ( { id = \"a\"; } );", "list = ( 1 );", PC1022_CONF_KIND);
	twins("list = ( { id = \"a\"; } );", "list = \"a\";", PC1022_CONF_KIND);
	twins("any = ( { x = 1; } );", "anything = 1;", PC1020_CONF_UNKNOWN_KEY);
	twins("even = 2;", "even = 3;", PC1024_CONF_RANGE);
}

static void conf_schema__all_errors_at_once(void **state)
{
	uint32_t first;

	(void)state;
	assert_int_equal(judge("tex = 1; flag = 2; count = 99; list = ( { size = -1; nme = 1; }, 3 "
			       "); even = 5;",
			       &first),
			 8);
}

static void conf_schema__unknown_key_names_the_nearest(void **state)
{
	static const char text[] = "a = 1;\n  cuont = 2;";
	pctl_diag_list *l = pctl_diag_list_create();
	pctl_conf *c = NULL;
	const pctl_diag *d;

	(void)state;
	assert_int_equal(
		pctl_conf_read_text("t.cfg", text, strlen(text), pctl_diag_list_call(l), &c),
		PCTL_OK);
	assert_int_equal(pctl_conf_check(pctl_conf_root(c), &schema, pctl_diag_list_call(l)),
			 PCTL_E_INVALID);
	d = pctl_diag_list_at(l, 1);
	assert_int_equal(d->pos.line, 2);
	assert_int_equal(d->pos.column, 3);
	assert_int_equal(d->pos.end_column, 8);
	assert_non_null(strstr(d->hint, "did you mean \"count\"? available: text, flag, count"));
	pctl_conf_destroy(c);
	pctl_diag_list_destroy(l);
}

static void conf_schema__settings_and_origins(void **state)
{
	static const char own[] =
		"text = \"mine\";\nlist = ( { id = \"a\"; } );\ngroup : { id = \"g\"; };";
	static const char base[] = "text = \"base\"; count = 3; group : { id = \"h\"; size = 7; };";
	pctl_conf *a = NULL, *b = NULL;
	const pctl_conf_value *layers[3];
	pctl_conf_settings *s = NULL;

	(void)state;
	assert_int_equal(pctl_conf_read_text("a.cfg", own, strlen(own), NULL, &a), PCTL_OK);
	assert_int_equal(pctl_conf_read_text(PCTL_CONF_BUILT_IN, base, strlen(base), NULL, &b),
			 PCTL_OK);
	layers[0] = pctl_conf_root(a);
	layers[1] = NULL;
	layers[2] = pctl_conf_root(b);
	assert_int_equal(pctl_conf_settings_create(&schema, layers, 3, NULL, &s), PCTL_OK);
	assert_int_equal(pctl_conf_settings_count(s), 15);
	assert_string_equal(pctl_conf_settings_get(s, "text")->value, "mine");
	assert_string_equal(pctl_conf_settings_get(s, "text")->origin, "a.cfg:1");
	assert_string_equal(pctl_conf_settings_get(s, "count")->value, "3");
	assert_string_equal(pctl_conf_settings_get(s, "count")->origin, "built in");
	assert_string_equal(pctl_conf_settings_get(s, "group.id")->value, "g");
	assert_string_equal(pctl_conf_settings_get(s, "group.id")->origin, "a.cfg:3");
	assert_string_equal(pctl_conf_settings_get(s, "group.size")->value, "7");
	assert_string_equal(pctl_conf_settings_get(s, "list")->value, "(id = a)");
	assert_null(pctl_conf_settings_get(s, "flag")->from);
	assert_null(pctl_conf_settings_get(s, "nothing"));
	assert_null(pctl_conf_settings_at(s, 15));
	pctl_conf_settings_destroy(s);
	assert_int_equal(pctl_conf_settings_create(&schema, layers, 1, NULL, &s), PCTL_OK);
	assert_string_equal(pctl_conf_settings_get(s, "group.size")->value, "4096");
	assert_string_equal(pctl_conf_settings_get(s, "group.size")->origin, "built in");
	pctl_conf_settings_destroy(s);
	pctl_conf_destroy(a);
	pctl_conf_destroy(b);
}

PCTL_TESTS_MAIN(PCTL_TEST(conf_schema__every_kind), PCTL_TEST(conf_schema__all_errors_at_once),
		PCTL_TEST(conf_schema__unknown_key_names_the_nearest),
		PCTL_TEST(conf_schema__settings_and_origins))
