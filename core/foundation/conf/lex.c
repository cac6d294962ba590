/* Bytes to tokens: the patterns of libconfig's own lexer, and the literals it would damage. It does
 * not know in what order tokens may come. */
#include "foundation/conf/scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "foundation/base/num.h"

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static int is_name_start(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '*';
}

static int is_name(char c)
{
	return is_name_start(c) || is_digit(c) || c == '-' || c == '_';
}

static size_t digits(const char *t, size_t i, size_t n)
{
	while (i < n && is_digit(t[i]))
		i++;
	return i;
}

/* End of an exponent that starts at i, or i when there is none. */
static size_t exponent(const char *t, size_t i, size_t n)
{
	size_t k = i + 1;

	if (i >= n || (t[i] != 'e' && t[i] != 'E'))
		return i;
	if (k < n && (t[k] == '+' || t[k] == '-'))
		k++;
	return k < n && is_digit(t[k]) ? digits(t, k, n) : i;
}

/* Length of the number at t, 0 when there is none; *kind says which. */
static size_t number_length(const char *t, size_t n, uint32_t *kind)
{
	const size_t sign = n > 0 && (t[0] == '+' || t[0] == '-');
	size_t end = digits(t, sign, n), k;

	*kind = TOKEN_INT;
	if (sign == 0 && end == 1 && t[0] == '0' && n > 2 && (t[1] == 'x' || t[1] == 'X') &&
	    is_hex(t[2])) {
		end = 2;
		while (end < n && is_hex(t[end]))
			end++;
	} else {
		const int has_point = end < n && t[end] == '.';
		const size_t fraction = has_point ? digits(t, end + 1, n) : end;

		k = exponent(t, fraction, n);
		if (has_point || (end > sign && k > fraction)) {
			*kind = TOKEN_FLOAT;
			return k;
		}
		if (end == sign)
			return 0;
	}
	if (end < n && t[end] == 'L') {
		*kind = TOKEN_INT64;
		end += end + 1 < n && t[end + 1] == 'L' ? 2 : 1;
	}
	return end;
}

/* How many bytes of a literal a message shows. */
static int shown(const pctl_conf_token *t)
{
	return t->n < 40 ? (int)t->n : 40;
}

static void judge_integer(pctl_conf_scanner *s, const pctl_conf_token *t)
{
	const int negative = t->text[0] == '-';
	const uint64_t bits = t->kind == TOKEN_INT ? INT32_MAX : INT64_MAX;
	const int is_hex_literal = t->n > 2 && (t->text[1] == 'x' || t->text[1] == 'X');
	const uint64_t base = is_hex_literal ? 16 : 10;
	size_t i = is_hex_literal ? 2 : (negative || t->text[0] == '+');
	uint64_t value = 0;
	int fits = 1;

	for (; i < t->n && t->text[i] != 'L'; i++) {
		const char c = t->text[i];
		const uint64_t d =
			is_digit(c) ? (uint64_t)(c - '0') : (uint64_t)((c | 0x20) - 'a' + 10);

		fits = fits && !__builtin_mul_overflow(value, base, &value) &&
		       !__builtin_add_overflow(value, d, &value);
	}
	if (fits && value <= bits + (uint64_t)negative)
		return;
	if (t->kind == TOKEN_INT)
		pctl_conf_scan_error(
			s, PC1004_CONF_INTEGER, &t->pos, NULL,
			is_hex_literal ? "write a 64-bit quantity in quotes: \"0x...\""
				       : "write a 64-bit quantity in quotes: \"2_000_000_000\"",
			"%.*s does not fit in 32 bits (%s)", shown(t), t->text,
			is_hex_literal ? "at most 0x7fffffff" : "-2147483648 to 2147483647");
	else
		pctl_conf_scan_error(s, PC1004_CONF_INTEGER, &t->pos, NULL,
				     "write an unsigned 64-bit quantity in quotes",
				     "%.*s does not fit in 64 signed bits", shown(t), t->text);
}

static void judge_float(pctl_conf_scanner *s, const pctl_conf_token *t)
{
	int has_digit = 0, non_zero = 0;
	double value;

	for (size_t i = 0; i < t->n && t->text[i] != 'e' && t->text[i] != 'E'; i++) {
		has_digit = has_digit || is_digit(t->text[i]);
		non_zero = non_zero || (is_digit(t->text[i]) && t->text[i] != '0');
	}
	if (!has_digit) {
		pctl_conf_scan_error(s, PC1005_CONF_FLOAT, &t->pos, NULL, NULL, "%.*s has no digit",
				     shown(t), t->text);
		return;
	}
	value = pctl_num_parse_double(t->text, NULL);
	if (!isfinite(value))
		pctl_conf_scan_error(s, PC1005_CONF_FLOAT, &t->pos, NULL, NULL,
				     "%.*s is larger than any double", shown(t), t->text);
	else if (fpclassify(value) == FP_ZERO && non_zero)
		pctl_conf_scan_error(s, PC1005_CONF_FLOAT, &t->pos, NULL, NULL,
				     "%.*s is smaller than any double but not zero", shown(t),
				     t->text);
}

static void new_line(pctl_conf_frame *f)
{
	f->line++;
	f->line_start = f->at;
}

static void unterminated(pctl_conf_scanner *s, const pctl_pos *pos, const char *what)
{
	pctl_conf_scan_error(s, PC1003_CONF_UNTERMINATED, pos, NULL, NULL,
			     "this %s is never closed", what);
}

static void skip_comment(pctl_conf_scanner *s, pctl_conf_frame *f, const char *t, size_t n)
{
	const pctl_pos pos = pctl_conf_scan_pos(s, f, f->at, f->at + 2);

	f->at += 2;
	while (f->at < n) {
		const char c = t[f->at++];

		if (c == '\n')
			new_line(f);
		if (c == '*' && f->at < n && t[f->at] == '/') {
			f->at++;
			return;
		}
	}
	unterminated(s, &pos, "comment");
}

static void scan_string(pctl_conf_scanner *s, pctl_conf_frame *f, const char *t, size_t n,
			pctl_conf_token *out)
{
	const uint32_t line = f->line;

	out->kind = TOKEN_STRING;
	f->at++;
	while (f->at < n) {
		const size_t at = f->at++;

		if (t[at] == '"') {
			out->n = f->at - (size_t)(out->text - t);
			if (f->line == line)
				out->pos = pctl_conf_scan_pos(s, f, (size_t)(out->text - t), f->at);
			return;
		}
		if (t[at] == '\n') {
			new_line(f);
			continue;
		}
		if (t[at] != '\\' || f->at >= n)
			continue;
		if (n - at >= 4 && (t[at + 1] | 0x20) == 'x' && t[at + 2] == '0' &&
		    t[at + 3] == '0') {
			const pctl_pos pos = pctl_conf_scan_pos(s, f, at, at + 4);

			pctl_conf_scan_error(s, PC1002_CONF_CHARACTER, &pos, NULL, NULL,
					     "a string may not contain a NUL byte");
		}
		if (t[f->at] == '"' || t[f->at] == '\\')
			f->at++;
	}
	unterminated(s, &out->pos, "string");
}

static uint32_t punctuation(char c)
{
	switch (c) {
	case '=':
	case ':':
		return TOKEN_EQUALS;
	case ',':
		return TOKEN_COMMA;
	case ';':
		return TOKEN_SEMICOLON;
	case '{':
	case '[':
	case '(':
		return TOKEN_OPEN;
	case '}':
	case ']':
	case ')':
		return TOKEN_CLOSE;
	default:
		return TOKEN_GARBAGE;
	}
}

/* Move past blanks, comments and includes. 1 when a token begins at the innermost file's place. */
static int skip_blank(pctl_conf_scanner *s)
{
	while (s->n_frames > 0) {
		pctl_conf_frame *f = pctl_conf_scan_top(s);
		const pctl_conf_source *src = &s->sources->items[f->source];
		const char *t = src->text;

		if (f->at >= src->n) {
			pctl_conf_scan_pop(s);
		} else if (t[f->at] == '\n') {
			f->at++;
			new_line(f);
		} else if (strchr(" \t\r\f", t[f->at]) != NULL) {
			f->at += 1; /* a NUL lands here too and was reported */
		} else if (t[f->at] == '#' || (t[f->at] == '/' && t[f->at + 1] == '/')) {
			while (f->at < src->n && t[f->at] != '\n')
				f->at++;
		} else if (t[f->at] == '/' && t[f->at + 1] == '*') {
			skip_comment(s, f, t, src->n);
		} else if (t[f->at] != '@' || !pctl_conf_scan_include(s)) {
			return 1;
		}
	}
	return 0;
}

static uint32_t word_kind(const char *t, size_t n)
{
	return (n == 4 && strncasecmp(t, "true", 4) == 0) ||
			       (n == 5 && strncasecmp(t, "false", 5) == 0)
		       ? TOKEN_BOOL
		       : TOKEN_NAME;
}

void pctl_conf_scan_next(pctl_conf_scanner *s, pctl_conf_token *out)
{
	pctl_conf_frame *f;
	const pctl_conf_source *src;
	const char *t;
	size_t n;

	if (!skip_blank(s)) {
		*out = (pctl_conf_token){.kind = TOKEN_END, .pos = s->end};
		return;
	}
	f = pctl_conf_scan_top(s);
	src = &s->sources->items[f->source];
	t = src->text + f->at;
	n = src->n - f->at;
	*out = (pctl_conf_token){.text = t, .n = 1};
	out->pos = pctl_conf_scan_pos(s, f, f->at, f->at + 1);
	if (*t == '"') {
		scan_string(s, f, src->text, src->n, out);
		return;
	}
	if (is_name_start(*t)) {
		while (out->n < n && is_name(t[out->n]))
			out->n++;
		out->kind = word_kind(t, out->n);
	} else {
		out->n = number_length(t, n, &out->kind);
		if (out->n == 0) {
			out->n = 1;
			out->kind = punctuation(*t);
		}
	}
	out->pos = pctl_conf_scan_pos(s, f, f->at, f->at + out->n);
	f->at += out->n;
	if (out->kind == TOKEN_INT || out->kind == TOKEN_INT64)
		judge_integer(s, out);
	else if (out->kind == TOKEN_FLOAT)
		judge_float(s, out);
}
