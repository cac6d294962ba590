/* What writing and reading of journals share. */
#ifndef PIPECTL_EVIDENCE_CERTIFY_JOURNAL_PRIVATE_H
#define PIPECTL_EVIDENCE_CERTIFY_JOURNAL_PRIVATE_H

#include "foundation/base/str.h"
#include "evidence/certify/journal.h"

#define PCTL_SHARDS_MAX 512u /* all are open at once when they are put together */
#define PCTL_JOURNAL_LATE "late\t"
#define PCTL_JOURNAL_SHAPES "shapes\t"
#define PCTL_JOURNAL_CHAIN 16u /* hex digits of a line's checksum */

/* chain = the first digits of SHA-256(chain, line). */
pctl_status pctl_journal_chain(char chain[PCTL_JOURNAL_CHAIN + 1], const char *line, size_t n,
			       const pctl_call *call);
/* The lines before the first entry: the head's, "shard", "begin" with the digest of all before it. */
pctl_status pctl_journal_head(const char *head, pctl_shard s, const pctl_call *call,
			      pctl_str_buf *out);
/* Bytes up to the end of the last good line, and its checksum. */
uint64_t pctl_journal_good(const pctl_journal_reader *r, char chain[PCTL_JOURNAL_CHAIN + 1]);
/* PC0003 from errno. */
pctl_status pctl_journal_io(const pctl_call *call, const char *what, const char *path);

#endif
