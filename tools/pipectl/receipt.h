/* What the verbs of receipts share. */
#ifndef PIPECTL_TOOLS_RECEIPT_H
#define PIPECTL_TOOLS_RECEIPT_H

#include "app.h"
#include "chain/blocks/block.h"
#include "chain/home/receipted.h"
#include "evidence/receipt/block_receipt.h"
#include "evidence/receipt/dispute.h"
#include "evidence/receipt/receipt.h"
#include "host/receipts.h"

/* --receipt and --trace of `run`: a receipt that watches the run, NULL without --receipt. Texts go into the store. */
pctl_status pctl_app_receipt_begin(pctl_app *app, const pctl_loaded_pipeline *p,
				   pctl_run_options *o, pctl_receipt **out);
/* Fill in what came of it, sign it, write the file. */
pctl_status pctl_app_receipt_finish(pctl_app *app, const pctl_loaded_pipeline *p,
				    const pctl_run_options *o, const pctl_run_result *result,
				    pctl_receipt *r);
/* A file that is a receipt of some kind: one of the two is set. Its text goes with it: n bytes, and behind them the proof of its job's
 * row, where has_proof says so. That it belongs there, only verify asks. */
typedef struct pctl_app_receipt {
	const char *path;
	char *text;
	uint64_t n;
	pctl_receipt *run;
	pctl_block_receipt *block;
	pctl_row_proof proof;
	uint32_t has_proof, reserved;
} pctl_app_receipt;
pctl_status pctl_app_receipt_open(pctl_app *app, const char *path, pctl_app_receipt *out);
void pctl_app_receipt_close(pctl_app_receipt *r);

/* `receipt dispute` of two receipts of one block or job. */
pctl_status pctl_app_dispute_blocks(pctl_app *app, const pctl_app_receipt r[2]);
/* What a report says, and the CID it is kept under. */
void pctl_app_print_report(pctl_app *app, const pctl_app_receipt r[2],
			   const pctl_dispute_report *report, const pctl_cid *cid);

/* A receipt in the JSON document or as text. */
void pctl_app_print_receipt(pctl_app *app, const pctl_app_receipt *r);

#endif
