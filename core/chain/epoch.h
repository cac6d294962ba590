/* The rank of the graph itself, asked for by the chain at the end of an epoch through the same path as anybody's job. */
#ifndef PIPECTL_CHAIN_EPOCH_H
#define PIPECTL_CHAIN_EPOCH_H

#include "chain/chain.h"
#include "chain/edges.h"

#define PCTL_EPOCH_ACCOUNT "rank" /* who submits and pays; anyone may fund it by a transfer */

/*
 * Called inside the transaction that ends block `height`, after its record is closed. Does nothing unless the parameter
 * epoch_blocks is not 0 and divides height. Otherwise: the graph as it stands (links and inputs between CIDs with the
 * stake of who drew them) is written in its one canonical form and put into the store, and the rank's jobs are submitted
 * with pctl_chain_submit(.., PCTL_ORIGIN_EPOCH, ..), so that they are the first messages of the next block. What keeps
 * them from being submitted (no gas, no links) is no error: *note, of at least 160 bytes, says why, else it is "".
 */
pctl_status pctl_chain_epoch(pctl_chain *c, uint64_t height, const pctl_call *call, char *note);

#endif
