/* Other nodes that are asked for bytes which this one lacks, over their sockets (PROTOCOL.md): held against their CID, so
 * that nobody needs to be believed. */
#ifndef PIPECTL_CHAIN_NODE_PEERS_H
#define PIPECTL_CHAIN_NODE_PEERS_H

#include "runtime/cas/store.h"

/* paths: of their sockets, in the order in which they are asked; timeout_ms: of each answer, 0: 10 s. */
typedef struct pctl_peers {
	const char *const *paths;
	uint32_t n, timeout_ms;
} pctl_peers;

/*
 * A pctl_fetch_fn, ctx a pctl_peers: the first that gives bytes of this CID, in pieces of at most 1 MiB and no more than 128
 * MiB, has them put into the store. Each that does not is a warning, PC5839. PCTL_E_NOT_FOUND: none gave them.
 */
pctl_status pctl_peers_fetch(void *ctx, const pctl_cid *cid, pctl_store *store,
			     const pctl_call *call);

#endif
