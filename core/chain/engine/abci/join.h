/* A chain that comes in by a snapshot which the engine offers, from peers that nobody trusts: the
 * engine's own word for the block's hash is all that is believed. It is made beside the home's chain,
 * each parcel held against the offer and each file against the block, and takes its place when it is
 * whole. Killed on the way, an offer of the same snapshot goes on with what is there, another one
 * begins anew. */
#ifndef PIPECTL_CHAIN_ENGINE_ABCI_JOIN_H
#define PIPECTL_CHAIN_ENGINE_ABCI_JOIN_H

#include "chain/node/first_error.h"
#include "chain/sync/parcel.h"

#define PCTL_ABCI_RETRIES 8u   /* of one parcel, before the whole offer is rejected */
#define PCTL_ABCI_REJECTED 64u /* offers that are remembered as rejected */

/*
 * dir    HOME/chain
 * id     of the home's chain: a snapshot of another one is rejected in the end
 * adopt  the chain in dir/incoming is whole and closed: put it in the home's place (home/adopt.h). A status other than PCTL_OK is
 *        trouble of this node
 */
typedef struct pctl_abci_join_options {
	const char *dir;
	pctl_store *store;
	pctl_kernels *kernels;
	uint8_t id[PCTL_DIGEST_BYTES];
	pctl_status (*adopt)(void *ctx, const pctl_call *call);
	void *adopt_ctx;
} pctl_abci_join_options;

typedef struct pctl_abci_join pctl_abci_join;
pctl_status pctl_abci_join_open(const pctl_abci_join_options *o, const pctl_call *call,
				pctl_abci_join **out);
/* What was taken stays, for the next time. */
void pctl_abci_join_close(pctl_abci_join *j);

/* No snapshot is wanted any more: what is there of one goes. */
pctl_status pctl_abci_join_forget(pctl_abci_join *j, const pctl_call *call);

/* What becomes of an offer, or of a parcel. LIE: the offer itself is wrong. */
enum {
	PCTL_JOIN_ACCEPT,
	PCTL_JOIN_ABORT,
	PCTL_JOIN_RETRY,
	PCTL_JOIN_REJECT,
	PCTL_JOIN_REJECT_FORMAT,
	PCTL_JOIN_LIE
};
/* is_done: with this parcel the chain is the home's. code 0: nothing is wrong. */
typedef struct pctl_join_answer {
	uint32_t what, code, is_done, reserved;
	char text[PCTL_MESSAGE_ERROR_MAX + 1u];
} pctl_join_answer;

/* What a peer said, as the engine hands it on; hash: what the engine trusts, of the block's state. */
typedef struct pctl_join_offer {
	uint64_t height;
	uint32_t format, n_parcels;
	pctl_msg_bytes digest, text, hash;
} pctl_join_offer;

/* A status other than PCTL_OK is trouble of this node. */
pctl_status pctl_abci_join_offer(pctl_abci_join *j, const pctl_join_offer *o, const pctl_call *call,
				 pctl_join_answer *out);
/* PC6170: nothing was offered. */
pctl_status pctl_abci_join_parcel(pctl_abci_join *j, uint32_t number, const pctl_msg_bytes *bytes,
				  const pctl_call *call, pctl_join_answer *out);

#endif
