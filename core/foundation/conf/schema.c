/* Comparing a tree with its schema; nothing stops at the first deviation. */
#include "foundation/conf/schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pctl_status check_field(const pctl_conf_value *v, const pctl_conf_field *f,
			       const pctl_call *call);

static void keep_first(pctl_status *first, pctl_status status)
{
	if (*first == PCTL_OK)
		*first = status;
}

static const pctl_conf_field *find_field(const pctl_conf_schema *schema, const char *key)
{
	for (uint32_t i = 0; i < schema->n_fields; i++)
		if (strcmp(schema->fields[i].key, key) == 0)
			return &schema->fields[i];
	return NULL;
}

static pctl_status refuse_unknown(const pctl_conf_value *v, const pctl_conf_schema *schema,
				  const pctl_call *call)
{
	const char **keys = calloc(schema->n_fields + 1, sizeof(*keys));
	char *hint = NULL;
	pctl_status status;

	for (uint32_t i = 0; keys != NULL && i < schema->n_fields; i++)
		keys[i] = schema->fields[i].key;
	if (keys != NULL)
		hint = pctl_conf_hint_names(v->key, keys, schema->n_fields);
	status = pctl_refuse_at(call, PC1020_CONF_UNKNOWN_KEY, &v->key_pos, hint,
				"%s has no key \"%.64s\"", schema->what, v->key);
	free(hint);
	free(keys);
	return status;
}

static pctl_status refuse_missing(const pctl_conf_value *group, const pctl_conf_schema *schema,
				  const pctl_conf_field *f, const pctl_call *call)
{
	char path[160];

	if (group->parent == NULL)
		return pctl_refuse_at(call, PC1021_CONF_MISSING_KEY, &group->pos, f->doc,
				      "%s needs a key \"%s\"", schema->what, f->key);
	return pctl_refuse_at(call, PC1021_CONF_MISSING_KEY, &group->pos, f->doc,
			      "%s needs a key \"%s\" (in \"%s\")", schema->what, f->key,
			      pctl_conf_path(group, path, sizeof(path)));
}

static pctl_status refuse_kind(const pctl_conf_value *v, const char *wanted, const pctl_call *call)
{
	char path[160];

	return pctl_refuse_at(call, PC1022_CONF_KIND, &v->pos, NULL, "\"%s\" must be %s, not %s",
			      pctl_conf_path(v, path, sizeof(path)), wanted,
			      pctl_conf_kind_name(v->kind));
}

static pctl_status check_elements(const pctl_conf_value *v, const pctl_conf_field *f,
				  const pctl_call *call)
{
	pctl_status first = PCTL_OK;
	char path[160];

	if (v->n_items < f->min || (f->max != 0 && v->n_items > f->max))
		first = pctl_refuse_at(call, PC1024_CONF_RANGE, &v->pos, NULL,
				       "\"%s\" has %" PRIu32
				       " elements; it must have at least %" PRIu64
				       " and at most %" PRIu64,
				       pctl_conf_path(v, path, sizeof(path)), v->n_items, f->min,
				       f->max != 0 ? f->max : UINT32_MAX);
	for (uint32_t i = 0; f->element != NULL && i < v->n_items; i++)
		keep_first(&first, check_field(v->items[i], f->element, call));
	return first;
}

static pctl_status check_choice(const pctl_conf_value *v, const pctl_conf_field *f,
				const pctl_call *call)
{
	uint32_t n = 0, which;

	while (f->words[n] != NULL)
		n++;
	return pctl_conf_as_choice(v, f->words, n, call, &which);
}

static pctl_status check_i64(const pctl_conf_value *v, const pctl_conf_field *f,
			     const pctl_call *call)
{
	const int open = f->min == 0 && f->max == 0;
	int64_t value;

	return pctl_conf_as_i64(v, open ? INT64_MIN : (int64_t)f->min,
				open ? INT64_MAX : (int64_t)f->max, call, &value);
}

static pctl_status check_kind(const pctl_conf_value *v, const pctl_conf_field *f,
			      const pctl_call *call)
{
	const uint64_t max = f->max != 0 ? f->max : UINT64_MAX;
	const char *text;
	uint64_t u64;
	double number;
	int flag;

	switch (f->kind) {
	case PCTL_FIELD_STRING:
		return pctl_conf_as_string(v, call, &text);
	case PCTL_FIELD_NAME:
		return pctl_conf_as_name(v, call, &text);
	case PCTL_FIELD_BOOL:
		return pctl_conf_as_bool(v, call, &flag);
	case PCTL_FIELD_U64:
		return pctl_conf_as_u64(v, f->min, max, call, &u64);
	case PCTL_FIELD_BYTES:
		return pctl_conf_as_bytes(v, f->min, max, call, &u64);
	case PCTL_FIELD_DURATION:
		return pctl_conf_as_duration(v, f->min, max, call, &u64);
	case PCTL_FIELD_I64:
		return check_i64(v, f, call);
	case PCTL_FIELD_FLOAT:
		return pctl_conf_as_double(v, call, &number);
	case PCTL_FIELD_CHOICE:
		return check_choice(v, f, call);
	case PCTL_FIELD_SCALAR:
		return v->kind >= PCTL_CONF_STRING
			       ? PCTL_OK
			       : refuse_kind(v, "a string, a number, true or false", call);
	case PCTL_FIELD_GROUP:
		if (v->kind != PCTL_CONF_GROUP)
			return refuse_kind(v, "a group { }", call);
		return f->group != NULL ? pctl_conf_check(v, f->group, call) : PCTL_OK;
	case PCTL_FIELD_MAP:
		if (v->kind != PCTL_CONF_GROUP)
			return refuse_kind(v, "a group { }", call);
		return check_elements(v, f, call);
	case PCTL_FIELD_LIST:
		if (v->kind != PCTL_CONF_LIST && v->kind != PCTL_CONF_ARRAY)
			return refuse_kind(v, "a list ( )", call);
		return check_elements(v, f, call);
	default:
		return PCTL_OK;
	}
}

static pctl_status check_field(const pctl_conf_value *v, const pctl_conf_field *f,
			       const pctl_call *call)
{
	pctl_status status = check_kind(v, f, call);

	if (status == PCTL_OK && f->check != NULL)
		status = f->check(v, call);
	return status;
}

pctl_status pctl_conf_check(const pctl_conf_value *group, const pctl_conf_schema *schema,
			    const pctl_call *call)
{
	pctl_status first = PCTL_OK;

	if (group->kind != PCTL_CONF_GROUP)
		return refuse_kind(group, "a group { }", call);
	for (uint32_t i = 0; i < group->n_items; i++) {
		const pctl_conf_value *v = group->items[i];
		const pctl_conf_field *f = find_field(schema, v->key);

		keep_first(&first,
			   f != NULL ? check_field(v, f, call) : refuse_unknown(v, schema, call));
	}
	for (uint32_t i = 0; i < schema->n_fields; i++) {
		const pctl_conf_field *f = &schema->fields[i];

		if ((f->flags & PCTL_FIELD_REQUIRED) && pctl_conf_get(group, f->key) == NULL)
			keep_first(&first, refuse_missing(group, schema, f, call));
	}
	return first;
}
