/* A journal: what came of the blocks of one shard, in order, one line a block, each line chained to those before it by
 * a checksum. It survives kill -9 at any moment; what a crash may leave is one torn line at the end, which is dropped
 * and run again. */
#ifndef PIPECTL_EVIDENCE_CERTIFY_JOURNAL_H
#define PIPECTL_EVIDENCE_CERTIFY_JOURNAL_H

#include "evidence/proof/proof.h"

/* Shard `index` of `count`, 1 to count, has the blocks whose number modulo count is index - 1. */
typedef struct pctl_shard {
	uint32_t index, count;
} pctl_shard;

#define PCTL_SHARDS_MAX 512u /* all are open at once when they are put together */
/* "3/8". 1 when text is a shard. */
int pctl_shard_parse(const char *text, pctl_shard *out);
/* Blocks it has of n, and the number of its k-th. */
uint64_t pctl_shard_blocks(pctl_shard s, uint64_t n);
uint64_t pctl_shard_block(pctl_shard s, uint64_t k);
/* DIR/shard-3-of-8.journal, released with free(); NULL: no memory. */
char *pctl_shard_path(const char *dir, pctl_shard s);

/* ran 0: not run, because of `cause`; then only number and cause mean anything. */
typedef struct pctl_journal_entry {
	uint64_t number;
	uint32_t ran, reserved;
	pctl_block block;
	char cause[256];
} pctl_journal_entry;

typedef struct pctl_journal pctl_journal;

/*
 * Begin a journal with the lines of `head` (certificate.h), whole on disk before this returns.
 *
 * Errors: PC5510 (there is one already), PC5511 (another process writes it), PC0003.
 */
pctl_status pctl_journal_create(const char *path, const char *head, pctl_shard s,
				const pctl_call *call, pctl_journal **out);
/* Go on behind the last good line; *n_out entries are there.
 * Errors: PC5512 (of another proof: the first line that differs is named), PC5513 (damaged), PC5511, PC0003. */
pctl_status pctl_journal_resume(const char *path, const char *head, pctl_shard s,
				const pctl_call *call, pctl_journal **out, uint64_t *n_out);
/* Entries come in the order of the shard's blocks. Durable at the latest a second or 64 entries later, and at close. */
pctl_status pctl_journal_append(pctl_journal *j, const pctl_journal_entry *e,
				const pctl_call *call);
/* A line that says which shapes the entries behind it were run in (runtime/exec/shape.h): one a process that runs the shard. */
pctl_status pctl_journal_shapes(pctl_journal *j, uint64_t seed, const pctl_call *call);
/* A library that the device's driver had mapped by now and not when it was opened: one line each, at the end of a run. */
pctl_status pctl_journal_late(pctl_journal *j, const char *name, const char *sha256,
			      const pctl_call *call);
pctl_status pctl_journal_close(pctl_journal *j, const pctl_call *call);

typedef struct pctl_journal_reader pctl_journal_reader;

/* Open for reading. *head is the reader's. Errors: PC5513, PC0003. */
pctl_status pctl_journal_read(const char *path, const pctl_call *call, pctl_journal_reader **out,
			      const char **head, pctl_shard *shard);
/* The next entry; *end 1 when there is none (a torn last line is none). Errors: PC5513. */
pctl_status pctl_journal_next(pctl_journal_reader *r, const pctl_call *call,
			      pctl_journal_entry *out, int *end);
/* The seeds of all such lines read so far, in hex, with blanks between; NULL: no memory. */
const char *pctl_journal_seeds(pctl_journal_reader *r);
/* All libraries of lines of pctl_journal_late read so far, "NAME<TAB>SHA-256" a line; NULL: no memory. */
const char *pctl_journal_late_files(pctl_journal_reader *r);
void pctl_journal_read_end(pctl_journal_reader *r);

#endif
