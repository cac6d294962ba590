/* Folding at the width of the terminal. */
#include "fold.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "foundation/base/num.h"
#include "foundation/base/utf8.h"

#define LEAST_COLUMNS 20u
#define MOST_COLUMNS 10000u
#define LEAST_ROOM 24u /* of the right side of a pair; with less it goes below */

uint32_t pctl_columns_of(int fd)
{
	const char *text = getenv("COLUMNS");
	struct winsize size;
	uint64_t n = 0;

	if (text == NULL || !pctl_num_parse_u64(text, strlen(text), &n)) {
		if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
			return 0;
		n = size.ws_col;
	}
	return n == 0		   ? 0
	       : n < LEAST_COLUMNS ? LEAST_COLUMNS
	       : n > MOST_COLUMNS  ? MOST_COLUMNS
				   : (uint32_t)n;
}

uint32_t pctl_columns(void)
{
	return pctl_columns_of(STDOUT_FILENO);
}

/* ---- how wide text is --------------------------------------------------------------------- */

/* Columns of the code point at text[0..n) and its bytes; what is no UTF-8 is a byte of one column. */
static size_t take(const char *text, size_t n, size_t *bytes)
{
	uint32_t point;
	int width;

	*bytes = pctl_utf8_decode(text, n, &point);
	if (*bytes == 0) {
		*bytes = 1;
		return 1;
	}
	width = point < 0x80 ? 1 : wcwidth((wchar_t)point);
	return width < 0 ? 1 : (size_t)width;
}

/* The widths of Unicode whatever the locale of the process is; it is set back. */
static locale_t enter(void)
{
	static locale_t utf8;

	if (utf8 == (locale_t)0)
		utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	return utf8 == (locale_t)0 ? (locale_t)0 : uselocale(utf8);
}

static size_t width_of(const char *text, size_t n)
{
	const locale_t before = enter();
	size_t width = 0, bytes;

	for (size_t i = 0; i < n; i += bytes)
		width += take(text + i, n - i, &bytes);
	uselocale(before);
	return width;
}

size_t pctl_text_columns(const char *text)
{
	return width_of(text, strlen(text));
}

void pctl_text_cut(char *text, size_t columns)
{
	const char *more = columns > 6 ? "..." : "";
	const size_t n = strlen(text), room = columns - strlen(more);
	size_t at = 0, width = 0;
	locale_t before;

	if (pctl_text_columns(text) <= columns)
		return;
	before = enter();
	while (at < n) {
		size_t bytes, one = take(text + at, n - at, &bytes);

		if (width + one > room)
			break;
		width += one;
		at += bytes;
	}
	uselocale(before);
	memmove(text + at, more, at + strlen(more) <= n ? strlen(more) + 1 : 0);
	text[at + strlen(more) <= n ? at + strlen(more) : at] = '\0';
}

void pctl_text_plain(char *text)
{
	size_t n = strlen(text), at;

	while ((at = pctl_utf8_bad(text, n, PCTL_UTF8_PLAIN)) < n)
		text[at] = '?';
}

/* ---- folding ------------------------------------------------------------------------------ */

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

void pctl_print_lines(FILE *to, const char *text)
{
	while (*text != '\0') {
		const size_t n = strcspn(text, "\n");
		char *line = strndup(text, n);

		if (line == NULL)
			fwrite(text, 1, n + (text[n] == '\n'), to);
		else
			pctl_print_folded(to, 0, strspn(line, " ") + 4, line);
		free(line);
		text += n + (text[n] == '\n');
	}
}

void pctl_print_pair(FILE *to, const char *left, size_t width, const char *right)
{
	size_t columns = pctl_columns(), used = pctl_text_columns(left);

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
