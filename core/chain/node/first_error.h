/* The first error that a call reported, kept and passed on to nobody; whoever called decides what becomes of it. Warnings go to
 * the chain's listener where it is told, else to nobody. */
#ifndef PIPECTL_CHAIN_NODE_FIRST_ERROR_H
#define PIPECTL_CHAIN_NODE_FIRST_ERROR_H

#include "chain/chain.h"
#include "chain/messages/message.h"
#include "foundation/diag/diag.h"

/* code 0: none yet. text: what a message may hold, without control characters. chain: who hears of warnings, NULL: nobody. */
typedef struct node_first_error {
	const pctl_call *outer;
	const pctl_chain *chain;
	uint32_t code;
	char text[PCTL_MESSAGE_ERROR_MAX + 1u];
} node_first_error;

/* A call that keeps its first error in e, and is cancelled and traced as `outer` is, which may be NULL and outlives it. */
pctl_call node_keep_first(node_first_error *e, const pctl_call *outer);

#endif
