/* Any bytes through the configuration reader and the formatter: they survive, never accept what libconfig refuses, and where
 * the reader accepts, every literal stands at its position. A layout has libconfig's values of the text and all its comments, and
 * is its own layout. Includes are not followed: the reader's text has no '@', the formatter leaves them alone. */
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/conf/format.h"
#include "foundation/conf/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Start of line `line` of the text. */
static const char *line_start(const char *text, uint32_t line)
{
	while (--line > 0)
		text = strchr(text, '\n') + 1;
	return text;
}

static void check_places(const char *text, const pctl_conf_value *v)
{
	char path[64];

	if (v->parent != NULL) {
		const char *at = line_start(text, v->pos.line) + v->pos.column - 1;

		if (v->kind > PCTL_CONF_STRING && strncmp(at, v->text, strlen(v->text)) != 0)
			abort();
		if ((v->kind == PCTL_CONF_STRING && *at != '"') ||
		    (v->kind == PCTL_CONF_GROUP && *at != '{') ||
		    (v->kind == PCTL_CONF_LIST && *at != '(') ||
		    (v->kind == PCTL_CONF_ARRAY && *at != '['))
			abort();
		at = line_start(text, v->key_pos.line) + v->key_pos.column - 1;
		if (v->key != NULL && strncmp(at, v->key, strlen(v->key)) != 0)
			abort();
	}
	(void)pctl_conf_path(v, path, sizeof(path));
	for (uint32_t i = 0; i < v->n_items; i++) {
		if (v->items[i]->parent != v || v->items[i]->index != i)
			abort();
		check_places(text, v->items[i]);
	}
}

static int libconfig_accepts(const char *text)
{
	config_t cfg;
	int ok;

	config_init(&cfg);
	ok = config_read_string(&cfg, text);
	config_destroy(&cfg);
	return ok;
}

/* ---- the formatter ------------------------------------------------------------------------- */

static int same_setting(const config_setting_t *a, const config_setting_t *b)
{
	const char *x = config_setting_name(a), *y = config_setting_name(b);
	const int type = config_setting_type(a);
	double f, g;

	if (type != config_setting_type(b) || (x == NULL) != (y == NULL) ||
	    (x != NULL && strcmp(x, y) != 0))
		return 0;
	switch (type) {
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		return config_setting_get_int64(a) == config_setting_get_int64(b) &&
		       config_setting_get_format(a) == config_setting_get_format(b);
	case CONFIG_TYPE_FLOAT:
		f = config_setting_get_float(a);
		g = config_setting_get_float(b);
		return memcmp(&f, &g, sizeof(f)) == 0;
	case CONFIG_TYPE_BOOL:
		return config_setting_get_bool(a) == config_setting_get_bool(b);
	case CONFIG_TYPE_STRING:
		return strcmp(config_setting_get_string(a), config_setting_get_string(b)) == 0;
	default:
		if (config_setting_length(a) != config_setting_length(b))
			return 0;
	}
	for (int i = 0; i < config_setting_length(a); i++) {
		if (!same_setting(config_setting_get_elem(a, (unsigned)i),
				  config_setting_get_elem(b, (unsigned)i)))
			return 0;
	}
	return 1;
}

static int libconfig_reads_the_same(const char *text, const char *layout)
{
	config_t a, b;
	int same;

	config_init(&a);
	config_init(&b);
	same = config_read_string(&a, text) && config_read_string(&b, layout) &&
	       same_setting(config_root_setting(&a), config_root_setting(&b));
	config_destroy(&a);
	config_destroy(&b);
	return same;
}

static uint64_t hash(const char *s, size_t n)
{
	uint64_t h = 1469598103934665603u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (uint8_t)s[i]) * 1099511628211u;
	return h;
}

/* A sum over the comments of a text, which does not depend on their order: how many there are and what they say, without the
 * blanks behind those that end with their line. */
static uint64_t comments(const char *s)
{
	uint64_t sum = 0;

	while (*s != 0) {
		const char *start = s;
		size_t n;

		if (*s == '"') {
			for (s++; *s != 0 && *s != '"'; s++)
				s += *s == '\\' && s[1] != 0;
			s += *s != 0;
		} else if (*s == '#' || (*s == '/' && s[1] == '/')) {
			for (n = strcspn(s, "\n"), s += n;
			     n > 0 && strchr(" \t\r\f\v", start[n - 1]);)
				n--;
			sum += hash(start, n) * 3 + 1;
		} else if (*s == '/' && s[1] == '*') {
			s = strstr(s + 2, "*/");
			s = s == NULL ? strchr(start, 0) : s + 2;
			sum += hash(start, (size_t)(s - start)) * 3 + 1;
		} else {
			s++;
		}
	}
	return sum;
}

static void check_layout(const char *text, size_t n, int has_include)
{
	char *once = NULL, *twice = NULL;
	size_t n_once = 0, n_twice = 0;
	const pctl_status status = pctl_conf_format("fuzz.cfg", text, n, NULL, &once, &n_once);

	/* What the reader took has a layout; only includes can stand where none is possible. */
	if (status == PCTL_E_INTERNAL || (status == PCTL_OK) != (once != NULL) ||
	    (status != PCTL_OK && !has_include))
		abort();
	if (once == NULL)
		return;
	if (comments(text) != comments(once) ||
	    (!has_include && !libconfig_reads_the_same(text, once)))
		abort();
	if (pctl_conf_format("fuzz.cfg", once, n_once, NULL, &twice, &n_twice) != PCTL_OK ||
	    n_twice != n_once || memcmp(once, twice, n_once) != 0)
		abort();
	free(twice);
	free(once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const int has_include = memchr(data, '@', n) != NULL;
	char *text = malloc(n + 2);
	pctl_conf *c = NULL;
	pctl_status status;

	if (text == NULL)
		return 0;
	memcpy(text, data, n);
	text[n] = '\n'; /* libconfig knows no comment that ends with the text */
	text[n + 1] = 0;
	if (has_include && strlen(text) == n + 1)
		check_layout(text, n + 1, 1);
	for (size_t i = 0; i < n; i++)
		if (text[i] == '@')
			text[i] = '~';
	status = pctl_conf_read_text("fuzz.cfg", text, n, NULL, &c);
	if (status == PCTL_E_INTERNAL || (status == PCTL_OK) != (c != NULL))
		abort();
	if (c != NULL) {
		if (!libconfig_accepts(text))
			abort();
		check_places(text, pctl_conf_root(c));
		pctl_conf_destroy(c);
		check_layout(text, n + 1, 0);
	}
	free(text);
	return 0;
}
