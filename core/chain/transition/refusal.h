/* Refusals that cost gas, from version 2 of the rules on. */
#ifndef PIPECTL_CHAIN_TRANSITION_REFUSAL_H
#define PIPECTL_CHAIN_TRANSITION_REFUSAL_H

#include "chain/chain_private.h"

/* Refusals are about the message; every other status is trouble of this node. */
int pctl_is_refusal(pctl_status status);

/*
 * A message that pays (fee.h): its fee, then what it does, whose words are kept in t->said. Refused, it is kept where it stands, with
 * nothing but its fee and what a refusal costs: t->charged. The status is that of the refusal all the same. PC5869, and what is
 * trouble, leave no trace.
 */
typedef pctl_status (*pctl_act_fn)(pctl_taking *t, const pctl_request *r, uint32_t origin);
pctl_status pctl_act_for_fee(pctl_taking *t, const pctl_request *r, uint32_t origin,
			     pctl_act_fn act);

/*
 * An execute message of a sender, under version 2: pctl_apply_job, whose words are kept in t->said. Refused with a code
 * that is charged, naming only what is there, by an account that has gas, it is kept: a job in state FAILED with reason
 * `refused: CODE` and gas_used = min(validation_cost * bytes of source, gas_limit, balance), which is set aside until
 * the block ends and split then as other charges are. t->charged is that gas, t->refused the job's id; the status is
 * that of the refusal all the same. Other refusals charge nothing and leave no row.
 */
pctl_status pctl_apply_or_charge(pctl_taking *t, const pctl_request *r);

/* Pass on what t->said kept, the first error with what it costs. */
void pctl_refusal_say(const pctl_taking *t);

#endif
