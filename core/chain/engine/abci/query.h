/* Queries of an engine's clients: accounts, jobs and blocks as they are final. */
#ifndef PIPECTL_CHAIN_ENGINE_ABCI_QUERY_H
#define PIPECTL_CHAIN_ENGINE_ABCI_QUERY_H

#include <abci.pb-c.h>

#include "chain/chain.h"
#include "foundation/base/arena.h"

/*
 * By path: /account (data: a name; value: Account of engine.proto), /job (64 digits), /block (a height in digits, none: the last),
 * /message (an encoded query, block_query, get, view or graph), whose values are Responses of messages.proto, /chain (the id, 32 bytes), /row (the name of a
 * table and the words of a key, each behind a line end: the bytes of that row, none where there is no such row; with `prove` alone).
 * With `prove` the first, the second and the last two bring the proof that the row is in the state of the last block, or that none is.
 * What cannot be answered is a code in `out`, which points into the arena; the status is trouble of this node.
 */
pctl_status pctl_abci_query(pctl_chain *reader, const Abci__QueryRequest *q, pctl_arena *arena,
			    const pctl_call *call, Abci__QueryResponse *out);

#endif
