/* The rank of the graph itself, asked for by the chain at the end of an epoch through the same path as anybody's job. */
#ifndef PIPECTL_CHAIN_EPOCH_EPOCH_H
#define PIPECTL_CHAIN_EPOCH_EPOCH_H

#include "chain/chain.h"
#include "chain/graph/edges.h"
#include "chain/registry/own.h"

/*
 * Called inside the transaction that ends block `height`, after its record is closed. Does nothing unless the parameter
 * epoch_blocks is not 0 and divides height. Otherwise: the graph as it stands (links and inputs between CIDs with the
 * stake of who drew them) is written in its one canonical form (snapshot.h) and put into the store, and the rank's jobs
 * are submitted with pctl_chain_submit(.., PCTL_ORIGIN_EPOCH, ..), so that they are the first messages of the next
 * block. What keeps them from being submitted (no gas, no links) is no error: *note, of at least PCTL_EPOCH_NOTE_SIZE
 * bytes, says why and so does a warning (PC6101); else it is "".
 *
 * The jobs: for each of `epoch_iterations`, one of shaders/spread.wgsl and one of shaders/settle.wgsl, each reading the
 * output of the one before; the first reads no bytes, which stands for equal ranks. Binding 0:2 is the graph. The
 * output of the last is what rank.weighted@1 gives for the graph's edges and weights, with damping_ppm 850000. Both
 * shaders are uploaded by the account when they are not registered. Each job may use the same share of epoch_gas_limit,
 * or of the account's balance when that is less.
 *
 * From version 2 of the rules on links pay link_cost to the account, the jobs come first in their block, nobody else uploads or
 * deprecates the shaders, and a graph of more than epoch_links edges is cut into parts (snapshot.h): spread.wgsl for each, whose sums
 * shaders/gather.wgsl adds up, 2 jobs a part in each iteration. The output is that of one part, to the bit. Of more than 64 parts the
 * links of the least stake are left out, so that no graph is too large.
 */
#define PCTL_EPOCH_NOTE_SIZE 160u
pctl_status pctl_chain_epoch(pctl_chain *c, uint64_t height, const pctl_call *call, char *note);

/* A rank that was asked for. last: the job whose output is the ranks, u64 a node. */
typedef struct pctl_epoch {
	uint64_t height, n_nodes, n_edges, iterations;
	pctl_cid graph, names; /* graph: of the first part */
	uint8_t last[PCTL_DIGEST_BYTES];
} pctl_epoch;

/* Of block `height`; 0: the latest whose last job is complete. PC6102. */
pctl_status pctl_epoch_read(pctl_chain_state *s, uint64_t height, const pctl_call *call,
			    pctl_epoch *out);
/* The latest whose last job was complete by block `height`. PC6102. */
pctl_status pctl_epoch_read_by(pctl_chain_state *s, uint64_t height, const pctl_call *call,
			       pctl_epoch *out);

#endif
