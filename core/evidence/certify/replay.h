/* Blocks of a certificate run again, here, on any device: their digests must be those of the certificate. */
#ifndef PIPECTL_EVIDENCE_CERTIFY_REPLAY_H
#define PIPECTL_EVIDENCE_CERTIFY_REPLAY_H

#include "evidence/certify/certificate.h"

#define PCTL_REPLAY_EVERY_OP 1u /* besides the share one strip of each kind of unit of each op */

/* sample: share of the strips, in millionths; which they are depends on seed alone. */
typedef struct pctl_certify_replay_options {
	pctl_proof_context *context; /* made with the certificate's parameters and regressions */
	const pctl_provider *providers;
	uint32_t n_providers, sample_ppm;
	uint64_t seed;
	uint32_t flags, reserved; /* PCTL_REPLAY_* */
	pctl_progress_sink progress;
} pctl_certify_replay_options;

/* compared, mismatches: strips; measured: of units without digest; absent: strips whose blocks the certificate says
 * were not run (they are not chosen). */
typedef struct pctl_replay_outcome {
	uint64_t chosen, compared, mismatches, measured, absent, blocks, cases;
	char first[512];
} pctl_replay_outcome;

/*
 * Errors: PC5530 (this installation makes other units), PC5531 (a mismatch, the first of them named; all chosen strips
 * are run all the same), PC5532 (nothing was run), those of units.
 */
pctl_status pctl_certify_replay(const pctl_certificate *c, const pctl_certify_replay_options *o,
				const pctl_call *call, pctl_replay_outcome *out);

/* Are the units of c those that this installation makes? *same; else the first that differs in `what`. Op libraries
 * may be others and make the same units. */
pctl_status pctl_certify_compare_units(const pctl_certificate *c, pctl_proof_context *b,
				       const pctl_provider *providers, uint32_t n_providers,
				       const pctl_call *call, int *same, char what[512]);

#endif
