/* A small file of rows of text fields, tab-separated, one row a line, with escapes for tab, newline
 * and backslash: how the registry remembers verdicts, devices and quarantine. People can read and
 * edit it. */
#ifndef PIPECTL_RUNTIME_PLUGIN_TSV_H
#define PIPECTL_RUNTIME_PLUGIN_TSV_H

#include "foundation/base/arena.h"
#include "pipectl/host.h"

#define PCTL_TSV_FIELDS_MAX 32u

typedef struct pctl_tsv_row {
	const char *field[PCTL_TSV_FIELDS_MAX];
	uint32_t n;
	uint32_t reserved;
} pctl_tsv_row;

typedef struct pctl_tsv {
	pctl_arena *arena; /* owns the texts; the caller's */
	pctl_tsv_row *rows;
	uint32_t n, cap;
} pctl_tsv;

void pctl_tsv_init(pctl_tsv *r, pctl_arena *arena);
void pctl_tsv_drop(pctl_tsv *r);
/* Append a row of n copied fields; NULL counts as "". 1, or 0 for lack of memory. */
int pctl_tsv_add(pctl_tsv *r, const char *const *fields, uint32_t n);
void pctl_tsv_remove(pctl_tsv *r, uint32_t i);

/* Read a file whose first line is `header`. A missing file is no rows. Returns PCTL_E_INVALID,
 * without a diagnostic and with no rows, when it is not such a file; other errors with theirs. */
pctl_status pctl_tsv_load(pctl_tsv *r, const char *path, const char *header, const pctl_call *call);
/* Write it whole or not at all; durable as for pctl_file_write. */
pctl_status pctl_tsv_save(const pctl_tsv *r, const char *path, const char *header, int durable,
			  const pctl_call *call);

#endif
