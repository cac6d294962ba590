/* The node's end of the protocol: a Unix stream socket, many clients, one loop. What the messages mean is the service's
 * business; here they are received, grouped into batches, served in order and answered. PROTOCOL.md says what a client
 * may rely on. */
#ifndef PIPECTL_CHAIN_NODE_NODE_H
#define PIPECTL_CHAIN_NODE_NODE_H

#include "chain/messages/message.h"

/*
 * What answers. All but `answer` and `ahead` are called one at a time: the end of a block by the thread that called
 * pctl_node_run, the rest by that of the loop, where there are two (`answer` is not NULL).
 *
 * begin   a batch: what is served until commit becomes durable together
 * serve   one request. A refusal is an ERROR response and PCTL_OK; another status is trouble of this node. BLOCK_END is
 *         served outside of any batch, everything else inside of one. `out` is released with pctl_response_destroy
 * commit  end the batch; durable when it returned PCTL_OK, else nothing of it is kept
 * abort   end the batch and keep nothing of it
 * answer  NULL, or answers what changes no state from what the last block and the last batch left, also while `serve` ends a
 *         block in another thread: then queries wait for no block, and what comes meanwhile is collected, looked at ahead and
 *         served behind it, in the order in which it came
 * ahead   NULL, or is shown requests some time before they are served, so that what asks nothing of the state is done by then
 */
typedef struct pctl_node_service {
	pctl_status (*begin)(void *ctx, const pctl_call *call);
	pctl_status (*serve)(void *ctx, const pctl_request *r, const pctl_call *call,
			     pctl_response *out);
	pctl_status (*commit)(void *ctx, const pctl_call *call);
	void (*abort)(void *ctx);
	pctl_status (*answer)(void *ctx, const pctl_request *r, const pctl_call *call,
			      pctl_response *out);
	void (*ahead)(void *ctx, const pctl_request *const *requests, uint32_t n);
	void *ctx;
} pctl_node_service;

/* Counted since the node was opened. */
typedef struct pctl_node_counts {
	uint64_t clients, turned_away, requests, errors, batches, blocks;
} pctl_node_counts;

#define PCTL_NODE_CLIENTS 1024u
#define PCTL_NODE_CLIENTS_MAX 16384u
#define PCTL_NODE_STALL_MS 30000u

/*
 * path      of the socket: mode 0600. A socket there that nobody listens on is replaced, anything else is refused
 * clients   most at once; 0: PCTL_NODE_CLIENTS. As many files are asked of the system; where it does not give them it is so many fewer
 *           (PC6112, a warning). When all places are taken, a client that never sent a whole frame within a second, that is slower than
 *           below with a second in place of stall_ms, or that has been idle for stall_ms loses its own to a new one; without such
 *           a client the new one is turned away (PC6112)
 * stall_ms  0: PCTL_NODE_STALL_MS. A client inside a frame, or with answers waiting, that sends or takes no byte for so
 *           long is closed, and so is one that behind this time is slower than 64 bytes a millisecond. Buffers of all clients hold 256 MiB
 *           together; above that who has filled its own for longest is closed
 * report    told of each trouble that an ERROR response was given for, its code and text; may be NULL
 */
typedef struct pctl_node_options {
	const char *path;
	uint32_t clients, stall_ms;
	void (*report)(void *ctx, uint32_t code, const char *text);
	void *report_ctx;
} pctl_node_options;

typedef struct pctl_node pctl_node;

/* Listening when it returns. PC6110 (path), PC6111 (another node listens there), PC2. `service` outlives the node. */
pctl_status pctl_node_open(const pctl_node_options *o, const pctl_node_service *service,
			   const pctl_call *call, pctl_node **out);

/* Serve until `call` is cancelled, which is asked at least every 100 ms: then what was served is committed and answered
 * (clients have two seconds to take it), and the status is PCTL_E_CANCELLED. PC2, PC6110 when the system refuses to go
 * on. */
pctl_status pctl_node_run(pctl_node *n, const pctl_call *call);

void pctl_node_counts_read(const pctl_node *n, pctl_node_counts *out);

/* Closes every connection and removes the socket, if it is still this node's. NULL is fine. */
void pctl_node_close(pctl_node *n);

#endif
