/* Verification of finished blocks: the state before them is rebuilt from the history, their jobs are run again, and
 * every output, file and commit id is compared; for the last block the rows of this node too. */
#ifndef PIPECTL_CHAIN_REPLAY_VERIFY_H
#define PIPECTL_CHAIN_REPLAY_VERIFY_H

#include "chain/replay/replay.h"

/*
 * from, to    blocks to run again, 1 <= from <= to <= last
 * executor    runs their jobs; reference: as pctl_chain_replay_options
 * snapshot    a folder of sync/snapshot.h: the blocks before `from` are not made again, but this is what they left, for the
 *             id that this node has for that block is trusted; it must be of one before `from`. NULL: from the first block on
 * deep        also every object of the history and, where the rebuilt state reaches the present, every row of this node
 */
typedef struct pctl_verify_options {
	uint64_t from, to;
	const pctl_executor *executor, *reference;
	pctl_kernels *kernels;
	const char *snapshot;
	uint32_t deep, reserved;
	pctl_progress_sink progress;
} pctl_verify_options;

/*
 * Nothing of `c` changes. Errors: PC5852 (no such blocks), those of pctl_replay and of
 * restoring, PC6152 (the snapshot is of a later block), PC5857 (the rows differ), those of
 * reading the history and the store.
 */
pctl_status pctl_verify_blocks(pctl_chain *c, const pctl_verify_options *o, const pctl_call *call,
			       pctl_replay_report *report);

/* Compare all rows of all tables; PC5857 names table and row where they differ first. */
pctl_status pctl_state_compare(pctl_chain_state *a, pctl_chain_state *b, const pctl_call *call);

#endif
