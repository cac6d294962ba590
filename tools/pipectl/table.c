/* Folding at the width of the terminal, and tables. */
#include "table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "foundation/base/arena.h"
#include "foundation/base/num.h"
#include "foundation/base/vec.h"

#define LEAST_COLUMNS 20u
#define MOST_COLUMNS 10000u
#define LEAST_ROOM 24u /* of the right side of a pair; with less it goes below */
#define HEADS_MAX 16u

uint32_t pctl_columns(void)
{
	const char *text = getenv("COLUMNS");
	struct winsize size;
	uint64_t n = 0;

	if (text == NULL || !pctl_num_parse_u64(text, strlen(text), &n)) {
		if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
		    size.ws_col == 0)
			return 0;
		n = size.ws_col;
	}
	return n == 0		   ? 0
	       : n < LEAST_COLUMNS ? LEAST_COLUMNS
	       : n > MOST_COLUMNS  ? MOST_COLUMNS
				   : (uint32_t)n;
}

/* Code points of the first n bytes. */
static size_t width_of(const char *text, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++)
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	return width;
}

size_t pctl_text_width(const char *text)
{
	return width_of(text, strlen(text));
}

void pctl_print_folded(FILE *to, size_t at, size_t indent, const char *text)
{
	size_t columns = pctl_columns(), begun = 0;

	while (*text != '\0') {
		size_t blanks = strspn(text, " "), n = strcspn(text + blanks, " \n");
		size_t width = width_of(text + blanks, n);

		if (columns != 0 && begun && at + blanks + width > columns) {
			fprintf(to, "\n%*s", (int)indent, "");
			at = indent;
		} else {
			fprintf(to, "%*s", (int)blanks, "");
			at += blanks;
		}
		fwrite(text + blanks, 1, n, to);
		at += width;
		begun = 1;
		text += blanks + n;
		if (*text == '\n') {
			fprintf(to, "\n%*s", (int)indent, "");
			at = indent;
			begun = 0;
			text++;
		}
	}
	fputc('\n', to);
}

void pctl_print_pair(FILE *to, const char *left, size_t width, const char *right)
{
	size_t columns = pctl_columns(), used = pctl_text_width(left);

	if (columns != 0 && columns < 2 + width + 1 + LEAST_ROOM) {
		fprintf(to, "  ");
		pctl_print_folded(to, 2, 6, left);
		fprintf(to, "      ");
		pctl_print_folded(to, 6, 6, right);
		return;
	}
	fprintf(to, "  %s%*s ", left, (int)(used < width ? width - used : 0), "");
	pctl_print_folded(to, 3 + (used < width ? width : used), 3 + width, right);
}

/* ---- tables ------------------------------------------------------------------------------- */

struct pctl_table {
	pctl_arena *arena;
	const char *heads[HEADS_MAX];
	int right[HEADS_MAX];
	uint32_t n_heads;
	int failed;
	PCTL_VEC(const char *) cells;
};

pctl_table *pctl_table_create(const char *heads)
{
	pctl_table *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return NULL;
	t->arena = pctl_arena_create();
	t->failed = t->arena == NULL;
	while (!t->failed && *heads != '\0' && t->n_heads < HEADS_MAX) {
		size_t n;

		t->right[t->n_heads] = *heads == '>';
		heads += *heads == '>';
		n = strcspn(heads, "|");
		t->heads[t->n_heads] = pctl_arena_dup_n(t->arena, heads, n);
		t->failed = t->heads[t->n_heads++] == NULL;
		heads += n + (heads[n] == '|');
	}
	return t;
}

void pctl_table_cell(pctl_table *t, const char *fmt, ...)
{
	char *text = NULL, *kept;
	va_list args;
	int n;

	if (t == NULL || t->failed)
		return;
	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	kept = n < 0 ? NULL : pctl_arena_dup_n(t->arena, text, (size_t)n);
	if (n >= 0)
		free(text);
	t->failed = kept == NULL || !PCTL_VEC_PUSH(&t->cells, kept);
}

static void print_wide(const pctl_table *t, FILE *to, const size_t *widths)
{
	for (uint32_t i = 0; i <= t->cells.n / t->n_heads; i++) {
		for (uint32_t k = 0; k < t->n_heads; k++) {
			const char *cell =
				i == 0 ? t->heads[k] : t->cells.items[(i - 1) * t->n_heads + k];
			int pad = (int)(widths[k] - pctl_text_width(cell));

			if (t->right[k])
				fprintf(to, "%*s%s", pad, "", cell);
			else
				fprintf(to, "%s%*s", cell, k + 1 == t->n_heads ? 0 : pad, "");
			fputs(k + 1 == t->n_heads ? "\n" : " ", to);
		}
	}
}

static void print_folded(const pctl_table *t, FILE *to)
{
	for (uint32_t i = 0; i < t->cells.n; i++) {
		uint32_t k = i % t->n_heads;
		const char *cell = t->cells.items[i];

		if (k == 0)
			pctl_print_folded(to, 0, 4, cell);
		else if (cell[0] != '\0') {
			fprintf(to, "  %s: ", t->heads[k]);
			pctl_print_folded(to, 4 + pctl_text_width(t->heads[k]), 4, cell);
		}
	}
}

int pctl_table_print(const pctl_table *t, FILE *to)
{
	size_t widths[HEADS_MAX] = {0}, all = 0;
	uint32_t columns = pctl_columns();

	if (t == NULL || t->failed || t->n_heads == 0)
		return 0;
	for (uint32_t k = 0; k < t->n_heads; k++)
		widths[k] = pctl_text_width(t->heads[k]);
	for (uint32_t i = 0; i < t->cells.n; i++) {
		size_t width = pctl_text_width(t->cells.items[i]);

		if (width > widths[i % t->n_heads])
			widths[i % t->n_heads] = width;
	}
	for (uint32_t k = 0; k < t->n_heads; k++)
		all += widths[k] + (k != 0);
	if (columns != 0 && all > columns)
		print_folded(t, to);
	else
		print_wide(t, to, widths);
	return 1;
}

void pctl_table_destroy(pctl_table *t)
{
	if (t == NULL)
		return;
	free((void *)t->cells.items);
	pctl_arena_destroy(t->arena);
	free(t);
}
