/* A chain made again from its history: recorded messages are taken in, blocks are ended with the recorded results or by
 * running their jobs, and every file and commit id must come out as it is recorded. */
#ifndef PIPECTL_CHAIN_REPLAY_REPLAY_H
#define PIPECTL_CHAIN_REPLAY_REPLAY_H

#include "chain/blocks/block.h"

typedef struct pctl_history pctl_history;

/* The blocks up to commit `tip`, which must be a line of heights 1, 2, 3 .., or where the log has a floor from its block on:
 * PC5853 otherwise. The log outlives it. */
pctl_status pctl_history_open(pctl_gitlog *log, const pctl_gitlog_oid *tip, const pctl_call *call,
			      pctl_history **out);
void pctl_history_close(pctl_history *h);
uint64_t pctl_history_last(const pctl_history *h);
uint64_t pctl_history_first(const pctl_history *h);
/* height from first to last */
const pctl_gitlog_oid *pctl_history_commit(const pctl_history *h, uint64_t height);
/* The parameters that the chain began with, from its first block (PC6152: it is gone). */
pctl_status pctl_history_genesis(const pctl_history *h, const pctl_call *call, pctl_params *out);

typedef struct pctl_replay_report {
	uint64_t blocks, messages, jobs, executed, fetched, fetched_bytes;
} pctl_replay_report;

/*
 * to         last block to make
 * run_from   from this height on jobs are run; below, results are those recorded. UINT64_MAX: recorded throughout
 * fetch      where to take what manifests name and the chain's store lacks; may be NULL: then it must all be there
 *            (what the run is to make is not asked for)
 * check      compare outputs with the recorded ones instead of putting them into the store (verification)
 * reference  with check: runs a job again whose outputs differ, to say which is right; may be NULL
 * progress   told after each block
 */
typedef struct pctl_chain_replay_options {
	uint64_t to, run_from;
	pctl_store *fetch;
	const pctl_executor *reference;
	uint32_t check, reserved;
	pctl_progress_sink progress;
} pctl_chain_replay_options;

/*
 * Make the blocks of `h` up to o->to in `c`, which stands at the block before the first of them (of its own history it
 * may have the first ones already).
 *
 * Errors: PC6152 (a block that it begins with is gone), PC5862 (a message is refused), PC5863, PC5855, PC5856, PC5859, those of reading a record and of ending a
 * block. Blocks before the one at fault are final in `c`.
 */
pctl_status pctl_replay(pctl_chain *c, const pctl_history *h, const pctl_chain_replay_options *o,
			const pctl_call *call, pctl_replay_report *report);

#endif
