/* Inside of a dispute, shared by the dispute_*.c files. */
#ifndef PIPECTL_EVIDENCE_RECEIPT_DISPUTE_PRIVATE_H
#define PIPECTL_EVIDENCE_RECEIPT_DISPUTE_PRIVATE_H

#include "evidence/receipt/dispute.h"
#include "evidence/receipt/judge.h"

/*
 * One run up to a line and the reference's answer.
 *
 * agreed   the receipt whose lines before `target` are those of both
 * strayed  not 0: the run-up left the agreed trace at line strayed_at, nothing was judged
 * after    what the reference gave, buffer by buffer
 */
struct pctl_hunt {
	const pctl_reopened *p;
	const pctl_graph *graph;
	const pctl_run_options *o;
	const pctl_receipt *agreed;
	pctl_arena *arena;
	pctl_reference_judge judge;
	uint64_t timeout_ms;
	uint32_t level, target, at, n_checked, strayed, strayed_at;
	const pctl_trace_leaf *leaf;
	const char *kernel, *run_up;
	pctl_reference_judge_bytes *before, *after;
	uint32_t n_before, n_after;
	pctl_data_source **inputs; /* of the job, PCTL_PORTS_MAX */
};

/* The finer level that both have. */
uint32_t pctl_dispute_level(const pctl_receipt *a, const pctl_receipt *b);

pctl_status pctl_hunt_run(struct pctl_hunt *h, const pctl_trace_leaf *leaf, uint32_t target,
			  const pctl_call *call);
void pctl_hunt_clear(struct pctl_hunt *h);

/*
 * The place (line without bytes) that a run of this pipeline has at line `target` of the agreed trace; *out has no id when
 * it ends before. For traces that differ in places, not only in bytes.
 */
pctl_status pctl_hunt_place(struct pctl_hunt *h, uint32_t target, const pctl_call *call,
			    pctl_trace_leaf *out);

/* The bytes that a side says a buffer of its line has: from the store, or from its own device when it gives them again.
 * Sets the rest of `side`. */
pctl_status pctl_dispute_evidence(const struct pctl_hunt *h, const pctl_trace_leaf *claimed,
				  pctl_dispute_side *side, const pctl_call *call);

#endif
