/* The tables as a document. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "foundation/record/record_private.h"

static void describe(const pctl_record_shape *s, const char *before, pctl_str_buf *out);

/* The byte between values, as people call it. */
static void between(const pctl_record_shape *s, pctl_str_buf *out)
{
	if (s->between == ' ' || s->between == '\t')
		pctl_str_add(out, s->between == ' ' ? "a blank" : "a tab");
	else
		pctl_str_addf(out, "`%c`", s->between);
}

/* lines: what stands nowhere in quotes. */
static void number(const pctl_record_field *f, int lines, pctl_str_buf *out)
{
	const char *quotes = (f->flags & PCTL_RECORD_BARE) != 0 || lines ? "" : " in quotes";

	pctl_str_addf(out, "number%s", quotes);
	if (f->least != 0)
		pctl_str_addf(out, ", at least %" PRIu64, f->least);
	if (f->bound != 0)
		pctl_str_addf(out, ", at most %" PRIu64, f->bound);
	else if (f->kind == PCTL_RECORD_U32)
		pctl_str_add(out, ", 32 bits");
}

static void value(const pctl_record_field *f, int lines, pctl_str_buf *out)
{
	static const char *const items[] = {"groups",	       "groups", "arrays",
					    "arrays of texts", "values", "rows"};
	char words[PCTL_RECORD_WHAT];

	if ((f->flags & PCTL_RECORD_NAMED) != 0)
		pctl_str_addf(out, "`%s`, then ", f->key);

	switch (f->kind) {
	case PCTL_RECORD_TEXT:
		pctl_str_add(out, "text");
		break;
	case PCTL_RECORD_CHARS:
		pctl_str_addf(out, "text of at most %" PRIu64 " bytes", f->bound - 1);
		break;
	case PCTL_RECORD_U32:
	case PCTL_RECORD_U64:
		number(f, lines, out);
		break;
	case PCTL_RECORD_BOOL:
		pctl_str_add(out, "`true` or `false`");
		break;
	case PCTL_RECORD_HEX:
		pctl_str_addf(out, "%" PRIu64 " hex digits", 2 * f->bound);
		break;
	case PCTL_RECORD_WORD:
		pctl_record_words(f, words);
		pctl_str_add(out, words);
		break;
	case PCTL_RECORD_CODED:
		pctl_str_add(out, f->coding->what);
		break;
	case PCTL_RECORD_CONSTANT:
		pctl_str_addf(out, lines ? "`%s`" : "`\"%s\"`", f->constant);
		break;
	case PCTL_RECORD_BYTES:
		pctl_str_addf(out, "hex digits of at most %" PRIu64 " bytes", f->bound);
		break;
	case PCTL_RECORD_GROUP:
		pctl_str_add(out, lines ? "a row" : "group");
		if (lines)
			pctl_str_add(out, " parted by ");
		if (lines)
			between(f->of, out);
		break;
	case PCTL_RECORD_LIST:
		pctl_str_addf(out, lines ? "any number of %s" : "list of %s", items[f->of->style]);
		if (f->of->style == PCTL_RECORD_ROW) {
			pctl_str_add(out, " parted by ");
			between(f->of, out);
		}
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

static void describe_field(const pctl_record_field *f, int lines, const char *before,
			   pctl_str_buf *out)
{
	char path[160];
	const int is_list = f->kind == PCTL_RECORD_LIST;

	snprintf(path, sizeof(path), "%s%s%s", before, f->key, is_list ? "[]" : "");
	pctl_str_addf(out, "| `%s` | ", path);
	value(f, lines, out);
	pctl_str_addf(out, "%s | %s |\n",
		      f->when != 0			       ? "; where it is said so before"
		      : (f->flags & PCTL_RECORD_OPTIONAL) != 0 ? "; may be absent"
							       : "",
		      f->means);
	if (f->of == NULL || f->of->style == PCTL_RECORD_ALONE || f->of->style == PCTL_RECORD_SPLIT)
		return;
	snprintf(path, sizeof(path), "%s%s%s.", before, f->key, is_list ? "[]" : "");
	describe(f->of, path, out);
}

static void describe(const pctl_record_shape *s, const char *before, pctl_str_buf *out)
{
	for (uint32_t i = 0; i < s->n_fields; i++)
		describe_field(&s->fields[i], s->style >= PCTL_RECORD_ROW, before, out);
}

/* What it is made of, and what becomes of bytes in texts. */
static void grammar(const pctl_record_type *t, pctl_str_buf *out)
{
	static const char *const bytes[] = {"written as `\\xHH`", "written as blanks",
					    "written as they are"};

	if (!pctl_record_is_lines(t)) {
		pctl_str_addf(out, "Group `%s`; bytes of texts that are not printable ASCII are %s",
			      t->group, bytes[t->quoting]);
		return;
	}
	pctl_str_add(out, t->shape->style == PCTL_RECORD_ROW
				  ? "One line, its values parted by "
				  : "Lines, names and values parted by ");
	between(t->shape, out);
	if (t->opening[0] != '\0')
		pctl_str_addf(out, ", behind the line `%.*s`", (int)strcspn(t->opening, "\n"),
			      t->opening);
	if (t->quoting == PCTL_RECORD_ESCAPES)
		pctl_str_add(out,
			     "; tabs, line ends and backslashes in texts are written as `\\t`, "
			     "`\\n` and `\\\\`");
	else if (t->quoting != PCTL_RECORD_PLAIN)
		pctl_str_addf(out, "; bytes of texts that are not printable ASCII are %s",
			      bytes[t->quoting]);
}

void pctl_record_describe(const pctl_record_type *t, pctl_str_buf *out)
{
	pctl_str_addf(out, "## %s\n\n%s. ", t->title, t->where);
	grammar(t, out);
	if (t->form != 0)
		pctl_str_addf(out, "; another text is refused with PC%" PRIu32, t->form);
	if (t->contradicts != 0 && t->contradicts != t->form)
		pctl_str_addf(out, ", one that is not spelled so with PC%" PRIu32, t->contradicts);
	pctl_str_add(out, ".\n\n| key | value | meaning |\n|---|---|---|\n");
	describe(t->shape, "", out);
	pctl_str_add(out, "\n");
}
