/* Items in canonical layout: two blanks a level, one setting a line, what was on one line stays there while it fits. See layout.h. */
#include <string.h>

#include "foundation/conf/format.h"
#include "foundation/conf/layout.h"

#define INDENT 2u

static int one_line(const pctl_conf_item *i)
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

static void add_key(pctl_str_buf *s, const pctl_conf_item *i)
{
	if (i->key.n == 0)
		return;
	pctl_str_add_n(s, i->key.text, i->key.n);
	pctl_str_add(s, i->open == '{' ? " : " : " = ");
}

static void add_flat(pctl_str_buf *s, const pctl_conf_item *i)
{
	const char ends[2] = {pctl_conf_closing(i->open), '\0'};

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
static void add_own_lines(pctl_str_buf *s, const pctl_conf_pieces *list, uint32_t depth,
			  int at_start)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (list->items[i].blank && !(at_start && i == 0))
			pctl_str_add(s, "\n");
		add_indent(s, depth);
		pctl_str_add_n(s, list->items[i].text, list->items[i].n);
		pctl_str_add(s, "\n");
	}
}

static void add_behind(pctl_str_buf *s, const pctl_conf_pieces *list)
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

static void add_items(pctl_str_buf *s, const pctl_conf_items *list, uint32_t depth, char open);

/* ends: what separates the pctl_conf_item from the next. */
static void add_item(pctl_str_buf *s, const pctl_conf_item *i, uint32_t depth, const char *ends)
{
	const char closes[2] = {pctl_conf_closing(i->open), '\0'};
	pctl_str_buf flat = PCTL_STR_BUF_INIT;
	pctl_conf_item bare = *i;

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

static void add_items(pctl_str_buf *s, const pctl_conf_items *list, uint32_t depth, char open)
{
	for (uint32_t k = 0; k < list->n; k++) {
		const pctl_conf_item *i = list->items[k];
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

void pctl_conf_layout_write(const pctl_conf_layout *l, pctl_str_buf *out)
{
	add_items(out, &l->items, 0, '{');
	add_own_lines(out, &l->end, 0, l->items.n == 0);
}
