/* The row of a receipt's job, proved: a receipt of one job may have the proof of its row (sync/rowproof.h) behind it, so that it says
 * what the state says, whoever signed it. */
#ifndef PIPECTL_CHAIN_HOME_RECEIPTED_H
#define PIPECTL_CHAIN_HOME_RECEIPTED_H

#include "chain/sync/rowproof.h"
#include "evidence/receipt/block_receipt.h"

/* Where in a text of n bytes the proof behind a receipt begins; n: it has none. */
uint64_t pctl_receipt_proof_at(const char *text, uint64_t n);

/*
 * Does the proof hold in itself, for the trusted block (NULL: for the one that it names), and is its row the receipt's job as the
 * receipt states it: its request, how and when it ended, its output and gas. root: the state root that it holds for. Errors: PC6145; PC5915 (it is of
 * another job or says other things, or the receipt is of no one job).
 */
pctl_status pctl_receipt_proof_check(const pctl_block_receipt *r, const pctl_row_proof *p,
				     const pctl_trusted *trusted, const pctl_call *call,
				     uint8_t root[PCTL_DIGEST_BYTES]);

#endif
