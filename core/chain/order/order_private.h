/* Shared by the files of order.h. */
#ifndef PIPECTL_CHAIN_ORDER_ORDER_PRIVATE_H
#define PIPECTL_CHAIN_ORDER_ORDER_PRIVATE_H

#include "chain/node/node_block.h"
#include "chain/order/order.h"

#define PCTL_ORDER_KEY_SIZE (PCTL_ORDER_PREFIX_MAX + 96u)
#define PCTL_ORDER_DIGEST_SIZE (2u * PCTL_DIGEST_BYTES + 1u) /* with a NUL, or a line's end */

/*
 * name      of this process as a leader
 * lease     0: none. It was kept alive last at `kept_ms`
 * is_leader the leader's key is this node's, as far as it knows; cut_ms: of its last block
 */
struct pctl_order {
	pctl_order_options o;
	pctl_decider *decider;
	pctl_etcd *etcd;
	char prefix[PCTL_ORDER_PREFIX_MAX + 1u];
	char name[33];
	int64_t lease;
	uint64_t kept_ms, cut_ms;
	uint64_t first; /* the oldest block of the log as far as is known, 0: not asked yet */
	int is_leader, is_checked, is_troubled, reserved;
	pctl_order_counts counts;
	node_block *block; /* where blocks are made, beside which the lease is kept alive */
};

/* A key below the prefix, into out, which is returned. */
char *pctl_order_key(const pctl_order *o, const char *folder, const char *name,
		     char out[PCTL_ORDER_KEY_SIZE]);
char *pctl_order_height(const pctl_order *o, const char *folder, uint64_t height,
			char out[PCTL_ORDER_KEY_SIZE]);
/* The prefix as given or of the chain, into out (PCTL_ORDER_PREFIX_MAX + 1 bytes); 0: it is none. */
int pctl_order_prefix(const char *given, const uint8_t chain[PCTL_DIGEST_BYTES], char *out);

/* order_lead.c */
pctl_status pctl_order_name(pctl_order *o, const pctl_call *call);
/* Keep the lease alive that there is, while a block is made; what goes wrong there is found out behind it. */
void pctl_order_keep(pctl_order *o);
/* Keep the lease alive, and become the leader where there is none. */
pctl_status pctl_order_campaign(pctl_order *o, const pctl_call *call);
/* Cut the next block, if this node leads, has all blocks, and it is time. */
pctl_status pctl_order_lead(pctl_order *o, const pctl_call *call);

/* order_prune.c: the oldest block that the log has, by what it says; and, for who leads, remove some that are older than what is retained. */
pctl_status pctl_order_first(pctl_order *o, const pctl_call *call, uint64_t *out);
pctl_status pctl_order_prune(pctl_order *o, const pctl_call *call);

#endif
