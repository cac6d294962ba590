/* Reading records that are lines. A value ends at the byte between values; nothing may stand behind the last one. */
#include <stdio.h>
#include <string.h>

#include "foundation/record/record_private.h"

/* What is left of a line or of a part of it; at NULL: not even an empty value. */
typedef struct rest {
	const char *at, *end;
} rest;

static void row(pctl_record_reader *r, const pctl_record_shape *s, rest *from, char *record);

static void fault(pctl_record_reader *r, const char *at, const char *key, const char *what)
{
	pctl_pos pos = {.file = r->name, .line = 1, .column = 1};

	if (r->status != PCTL_OK)
		return;
	for (const char *c = r->text; c < at; c++) {
		pos.column = *c == '\n' ? 1 : pos.column + 1;
		pos.line += *c == '\n';
	}
	r->status = pctl_refuse_at(r->call, r->type->form, &pos, NULL,
				   key == NULL ? "%s: line %u %s%s" : "%s: line %u: `%s` %s",
				   r->name, pos.line, key == NULL ? "" : key, what);
}

static int cut(pctl_record_reader *r, const pctl_record_field *f, char between, rest *from,
	       rest *out)
{
	const char *stop;

	if (from->at == NULL) {
		fault(r, from->end, f->key, "is missing");
		return 0;
	}
	stop = (f->flags & PCTL_RECORD_REST) != 0
		       ? NULL
		       : memchr(from->at, between, (size_t)(from->end - from->at));
	*out = (rest){from->at, stop == NULL ? from->end : stop};
	from->at = stop == NULL ? NULL : stop + 1;
	return 1;
}

/* Past the name of a field, which stands there. */
static void cut_name(const pctl_record_field *f, rest *from)
{
	from->at += strlen(f->key);
	from->at = from->at == from->end ? NULL : from->at + 1;
}

/* The next value is this word. */
static int is_word(const rest *from, char between, const char *word)
{
	const size_t n = strlen(word), left = from->at == NULL ? 0 : (size_t)(from->end - from->at);

	return from->at != NULL && left >= n && memcmp(from->at, word, n) == 0 &&
	       (left == n || from->at[n] == between);
}

static int is_named(const pctl_record_field *f)
{
	return (f->flags & PCTL_RECORD_NAMED) != 0;
}

/* The name of a field behind the i-th. */
static int is_later(const pctl_record_shape *s, uint32_t i, const rest *from)
{
	while (++i < s->n_fields)
		if (is_named(&s->fields[i]) && is_word(from, s->between, s->fields[i].key))
			return 1;
	return 0;
}

/* Undo the escapes; 0: one is none. */
static int unescape(const rest *from, char *to, size_t *n)
{
	static const char letters[] = "tn\\", bytes[] = "\t\n\\";

	*n = 0;
	for (const char *at = from->at; at < from->end; at++) {
		const char *letter = *at == '\\' && ++at < from->end ? strchr(letters, *at) : at;

		if (letter == NULL || at == from->end)
			return 0;
		to[(*n)++] = letter == at ? *at : bytes[letter - letters];
	}
	return 1;
}

static void value(pctl_record_reader *r, const pctl_record_field *f, const rest *v, char *record)
{
	char what[PCTL_RECORD_WHAT], said[2 * PCTL_RECORD_WHAT];
	const char *text = v->at;
	size_t n = (size_t)(v->end - v->at);

	if (r->type->quoting == PCTL_RECORD_ESCAPES && memchr(text, '\\', n) != NULL) {
		char *plain = pctl_record_room(r, n, 1);

		if (plain != NULL && !unescape(v, plain, &n))
			fault(r, v->at, f->key,
			      "has a backslash before another byte than t, n, \\");
		text = plain;
	}
	if (r->status != PCTL_OK || pctl_record_take(r, f, text, n, record, what))
		return;
	snprintf(said, sizeof(said), "is \"%.*s\", not %s", n > 80 ? 80 : (int)n, text, what);
	fault(r, v->at, f->key, said);
}

/* One item or group: in the row it lies in, or a part of that with a byte of its own between values. */
static void item(pctl_record_reader *r, const pctl_record_shape *in, const pctl_record_field *f,
		 rest *from, char *record)
{
	const pctl_record_shape *s = f->of;
	rest own;

	if (s->style == PCTL_RECORD_ROW && s->between == in->between) {
		row(r, s, from, record);
		return;
	}
	if (!cut(r, f, in->between, from, &own))
		return;
	if (s->style != PCTL_RECORD_ROW) {
		value(r, s->fields, &own, record);
		return;
	}
	row(r, s, &own, record);
	if (own.at != NULL)
		fault(r, own.at, f->key, "has more values than it may");
}

static uint64_t most_items(const pctl_record_field *f)
{
	return f->bound == 0 ? UINT32_MAX - 1 : f->bound;
}

/* Where the items of a list go, of which there are at most n. */
static char *items_of(pctl_record_reader *r, const pctl_record_field *f, size_t n, char *record)
{
	char **items = (char **)(void *)(record + f->at);

	if ((f->flags & PCTL_RECORD_WITHIN) != 0)
		return record + f->at;
	if (n > most_items(f))
		n = most_items(f);
	*items = pctl_record_room(r, n, f->of->size);
	return *items;
}

static size_t count(const char *at, const char *end, char byte)
{
	size_t n = 0;

	while (at < end && (at = memchr(at, byte, (size_t)(end - at))) != NULL) {
		n++;
		at++;
	}
	return n;
}

static void list_of_row(pctl_record_reader *r, const pctl_record_shape *s, uint32_t i, rest *from,
			char *record)
{
	const pctl_record_field *f = &s->fields[i];
	uint32_t *n = (uint32_t *)(void *)(record + f->n_at);
	char *items = items_of(
		r, f, from->at == NULL ? 0 : count(from->at, from->end, s->between) + 1, record);

	for (*n = 0; r->status == PCTL_OK && from->at != NULL && !is_later(s, i, from); ++*n) {
		if (*n == most_items(f))
			fault(r, from->at, f->key, "has too many items");
		else
			item(r, s, f, from, items + *n * f->of->size);
	}
}

static void field_of_row(pctl_record_reader *r, const pctl_record_shape *s, uint32_t i, rest *from,
			 char *record)
{
	const pctl_record_field *f = &s->fields[i];
	rest v;

	if ((f->flags & PCTL_RECORD_OPTIONAL) != 0 && is_named(f) && f->when == 0 && f->n_at != 0)
		*(uint32_t *)(void *)(record + f->n_at) = 1;
	if (f->kind == PCTL_RECORD_LIST)
		list_of_row(r, s, i, from, record);
	else if (f->kind == PCTL_RECORD_GROUP)
		item(r, s, f, from, record + f->at);
	else if (cut(r, f, s->between, from, &v) && f->kind != PCTL_RECORD_DERIVED)
		value(r, f, &v, record);
}

static void row(pctl_record_reader *r, const pctl_record_shape *s, rest *from, char *record)
{
	for (uint32_t i = 0; i < s->n_fields && r->status == PCTL_OK; i++) {
		const pctl_record_field *f = &s->fields[i];
		const int optional = (f->flags & PCTL_RECORD_OPTIONAL) != 0;

		if (is_named(f) && is_word(from, s->between, f->key))
			cut_name(f, from);
		else if (is_named(f) && optional)
			continue;
		else if (is_named(f))
			fault(r, from->at == NULL ? from->end : from->at, f->key, "is missing");
		else if (optional && !pctl_record_present(f, record))
			continue;
		if (r->status == PCTL_OK)
			field_of_row(r, s, i, from, record);
	}
}

/* ---- lines -------------------------------------------------------------------------------- */

/* What is left of the text, and its next line; at NULL: there is none. */
typedef struct lines {
	const char *at;
	rest line;
} lines;

static void next(pctl_record_reader *r, lines *l)
{
	const char *stop = l->at == r->end ? NULL : memchr(l->at, '\n', (size_t)(r->end - l->at));

	if (l->at != r->end && stop == NULL)
		fault(r, l->at, NULL, "is not ended");
	l->line = (rest){stop == NULL ? NULL : l->at, stop == NULL ? r->end : stop};
	l->at = stop == NULL ? r->end : stop + 1;
}

/* The line behind its name, as the value or the values of the field. */
static void take_line(pctl_record_reader *r, const pctl_record_field *f, lines *l, char *record)
{
	rest whole = l->line;

	if (is_named(f))
		cut_name(f, &whole);
	if (whole.at == NULL)
		fault(r, whole.end, f->key, "is missing");
	else if (f->of == NULL)
		value(r, f, &whole, record);
	else if (f->of->style != PCTL_RECORD_ROW)
		value(r, f->of->fields, &whole, record);
	else
		item(r, f->of, f, &whole, record);
	if (r->status == PCTL_OK && f->of != NULL && f->of->style == PCTL_RECORD_ROW &&
	    whole.at != NULL)
		fault(r, whole.at, NULL, "goes on behind its last value");
	next(r, l);
}

static void list_of_lines(pctl_record_reader *r, const pctl_record_shape *s, uint32_t i, lines *l,
			  char *record)
{
	const pctl_record_field *f = &s->fields[i];
	uint32_t *n = (uint32_t *)(void *)(record + f->n_at);
	char *items = items_of(r, f, count(l->at, r->end, '\n') + 1, record);

	for (*n = 0;
	     r->status == PCTL_OK && l->line.at != NULL &&
	     (is_named(f) ? is_word(&l->line, s->between, f->key) : !is_later(s, i, &l->line));
	     ++*n) {
		if (*n == most_items(f))
			fault(r, l->line.at, f->key, "has too many items");
		else
			take_line(r, f, l, items + *n * f->of->size);
	}
}

static void read_lines(pctl_record_reader *r, const pctl_record_shape *s, lines *l, char *record)
{
	next(r, l);
	for (uint32_t i = 0; i < s->n_fields && r->status == PCTL_OK; i++) {
		const pctl_record_field *f = &s->fields[i];
		const int there =
			is_named(f) ? is_word(&l->line, s->between, f->key) : l->line.at != NULL;

		if (f->kind == PCTL_RECORD_LIST)
			list_of_lines(r, s, i, l, record);
		else if (there)
			take_line(r, f, l, record + (f->kind == PCTL_RECORD_GROUP ? f->at : 0));
		else if ((f->flags & PCTL_RECORD_OPTIONAL) == 0)
			fault(r, l->line.at == NULL ? r->end : l->line.at, f->key, "is missing");
	}
	if (l->line.at != NULL)
		fault(r, l->line.at, NULL, "is not one that may stand here");
}

void pctl_record_read_lines(pctl_record_reader *r, char *record)
{
	const pctl_record_shape *s = r->type->shape;
	const size_t n = strlen(r->type->opening);
	const char *zero = memchr(r->text, '\0', (size_t)(r->end - r->text));
	lines l = {.at = r->text + n};

	if (zero != NULL)
		fault(r, zero, NULL, "holds a byte of zero");
	else if ((size_t)(r->end - r->text) < n || memcmp(r->text, r->type->opening, n) != 0)
		fault(r, r->text, NULL, "is not how such a text begins");
	else if (s->style == PCTL_RECORD_LINES)
		read_lines(r, s, &l, record);
	else {
		l.line = (rest){l.at, r->end};
		if (memchr(l.at, '\n', (size_t)(r->end - l.at)) != NULL)
			fault(r, l.at, NULL, "is followed by another line, where one is allowed");
		row(r, s, &l.line, record);
		if (l.line.at != NULL)
			fault(r, l.line.at, NULL, "goes on behind its last value");
	}
}
