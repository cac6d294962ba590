/* Snapshots that a node behind ABCI offers to others: made of the last block every so many blocks, the last ones kept. What they are:
 * ../../sync/parcel.h. Taking one in is join.h's. */
#ifndef PIPECTL_CHAIN_ENGINE_ABCI_SNAPSHOTS_H
#define PIPECTL_CHAIN_ENGINE_ABCI_SNAPSHOTS_H

#include "chain/sync/parcel.h"

#define PCTL_ABCI_SNAPSHOTS_KEPT 2u
#define PCTL_ABCI_SNAPSHOT_BLOCKS 1000u

/* digest: SHA-256 of the offer's text, which lies in the arena of whoever asked. */
typedef struct pctl_abci_snapshot {
	uint64_t height;
	uint32_t n_parcels, n_text;
	const uint8_t *text;
	uint8_t digest[PCTL_DIGEST_BYTES];
} pctl_abci_snapshot;

/* Make one of the last block of `reader`, and remove what is older than the last ones. dir: HOME/chain/snapshots. A file of it is
 * whole or not there; what a crash left is removed by the next one. Errors: those of pctl_snapshot_write, of files. */
pctl_status pctl_abci_snapshot_make(pctl_chain *reader, const char *dir, const pctl_call *call);

/* Those that are whole, the newest first, at most PCTL_ABCI_SNAPSHOTS_KEPT. */
pctl_status pctl_abci_snapshot_list(const char *dir, pctl_arena *a, const pctl_call *call,
				    pctl_abci_snapshot *out, uint32_t *n_out);

/* One parcel, released with free(); NULL: there is none of this height and number. */
pctl_status pctl_abci_snapshot_parcel(const char *dir, uint64_t height, uint32_t number,
				      const pctl_call *call, char **out, uint64_t *n_out);

#endif
