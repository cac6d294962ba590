/* What an account that is named by a key says of a block, and signs: "I ran it, and came to this state root". Who orders blocks, an engine or a
 * service, answers for their order alone; who runs them answers for what came of them, by the bond of that account. The state machine has the
 * root itself, so a statement that is not so is evidence that every node judges alone (pctl_apply_statement). */
#ifndef PIPECTL_CHAIN_TRANSITION_STATEMENT_H
#define PIPECTL_CHAIN_TRANSITION_STATEMENT_H

#include "chain/chain_private.h"

#define PCTL_STATEMENT_BYTES (20u + PCTL_DIGEST_BYTES + 8u + PCTL_DIGEST_BYTES)

/* What is signed: "pipectl statement 1" and a NUL, the id of the chain, the height (8 bytes, least significant first), and the root. */
void pctl_statement_bytes(const uint8_t chain[PCTL_DIGEST_BYTES], uint64_t height,
			  const uint8_t root[PCTL_DIGEST_BYTES], uint8_t out[PCTL_STATEMENT_BYTES]);

#endif
