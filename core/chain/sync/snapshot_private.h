/* Shared by writing and restoring snapshots. Internal to core/chain/sync. */
#ifndef PIPECTL_CHAIN_SYNC_SNAPSHOT_PRIVATE_H
#define PIPECTL_CHAIN_SYNC_SNAPSHOT_PRIVATE_H

#include "chain/sync/snapshot.h"

/* A file of the folder, written whole or not at all. */
pctl_status pctl_snapshot_put(const char *dir, const char *name, const void *data, uint64_t n,
			      const pctl_call *call);
/* The CID that a reference stands for: itself, or the output of a complete job. PCTL_E_NOT_FOUND without a word: a job
 * that has none. */
pctl_status pctl_snapshot_resolve(pctl_chain *c, const char *reference, const pctl_call *call,
				  pctl_cid *out);

#endif
