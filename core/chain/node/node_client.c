/* One connection of a node: bytes come and go as the socket allows, never waiting; frames are cut from them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "chain/node/frame.h"
#include "chain/node/node_private.h"
#include "foundation/base/bytes.h"

#define HEAD 4u
#define READ_BYTES (64u << 10)
#define KEPT_ROOM 4096u /* of an empty buffer */

size_t node_waiting(const node_buffer *b)
{
	return b->end - b->at;
}

void node_buffer_clear(node_buffer *b)
{
	free(b->bytes);
	*b = (node_buffer){.bytes = NULL};
}

/* Room for n more bytes behind `end`. */
static int reserve(node_buffer *b, size_t n)
{
	size_t room = b->room == 0 ? 4096 : b->room;
	uint8_t *grown;

	if (b->at > 0) {
		memmove(b->bytes, b->bytes + b->at, node_waiting(b));
		b->end -= b->at;
		b->at = 0;
	}
	while (room - b->end < n)
		room *= 2;
	if (room == b->room)
		return 1;
	grown = realloc(b->bytes, room);
	if (grown == NULL)
		return 0;
	b->bytes = grown;
	b->room = room;
	return 1;
}

void node_skip(node_buffer *b, size_t n)
{
	b->at += n;
	if (b->at != b->end)
		return;
	b->at = b->end = 0;
	if (b->room > KEPT_ROOM)
		node_buffer_clear(b);
}

int node_append(node_buffer *b, const void *bytes, size_t n)
{
	if (b->room - b->end < n && !reserve(b, n))
		return 0;
	memcpy(b->bytes + b->end, bytes, n);
	b->end += n;
	return 1;
}

static int try_again(int error)
{
	return error == EINTR || error == EAGAIN || error == EWOULDBLOCK;
}

void node_client_read(node_client *c, uint64_t now)
{
	uint8_t some[READ_BYTES]; /* a connection without bytes has no buffer */

	while (!c->is_gone && !c->is_ending && node_waiting(&c->in) < c->in_max) {
		const ssize_t n = recv(c->fd, some, sizeof(some), MSG_DONTWAIT);

		if (n < 0) {
			c->is_gone = !try_again(errno);
			return;
		}
		/* Who closed may still want the answers to what was asked before. */
		if (n == 0) {
			c->is_ending = 1;
			return;
		}
		if (node_waiting(&c->in) == 0)
			c->reading = (node_flow){.since_ms = now};
		if (!node_append(&c->in, some, (size_t)n)) {
			c->is_gone = 1;
			return;
		}
		c->reading.n_moved += (size_t)n;
		c->moved_ms = now;
		if ((size_t)n < sizeof(some))
			return;
	}
}

void node_client_write(node_client *c, uint64_t now)
{
	/* What was put there since it was last looked at waits from now on. */
	if (node_waiting(&c->out) > 0 && c->writing.since_ms == 0)
		c->writing = (node_flow){.since_ms = now};
	while (!c->is_gone && node_waiting(&c->out) > 0) {
		const ssize_t n = send(c->fd, c->out.bytes + c->out.at, node_waiting(&c->out),
				       MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0) {
			c->is_gone = !try_again(errno);
			return;
		}
		node_skip(&c->out, (size_t)n);
		c->writing.n_moved += (size_t)n;
		c->moved_ms = now;
	}
	c->writing = (node_flow){.since_ms = 0};
}

/* ---- the slow ------------------------------------------------------------------------------ */

static int is_behind(const node_flow *f, uint64_t now, uint64_t grace_ms)
{
	const uint64_t due = f->since_ms + grace_ms;

	return due < now && f->n_moved < (now - due) * NODE_PACE;
}

int node_client_is_slow(const node_client *c, uint64_t now, uint64_t grace_ms)
{
	/* Whole frames wait for the node, not for their sender. */
	const int is_inside = c->is_partial && node_waiting(&c->in) != 0;

	return ((is_inside || node_waiting(&c->out) != 0) && c->moved_ms + grace_ms <= now) ||
	       (is_inside && node_waiting(&c->out) == 0 && is_behind(&c->reading, now, grace_ms)) ||
	       (node_waiting(&c->out) != 0 && c->writing.since_ms != 0 &&
		is_behind(&c->writing, now, grace_ms));
}

node_client *node_client_outstayed(node_client *clients, uint32_t n, uint64_t now,
				   uint64_t stall_ms)
{
	const uint64_t grace = stall_ms < NODE_CROWDED_MS ? stall_ms : NODE_CROWDED_MS;
	node_client *found = NULL;
	int best = 0;

	for (uint32_t i = 0; i < n; i++) {
		node_client *c = &clients[i];
		const int waits = node_waiting(&c->in) != 0 || node_waiting(&c->out) != 0;
		int rank = 0;

		if (c->n_frames == 0 && c->moved_ms + grace <= now)
			rank = 3;
		else if (node_client_is_slow(c, now, grace))
			rank = 2;
		else if (!waits && c->moved_ms + stall_ms <= now)
			rank = 1;
		if (rank > best || (rank != 0 && rank == best && c->moved_ms < found->moved_ms)) {
			found = c;
			best = rank;
		}
	}
	return found;
}

size_t node_client_held(const node_client *c)
{
	return c->in.room + c->out.room;
}

void node_client_taken(node_client *c, size_t n)
{
	node_skip(&c->in, n);
	c->reading = (node_flow){.since_ms = c->moved_ms, .n_moved = node_waiting(&c->in)};
	c->n_frames += c->n_frames != UINT32_MAX;
}

int node_client_frame(const node_client *c, const uint8_t **bytes, uint32_t *n)
{
	const uint8_t *h = c->in.bytes + c->in.at;

	*bytes = NULL;
	*n = 0;
	if (node_waiting(&c->in) < HEAD)
		return 0;
	*n = (uint32_t)pctl_le_get(h, HEAD);
	if (*n == 0 || *n > PCTL_FRAME_MAX)
		return -1;
	if (node_waiting(&c->in) - HEAD < *n)
		return 0;
	*bytes = h + HEAD;
	return 1;
}

void node_client_skip(node_client *c, uint32_t n)
{
	node_client_taken(c, HEAD + (size_t)n);
}

void node_client_answer(node_client *c, const void *bytes, uint32_t n)
{
	uint8_t head[HEAD];

	pctl_le_put(head, n, HEAD);
	if (c->is_gone)
		return;
	if (!node_append(&c->out, head, HEAD) || !node_append(&c->out, bytes, n))
		c->is_gone = 1;
}

void node_client_close(node_client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	node_buffer_clear(&c->in);
	node_buffer_clear(&c->out);
	*c = (node_client){.fd = -1};
}
