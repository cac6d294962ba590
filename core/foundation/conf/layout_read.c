/* A text to its items with their comments; see layout.h. */
#include <stdlib.h>
#include <string.h>

#include "foundation/conf/layout.h"

char pctl_conf_closing(char open)
{
	return open == '{' ? '}' : open == '[' ? ']' : ')';
}

static pctl_conf_item *make_item(pctl_conf_layout *r)
{
	pctl_conf_item *i = pctl_arena_alloc(r->arena, sizeof(*i));

	if (i != NULL)
		memset(i, 0, sizeof(*i));
	if (i == NULL || !PCTL_VEC_PUSH(&r->all, i)) {
		r->status = pctl_no_memory(r->call, "a layout");
		return NULL;
	}
	return i;
}

static void keep(pctl_conf_layout *r, int pushed)
{
	if (!pushed && r->status == PCTL_OK)
		r->status = pctl_no_memory(r->call, "a layout");
}

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* Length of the comment at the place, 0: there is none. Blanks at its end are no part of it. */
static size_t comment_length(const pctl_conf_layout *r)
{
	const char *s = r->text + r->at, *end = r->text + r->n;
	const char *stop;
	size_t n;

	if (s < end && (*s == '#' || (*s == '/' && s + 1 < end && s[1] == '/'))) {
		stop = memchr(s, '\n', (size_t)(end - s));
		n = stop == NULL ? (size_t)(end - s) : (size_t)(stop - s);
		while (n > 0 && is_blank(s[n - 1]))
			n--;
		return n;
	}
	if (s + 1 >= end || *s != '/' || s[1] != '*')
		return 0;
	stop = memmem(s + 2, (size_t)(end - s) - 2, "*/", 2);
	return stop == NULL ? (size_t)(end - s) : (size_t)(stop + 2 - s);
}

/* What stands between two tokens. Comments before the first line break go to `same`, where it is not NULL, the others to `own`.
 * Returns the number of line breaks; *blank (or NULL) says whether a line was empty before what follows. */
static uint32_t skip(pctl_conf_layout *r, pctl_conf_pieces *same, pctl_conf_pieces *own, int *blank)
{
	uint32_t breaks = 0, run = 0;

	while (r->status == PCTL_OK && r->at < r->n) {
		char c = r->text[r->at];
		size_t n = comment_length(r);

		if (n != 0) {
			const pctl_conf_piece p = {r->text + r->at, n, run > 1};

			keep(r, PCTL_VEC_PUSH(breaks == 0 && same != NULL ? same : own, p));
			r->at += n;
			run = 0;
		} else if (c == '\n') {
			breaks++;
			run++;
			r->at++;
		} else if (is_blank(c)) {
			r->at++;
		} else {
			break;
		}
	}
	if (blank != NULL)
		*blank = run > 1;
	return breaks;
}

static size_t word_length(const pctl_conf_layout *r)
{
	const char *s = r->text + r->at;
	size_t n = 0, left = r->n - r->at;

	if (s[0] == '"') {
		for (n = 1; n < left && s[n] != '"'; n++)
			n += s[n] == '\\' && n + 1 < left;
		return n < left ? n + 1 : left;
	}
	while (n < left && !is_blank(s[n]) && strchr("\n{}[]();,=:\"#", s[n]) == NULL &&
	       !(s[n] == '/' && n + 1 < left && (s[n + 1] == '/' || s[n + 1] == '*')))
		n++;
	return n == 0 ? 1 : n;
}

static int at_char(const pctl_conf_layout *r, const char *set)
{
	return r->at < r->n && r->text[r->at] != '\0' && strchr(set, r->text[r->at]) != NULL;
}

static void read_items(pctl_conf_layout *r, pctl_conf_items *out, pctl_conf_pieces *dangling,
		       char close, int *spread, pctl_conf_pieces *first);

static void misplaced(pctl_conf_layout *r)
{
	pctl_pos pos = {.file = r->name, .line = 1, .column = 1};

	for (size_t i = 0; i < r->at; i++) {
		pos.column = r->text[i] == '\n' ? 1 : pos.column + 1;
		pos.line += r->text[i] == '\n';
	}
	r->status = pctl_refuse_at(
		r->call, PC1026_CONF_INCLUDE_PLACE, &pos, "put the include between two settings",
		"this text cannot be laid out: @include stands inside a setting");
}

/* At an include behind a string: does another string follow it, that would be part of the same value? */
static int splits_string(pctl_conf_layout *r)
{
	pctl_conf_pieces passed = {NULL, 0, 0};
	const size_t start = r->at;
	int splits;

	while (at_char(r, "@")) {
		r->at += word_length(r);
		skip(r, NULL, &passed, NULL);
		r->at += r->at < r->n ? word_length(r) : 0;
		skip(r, NULL, &passed, NULL);
	}
	splits = at_char(r, "\"");
	free(passed.items);
	r->at = start;
	return splits;
}

/* The value at the place, with what follows it up to its separator. Comments inside a setting go above it. */
static void read_value(pctl_conf_layout *r, pctl_conf_item *i)
{
	if (at_char(r, "{[(")) {
		i->open = r->text[r->at++];
		read_items(r, &i->inner, &i->closing, pctl_conf_closing(i->open), &i->spread,
			   &i->opening);
		return;
	}
	for (;;) {
		const pctl_conf_piece p = {r->text + r->at, word_length(r), 0};
		pctl_conf_pieces between = {NULL, 0, 0};
		size_t end = r->at + p.n;

		if (p.text[0] == '@')
			misplaced(r);
		keep(r, PCTL_VEC_PUSH(&i->words, p));
		r->at = end;
		if (r->status != PCTL_OK || p.text[0] != '"')
			return;
		skip(r, NULL, &between, NULL);
		for (uint32_t k = 0; at_char(r, "\"") && k < between.n; k++)
			keep(r, PCTL_VEC_PUSH(&i->before, between.items[k]));
		free(between.items);
		if (at_char(r, "@") && splits_string(r))
			misplaced(r);
		if (!at_char(r, "\"")) {
			r->at = end; /* what was skipped belongs to what follows */
			return;
		}
	}
}

static void read_include(pctl_conf_layout *r, pctl_conf_item *i)
{
	pctl_conf_piece p = {r->text + r->at, word_length(r), 0};

	i->is_include = 1;
	keep(r, PCTL_VEC_PUSH(&i->words, p));
	r->at += p.n;
	skip(r, NULL, &i->before, NULL);
	p = (pctl_conf_piece){r->text + r->at, r->at < r->n ? word_length(r) : 0, 0};
	keep(r, PCTL_VEC_PUSH(&i->words, p));
	r->at += p.n;
}

static void read_item(pctl_conf_layout *r, pctl_conf_item *i)
{
	size_t start = r->at, n = at_char(r, "{[(") ? 0 : word_length(r);

	if (r->text[r->at] == '@') {
		read_include(r, i);
		return;
	}
	/* A key is what `=` or `:` follows. */
	r->at += n;
	if (n != 0) {
		uint32_t n_before = i->before.n;

		skip(r, NULL, &i->before, NULL);
		if (at_char(r, "=:")) {
			i->key = (pctl_conf_piece){r->text + start, n, 0};
			r->at++;
			skip(r, NULL, &i->before, NULL);
			if (r->at < r->n)
				read_value(r, i);
			return;
		}
		i->before.n = n_before; /* read again as what follows the value */
	}
	r->at = start;
	read_value(r, i);
}

/* 1 when nothing can stand behind the last comment on its line. */
static int ends_line(const pctl_conf_pieces *list)
{
	const pctl_conf_piece *last = list->n == 0 ? NULL : &list->items[list->n - 1];

	return last != NULL && (last->text[0] == '#' || last->text[1] == '/');
}

static void read_items(pctl_conf_layout *r, pctl_conf_items *out, pctl_conf_pieces *dangling,
		       char close, int *spread, pctl_conf_pieces *first)
{
	pctl_conf_pieces waiting = {NULL, 0, 0};
	int blank = 0;
	size_t begun = r->at;

	skip(r, first, &waiting, &blank);
	while (r->status == PCTL_OK && r->at < r->n && r->text[r->at] != close) {
		pctl_conf_item *i;

		if (at_char(r, ";,")) { /* separators that separate nothing */
			r->at++;
			skip(r, NULL, &waiting, NULL);
			continue;
		}
		i = make_item(r);
		if (i == NULL)
			break;
		for (uint32_t k = 0; k < waiting.n; k++)
			keep(r, PCTL_VEC_PUSH(&i->before, waiting.items[k]));
		waiting.n = 0;
		i->blank_before = blank;
		keep(r, PCTL_VEC_PUSH(out, i));
		read_item(r, i);
		blank = 0;
		skip(r, &i->behind, &waiting, &blank);
		if (at_char(r, ";,") && waiting.n == 0) {
			r->at++;
			skip(r, ends_line(&i->behind) ? NULL : &i->behind, &waiting, &blank);
		}
	}
	for (uint32_t k = 0; k < waiting.n; k++)
		keep(r, PCTL_VEC_PUSH(dangling, waiting.items[k]));
	free(waiting.items);
	if (spread != NULL)
		*spread = memchr(r->text + begun, '\n', r->at - begun) != NULL;
	if (close != '\0' && r->at < r->n)
		r->at++;
}

pctl_status pctl_conf_layout_read(const char *name, const char *text, size_t n,
				  const pctl_call *call, pctl_conf_layout *out)
{
	*out = (pctl_conf_layout){.name = name, .text = text, .n = n, .call = call};
	out->arena = pctl_arena_create();
	if (out->arena == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a layout");
	read_items(out, &out->items, &out->end, '\0', NULL, NULL);
	return out->status;
}

void pctl_conf_layout_drop(pctl_conf_layout *l)
{
	for (uint32_t i = 0; i < l->all.n; i++) {
		free(l->all.items[i]->before.items);
		free(l->all.items[i]->behind.items);
		free(l->all.items[i]->opening.items);
		free(l->all.items[i]->closing.items);
		free(l->all.items[i]->words.items);
		free((void *)l->all.items[i]->inner.items);
	}
	free((void *)l->all.items);
	free((void *)l->items.items);
	free(l->end.items);
	pctl_arena_destroy(l->arena);
}
