/* Asking a node over its socket, as a client: one request, one response (PROTOCOL.md). */
#ifndef PIPECTL_CHAIN_NODE_ASK_H
#define PIPECTL_CHAIN_NODE_ASK_H

#include "chain/messages/message.h"

/* Connect to the socket; the caller closes *fd. 0: not so, and *why says why. */
int pctl_ask_open(const char *path, int *fd, const char **why);
/* Send it and wait for its answer, at most timeout_ms for each way; the response, of whatever kind, is the caller's to
 * destroy. */
int pctl_ask(int fd, const pctl_request *r, uint32_t timeout_ms, const pctl_call *call,
	     pctl_response *out, const char **why);

#endif
