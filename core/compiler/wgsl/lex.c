/* From bytes to tokens: names, numbers, punctuation, comments, template brackets. Checks the
 * encoding. Does not judge numbers (that needs their type) and keeps going after every error. */
#include <string.h>

#include "compiler/wgsl/compile.h"

#include "foundation/base/utf8.h"

enum { CLASS_NAME_START = 1, CLASS_NAME = 2, CLASS_DIGIT = 4, CLASS_HEX = 8, CLASS_BLANK = 16 };

/* A '<' that may open a template list; see "template list discovery" in WGSL's grammar. */
struct candidate {
	uint32_t token;
	uint32_t depth;
};

struct lexer {
	struct wgsl *c;
	struct source *src;
	const char *text;
	uint32_t n, at;
	uint32_t depth;
	struct candidate *pending;
	uint32_t n_pending, cap_pending;
	uint32_t n_lines, cap_lines;
	struct comment **comments_end;
};

static uint32_t class_of(unsigned char ch)
{
	if ((ch >= 'a' && ch <= 'f') || (ch >= 'A' && ch <= 'F'))
		return CLASS_NAME_START | CLASS_NAME | CLASS_HEX;
	if ((ch >= 'g' && ch <= 'z') || (ch >= 'G' && ch <= 'Z') || ch == '_')
		return CLASS_NAME_START | CLASS_NAME;
	if (ch >= '0' && ch <= '9')
		return CLASS_NAME | CLASS_DIGIT | CLASS_HEX;
	if (ch == ' ' || (ch >= '\t' && ch <= '\r'))
		return CLASS_BLANK;
	return 0;
}

static void add_line(struct lexer *l, uint32_t start)
{
	l->src->lines = pctl_wgsl_grow(l->c, l->src->lines, l->n_lines, &l->cap_lines,
				       sizeof(*l->src->lines));
	l->src->lines[l->n_lines++] = start;
	l->src->n_lines = l->n_lines;
}

/* The code point at `at` and its length; length 0 for bytes that are not UTF-8. */
static uint32_t decode(const struct lexer *l, uint32_t at, uint32_t *length)
{
	uint32_t c = 0;

	*length = (uint32_t)pctl_utf8_decode(l->text + at, l->n - at, &c);
	return c;
}

static int is_blank_code_point(uint32_t cp)
{
	return cp == 0x85 || cp == 0x200e || cp == 0x200f || cp == 0x2028 || cp == 0x2029;
}

static int ends_line(uint32_t cp)
{
	return (cp >= 0x0a && cp <= 0x0d) || cp == 0x85 || cp == 0x2028 || cp == 0x2029;
}

static void push(struct lexer *l, uint32_t kind, uint32_t start, uint32_t sym)
{
	struct source *src = l->src;
	struct token *t;

	src->tokens = pctl_wgsl_grow(l->c, src->tokens, src->n_tokens, &src->cap_tokens,
				     sizeof(*src->tokens));
	t = &src->tokens[src->n_tokens++];
	t->pos = src->base + start;
	t->len = l->at - start;
	t->kind = kind;
	t->sym = sym;
}

/* A run of bytes that are not UTF-8 is one error. */
static void bad_bytes(struct lexer *l)
{
	uint32_t start = l->at, length;

	do {
		l->at++;
		if (l->at == l->n)
			break;
		decode(l, l->at, &length);
	} while (!length);
	pctl_wgsl_error(l->c, PC2100_WGSL_ENCODING, l->src->base + start, l->src->base + l->at,
			"save the file as UTF-8", "byte 0x%02x is not UTF-8",
			(unsigned)(unsigned char)l->text[start]);
}

/* One code point of a comment or blank space: counts lines, reports what is not UTF-8. */
static uint32_t skip_one(struct lexer *l)
{
	uint32_t length, cp;

	if (l->text[l->at] == '\n') {
		l->at++;
		add_line(l, l->at);
		return '\n';
	}
	cp = decode(l, l->at, &length);
	if (!length) {
		bad_bytes(l);
		return ' ';
	}
	if (!cp)
		pctl_wgsl_error(l->c, PC2100_WGSL_ENCODING, l->src->base + l->at,
				l->src->base + l->at + 1, NULL, "a zero byte stands in the text");
	l->at += length;
	return cp;
}

static void line_comment(struct lexer *l)
{
	uint32_t start = l->at, length;

	while (l->at < l->n) {
		if ((unsigned char)l->text[l->at] < 0x80) {
			if (ends_line((unsigned char)l->text[l->at]))
				break;
		} else if (ends_line(decode(l, l->at, &length))) {
			break;
		}
		skip_one(l);
	}
	if (l->at - start >= 3 && l->text[start + 2] == '#') {
		struct comment *note = WGSL_NEW(l->c, struct comment);

		note->pos = l->src->base + start + 3;
		note->len = l->at - start - 3;
		note->at_top = l->src->n_tokens == 0;
		*l->comments_end = note;
		l->comments_end = &note->next;
	}
}

static void block_comment(struct lexer *l)
{
	uint32_t start = l->at, level = 1;

	l->at += 2;
	while (l->at < l->n && level) {
		const char *p = l->text + l->at;

		if (l->n - l->at >= 2 && p[0] == '/' && p[1] == '*') {
			level++;
			l->at += 2;
		} else if (l->n - l->at >= 2 && p[0] == '*' && p[1] == '/') {
			level--;
			l->at += 2;
		} else {
			skip_one(l);
		}
	}
	if (level)
		pctl_wgsl_error(l->c, PC2102_WGSL_COMMENT, l->src->base + start,
				l->src->base + start + 2,
				"block comments nest: each /* needs its own */",
				"this comment is never closed");
}

static void number(struct lexer *l)
{
	const char *p = l->text;
	uint32_t start = l->at, at = l->at;
	int hex = p[at] == '0' && at + 1 < l->n && (p[at + 1] == 'x' || p[at + 1] == 'X');
	int is_float = 0;

	if (hex)
		at += 2;
	for (; at < l->n; at++) {
		unsigned char ch = (unsigned char)p[at];
		unsigned char low = ch | 0x20;

		if (ch == '.') {
			is_float = 1;
		} else if ((ch == '+' || ch == '-') && at > start) {
			unsigned char before = (unsigned char)p[at - 1] | 0x20;

			if (before != (hex ? 'p' : 'e') || (hex && at == start + 2))
				break;
		} else if (!(class_of(ch) & CLASS_NAME)) {
			break;
		} else if (hex ? low == 'p' : low == 'e' || low == 'f' || low == 'h') {
			is_float = 1;
		}
	}
	l->at = at;
	push(l, is_float ? T_FLOAT : T_INT, start, 0);
}

static void name(struct lexer *l)
{
	uint32_t start = l->at, length, cp;

	while (l->at < l->n) {
		unsigned char ch = (unsigned char)l->text[l->at];

		if (ch < 0x80) {
			if (!(class_of(ch) & CLASS_NAME))
				break;
			l->at++;
			continue;
		}
		cp = decode(l, l->at, &length);
		if (!length || !pctl_wgsl_is_xid_continue(cp))
			break;
		l->at += length;
	}
	if (l->at - start == 1 && l->text[start] == '_') {
		push(l, T_UNDERSCORE, start, 0);
		return;
	}
	if (l->at - start >= 2 && l->text[start] == '_' && l->text[start + 1] == '_')
		pctl_wgsl_error(l->c, PC2107_WGSL_NAME, l->src->base + start, l->src->base + l->at,
				"take off an underscore",
				"a name may not begin with two underscores");
	if (l->at - start > WGSL_MAX_NAME)
		pctl_wgsl_error(l->c, PC2107_WGSL_NAME, l->src->base + start, l->src->base + l->at,
				"choose a shorter name", "a name has at most %u bytes, this one %u",
				WGSL_MAX_NAME, l->at - start);
	push(l, T_NAME, start,
	     pctl_wgsl_intern(l->c, l->text + start,
			      l->at - start > WGSL_MAX_NAME ? WGSL_MAX_NAME : l->at - start));
}

static uint32_t match(struct lexer *l, const char *rest, uint32_t yes, uint32_t no)
{
	uint32_t n = (uint32_t)strlen(rest);

	if (l->n - l->at < n || memcmp(l->text + l->at, rest, n) != 0)
		return no;
	l->at += n;
	return yes;
}

static void open_template(struct lexer *l, uint32_t start)
{
	const struct source *src = l->src;
	const struct token *before = src->n_tokens ? &src->tokens[src->n_tokens - 1] : NULL;
	uint32_t kind = T_LT;

	kind = match(l, "<=", T_SHL_EQ, kind);
	if (kind == T_LT)
		kind = match(l, "<", T_SHL, kind);
	if (kind == T_LT)
		kind = match(l, "=", T_LE, kind);
	push(l, kind, start, 0);
	if (kind != T_LT || !before)
		return;
	before = &src->tokens[src->n_tokens - 2];
	if (before->kind != T_NAME || (before->sym < KW_COUNT && before->sym != KW_VAR))
		return;
	l->pending = pctl_wgsl_grow(l->c, l->pending, l->n_pending, &l->cap_pending,
				    sizeof(*l->pending));
	l->pending[l->n_pending].token = src->n_tokens - 1;
	l->pending[l->n_pending++].depth = l->depth;
}

static void close_template(struct lexer *l, uint32_t start)
{
	uint32_t kind = T_GT;

	if (l->n_pending && l->pending[l->n_pending - 1].depth == l->depth) {
		l->src->tokens[l->pending[--l->n_pending].token].kind = T_TEMPLATE_OPEN;
		push(l, T_TEMPLATE_CLOSE, start, 0);
		return;
	}
	kind = match(l, ">=", T_SHR_EQ, kind);
	if (kind == T_GT)
		kind = match(l, ">", T_SHR, kind);
	if (kind == T_GT)
		kind = match(l, "=", T_GE, kind);
	push(l, kind, start, 0);
}

static void forget_pending(struct lexer *l)
{
	l->n_pending = 0;
	l->depth = 0;
}

static void drop_pending(struct lexer *l)
{
	while (l->n_pending && l->pending[l->n_pending - 1].depth >= l->depth)
		l->n_pending--;
}

static void punctuation(struct lexer *l)
{
	uint32_t start = l->at, kind = T_BAD, length, cp;
	char ch = l->text[l->at++];

	switch (ch) {
	case '<':
		open_template(l, start);
		return;
	case '>':
		close_template(l, start);
		return;
	case '(':
	case '[':
		l->depth++;
		kind = ch == '(' ? T_LPAREN : T_LBRACKET;
		break;
	case ')':
	case ']':
		drop_pending(l);
		if (l->depth)
			l->depth--;
		kind = ch == ')' ? T_RPAREN : T_RBRACKET;
		break;
	case '{':
	case ';':
	case ':':
		forget_pending(l);
		kind = ch == '{' ? T_LBRACE : ch == ';' ? T_SEMICOLON : T_COLON;
		break;
	case '=':
		kind = match(l, "=", T_EQEQ, T_EQ);
		if (kind == T_EQ)
			forget_pending(l);
		break;
	case '&':
		kind = match(l, "&", T_ANDAND, T_AND);
		if (kind == T_ANDAND)
			drop_pending(l);
		else
			kind = match(l, "=", T_AND_EQ, T_AND);
		break;
	case '|':
		kind = match(l, "|", T_OROR, T_OR);
		if (kind == T_OROR)
			drop_pending(l);
		else
			kind = match(l, "=", T_OR_EQ, T_OR);
		break;
	case '-':
		kind = match(l, ">", T_ARROW, T_MINUS);
		if (kind == T_MINUS)
			kind = match(l, "-", T_MINUSMINUS, T_MINUS);
		if (kind == T_MINUS)
			kind = match(l, "=", T_MINUS_EQ, T_MINUS);
		break;
	case '+':
		kind = match(l, "+", T_PLUSPLUS, T_PLUS);
		if (kind == T_PLUS)
			kind = match(l, "=", T_PLUS_EQ, T_PLUS);
		break;
	case '!':
		kind = match(l, "=", T_NE, T_BANG);
		break;
	case '*':
		kind = match(l, "=", T_STAR_EQ, T_STAR);
		break;
	case '/':
		kind = match(l, "=", T_SLASH_EQ, T_SLASH);
		break;
	case '%':
		kind = match(l, "=", T_PERCENT_EQ, T_PERCENT);
		break;
	case '^':
		kind = match(l, "=", T_XOR_EQ, T_XOR);
		break;
	case '}':
		kind = T_RBRACE;
		break;
	case '@':
		kind = T_AT;
		break;
	case ',':
		kind = T_COMMA;
		break;
	case '.':
		kind = T_DOT;
		break;
	case '~':
		kind = T_TILDE;
		break;
	default:
		l->at--;
		cp = decode(l, l->at, &length);
		l->at += length;
		if (cp)
			pctl_wgsl_error(l->c, PC2101_WGSL_CHARACTER, l->src->base + start,
					l->src->base + l->at, NULL,
					"'%.*s' (U+%04X) means nothing in WGSL", (int)length,
					cp > 0x20 ? l->text + start : " ", (unsigned)cp);
		else
			pctl_wgsl_error(l->c, PC2100_WGSL_ENCODING, l->src->base + start,
					l->src->base + l->at, NULL,
					"a zero byte stands in the text");
		return; /* the parser never sees it */
	}
	push(l, kind, start, 0);
}

static void step(struct lexer *l)
{
	unsigned char ch = (unsigned char)l->text[l->at];
	uint32_t class = class_of(ch), length, cp;

	if (class & CLASS_BLANK) {
		skip_one(l);
	} else if (class & CLASS_NAME_START) {
		name(l);
	} else if ((class & CLASS_DIGIT) ||
		   (ch == '.' && l->at + 1 < l->n &&
		    (class_of((unsigned char)l->text[l->at + 1]) & CLASS_DIGIT))) {
		number(l);
	} else if (ch == '/' && l->at + 1 < l->n && l->text[l->at + 1] == '/') {
		line_comment(l);
	} else if (ch == '/' && l->at + 1 < l->n && l->text[l->at + 1] == '*') {
		block_comment(l);
	} else if (ch < 0x80) {
		punctuation(l);
	} else {
		cp = decode(l, l->at, &length);
		if (!length)
			bad_bytes(l);
		else if (is_blank_code_point(cp))
			l->at += length;
		else if (pctl_wgsl_is_xid_start(cp))
			name(l);
		else
			punctuation(l);
	}
}

void pctl_wgsl_lex(struct wgsl *c, struct source *src)
{
	struct lexer l = {
		.c = c, .src = src, .text = src->text, .n = src->n, .comments_end = &src->comments};

	add_line(&l, 0);
	if (l.n >= 3 && memcmp(l.text, "\xef\xbb\xbf", 3) == 0)
		l.at = 3; /* a byte order mark is no part of the text */
	while (l.at < l.n)
		step(&l);
	push(&l, T_EOF, l.n, 0);
}
