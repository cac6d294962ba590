/* What is asked about the graph, whoever asks: a client of the node, one of an engine, the command line. */
#ifndef PIPECTL_CHAIN_NODE_SERVE_GRAPH_H
#define PIPECTL_CHAIN_NODE_SERVE_GRAPH_H

#include "chain/chain.h"
#include "foundation/base/arena.h"

/*
 * Answer a checked question; what the answer points to lies in the arena. Proofs (`prove`) are those of pctl_row_prove, of
 * the edges' rows and then of the rows of their names, each once: the first with a name is the source of the first edge.
 * PC5730, PC5801, PC5852, PC5880, PC5883, PC6102, PC6143.
 */
pctl_status pctl_chain_graph(pctl_chain *c, const pctl_msg_graph *q, pctl_arena *arena,
			     const pctl_call *call, pctl_msg_graph_response *out);

#endif
