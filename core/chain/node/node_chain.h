/* The chain as what a node serves from. */
#ifndef PIPECTL_CHAIN_NODE_NODE_CHAIN_H
#define PIPECTL_CHAIN_NODE_NODE_CHAIN_H

#include "chain/chain.h"
#include "chain/node/node.h"

/* Borrows the chain. */
pctl_node_service pctl_node_service_of(pctl_chain *c);

#endif
