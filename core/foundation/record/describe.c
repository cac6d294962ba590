/* The tables as a document. */
#include "foundation/record/record.h"

#include <inttypes.h>
#include <stdio.h>

static void describe(const pctl_record_shape *s, const char *before, pctl_str_buf *out);

static void number(const pctl_record_field *f, pctl_str_buf *out)
{
	const char *quotes = (f->flags & PCTL_RECORD_BARE) != 0 ? "" : " in quotes";

	pctl_str_addf(out, "number%s", quotes);
	if (f->least != 0)
		pctl_str_addf(out, ", at least %" PRIu64, f->least);
	if (f->bound != 0)
		pctl_str_addf(out, ", at most %" PRIu64, f->bound);
	else if (f->kind == PCTL_RECORD_U32)
		pctl_str_add(out, ", 32 bits");
}

static void value(const pctl_record_field *f, pctl_str_buf *out)
{
	static const char *const items[] = {"groups", "groups", "arrays", "arrays of texts",
					    "values"};

	switch (f->kind) {
	case PCTL_RECORD_TEXT:
		pctl_str_add(out, "text");
		break;
	case PCTL_RECORD_CHARS:
		pctl_str_addf(out, "text of at most %" PRIu64 " bytes", f->bound - 1);
		break;
	case PCTL_RECORD_U32:
	case PCTL_RECORD_U64:
		number(f, out);
		break;
	case PCTL_RECORD_BOOL:
		pctl_str_add(out, "`true` or `false`");
		break;
	case PCTL_RECORD_HEX:
		pctl_str_addf(out, "%" PRIu64 " hex digits", 2 * f->bound);
		break;
	case PCTL_RECORD_CODED:
		pctl_str_add(out, f->coding->what);
		break;
	case PCTL_RECORD_CONSTANT:
		pctl_str_addf(out, "`\"%s\"`", f->constant);
		break;
	case PCTL_RECORD_GROUP:
		pctl_str_add(out, "group");
		break;
	case PCTL_RECORD_LIST:
		pctl_str_addf(out, "list of %s", items[f->of->style]);
		if (f->bound != 0)
			pctl_str_addf(out, ", at most %" PRIu64, f->bound);
		break;
	case PCTL_RECORD_KEYED:
		pctl_str_addf(out, "group of %s by ", f->keys->what);
		for (uint32_t i = 0; i < f->bound; i++)
			pctl_str_addf(out, "%s`%s`", i == 0 ? "" : ", ", f->keys->name(i));
		break;
	default:
		pctl_str_add(out, "follows from the rest");
	}
}

static void describe_field(const pctl_record_field *f, const char *before, pctl_str_buf *out)
{
	char path[160];
	const int is_list = f->kind == PCTL_RECORD_LIST;

	snprintf(path, sizeof(path), "%s%s%s", before, f->key, is_list ? "[]" : "");
	pctl_str_addf(out, "| `%s` | ", path);
	value(f, out);
	pctl_str_addf(out, "%s | %s |\n",
		      (f->flags & PCTL_RECORD_OPTIONAL) != 0 ? "; may be absent" : "", f->means);
	if (f->of == NULL || f->of->style == PCTL_RECORD_ALONE || f->of->style == PCTL_RECORD_SPLIT)
		return;
	snprintf(path, sizeof(path), "%s%s%s.", before, f->key, is_list ? "[]" : "");
	describe(f->of, path, out);
}

static void describe(const pctl_record_shape *s, const char *before, pctl_str_buf *out)
{
	for (uint32_t i = 0; i < s->n_fields; i++)
		describe_field(&s->fields[i], before, out);
}

void pctl_record_describe(const pctl_record_type *t, pctl_str_buf *out)
{
	static const char *const bytes[] = {"written as `\\xHH`", "written as blanks",
					    "written as they are"};

	pctl_str_addf(
		out,
		"## %s\n\n%s. Group `%s`; bytes of texts that are not printable ASCII are %s; "
		"another text is refused with PC%" PRIu32,
		t->title, t->where, t->group, bytes[t->quoting], t->form);
	if (t->contradicts != 0 && t->contradicts != t->form)
		pctl_str_addf(out, ", one that is not spelled so with PC%" PRIu32, t->contradicts);
	pctl_str_add(out, ".\n\n| key | value | meaning |\n|---|---|---|\n");
	describe(t->shape, "", out);
	pctl_str_add(out, "\n");
}
