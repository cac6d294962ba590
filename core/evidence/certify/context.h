/* The bench of a proof: a device, the reference and (for the engine suite) the reference that looks for races, each in
 * a worker of its own. */
#ifndef PIPECTL_EVIDENCE_CERTIFY_CONTEXT_H
#define PIPECTL_EVIDENCE_CERTIFY_CONTEXT_H

#include "evidence/certify/plan.h"

#define PCTL_CERTIFY_IN_PROCESS 1u /* backends that allow it run in this process */
#define PCTL_CERTIFY_DEBUG 2u	   /* backends validate what they make */
#define PCTL_CERTIFY_SANITIZER 4u  /* open the third session too */

/* registry, ops, kernels, profiles and strings outlive the bench. cache_dir may be NULL. */
typedef struct pctl_certify_context_options {
	pctl_registry *registry;
	const pctl_op_source *ops;
	pctl_kernels *kernels;
	pctl_profiles *profiles;
	const char *cache_dir;
	uint32_t flags; /* PCTL_CERTIFY_* */
	uint32_t reserved;
	const pctl_proof_params *params; /* seed, cases, pairs */
	const char *const *regressions;
	uint32_t n_regressions;
	uint32_t reserved2;
	const uint64_t *shapes; /* seed of the shapes of runs; NULL: drawn from the system */
} pctl_certify_context_options;

/*
 * Open on the device that `selector` means; NULL: no device and no session at all, to make plans only.
 *
 * Errors: PC3230.. and PC5207 for the device, those of sessions.
 */
pctl_status pctl_certify_context_open(const pctl_certify_context_options *o, const char *selector,
				      const pctl_call *call, pctl_proof_context **out);
/* Close all sessions and open them again, after a loss. When that fails the bench has none. */
pctl_status pctl_certify_context_reopen(pctl_proof_context *b, const pctl_call *call);
/* NULL is fine. Sessions that units opened further must be closed before. */
void pctl_certify_context_close(pctl_proof_context *b);

#endif
