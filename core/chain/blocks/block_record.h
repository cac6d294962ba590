/* The files of a block, as they stand in the history: lines of text with one spelling each (blocks.md). A record is a
 * function of the messages and the state before them; nothing of the device or the node that made it is in it. */
#ifndef PIPECTL_CHAIN_BLOCKS_BLOCK_RECORD_H
#define PIPECTL_CHAIN_BLOCKS_BLOCK_RECORD_H

#include "foundation/base/arena.h"
#include "foundation/base/str.h"
#include "chain/history/gitlog.h"
#include "chain/jobs/jobs.h"
#include "chain/ledger/params.h"

/* In the order in which the state root takes them. */
enum {
	PCTL_BLOCK_HEADER,
	PCTL_BLOCK_GENESIS, /* of block 1 alone */
	PCTL_BLOCK_MESSAGES,
	PCTL_BLOCK_RESULTS,
	PCTL_BLOCK_CLOCKS, /* this and edges: under version 1 of the rules */
	PCTL_BLOCK_EDGES,
	PCTL_BLOCK_BALANCES,
	PCTL_BLOCK_RECEIPTS,
	PCTL_BLOCK_MANIFEST,
	PCTL_BLOCK_FILES
};
const char *pctl_block_file_name(uint32_t file);
/* Has a record with this text of a header such a file? (Of `genesis` the commit decides.) NULL, for the header itself: 1. */
int pctl_block_has_file(const char *header, uint32_t file);

/* Texts end with a line end unless they are empty; a file that is not there is NULL. Owned; released with clear. */
typedef struct pctl_block_record {
	char *text[PCTL_BLOCK_FILES];
	uint64_t n_bytes[PCTL_BLOCK_FILES];
} pctl_block_record;
void pctl_block_record_clear(pctl_block_record *r);

/* What the file `header` says. previous: state root before; zeros before the first block. tree: from version 2 of the rules
 * on, the root of the tree over the state (state.h), as text; "" under version 1. */
typedef struct pctl_block_header {
	uint64_t height, first_clock, clock, budget, complete, failed, deferred, gas;
	char executor[PCTL_ACCOUNT_SIZE];
	char tree[2 * PCTL_DIGEST_BYTES + 1];
	uint8_t previous[PCTL_DIGEST_BYTES], root[PCTL_DIGEST_BYTES];
} pctl_block_header;

/*
 * Close a record whose other files are written: computes h->root and writes the header.
 *
 *     root = SHA-256( "pipectl state 1" NUL || previous || SHA-256(f) for f of HEAD, genesis, messages, results, clocks,
 *                     edges, balances, receipts, manifest )
 *
 * HEAD is the header without its last line, which is the root; a file that is not there is left out (pctl_block_has_file). With a tree it begins
 * "pipectl state 2".
 */
pctl_status pctl_block_record_close(pctl_block_record *r, pctl_block_header *h,
				    const pctl_call *call);
/* The message of the commit, into buf, which is returned. */
#define PCTL_BLOCK_COMMIT_TEXT_SIZE 512u
char *pctl_block_commit_text(const pctl_block_header *h, char buf[PCTL_BLOCK_COMMIT_TEXT_SIZE]);
/* Files for the log: `out` has room for PCTL_BLOCK_FILES; they borrow from the record. How many. */
uint32_t pctl_block_record_files(const pctl_block_record *r, pctl_gitlog_file *out);

/* ---- lines -------------------------------------------------------------------------------- */

/* A message of the block; bytes are an encoded request. */
typedef struct pctl_block_message {
	uint32_t origin, n_bytes;
	uint8_t *bytes;
} pctl_block_message;
pctl_status pctl_block_message_text(uint32_t origin, const uint8_t *bytes, uint64_t n,
				    const pctl_call *call, pctl_str_buf *out);

/* How a job ended; error "" when it is complete. */
typedef struct pctl_block_result {
	uint8_t id[PCTL_DIGEST_BYTES];
	uint64_t clock, gas, n_output;
	uint32_t status, reserved; /* PCTL_JOB_COMPLETE, _FAILED */
	pctl_cid output;
	const char *error;
} pctl_block_result;
void pctl_block_result_text(const pctl_block_result *r, pctl_str_buf *out);

/* Bytes by name: needed by the messages of the block, or made by its jobs. */
typedef struct pctl_block_need {
	pctl_cid cid;
	uint64_t n_bytes;
	uint32_t is_made, reserved;
} pctl_block_need;
void pctl_block_need_text(const pctl_block_need *n, pctl_str_buf *out);

void pctl_block_genesis_text(const pctl_params *p, pctl_str_buf *out);

/* ---- reading ------------------------------------------------------------------------------ */

/* The files of a commit. PC5853 when one is missing; PC5853/PC5854 when the header or the root is not right; what is in
 * the other files is not looked at. */
pctl_status pctl_block_record_read(pctl_gitlog *log, const pctl_gitlog_oid *commit,
				   const pctl_call *call, pctl_block_record *out,
				   pctl_block_header *header);

/* Decode; refuses whatever encoding would not give (PC5853). `name` of the block is for messages; lists live in the
 * arena. */
pctl_status pctl_block_read_header(const pctl_block_record *r, const char *name,
				   const pctl_call *call, pctl_block_header *out);
pctl_status pctl_block_read_genesis(const pctl_block_record *r, const char *name,
				    const pctl_call *call, pctl_params *out);
pctl_status pctl_block_read_messages(const pctl_block_record *r, const char *name, pctl_arena *a,
				     const pctl_call *call, pctl_block_message **out,
				     uint32_t *n_out);
pctl_status pctl_block_read_results(const pctl_block_record *r, const char *name, pctl_arena *a,
				    const pctl_call *call, pctl_block_result **out,
				    uint32_t *n_out);
pctl_status pctl_block_read_manifest(const pctl_block_record *r, const char *name, pctl_arena *a,
				     const pctl_call *call, pctl_block_need **out, uint32_t *n_out);

/* PC5856 with file, line and both lines where two records differ first. */
pctl_status pctl_block_compare(const char *name, const pctl_block_record *recorded,
			       const pctl_block_record *made, const pctl_call *call);

#endif
