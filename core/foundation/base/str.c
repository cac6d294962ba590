/* Strings under construction, and the nearest name for suggestions. */
#include "foundation/base/str.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/bytes.h"
#include "foundation/base/num.h"

static int make_room(pctl_str_buf *s, size_t n)
{
	size_t want = s->cap == 0 ? 64 : s->cap;
	char *grown;

	if (s->failed)
		return 0;
	if (s->cap - s->n > n)
		return 1;
	while (want - s->n <= n) {
		if (want > SIZE_MAX / 2) {
			s->failed = 1;
			return 0;
		}
		want *= 2;
	}
	grown = realloc(s->data, want);
	if (grown == NULL) {
		s->failed = 1;
		return 0;
	}
	s->data = grown;
	s->cap = want;
	return 1;
}

void pctl_str_add_n(pctl_str_buf *s, const char *text, size_t n)
{
	if (!make_room(s, n))
		return;
	if (n != 0)
		memcpy(s->data + s->n, text, n);
	s->n += n;
	s->data[s->n] = '\0';
}

void pctl_str_add_be(pctl_str_buf *s, uint64_t v, uint32_t n)
{
	char bytes[8];

	pctl_be_put(bytes, v, n);
	pctl_str_add_n(s, bytes, n);
}

void pctl_str_add(pctl_str_buf *s, const char *text)
{
	pctl_str_add_n(s, text, strlen(text));
}

void pctl_str_addf(pctl_str_buf *s, const char *fmt, ...)
{
	va_list args, again;
	size_t had;
	int n;

	va_start(args, fmt);
	va_copy(again, args);
	/* Into what room there is; only what does not fit is written again. */
	had = make_room(s, 0) ? s->cap - s->n : 0;
	n = pctl_num_vprint(had ? s->data + s->n : NULL, had, fmt, args);
	if (n < 0)
		s->failed = 1;
	else if (had > (size_t)n)
		s->n += (size_t)n;
	else if (make_room(s, (size_t)n)) {
		pctl_num_vprint(s->data + s->n, (size_t)n + 1, fmt, again);
		s->n += (size_t)n;
	}
	if (s->data != NULL && s->n < s->cap)
		s->data[s->n] = '\0'; /* also behind what did not fit */
	va_end(again);
	va_end(args);
}

char *pctl_str_finish(pctl_str_buf *s)
{
	char *out;

	pctl_str_add_n(s, "", 0);
	if (s->failed) {
		pctl_str_drop(s);
		return NULL;
	}
	out = s->data;
	*s = (pctl_str_buf)PCTL_STR_BUF_INIT;
	return out;
}

void pctl_str_drop(pctl_str_buf *s)
{
	free(s->data);
	*s = (pctl_str_buf)PCTL_STR_BUF_INIT;
}

#define LONGEST_NAME 63u

static uint32_t edit_distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	uint32_t row[LONGEST_NAME + 1];

	if (na > LONGEST_NAME || nb > LONGEST_NAME)
		return UINT32_MAX;
	for (uint32_t j = 0; j <= nb; j++)
		row[j] = j;
	for (uint32_t i = 1; i <= na; i++) {
		uint32_t diagonal = row[0];

		row[0] = i;
		for (uint32_t j = 1; j <= nb; j++) {
			uint32_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[nb];
}

/* "--log" of "--log-file": a name, or NULL, that a dash and more stand behind in `word`; the longest. */
static const char *goes_on_from(const char *word, const char *const *names, uint32_t n)
{
	const char *found = NULL;
	size_t longest = 0;

	for (uint32_t i = 0; i < n; i++) {
		const size_t length = strlen(names[i]);

		if (length > longest && strncmp(word, names[i], length) == 0 &&
		    word[length] == '-') {
			found = names[i];
			longest = length;
		}
	}
	return found;
}

const char *pctl_str_nearest(const char *word, const char *const *names, uint32_t n)
{
	const char *nearest = NULL, *stem = goes_on_from(word, names, n);
	/* The dashes of options are no letters in common. */
	uint32_t best = (uint32_t)strlen(word + strspn(word, "-")) / 3 + 2;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t d = edit_distance(word, names[i]);

		if (d < best) {
			best = d;
			nearest = names[i];
		}
	}
	/* A slip of the finger is nearer still. */
	return stem != NULL && (nearest == NULL || best > 2) ? stem : nearest;
}
