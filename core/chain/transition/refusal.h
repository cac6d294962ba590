/* Refusals that cost gas, from version 2 of the rules on. */
#ifndef PIPECTL_CHAIN_TRANSITION_REFUSAL_H
#define PIPECTL_CHAIN_TRANSITION_REFUSAL_H

#include "chain/chain_private.h"

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
