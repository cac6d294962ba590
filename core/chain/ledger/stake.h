/* Bonds from version 2 of the rules on: what they were at the beginning of a block, bonds on their way back, and what a
 * dispute takes of both. */
#ifndef PIPECTL_CHAIN_LEDGER_STAKE_H
#define PIPECTL_CHAIN_LEDGER_STAKE_H

#include "chain/ledger/params.h"

/* Inside a transaction, as ledger.h says; `height` is that of the open block. */

/* From balance to bond. PC5711, PC5713. */
pctl_status pctl_stake_bond(pctl_chain_state *s, uint64_t height, const char *account,
			    uint64_t amount, const pctl_call *call);
/* From bond to what is on its way back; it is in the balance when block height + unbonding_blocks has ended. */
pctl_status pctl_stake_unbond(pctl_chain_state *s, uint64_t height, const char *account,
			      uint64_t amount, const pctl_params *p, const pctl_call *call);
/* At the end of block `height`: what is due goes to the balances. */
pctl_status pctl_stake_release(pctl_chain_state *s, uint64_t height, const pctl_call *call);
/*
 * What a job that was run wrongly costs its executor: slash_ppm of bond and of what is on its way back together, rounded up, and no
 * more than slash_gas times `gas`, less what it cost him `before`. The bond goes first, then what would be back last. slash_treasury_ppm of it goes to the
 * treasury, the rest is burned; the row is one of pctl_ledger_slash, with the job as verdict. *out is what was taken, which may be 0.
 */
pctl_status pctl_stake_slash(pctl_chain_state *s, uint64_t height,
			     const uint8_t job[PCTL_DIGEST_BYTES], const char *account,
			     uint64_t gas, uint64_t before, const pctl_params *p,
			     const pctl_call *call, uint64_t *out);

/* The bond of an account when block `height` began; account NULL: all bonds together. 0 for who has no account. */
pctl_status pctl_stake_at(pctl_chain_state *s, const char *account, uint64_t height,
			  const pctl_call *call, uint64_t *out);
/* What of an account (NULL: of all) is on its way back. */
pctl_status pctl_stake_leaving(pctl_chain_state *s, const char *account, const pctl_call *call,
			       uint64_t *out);
/* PC5900 unless the account's bond is at least stake_floor, now and when block `since` began. */
pctl_status pctl_stake_check_floor(pctl_chain_state *s, const char *account, uint64_t since,
				   const pctl_params *p, const pctl_call *call);

#endif
