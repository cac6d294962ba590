/* Inside of the memo table, shared by memo.c and made.c: texts that are checked by a digest of their own (memo_record.c). */
#ifndef PIPECTL_RUNTIME_CAS_MEMO_PRIVATE_H
#define PIPECTL_RUNTIME_CAS_MEMO_PRIVATE_H

#include "foundation/record/record.h"
#include "runtime/cas/memo.h"

struct pctl_memo {
	char *path;
	pctl_store *store;
};

extern const pctl_record_type pctl_memo_type, pctl_made_type;

/* The text of a record with its last line, "sum HEX" of all before, released with free(); NULL: no memory. */
char *pctl_memo_seal(const pctl_record_type *t, const void *record);
/* 1 and the record, of `size` bytes, when the file is such a text; else 0 and zeros. */
int pctl_memo_read(const pctl_record_type *t, const char *path, uint64_t most, void *record,
		   size_t size);

/* 1 when a record is read back as it is written: no field is too long or has bytes that part fields. */
int pctl_memo_is_valid(const pctl_memo_record *r);

#endif
