/* The bytes that a job of this home names, made state before it, from version 2 of the rules on. */
#ifndef PIPECTL_CHAIN_HOME_PROVIDE_H
#define PIPECTL_CHAIN_HOME_PROVIDE_H

#include "chain/chain.h"

/* Send a message BLOB of the job's sender for each CID that the message names, that is not state and that this home's store
 * has, for 1024 blocks (or blob_blocks_max). Under version 1 of the rules nothing is done. Errors: of the store, of taking
 * in. */
pctl_status pctl_home_provide(pctl_chain *c, const pctl_msg_execute *m, const pctl_call *call);

#endif
