/* A recogniser of JSON; see json_read.h. It makes nothing of what it reads. */
#include "foundation/base/json_read.h"

#include <stdint.h>
#include <string.h>

#include "foundation/base/hex.h"
#include "foundation/base/utf8.h"

static const char no_json[] = "this is no JSON";

typedef struct reader {
	const char *text;
	size_t n, at;
	const char *why; /* NULL: all is well so far */
} reader;

static int fail(reader *r, const char *why)
{
	if (r->why == NULL)
		r->why = why;
	return 0;
}

/* The next byte, 0 at the end: no text here has a zero. */
static char peek(const reader *r)
{
	return r->at < r->n ? r->text[r->at] : '\0';
}

static void blanks(reader *r)
{
	while (r->at < r->n && strchr(" \t\r\n", r->text[r->at]) != NULL)
		r->at++;
}

/* ---- strings ---- */

/* The number of \uABCD at r->at, UINT32_MAX where there is none. */
static uint32_t unit_at(const reader *r, size_t at)
{
	uint32_t unit = 0;

	if (r->n - at < 6 || r->text[at] != '\\' || r->text[at + 1] != 'u')
		return UINT32_MAX;
	for (size_t i = at + 2; i < at + 6; i++) {
		const int digit = pctl_hex_digit(r->text[i]);

		if (digit < 0 || digit > 15)
			return UINT32_MAX;
		unit = unit << 4 | (uint32_t)digit;
	}
	return unit;
}

static int escape(reader *r)
{
	uint32_t unit, other;

	if (r->n - r->at > 1 && r->text[r->at + 1] != 'u') {
		if (strchr("\"\\/bfnrt", r->text[r->at + 1]) == NULL)
			return fail(r, no_json);
		r->at += 2;
		return 1;
	}
	unit = unit_at(r, r->at);
	if (unit == UINT32_MAX)
		return fail(r, no_json);
	if (unit == 0)
		return fail(r, "a string holds U+0000");
	if (unit >= 0xd800 && unit <= 0xdfff) {
		other = unit <= 0xdbff ? unit_at(r, r->at + 6) : UINT32_MAX;
		if (other < 0xdc00 || other > 0xdfff)
			return fail(r, "a string holds half a pair of surrogates");
		r->at += 6;
	}
	r->at += 6;
	return 1;
}

/* From the quotation mark on. */
static int string(reader *r)
{
	for (r->at++; peek(r) != '"';) {
		if ((unsigned char)peek(r) < 0x20) /* the end, too */
			return fail(r, no_json);
		if (peek(r) != '\\')
			r->at++;
		else if (!escape(r))
			return 0;
	}
	r->at++;
	return 1;
}

/* ---- numbers and words ---- */

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int digits(reader *r)
{
	if (!is_digit(peek(r)))
		return fail(r, no_json);
	while (is_digit(peek(r)))
		r->at++;
	return 1;
}

static int number(reader *r)
{
	r->at += peek(r) == '-';
	if (peek(r) == '0')
		r->at++;
	else if (!digits(r))
		return 0;
	if (peek(r) == '.') {
		r->at++;
		if (!digits(r))
			return 0;
	}
	if (peek(r) == 'e' || peek(r) == 'E') {
		r->at++;
		r->at += peek(r) == '-' || peek(r) == '+';
		return digits(r);
	}
	return 1;
}

static int scalar(reader *r)
{
	static const char *const words[] = {"true", "false", "null"};

	if (peek(r) == '"')
		return string(r);
	if (peek(r) == '-' || is_digit(peek(r)))
		return number(r);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const size_t n = strlen(words[i]);

		if (r->n - r->at >= n && memcmp(r->text + r->at, words[i], n) == 0) {
			r->at += n;
			return 1;
		}
	}
	return fail(r, no_json);
}

/* ---- the whole ---- */

static int name(reader *r)
{
	if (peek(r) != '"' || !string(r))
		return fail(r, no_json);
	blanks(r);
	if (peek(r) != ':')
		return fail(r, no_json);
	r->at++;
	blanks(r);
	return 1;
}

/* Values until one has ended that is in nothing. closers: what ends each of those that are open. */
static int document(reader *r)
{
	char closers[PCTL_JSON_DEPTH_MAX];
	uint32_t depth = 0;
	int is_value = 1; /* one is to come, else a comma or an end */

	for (;;) {
		blanks(r);
		if (is_value && (peek(r) == '{' || peek(r) == '[')) {
			if (depth == PCTL_JSON_DEPTH_MAX)
				return fail(r, "it is nested too deeply");
			closers[depth++] = peek(r) == '{' ? '}' : ']';
			r->at++;
			blanks(r);
			is_value = peek(r) != closers[depth - 1];
		} else if (is_value) {
			if (!scalar(r))
				return 0;
			is_value = 0;
			continue;
		} else if (depth == 0) {
			return r->at == r->n || fail(r, "something stands behind it");
		} else if (peek(r) == closers[depth - 1]) {
			r->at++;
			depth--;
			continue;
		} else if (peek(r) == ',') {
			r->at++;
			blanks(r);
			is_value = 1;
		} else {
			return fail(r, no_json);
		}
		if (is_value && closers[depth - 1] == '}' && !name(r))
			return 0;
	}
}

int pctl_json_good(const char *text, size_t n, size_t *at, const char **why)
{
	reader r = {.text = text, .n = n};

	r.at = pctl_utf8_bad(text, n, PCTL_UTF8_NO_NUL);
	if (r.at != n) {
		(void)fail(&r, "this is no UTF-8, or zero");
	} else {
		r.at = 0;
		(void)document(&r);
	}
	*at = r.at;
	*why = r.why;
	return r.why == NULL;
}
