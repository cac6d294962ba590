/* Values out of their texts, each of its kind and within its bounds. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "foundation/base/hex.h"
#include "foundation/base/num.h"
#include "foundation/record/record_private.h"

void *pctl_record_room(pctl_record_reader *r, size_t n, size_t size)
{
	void *out = r->status != PCTL_OK ? NULL : pctl_arena_array(r->arena, n + 1, size);

	if (out == NULL && r->status == PCTL_OK)
		r->status = pctl_no_memory(r->call, "a record");
	return out;
}

static int take_text(pctl_record_reader *r, const char *text, size_t n, const char **out)
{
	char *copy = pctl_record_room(r, n, 1);

	if (copy != NULL)
		memcpy(copy, text, n);
	*out = copy == NULL ? "" : copy;
	return 1;
}

static int take_number(const pctl_record_field *f, const char *text, size_t n, void *out,
		       char *what)
{
	const uint64_t most = f->bound != 0		   ? f->bound
			      : f->kind == PCTL_RECORD_U32 ? UINT32_MAX
							   : UINT64_MAX;
	uint64_t value = 0;

	snprintf(what, PCTL_RECORD_WHAT, "a number from %" PRIu64 " to %" PRIu64, f->least, most);
	if (!pctl_num_parse_u64(text, n, &value) || value < f->least || value > most)
		return 0;
	if (f->kind == PCTL_RECORD_U32)
		*(uint32_t *)out = (uint32_t)value;
	else
		*(uint64_t *)out = value;
	return 1;
}

static int take_chars(const pctl_record_field *f, const char *text, size_t n, char *out, char *what)
{
	snprintf(what, PCTL_RECORD_WHAT, "a text of at %s %" PRIu64 " bytes",
		 n < f->least ? "least" : "most", n < f->least ? f->least : f->bound - 1);
	if (n < f->least || (n >= f->bound && (f->flags & PCTL_RECORD_CUT) == 0))
		return 0;
	snprintf(out, (size_t)f->bound, "%.*s", n < f->bound ? (int)n : (int)f->bound, text);
	return 1;
}

static int take_hex(const pctl_record_field *f, const char *text, size_t n, void *out, char *what)
{
	snprintf(what, PCTL_RECORD_WHAT, "%" PRIu64 " lower-case hex digits", 2 * f->bound);
	return n == 2 * f->bound && pctl_hex_parse(text, (size_t)f->bound, out);
}

static int take_bytes(pctl_record_reader *r, const pctl_record_field *f, const char *text, size_t n,
		      char *record, char *what)
{
	uint8_t *bytes;

	snprintf(what, PCTL_RECORD_WHAT, "2 to %" PRIu64 " lower-case hex digits, two a byte",
		 2 * f->bound);
	if (n == 0 || n % 2 != 0 || n / 2 > f->bound)
		return 0;
	bytes = pctl_record_room(r, n / 2, 1);
	*(uint8_t **)(void *)(record + f->at) = bytes;
	*(uint32_t *)(void *)(record + f->n_at) = (uint32_t)(n / 2);
	return bytes == NULL || pctl_hex_parse(text, n / 2, bytes);
}

static int take_coded(const pctl_record_field *f, const char *text, size_t n, void *out, char *what)
{
	char copy[PCTL_RECORD_CODED_MAX];

	snprintf(what, PCTL_RECORD_WHAT, "%s", f->coding->what);
	if (n >= sizeof(copy))
		return 0;
	memcpy(copy, text, n);
	copy[n] = '\0';
	return f->coding->parse(copy, out);
}

void pctl_record_words(const pctl_record_field *f, char what[PCTL_RECORD_WHAT])
{
	const char *last = "";
	size_t n = 0;

	what[0] = '\0';
	for (uint32_t i = 0; i < f->bound; i++)
		last = f->words[i] == NULL ? last : f->words[i];
	for (uint32_t i = 0; i < f->bound && n < PCTL_RECORD_WHAT; i++)
		if (f->words[i] != NULL)
			n += (size_t)snprintf(what + n, PCTL_RECORD_WHAT - n, "%s\"%s\"",
					      n == 0		    ? ""
					      : f->words[i] == last ? " or "
								    : ", ",
					      f->words[i]);
}

static int take_word(const pctl_record_field *f, const char *text, size_t n, uint32_t *out,
		     char *what)
{
	pctl_record_words(f, what);
	for (*out = 0; *out < f->bound; ++*out)
		if (f->words[*out] != NULL && strlen(f->words[*out]) == n &&
		    memcmp(text, f->words[*out], n) == 0)
			return 1;
	return 0;
}

int pctl_record_take(pctl_record_reader *r, const pctl_record_field *f, const char *text, size_t n,
		     char *record, char what[PCTL_RECORD_WHAT])
{
	void *at = record + f->at;

	switch (f->kind) {
	case PCTL_RECORD_TEXT:
		return take_text(r, text, n, at);
	case PCTL_RECORD_CHARS:
		return take_chars(f, text, n, at, what);
	case PCTL_RECORD_U32:
	case PCTL_RECORD_U64:
		return take_number(f, text, n, at, what);
	case PCTL_RECORD_HEX:
		return take_hex(f, text, n, at, what);
	case PCTL_RECORD_BYTES:
		return take_bytes(r, f, text, n, record, what);
	case PCTL_RECORD_WORD:
		return take_word(f, text, n, at, what);
	case PCTL_RECORD_CODED:
		return take_coded(f, text, n, at, what);
	default:
		snprintf(what, PCTL_RECORD_WHAT, "%s", f->constant);
		return n == strlen(f->constant) && memcmp(text, f->constant, n) == 0;
	}
}
