/* What was served in a round and is not answered yet: answers wait until the batch they belong to is durable, and become
 * errors when it is not. */
#ifndef PIPECTL_CHAIN_NODE_NODE_BATCH_H
#define PIPECTL_CHAIN_NODE_NODE_BATCH_H

#include "chain/node/node_private.h"

/* Bytes of an encoded response to `to`; NULL: it could not be encoded, and is an error. in_batch: it counts only when
 * the batch is committed. */
typedef struct node_reply {
	node_client *to;
	uint8_t *bytes;
	uint64_t n;
	uint32_t in_batch, reserved;
} node_reply;

/*
 * is_open  between begin and commit
 * trouble  the code that ended this round's batch, 0: none. Nothing more is served in such a round
 */
typedef struct node_batch {
	const pctl_node_service *service;
	pctl_node_counts *counts;
	void (*report)(void *ctx, uint32_t code, const char *text);
	void *report_ctx;
	node_reply *replies;
	size_t n_replies, room, n_bytes;
	uint32_t is_open, failure;
	char words[PCTL_MESSAGE_ERROR_MAX + 1u];
} node_batch;

/* Whether another frame may be taken before the round ends. */
int node_batch_has_room(const node_batch *b);
/* Decode and serve one frame. BLOCK_END ends the batch before it. */
void node_batch_take(node_batch *b, node_client *c, const uint8_t *bytes, uint32_t n,
		     const pctl_call *call);
/* An ERROR response in its turn. */
void node_batch_refuse(node_batch *b, node_client *c, uint32_t code, const char *text);
/* Commit and hand every reply to its client; the round is over. */
void node_batch_end(node_batch *b, const pctl_call *call);
void node_batch_clear(node_batch *b);

/* Outside of any round. */
void node_answer_error(node_client *c, uint32_t code, const char *text);

#endif
