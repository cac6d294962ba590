/* A dispute between two receipts of one block or of one job of it: the first job of which they state different things is run
 * again on the reference, by the state and the store of this home. */
#ifndef PIPECTL_CHAIN_HOME_DISPUTE_H
#define PIPECTL_CHAIN_HOME_DISPUTE_H

#include "chain/home/home.h"
#include "evidence/receipt/block_receipt.h"
#include "evidence/receipt/dispute.h"

/* A receipt, and what messages call it (its file). */
typedef struct pctl_home_claim {
	const char *name;
	const pctl_block_receipt *receipt;
} pctl_home_claim;

/*
 * Judge two receipts by the chain of an installation. Fills in a report of kind "block", all but the CIDs of the receipts;
 * its texts lie in the arena or are the receipts' own. Errors: PC5911 (they state the same) and PC5912 (of two different
 * questions), for which nothing is opened; PC5801 (this home has no such job), of opening the chain and the reference, of
 * the store and of running.
 */
pctl_status pctl_home_dispute(pctl_installation *in, const pctl_home_claim claims[2],
			      pctl_arena *arena, const pctl_call *call, pctl_dispute_report *out);

#endif
