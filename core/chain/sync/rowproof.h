/* Proofs that a row is in the state of a finished block, or that none has a key, which whoever trusts the id of that block
 * can check without a chain. What they are made of: SEMANTICS.md 8.7. */
#ifndef PIPECTL_CHAIN_SYNC_ROWPROOF_H
#define PIPECTL_CHAIN_SYNC_ROWPROOF_H

#include "chain/blocks/block.h"
#include "chain/state/row.h"
#include "foundation/record/record.h"

typedef struct pctl_proof_bytes {
	uint8_t *data;
	uint32_t n, reserved;
} pctl_proof_bytes;
typedef struct pctl_proof_leaf {
	uint8_t key[PCTL_DIGEST_BYTES], value[PCTL_DIGEST_BYTES];
} pctl_proof_leaf;
typedef struct pctl_proof_digest {
	uint8_t digest[PCTL_DIGEST_BYTES];
} pctl_proof_digest;

/*
 * table, key  of the row; row: n_row 0 where it is proved that there is none, and other: the leaf that stands there
 * siblings    on the way from the root
 * files       SHA-256 of the record's files but the header
 * header, commit, entries  the file, the git commit and its tree
 */
typedef struct pctl_row_proof {
	uint64_t height;
	char table[64];
	pctl_proof_bytes key, row[1];
	pctl_proof_leaf other[1];
	pctl_proof_digest *siblings, files[PCTL_BLOCK_FILES - 1];
	uint32_t n_row, n_other, n_siblings, n_files;
	pctl_proof_bytes header, commit, entries;
} pctl_row_proof;

extern const pctl_record_type pctl_row_proof_type;

/* A block whose id somebody trusts: that of its commit, or its state root. */
typedef struct pctl_trusted {
	uint32_t is_root, reserved;
	pctl_gitlog_oid commit;
	uint8_t root[PCTL_DIGEST_BYTES];
} pctl_trusted;
/* 40 or 64 hex digits; PC0010. */
pctl_status pctl_trusted_read(const char *text, const pctl_call *call, pctl_trusted *out);

/*
 * Append the proof of a key in the last finished block. words: one for each part of the primary key. Errors: PC6142 (no
 * such table, or no key of it), PC6143, PC6140, those of reading the history.
 */
pctl_status pctl_row_prove(pctl_chain *c, const char *table, const char *const *words,
			   uint32_t n_words, const pctl_call *call, pctl_str_buf *out);

/* What a proof shows, in the arena. */
pctl_status pctl_row_proof_read(const char *name, const char *text, size_t n, pctl_arena *a,
				const pctl_call *call, pctl_row_proof *out); /* PC6144 */
/* Does it hold, for this block; name: of the file, for messages. PC6145 says which step does not. */
pctl_status pctl_row_proof_check(const char *name, const pctl_row_proof *p,
				 const pctl_trusted *trusted, const pctl_call *call);

/* The part of a check that snapshots share: does this record have this tree, and is it the trusted block. tree: the root.
 * form: the code of what does not hold. */
pctl_status pctl_record_is_trusted(const char *name, uint32_t code, const pctl_proof_bytes *header,
				   const pctl_proof_digest *files, uint32_t n_files,
				   const pctl_proof_bytes *commit, const pctl_proof_bytes *entries,
				   const pctl_trusted *trusted, const pctl_call *call,
				   pctl_block_header *out);

/* A word of a proof for people: the columns of a row, one a line, "name value". */
void pctl_row_text(const pctl_state_table *t, const uint8_t *row, uint64_t n, pctl_str_buf *out);

#endif
