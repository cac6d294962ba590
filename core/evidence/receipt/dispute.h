/* Two receipts of one question with different answers: which of them is wrong, and where. The first line in which their
 * traces differ is looked up; what it starts from is made by running up to it, held line by line against what both agree
 * on; that step (round, job) alone is then run on the reference. */
#ifndef PIPECTL_EVIDENCE_RECEIPT_DISPUTE_H
#define PIPECTL_EVIDENCE_RECEIPT_DISPUTE_H

#include "evidence/receipt/replay.h"

/*
 * One of the two.
 *
 * wrong    1: it states other bytes than the reference gave
 * claimed  its line, "" where its trace has none there
 * buffer   of a wrong one: the first that differs, NULL: none can be named
 * known    1: its bytes are at hand (in the store, or given again by its device), and element, bits are set. how: from
 *          where, or why not
 */
typedef struct pctl_dispute_side {
	const pctl_receipt *receipt;
	const char *claimed, *buffer, *how;
	uint32_t wrong, known, element_bytes, flipped_bits;
	uint64_t element, got, want, n_different;
} pctl_dispute_side;

/*
 * leaf        what the reference gave
 * forged      1: an output is not what its own trace says (found without running anything; no leaf then)
 * both_agreed 1: both state the same there, and both are wrong
 * run_up      selector of the device that led up to it; n_checked: lines of it that were held against theirs
 */
typedef struct pctl_dispute {
	pctl_arena *arena;
	pctl_dispute_side side[2];
	pctl_trace_leaf leaf;
	const char *place, *kernel, *run_up, *reference;
	uint32_t forged, both_agreed, n_checked, reserved;
} pctl_dispute;

/* Errors: PC5911 (they agree), PC5912 (different questions), PC5903 (no trace in one that was remembered). */
pctl_status pctl_dispute_check(const pctl_receipt *a, const pctl_receipt *b, const pctl_call *call);

/*
 * Judge, after check. p: either of the two reopened. o: its backends run up to the step.
 * PCTL_OK: at least one side is wrong. Errors: PC5914 (the device of the run-up is wrong itself), PC3235, of running.
 */
pctl_status pctl_dispute_judge(const pctl_receipt *a, const pctl_receipt *b, const pctl_reopened *p,
			       const pctl_run_options *o, const pctl_call *call,
			       pctl_dispute **out);
void pctl_dispute_destroy(pctl_dispute *d);

/*
 * The report: a signed text that names both receipts by the CIDs given, the place and who is wrong. Everything of a
 * dispute of runs and of one of blocks that others act on.
 */
typedef struct pctl_dispute_claim {
	pctl_cid receipt;
	const char *signer, *claimed, *detail;
	uint32_t wrong;
} pctl_dispute_claim;
typedef struct pctl_dispute_report {
	const char *kind, *place, *job, *reference; /* kind: "run" or "block" */
	const char *correct;
	pctl_dispute_claim side[2];
	uint32_t n_sides; /* 2 */
} pctl_dispute_report;
extern const pctl_record_type pctl_dispute_type;
pctl_status pctl_dispute_report_text(const pctl_dispute_report *r, const pctl_signer *signer,
				     const pctl_call *call, pctl_str_buf *out);

#endif
