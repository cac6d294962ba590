/* Making a failing tuple smaller: values as unsigned numbers, each made as small as it gets while the tuple still
 * fails. What failing means is the asker's. */
#ifndef PIPECTL_EVIDENCE_PROOF_SHRINK_H
#define PIPECTL_EVIDENCE_PROOF_SHRINK_H

#include "evidence/proof/evaluate.h"

#define PCTL_SHRINK_LANES 128u /* most tuples asked about at once */

/* fails: for each of n tuples in the columns (n at most PCTL_SHRINK_LANES), 1 in failed[i] where it fails. */
typedef struct pctl_shrinker {
	void *ctx;
	pctl_status (*fails)(void *ctx, const pctl_column *vars, uint64_t n, uint8_t *failed,
			     const pctl_call *call);
	uint32_t dtype, n_vars; /* n_vars at most 4 */
} pctl_shrinker;

/*
 * Greedy and deterministic: 0 and 1 for every value, then bits cleared from the top, then bisection between a smaller
 * value that passes and the one that fails, all again until nothing changes (a few rounds at most).
 *
 * values   n_vars, 16 bytes each, least significant first; as they were when the tuple does not fail
 * minimal  1: the tuple fails, and with any one value less by one it does not
 */
pctl_status pctl_shrink(const pctl_shrinker *s, uint8_t (*values)[16], const pctl_call *call,
			uint32_t *minimal);

#endif
