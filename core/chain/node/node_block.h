/* The end of a block in another thread than the loop's: one that waits for it, so that what it opens (workers, which die with the
 * thread that made them) lives as long as it does. */
#ifndef PIPECTL_CHAIN_NODE_NODE_BLOCK_H
#define PIPECTL_CHAIN_NODE_NODE_BLOCK_H

#include "chain/node/node.h"

typedef struct node_block node_block;
pctl_status node_block_open(const pctl_node_service *service, const pctl_call *call,
			    node_block **out);
void node_block_close(node_block *b);

/* By the loop. Takes the request, and leaves it empty. Readable at `fd` when it has ended. */
void node_block_begin(node_block *b, pctl_request *r);
int node_block_fd(const node_block *b);
/* 1: it has ended (waits: when it has), with its status, what was said first, and the response, which is the caller's now. */
int node_block_ended(node_block *b, int waits, pctl_status *status, uint32_t *code,
		     const char **words, pctl_response *out);
/* Whoever ends blocks may go home. */
void node_block_over(node_block *b);

/* By the other thread: end blocks until that. */
void node_block_work(node_block *b, const pctl_call *call);

#endif
