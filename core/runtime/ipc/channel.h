/* A channel: frames with a length prefix over one end of a socket pair, and file descriptors beside
 * them. It knows nothing of what frames mean (protocol.h) and never blocks longer than it is told.
 */
#ifndef PIPECTL_RUNTIME_IPC_CHANNEL_H
#define PIPECTL_RUNTIME_IPC_CHANNEL_H

#include "runtime/ipc/wire.h"

/* What precedes every payload. reserved is zero, and readers check that. */
typedef struct pctl_ipc_header {
	uint32_t n_bytes; /* of the payload */
	uint16_t op;
	uint16_t reserved;
	uint32_t seq; /* of the request; a reply repeats it */
	uint32_t reserved2;
} pctl_ipc_header;

#define PCTL_IPC_FRAME_MAX (192u << 20) /* bytes of a payload */
#define PCTL_IPC_FDS_MAX 4u		/* file descriptors that travel at once */

typedef struct pctl_ipc_frame {
	pctl_ipc_header header;
	const uint8_t *payload; /* valid until the next pctl_ipc_next or pctl_ipc_fill */
} pctl_ipc_frame;

typedef struct pctl_ipc_channel {
	int fd;		  /* owned */
	pctl_ipc_out out; /* frames put but not yet sent */
	size_t frame_at;  /* header of the open frame in out */
	uint8_t *rx;
	size_t rx_n, rx_pos, rx_cap;
	int out_fds[PCTL_IPC_FDS_MAX]; /* travel with the next send; borrowed */
	uint32_t n_out_fds;
	int in_fds[PCTL_IPC_FDS_MAX]; /* received and not yet taken; owned */
	uint32_t n_in_fds;
} pctl_ipc_channel;

/* Take over `fd` (may be -1 in tests that feed bytes by hand). */
void pctl_ipc_channel_init(pctl_ipc_channel *ch, int fd);
/* Close the descriptor and everything received but not taken. */
void pctl_ipc_channel_close(pctl_ipc_channel *ch);

/* Begin a frame in `out`; what the caller puts into ch->out until `end` is its payload. */
void pctl_ipc_frame_begin(pctl_ipc_channel *ch, uint16_t op, uint32_t seq);
/* 1, or 0 when the frame is too large or memory ran out: the frame is taken back. */
int pctl_ipc_frame_end(pctl_ipc_channel *ch);

/* Send what is pending. 1: all sent; 0: the socket is full (only when it is non-blocking); -1:
 * errno. */
int pctl_ipc_send(pctl_ipc_channel *ch);

/* Receive what is there, once. 1: something came; 0: the peer is gone; -1: errno (EAGAIN included).
 */
int pctl_ipc_fill(pctl_ipc_channel *ch);
/* Append bytes as if they had been received; 1 or 0 for lack of memory. For tests and fuzzing. */
int pctl_ipc_feed(pctl_ipc_channel *ch, const void *data, size_t n);
/* The next whole frame received. 1: *out; 0: more bytes are needed; -1: what came is not a frame.
 */
int pctl_ipc_next(pctl_ipc_channel *ch, pctl_ipc_frame *out);
/* The next received descriptor (the caller's from then on), or -1. */
int pctl_ipc_take_fd(pctl_ipc_channel *ch);

#endif
