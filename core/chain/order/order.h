/* Blocks in the order of an etcd cluster: a deployment whose members are believed, of which some may be down. Messages are put under a
 * key; who holds the leader's lease cuts them into blocks; every node follows the log of blocks through the decider. A block is
 * one transaction of etcd that asks for its absence, for the leader's key and for every message of it to wait still, so nothing is
 * ordered twice and no leader of before cuts. Keys, all below the prefix:
 *
 *     chain              hex of the id of the chain
 *     message/DIGEST     an encoded request; DIGEST: hex of its SHA-256
 *     waiting/DIGEST     its size in digits, until a block has it; the revision that made it is its place
 *     leader             a node's name, bound to its lease
 *     block/HEIGHT       20 digits; the digests of its messages in order, a line each
 *     root/HEIGHT        the state root that the first node to finish the block came to, in hex
 *     first              20 digits: the oldest block that is kept; where it is not there, the first one
 *
 * The leader removes blocks that are older than those that are retained, with their messages and roots, and compacts etcd. A node that
 * needs one of them comes in by a snapshot. A message that was removed and is put again is ordered again, and the state machine refuses it.
 */
#ifndef PIPECTL_CHAIN_ORDER_ORDER_H
#define PIPECTL_CHAIN_ORDER_ORDER_H

#include "chain/engine/decide.h"
#include "chain/order/etcd.h"

#define PCTL_ORDER_PREFIX_MAX 128u
#define PCTL_ORDER_MESSAGES_MAX \
	100u /* of a block: a transaction of etcd has at most 128 conditions */
#define PCTL_ORDER_BYTES_MAX (2u << 20)	  /* of its messages together */
#define PCTL_ORDER_MESSAGE_MAX (1u << 20) /* bytes of a message: etcd takes no more */
#define PCTL_ORDER_LEASE_S 5u
#define PCTL_ORDER_BLOCK_MS 500u
#define PCTL_ORDER_RETAIN 10000u

/*
 * service   etcd://HOST:PORT,..
 * prefix    of all keys, ends with '/'; NULL: "pipectl-", 40 digits of the chain's id and '/'
 * block_ms  between two blocks of a leader, 0: PCTL_ORDER_BLOCK_MS. Without messages or waiting jobs none is cut
 * retain    blocks of the log that stay when this node leads; 0: all of them
 * report    told of trouble with the service or with this node's disk when it begins, code 0 when it is over
 */
typedef struct pctl_order_options {
	const char *service, *prefix;
	uint32_t block_ms, reserved;
	uint64_t retain;
	void (*report)(void *ctx, uint32_t code, const char *text);
	void *report_ctx;
} pctl_order_options;

typedef struct pctl_order_counts {
	uint64_t blocks, cut,
		terms; /* followed, cut here, and times that this node became the leader */
} pctl_order_counts;

typedef struct pctl_order pctl_order;

/* Nothing is asked yet. PC6180, PC10 (a prefix that is none). The decider outlives it. */
pctl_status pctl_order_open(const pctl_order_options *o, pctl_decider *d, const pctl_call *call,
			    pctl_order **out);
/*
 * Follow, and lead when nobody does, until `call` is cancelled: PCTL_E_CANCELLED. While the service does not answer or has no room it is asked
 * again, and so it is while this node cannot write: nothing of a block that was not finished stays. Ends otherwise with PC6182, PC6183, PC6187, and
 * other trouble of this node.
 */
pctl_status pctl_order_run(pctl_order *o, const pctl_call *call);
const pctl_order_counts *pctl_order_counts_of(const pctl_order *o);
/* Gives up the lease. */
void pctl_order_close(pctl_order *o, const pctl_call *call);

/* Put a message into the order: one that is there already stays where it is. Nothing of it is judged but that it is a message for a
 * chain (its code, or PC5840 unsigned). PC6181: ask again, it is harmless. prefix NULL: of the chain that it names. */
pctl_status pctl_order_submit(const char *service, const char *prefix,
			      const pctl_msg_bytes *message, const pctl_call *call);

#endif
