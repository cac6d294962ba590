/* Frames over a socket: whole or refused, within a time, however the bytes are cut on the way. */
#include "chain/node/frame.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "foundation/base/bytes.h"
#include "runtime/ipc/process.h"
#include "foundation/base/clock.h"

#define SLICE_MS 100u /* how often a wait asks whether it is cancelled */
#define FIRST_ROOM 4096u

typedef struct line {
	int fd;
	const pctl_call *call;
	uint64_t start;
	uint32_t timeout_ms;
} line;

static pctl_status broken(const line *l, const char *what)
{
	return pctl_refuse(l->call, PC5798_FRAME_CLOSED, "%s", what);
}

/* Until the socket is ready for `events`. */
static pctl_status wait_for(const line *l, short events)
{
	struct pollfd p = {.fd = l->fd, .events = events};

	for (;;) {
		const uint64_t gone = pctl_clock_ms() - l->start;
		uint64_t left = SLICE_MS;
		int n;

		if (l->timeout_ms != 0 && gone >= l->timeout_ms)
			return pctl_refuse(l->call, PC5799_FRAME_TIMEOUT,
					   "no whole frame passed within %u ms", l->timeout_ms);
		if (l->timeout_ms != 0 && l->timeout_ms - gone < left)
			left = l->timeout_ms - gone;
		n = poll(&p, 1, (int)left);
		if (n > 0)
			return PCTL_OK;
		if (n < 0 && errno != EINTR)
			return broken(l, strerror(errno));
		if (pctl_is_cancelled(l->call))
			return PCTL_E_CANCELLED;
	}
}

static int try_again(int error)
{
	return error == EINTR || error == EAGAIN || error == EWOULDBLOCK;
}

static pctl_status send_all(const line *l, const uint8_t *bytes, size_t n)
{
	size_t at = 0;

	while (at < n) {
		pctl_status status = wait_for(l, POLLOUT);
		ssize_t sent;

		if (status != PCTL_OK)
			return status;
		sent = send(l->fd, bytes + at, n - at, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0 && !try_again(errno))
			return broken(l, strerror(errno));
		if (sent > 0)
			at += (size_t)sent;
	}
	return PCTL_OK;
}

/* Some bytes, at most n: *got is 0 only when the peer has closed. */
static pctl_status receive_some(const line *l, uint8_t *bytes, size_t n, size_t *got)
{
	*got = 0;
	for (;;) {
		pctl_status status = wait_for(l, POLLIN);
		ssize_t r;

		if (status != PCTL_OK)
			return status;
		r = recv(l->fd, bytes, n, MSG_DONTWAIT);
		if (r < 0 && try_again(errno))
			continue;
		if (r < 0)
			return broken(l, strerror(errno));
		*got = (size_t)r;
		return PCTL_OK;
	}
}

/* The length; *out is 0 when the peer closed before its first byte. */
static pctl_status receive_length(const line *l, uint32_t *out)
{
	uint8_t head[4];
	size_t at = 0, got;

	*out = 0;
	while (at < sizeof(head)) {
		pctl_status status = receive_some(l, head + at, sizeof(head) - at, &got);

		if (status != PCTL_OK)
			return status;
		if (got == 0)
			return at == 0 ? PCTL_OK
				       : broken(l, "the peer closed the connection before the "
						   "length of a frame was whole");
		at += got;
	}
	*out = (uint32_t)pctl_le_get(head, 4);
	return *out == 0 || *out > PCTL_FRAME_MAX
		       ? pctl_refuse(l->call, PC5797_FRAME_SIZE,
				     "a frame of %u bytes, from 1 to %u are allowed", *out,
				     PCTL_FRAME_MAX)
		       : PCTL_OK;
}

static pctl_status grow(const line *l, uint8_t **bytes, size_t *room, size_t n)
{
	const size_t more = *room == 0 ? FIRST_ROOM : *room * 2;
	uint8_t *grown = realloc(*bytes, more < n ? more : n);

	if (grown == NULL)
		return pctl_refuse(l->call, PC2_NOMEM, "no memory for a frame of %zu bytes", n);
	*bytes = grown;
	*room = more < n ? more : n;
	return PCTL_OK;
}

static pctl_status receive_body(const line *l, size_t n, uint8_t **out)
{
	size_t at = 0, room = 0, got;
	pctl_status status = PCTL_OK;

	while (status == PCTL_OK && at < n) {
		if (at == room)
			status = grow(l, out, &room, n);
		if (status == PCTL_OK)
			status = receive_some(l, *out + at, room - at, &got);
		if (status == PCTL_OK && got == 0)
			status = broken(l,
					"the peer closed the connection before a frame was whole");
		if (status == PCTL_OK)
			at += got;
	}
	return status;
}

pctl_status pctl_frame_send(int fd, const void *bytes, uint32_t n, uint32_t timeout_ms,
			    const pctl_call *call)
{
	const line l = {fd, call, pctl_clock_ms(), timeout_ms};
	uint8_t head[4];
	pctl_status status;

	pctl_le_put(head, n, sizeof(head));
	if (n == 0 || n > PCTL_FRAME_MAX)
		return pctl_refuse(call, PC5797_FRAME_SIZE,
				   "a frame of %u bytes, from 1 to %u are allowed", n,
				   PCTL_FRAME_MAX);
	status = send_all(&l, head, sizeof(head));
	return status == PCTL_OK ? send_all(&l, bytes, n) : status;
}

pctl_status pctl_frame_receive(int fd, uint32_t timeout_ms, const pctl_call *call, uint8_t **out,
			       uint32_t *n_out)
{
	const line l = {fd, call, pctl_clock_ms(), timeout_ms};
	uint8_t *bytes = NULL;
	uint32_t n;
	pctl_status status = receive_length(&l, &n);

	*out = NULL;
	*n_out = 0;
	if (status != PCTL_OK || n == 0)
		return status;
	status = receive_body(&l, n, &bytes);
	if (status != PCTL_OK) {
		free(bytes);
		return status;
	}
	*out = bytes;
	*n_out = n;
	return PCTL_OK;
}
