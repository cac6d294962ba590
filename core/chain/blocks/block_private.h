/* Shared by the block files: the block being ended, and its steps in their order. Internal to core/chain. */
#ifndef PIPECTL_CHAIN_BLOCKS_BLOCK_PRIVATE_H
#define PIPECTL_CHAIN_BLOCKS_BLOCK_PRIVATE_H

#include "foundation/base/map.h"
#include "foundation/base/vec.h"
#include "chain/blocks/block.h"
#include "chain/chain_private.h"
#include "chain/graph/edges.h"
#include "evidence/receipt/block_receipt.h"

/*
 * A job of the block.
 *
 * row      as it stands in the queue
 * message  decoded from the row
 * error    why it fails; NULL: it runs
 * inputs   of one that ran: 0:0 and the further bindings, job:ID resolved
 * evidence how its output stands: as its executor says, then the weakest along what went in
 * kept     bytes of its output while jobs of this block still want them, else NULL
 * n_users  later jobs of this block that bind its output and have not run yet
 */
typedef struct pctl_block_job {
	pctl_chain_job row;
	pctl_request message;
	const char *error;
	pctl_block_input inputs[PCTL_MESSAGE_BINDINGS_MAX + 1u];
	uint32_t n_inputs, has_uniform;
	uint8_t uniform[PCTL_DIGEST_BYTES];
	pctl_cid output;
	pctl_evidence evidence; /* of the output */
	uint8_t *kept;
	uint32_t n_users, has_run;
	uint32_t waits, reserved; /* for a job that is not of this block and has not ended */
} pctl_block_job;

/* A job that ended with the block: one that it chose, or (job NULL) one that ended while its messages were taken in. */
typedef struct pctl_block_ended {
	const pctl_chain_job *row;
	const pctl_block_job *job;
} pctl_block_ended;

typedef struct pctl_block_work {
	pctl_chain *chain;
	pctl_chain_state *s;
	const pctl_call *call;
	const pctl_block_watch *watch; /* NULL: nobody looks on */
	pctl_arena *arena;
	pctl_params params; /* in force at the height */
	pctl_block_header header;
	uint64_t n_messages;
	PCTL_VEC(pctl_block_job *) jobs; /* in the order of the queue */
	pctl_map *by_id;
	const char *deferred[PCTL_MESSAGE_BLOCK_JOBS_MAX];
	uint32_t n_deferred;	/* of the array; header.deferred counts all */
	pctl_block_job **order; /* those that run, by clock, then place in the queue */
	uint32_t n_order;
	PCTL_VEC(pctl_block_ended)
	ended;				 /* by clock, then place in the queue; once it is settled */
	pctl_str_buf edges;		 /* the file of that name; once it is settled */
	PCTL_VEC(pctl_block_need) needs; /* named by its messages */
	pctl_map *sizes;    /* by CID, uint64_t in the arena: of bytes that were read to run jobs */
	uint64_t submitted; /* height whose parameters are in `then` */
	pctl_params then;
	pctl_block_record record;
	pctl_gitlog_oid commit;
	int executing; /* what others are told (executing.h), until the block has ended or is given up */
} pctl_block_work;

/* The job that "job:ID" (or an id) names, when it is of this block, else NULL. */
pctl_block_job *pctl_block_find(const pctl_block_work *w, const char *name);
/* A row as a job of the block, in the arena, its message decoded; NULL after an error. */
pctl_status pctl_block_job_make(pctl_block_work *w, const pctl_chain_job *row,
				pctl_block_job **out);
/* A reference is "job:ID": its id, else NULL. */
const char *pctl_block_job_of(const char *reference);
/* The references of an execute message to bytes, 0: input, then the bindings; NULL behind the last. */
const char *pctl_block_reference(const pctl_msg_execute *m, uint32_t i, uint32_t *group,
				 uint32_t *binding);

/*
 * A job in the queue, as a block considers it under version 2 of the rules: `first` 0 for the chain's own jobs, 1 for the oldest of
 * the queue where it has waited queue_age blocks, 2 for all others; these by tip / gas, descending, then all by position. A job
 * counts no more than any job in the queue that it waits for, so that it stands behind them. job: as it was read to find that out,
 * NULL where so many wait that it was not kept; its message is released by whoever chooses.
 */
typedef struct pctl_block_waiting {
	uint8_t id[PCTL_DIGEST_BYTES];
	uint64_t position, gas;
	uint64_t tip, per; /* tip / gas, or that of who holds it back */
	uint32_t first, is_left;
	pctl_block_job *job;
} pctl_block_waiting;
/* In the order in which they are considered; in the arena. */
pctl_status pctl_block_queue(pctl_block_work *w, pctl_block_waiting **out, uint32_t *n);

/* Choose the jobs of the block, with those that fail and why. */
pctl_status pctl_block_select(pctl_block_work *w);
/* Run what runs; outputs into the store, durably when it returns. */
pctl_status pctl_block_execute(pctl_block_work *w);
/* A line of the file of edges. */
void pctl_block_edge_text(const pctl_edge *e, pctl_str_buf *out);
/* Rows: jobs ended, gas settled, edges. */
pctl_status pctl_block_settle(pctl_block_work *w);
/* The files, from rows and from the work. */
pctl_status pctl_block_write_record(pctl_block_work *w);

#endif
