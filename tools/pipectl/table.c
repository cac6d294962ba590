/* Listings; see table.h. */
#include "table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fold.h"
#include "foundation/base/vec.h"

#define GAP 2u
#define LEAST_LAST 24u /* columns that are worth folding a last cell in */

/* text NULL: a cell with nothing; note: a line below the row before it. */
typedef struct item {
	char *text;
	uint32_t is_note;
} item;

struct pctl_table {
	const pctl_column *columns;
	uint32_t n, at, is_piped, has_heads, failed;
	PCTL_VEC(item) items; /* of people */
};

static uint32_t width_to_fit(void)
{
	return isatty(STDOUT_FILENO) ? pctl_columns() : 0;
}

static void pad(size_t used, size_t width)
{
	if (used < width)
		printf("%*s", (int)(width - used), "");
}

/* What a script gets: bytes are counted as printf counts them. */
static void print_piped(const pctl_column *c, const char *text)
{
	if (text != NULL)
		printf("%s%*s", c->before, -c->width, text);
}

pctl_table *pctl_table_begin(const pctl_column *columns, uint32_t n, uint32_t flags)
{
	pctl_table *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->columns = columns;
	t->n = n;
	t->is_piped = width_to_fit() == 0;
	t->has_heads = !t->is_piped || flags & PCTL_TABLE_HEADS;
	for (uint32_t i = 0; t->is_piped && t->has_heads && i < n; i++)
		print_piped(&columns[i], columns[i].head);
	if (t->is_piped && t->has_heads)
		printf("\n");
	return t;
}

static void add(pctl_table *t, char *text, uint32_t is_note)
{
	const item one = {text, is_note};

	if (!PCTL_VEC_PUSH(&t->items, one)) {
		free(text);
		t->failed = 1;
	}
}

/* `text` becomes the table's. */
static void add_cell(pctl_table *t, char *text)
{
	const pctl_column *c = &t->columns[t->at];

	t->at = t->at + 1 == t->n ? 0 : t->at + 1;
	if (!t->is_piped) {
		add(t, text, 0);
		return;
	}
	print_piped(c, text);
	if (t->at == 0)
		printf("\n");
	free(text);
}

void pctl_table_cell(pctl_table *t, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	if (t == NULL)
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		t->failed = 1;
	else
		add_cell(t, text);
	va_end(args);
}

void pctl_table_none(pctl_table *t)
{
	if (t != NULL)
		add_cell(t, NULL);
}

void pctl_table_maybe(pctl_table *t, const char *text)
{
	if (text == NULL || text[0] == '\0')
		pctl_table_none(t);
	else
		pctl_table_cell(t, "%s", text);
}

void pctl_table_note(pctl_table *t, const char *before, const char *format, ...)
{
	char *text = NULL;
	va_list args;

	if (t == NULL)
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0) {
		t->failed = 1;
	} else if (t->is_piped) {
		printf("%s%s\n", before, text);
		free(text);
	} else {
		add(t, text, 1);
	}
	va_end(args);
}

/* ---- for people --------------------------------------------------------------------------- */

static const char *text_of(const item *i)
{
	return i->text == NULL ? "" : i->text;
}

/* Widths of the columns; a column in which nothing stands has none and is left out. The sum with gaps. */
static size_t measure(const pctl_table *t, size_t *widths)
{
	size_t sum = 0;
	uint32_t column = 0;

	memset(widths, 0, t->n * sizeof(*widths));
	for (uint32_t i = 0; i < t->items.n; i++) {
		const size_t width = pctl_text_columns(text_of(&t->items.items[i]));

		if (t->items.items[i].is_note)
			continue;
		if (width > widths[column])
			widths[column] = width;
		column = column + 1 == t->n ? 0 : column + 1;
	}
	for (uint32_t i = 0; i < t->n; i++) {
		const size_t head = pctl_text_columns(t->columns[i].head);

		if (widths[i] != 0 && head > widths[i])
			widths[i] = head;
		sum += widths[i] == 0 ? 0 : widths[i] + GAP;
	}
	return sum == 0 ? 0 : sum - GAP;
}

/* The longest word of a column, which folding does not part. */
static size_t longest_word(const pctl_table *t, uint32_t column)
{
	size_t longest = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i < t->items.n; i++) {
		const char *text = text_of(&t->items.items[i]);

		if (t->items.items[i].is_note)
			continue;
		while (at == column && *text != '\0') {
			const size_t n = strcspn(text, " ");
			char *word = strndup(text, n);
			const size_t width = word == NULL ? n : pctl_text_columns(word);

			free(word);
			longest = width > longest ? width : longest;
			text += n + strspn(text + n, " ");
		}
		at = at + 1 == t->n ? 0 : at + 1;
	}
	return longest;
}

/* One line: cells in their columns; the last one folded. */
static void print_row(const pctl_table *t, const item *cells, const size_t *widths, uint32_t last)
{
	size_t at = 0;

	for (uint32_t i = 0; i <= last; i++) {
		const char *text = cells == NULL ? t->columns[i].head : text_of(&cells[i]);
		const size_t used = pctl_text_columns(text);

		if (widths[i] == 0)
			continue;
		if (t->columns[i].width < 0)
			pad(used, widths[i]);
		if (i == last) {
			pctl_print_folded(stdout, at, at, text);
			return;
		}
		fputs(text, stdout);
		if (t->columns[i].width >= 0)
			pad(used, widths[i]);
		printf("%*s", (int)GAP, "");
		at += widths[i] + GAP;
	}
}

static void print_note(const char *text)
{
	printf("    ");
	pctl_print_folded(stdout, 4, 4, text);
}

static void print_wide(const pctl_table *t, const size_t *widths, uint32_t last)
{
	print_row(t, NULL, widths, last);
	for (uint32_t i = 0; i < t->items.n; i += t->items.items[i].is_note ? 1 : t->n) {
		if (t->items.items[i].is_note)
			print_note(text_of(&t->items.items[i]));
		else if (i + t->n <= t->items.n)
			print_row(t, &t->items.items[i], widths, last);
	}
}

/* Each row for itself: its first cell, then the others with their heads. */
static void print_stacked(const pctl_table *t, const size_t *widths)
{
	size_t head = 0;

	for (uint32_t i = 1; i < t->n; i++) {
		const size_t width = pctl_text_columns(t->columns[i].head);

		head = widths[i] != 0 && width > head ? width : head;
	}
	for (uint32_t i = 0; i < t->items.n; i += t->items.items[i].is_note ? 1 : t->n) {
		if (t->items.items[i].is_note) {
			print_note(text_of(&t->items.items[i]));
			continue;
		}
		if (i + t->n > t->items.n)
			return;
		pctl_print_folded(stdout, 0, 2, text_of(&t->items.items[i]));
		for (uint32_t k = 1; k < t->n; k++) {
			const char *name = t->columns[k].head,
				   *text = text_of(&t->items.items[i + k]);

			if (text[0] == '\0')
				continue;
			printf("  %s", name);
			pad(pctl_text_columns(name), head + GAP);
			pctl_print_folded(stdout, 2 + head + GAP, 2 + head + GAP, text);
		}
	}
}

static void print_all(const pctl_table *t)
{
	size_t *widths = calloc(t->n, sizeof(*widths)), sum, least;
	const size_t room = width_to_fit();
	uint32_t last = t->n - 1;

	if (widths == NULL || t->items.n == 0) {
		free(widths);
		return;
	}
	sum = measure(t, widths);
	while (last > 0 && widths[last] == 0)
		last--;
	least = longest_word(t, last);
	least = least < LEAST_LAST ? LEAST_LAST : least;
	if (sum <= room || sum - widths[last] + least <= room)
		print_wide(t, widths, last);
	else
		print_stacked(t, widths);
	free(widths);
}

pctl_status pctl_table_end(pctl_table *t, const pctl_call *call)
{
	int failed = t == NULL || t->failed;

	if (t == NULL)
		return pctl_no_memory(call, "a listing");
	if (!t->is_piped && !failed)
		print_all(t);
	for (uint32_t i = 0; i < t->items.n; i++)
		free(t->items.items[i].text);
	free(t->items.items);
	free(t);
	return failed ? pctl_no_memory(call, "a listing") : PCTL_OK;
}
