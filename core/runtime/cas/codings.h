/* How CIDs and evidence stand in records. */
#ifndef PIPECTL_RUNTIME_CAS_CODINGS_H
#define PIPECTL_RUNTIME_CAS_CODINGS_H

#include "foundation/record/record.h"

extern const pctl_record_coding pctl_cid_coding;      /* pctl_cid */
extern const pctl_record_coding pctl_evidence_coding; /* pctl_evidence */

#endif
