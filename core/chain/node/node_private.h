/* What the files of the node share: a client with its two buffers. */
#ifndef PIPECTL_CHAIN_NODE_NODE_PRIVATE_H
#define PIPECTL_CHAIN_NODE_NODE_PRIVATE_H

#include <stddef.h>

#include "chain/node/node.h"

/* Bytes from `at` to `end` are there; room grows as they come. */
typedef struct node_buffer {
	uint8_t *bytes;
	size_t at, end, room;
} node_buffer;

/*
 * is_ending  nothing more is read; closed when what waits has been sent
 * is_gone    the connection broke or ended: closed at the end of the round
 * moved_ms   when a byte last passed, in either direction
 * in_max     nothing more is read while so much waits to be taken
 * id         of this connection alone, from 1 on
 * n_held     its requests that were decoded and are not answered yet
 */
typedef struct node_client {
	int fd;
	uint32_t is_ending, is_gone, n_held;
	uint64_t id;
	uint64_t moved_ms, in_max;
	node_buffer in, out;
} node_client;

/* The largest frame with its length, and a little of the next. */
#define NODE_IN_MAX ((2u << 20) + (64u << 10))
/* No further frame of a client is served while so much waits for it. */
#define NODE_OUT_MAX (4u << 20)

size_t node_waiting(const node_buffer *b);
int node_append(node_buffer *b, const void *bytes, size_t n); /* 0: no memory */
void node_buffer_clear(node_buffer *b);

/* Read what has come, as far as there is room; write what waits, as far as it is taken. */
void node_client_read(node_client *c, uint64_t now);
void node_client_write(node_client *c, uint64_t now);
void node_skip(node_buffer *b, size_t n); /* n of the bytes that wait are dealt with */
/* The next whole frame, 1; 0 when there is none yet; -1 when its length is not allowed (*n says which). The bytes stay
 * where they are until the next read; skip takes the frame away. */
int node_client_frame(const node_client *c, const uint8_t **bytes, uint32_t *n);
void node_client_skip(node_client *c, uint32_t n);
/* A frame of n bytes to be sent. */
void node_client_answer(node_client *c, const void *bytes, uint32_t n);
void node_client_close(node_client *c);

#endif
