/* Messages that an engine asks about before it hands them on: admitted or not (pctl_chain_admit_bytes, chain.h), from a chain to read from, so also while
 * the decider makes a block in another thread. What is remembered between two blocks is no state, and differs from node to node. */
#ifndef PIPECTL_CHAIN_ENGINE_CHECK_H
#define PIPECTL_CHAIN_ENGINE_CHECK_H

#include "chain/engine/decide.h"

typedef struct pctl_checker pctl_checker;
pctl_status pctl_checker_open(const pctl_call *call, pctl_checker **out);
void pctl_checker_close(pctl_checker *k);

/*
 * `reader` has what is final. The messages of its sender that were admitted since the last block count as sent: their numbers, and what they take
 * of his balance. gas_wanted: the most that its job or call uses. `out` is valid until the checker is used again.
 */
pctl_status pctl_check(pctl_checker *k, pctl_chain *reader, const pctl_msg_bytes *message,
		       const pctl_call *call, pctl_decided_result *out);
/*
 * What no block will have (pctl_decide_refused): asked about again (is_again) it is refused with that code, so that an engine drops it; who sends it anew
 * has it looked at anew. The last PCTL_CHECK_REFUSED_MAX are known.
 */
#define PCTL_CHECK_REFUSED_MAX 1024u
void pctl_checker_refused(pctl_checker *k, const pctl_decide_refusal *refused, uint32_t n);
/* 1: it is one of these, and what came of it. */
pctl_status pctl_check_refused(pctl_checker *k, const pctl_msg_bytes *message, int is_again,
			       const pctl_call *call, pctl_decided_result *out, int *found);
/* A block is final: what waits is checked anew. */
pctl_status pctl_checker_forget(pctl_checker *k, const pctl_call *call);

#endif
