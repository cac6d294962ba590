/* Writing records that are lines. */
#include <string.h>

#include "foundation/record/record_private.h"

static void row(pctl_record_writer *w, const pctl_record_shape *s, const char *record, int *begun);

int pctl_record_is_lines(const pctl_record_type *t)
{
	return t->shape->style >= PCTL_RECORD_ROW;
}

void pctl_record_write_raw(const pctl_record_type *t, const char *text, pctl_str_buf *out)
{
	static const char escaped[] = "\t\n\\", letters[] = "tn\\";

	for (; text != NULL && *text != '\0'; text++) {
		const char *escape =
			t->quoting == PCTL_RECORD_ESCAPES ? strchr(escaped, *text) : NULL;

		if (escape != NULL)
			pctl_str_addf(out, "\\%c", letters[escape - escaped]);
		else if (t->quoting == PCTL_RECORD_BLANKS &&
			 ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f))
			pctl_str_add(out, " ");
		else
			pctl_str_add_n(out, text, 1);
	}
}

/* What parts a value of a row from the one before it. */
static void part(pctl_record_writer *w, const pctl_record_shape *s, int *begun)
{
	if (*begun)
		pctl_str_add_n(w->out, &s->between, 1);
	*begun = 1;
}

/* A value or a part of the line by the shape of it; the byte before its first value is that of the row it lies in. */
static void item(pctl_record_writer *w, const pctl_record_shape *in, const pctl_record_shape *s,
		 const char *record, int *begun)
{
	int own = 0;

	if (s->style == PCTL_RECORD_ROW && s->between == in->between) {
		row(w, s, record, begun);
		return;
	}
	part(w, in, begun);
	if (s->style == PCTL_RECORD_ROW)
		row(w, s, record, &own);
	else
		pctl_record_write_value(w, s->fields, record);
}

static void field(pctl_record_writer *w, const pctl_record_shape *s, const pctl_record_field *f,
		  const char *record, int *begun)
{
	const char *at = record + f->at;

	if ((f->flags & PCTL_RECORD_NAMED) != 0) {
		part(w, s, begun);
		pctl_str_add(w->out, f->key);
	}
	switch (f->kind) {
	case PCTL_RECORD_GROUP:
		item(w, s, f->of, at, begun);
		break;
	case PCTL_RECORD_LIST:
		at = (f->flags & PCTL_RECORD_WITHIN) != 0 ? at
							  : *(const char *const *)(const void *)at;
		for (uint32_t i = 0; i < *(const uint32_t *)(const void *)(record + f->n_at); i++)
			item(w, s, f->of, at + i * f->of->size, begun);
		break;
	case PCTL_RECORD_DERIVED:
		part(w, s, begun);
		f->derive(record, w->out);
		break;
	default:
		part(w, s, begun);
		pctl_record_write_value(w, f, record);
	}
}

static void row(pctl_record_writer *w, const pctl_record_shape *s, const char *record, int *begun)
{
	for (uint32_t i = 0; i < s->n_fields; i++)
		if (pctl_record_present(&s->fields[i], record))
			field(w, s, &s->fields[i], record, begun);
}

/* Each item of a list on a line of its own, behind the name of the list. */
static void list(pctl_record_writer *w, const pctl_record_shape *s, const pctl_record_field *f,
		 const char *record)
{
	const char *items = (f->flags & PCTL_RECORD_WITHIN) != 0
				    ? record + f->at
				    : *(const char *const *)(const void *)(record + f->at);
	const uint32_t n = *(const uint32_t *)(const void *)(record + f->n_at);

	for (uint32_t i = 0; i < n; i++) {
		const pctl_record_field one = {.key = f->key,
					       .kind = PCTL_RECORD_GROUP,
					       .flags = f->flags & PCTL_RECORD_NAMED,
					       .of = f->of};
		int begun = 0;

		field(w, s, &one, items + i * f->of->size, &begun);
		pctl_str_add(w->out, "\n");
	}
}

void pctl_record_write_lines(pctl_record_writer *w, const char *record)
{
	const pctl_record_shape *s = w->type->shape;
	int begun = 0;

	pctl_str_add(w->out, w->type->opening);
	if (s->style == PCTL_RECORD_ROW) {
		row(w, s, record, &begun);
		return;
	}
	for (uint32_t i = 0; i < s->n_fields; i++) {
		const pctl_record_field *f = &s->fields[i];

		begun = 0;
		if (!pctl_record_present(f, record))
			continue;
		if (f->kind == PCTL_RECORD_LIST) {
			list(w, s, f, record);
			continue;
		}
		field(w, s, f, record, &begun);
		pctl_str_add(w->out, "\n");
	}
}
