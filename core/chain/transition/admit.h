/* Whether a message may be handed on to those who order messages: what is asked of it before anybody pays. Reads alone. */
#ifndef PIPECTL_CHAIN_TRANSITION_ADMIT_H
#define PIPECTL_CHAIN_TRANSITION_ADMIT_H

#include "chain/chain_private.h"

/* As pctl_chain_admit_bytes says, of a request that was decoded. PC5826, PC5840 to PC5847, PC5869, PC5713, PC5712, PC6115, PC6153. */
pctl_status pctl_chain_admit(pctl_chain *c, const pctl_request *r, uint64_t number, uint64_t taken,
			     const pctl_call *call, pctl_admission *out);

#endif
