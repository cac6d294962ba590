/* Writing records from their tables. */
#include "foundation/record/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/hex.h"
#include "foundation/record/record_private.h"

typedef pctl_record_writer writer;

static void fields(writer *w, const pctl_record_shape *s, const char *record, uint32_t indent);

static void line(writer *w, uint32_t indent)
{
	pctl_str_addf(w->out, "\n%*s", (int)indent, "");
	w->indent = indent;
}

void pctl_record_quote(const pctl_record_type *t, const char *text, pctl_str_buf *out)
{
	pctl_str_add(out, "\"");
	for (; text != NULL && *text != '\0'; text++) {
		const int plain = t->quoting == PCTL_RECORD_PLAIN ||
				  ((unsigned char)*text >= 0x20 && (unsigned char)*text < 0x7f);

		if (!plain && t->quoting == PCTL_RECORD_HEXES)
			pctl_str_addf(out, "\\x%02x", (unsigned)(unsigned char)*text);
		else if (!plain)
			pctl_str_add(out, " ");
		else if (*text == '"' || *text == '\\')
			pctl_str_addf(out, "\\%c", *text);
		else
			pctl_str_add_n(out, text, 1);
	}
	pctl_str_add(out, "\"");
}

static void quoted(writer *w, const char *text)
{
	if (pctl_record_is_lines(w->type))
		pctl_record_write_raw(w->type, text, w->out);
	else
		pctl_record_quote(w->type, text, w->out);
}

static void number(writer *w, const pctl_record_field *f, uint64_t value)
{
	const int bare = (f->flags & PCTL_RECORD_BARE) != 0 || pctl_record_is_lines(w->type);

	pctl_str_addf(w->out, bare ? "%" PRIu64 : "\"%" PRIu64 "\"", value);
}

static void hex(writer *w, const char *at, size_t n)
{
	const char *quote = pctl_record_is_lines(w->type) ? "" : "\"";

	pctl_str_add(w->out, quote);
	pctl_hex_add(w->out, at, n);
	pctl_str_add(w->out, quote);
}

static void coded(writer *w, const pctl_record_field *f, const char *at)
{
	char text[PCTL_RECORD_CODED_MAX] = "";

	f->coding->print(at, text);
	quoted(w, text);
}

void pctl_record_write_value(writer *w, const pctl_record_field *f, const char *record)
{
	const char *at = record + f->at;

	switch (f->kind) {
	case PCTL_RECORD_TEXT:
		quoted(w, *(const char *const *)(const void *)at);
		break;
	case PCTL_RECORD_CHARS:
		quoted(w, at);
		break;
	case PCTL_RECORD_U32:
		number(w, f, *(const uint32_t *)(const void *)at);
		break;
	case PCTL_RECORD_U64:
		number(w, f, *(const uint64_t *)(const void *)at);
		break;
	case PCTL_RECORD_BOOL:
		pctl_str_add(w->out, *(const uint32_t *)(const void *)at != 0 ? "true" : "false");
		break;
	case PCTL_RECORD_HEX:
		hex(w, at, (size_t)f->bound);
		break;
	case PCTL_RECORD_BYTES:
		hex(w, *(const char *const *)(const void *)at,
		    *(const uint32_t *)(const void *)(record + f->n_at));
		break;
	case PCTL_RECORD_WORD:
		quoted(w, f->words[*(const uint32_t *)(const void *)at]);
		break;
	case PCTL_RECORD_CODED:
		coded(w, f, at);
		break;
	default:
		quoted(w, f->constant);
	}
}

static void parts(writer *w, const char *text)
{
	for (;;) {
		const size_t n = strcspn(text, "\t");
		char *part = strndup(text, n);

		w->out->failed |= part == NULL;
		quoted(w, part == NULL ? "" : part);
		free(part);
		if (text[n] == '\0')
			return;
		pctl_str_add(w->out, ", ");
		text += n + 1;
	}
}

static void item(writer *w, const pctl_record_shape *s, const char *record)
{
	const uint32_t indent = w->indent;

	switch (s->style) {
	case PCTL_RECORD_BLOCK:
		pctl_str_add(w->out, "{\n");
		fields(w, s, record, indent + 2);
		pctl_str_addf(w->out, "%*s}", (int)indent, "");
		break;
	case PCTL_RECORD_INLINE:
		pctl_str_add(w->out, "{");
		fields(w, s, record, indent + 2);
		pctl_str_add(w->out, " }");
		break;
	case PCTL_RECORD_ALONE:
		pctl_record_write_value(w, s->fields, record);
		break;
	default:
		pctl_str_add(w->out, "[ ");
		for (uint32_t i = 0; i < s->n_fields; i++) {
			pctl_str_add(w->out, i == 0 ? "" : ", ");
			if (s->style == PCTL_RECORD_SPLIT)
				parts(w, *(const char *const *)(const void *)(record +
									      s->fields[i].at));
			else
				pctl_record_write_value(w, &s->fields[i], record);
		}
		pctl_str_add(w->out, " ]");
	}
	w->indent = indent;
}

static void list(writer *w, const pctl_record_field *f, const char *record)
{
	const char *items = (f->flags & PCTL_RECORD_WITHIN) != 0
				    ? record + f->at
				    : *(const char *const *)(const void *)(record + f->at);
	const uint32_t n = *(const uint32_t *)(const void *)(record + f->n_at);
	const uint32_t indent = w->indent;

	pctl_str_add(w->out, (f->flags & PCTL_RECORD_EQUALS) != 0 ? " = (" : " : (");
	for (uint32_t i = 0; i < n; i++) {
		pctl_str_add(w->out, i == 0 ? "" : ",");
		if (i == 0 && (f->flags & PCTL_RECORD_FOLLOWS) != 0)
			pctl_str_add(w->out, " ");
		else
			line(w, indent + 2);
		item(w, f->of, items + i * f->of->size);
	}
	w->indent = indent;
	if ((f->flags & PCTL_RECORD_CLOSE) != 0)
		line(w, indent);
	else
		pctl_str_add(w->out, " ");
	pctl_str_add(w->out, ")");
}

static void keyed(writer *w, const pctl_record_field *f, const char *record)
{
	const uint32_t indent = w->indent;

	pctl_str_add(w->out, " : {\n");
	for (uint32_t i = 0; i < f->bound; i++) {
		char text[PCTL_RECORD_CODED_MAX] = "";
		const char *remark =
			f->keys->remark == NULL ? NULL : f->keys->remark(record + f->at, i);

		f->keys->print(record + f->at, i, text);
		pctl_str_addf(w->out, "%*s%s = ", (int)indent + 2, "", f->keys->name(i));
		quoted(w, text);
		pctl_str_addf(w->out, ";%s%s\n", remark == NULL ? "" : " // ",
			      remark == NULL ? "" : remark);
	}
	pctl_str_addf(w->out, "%*s}", (int)indent, "");
}

static void field(writer *w, const pctl_record_field *f, const char *record)
{
	pctl_str_add(w->out, f->key);
	switch (f->kind) {
	case PCTL_RECORD_GROUP:
		pctl_str_add(w->out, " : ");
		item(w, f->of, record + f->at);
		break;
	case PCTL_RECORD_LIST:
		list(w, f, record);
		break;
	case PCTL_RECORD_KEYED:
		keyed(w, f, record);
		break;
	case PCTL_RECORD_DERIVED:
		f->derive(record, w->out);
		break;
	default:
		pctl_str_add(w->out, " = ");
		pctl_record_write_value(w, f, record);
	}
	pctl_str_add(w->out, ";");
}

int pctl_record_present(const pctl_record_field *f, const char *record)
{
	if ((f->flags & PCTL_RECORD_OPTIONAL) == 0)
		return 1;
	if (f->when != 0)
		return (int)(f->when >> *(const uint32_t *)(const void *)(record + f->n_at) & 1);
	if (f->kind == PCTL_RECORD_U64)
		return *(const uint64_t *)(const void *)(record + f->at) != 0;
	if (f->kind == PCTL_RECORD_CHARS)
		return record[f->at] != '\0';
	if (f->kind == PCTL_RECORD_TEXT || f->n_at == 0) {
		const size_t in = f->kind == PCTL_RECORD_TEXT ? 0 : f->of->fields[0].at;
		const char *text = *(const char *const *)(const void *)(record + f->at + in);

		return text != NULL && *text != '\0';
	}
	return *(const uint32_t *)(const void *)(record + f->n_at) != 0;
}

static void fields(writer *w, const pctl_record_shape *s, const char *record, uint32_t indent)
{
	for (uint32_t i = 0; i < s->n_fields; i++) {
		const pctl_record_field *f = &s->fields[i];

		if (!pctl_record_present(f, record))
			continue;
		if (s->style == PCTL_RECORD_BLOCK) {
			if (f->comment != NULL)
				pctl_str_addf(w->out, "%*s// %s\n", (int)indent, "", f->comment);
			pctl_str_addf(w->out, "%*s", (int)indent, "");
			w->indent = indent;
		} else if ((f->flags & PCTL_RECORD_LINE) != 0) {
			line(w, indent);
		} else {
			pctl_str_add(w->out, " ");
		}
		field(w, f, record);
		if (s->style == PCTL_RECORD_BLOCK)
			pctl_str_add(w->out, "\n");
	}
}

void pctl_record_text(const pctl_record_type *t, const void *record, pctl_str_buf *out)
{
	writer w = {out, t, 0};

	if (pctl_record_is_lines(t)) {
		pctl_record_write_lines(&w, record);
		return;
	}
	pctl_str_addf(out, "%s%s : {\n", t->opening, t->group);
	fields(&w, t->shape, record, 2);
	pctl_str_add(out, "};\n");
}

void pctl_record_member_text(const pctl_record_type *t, const void *record, const char *key,
			     pctl_str_buf *out)
{
	writer w = {out, t, 2};

	for (uint32_t i = 0; i < t->shape->n_fields; i++) {
		if (strcmp(t->shape->fields[i].key, key) != 0)
			continue;
		pctl_str_add(out, "  ");
		field(&w, &t->shape->fields[i], record);
		pctl_str_add(out, "\n");
	}
}

pctl_status pctl_record_put(const pctl_record_type *t, const void *record, pctl_str_buf *out,
			    const char *what, const pctl_call *call)
{
	pctl_record_text(t, record, out);
	return out->failed ? pctl_no_memory(call, what) : PCTL_OK;
}
