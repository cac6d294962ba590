/* Finished blocks as rows, and the hooks by which verification and replay look on while a block is ended again. */
#ifndef PIPECTL_CHAIN_BLOCKS_BLOCK_H
#define PIPECTL_CHAIN_BLOCKS_BLOCK_H

#include "chain/blocks/block_record.h"
#include "chain/chain.h"

/*
 * first_clock  clock of the block when it was opened: 1 + final clock of the block before
 * clock        final clock
 * deferred     jobs that stayed in the queue
 * messages     taken in since the block before
 * gas          charged to its jobs
 * root         state root: block_record.h
 */
typedef struct pctl_block_row {
	uint64_t height, first_clock, clock, complete, failed, deferred, messages, gas;
	char executor[PCTL_ACCOUNT_SIZE];
	uint8_t root[PCTL_DIGEST_BYTES];
	pctl_gitlog_oid commit;
} pctl_block_row;

/* PC5852 when there is none. */
pctl_status pctl_blocks_read(pctl_chain_state *s, uint64_t height, const pctl_call *call,
			     pctl_block_row *out);
/* The last finished block; before the first all fields are 0 (and root is zeros). */
pctl_status pctl_blocks_last(pctl_chain_state *s, const pctl_call *call, pctl_block_row *out);

/* Is the tree over the rows, where there is one, the one that the record of the last block says: PC6141. */
pctl_status pctl_blocks_check_tree(pctl_chain *c, const pctl_block_row *last,
				   const pctl_call *call);

/* The row of a block that is final; inside a transaction. */
pctl_status pctl_blocks_add(pctl_chain_state *s, const pctl_block_header *h, uint64_t n_messages,
			    const pctl_gitlog_oid *oid, const pctl_call *call);

/*
 * Who looks on while a block is ended. Either may be NULL.
 *
 * output  a job ran and gave these bytes: called in place of putting them into the store. A status other than PCTL_OK
 *         ends it all, and nothing has changed. task is what the executor was given; it lives until output returns
 * record  the record is closed, and `commit` is the id that it has or would have. Nothing is written yet: a status other
 *         than PCTL_OK leaves everything as it was
 */
typedef struct pctl_block_watch {
	pctl_status (*output)(void *ctx, const pctl_chain_job *job, const pctl_task *task,
			      const pctl_cid *cid, const pctl_call *call);
	pctl_status (*record)(void *ctx, const pctl_block_record *record,
			      const pctl_gitlog_oid *commit, const pctl_call *call);
	void *ctx;
} pctl_block_watch;

/* pctl_chain_end_block with somebody looking on. */
pctl_status pctl_block_end(pctl_chain *c, const pctl_request *r, const pctl_block_watch *watch,
			   const pctl_call *call, pctl_response *out);

/* pctl_block_end in two halves, for whoever says apart that it is final (engine/decide.h). close: inside an open batch of the
 * caller, all but that; after trouble the batch is to be aborted. final: the batch becomes durable as block `height`. */
pctl_status pctl_block_close(pctl_chain *c, const pctl_request *r, const pctl_call *call,
			     pctl_response *out);
pctl_status pctl_block_final(pctl_chain *c, uint64_t height, const pctl_gitlog_oid *commit,
			     const pctl_call *call);

#endif
