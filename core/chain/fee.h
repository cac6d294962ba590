/* What messages pay, from version 2 of the rules on: the prices of the schedule (core/runtime/gas/rows.def), fee_ppm of them. What is
 * paid is burned. The chain's own messages and those of genesis pay nothing. */
#ifndef PIPECTL_CHAIN_TRANSITION_FEE_H
#define PIPECTL_CHAIN_TRANSITION_FEE_H

#include "chain/chain_private.h"

/* Whether messages of this origin pay. */
int pctl_fee_is_due(const pctl_taking *t, uint32_t origin);

/* What the message costs its sender, whatever comes of it. */
pctl_status pctl_fee_price(const pctl_taking *t, const pctl_request *r, uint64_t *out);

/* Take from the sender what the message costs: *out, and where that is not 0 its number is used up with it. PC5869 when it has less, and nothing is
 * taken. */
pctl_status pctl_fee_take(const pctl_taking *t, const pctl_request *r, uint64_t *out);

/* Take what a refusal costs beside, or what the sender has left: *out. */
pctl_status pctl_fee_refusal(const pctl_taking *t, const char *sender, uint64_t *out);

/* Take what kernels cost that devices will compile: `n` entry points of together so many instructions. PC5869. */
pctl_status pctl_fee_build(const pctl_taking *t, const char *sender, uint64_t n,
			   uint64_t instructions);

#endif
