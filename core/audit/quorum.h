/* A run that counts when k of n devices agree. The devices are audited against each other; what k of them gave, in every
 * output of every job, is run once more where it is to be kept, and kept only if those are the bytes again. */
#ifndef PIPECTL_AUDIT_QUORUM_H
#define PIPECTL_AUDIT_QUORUM_H

#include "audit/audit.h"

/*
 * Run under the quorum of o->policy (k of n, n above 1). Devices: those of o->backends, else the policy's order; the
 * first n that are allowed and qualify, each with a plugin or driver of its own. They agree when k of them, of at least
 * two plugins, gave the same bytes everywhere; the evidence of the result is that quorum. Who was outvoted is quarantined
 * as after an audit, and named (PC5236, a warning). The memo is neither read nor written.
 *
 * scratch: a directory for blobs, removed by the caller. Errors: PC5237 (too few devices), PC5235 (no quorum), those of
 * pctl_audit and pctl_run. Nothing is stored on any error.
 */
pctl_status pctl_quorum_run(const pctl_graph *g, const pctl_run_options *o, const char *scratch,
			    const pctl_call *call, pctl_run_result **out);

#endif
