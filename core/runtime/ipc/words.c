/* Making a plugin's text presentable; see words.h. */
#include "runtime/ipc/words.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "foundation/base/utf8.h"

#define NOTES_MAX 8u

int pctl_words_valid(const char *field, size_t size)
{
	const char *end = memchr(field, '\0', size);

	return end != NULL && field + pctl_utf8_bad(field, (size_t)(end - field), 0) == end;
}

/* Would it leave its line, its place on it, or be unseen. */
static int is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0xfeff ||
	       (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x2069);
}

void pctl_words_clean(const char *text, char *out, size_t size)
{
	const char *p = text;
	size_t at = 0;

	while (*p != 0) {
		uint32_t c = 0;
		const size_t n = pctl_utf8_decode(p, 4, &c);
		char one[16];

		if (n == 0)
			snprintf(one, sizeof(one), "\xef\xbf\xbd");
		else if (is_control(c))
			snprintf(one, sizeof(one), c < 0x100 ? "\\x%02x" : "\\u{%x}", (unsigned)c);
		else
			snprintf(one, sizeof(one), "%.*s", (int)n, p);
		if (at + strlen(one) + sizeof("...") > size) {
			memcpy(out + at, "...", sizeof("..."));
			return;
		}
		memcpy(out + at, one, strlen(one));
		at += strlen(one);
		p += n == 0 ? 1 : n;
	}
	out[at] = '\0';
}

/* 1: nobody can see anything of it. */
static int is_blank(const char *text)
{
	uint32_t c = ' ';

	for (size_t n; text != NULL && *text != 0 && (c == ' ' || is_control(c)); text += n) {
		n = pctl_utf8_decode(text, 4, &c);
		if (n == 0)
			return 0;
	}
	return c == ' ' || is_control(c);
}

/* NULL stays NULL. */
static const char *cleaned(const char *text, char *out)
{
	if (text == NULL)
		return NULL;
	pctl_words_clean(text, out, PCTL_WORDS_BYTES);
	return out;
}

void pctl_words_emit(const char *id, const pctl_diag *d, const pctl_call *call)
{
	char subject[PCTL_WORDS_BYTES], message[PCTL_WORDS_BYTES], hint[PCTL_WORDS_BYTES];
	char texts[NOTES_MAX][PCTL_WORDS_BYTES], files[NOTES_MAX + 1][PCTL_WORDS_BYTES];
	pctl_note notes[NOTES_MAX];
	pctl_diag said = {.head = PCTL_HEAD(pctl_diag), .plugin = id};

	if (is_blank(d->message))
		return;
	said.code = pctl_code_slug(d->code) == NULL ? PC3119_WORKER_CODE : d->code;
	said.severity = d->severity > PCTL_SEVERITY_ERROR ? PCTL_SEVERITY_ERROR : d->severity;
	said.subject = cleaned(d->subject, subject);
	said.message = cleaned(d->message, message);
	said.hint = cleaned(d->hint, hint);
	said.n_notes = d->notes == NULL ? 0 : d->n_notes < NOTES_MAX ? d->n_notes : NOTES_MAX;
	said.pos = d->pos;
	said.pos.file = cleaned(d->pos.file, files[NOTES_MAX]);
	for (uint32_t i = 0; i < said.n_notes; i++) {
		notes[i].pos = d->notes[i].pos;
		notes[i].pos.file = cleaned(d->notes[i].pos.file, files[i]);
		notes[i].message = d->notes[i].message == NULL ? "" : d->notes[i].message;
		notes[i].message = cleaned(notes[i].message, texts[i]);
	}
	said.notes = said.n_notes == 0 ? NULL : notes;
	(void)pctl_emit(call, &said);
}
