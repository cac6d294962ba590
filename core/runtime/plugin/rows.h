/* A small file of rows of text fields, tab-separated, one row a line, with escapes for tab, newline
 * and backslash: how the registry remembers verdicts, devices and quarantine. People can read and
 * edit it. */
#ifndef PIPECTL_RUNTIME_PLUGIN_ROWS_H
#define PIPECTL_RUNTIME_PLUGIN_ROWS_H

#include "foundation/base/arena.h"
#include "pipectl/host.h"

#define PCTL_ROWS_FIELDS_MAX 32u

typedef struct pctl_row {
	const char *field[PCTL_ROWS_FIELDS_MAX];
	uint32_t n;
	uint32_t reserved;
} pctl_row;

typedef struct pctl_rows {
	pctl_arena *arena; /* owns the texts; the caller's */
	pctl_row *rows;
	uint32_t n, cap;
} pctl_rows;

void pctl_rows_init(pctl_rows *r, pctl_arena *arena);
void pctl_rows_drop(pctl_rows *r);
/* Append a row of n copied fields; NULL counts as "". 1, or 0 for lack of memory. */
int pctl_rows_add(pctl_rows *r, const char *const *fields, uint32_t n);
void pctl_rows_remove(pctl_rows *r, uint32_t i);

/* Read a file whose first line is `header`. A missing file is no rows. Returns PCTL_E_INVALID,
 * without a diagnostic and with no rows, when it is not such a file; other errors with theirs. */
pctl_status pctl_rows_load(pctl_rows *r, const char *path, const char *header,
			   const pctl_call *call);
/* Write it whole or not at all; durable as for pctl_file_write. */
pctl_status pctl_rows_save(const pctl_rows *r, const char *path, const char *header, int durable,
			   const pctl_call *call);

#endif
