/* What writing and reading of journals share. */
#ifndef PIPECTL_EVIDENCE_CERTIFY_JOURNAL_PRIVATE_H
#define PIPECTL_EVIDENCE_CERTIFY_JOURNAL_PRIVATE_H

#include "foundation/record/record.h"
#include "evidence/certify/journal.h"

#define PCTL_JOURNAL_CHAIN 16u /* hex digits of a line's checksum */

enum {
	PCTL_JOURNAL_RAN,
	PCTL_JOURNAL_FAILED,
	PCTL_JOURNAL_NOT_RUN,
	PCTL_JOURNAL_SHAPES,
	PCTL_JOURNAL_LATE
};

/* A line without its checksum; of what its kind has no use for nothing is said. seed: of shapes, as hex; name, sha256: of a
 * library that was mapped late. */
typedef struct pctl_journal_line {
	uint32_t kind, reserved;
	pctl_journal_entry entry;
	char seed[17];
	const char *name, *sha256;
} pctl_journal_line;
extern const pctl_record_type pctl_journal_line_type;

/* chain = the first digits of SHA-256(chain, line). */
pctl_status pctl_journal_chain(char chain[PCTL_JOURNAL_CHAIN + 1], const char *line, size_t n,
			       const pctl_call *call);
/* The lines before the first entry: the head's, "shard", "begin" with the digest of all before it. */
pctl_status pctl_journal_head(const char *head, pctl_shard s, const pctl_call *call,
			      pctl_str_buf *out);
/* Bytes up to the end of the last good line, and its checksum. */
uint64_t pctl_journal_good(const pctl_journal_reader *r, char chain[PCTL_JOURNAL_CHAIN + 1]);
/* Go on to the first line in which two texts differ, or to the end of ours; its number, and the bytes it has in each. */
uint32_t pctl_journal_difference(const char **theirs, size_t *n_theirs, const char **ours,
				 size_t *n_ours);
/* PC0003 from errno. */
pctl_status pctl_journal_io(const pctl_call *call, const char *what, const char *path);

#endif
