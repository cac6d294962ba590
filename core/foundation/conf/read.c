/* Reading: the scanner's tree gives positions, libconfig's tree gives values, and both must have
 * one shape. */
#include <libconfig.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/conf/parse.h"
#include "foundation/base/utf8.h"

struct pctl_conf {
	pctl_arena *arena;
	pctl_conf_sources sources;
	const pctl_conf_value *root;
};

void pctl_conf_destroy(pctl_conf *c)
{
	if (c == NULL)
		return;
	for (uint32_t i = 0; i < c->sources.n; i++)
		free(c->sources.items[i].text);
	free(c->sources.items);
	pctl_arena_destroy(c->arena);
	free(c);
}

static uint32_t kind_of(const config_setting_t *setting)
{
	switch (config_setting_type(setting)) {
	case CONFIG_TYPE_GROUP:
		return PCTL_CONF_GROUP;
	case CONFIG_TYPE_LIST:
		return PCTL_CONF_LIST;
	case CONFIG_TYPE_ARRAY:
		return PCTL_CONF_ARRAY;
	case CONFIG_TYPE_STRING:
		return PCTL_CONF_STRING;
	case CONFIG_TYPE_INT:
	case CONFIG_TYPE_INT64:
		return PCTL_CONF_INT;
	case CONFIG_TYPE_FLOAT:
		return PCTL_CONF_FLOAT;
	case CONFIG_TYPE_BOOL:
		return PCTL_CONF_BOOL;
	default:
		return 0;
	}
}

static int same_name(const config_setting_t *setting, const pctl_conf_value *v)
{
	const char *name = config_setting_name(setting);

	return name == NULL || v->key == NULL ? name == v->key : strcmp(name, v->key) == 0;
}

static pctl_status disagree(pctl_conf_scanner *s, const pctl_conf_value *v)
{
	return pctl_refuse_at(s->call, PC1_INTERNAL, &v->pos, NULL,
			      "libconfig and the scanner read this configuration differently");
}

static pctl_status interpolate_string(pctl_conf_scanner *s, const config_setting_t *setting,
				      pctl_conf_value *v)
{
	const char *text = config_setting_get_string(setting);
	size_t bad;

	v->text = pctl_arena_dup(s->arena, text != NULL ? text : "");
	if (v->text == NULL) {
		pctl_conf_scan_nomem(s);
		return s->status;
	}
	bad = pctl_utf8_bad(v->text, strlen(v->text), 0);
	if (v->text[bad] != '\0')
		return pctl_refuse_at(
			s->call, PC1002_CONF_CHARACTER, &v->pos, NULL,
			"escapes make byte %zu of this string something that is not UTF-8", bad);
	return PCTL_OK;
}

/* Copy values of `setting` into the node of the same place. */
static pctl_status interpolate(pctl_conf_scanner *s, const config_setting_t *setting,
			       pctl_conf_value *v)
{
	pctl_status status = PCTL_OK, first = PCTL_OK;
	const uint32_t n = (uint32_t)config_setting_length(setting);

	if (kind_of(setting) != v->kind || !same_name(setting, v))
		return disagree(s, v);
	switch (v->kind) {
	case PCTL_CONF_STRING:
		return interpolate_string(s, setting, v);
	case PCTL_CONF_INT:
		v->integer = config_setting_type(setting) == CONFIG_TYPE_INT64
				     ? config_setting_get_int64(setting)
				     : config_setting_get_int(setting);
		v->number = (double)v->integer;
		return PCTL_OK;
	case PCTL_CONF_FLOAT:
		v->number = config_setting_get_float(setting);
		return isfinite(v->number) ? PCTL_OK : disagree(s, v);
	case PCTL_CONF_BOOL:
		v->integer = config_setting_get_bool(setting) != 0;
		return PCTL_OK;
	default:
		break;
	}
	if (n != v->n_items)
		return disagree(s, v);
	for (uint32_t i = 0; i < n && status != PCTL_E_NOMEM; i++) {
		status = interpolate(s, config_setting_get_elem(setting, i), v->items[i]);
		if (first == PCTL_OK)
			first = status;
	}
	return first;
}

/* libconfig refuses what the scanner let pass: its word counts. It knows the line only. */
static void pass_on(pctl_conf_scanner *s, const config_t *cfg)
{
	const int at = config_error_line(cfg);
	const uint32_t line = at < 1 ? 1 : (uint32_t)at;
	const char *text = config_error_text(cfg);
	pctl_pos pos = {.file = s->sources->items[0].name, .line = 1};

	if (s->flat_lines.n > 0)
		pos = s->flat_lines.items[line <= s->flat_lines.n ? line - 1 : s->flat_lines.n - 1];
	pos.column = 1;
	pctl_conf_scan_error(s, PC1001_CONF_SYNTAX, &pos, NULL, NULL, "%s",
			     text != NULL ? text : "not valid");
}

static pctl_status read_values(pctl_conf_scanner *s, pctl_conf_value *root)
{
	config_t cfg;
	char *flat = pctl_str_finish(&s->flat);
	pctl_status status = s->status;

	if (flat == NULL) {
		pctl_conf_scan_nomem(s);
		return s->status;
	}
	config_init(&cfg);
	if (config_read_string(&cfg, flat)) {
		status = interpolate(s, config_root_setting(&cfg), root);
	} else {
		pass_on(s, &cfg);
		status = s->status;
	}
	config_destroy(&cfg);
	free(flat);
	return status;
}

/* Takes over text. */
static pctl_status read_owned(const pctl_vfs *vfs, const char *name, char *text, size_t n,
			      const pctl_call *call, pctl_conf **out)
{
	pctl_conf *c = calloc(1, sizeof(*c));
	pctl_conf_scanner s = {.call = call, .vfs = vfs};
	pctl_conf_value *root;
	pctl_status status;

	*out = NULL;
	if (c == NULL || (c->arena = pctl_arena_create()) == NULL) {
		free(text);
		free(c);
		return pctl_no_memory(call, "a configuration tree");
	}
	s.arena = c->arena;
	s.sources = &c->sources;
	status = pctl_conf_scan_begin(&s, name, text, n);
	if (s.n_frames == 0)
		goto out;
	root = pctl_conf_parse(&s);
	status = s.status;
	if (root == NULL || s.status == PCTL_E_NOMEM)
		goto out;
	/* The scanner knows the whole grammar and reports more than libconfig would, which stops at
	 * the first error and leaks the string it was reading. */
	if (s.status == PCTL_OK)
		status = read_values(&s, root);
	c->root = root;
out:
	if (s.n_errors > PCTL_CONF_ERRORS_MAX)
		(void)pctl_refuse(call, PC1001_CONF_SYNTAX, "%s: %u further errors are not shown",
				  name, s.n_errors - PCTL_CONF_ERRORS_MAX);
	pctl_conf_scan_end(&s);
	if (status != PCTL_OK) {
		pctl_conf_destroy(c);
		return status;
	}
	*out = c;
	return PCTL_OK;
}

pctl_status pctl_conf_read_vfs(const pctl_vfs *vfs, const char *name, const pctl_call *call,
			       pctl_conf **out)
{
	char *text = NULL;
	uint64_t n = 0;
	pctl_status status;

	*out = NULL;
	status = pctl_vfs_read(vfs, name, PCTL_CONF_FILE_BYTES_MAX, call, &text, &n);
	if (status != PCTL_OK)
		return status;
	return read_owned(vfs, name, text, (size_t)n, call, out);
}

pctl_status pctl_conf_read_file(const char *path, const pctl_call *call, pctl_conf **out)
{
	return pctl_conf_read_vfs(NULL, path, call, out);
}

pctl_status pctl_conf_read_text(const char *name, const char *text, size_t n, const pctl_call *call,
				pctl_conf **out)
{
	char *copy;

	*out = NULL;
	copy = n < SIZE_MAX ? malloc(n + 1) : NULL;
	if (copy == NULL)
		return pctl_no_memory(call, "a configuration tree");
	if (n > 0)
		memcpy(copy, text, n);
	copy[n] = 0;
	return read_owned(NULL, name, copy, n, call, out);
}

const pctl_conf_value *pctl_conf_root(const pctl_conf *c)
{
	return c->root;
}

uint32_t pctl_conf_source_count(const pctl_conf *c)
{
	return c->sources.n;
}

const char *pctl_conf_source_name(const pctl_conf *c, uint32_t i)
{
	return i < c->sources.n ? c->sources.items[i].name : NULL;
}

const char *pctl_conf_source_text(const pctl_conf *c, uint32_t i, size_t *n_out)
{
	*n_out = i < c->sources.n ? c->sources.items[i].n : 0;
	return i < c->sources.n ? c->sources.items[i].text : NULL;
}
