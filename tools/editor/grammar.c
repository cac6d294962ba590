/* Grammars for editors, made from the tables that the parser checks files with: `grammar textmate`, `grammar vim`, and
 * `grammar keys`, which lists every key for the test that looks each up in the grammar. A key that the schema of its group does not
 * have is marked invalid, as `pipectl check` would say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/json.h"
#include "runtime/graph/pipeline.h"
#include "runtime/policy/policy.h"

#define NAME "[A-Za-z*][-A-Za-z0-9_*]*"
/* A setting ends with its separator, behind or before a bracket that closes, or where the next one begins. */
#define SETTING_END "[;,]|(?<=[})\\]])|(?=[})\\]])|(?=" NAME "\\s*[:=])"

static void rule(pctl_json *j, const char *match, const char *name)
{
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "match", match);
	pctl_json_kv_string(j, "name", name);
	pctl_json_object_end(j);
}

static void use(pctl_json *j, const char *name)
{
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "include", name);
	pctl_json_object_end(j);
}

static void capture(pctl_json *j, const char *key, uint32_t n, const char *const *names)
{
	char number[2] = "0";

	pctl_json_key(j, key);
	pctl_json_object_begin(j);
	for (uint32_t i = 0; i < n; i++) {
		number[0] = (char)('1' + i);
		pctl_json_key(j, number);
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "name", names[i]);
		pctl_json_object_end(j);
	}
	pctl_json_object_end(j);
}

static void begin(pctl_json *j, const char *from, const char *to)
{
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "begin", from);
	pctl_json_kv_string(j, "end", to);
}

static void patterns(pctl_json *j)
{
	pctl_json_key(j, "patterns");
	pctl_json_array_begin(j);
}

static void end(pctl_json *j)
{
	pctl_json_array_end(j);
	pctl_json_object_end(j);
}

static void value(pctl_json *j, const pctl_conf_field *f);

/* A key with what may follow it. */
static void setting(pctl_json *j, const char *key, const char *scope, const pctl_conf_field *f)
{
	pctl_str_buf from = PCTL_STR_BUF_INIT;

	pctl_str_addf(&from, "(?<![-A-Za-z0-9_*])(%s)(?![-A-Za-z0-9_*])", key);
	if (from.failed)
		abort();
	begin(j, from.data, SETTING_END);
	capture(j, "beginCaptures", 1, &scope);
	patterns(j);
	use(j, "#comment");
	rule(j, "[:=]", "punctuation.separator.key-value.pipectl");
	value(j, f);
	end(j);
	pctl_str_drop(&from);
}

static void members(pctl_json *j, const pctl_conf_schema *s)
{
	for (uint32_t i = 0; i < s->n_fields; i++)
		setting(j, s->fields[i].key, "keyword.other.key.pipectl", &s->fields[i]);
}

/* Its value is none. */
static void unknown_key(pctl_json *j)
{
	use(j, "#string");
	rule(j, NAME, "invalid.illegal.unknown-key.pipectl");
}

static void between(pctl_json *j)
{
	use(j, "#comment");
	use(j, "#include");
	rule(j, "[;,]", "punctuation.separator.pipectl");
}

static void choice(pctl_json *j, const char *const *words)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	for (uint32_t i = 0; words[i] != NULL; i++)
		pctl_str_addf(&s, "%s%s", i == 0 ? "\"(" : "|", words[i]);
	pctl_str_add(&s, ")\"");
	if (s.failed)
		abort();
	rule(j, s.data, "constant.language.pipectl");
	rule(j, "\"[^\"]*\"", "invalid.illegal.value.pipectl");
	pctl_str_drop(&s);
}

static void value(pctl_json *j, const pctl_conf_field *f)
{
	switch (f == NULL ? PCTL_FIELD_ANY : f->kind) {
	case PCTL_FIELD_GROUP:
		begin(j, "\\{", "\\}");
		patterns(j);
		between(j);
		members(j, f->group);
		unknown_key(j);
		end(j);
		break;
	case PCTL_FIELD_MAP:
		begin(j, "\\{", "\\}");
		patterns(j);
		between(j);
		setting(j, NAME, "entity.name.tag.pipectl", f->element);
		end(j);
		break;
	case PCTL_FIELD_LIST:
		begin(j, "[(\\[]", "[)\\]]");
		patterns(j);
		between(j);
		value(j, f->element);
		end(j);
		break;
	case PCTL_FIELD_CHOICE:
		choice(j, f->words);
		break;
	case PCTL_FIELD_BOOL:
		use(j, "#bool");
		break;
	case PCTL_FIELD_STRING:
	case PCTL_FIELD_NAME:
		use(j, "#string");
		break;
	case PCTL_FIELD_SCALAR:
	case PCTL_FIELD_ANY:
		use(j, "#bool");
		/* fall through */
	default: /* quantities are numbers or quoted */
		use(j, "#number");
		use(j, "#string");
	}
}

/* "u32|i32[m,2]" whole in its quotes. */
static void type_rule(pctl_json *j)
{
	static const char *const names[] = {"storage.type.pipectl", "constant.other.shape.pipectl"};
	pctl_str_buf all = PCTL_STR_BUF_INIT, match = PCTL_STR_BUF_INIT;

	for (uint32_t i = 0; pctl_dtype_at(i) != NULL; i++)
		pctl_str_addf(&all, "%s%s", i == 0 ? "" : "|", pctl_dtype_at(i));
	pctl_str_addf(&match, "\"((?:%s)(?:\\|(?:%s))*)(\\[[^\\]\"]*\\])?\"", all.data, all.data);
	if (all.failed || match.failed)
		abort();
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "match", match.data);
	capture(j, "captures", 2, names);
	pctl_json_object_end(j);
	pctl_str_drop(&all);
	pctl_str_drop(&match);
}

static void string_rules(pctl_json *j)
{
	static const char *const op[] = {"entity.name.function.pipectl",
					 "constant.numeric.version.pipectl"};
	static const char *const parameter[] = {"variable.parameter.pipectl"};
	static const char *const port[] = {"variable.other.job.pipectl",
					   "variable.other.port.pipectl"};

	type_rule(j);
	pctl_json_object_begin(j);
	pctl_json_kv_string(
		j, "match",
		"\"([A-Za-z_][-A-Za-z0-9_]*\\.[-A-Za-z0-9_.]+)(@[0-9]+(?:\\.\\.[0-9]+)?)\"");
	capture(j, "captures", 2, op);
	pctl_json_object_end(j);
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "match", "\"(\\$[A-Za-z_][-A-Za-z0-9_]*)\"");
	capture(j, "captures", 1, parameter);
	pctl_json_object_end(j);
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "match", "\"([A-Za-z_][-A-Za-z0-9_]*)\\.([A-Za-z_][A-Za-z0-9_]*)\"");
	capture(j, "captures", 2, port);
	pctl_json_object_end(j);
	begin(j, "\"", "\"");
	pctl_json_kv_string(j, "name", "string.quoted.double.pipectl");
	patterns(j);
	rule(j, "\\\\.", "constant.character.escape.pipectl");
	end(j);
}

static void named(pctl_json *j, const char *name)
{
	pctl_json_key(j, name);
	pctl_json_object_begin(j);
	patterns(j);
}

static void repository(pctl_json *j)
{
	static const char *const include[] = {"keyword.control.include.pipectl",
					      "string.quoted.double.pipectl"};

	pctl_json_key(j, "repository");
	pctl_json_object_begin(j);
	named(j, "comment");
	rule(j, "(//|#).*$", "comment.line.pipectl");
	begin(j, "/\\*", "\\*/");
	pctl_json_kv_string(j, "name", "comment.block.pipectl");
	pctl_json_object_end(j);
	end(j);
	named(j, "include");
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "match", "(@include)\\s+(\"[^\"]*\")");
	capture(j, "captures", 2, include);
	pctl_json_object_end(j);
	end(j);
	named(j, "bool");
	rule(j, "(?<![-A-Za-z0-9_*])([Tt][Rr][Uu][Ee]|[Ff][Aa][Ll][Ss][Ee])(?![-A-Za-z0-9_*])",
	     "constant.language.boolean.pipectl");
	end(j);
	named(j, "number");
	rule(j,
	     "[-+]?(0[Xx][0-9A-Fa-f]+|[0-9]+\\.?[0-9]*([Ee][-+]?[0-9]+)?|\\.[0-9]+([Ee][-+]?[0-9]+)"
	     "?)L{0,2}",
	     "constant.numeric.pipectl");
	end(j);
	named(j, "string");
	string_rules(j);
	end(j);
	pctl_json_object_end(j);
}

/* A file holds a pipeline or a policy, or is a part of a pipeline that another file includes. */
static const pctl_conf_field policy = {.key = "policy", .kind = PCTL_FIELD_GROUP};

static void textmate(void)
{
	const pctl_conf_schema *file = pctl_pipeline_schema();
	pctl_conf_field root = policy;
	char *text;
	pctl_json j;

	root.group = pctl_policy_schema();
	pctl_json_init(&j, 1);
	pctl_json_object_begin(&j);
	pctl_json_kv_string(&j, "name", "pipectl");
	pctl_json_kv_string(&j, "scopeName", "source.pipectl");
	pctl_json_kv_string(
		&j, "comment",
		"Made by tools/editor/grammar.c from the parser's tables; do not edit.");
	patterns(&j);
	between(&j);
	members(&j, file);
	setting(&j, root.key, "keyword.other.key.pipectl", &root);
	members(&j, file->fields[0].group);
	unknown_key(&j);
	pctl_json_array_end(&j);
	repository(&j);
	pctl_json_object_end(&j);
	text = pctl_json_finish(&j);
	if (text == NULL)
		abort();
	puts(text);
	free(text);
}

/* ---- vim ---------------------------------------------------------------------------------- */

struct words {
	const char *of[512];
	uint32_t n;
};

static void add_word(struct words *w, const char *word)
{
	for (uint32_t i = 0; i < w->n; i++) {
		if (strcmp(w->of[i], word) == 0)
			return;
	}
	if (w->n == sizeof(w->of) / sizeof(w->of[0]))
		abort();
	w->of[w->n++] = word;
}

static void collect(const pctl_conf_schema *s, struct words *keys, struct words *values)
{
	for (uint32_t i = 0; i < s->n_fields; i++) {
		const pctl_conf_field *f = &s->fields[i];

		add_word(keys, f->key);
		for (uint32_t k = 0; f->kind == PCTL_FIELD_CHOICE && f->words[k] != NULL; k++)
			add_word(values, f->words[k]);
		if (f->kind == PCTL_FIELD_GROUP)
			collect(f->group, keys, values);
		else if (f->element != NULL && f->element->kind == PCTL_FIELD_GROUP)
			collect(f->element->group, keys, values);
	}
}

static void vim(void)
{
	struct words keys = {.n = 0}, values = {.n = 0};

	collect(pctl_pipeline_schema(), &keys, &values);
	add_word(&keys, policy.key);
	collect(pctl_policy_schema(), &keys, &values);
	puts("\" Made by tools/editor/grammar.c from the parser's tables; do not edit.\n"
	     "if exists(\"b:current_syntax\")\n  finish\nendif\n"
	     "syn match pipectlName /[A-Za-z*][-A-Za-z0-9_*]*\\ze\\s*[:=]/\n"
	     "syn keyword pipectlBool true false");
	for (uint32_t i = 0; i < keys.n; i++)
		printf("syn match pipectlKey /\\<%s\\>\\ze\\s*[:=]/\n", keys.of[i]);
	puts("syn match pipectlNumber "
	     "/[-+]\\?\\<\\(0[xX]\\x\\+\\|\\d\\+\\(\\.\\d*\\)\\?\\([eE][-+]\\?\\d\\+\\)\\?\\)L\\{0,"
	     "2}\\>/\n"
	     "syn match pipectlInclude /@include/\n"
	     "syn region pipectlString start=/\"/ skip=/\\\\./ end=/\"/ "
	     "contains=pipectlEscape,pipectlParameter,pipectlType,pipectlWord\n"
	     "syn match pipectlEscape /\\\\./ contained\n"
	     "syn match pipectlParameter /\"\\zs\\$[A-Za-z_][-A-Za-z0-9_]*/ contained");
	printf("syn match pipectlType /\"\\zs\\(");
	for (uint32_t i = 0; pctl_dtype_at(i) != NULL; i++)
		printf("%s%s", i == 0 ? "" : "\\|", pctl_dtype_at(i));
	printf("\\)\\ze[\"|[]/ contained\nsyn match pipectlWord /\"\\zs\\(");
	for (uint32_t i = 0; i < values.n; i++)
		printf("%s%s", i == 0 ? "" : "\\|", values.of[i]);
	puts("\\)\\ze\"/ contained\n"
	     "syn match pipectlComment /\\(\\/\\/\\|#\\).*$/\n"
	     "syn region pipectlComment start=/\\/\\*/ end=/\\*\\//\n"
	     "hi def link pipectlKey Keyword\nhi def link pipectlName Identifier\nhi def link "
	     "pipectlBool Boolean\n"
	     "hi def link pipectlNumber Number\nhi def link pipectlInclude Include\nhi def link "
	     "pipectlString String\n"
	     "hi def link pipectlEscape SpecialChar\nhi def link pipectlParameter Special\nhi def "
	     "link pipectlType Type\n"
	     "hi def link pipectlWord Constant\nhi def link pipectlComment Comment\n"
	     "let b:current_syntax = \"pipectl\"");
}

/* ---- keys --------------------------------------------------------------------------------- */

/* A line a key: how to write a text that ends where its name stands, the name, a value for it; parted by tabs. */
static void list_keys(const char *before, const char *after, const pctl_conf_schema *s)
{
	for (uint32_t i = 0; i < s->n_fields; i++) {
		const pctl_conf_field *f = &s->fields[i], *e = f->element;
		pctl_str_buf inner = PCTL_STR_BUF_INIT, outer = PCTL_STR_BUF_INIT;
		const pctl_conf_schema *group = f->kind == PCTL_FIELD_GROUP ? f->group
						: e != NULL && e->kind == PCTL_FIELD_GROUP
							? e->group
							: NULL;

		printf("%s\t%s\t%s\t", before, f->key, after);
		for (uint32_t k = 0; f->kind == PCTL_FIELD_CHOICE && f->words[k] != NULL; k++)
			printf("%s\"%s\"", k == 0 ? "" : " ", f->words[k]);
		putchar('\n');
		if (group == NULL)
			continue;
		pctl_str_addf(&inner, "%s%s : %s", before, f->key,
			      f->kind == PCTL_FIELD_LIST  ? "( { "
			      : f->kind == PCTL_FIELD_MAP ? "{ some : { "
							  : "{ ");
		pctl_str_addf(&outer, "%s%s",
			      f->kind == PCTL_FIELD_LIST  ? "} ); "
			      : f->kind == PCTL_FIELD_MAP ? "}; }; "
							  : "}; ",
			      after);
		if (inner.failed || outer.failed)
			abort();
		list_keys(inner.data, outer.data, group);
		pctl_str_drop(&inner);
		pctl_str_drop(&outer);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	if (strcmp(what, "textmate") == 0) {
		textmate();
	} else if (strcmp(what, "vim") == 0) {
		vim();
	} else if (strcmp(what, "keys") == 0) {
		list_keys("", "", pctl_pipeline_schema());
		list_keys("policy : { ", "}; ", pctl_policy_schema());
	} else {
		fputs("usage: grammar textmate|vim|keys\n", stderr);
		return 2;
	}
	return 0;
}
