/* Cutting one use of an op into parts, each over ranges of the same buffers, where a tensor is too large for a binding (SEMANTICS.md
 * 17.3). */
#ifndef PIPECTL_RUNTIME_GRAPH_CUT_H
#define PIPECTL_RUNTIME_GRAPH_CUT_H

#include "runtime/graph/jobplan.h"

/*
 * q, result   the use, and what infer says of it: types of the outputs, n_cut, cut
 * slots       of the inputs and then the n_out outputs, n_bytes given
 * most_bytes  of a range; alignment: of where one begins, 0: any multiple of 4
 * each        called for every part, in order: types of its inputs, ranges of its inputs and outputs, n together. An error ends it
 */
typedef struct pctl_cut {
	const pctl_op_query *q;
	const pctl_op_result *result;
	uint32_t n_out, reserved;
	const pctl_plan_slot *slots;
	uint64_t most_bytes, alignment;
	pctl_status (*each)(void *ctx, const pctl_op_query *q, const pctl_plan_slot *slots,
			    uint32_t n);
	void *ctx;
} pctl_cut;

/* 0: the dimensions that infer names do not agree. */
int pctl_cut_check(const pctl_cut *c);
/* All parts, each as large as may be. PCTL_E_UNSUPPORTED without a word, and no part begun: there is no cut after which every range
 * that gets smaller by it fits. */
pctl_status pctl_cut_run(const pctl_cut *c);

#endif
