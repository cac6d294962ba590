/* Memory and errors of a compile. Errors are kept until the end, so that they come out in the order
 * of the text whatever stage found them. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "compiler/wgsl/compile.h"

#define MAX_CANDIDATES 1024u
#define MAX_HINT_WORD 40u

struct error {
	uint32_t code;
	uint32_t pos, end;
	uint32_t order;
	const char *message, *hint;
	const char *note;
	uint32_t note_pos, note_end;
};

void *pctl_wgsl_alloc(struct wgsl *c, size_t n)
{
	void *p = pctl_arena_alloc(c->arena, n);

	if (!p)
		longjmp(c->give_up, GIVE_UP_MEMORY);
	return p;
}

static const char *format_v(struct wgsl *c, const char *fmt, va_list ap)
{
	va_list again;
	char *out;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0)
		return "";
	out = pctl_wgsl_alloc(c, (size_t)n + 1);
	vsnprintf(out, (size_t)n + 1, fmt, ap);
	return out;
}

const char *pctl_wgsl_format(struct wgsl *c, const char *fmt, ...)
{
	const char *out;
	va_list ap;

	va_start(ap, fmt);
	out = format_v(c, fmt, ap);
	va_end(ap);
	return out;
}

void *pctl_wgsl_grow(struct wgsl *c, void *items, uint32_t n, uint32_t *cap, size_t size)
{
	uint32_t wanted;
	void *out;

	if (n < *cap)
		return items;
	wanted = *cap ? *cap * 2 : 16;
	out = pctl_arena_array(c->arena, wanted, size);
	if (!out)
		longjmp(c->give_up, GIVE_UP_MEMORY);
	if (n)
		memcpy(out, items, (size_t)n * size);
	*cap = wanted;
	return out;
}

static struct error *add_error(struct wgsl *c, uint32_t code, uint32_t pos, uint32_t end,
			       const char *hint)
{
	struct error *e;

	if (c->concrete) {
		code = pctl_wgsl_concrete_code(code);
		hint = NULL;
	}
	if (!code)
		return NULL;
	if (c->n_errors >= WGSL_MAX_ERRORS) {
		c->n_dropped++;
		return NULL;
	}
	c->errors = pctl_wgsl_grow(c, c->errors, c->n_errors, &c->cap_errors, sizeof(*c->errors));
	e = &c->errors[c->n_errors];
	e->code = code;
	e->pos = pos;
	e->end = end;
	e->order = c->n_errors++;
	e->hint = hint;
	return e;
}

void pctl_wgsl_error(struct wgsl *c, uint32_t code, uint32_t pos, uint32_t end, const char *hint,
		     const char *fmt, ...)
{
	struct error *e;
	va_list ap;

	e = add_error(c, code, pos, end, hint);
	if (!e)
		return;
	va_start(ap, fmt);
	e->message = format_v(c, fmt, ap);
	va_end(ap);
	if (c->concrete)
		e->message = pctl_wgsl_format(c, "%s, with %s", e->message,
					      pctl_wgsl_concrete_values(c));
}

void pctl_wgsl_error_note(struct wgsl *c, uint32_t code, uint32_t pos, uint32_t end,
			  const char *hint, uint32_t note_pos, uint32_t note_end, const char *note,
			  const char *fmt, ...)
{
	struct error *e;
	va_list ap;

	e = add_error(c, code, pos, end, hint);
	if (!e)
		return;
	va_start(ap, fmt);
	e->message = format_v(c, fmt, ap);
	va_end(ap);
	e->note = note;
	e->note_pos = note_pos;
	e->note_end = note_end;
}

uint32_t pctl_wgsl_source_number(const struct wgsl *c, uint32_t pos)
{
	uint32_t low = 0, high = c->n_sources;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (c->sources[mid]->base <= pos)
			low = mid;
		else
			high = mid;
	}
	return low;
}

struct source *pctl_wgsl_locate(struct wgsl *c, uint32_t pos, uint32_t end, pctl_pos *out)
{
	struct source *src = c->sources[pctl_wgsl_source_number(c, pos)];
	uint32_t at = pos - src->base, low = 0, high = src->n_lines, line_end;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (src->lines[mid] <= at)
			low = mid;
		else
			high = mid;
	}
	memset(out, 0, sizeof(*out));
	out->file = src->name;
	out->line = low + 1;
	out->column = at - src->lines[low] + 1;
	line_end = low + 1 < src->n_lines ? src->lines[low + 1] - 1 : src->n;
	if (end < pos)
		end = pos;
	if (end - src->base > line_end)
		end = src->base + line_end;
	out->end_column = end - src->base - src->lines[low] + 1;
	if (out->end_column <= out->column)
		out->end_column = out->column + 1;
	return src;
}

void pctl_wgsl_build_origin(struct wgsl *c, uint32_t pos, uint32_t end)
{
	pctl_origin o = {0};
	pctl_pos where;

	pctl_wgsl_locate(c, pos, end, &where);
	o.file = pctl_wgsl_source_number(c, pos);
	o.line = where.line;
	o.column = where.column;
	o.end_column = where.end_column;
	pctl_build_origin(c->builder, &o);
}

static int compare_errors(const void *a, const void *b)
{
	const struct error *x = a, *y = b;

	if (x->pos != y->pos)
		return x->pos < y->pos ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

pctl_status pctl_wgsl_emit_errors(struct wgsl *c)
{
	uint32_t i;

	if (!c->n_errors)
		return PCTL_OK;
	qsort(c->errors, c->n_errors, sizeof(*c->errors), compare_errors);
	for (i = 0; i < c->n_errors; i++) {
		const struct error *e = &c->errors[i];
		pctl_diag d = {.head = PCTL_HEAD(pctl_diag),
			       .code = e->code,
			       .severity = PCTL_SEVERITY_ERROR,
			       .message = e->message,
			       .hint = e->hint};
		pctl_note note = {{0}, e->note};

		pctl_wgsl_locate(c, e->pos, e->end, &d.pos);
		if (e->note) {
			pctl_wgsl_locate(c, e->note_pos, e->note_end, &note.pos);
			d.notes = &note;
			d.n_notes = 1;
		}
		pctl_emit(c->call, &d);
	}
	if (c->n_dropped)
		pctl_refuse(c->call, PC2108_WGSL_TOO_MANY_ERRORS,
			    "%u more errors of this text are not shown", c->n_dropped);
	return PCTL_E_INVALID;
}

/* Names far longer or shorter than the word are not looked at: comparing takes the product of
 * lengths. */
const char *pctl_wgsl_hint_nearest(struct wgsl *c, const char *word, const char *const *names,
				   uint32_t n)
{
	const char *kept[MAX_CANDIDATES], *near;
	size_t length = strlen(word);
	uint32_t i, n_kept = 0;

	if (length > MAX_HINT_WORD)
		return NULL;
	for (i = 0; i < n && n_kept < MAX_CANDIDATES; i++) {
		size_t other = strlen(names[i]);

		if (other <= length + 4 && length <= other + 4)
			kept[n_kept++] = names[i];
	}
	near = pctl_str_nearest(word, kept, n_kept);
	return near ? pctl_wgsl_format(c, "did you mean \"%s\"?", near) : NULL;
}
