/* A snapshot made into the chain of an installation, and old blocks of one removed. */
#ifndef PIPECTL_CHAIN_HOME_RESTORE_H
#define PIPECTL_CHAIN_HOME_RESTORE_H

#include "chain/home/home.h"
#include "chain/sync/snapshot.h"

/* Make HOME/chain of a snapshot (pctl_snapshot_restore), where it goes on when it was cut short. */
pctl_status pctl_home_restore(pctl_installation *in, const char *dir, const pctl_trusted *trusted,
			      const pctl_call *call, pctl_snapshot_report *out);

/*
 * Remove the records of all but the last `keep` blocks from the history. Rows of the state stay, and so does what the store
 * has: what names it may still be asked for. PC6151; *first: the oldest block that is left; *packs that went.
 */
pctl_status pctl_home_prune(pctl_chain *c, uint64_t keep, const pctl_call *call, uint64_t *first,
			    uint64_t *packs);

#endif
