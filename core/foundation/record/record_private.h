/* What writing and reading of records share, whether they are in libconfig's grammar or lines. */
#ifndef PIPECTL_FOUNDATION_RECORD_RECORD_PRIVATE_H
#define PIPECTL_FOUNDATION_RECORD_RECORD_PRIVATE_H

#include "foundation/record/record.h"

#define PCTL_RECORD_WHAT 96u /* room to say what a value should be */

typedef struct pctl_record_writer {
	pctl_str_buf *out;
	const pctl_record_type *type;
	uint32_t indent; /* of the line that is being written */
} pctl_record_writer;

/* status: the first fault ends it all. text: of all of it, of lines. */
typedef struct pctl_record_reader {
	const pctl_record_type *type;
	const char *name;
	pctl_arena *arena;
	const pctl_call *call;
	pctl_status status;
	const char *text, *end;
} pctl_record_reader;

/* Does a field stand in the text of this record. */
int pctl_record_present(const pctl_record_field *f, const char *record);
/* Is it lines. */
int pctl_record_is_lines(const pctl_record_type *t);

/* The value of a field that has one: of lines as it is, else as libconfig wants it. */
void pctl_record_write_value(pctl_record_writer *w, const pctl_record_field *f, const char *record);
/* Take it out of its text: 0, and what should stand there, when it is none. Lack of memory becomes the status. */
int pctl_record_take(pctl_record_reader *r, const pctl_record_field *f, const char *text, size_t n,
		     char *record, char what[PCTL_RECORD_WHAT]);
/* Which words a field may hold, for people. */
void pctl_record_words(const pctl_record_field *f, char what[PCTL_RECORD_WHAT]);
/* Room for n items of a list; NULL: the status is not PCTL_OK. */
void *pctl_record_room(pctl_record_reader *r, size_t n, size_t size);

/* lines_write.c, lines_read.c */
void pctl_record_write_lines(pctl_record_writer *w, const char *record);
void pctl_record_write_raw(const pctl_record_type *t, const char *text, pctl_str_buf *out);
void pctl_record_read_lines(pctl_record_reader *r, char *record);

#endif
