/* A history made again in an installation whose chain is empty, or stands at one of its blocks. */
#ifndef PIPECTL_CHAIN_HOME_REPLAY_H
#define PIPECTL_CHAIN_HOME_REPLAY_H

#include "chain/home/home.h"
#include "chain/replay/replay.h"
#include "chain/history/gitlog.h"

/*
 * from      the git directory of the history (blocks.git of another home)
 * fetch     a store that has what manifests name and this home lacks, opened for reading; NULL: it is all here
 * executor  runs the jobs; NULL: results are those recorded
 */
typedef struct pctl_home_replay_request {
	const char *from, *fetch;
	const pctl_executor *executor;
	pctl_progress_sink progress;
} pctl_home_replay_request;

/* What became of it; root and commit are those of the last block. */
typedef struct pctl_home_replayed {
	pctl_replay_report report;
	uint8_t root[PCTL_DIGEST_BYTES];
	pctl_gitlog_oid commit;
} pctl_home_replayed;

/*
 * Make the blocks of a history in HOME/chain, with the parameters that it began with. The chain must be empty, or stand at a
 * block of that history, from which it goes on: where a replay was cut short, or a snapshot restored (PC5858 otherwise). One
 * that was made for this and is then cancelled is away again, so that it can be begun anew; after another failure the
 * blocks before the one at fault stay. Errors besides those of pctl_replay: PC5752 (no log of blocks), PC5753 (no blocks).
 */
pctl_status pctl_home_replay(pctl_installation *in, const pctl_home_replay_request *q,
			     const pctl_call *call, pctl_home_replayed *out);

#endif
