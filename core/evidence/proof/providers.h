/* Who gives units of proof for ops. Each adds its units to the list in an order that depends on the op source and the
 * selection alone. */
#ifndef PIPECTL_EVIDENCE_PROOF_PROVIDERS_H
#define PIPECTL_EVIDENCE_PROOF_PROVIDERS_H

#include "evidence/proof/evaluate.h"

/* function ops: parity over examples, exhaustive, adversarial and random domains, every law exhaustive and witnessed,
 * determinism (repeats and shuffled order) (functions.c) */
pctl_status pctl_function_units(pctl_proof_context *b, const pctl_selection *s,
				const pctl_call *call, pctl_units *list);
/* plan ops: parity of generated problem instances with reference(), laws that their library checks, the ULP tolerance of
 * approximate ones (plans.c) */
pctl_status pctl_plan_units(pctl_proof_context *b, const pctl_selection *s, const pctl_call *call,
			    pctl_units *list);
/* the six admission gates, the independence gate and collisions, on the host (gates.c) */
pctl_status pctl_gate_units(pctl_proof_context *b, const pctl_selection *s, const pctl_call *call,
			    pctl_units *list);
/* laws derived for compositions, tested on composed kernels; level 4 (compose.c). Those of plan ops are laws of their libraries
 * (plans.c) */
pctl_status pctl_composition_units(pctl_proof_context *b, const pctl_selection *s,
				   const pctl_call *call, pctl_units *list);
/* throughput of every selected function op and, of floats, plan op; level 4 (baseline.c, plans_time.c) */
pctl_status pctl_baseline_units(pctl_proof_context *b, const pctl_selection *s,
				const pctl_call *call, pctl_units *list);

#endif
