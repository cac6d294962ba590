/* Any bytes through the configuration reader: it survives, it never accepts what libconfig refuses,
 * and where it accepts, every literal stands at its position. Includes are not followed: the text
 * has no '@'. */
#include <libconfig.h>
#include <stdlib.h>
#include <string.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	char *text = malloc(n + 2);
	pctl_conf *c = NULL;
	pctl_status status;

	if (text == NULL)
		return 0;
	memcpy(text, data, n);
	for (size_t i = 0; i < n; i++)
		if (text[i] == '@')
			text[i] = '~';
	text[n] = '\n'; /* libconfig knows no comment that ends with the text */
	text[n + 1] = 0;
	status = pctl_conf_read_text("fuzz.cfg", text, n, NULL, &c);
	if (status == PCTL_E_INTERNAL || (status == PCTL_OK) != (c != NULL))
		abort();
	if (c != NULL) {
		if (!libconfig_accepts(text))
			abort();
		check_places(text, pctl_conf_root(c));
		pctl_conf_destroy(c);
	}
	free(text);
	return 0;
}
