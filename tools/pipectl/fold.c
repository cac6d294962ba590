/* Folding at the width of the terminal. */
#include "fold.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "foundation/base/num.h"

#define LEAST_COLUMNS 20u
#define MOST_COLUMNS 10000u
#define LEAST_ROOM 24u /* of the right side of a pair; with less it goes below */

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

static size_t text_width(const char *text)
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
	size_t columns = pctl_columns(), used = text_width(left);

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
