/* A snapshot made into the chain of an installation, and old blocks of one removed. */
#ifndef PIPECTL_CHAIN_HOME_RESTORE_H
#define PIPECTL_CHAIN_HOME_RESTORE_H

#include "chain/home/home.h"
#include "chain/sync/snapshot.h"

/* Make HOME/chain of a snapshot (pctl_snapshot_restore), where it goes on when it was cut short. */
pctl_status pctl_home_restore(pctl_installation *in, const char *dir, const pctl_trusted *trusted,
			      const pctl_call *call, pctl_snapshot_report *out);

/* first: the oldest block that is left; what went: packs of the history, and receipts and statements of older blocks. */
typedef struct pctl_pruned {
	uint64_t first, packs, receipts, statements;
} pctl_pruned;

/*
 * Remove the records of all but the last `keep` blocks from the history, and with them what this home signed of them
 * (chain/receipts). Rows of the state stay, and so does what the store has: what names it may still be asked for. PC6151, PC3.
 */
pctl_status pctl_home_prune(pctl_chain *c, uint64_t keep, const pctl_call *call, pctl_pruned *out);

#endif
