/* Rows of text; see tsv.h. */
#include "runtime/plugin/tsv.h"

#include <stdlib.h>
#include <string.h>

#include "foundation/base/file.h"
#include "foundation/base/str.h"
#include "foundation/base/vec.h"

#define FILE_MAX (16u << 20)

void pctl_tsv_init(pctl_tsv *r, pctl_arena *arena)
{
	memset(r, 0, sizeof(*r));
	r->arena = arena;
}

void pctl_tsv_drop(pctl_tsv *r)
{
	free(r->rows);
	r->rows = NULL;
	r->n = r->cap = 0;
}

int pctl_tsv_add(pctl_tsv *r, const char *const *fields, uint32_t n)
{
	pctl_tsv_row row = {.n = n};
	uint32_t i;

	if (n > PCTL_TSV_FIELDS_MAX)
		return 0;
	for (i = 0; i < n; i++) {
		row.field[i] = pctl_arena_dup(r->arena, fields[i] ? fields[i] : "");
		if (!row.field[i])
			return 0;
	}
	if (!pctl_vec_reserve((void **)&r->rows, r->n, &r->cap, sizeof(row)))
		return 0;
	r->rows[r->n++] = row;
	return 1;
}

void pctl_tsv_remove(pctl_tsv *r, uint32_t i)
{
	r->n--;
	memmove(r->rows + i, r->rows + i + 1, (r->n - i) * sizeof(*r->rows));
}

/* Undo the escapes of one line in place and cut it into fields; 0 when it is not well-formed. */
static int parse_line(char *line, pctl_tsv_row *row)
{
	char *from = line, *to = line;

	memset(row, 0, sizeof(*row));
	row->field[row->n++] = to;
	for (; *from; from++) {
		if (*from == '\t') {
			*to++ = 0;
			if (row->n == PCTL_TSV_FIELDS_MAX)
				return 0;
			row->field[row->n++] = to;
		} else if (*from == '\\') {
			from++;
			if (*from != 't' && *from != 'n' && *from != '\\')
				return 0;
			*to++ = (char)(*from == 't' ? '\t' : *from == 'n' ? '\n' : '\\');
		} else {
			*to++ = *from;
		}
	}
	*to = 0;
	return 1;
}

pctl_status pctl_tsv_load(pctl_tsv *r, const char *path, const char *header, const pctl_call *call)
{
	char *text = NULL, *line, *next;
	uint64_t n = 0;
	pctl_status s;

	r->n = 0;
	if (!pctl_file_exists(path))
		return PCTL_OK;
	s = pctl_file_read(path, FILE_MAX, call, &text, &n);
	if (s)
		return s;
	s = PCTL_E_INVALID;
	if (strlen(text) != n)
		goto out;
	for (line = text; *line; line = next) {
		char *end = strchr(line, '\n');
		pctl_tsv_row row;

		if (!end)
			goto out;
		*end = 0;
		next = end + 1;
		if (line == text) {
			if (strcmp(line, header))
				goto out;
			continue;
		}
		if (!parse_line(line, &row) || !pctl_tsv_add(r, row.field, row.n))
			goto out;
	}
	s = line == text ? PCTL_E_INVALID : PCTL_OK;
out:
	if (s)
		r->n = 0;
	free(text);
	return s;
}

static void add_field(pctl_str_buf *b, const char *s)
{
	for (; *s; s++) {
		if (*s == '\t')
			pctl_str_add(b, "\\t");
		else if (*s == '\n')
			pctl_str_add(b, "\\n");
		else if (*s == '\\')
			pctl_str_add(b, "\\\\");
		else
			pctl_str_add_n(b, s, 1);
	}
}

pctl_status pctl_tsv_save(const pctl_tsv *r, const char *path, const char *header, int durable,
			  const pctl_call *call)
{
	pctl_str_buf b = PCTL_STR_BUF_INIT;
	pctl_status s;
	uint32_t i, k;
	char *text;

	pctl_str_add(&b, header);
	pctl_str_add(&b, "\n");
	for (i = 0; i < r->n; i++)
		for (k = 0; k < r->rows[i].n; k++) {
			add_field(&b, r->rows[i].field[k]);
			pctl_str_add(&b, k + 1 < r->rows[i].n ? "\t" : "\n");
		}
	text = pctl_str_finish(&b);
	if (!text)
		return pctl_refuse(call, PC2_NOMEM, "no memory to write %s", path);
	s = pctl_file_write(path, text, strlen(text), durable, call);
	free(text);
	return s;
}
