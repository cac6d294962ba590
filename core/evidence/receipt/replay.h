/* A receipt's run put together again from the store, and run again: elsewhere, later, by somebody else. Nothing but the
 * receipt and the blobs it names is needed; files of whoever made it are not. */
#ifndef PIPECTL_EVIDENCE_RECEIPT_REPLAY_H
#define PIPECTL_EVIDENCE_RECEIPT_REPLAY_H

#include "evidence/receipt/receipt.h"

/* graph: of the texts with the receipt's parameters; ins: its inputs by CID. */
typedef struct pctl_reopened {
	const pctl_receipt *receipt;
	pctl_store *store;
	pctl_vfs *view;
	pctl_pipeline *pipeline;
	pctl_graph *graph;
	pctl_setting *ins;
	uint32_t n_ins, reserved;
	pctl_arena *arena;
} pctl_reopened;

/*
 * Read the pipeline from the store and resolve it. o: sources, store, schedule (which has to be the receipt's). Receipt
 * and store outlive it.
 *
 * Errors: PC5904 (a text or input is not in the store), PC5907 (what was put together asks something else), those of
 * checking a pipeline.
 */
pctl_status pctl_receipt_reopen(const pctl_receipt *r, const pctl_run_options *o,
				pctl_kernels *kernels, const pctl_call *call, pctl_reopened **out);
void pctl_reopened_close(pctl_reopened *p);
/* Options to run it: o with its inputs, placed nowhere, no memo, native as the receipt says. */
pctl_run_options pctl_reopened_options(const pctl_reopened *p, const pctl_run_options *o);

/*
 * Compare two traces at the finer of what both have. *a, *b: indices of the first lines that differ (the length of a
 * trace where it ends first), *n_same: lines before. 1 when they differ.
 */
int pctl_receipt_compare(const pctl_run_trace *a, const pctl_run_trace *b, uint32_t level,
			 uint32_t *at_a, uint32_t *at_b, uint32_t *n_same);

/*
 * What a replay gave. again: its own receipt, without place in a repository, not signed. differs 1: leaf (of the receipt)
 * is the first line that differs, NULL when the trace is the same or there is none but an output differs (output: its
 * number).
 */
typedef struct pctl_replay {
	pctl_receipt *again;
	pctl_run_result *result;
	const pctl_trace_leaf *leaf, *here;
	uint32_t differs, output, n_compared, reserved;
} pctl_replay;

/* Who runs a graph: on one device, or on as many as the policy wants to agree. */
typedef struct pctl_runner {
	pctl_status (*run)(void *ctx, const pctl_graph *g, const pctl_run_options *o,
			   const pctl_call *call, pctl_run_result **out);
	void *ctx;
} pctl_runner;

/* Run it on o's backends. PCTL_OK also when it differs. Nothing is stored when it fails. */
pctl_status pctl_receipt_replay(const pctl_reopened *p, const pctl_run_options *o,
				const pctl_runner *runner, const pctl_call *call, pctl_replay *out);
void pctl_replay_clear(pctl_replay *r);

#endif
