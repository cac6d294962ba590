/* Small files of rows: how the registry remembers verdicts, devices and quarantine. A row is a struct, one line of values parted by
 * tabs, by a table of fields (foundation/record); people can read and edit the files, so any spelling of a value is read. */
#ifndef PIPECTL_RUNTIME_PLUGIN_KEPT_H
#define PIPECTL_RUNTIME_PLUGIN_KEPT_H

#include "foundation/record/record.h"

/* type: of a list of rows at `rows`, n of them; their texts and the rows lie in the arena, which is the caller's. */
typedef struct pctl_kept {
	const pctl_record_type *type;
	pctl_arena *arena;
	char *rows;
	uint32_t n, cap;
} pctl_kept;

/* The table of a file whose first line is HEADER: rows of struct T with the fields of FIELDS. */
#define PCTL_KEPT(NAME, T, FIELDS, HEADER, FORM, TITLE, WHERE)                                   \
	static const pctl_record_shape NAME##_row =                                              \
		PCTL_RECORD_OF_LINES(FIELDS, PCTL_RECORD_ROW, '\t', T);                          \
	static const pctl_record_field NAME##_rows[] = {                                         \
		PCTL_RECORD_FIELD(LIST, "rows", pctl_kept, rows, .n_at = offsetof(pctl_kept, n), \
				  .of = &NAME##_row, .means = "in the order of their making")};  \
	static const pctl_record_shape NAME##_shape =                                            \
		PCTL_RECORD_OF_LINES(NAME##_rows, PCTL_RECORD_LINES, '\t', pctl_kept);           \
	const pctl_record_type pctl_##NAME##_type = {                                            \
		.opening = HEADER "\n",                                                          \
		.shape = &NAME##_shape,                                                          \
		.quoting = PCTL_RECORD_ESCAPES,                                                  \
		.form = FORM,                                                                    \
		.title = TITLE,                                                                  \
		.where = WHERE,                                                                  \
	}

/* Read the file; a missing one is no rows. Errors: the type's form, at the place of the first fault, and PC0003, PC0002; there
 * are no rows then. */
pctl_status pctl_kept_load(pctl_kept *k, const pctl_record_type *type, pctl_arena *arena,
			   const char *path, const pctl_call *call);
/* Write it whole or not at all; durable as for pctl_file_write. */
pctl_status pctl_kept_save(const pctl_kept *k, const char *path, int durable,
			   const pctl_call *call);

/* Append a copy of a row, whose texts stay where they are. 1, or 0 for lack of memory. */
int pctl_kept_add(pctl_kept *k, const void *row);
void pctl_kept_remove(pctl_kept *k, uint32_t i);

#endif
