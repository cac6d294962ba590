/* What was served in a round and is not answered yet: answers wait until the batch they belong to is durable, and become
 * errors when it is not. */
#ifndef PIPECTL_CHAIN_NODE_NODE_BATCH_H
#define PIPECTL_CHAIN_NODE_NODE_BATCH_H

#include "chain/node/node_private.h"
#include "foundation/base/vec.h"

/* Bytes of an encoded response to `to`; NULL: it could not be encoded, and is an error. in_batch: it counts only when
 * the batch is committed. */
typedef struct node_reply {
	node_client *to;
	uint8_t *bytes;
	uint64_t n;
	uint32_t in_batch, reserved;
} node_reply;

/* A request in its turn; kind 0: `code` and `words` are its answer. hint: where its client was last. */
typedef struct node_item {
	uint64_t client;
	pctl_request request;
	char *words;
	uint32_t hint, code, is_seen, reserved;
} node_item;

/*
 * items    taken and not served yet, from `at` on
 * block    the block that is being ended in another thread; NULL: blocks are ended here. is_busy: one is
 * is_open  between begin and commit
 * trouble  the code that ended this round's batch, 0: none. Nothing more is served in such a round
 */
typedef struct node_batch {
	const pctl_node_service *service;
	pctl_node_counts *counts;
	void (*report)(void *ctx, uint32_t code, const char *text);
	void *report_ctx;
	node_client *clients; /* of the node, *n_clients of them */
	const uint32_t *n_clients;
	PCTL_VEC(node_item) items;
	uint32_t at, is_busy;
	struct node_block *block;
	pctl_request ending; /* its end and what came of it: the other thread's while is_busy */
	pctl_response ended;
	uint64_t ender; /* the client that asked for its end */
	node_reply *replies;
	size_t n_replies, room, n_bytes;
	uint64_t n_held_bytes; /* of items */
	uint32_t is_open, failure;
	char words[PCTL_MESSAGE_ERROR_MAX + 1u];
} node_batch;

/* Whether another frame may be taken before the round ends. */
int node_batch_has_room(const node_batch *b);
/* Decode one frame, to be served in its turn; what asks nothing of a block that is being ended is answered at once. */
void node_batch_take(node_batch *b, node_client *c, const uint8_t *bytes, uint32_t n,
		     const pctl_call *call);
/* An ERROR response in its turn. */
void node_batch_refuse(node_batch *b, node_client *c, uint32_t code, const char *text);
/* Serve what was taken, as far as no block is being ended; commit and hand every reply to its client; the round is over.
 * BLOCK_END ends the batch before it. 1: more can be served at once. */
void node_batch_run(node_batch *b, const pctl_call *call);
/* The block has ended, if it has: its answer is handed out. waits: until it has. */
void node_batch_collect(node_batch *b, int waits, const pctl_call *call);
/* Nothing more is served: what was taken and is not answered is refused. */
void node_batch_stop(node_batch *b, const pctl_call *call);
void node_batch_clear(node_batch *b);

/* Outside of any round. */
void node_answer_error(node_client *c, uint32_t code, const char *text);

#endif
