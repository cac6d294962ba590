/* Shared by writing and restoring snapshots. Internal to core/chain/sync. */
#ifndef PIPECTL_CHAIN_SYNC_SNAPSHOT_PRIVATE_H
#define PIPECTL_CHAIN_SYNC_SNAPSHOT_PRIVATE_H

#include "chain/state/cursor.h"
#include "chain/sync/snapshot.h"
#include "foundation/base/map.h"

#define PCTL_SNAPSHOT_FILE_MAX ((uint64_t)256 << 20)

/* A file of the folder, written whole or not at all. */
pctl_status pctl_snapshot_put(const char *dir, const char *name, const void *data, uint64_t n,
			      const pctl_call *call);
/* The CID that a reference stands for: itself, or the output of a complete job. PCTL_E_NOT_FOUND without a word: a job
 * that has none. */
pctl_status pctl_snapshot_resolve(pctl_chain *c, const char *reference, const pctl_call *call,
				  pctl_cid *out);

/* ---- a restore ------------------------------------------------------------------------------ */

/* asked: references of the rows that were taken, NULL where nobody wants to know; wanted: the CIDs that they stand for, once all rows are here. n_taken:
 * chunks of the index. */
struct pctl_restore {
	pctl_chain *c;
	pctl_chain_state *s;
	sqlite3 *db;
	char *dir;
	pctl_trusted trusted;
	const pctl_call *call; /* of the step that runs */
	pctl_snapshot_report *report;
	pctl_arena *arena; /* of the whole */
	pctl_radix *hasher;
	pctl_snapshot_index index;
	pctl_block_record record;
	pctl_block_header header;
	pctl_proof_bytes commit, entries;
	uint8_t root[PCTL_DIGEST_BYTES]; /* of the tree */
	pctl_map *asked, *wanted;
	uint32_t n_taken;
	int is_done; /* this very block was restored before */
};

pctl_status pctl_restore_in_form(const pctl_restore *r, const char *name, const char *what);
/* A file of the folder, released with free(); *is_there 0: there is none. */
pctl_status pctl_restore_file(const pctl_restore *r, const char *name, uint64_t limit, char **out,
			      uint64_t *n, int *is_there);
pctl_status pctl_restore_need_file(const pctl_restore *r, const char *name, uint64_t limit,
				   char **out, uint64_t *n);
/* The index; the record of the block, with the SHA-256 of its files but the header; the same, held against what is trusted. */
pctl_status pctl_restore_read_index(pctl_restore *r);
pctl_status pctl_restore_read_record(pctl_restore *r, pctl_proof_digest *digests,
				     uint32_t *n_digests);
pctl_status pctl_restore_read_block(pctl_restore *r);

#endif
