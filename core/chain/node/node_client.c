/* One connection of a node: bytes come and go as the socket allows, never waiting; frames are cut from them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "chain/node/frame.h"
#include "chain/node/node_private.h"

#define HEAD 4u
#define READ_BYTES (64u << 10)
#define KEPT_ROOM (64u << 10) /* of an empty buffer */

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
	while (!c->is_gone && !c->is_ending && node_waiting(&c->in) < c->in_max) {
		ssize_t n;

		if (!reserve(&c->in, READ_BYTES)) {
			c->is_gone = 1;
			return;
		}
		n = recv(c->fd, c->in.bytes + c->in.end, READ_BYTES, MSG_DONTWAIT);
		if (n < 0) {
			c->is_gone = !try_again(errno);
			return;
		}
		/* Who closed may still want the answers to what was asked before. */
		if (n == 0) {
			c->is_ending = 1;
			return;
		}
		c->in.end += (size_t)n;
		c->moved_ms = now;
		if ((size_t)n < READ_BYTES)
			return;
	}
}

void node_client_write(node_client *c, uint64_t now)
{
	while (!c->is_gone && node_waiting(&c->out) > 0) {
		const ssize_t n = send(c->fd, c->out.bytes + c->out.at, node_waiting(&c->out),
				       MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0) {
			c->is_gone = !try_again(errno);
			return;
		}
		node_skip(&c->out, (size_t)n);
		c->moved_ms = now;
	}
}

int node_client_frame(const node_client *c, const uint8_t **bytes, uint32_t *n)
{
	const uint8_t *h = c->in.bytes + c->in.at;

	*bytes = NULL;
	*n = 0;
	if (node_waiting(&c->in) < HEAD)
		return 0;
	*n = h[0] | (uint32_t)h[1] << 8 | (uint32_t)h[2] << 16 | (uint32_t)h[3] << 24;
	if (*n == 0 || *n > PCTL_FRAME_MAX)
		return -1;
	if (node_waiting(&c->in) - HEAD < *n)
		return 0;
	*bytes = h + HEAD;
	return 1;
}

void node_client_skip(node_client *c, uint32_t n)
{
	node_skip(&c->in, HEAD + (size_t)n);
}

void node_client_answer(node_client *c, const void *bytes, uint32_t n)
{
	const uint8_t head[HEAD] = {(uint8_t)n, (uint8_t)(n >> 8), (uint8_t)(n >> 16),
				    (uint8_t)(n >> 24)};

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
