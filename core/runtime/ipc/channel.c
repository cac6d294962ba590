/* Frames over a stream socket; see channel.h. */
#include "runtime/ipc/channel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define RX_MIN 65536u

void pctl_ipc_channel_init(pctl_ipc_channel *ch, int fd)
{
	memset(ch, 0, sizeof(*ch));
	ch->fd = fd;
}

void pctl_ipc_channel_close(pctl_ipc_channel *ch)
{
	uint32_t i;

	if (ch->fd >= 0)
		close(ch->fd);
	ch->fd = -1;
	for (i = 0; i < ch->n_in_fds; i++)
		close(ch->in_fds[i]);
	ch->n_in_fds = 0;
	pctl_ipc_out_drop(&ch->out);
	free(ch->rx);
	ch->rx = NULL;
	ch->rx_n = ch->rx_pos = ch->rx_cap = 0;
}

void pctl_ipc_frame_begin(pctl_ipc_channel *ch, uint16_t op, uint32_t seq)
{
	pctl_ipc_header h = {0, op, 0, seq, 0};

	ch->frame_at = ch->out.n;
	pctl_ipc_put(&ch->out, &h, sizeof(h));
}

int pctl_ipc_frame_end(pctl_ipc_channel *ch)
{
	size_t n;
	uint32_t n32;

	if (!ch->out.failed) {
		n = ch->out.n - ch->frame_at - sizeof(pctl_ipc_header);
		if (n <= PCTL_IPC_FRAME_MAX) {
			n32 = (uint32_t)n;
			memcpy(ch->out.data + ch->frame_at, &n32, sizeof(n32));
			return 1;
		}
	}
	ch->out.failed = 0;
	ch->out.n = ch->frame_at;
	return 0;
}

static void attach_fds(pctl_ipc_channel *ch, struct msghdr *m, void *control, size_t n_control)
{
	const size_t n = ch->n_out_fds * sizeof(int);
	struct cmsghdr *c;

	if (n == 0)
		return;
	memset(control, 0, n_control);
	m->msg_control = control;
	m->msg_controllen = CMSG_SPACE(n);
	c = CMSG_FIRSTHDR(m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n);
	memcpy(CMSG_DATA(c), ch->out_fds, n);
}

int pctl_ipc_send(pctl_ipc_channel *ch)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * PCTL_IPC_FDS_MAX)];
	} control;
	size_t sent = 0;
	int rc = 1;

	while (sent < ch->out.n) {
		struct iovec iov = {ch->out.data + sent, ch->out.n - sent};
		struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
		ssize_t n;

		attach_fds(ch, &m, control.bytes, sizeof(control.bytes));
		n = sendmsg(ch->fd, &m, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			rc = errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
			break;
		}
		ch->n_out_fds = 0;
		sent += (size_t)n;
	}
	if (sent && sent < ch->out.n)
		memmove(ch->out.data, ch->out.data + sent, ch->out.n - sent);
	ch->out.n -= sent;
	return rc;
}

/* Room for `more` further bytes behind rx_n, after moving what is unread to the front. */
static int rx_reserve(pctl_ipc_channel *ch, size_t more)
{
	size_t need, cap;
	uint8_t *rx;

	if (ch->rx_pos) {
		memmove(ch->rx, ch->rx + ch->rx_pos, ch->rx_n - ch->rx_pos);
		ch->rx_n -= ch->rx_pos;
		ch->rx_pos = 0;
	}
	need = ch->rx_n + more;
	if (need <= ch->rx_cap)
		return 1;
	cap = ch->rx_cap ? ch->rx_cap : RX_MIN;
	while (cap < need)
		cap *= 2;
	rx = realloc(ch->rx, cap);
	if (!rx)
		return 0;
	ch->rx = rx;
	ch->rx_cap = cap;
	return 1;
}

static void collect_fds(pctl_ipc_channel *ch, struct msghdr *m)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		size_t i, n;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (ch->n_in_fds < PCTL_IPC_FDS_MAX)
				ch->in_fds[ch->n_in_fds++] = fd;
			else
				close(fd);
		}
	}
}

int pctl_ipc_fill(pctl_ipc_channel *ch)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * PCTL_IPC_FDS_MAX)];
	} control;
	struct iovec iov;
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	/* Large frames grow the buffer only as their bytes really come: a length alone costs
	 * nothing. */
	if (!rx_reserve(ch, RX_MIN / 2)) {
		errno = ENOMEM;
		return -1;
	}
	iov.iov_base = ch->rx + ch->rx_n;
	iov.iov_len = ch->rx_cap - ch->rx_n;
	m.msg_control = control.bytes;
	m.msg_controllen = sizeof(control.bytes);
	do {
		n = recvmsg(ch->fd, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? 0 : -1;
	collect_fds(ch, &m);
	ch->rx_n += (size_t)n;
	return n > 0;
}

int pctl_ipc_feed(pctl_ipc_channel *ch, const void *data, size_t n)
{
	if (!rx_reserve(ch, n))
		return 0;
	if (n)
		memcpy(ch->rx + ch->rx_n, data, n);
	ch->rx_n += n;
	return 1;
}

int pctl_ipc_next(pctl_ipc_channel *ch, pctl_ipc_frame *out)
{
	const size_t have = ch->rx_n - ch->rx_pos;

	memset(out, 0, sizeof(*out));
	if (have < sizeof(out->header))
		return 0;
	memcpy(&out->header, ch->rx + ch->rx_pos, sizeof(out->header));
	if (out->header.reserved || out->header.reserved2 ||
	    out->header.n_bytes > PCTL_IPC_FRAME_MAX)
		return -1;
	if (have - sizeof(out->header) < out->header.n_bytes)
		return 0;
	out->payload = ch->rx + ch->rx_pos + sizeof(out->header);
	ch->rx_pos += sizeof(out->header) + out->header.n_bytes;
	return 1;
}

int pctl_ipc_take_fd(pctl_ipc_channel *ch)
{
	int fd;

	if (ch->n_in_fds == 0)
		return -1;
	fd = ch->in_fds[0];
	ch->n_in_fds--;
	memmove(ch->in_fds, ch->in_fds + 1, ch->n_in_fds * sizeof(int));
	return fd;
}
