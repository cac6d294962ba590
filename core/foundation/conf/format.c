/* A text to its items with their comments, and back in canonical layout. The text was accepted by the parser before, so the
 * reading here trusts brackets and quotes. */
#include "foundation/conf/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/arena.h"
#include "foundation/base/str.h"
#include "foundation/base/vec.h"
#include "foundation/conf/conf.h"

#define INDENT 2u

/* A run of bytes of the text. blank: a line was empty before it. */
typedef struct piece {
	const char *text;
	size_t n;
	int blank;
} piece;

typedef PCTL_VEC(piece) pieces;

typedef struct item item;
typedef PCTL_VEC(item *) items;

/* One setting, element or include of a composite. before: comments on lines of their own above it; behind: on its last line.
 * spread: there is a line break between its brackets. */
struct item {
	pieces before, behind;
	pieces opening; /* comments on the line of the opening bracket */
	pieces closing; /* comments between the last item and the closing bracket */
	piece key;	/* n 0: none */
	pieces words;	/* the scalar, of several strings that stand side by side; an include */
	items inner;
	char open; /* '{', '[', '(' or 0 */
	int spread, blank_before, is_include;
};

typedef struct reader {
	const char *text;
	size_t n, at;
	pctl_arena *arena;
	PCTL_VEC(item *) all; /* to be released */
	const char *name;
	const pctl_call *call;
	pctl_status status;
} reader;

static item *make_item(reader *r)
{
	item *i = pctl_arena_alloc(r->arena, sizeof(*i));

	if (i != NULL)
		memset(i, 0, sizeof(*i));
	if (i == NULL || !PCTL_VEC_PUSH(&r->all, i)) {
		r->status = pctl_refuse(r->call, PC2_NOMEM, "no memory for a layout");
		return NULL;
	}
	return i;
}

static void keep(reader *r, int pushed)
{
	if (!pushed && r->status == PCTL_OK)
		r->status = pctl_refuse(r->call, PC2_NOMEM, "no memory for a layout");
}

static int is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* Length of the comment at the place, 0: there is none. Blanks at its end are no part of it. */
static size_t comment_length(const reader *r)
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
static uint32_t skip(reader *r, pieces *same, pieces *own, int *blank)
{
	uint32_t breaks = 0, run = 0;

	while (r->status == PCTL_OK && r->at < r->n) {
		char c = r->text[r->at];
		size_t n = comment_length(r);

		if (n != 0) {
			const piece p = {r->text + r->at, n, run > 1};

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

static size_t word_length(const reader *r)
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

static int at_char(const reader *r, const char *set)
{
	return r->at < r->n && r->text[r->at] != '\0' && strchr(set, r->text[r->at]) != NULL;
}

static void read_items(reader *r, items *out, pieces *dangling, char close, int *spread,
		       pieces *first);
static char closing(char open);

static void misplaced(reader *r)
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

/* The value at the place, with what follows it up to its separator. Comments inside a setting go above it. */
static void read_value(reader *r, item *i)
{
	if (at_char(r, "{[(")) {
		i->open = r->text[r->at++];
		read_items(r, &i->inner, &i->closing, closing(i->open), &i->spread, &i->opening);
		return;
	}
	for (;;) {
		const piece p = {r->text + r->at, word_length(r), 0};
		pieces between = {NULL, 0, 0};
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
		if (!at_char(r, "\"")) {
			r->at = end; /* what was skipped belongs to what follows */
			return;
		}
	}
}

static void read_include(reader *r, item *i)
{
	piece p = {r->text + r->at, word_length(r), 0};

	i->is_include = 1;
	keep(r, PCTL_VEC_PUSH(&i->words, p));
	r->at += p.n;
	skip(r, NULL, &i->before, NULL);
	p = (piece){r->text + r->at, r->at < r->n ? word_length(r) : 0, 0};
	keep(r, PCTL_VEC_PUSH(&i->words, p));
	r->at += p.n;
}

static void read_item(reader *r, item *i)
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
			i->key = (piece){r->text + start, n, 0};
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
static int ends_line(const pieces *list)
{
	const piece *last = list->n == 0 ? NULL : &list->items[list->n - 1];

	return last != NULL && (last->text[0] == '#' || last->text[1] == '/');
}

static void read_items(reader *r, items *out, pieces *dangling, char close, int *spread,
		       pieces *first)
{
	pieces waiting = {NULL, 0, 0};
	int blank = 0;
	size_t begun = r->at;

	skip(r, first, &waiting, &blank);
	while (r->status == PCTL_OK && r->at < r->n && r->text[r->at] != close) {
		item *i;

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

/* ---- writing ------------------------------------------------------------------------------ */

static int one_line(const item *i)
{
	if (i->is_include || i->opening.n + i->closing.n + i->before.n != 0 || i->spread)
		return 0;
	for (uint32_t k = 0; k < i->inner.n; k++) {
		if (!one_line(i->inner.items[k]) || i->inner.items[k]->behind.n != 0)
			return 0;
	}
	for (uint32_t k = 0; k < i->words.n; k++) {
		if (memchr(i->words.items[k].text, '\n', i->words.items[k].n) != NULL)
			return 0;
	}
	return 1;
}

static void add_key(pctl_str_buf *s, const item *i)
{
	if (i->key.n == 0)
		return;
	pctl_str_add_n(s, i->key.text, i->key.n);
	pctl_str_add(s, i->open == '{' ? " : " : " = ");
}

static char closing(char open)
{
	return open == '{' ? '}' : open == '[' ? ']' : ')';
}

static void add_flat(pctl_str_buf *s, const item *i)
{
	const char ends[2] = {closing(i->open), '\0'};

	add_key(s, i);
	for (uint32_t k = 0; k < i->words.n; k++) {
		pctl_str_add(s, k == 0 ? "" : " ");
		pctl_str_add_n(s, i->words.items[k].text, i->words.items[k].n);
	}
	if (i->open == 0)
		return;
	pctl_str_add_n(s, &i->open, 1);
	for (uint32_t k = 0; k < i->inner.n; k++) {
		pctl_str_add(s, k == 0 ? (i->open == '[' ? "" : " ") : i->open == '{' ? " " : ", ");
		add_flat(s, i->inner.items[k]);
		pctl_str_add(s, i->open == '{' ? ";" : "");
	}
	pctl_str_add(s, i->open == '[' ? "" : " ");
	pctl_str_add(s, ends);
}

static void add_indent(pctl_str_buf *s, uint32_t depth)
{
	for (uint32_t i = 0; i < depth * INDENT; i++)
		pctl_str_add(s, " ");
}

/* at_start: nothing stands above them, so that no empty line does. */
static void add_own_lines(pctl_str_buf *s, const pieces *list, uint32_t depth, int at_start)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (list->items[i].blank && !(at_start && i == 0))
			pctl_str_add(s, "\n");
		add_indent(s, depth);
		pctl_str_add_n(s, list->items[i].text, list->items[i].n);
		pctl_str_add(s, "\n");
	}
}

static void add_behind(pctl_str_buf *s, const pieces *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		pctl_str_add(s, " ");
		pctl_str_add_n(s, list->items[i].text, list->items[i].n);
	}
	pctl_str_add(s, "\n");
}

static size_t columns_of(const char *text, size_t n)
{
	size_t columns = 0;

	for (size_t i = 0; i < n; i++)
		columns += ((unsigned char)text[i] & 0xc0) != 0x80;
	return columns;
}

static void add_items(pctl_str_buf *s, const items *list, uint32_t depth, char open);

/* ends: what separates the item from the next. */
static void add_item(pctl_str_buf *s, const item *i, uint32_t depth, const char *ends)
{
	const char closes[2] = {closing(i->open), '\0'};
	pctl_str_buf flat = PCTL_STR_BUF_INIT;
	item bare = *i;

	bare.before.n = 0;
	if (one_line(&bare)) {
		add_flat(&flat, i);
		s->failed |= flat.failed;
		if (!flat.failed &&
		    (i->words.n == 1 || (i->open != 0 && i->inner.n == 0) ||
		     columns_of(flat.data, flat.n) + (size_t)depth * INDENT + strlen(ends) <=
			     PCTL_CONF_FORMAT_COLUMNS)) {
			pctl_str_add_n(s, flat.data, flat.n);
			pctl_str_add(s, ends);
			pctl_str_drop(&flat);
			return;
		}
		pctl_str_drop(&flat);
	}
	add_key(s, i);
	if (i->open == 0) { /* an include, or strings that do not fit side by side */
		for (uint32_t k = 0; k < i->words.n; k++) {
			if (k != 0 && i->is_include)
				pctl_str_add(s, " ");
			else if (k != 0) {
				pctl_str_add(s, "\n");
				add_indent(s, depth + 1);
			}
			pctl_str_add_n(s, i->words.items[k].text, i->words.items[k].n);
		}
		pctl_str_add(s, i->is_include ? "" : ends);
		return;
	}
	pctl_str_add_n(s, &i->open, 1);
	add_behind(s, &i->opening);
	add_items(s, &i->inner, depth + 1, i->open);
	add_own_lines(s, &i->closing, depth + 1, i->inner.n == 0);
	add_indent(s, depth);
	pctl_str_add(s, closes);
	pctl_str_add(s, ends);
}

static void add_items(pctl_str_buf *s, const items *list, uint32_t depth, char open)
{
	for (uint32_t k = 0; k < list->n; k++) {
		const item *i = list->items[k];
		uint32_t next = k + 1;

		add_own_lines(s, &i->before, depth, k == 0);
		if (i->blank_before && (k != 0 || i->before.n != 0))
			pctl_str_add(s, "\n");
		add_indent(s, depth);
		while (next < list->n && list->items[next]->is_include)
			next++; /* what an include brings has separators of its own */
		add_item(s, i, depth, open == '{' ? ";" : next < list->n ? "," : "");
		add_behind(s, &i->behind);
	}
}

/* ---- the same before and after ------------------------------------------------------------ */

static char *same_name(void *ctx, const char *from, const char *path)
{
	char *name = NULL;

	(void)ctx;
	(void)from;
	return asprintf(&name, "@include %s", path) < 0 ? NULL
							: name; /* never the text's own name */
}

static int is_there(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return 1;
}

/* The text itself; of what it includes nothing. */
static pctl_status read_nothing(void *ctx, const char *name, uint64_t limit, const pctl_call *call,
				char **out, uint64_t *n_out)
{
	const reader *r = ctx;
	const int own = strcmp(name, r->name) == 0;

	(void)limit;
	*n_out = own ? r->n : 0;
	*out = malloc(*n_out + 1);
	if (*out == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a text");
	memcpy(*out, own ? r->text : "", *n_out);
	(*out)[*n_out] = '\0';
	return PCTL_OK;
}

static pctl_status read_tree(const char *name, const char *text, size_t n, const pctl_call *call,
			     pctl_conf **out)
{
	reader r = {.text = text, .n = n, .name = name};
	const pctl_vfs vfs = {&r, same_name, is_there, read_nothing, NULL};

	return pctl_conf_read_vfs(&vfs, name, call, out);
}

static int same_value(const pctl_conf_value *a, const pctl_conf_value *b)
{
	if (a->kind != b->kind || a->n_items != b->n_items ||
	    (a->key == NULL) != (b->key == NULL) || (a->text == NULL) != (b->text == NULL) ||
	    (a->key != NULL && strcmp(a->key, b->key) != 0) ||
	    (a->text != NULL && strcmp(a->text, b->text) != 0))
		return 0;
	for (uint32_t i = 0; i < a->n_items; i++) {
		if (!same_value(a->items[i], b->items[i]))
			return 0;
	}
	return 1;
}

static pctl_status lay_out(reader *r, pctl_str_buf *s)
{
	items list = {NULL, 0, 0};
	pieces end = {NULL, 0, 0};

	r->arena = pctl_arena_create();
	if (r->arena == NULL)
		return pctl_refuse(r->call, PC2_NOMEM, "no memory for a layout");
	read_items(r, &list, &end, '\0', NULL, NULL);
	if (r->status == PCTL_OK) {
		add_items(s, &list, 0, '{');
		add_own_lines(s, &end, 0, list.n == 0);
	}
	for (uint32_t i = 0; i < r->all.n; i++) {
		free(r->all.items[i]->before.items);
		free(r->all.items[i]->behind.items);
		free(r->all.items[i]->opening.items);
		free(r->all.items[i]->closing.items);
		free(r->all.items[i]->words.items);
		free((void *)r->all.items[i]->inner.items);
	}
	free((void *)r->all.items);
	free((void *)list.items);
	free(end.items);
	pctl_arena_destroy(r->arena);
	return r->status;
}

pctl_status pctl_conf_format(const char *name, const char *text, size_t n, const pctl_call *call,
			     char **out, size_t *n_out)
{
	reader r = {.text = text, .n = n, .name = name, .call = call};
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	pctl_conf *before = NULL, *after = NULL;
	pctl_status status = read_tree(name, text, n, call, &before);

	*out = NULL;
	*n_out = 0;
	if (status == PCTL_OK)
		status = lay_out(&r, &s);
	if (status != PCTL_OK)
		goto out;
	pctl_str_add(&s, "");
	*n_out = s.n;
	*out = pctl_str_finish(&s);
	if (*out == NULL) {
		status = pctl_refuse(call, PC2_NOMEM, "no memory for a layout");
		goto out;
	}
	status = read_tree(name, *out, *n_out, call, &after);
	if (status != PCTL_OK || !same_value(pctl_conf_root(before), pctl_conf_root(after)))
		status = pctl_refuse(call, PC1_INTERNAL, "%s: the layout would change what it says",
				     name);
out:
	if (status != PCTL_OK) {
		free(*out);
		*out = NULL;
		*n_out = 0;
	}
	pctl_str_drop(&s);
	pctl_conf_destroy(before);
	pctl_conf_destroy(after);
	return status;
}
