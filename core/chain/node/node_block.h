/* Work that takes long, a block above all, in another thread than the loop's: the one that waits for it, so that what it opens (workers, which die with
 * the thread that made them) lives as long as it does. One piece of it at a time; the loop goes on answering beside it. */
#ifndef PIPECTL_CHAIN_NODE_NODE_BLOCK_H
#define PIPECTL_CHAIN_NODE_NODE_BLOCK_H

#include "chain/node/first_error.h"

typedef struct node_block node_block;
typedef pctl_status (*node_block_fn)(void *ctx, const pctl_call *call);

pctl_status node_block_open(const pctl_call *call, node_block **out);
void node_block_close(node_block *b);

/* By the loop, when nothing is under way. What `ctx` points to is the other thread's until it has ended. */
void node_block_begin(node_block *b, node_block_fn run, void *ctx);
/* Readable when it has ended. */
int node_block_fd(const node_block *b);
/* 1: it has ended (waits: when it has), with its status and what was said first. */
int node_block_ended(node_block *b, int waits, pctl_status *status, node_first_error *e);

/* Run `loop` in a thread of its own, and in this one what it begins, until it returns: its status. */
pctl_status node_block_beside(node_block *b, node_block_fn loop, void *ctx, const pctl_call *call);

#endif
