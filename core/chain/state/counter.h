/* Numbers of the state that messages are held against and that would otherwise be counted row by row for each of them. They
 * are rows like others, under version 2 of the rules alone: undone with their transaction, and under the root. */
#ifndef PIPECTL_CHAIN_STATE_TALLY_H
#define PIPECTL_CHAIN_STATE_TALLY_H

#include "chain/state/state.h"

/*
 * PCTL_COUNTER_QUEUE  jobs of an account (its name) that were taken in under version 2 of the rules and have not ended
 * PCTL_COUNTER_BLOBS  bytes of the blobs that the open block has taken in; name ""
 */
enum { PCTL_COUNTER_QUEUE = 1, PCTL_COUNTER_BLOBS = 2 };

pctl_status pctl_counter_read(pctl_chain_state *s, uint32_t kind, const char *name,
			      const pctl_call *call, uint64_t *out);
/* Inside a transaction. `by` at most 2^32. */
pctl_status pctl_counter_add(pctl_chain_state *s, uint32_t kind, const char *name, uint64_t by,
			     const pctl_call *call);
/* `by` less, 1 or more; one that comes to 0 has no row. PC5701 where it is less already. */
pctl_status pctl_counter_take(pctl_chain_state *s, uint32_t kind, const char *name, uint64_t by,
			      const pctl_call *call);
pctl_status pctl_counter_clear(pctl_chain_state *s, uint32_t kind, const char *name,
			       const pctl_call *call);

#endif
