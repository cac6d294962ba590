/* What a proof consists of: parameters, the providers asked in a fixed order, and the list of units that comes of it,
 * with a digest by which two proofs are known to be the same. */
#ifndef PIPECTL_EVIDENCE_CERTIFY_PLAN_H
#define PIPECTL_EVIDENCE_CERTIFY_PLAN_H

#include "foundation/base/str.h"
#include "evidence/proof/proof.h"

/* ops: NULL for all. programs: generated programs of the engine suite. */
typedef struct pctl_proof_params {
	const char *ops;
	uint32_t track, level;
	uint64_t seed, cases, programs;
	uint32_t pairs, reserved;
} pctl_proof_params;

/* tracks: bits 1 << PCTL_TRACK_*; level: the lowest that wants its units. */
typedef struct pctl_provider {
	const char *name;
	uint32_t tracks, level;
	pctl_status (*add)(pctl_proof_context *b, const pctl_selection *s, uint64_t programs,
			   const pctl_call *call, pctl_units *list);
} pctl_provider;

/* Gates, functions, plans, suite, compositions, baselines. */
const pctl_provider *pctl_providers(uint32_t *n_out);

/*
 * The units that p asks for; those of a higher level than asked are left out.
 *
 * Errors: PC5501 (L3f or L4f without an op that is a plan), PC5502 (none at all), PC5503 (a unit of another track, or one without
 * blocks), those of the providers.
 */
pctl_status pctl_proof_plan(pctl_proof_context *b, const pctl_provider *providers,
			    uint32_t n_providers, const pctl_proof_params *p, const pctl_call *call,
			    pctl_units **out);

/* One line a unit, all that tells it from others; the digest of the list is SHA-256 of this text. */
void pctl_proof_unit_line(const pctl_unit *u, pctl_str_buf *out);
pctl_status pctl_proof_plan_text(const pctl_units *l, const pctl_call *call, pctl_str_buf *out);

/* The unit that block `number` of the whole list belongs to. */
const pctl_unit *pctl_proof_unit_of(const pctl_units *l, uint64_t number);

#endif
