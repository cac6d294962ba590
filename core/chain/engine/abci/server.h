/* The socket of ABCI: an engine opens several connections (consensus, mempool, query, snapshots), each answered in the order of its
 * requests. What tries, runs or commits messages is done one request at a time over all of them, in the thread that runs the server; queries and checks of
 * messages are answered beside it, by a thread of its own (../../node/node_block.h). */
#ifndef PIPECTL_CHAIN_ENGINE_ABCI_SERVER_H
#define PIPECTL_CHAIN_ENGINE_ABCI_SERVER_H

#include "chain/engine/abci/serve.h"

#define PCTL_ABCI_CLIENTS 16u
#define PCTL_ABCI_STALL_MS 30000u

/*
 * address  unix:PATH or tcp:HOST:PORT (listen.h)
 * clients  most connections at once, 0: PCTL_ABCI_CLIENTS; a further one gets an exception (PC6186) and is closed
 * stall_ms 0: PCTL_ABCI_STALL_MS. A connection inside a frame, or with answers waiting, on which no byte passes for so long is
 *          closed
 * report   told of each exception, its code and text
 */
typedef struct pctl_abci_server_options {
	const char *address;
	uint32_t clients, stall_ms;
	void (*report)(void *ctx, uint32_t code, const char *text);
	void *report_ctx;
} pctl_abci_server_options;

typedef struct pctl_abci_counts {
	uint64_t clients, requests, exceptions;
} pctl_abci_counts;

typedef struct pctl_abci_server pctl_abci_server;

/* Listening when it returns. Errors: of pctl_engine_listen, PC2. `what` outlives it. */
pctl_status pctl_abci_server_open(const pctl_abci_server_options *o, pctl_abci *what,
				  const pctl_call *call, pctl_abci_server **out);
/* Serve until `call` is cancelled: PCTL_E_CANCELLED. PC6160 when the system refuses to go on. */
pctl_status pctl_abci_server_run(pctl_abci_server *s, const pctl_call *call);
const pctl_abci_counts *pctl_abci_server_counts(const pctl_abci_server *s);
void pctl_abci_server_close(pctl_abci_server *s);

#endif
