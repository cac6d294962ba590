/* Receipts of a client's runs: begun before the run, signed after it; and receipts of any kind read back and verified. */
#ifndef PIPECTL_HOST_RECEIPTS_H
#define PIPECTL_HOST_RECEIPTS_H

#include "evidence/receipt/block_receipt.h"
#include "evidence/receipt/dispute.h"
#include "evidence/receipt/receipt.h"
#include "evidence/receipt/replay.h"
#include "host/load.h"

/* A receipt that traces a run at `level` (PCTL_TRACE_*): the run's options are made to tell it. Texts go into the store. */
pctl_status pctl_receipt_begin(pctl_installation *in, const pctl_loaded_pipeline *p, uint32_t level,
			       pctl_run_options *o, const pctl_call *call, pctl_receipt **out);
/* Fill in what came of it and sign it; the whole text. */
pctl_status pctl_receipt_finish(pctl_installation *in, const pctl_loaded_pipeline *p,
				const pctl_run_options *o, const pctl_run_result *result,
				const pctl_call *call, pctl_receipt *r, pctl_str_buf *out);

/* Run what a receipt names again, as all runs here go: on several devices where the policy wants them to agree. */
pctl_status pctl_receipt_run_again(pctl_installation *in, const pctl_reopened *p,
				   const pctl_run_options *o, const pctl_call *call,
				   pctl_replay *out);

/* A text that is a receipt of some kind, valid in itself: one of the two is set. */
typedef struct pctl_some_receipt {
	pctl_receipt *run;
	pctl_block_receipt *block;
} pctl_some_receipt;
pctl_status pctl_some_receipt_parse(const char *name, const char *text, uint64_t n,
				    const pctl_call *call, pctl_some_receipt *out);
void pctl_some_receipt_clear(pctl_some_receipt *r);
const char *pctl_some_receipt_signer(const pctl_some_receipt *r);

/* A text as it was read. */
typedef struct pctl_receipt_source {
	const char *text;
	uint64_t n;
} pctl_receipt_source;

/* What came of a dispute, for others to check: both receipts go into the store, the report names them and is signed, and goes there
 * too, under *out. */
pctl_status pctl_receipt_keep_report(pctl_installation *in, const pctl_receipt_source receipts[2],
				     pctl_dispute_report *report, const pctl_call *call,
				     pctl_cid *out);

/* Is it by this key (NULL: anybody's; PC5906), and with in_store: is all it names in the store (PC5904). */
pctl_status pctl_some_receipt_verify(pctl_installation *in, const pctl_some_receipt *r,
				     const char *signer, int in_store, const pctl_call *call);

#endif
