/* What writing and reading of records share. */
#ifndef PIPECTL_FOUNDATION_RECORD_RECORD_PRIVATE_H
#define PIPECTL_FOUNDATION_RECORD_RECORD_PRIVATE_H

#include "foundation/record/record.h"

/* Does a field stand in the text of this record. */
int pctl_record_present(const pctl_record_field *f, const char *record);

#endif
