/* A job of the state run once more, for who verifies a history or judges a dispute. */
#ifndef PIPECTL_CHAIN_TRANSITION_RERUN_H
#define PIPECTL_CHAIN_TRANSITION_RERUN_H

#include "chain/chain.h"

#define PCTL_RERUN_BINDINGS_MAX (PCTL_MESSAGE_BINDINGS_MAX + 2u) /* 0:0, the others, 0:1 */

/*
 * Run a message's job on `e` under the parameters of `height`, where it was submitted, over bytes that are bound already (0:0 and
 * the message's own bindings; bindings has room for one more): *out is the CID of its output. Errors: those of the unit, of the
 * uniform block and of running.
 */
pctl_status pctl_chain_rerun(pctl_chain *c, const pctl_executor *e, const pctl_msg_execute *m,
			     uint64_t height, const char *name, pctl_task_binding *bindings,
			     uint32_t n_bindings, const pctl_call *call, pctl_cid *out);

#endif
