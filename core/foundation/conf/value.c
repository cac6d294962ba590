/* Values of the tree: finding them, naming their place, and reading them as what a caller wants. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "foundation/conf/conf.h"

#define HINT_NAMES_MAX 24u

const pctl_conf_value *pctl_conf_get(const pctl_conf_value *v, const char *key)
{
	if (v == NULL || v->kind != PCTL_CONF_GROUP)
		return NULL;
	for (uint32_t i = 0; i < v->n_items; i++)
		if (strcmp(v->items[i]->key, key) == 0)
			return v->items[i];
	return NULL;
}

const pctl_conf_value *pctl_conf_find(const pctl_conf_value *v, const char *path)
{
	while (v != NULL && *path != 0) {
		const size_t n = strcspn(path, ".");
		const pctl_conf_value *found = NULL;

		for (uint32_t i = 0; v->kind == PCTL_CONF_GROUP && i < v->n_items && found == NULL;
		     i++)
			if (strncmp(v->items[i]->key, path, n) == 0 && v->items[i]->key[n] == 0)
				found = v->items[i];
		v = found;
		path += n + (path[n] == '.');
	}
	return v;
}

static void put_path(const pctl_conf_value *v, pctl_str_buf *s)
{
	if (v->parent == NULL)
		return;
	put_path(v->parent, s);
	if (v->key == NULL)
		pctl_str_addf(s, "[%" PRIu32 "]", v->index);
	else
		pctl_str_addf(s, "%s%s", s->n > 0 ? "." : "", v->key);
}

char *pctl_conf_path(const pctl_conf_value *v, char *buf, size_t n)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char *text;

	put_path(v, &s);
	text = pctl_str_finish(&s);
	snprintf(buf, n, "%s", text == NULL || *text == 0 ? "the file" : text);
	free(text);
	return buf;
}

const char *pctl_conf_kind_name(uint32_t kind)
{
	static const char *const names[] = {"nothing",	"a group",    "a list",	 "an array",
					    "a string", "an integer", "a float", "a bool"};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "nothing";
}

/* Refuse `v` with its path in front of the message. */
static pctl_status refuse(const pctl_conf_value *v, uint32_t code, const pctl_call *call,
			  const char *hint, const char *fmt, ...) PCTL_PRINTF(5, 6);
static pctl_status refuse(const pctl_conf_value *v, uint32_t code, const pctl_call *call,
			  const char *hint, const char *fmt, ...)
{
	char path[160], text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return pctl_refuse_at(call, code, &v->pos, hint, "\"%s\" %s",
			      pctl_conf_path(v, path, sizeof(path)), text);
}

static pctl_status wrong_kind(const pctl_conf_value *v, const char *wanted, const pctl_call *call)
{
	return refuse(v, PC1022_CONF_KIND, call, NULL, "must be %s, not %s", wanted,
		      pctl_conf_kind_name(v->kind));
}

pctl_status pctl_conf_as_string(const pctl_conf_value *v, const pctl_call *call, const char **out)
{
	*out = NULL;
	if (v->kind != PCTL_CONF_STRING)
		return wrong_kind(v, "a string", call);
	*out = v->text;
	return PCTL_OK;
}

static int is_name(const char *s)
{
	static const char first[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
	static const char rest[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789.-";
	const size_t n = strlen(s);

	return n > 0 && n <= 128 && strchr(first, s[0]) != NULL && strspn(s, rest) == n;
}

pctl_status pctl_conf_as_name(const pctl_conf_value *v, const pctl_call *call, const char **out)
{
	pctl_status status = pctl_conf_as_string(v, call, out);

	if (status != PCTL_OK || is_name(*out))
		return status;
	*out = NULL;
	return refuse(v, PC1023_CONF_WORD, call,
		      "1 to 128 letters, digits, '_', '-', '.'; the first a letter or '_'",
		      "is not a name: \"%.64s\"", v->text);
}

pctl_status pctl_conf_as_bool(const pctl_conf_value *v, const pctl_call *call, int *out)
{
	*out = 0;
	if (v->kind != PCTL_CONF_BOOL)
		return wrong_kind(v, "true or false", call);
	*out = (int)v->integer;
	return PCTL_OK;
}

typedef int (*parse_u64)(const char *text, size_t n, uint64_t *out);

static int parse_duration(const char *text, size_t n, uint64_t *out)
{
	static const struct {
		const char *suffix;
		uint64_t ms;
	} units[] = {{"ms", 1}, {"min", 60000}, {"s", 1000}, {"h", 3600000}};

	*out = 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		const size_t k = strlen(units[i].suffix);

		if (n <= k || memcmp(text + n - k, units[i].suffix, k) != 0)
			continue;
		if (pctl_num_parse_u64(text, n - k, out) && pctl_num_mul(*out, units[i].ms, out))
			return 1;
		*out = 0;
		return 0;
	}
	return 0;
}

/* An integer literal or a string that `parse` understands, in min .. max. */
static pctl_status as_quantity(const pctl_conf_value *v, uint64_t min, uint64_t max,
			       parse_u64 parse, const char *wanted, const char *unit,
			       const char *hint, const pctl_call *call, uint64_t *out)
{
	uint64_t value = 0;

	*out = 0;
	if (v->kind == PCTL_CONF_INT) {
		if (v->integer < 0)
			return refuse(v, PC1024_CONF_RANGE, call, NULL,
				      "is %" PRId64 "; it must be %" PRIu64 " to %" PRIu64 "%s",
				      v->integer, min, max, unit);
		value = (uint64_t)v->integer;
	} else if (v->kind != PCTL_CONF_STRING) {
		return wrong_kind(v, wanted, call);
	} else if (!parse(v->text, strlen(v->text), &value)) {
		return refuse(v, PC1025_CONF_QUANTITY, call, hint, "must be %s, not \"%.64s\"",
			      wanted, v->text);
	}
	if (value < min || value > max)
		return refuse(v, PC1024_CONF_RANGE, call, NULL,
			      "is %" PRIu64 "%s; it must be %" PRIu64 " to %" PRIu64 "%s", value,
			      unit, min, max, unit);
	*out = value;
	return PCTL_OK;
}

pctl_status pctl_conf_as_u64(const pctl_conf_value *v, uint64_t min, uint64_t max,
			     const pctl_call *call, uint64_t *out)
{
	return as_quantity(v, min, max, pctl_num_parse_u64, "an integer or quoted digits", "",
			   "digits with '_' between them, or 0x and hex digits, of at most 64 bits",
			   call, out);
}

pctl_status pctl_conf_as_bytes(const pctl_conf_value *v, uint64_t min, uint64_t max,
			       const pctl_call *call, uint64_t *out)
{
	return as_quantity(v, min, max, pctl_num_parse_bytes, "a size in bytes", " bytes",
			   "write \"512M\", \"4GiB\" (powers of 1024) or a plain number of bytes",
			   call, out);
}

pctl_status pctl_conf_as_duration(const pctl_conf_value *v, uint64_t min, uint64_t max,
				  const pctl_call *call, uint64_t *out)
{
	return as_quantity(
		v, min, max, parse_duration, "a duration", " ms",
		"write \"250ms\", \"30s\", \"10min\", \"2h\" or a plain number of milliseconds",
		call, out);
}

pctl_status pctl_conf_as_i64(const pctl_conf_value *v, int64_t min, int64_t max,
			     const pctl_call *call, int64_t *out)
{
	int64_t value = 0;

	*out = 0;
	if (v->kind == PCTL_CONF_INT)
		value = v->integer;
	else if (v->kind != PCTL_CONF_STRING)
		return wrong_kind(v, "an integer or quoted digits", call);
	else if (!pctl_num_parse_i64(v->text, strlen(v->text), &value))
		return refuse(v, PC1025_CONF_QUANTITY, call, NULL,
			      "must be a signed 64-bit number, not \"%.64s\"", v->text);
	if (value < min || value > max)
		return refuse(v, PC1024_CONF_RANGE, call, NULL,
			      "is %" PRId64 "; it must be %" PRId64 " to %" PRId64, value, min,
			      max);
	*out = value;
	return PCTL_OK;
}

pctl_status pctl_conf_as_double(const pctl_conf_value *v, const pctl_call *call, double *out)
{
	*out = 0;
	if (v->kind != PCTL_CONF_FLOAT && v->kind != PCTL_CONF_INT)
		return wrong_kind(v, "a number", call);
	*out = v->number;
	return PCTL_OK;
}

char *pctl_conf_beside(const char *file, const char *path)
{
	return pctl_vfs_resolve(NULL, file, path);
}

char *pctl_conf_hint_names(const char *word, const char *const *names, uint32_t n)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	const char *nearest = n > 0 ? pctl_str_nearest(word, names, n) : NULL;

	if (n == 0)
		return NULL;
	if (nearest != NULL)
		pctl_str_addf(&s, "did you mean \"%s\"? ", nearest);
	pctl_str_add(&s, "available: ");
	for (uint32_t i = 0; i < n && i < HINT_NAMES_MAX; i++)
		pctl_str_addf(&s, "%s%s", i > 0 ? ", " : "", names[i]);
	if (n > HINT_NAMES_MAX)
		pctl_str_addf(&s, " and %" PRIu32 " more", n - HINT_NAMES_MAX);
	return pctl_str_finish(&s);
}

pctl_status pctl_conf_as_choice(const pctl_conf_value *v, const char *const *words, uint32_t n,
				const pctl_call *call, uint32_t *out)
{
	pctl_status status;
	char *hint;

	*out = 0;
	if (v->kind != PCTL_CONF_STRING)
		return wrong_kind(v, "a string", call);
	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(v->text, words[i]) == 0) {
			*out = i;
			return PCTL_OK;
		}
	}
	hint = pctl_conf_hint_names(v->text, words, n);
	status = refuse(v, PC1023_CONF_WORD, call, hint, "cannot be \"%.64s\"", v->text);
	free(hint);
	return status;
}

/* ---- members a schema has accepted -------------------------------------------------------- */

const char *pctl_conf_string_or(const pctl_conf_value *group, const char *key, const char *fallback)
{
	const pctl_conf_value *v = pctl_conf_get(group, key);

	return v != NULL && v->kind == PCTL_CONF_STRING ? v->text : fallback;
}

uint64_t pctl_conf_bytes_or(const pctl_conf_value *group, const char *key, uint64_t fallback)
{
	const pctl_conf_value *v = pctl_conf_get(group, key);
	uint64_t value;

	return v != NULL && pctl_conf_as_bytes(v, 0, UINT64_MAX, NULL, &value) == PCTL_OK
		       ? value
		       : fallback;
}

uint64_t pctl_conf_u64_or(const pctl_conf_value *group, const char *key, uint64_t fallback)
{
	const pctl_conf_value *v = pctl_conf_get(group, key);
	uint64_t value;

	return v != NULL && pctl_conf_as_u64(v, 0, UINT64_MAX, NULL, &value) == PCTL_OK ? value
											: fallback;
}

double pctl_conf_double_or(const pctl_conf_value *group, const char *key, double fallback)
{
	const pctl_conf_value *v = pctl_conf_get(group, key);
	double value;

	return v != NULL && pctl_conf_as_double(v, NULL, &value) == PCTL_OK ? value : fallback;
}

int pctl_conf_bool_or(const pctl_conf_value *group, const char *key, int fallback)
{
	const pctl_conf_value *v = pctl_conf_get(group, key);

	return v != NULL && v->kind == PCTL_CONF_BOOL ? (int)v->integer : fallback;
}
