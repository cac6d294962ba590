/* Implementation of form.h. */
#include "evidence/receipt/form.h"

#include <string.h>

#include "evidence/receipt/receipt.h"
#include "foundation/base/hex.h"

static const char seal_start[] = "signature : { key = \"";

/* ---- writing ------------------------------------------------------------------------------ */

void pctl_form_lines(pctl_str_buf *s, const char *key, const char *const *lines, uint32_t n)
{
	pctl_str_addf(s, "%s : (", key);
	for (uint32_t i = 0; i < n; i++) {
		pctl_str_add(s, i == 0 ? "\n  " : ",\n  ");
		pctl_record_quote(&pctl_receipt_type, lines[i], s);
	}
	pctl_str_add(s, " );\n");
}

/* ---- reading ------------------------------------------------------------------------------ */

size_t pctl_form_head(const char *text, size_t n)
{
	const size_t n_start = sizeof(seal_start) - 1;

	for (size_t at = 0; at < n;) {
		const char *end = memchr(text + at, '\n', n - at);
		const size_t next = end == NULL ? n : (size_t)(end - text) + 1;

		if (next - at > n_start && memcmp(text + at, seal_start, n_start) == 0)
			return end == NULL ? 0 : next;
		at = next;
	}
	return 0;
}

/* Moves *at past `word`; 0 when something else stands there. */
static int take(const char **at, const char *end, const char *word)
{
	const size_t n = strlen(word);

	if ((size_t)(end - *at) < n || memcmp(*at, word, n) != 0)
		return 0;
	*at += n;
	return 1;
}

static const char *take_quoted(const char **at, const char *end, pctl_arena *arena)
{
	const char *from = *at, *stop = from + 1;
	char *out, *to;

	if (from == end || *from != '"')
		return NULL;
	while (stop < end && *stop != '"' && *stop != '\n')
		stop += *stop == '\\' && end - stop > 1 ? 2 : 1;
	if (stop >= end || *stop != '"')
		return NULL;
	out = to = pctl_arena_alloc(arena, (size_t)(stop - from) + 1);
	for (from++; out != NULL && from < stop; from++, to++) {
		if (*from == '\\' && from[1] == 'x') {
			if (stop - from < 4 || !pctl_hex_parse(from + 2, 1, to) || *to == '\0')
				return NULL;
			from += 3;
			continue;
		}
		if (*from == '\\')
			from++;
		if (*from == '\0')
			return NULL;
		*to = *from;
	}
	*at = stop + 1;
	return out;
}

int pctl_form_lines_read(const char *text, size_t n, const char *key, pctl_arena *arena,
			 const char *const **out, uint32_t *n_out)
{
	const char *at = text, *end = text + n, **lines;
	size_t most = 1;
	uint32_t k = 0;

	*out = NULL;
	*n_out = 0;
	for (size_t i = 0; i < n; i++)
		most += text[i] == '\n';
	if (most > UINT32_MAX)
		return 0;
	lines = pctl_arena_array(arena, most, sizeof(*lines));
	if (lines == NULL || !take(&at, end, key) || !take(&at, end, " : ("))
		return 0;
	while (!take(&at, end, " );\n")) {
		if (!take(&at, end, k == 0 ? "\n  " : ",\n  ") || k == most)
			return 0;
		lines[k] = take_quoted(&at, end, arena);
		if (lines[k++] == NULL)
			return 0;
	}
	*out = lines;
	*n_out = k;
	return at == end;
}
