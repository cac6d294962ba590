/* Normal forms by utf8proc, and the space marks of SentencePiece. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <utf8proc.h>

#include "foundation/base/utf8.h"
#include "model/tokenizer/private.h"

int mark_spaces(const char *text, size_t n, int prefix, pctl_str_buf *out)
{
	if (prefix)
		pctl_str_add_n(out, SPACE_MARK, SPACE_MARK_N);
	for (size_t i = 0; i < n;) {
		const char *blank = memchr(text + i, ' ', n - i);
		const size_t end = blank == NULL ? n : (size_t)(blank - text);

		pctl_str_add_n(out, text + i, end - i);
		if (blank != NULL)
			pctl_str_add_n(out, SPACE_MARK, SPACE_MARK_N);
		i = end + (blank != NULL);
	}
	return !out->failed;
}

/* ---- normal forms --------------------------------------------------------------------------- */

/* Code points that are taken apart, and room for as many. */
typedef struct points {
	utf8proc_int32_t *at, *spare;
	size_t n, room;
} points;

static void points_drop(points *p)
{
	free(p->at);
	free(p->spare);
}

/* Room for one that is taken apart, and a byte behind all, which utf8proc writes. */
static int points_room(points *p)
{
	enum { MOST = 32 }; /* the longest decomposition has 18 */
	const size_t more = p->room * 2 + 64;
	utf8proc_int32_t *grown;

	if (p->n + MOST < p->room)
		return 1;
	grown = realloc(p->at, more * sizeof(*grown));
	if (grown != NULL)
		p->at = grown;
	p->room = grown == NULL ? p->room : more;
	return grown != NULL;
}

static uint32_t class_of(utf8proc_int32_t c)
{
	return (uint32_t)utf8proc_get_property(c)->combining_class;
}

/* Marks of one run by their classes, those of one class as they came. utf8proc exchanges neighbours until all is in order, which
 * costs the square of the run: whoever sends a megabyte of marks would hold up all others for minutes. */
static void order(utf8proc_int32_t *run, size_t n, utf8proc_int32_t *spare)
{
	size_t first[257] = {0};

	for (size_t i = 0; i < n; i++)
		first[class_of(run[i]) + 1]++;
	for (size_t i = 1; i < 257; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < n; i++)
		spare[first[class_of(run[i])]++] = run[i];
	memcpy(run, spare, n * sizeof(*run));
}

static int order_all(points *p)
{
	size_t begun = 0;

	p->spare = malloc((p->n + 1) * sizeof(*p->spare));
	for (size_t i = 0; p->spare != NULL && i <= p->n; i++) {
		if (i < p->n && class_of(p->at[i]) != 0)
			continue;
		if (i > begun + 1)
			order(p->at + begun, i - begun, p->spare);
		begun = i + 1;
	}
	return p->spare != NULL;
}

/* One run of UTF-8 in a normal form. 0: no memory. */
static int form(normal_kind kind, const char *text, size_t n, pctl_str_buf *out)
{
	const utf8proc_option_t options =
		UTF8PROC_STABLE | UTF8PROC_COMPOSE |
		(kind == NORMAL_NFKC ? UTF8PROC_COMPAT : (utf8proc_option_t)0);
	utf8proc_ssize_t n_made = -1;
	points p = {.n = 0};
	int good = points_room(&p);

	for (size_t i = 0, step; i < n && good; i += step) {
		uint32_t code;

		step = pctl_utf8_decode(text + i, n - i, &code);
		p.n += (size_t)utf8proc_decompose_char((utf8proc_int32_t)code, p.at + p.n,
						       (utf8proc_ssize_t)(p.room - p.n), options,
						       NULL);
		good = points_room(&p);
	}
	if (good && order_all(&p))
		n_made = utf8proc_reencode(p.at, (utf8proc_ssize_t)p.n, options);
	if (n_made >= 0)
		pctl_str_add_n(out, (const char *)p.at, (size_t)n_made);
	points_drop(&p);
	return n_made >= 0 && !out->failed;
}

static int add_lower(const char *text, size_t n, pctl_str_buf *out)
{
	utf8proc_uint8_t bytes[4];
	uint32_t code;

	for (size_t i = 0, step; i < n; i += step) {
		step = pctl_utf8_decode(text + i, n - i, &code);
		/* The one lower case of two characters that stands without a context (SpecialCasing.txt). */
		if (code == 0x130)
			pctl_str_add(out, "i\xcc\x87");
		else
			pctl_str_add_n(out, (const char *)bytes,
				       (size_t)utf8proc_encode_char(
					       utf8proc_tolower((utf8proc_int32_t)code), bytes));
	}
	return !out->failed;
}

/* ASCII is in every normal form. */
static int is_ascii(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((uint8_t)text[i] >= 0x80)
			return 0;
	return 1;
}

static int step(normal_kind kind, const char *text, size_t n, pctl_str_buf *out)
{
	if (kind == NORMAL_PREPEND) {
		if (n != 0)
			pctl_str_add_n(out, SPACE_MARK, SPACE_MARK_N);
		pctl_str_add_n(out, text, n);
		return !out->failed;
	}
	if (kind == NORMAL_SPACES)
		return mark_spaces(text, n, 0, out);
	for (size_t i = 0; i < n;) {
		const size_t run = pctl_utf8_bad(text + i, n - i, 0);

		if (run != 0 && !(kind == NORMAL_LOWERCASE ? add_lower(text + i, run, out)
							   : form(kind, text + i, run, out)))
			return 0;
		i += run;
		for (; i < n && pctl_utf8_decode(text + i, n - i, NULL) == 0; i++)
			pctl_str_add_n(out, text + i, 1);
	}
	return !out->failed;
}

pctl_status normalise(const pctl_tokenizer *t, const char *text, size_t n, const pctl_call *call,
		      pctl_str_buf *out, int *changed)
{
	pctl_str_buf now = PCTL_STR_BUF_INIT;

	*changed = 0;
	for (uint32_t i = 0; i < t->n_normals; i++) {
		const normal_kind kind = t->normals[i];
		pctl_str_buf next = PCTL_STR_BUF_INIT;

		if ((kind == NORMAL_NFC || kind == NORMAL_NFKC) &&
		    is_ascii(*changed ? now.data : text, *changed ? now.n : n))
			continue;
		pctl_str_add(&next, "");
		if (!step(kind, *changed ? now.data : text, *changed ? now.n : n, &next)) {
			pctl_str_drop(&next);
			pctl_str_drop(&now);
			return pctl_no_memory(call, "a normalised text");
		}
		pctl_str_drop(&now);
		now = next;
		*changed = 1;
	}
	*out = now;
	return PCTL_OK;
}

void pctl_tokenizer_unicode(char *classes, char *forms, size_t n)
{
	char of_pcre2[64] = "";

	pcre2_config(PCRE2_CONFIG_UNICODE_VERSION, of_pcre2);
	snprintf(classes, n, "%s", of_pcre2);
	snprintf(forms, n, "%s", utf8proc_unicode_version());
}
