/* Diagnostics for people (text with carets) and for scripts (JSON). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/diag/list.h"

#define LARGEST_SOURCE (16u * 1024u * 1024u)
#define LONGEST_LINE 400u

struct style {
	const char *error, *warning, *note, *bold, *mark, *off;
};

static const struct style plain = {"", "", "", "", "", ""};
static const struct style coloured = {"\033[1;31m", "\033[1;35m", "\033[1;36m",
				      "\033[1m",    "\033[1;32m", "\033[0m"};

static const char *severity_name(uint32_t severity)
{
	static const char *const names[] = {"note", "warning", "error"};

	return severity <= PCTL_SEVERITY_ERROR ? names[severity] : "error";
}

/* The text of a file, read once and kept; NULL when it cannot be had. */
static const char *source_of(pctl_diag_list *l, const char *file)
{
	uint64_t n;
	char *text;

	if (pctl_map_has(l->sources, file))
		return pctl_map_get(l->sources, file);
	if (strcmp(file, "-") == 0 || !pctl_file_exists(file) || /* a pipe would be waited for */
	    pctl_file_read(file, LARGEST_SOURCE, NULL, &text, &n) != PCTL_OK) {
		(void)pctl_map_put(l->sources, file, NULL);
		return NULL;
	}
	pctl_diag_list_source(l, file, text, n);
	free(text);
	return pctl_map_get(l->sources, file);
}

static int is_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

/* The quoted line and the marks below it. Tabs are kept in both so that the marks stay in place. */
static void render_source(pctl_diag_list *l, FILE *to, const pctl_pos *pos,
			  const struct style *style)
{
	const char *text = pos->file == NULL ? NULL : source_of(l, pos->file);
	uint32_t end;
	size_t n;

	if (text == NULL || pos->line == 0)
		return;
	for (uint32_t line = 1; line < pos->line; line++) {
		text = strchr(text, '\n');
		if (text == NULL)
			return;
		text++;
	}
	n = strcspn(text, "\r\n");
	if (n > LONGEST_LINE || pos->column == 0 || pos->column > n + 1)
		return;
	fprintf(to, "%5" PRIu32 " | ", pos->line);
	for (size_t i = 0; i < n; i++) /* one column a byte, whatever it is */
		fputc(is_control(text[i]) && text[i] != '\t' ? '?' : text[i], to);
	fprintf(to, "\n      | ");
	for (uint32_t i = 0; i + 1 < pos->column; i++)
		fputc(text[i] == '\t' ? '\t' : ' ', to);
	end = pos->end_column > pos->column ? pos->end_column : pos->column + 1;
	if (end > n + 1)
		end = (uint32_t)n + 1;
	fprintf(to, "%s^", style->mark);
	for (uint32_t i = pos->column + 1; i < end; i++)
		fputc('~', to);
	fprintf(to, "%s\n", style->off);
}

static void render_place(FILE *to, const pctl_pos *pos)
{
	if (pos->file == NULL)
		fprintf(to, "pipectl: ");
	else if (pos->line == 0)
		fprintf(to, "%s: ", pos->file);
	else
		fprintf(to, "%s:%" PRIu32 ":%" PRIu32 ": ", pos->file, pos->line, pos->column);
}

/* Text of files stands in messages; nothing in it may steer the terminal. */
static void render_words(FILE *to, const char *text)
{
	for (; *text != '\0'; text++) {
		if (is_control(*text) && *text != '\n' && *text != '\t')
			fprintf(to, "\\x%02x", (unsigned char)*text);
		else
			fputc(*text, to);
	}
}

static void render_record(pctl_diag_list *l, FILE *to, const pctl_diag *d,
			  const struct style *style)
{
	const char *slug = pctl_code_slug(d->code);
	const char *tint = d->severity == PCTL_SEVERITY_ERROR	  ? style->error
			   : d->severity == PCTL_SEVERITY_WARNING ? style->warning
								  : style->note;

	fprintf(to, "%s", style->bold);
	render_place(to, &d->pos);
	fprintf(to, "%s%s%s:%s PC%04" PRIu32 " [%s]: ", style->off, tint,
		severity_name(d->severity), style->off, d->code, slug == NULL ? "unknown" : slug);
	if (d->plugin != NULL)
		fprintf(to, "%s: ", d->plugin);
	fprintf(to, "%s", style->bold);
	render_words(to, d->message);
	fprintf(to, "%s\n", style->off);
	render_source(l, to, &d->pos, style);
	for (uint32_t i = 0; i < d->n_notes; i++) {
		render_place(to, &d->notes[i].pos);
		fprintf(to, "%snote:%s ", style->note, style->off);
		render_words(to, d->notes[i].message);
		fputc('\n', to);
	}
	if (d->hint != NULL) {
		fprintf(to, "   hint: ");
		render_words(to, d->hint);
		fputc('\n', to);
	}
}

void pctl_diag_render_text(pctl_diag_list *l, FILE *to, int colour)
{
	const struct style *style = colour ? &coloured : &plain;

	for (uint32_t i = 0; i < l->records.n; i++)
		render_record(l, to, &l->records.items[i], style);
	if (l->dropped != 0)
		fprintf(to, "pipectl: %" PRIu32 " more diagnostics are not shown\n", l->dropped);
}

static void json_place(pctl_json *j, const pctl_pos *pos)
{
	pctl_json_kv_string(j, "file", pos->file);
	pctl_json_kv_u32(j, "line", pos->line);
	pctl_json_kv_u32(j, "column", pos->column);
	pctl_json_kv_u32(j, "end", pos->end_column);
}

void pctl_diag_render_json(const pctl_diag_list *l, pctl_json *j)
{
	char code[16];

	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < l->records.n; i++) {
		const pctl_diag *d = &l->records.items[i];

		pctl_json_object_begin(j);
		snprintf(code, sizeof(code), "PC%04" PRIu32, d->code);
		pctl_json_kv_string(j, "code", code);
		pctl_json_kv_string(j, "slug", pctl_code_slug(d->code));
		pctl_json_kv_string(j, "severity", severity_name(d->severity));
		json_place(j, &d->pos);
		pctl_json_kv_string(j, "subject", d->subject);
		pctl_json_kv_string(j, "message", d->message);
		pctl_json_key(j, "notes");
		pctl_json_array_begin(j);
		for (uint32_t k = 0; k < d->n_notes; k++) {
			pctl_json_object_begin(j);
			json_place(j, &d->notes[k].pos);
			pctl_json_kv_string(j, "message", d->notes[k].message);
			pctl_json_object_end(j);
		}
		pctl_json_array_end(j);
		pctl_json_kv_string(j, "hint", d->hint);
		pctl_json_kv_string(j, "plugin", d->plugin);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}
