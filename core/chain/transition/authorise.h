/* May this message be taken in under its sender's name? Asked once for every message that changes state, before it does
 * anything, by whoever takes it in: a node, a verb, a replay. */
#ifndef PIPECTL_CHAIN_TRANSITION_AUTHORISE_H
#define PIPECTL_CHAIN_TRANSITION_AUTHORISE_H

#include "chain/chain_private.h"

/*
 * A sealed message where it stands. Under version 1 of the rules nobody signs. From version 2 on the engine's own jobs and
 * messages of genesis need no signature; every other names this chain, the sender's next number and a height that has not
 * passed, and is signed by as many keys of the sender as it asks for, by no other key, and with no signature that is
 * wrong. What is refused here is charged to nobody, since anybody may have written the name.
 *
 * Errors: PC5840 to PC5848.
 */
pctl_status pctl_authorise(const pctl_taking *t, const pctl_request *r, uint32_t origin);
/* The end of a block that a client asks for: an account with the role `block` signs, with the height of the open block as its
 * number; in a chain that began under version 1 of the rules nobody need while nobody has the role. PC5840 to PC5847. */
pctl_status pctl_authorise_block(pctl_chain *c, const pctl_request *r, const pctl_call *call);
/* PC5847 where the sender does not have a role that the rules ask for; origin: of the message. */
pctl_status pctl_authorise_role(const pctl_taking *t, uint32_t role, const char *sender,
				uint32_t origin);

#endif
