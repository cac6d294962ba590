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

/* A direction of a connection: since when bytes wait to become a frame, or to be taken, and how many passed since. */
typedef struct node_flow {
	uint64_t since_ms, n_moved;
} node_flow;

/*
 * is_ending  nothing more is read; closed when what waits has been sent
 * is_gone    the connection broke or ended: closed at the end of the round
 * n_frames   whole frames that were taken from it; is_partial: what waits to be taken is a part of one
 * moved_ms   when a byte last passed, in either direction
 * in_max     nothing more is read while so much waits to be taken
 * id         of this connection alone, from 1 on
 * n_held     its requests that were decoded and are not answered yet
 */
typedef struct node_client {
	int fd;
	uint32_t is_ending, is_gone, n_held, n_frames, is_partial, reserved;
	uint64_t id;
	uint64_t moved_ms, in_max;
	node_buffer in, out;
	node_flow reading, writing;
} node_client;

/* The largest frame with its length, and a little of the next. */
#define NODE_IN_MAX ((2u << 20) + (64u << 10))
/* No further frame of a client is served while so much waits for it. */
#define NODE_OUT_MAX (4u << 20)

/* Bytes a millisecond that a frame has to come, and an answer to be taken, behind the grace that everybody has. */
#define NODE_PACE 64u
/* The grace while all places are taken, at most: a place is for who does something with it. */
#define NODE_CROWDED_MS 1000u
/* Bytes in the buffers of all clients, above which nothing more is read, and who has held them longest goes. */
#define NODE_HELD_MAX ((size_t)256 << 20)
/* Connections that are taken from the door in one turn. */
#define NODE_ACCEPTS 256u

/* Slower than anybody has to be: within the grace, or at that pace, it did not send the frame that it began or take what waits. */
int node_client_is_slow(const node_client *c, uint64_t now, uint64_t grace_ms);
/* Whose place goes to a newcomer, of n clients whose places are all taken: who never sent a whole frame and had its grace, who is slow, who
 * was silent for stall_ms; the longest first. NULL: nobody's. */
node_client *node_client_outstayed(node_client *clients, uint32_t n, uint64_t now,
				   uint64_t stall_ms);
size_t node_client_held(const node_client *c);
/* A frame of n bytes, its head counted in, is dealt with. */
void node_client_taken(node_client *c, size_t n);

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
