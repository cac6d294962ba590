/* Reading records by their tables: every value is of its kind and within its bounds, and no key is strange. */
#include "foundation/record/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "foundation/record/record_private.h"

typedef pctl_record_reader reader;

static void fields(reader *r, const pctl_record_shape *s, const pctl_conf_value *group,
		   char *record);

static void fault(reader *r, const pctl_conf_value *v, const char *key, const char *what)
{
	char path[200] = "";

	if (r->status != PCTL_OK)
		return;
	if (v->parent != NULL)
		pctl_conf_path(v, path, sizeof(path));
	r->status =
		pctl_refuse_at(r->call, r->type->form, &v->pos, NULL, "%s: `%s%s%s` %s", r->name,
			       path, path[0] == '\0' || key[0] == '\0' ? "" : ".", key, what);
}

static void not_a(reader *r, const pctl_conf_value *v, const char *what)
{
	char text[200];

	if (v->text != NULL)
		snprintf(text, sizeof(text), "is \"%.80s\", not %s", v->text, what);
	else
		snprintf(text, sizeof(text), "is %s, not %s", pctl_conf_kind_name(v->kind), what);
	fault(r, v, "", text);
}

static uint32_t kind_of(const pctl_record_field *f)
{
	return f->kind == PCTL_RECORD_BOOL	    ? PCTL_CONF_BOOL
	       : (f->flags & PCTL_RECORD_BARE) != 0 ? PCTL_CONF_INT
						    : PCTL_CONF_STRING;
}

static void scalar(reader *r, const pctl_record_field *f, const pctl_conf_value *v, char *record)
{
	char what[PCTL_RECORD_WHAT];

	if (v->kind != kind_of(f))
		not_a(r, v, pctl_conf_kind_name(kind_of(f)));
	else if (f->kind == PCTL_RECORD_BOOL)
		*(uint32_t *)(void *)(record + f->at) = v->integer != 0;
	else if (!pctl_record_take(r, f, v->text, strlen(v->text), record, what))
		not_a(r, v, what);
}

/* The parts of a line, with tabs between them again. */
static void split(reader *r, const pctl_conf_value *v, const char **out)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	for (uint32_t i = 0; i < v->n_items; i++) {
		if (v->items[i]->kind != PCTL_CONF_STRING ||
		    strchr(v->items[i]->text, '\t') != NULL)
			not_a(r, v->items[i], "a part of a line");
		pctl_str_add(&s, i == 0 ? "" : "\t");
		pctl_str_add(&s, v->items[i]->text == NULL ? "" : v->items[i]->text);
	}
	*out = s.failed ? NULL : pctl_arena_dup(r->arena, s.data == NULL ? "" : s.data);
	if (*out == NULL && r->status == PCTL_OK)
		r->status = pctl_no_memory(r->call, "a record");
	pctl_str_drop(&s);
}

static void item(reader *r, const pctl_record_shape *s, const pctl_conf_value *v, char *record)
{
	const uint32_t kind = s->style <= PCTL_RECORD_INLINE ? PCTL_CONF_GROUP : PCTL_CONF_ARRAY;

	if (s->style == PCTL_RECORD_ALONE) {
		scalar(r, s->fields, v, record);
		return;
	}
	if (v->kind != kind) {
		not_a(r, v, pctl_conf_kind_name(kind));
		return;
	}
	if (kind == PCTL_CONF_GROUP) {
		fields(r, s, v, record);
		return;
	}
	if (s->style == PCTL_RECORD_SPLIT) {
		split(r, v, (const char **)(void *)(record + s->fields->at));
		return;
	}
	if (v->n_items != s->n_fields)
		fault(r, v, "", "has another number of values");
	for (uint32_t i = 0; r->status == PCTL_OK && i < s->n_fields; i++)
		scalar(r, &s->fields[i], v->items[i], record);
}

static void list(reader *r, const pctl_record_field *f, const pctl_conf_value *v, char *record)
{
	const uint64_t most = f->bound == 0 ? UINT32_MAX : f->bound;
	char *within = record + f->at;
	char **items =
		(f->flags & PCTL_RECORD_WITHIN) != 0 ? &within : (char **)(void *)(record + f->at);
	uint32_t *n = (uint32_t *)(void *)(record + f->n_at);

	if (v->kind != PCTL_CONF_LIST) {
		not_a(r, v, "a list");
		return;
	}
	if ((f->flags & PCTL_RECORD_SAME) != 0) {
		if (*n != v->n_items)
			fault(r, v, "", "has another number of items than the list it belongs to");
	} else if (v->n_items > most) {
		fault(r, v, "", "has too many items");
	} else if ((f->flags & PCTL_RECORD_WITHIN) != 0) {
		*n = v->n_items;
	} else {
		*items = pctl_record_room(r, v->n_items, f->of->size);
		*n = *items == NULL ? 0 : v->n_items;
	}
	for (uint32_t i = 0; r->status == PCTL_OK && i < v->n_items; i++)
		item(r, f->of, v->items[i], *items + i * f->of->size);
}

static void keyed(reader *r, const pctl_record_field *f, const pctl_conf_value *v, char *record)
{
	if (v->kind != PCTL_CONF_GROUP) {
		not_a(r, v, "a group");
		return;
	}
	if (v->n_items > f->bound)
		fault(r, v, "", "has keys that are not known");
	for (uint32_t i = 0; r->status == PCTL_OK && i < f->bound; i++) {
		const pctl_conf_value *x = pctl_conf_get(v, f->keys->name(i));

		if (x == NULL)
			fault(r, v, f->keys->name(i), "is missing");
		else if (x->kind != PCTL_CONF_STRING || !f->keys->parse(x->text, i, record + f->at))
			not_a(r, x, f->keys->what);
	}
}

static void field(reader *r, const pctl_record_field *f, const pctl_conf_value *v, char *record)
{
	switch (f->kind) {
	case PCTL_RECORD_GROUP:
		if ((f->flags & PCTL_RECORD_OPTIONAL) != 0 && f->n_at != 0)
			*(uint32_t *)(void *)(record + f->n_at) = 1;
		item(r, f->of, v, record + f->at);
		break;
	case PCTL_RECORD_LIST:
		list(r, f, v, record);
		break;
	case PCTL_RECORD_KEYED:
		keyed(r, f, v, record);
		break;
	case PCTL_RECORD_DERIVED: /* held against what follows from the rest */
		break;
	default:
		scalar(r, f, v, record);
	}
}

static void fields(reader *r, const pctl_record_shape *s, const pctl_conf_value *group,
		   char *record)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_fields && r->status == PCTL_OK; i++) {
		const pctl_record_field *f = &s->fields[i];
		const pctl_conf_value *v = pctl_conf_get(group, f->key);

		n += v != NULL;
		if (v != NULL)
			field(r, f, v, record);
		else if ((f->flags & PCTL_RECORD_OPTIONAL) == 0)
			fault(r, group, f->key, "is missing");
		else if (f->kind == PCTL_RECORD_TEXT)
			*(const char **)(void *)(record + f->at) = "";
		else if (f->kind == PCTL_RECORD_CHARS)
			record[f->at] = '\0';
	}
	for (uint32_t i = 0; r->status == PCTL_OK && n < group->n_items && i < group->n_items;
	     i++) {
		uint32_t k = 0;

		while (k < s->n_fields && strcmp(s->fields[k].key, group->items[i]->key) != 0)
			k++;
		if (k == s->n_fields)
			fault(r, group->items[i], "", "is not a known key");
	}
}

pctl_status pctl_record_read(const pctl_record_type *t, const char *name, const char *text,
			     size_t n, pctl_arena *arena, const pctl_call *call, void *record)
{
	reader r = {t, name, arena, call, PCTL_OK, text, text + n};
	const pctl_conf_value *group, *root;
	pctl_conf *conf = NULL;
	pctl_status status;

	if (pctl_record_is_lines(t)) {
		pctl_record_read_lines(&r, record);
		return r.status;
	}
	status = pctl_conf_read_text(name, text, n, call, &conf);
	if (status != PCTL_OK)
		return status;
	root = pctl_conf_root(conf);
	group = pctl_conf_get(root, t->group);
	if (group == NULL || group->kind != PCTL_CONF_GROUP)
		fault(&r, root, t->group, "is missing");
	else if (root->n_items != 1)
		fault(&r, root->items[root->items[0] == group], "", "is not a known key");
	else
		fields(&r, t->shape, group, record);
	pctl_conf_destroy(conf);
	return r.status;
}

pctl_status pctl_record_check(const pctl_record_type *t, const char *name, const char *text,
			      size_t n, const pctl_call *call, const void *record)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	pctl_pos pos = {.file = name, .line = 1, .column = 1};
	pctl_status status = PCTL_OK;

	pctl_record_text(t, record, &s);
	if (s.failed) {
		status = pctl_no_memory(call, "a record");
	} else if (s.n != n || (n != 0 && memcmp(s.data, text, n) != 0)) {
		for (size_t at = 0; at < n && at < s.n && s.data[at] == text[at]; at++) {
			pos.column = text[at] == '\n' ? 1 : pos.column + 1;
			pos.line += text[at] == '\n';
		}
		status = pctl_refuse_at(call, t->contradicts, &pos, NULL,
					"%s: line %" PRIu32 " is not what follows from the rest",
					name, pos.line);
	}
	pctl_str_drop(&s);
	return status;
}

pctl_status pctl_record_read_exact(const pctl_record_type *t, const char *name, const char *text,
				   size_t n, pctl_arena *arena, const pctl_call *call, void *record)
{
	const pctl_status status = pctl_record_read(t, name, text, n, arena, call, record);

	return status == PCTL_OK ? pctl_record_check(t, name, text, n, call, record) : status;
}
