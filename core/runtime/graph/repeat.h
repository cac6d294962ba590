/* A span of a plan's steps that is repeated: opened up when the plan is made, so that whoever prices, places or records a plan sees
 * steps alone. */
#ifndef PIPECTL_RUNTIME_GRAPH_REPEAT_H
#define PIPECTL_RUNTIME_GRAPH_REPEAT_H

#include "runtime/graph/jobplan.h"

#define PCTL_REPEAT_PAIRS 16u

/* first: the first step of the span; pairs: ranges that stand for each other in every second turn. */
typedef struct pctl_repeat {
	uint32_t first, times, n_pairs, reserved;
	struct {
		pctl_plan_slot a, b;
	} pairs[PCTL_REPEAT_PAIRS];
} pctl_repeat;

/* A step of the span as it runs in turn `turn`: its ranges exchanged or moved on. Its tables are the arena's. */
pctl_status pctl_repeat_step(const pctl_repeat *r, uint32_t turn, const pctl_step *step,
			     pctl_arena *arena, const pctl_call *call, pctl_step *out);

#endif
