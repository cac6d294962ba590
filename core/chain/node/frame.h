/* Frames of the node's protocol over a connected stream socket: four bytes of length, least significant first, then
 * that many bytes (a request or response of message.h). A frame is not judged beyond its length. After any refusal the
 * connection is out of step and must be closed. */
#ifndef PIPECTL_CHAIN_NODE_FRAME_H
#define PIPECTL_CHAIN_NODE_FRAME_H

#include "pipectl/host.h"

#define PCTL_FRAME_MAX (2u << 20) /* bytes behind the length: PCTL_MESSAGE_MAX */

/*
 * Send one frame of n bytes within timeout_ms (of the whole frame; 0 waits for ever). The socket may be blocking or
 * not. PC5797 (n is 0 or too large; nothing was sent), PC5798, PC5799, PCTL_E_CANCELLED.
 */
pctl_status pctl_frame_send(int fd, const void *bytes, uint32_t n, uint32_t timeout_ms,
			    const pctl_call *call);

/*
 * Receive one frame; the bytes are released with free(). PCTL_OK with *out NULL: the peer closed the connection
 * between two frames, which is how one ends. The time runs from the call, also while no frame has begun. Memory grows
 * with what arrives, not with what the length claims. PC5797, PC5798, PC5799, PC2, PCTL_E_CANCELLED.
 */
pctl_status pctl_frame_receive(int fd, uint32_t timeout_ms, const pctl_call *call, uint8_t **out,
			       uint32_t *n_out);

#endif
