/* The scanner's files: the chain of includes, the flat text made of it, and errors. Tokens are in
 * lex.c. */
#include "foundation/conf/scan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "foundation/base/utf8.h"

void pctl_conf_scan_error(pctl_conf_scanner *s, uint32_t code, const pctl_pos *pos,
			  const pctl_note *note, const char *hint, const char *fmt, ...)
{
	char text[512];
	pctl_diag d = {.head = PCTL_HEAD(pctl_diag), .code = code, .severity = PCTL_SEVERITY_ERROR};
	va_list args;

	if (s->status == PCTL_OK)
		s->status = pctl_code_status(code);
	if (s->n_errors++ >= PCTL_CONF_ERRORS_MAX)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	d.pos = *pos;
	d.message = text;
	d.hint = hint;
	d.notes = note;
	d.n_notes = note != NULL;
	(void)pctl_emit(s->call, &d);
}

void pctl_conf_scan_nomem(pctl_conf_scanner *s)
{
	if (s->status != PCTL_E_NOMEM)
		(void)pctl_no_memory(s->call, "a configuration tree");
	s->status = PCTL_E_NOMEM;
}

pctl_conf_frame *pctl_conf_scan_top(pctl_conf_scanner *s)
{
	return &s->frames[s->n_frames - 1];
}

static const pctl_conf_source *source_of(const pctl_conf_scanner *s, const pctl_conf_frame *f)
{
	return &s->sources->items[f->source];
}

/* Position of bytes from .. to of the frame's present line. */
pctl_pos pctl_conf_scan_pos(const pctl_conf_scanner *s, const pctl_conf_frame *f, size_t from,
			    size_t to)
{
	return (pctl_pos){.file = source_of(s, f)->name,
			  .line = f->line,
			  .column = (uint32_t)(from - f->line_start + 1),
			  .end_column = (uint32_t)(to - f->line_start + 1)};
}

/* Append the frame's text up to `to` and a newline to the flat text, and say where its lines came
 * from. */
static void flush(pctl_conf_scanner *s, pctl_conf_frame *f, size_t to)
{
	const pctl_conf_source *src = source_of(s, f);
	pctl_pos pos = {.file = src->name, .line = f->flushed_line};

	for (size_t i = f->flushed; i <= to; i++) {
		if (i < to && src->text[i] != '\n')
			continue;
		if (!PCTL_VEC_PUSH(&s->flat_lines, pos))
			pctl_conf_scan_nomem(s);
		pos.line++;
	}
	pctl_str_add_n(&s->flat, src->text + f->flushed, to - f->flushed);
	pctl_str_add_n(&s->flat, "\n", 1);
}

static void push_frame(pctl_conf_scanner *s, uint32_t source)
{
	pctl_conf_frame *f = &s->frames[s->n_frames++];

	*f = (pctl_conf_frame){.source = source, .line = 1, .flushed_line = 1};
}

void pctl_conf_scan_pop(pctl_conf_scanner *s)
{
	pctl_conf_frame *f = pctl_conf_scan_top(s);
	const size_t n = source_of(s, f)->n;

	flush(s, f, n);
	s->end = pctl_conf_scan_pos(s, f, n, n);
	s->n_frames--;
}

/* Take over a text as a new source and frame, or refuse it. */
static int add_source(pctl_conf_scanner *s, const char *name, char *text, size_t n,
		      const pctl_pos *at)
{
	const pctl_conf_source src = {pctl_arena_dup(s->arena, name), text, n};
	pctl_pos pos = {.file = name, .line = 1, .column = 1};
	size_t bad = 0;

	if (src.name == NULL || !PCTL_VEC_PUSH(s->sources, src)) {
		free(text);
		pctl_conf_scan_nomem(s);
		return 0;
	}
	s->bytes += n;
	if (s->bytes > PCTL_CONF_FILE_BYTES_MAX) {
		pctl_conf_scan_error(s, PC1009_CONF_SIZE, at != NULL ? at : &pos, NULL, NULL,
				     "more than %u bytes of configuration",
				     PCTL_CONF_FILE_BYTES_MAX);
		return 0;
	}
	bad = pctl_utf8_bad(text, n, PCTL_UTF8_NO_NUL);
	if (bad < n) {
		size_t start = bad;
		while (start > 0 && text[start - 1] != '\n')
			start--;
		for (size_t i = 0; i < start; i++)
			pos.line += text[i] == '\n';
		pos.file = src.name;
		pos.column = (uint32_t)(bad - start + 1);
		pctl_conf_scan_error(s, PC1002_CONF_CHARACTER, &pos, NULL, NULL,
				     "byte 0x%02x is not UTF-8 text here",
				     (unsigned char)text[bad]);
	}
	push_frame(s, s->sources->n - 1);
	return 1;
}

pctl_status pctl_conf_scan_begin(pctl_conf_scanner *s, const char *name, char *text, size_t n)
{
	if (pctl_num_locale() == (locale_t)0) {
		free(text);
		pctl_conf_scan_nomem(s);
		return s->status;
	}
	(void)add_source(s, name, text, n, NULL);
	return s->status;
}

void pctl_conf_scan_end(pctl_conf_scanner *s)
{
	pctl_str_drop(&s->flat);
	free(s->flat_lines.items);
	s->flat_lines.items = NULL;
	s->flat_lines.n = s->flat_lines.cap = 0;
}

/* ---- includes ----------------------------------------------------------------------------- */

static int is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Length of `@include "` at the frame's place when nothing but blanks precedes it on the line; else
 * 0. */
static size_t include_open(const pctl_conf_scanner *s, const pctl_conf_frame *f)
{
	static const char word[] = "@include";
	const pctl_conf_source *src = source_of(s, f);
	const size_t n_word = sizeof(word) - 1;
	size_t i;

	for (i = f->line_start; i < f->at; i++)
		if (!is_blank(src->text[i]))
			return 0;
	if (src->n - f->at < n_word || memcmp(src->text + f->at, word, n_word) != 0)
		return 0;
	i = f->at + n_word;
	while (i < src->n && is_blank(src->text[i]))
		i++;
	if (i == f->at + n_word || i >= src->n || src->text[i] != '"')
		return 0;
	return i + 1 - f->at;
}

/* Read the path up to the closing quote into buf; the offset behind the quote, or 0. */
static size_t include_path(const pctl_conf_source *src, size_t at, char *buf, size_t cap)
{
	size_t n = 0;

	for (; at < src->n && src->text[at] != '\n'; at++) {
		if (src->text[at] == '"') {
			buf[n] = 0;
			return n > 0 ? at + 1 : 0;
		}
		if (src->text[at] == '\\' && at + 1 < src->n &&
		    (src->text[at + 1] == '"' || src->text[at + 1] == '\\'))
			at++;
		if (n + 1 >= cap)
			return 0;
		buf[n++] = src->text[at];
	}
	return 0;
}

static int is_open_already(const pctl_conf_scanner *s, const char *path)
{
	for (uint32_t i = 0; i < s->n_frames; i++)
		if (strcmp(source_of(s, &s->frames[i])->name, path) == 0)
			return 1;
	return 0;
}

static void enter_include(pctl_conf_scanner *s, const char *path, const pctl_pos *pos)
{
	char *full = pctl_vfs_resolve(s->vfs, source_of(s, pctl_conf_scan_top(s))->name, path);
	char *text = NULL;
	uint64_t n = 0;

	if (full == NULL) {
		pctl_conf_scan_nomem(s);
	} else if (is_open_already(s, full)) {
		pctl_conf_scan_error(s, PC1007_CONF_INCLUDE, pos, NULL, NULL,
				     "\"%s\" includes itself", full);
	} else if (s->n_frames > PCTL_CONF_INCLUDE_MAX ||
		   s->n_includes++ >= PCTL_CONF_INCLUDES_MAX) {
		pctl_conf_scan_error(
			s, PC1007_CONF_INCLUDE, pos, NULL, NULL,
			"too many includes: at most %u inside each other and %u in all",
			PCTL_CONF_INCLUDE_MAX, PCTL_CONF_INCLUDES_MAX);
	} else if (!pctl_vfs_exists(s->vfs, full)) {
		pctl_conf_scan_error(s, PC1007_CONF_INCLUDE, pos, NULL, NULL,
				     "there is no file \"%s\"", full);
	} else if (pctl_vfs_read(s->vfs, full, PCTL_CONF_FILE_BYTES_MAX, s->call, &text, &n) !=
		   PCTL_OK) {
		pctl_conf_scan_error(s, PC1007_CONF_INCLUDE, pos, NULL, NULL,
				     "\"%s\" cannot be included", full);
	} else {
		(void)add_source(s, full, text, (size_t)n, pos);
	}
	free(full);
}

int pctl_conf_scan_include(pctl_conf_scanner *s)
{
	pctl_conf_frame *f = pctl_conf_scan_top(s);
	const pctl_conf_source *src = source_of(s, f);
	const size_t open = include_open(s, f);
	char path[PCTL_CONF_PATH_MAX];
	size_t end;
	pctl_pos pos;

	if (open == 0)
		return 0;
	end = include_path(src, f->at + open, path, sizeof(path));
	if (end == 0) {
		pos = pctl_conf_scan_pos(s, f, f->at, f->at + open);
		pctl_conf_scan_error(
			s, PC1007_CONF_INCLUDE, &pos, NULL, NULL,
			"an include needs a path in quotes on one line, of 1 to %u bytes",
			PCTL_CONF_PATH_MAX - 1);
		f->at += open - 1;
		return 1;
	}
	pos = pctl_conf_scan_pos(s, f, f->at, end);
	flush(s, f, f->at);
	f->at = f->flushed = end;
	f->flushed_line = f->line;
	enter_include(s, path, &pos);
	return 1;
}
