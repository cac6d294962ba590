/* The state of a finished block as files that anybody can hand on, and a chain made from them by whoever trusts the id of
 * that block and nobody else (README.md has the files). */
#ifndef PIPECTL_CHAIN_SYNC_SNAPSHOT_H
#define PIPECTL_CHAIN_SYNC_SNAPSHOT_H

#include "chain/sync/rowproof.h"

/* Rows of a chunk take at most this many bytes, unless it is one row. */
#define PCTL_SNAPSHOT_CHUNK_BYTES (1u << 20)

typedef struct pctl_snapshot_file {
	char name[32];
	uint64_t n_bytes;
} pctl_snapshot_file;
typedef struct pctl_snapshot_index {
	uint64_t height;
	pctl_snapshot_file *chunks;
	uint32_t n_chunks, reserved;
} pctl_snapshot_index;
extern const pctl_record_type pctl_snapshot_index_type;

typedef struct pctl_snapshot_report {
	uint64_t height, chunks, rows, bytes, blobs;
	pctl_gitlog_oid commit;
} pctl_snapshot_report;

/*
 * Write the state of the last finished block into DIR, which must be empty or missing: its record, its rows in chunks
 * ascending by the keys of their leaves, and the bytes that are state or that waiting jobs need. chunk_bytes: 0 for the usual
 * bound. The store is held (store.h) for that time, by the caller where he holds a moment of the state, before which he has to. Errors: PC6143; PC6140 when the rows are not those of the tree; PC6149 (DIR is not empty); of files.
 */
pctl_status pctl_snapshot_write(pctl_chain *c, const char *dir, uint64_t chunk_bytes,
				const pctl_call *call, pctl_snapshot_report *out);

/*
 * Fill a chain that was opened bare (chain.h) from DIR. Goes on where a restore of the same block was cut short: what a
 * chunk brought is durable before the next is read. Where this block was restored before and nothing came after it, nothing is done. When it returns the chain stands where the block left it.
 *
 * Errors: PC6146 (a file is missing or not in form), PC6148 (not the trusted block), PC6147 (a chunk lies; what came
 * before it stays), PC6149, PC6150.
 */
pctl_status pctl_snapshot_restore(pctl_chain *c, const char *dir, const pctl_trusted *trusted,
				  const pctl_call *call, pctl_snapshot_report *out);

/*
 * The same step by step, for a folder that is being filled: `open` wants the index and the record there, `take` the chunk that
 * `next` names (*more 0: there was none left to take), and its file may go then; `finish` wants the bytes. report: outlives it,
 * and counts. is_asked: when the last chunk is taken, `wants` says whether the rows ask for bytes with that CID; chunks that
 * were taken before a restart have to be there again then.
 */
typedef struct pctl_restore pctl_restore;
pctl_status pctl_restore_open(pctl_chain *c, const char *dir, const pctl_trusted *trusted,
			      int is_asked, const pctl_call *call, pctl_snapshot_report *report,
			      pctl_restore **out);
int pctl_restore_was_whole(
	const pctl_restore *
		r); /* this very block had been restored before it was opened: there is nothing to take */
const char *pctl_restore_next(const pctl_restore *r); /* NULL: every chunk is taken */
pctl_status pctl_restore_take(pctl_restore *r, const pctl_call *call, int *more);
pctl_status pctl_restore_wants(pctl_restore *r, const char *cid, const pctl_call *call, int *out);
pctl_status pctl_restore_finish(pctl_restore *r, const pctl_call *call);
void pctl_restore_close(pctl_restore *r); /* what was taken stays */

/* Of which block a folder says that it is. PC6146. */
pctl_status pctl_snapshot_height(const char *dir, const pctl_call *call, uint64_t *out);

/* ---- one chunk ------------------------------------------------------------------------------ */

/*
 * Rows whose leaves begin with the same bits; all there are. prefix: those bits; siblings: as many, from the root.
 */
typedef struct pctl_chunk_row {
	uint32_t table, n;
	const uint8_t *row;
	pctl_radix_leaf leaf;
} pctl_chunk_row;
typedef struct pctl_chunk {
	uint32_t n_bits, n_rows;
	uint8_t prefix[PCTL_DIGEST_BYTES];
	uint8_t (*siblings)[PCTL_DIGEST_BYTES];
	pctl_chunk_row *rows;
} pctl_chunk;

/* The bytes of a chunk, appended. */
pctl_status pctl_chunk_text(const pctl_chunk *chunk, const pctl_call *call, pctl_str_buf *out);
/* Take it out of its bytes, which it borrows, and hold it against the root of the tree. PC6147; name: of the file. */
pctl_status pctl_chunk_read(const char *name, const uint8_t *bytes, uint64_t n,
			    const uint8_t root[PCTL_DIGEST_BYTES], pctl_radix *t, pctl_arena *a,
			    const pctl_call *call, pctl_chunk *out);

/* Bytes that a row asks for, those that are state and those that a waiting job reads: a CID, or "job:ID", in `visit`. */
typedef pctl_status (*pctl_need_visit)(void *ctx, const char *reference);
pctl_status pctl_row_needs(uint32_t table, const uint8_t *row, uint64_t n, pctl_need_visit visit,
			   void *ctx, const pctl_call *call);

#endif
