/* The first build of a strict kernel on a device is checked: a few dispatches over adversarial data, there and on the
 * reference, byte for byte; so is its program under range contracts, over data at the edges of these. A probe of single operations is not a proof, since drivers optimise whole kernels. */
#ifndef PIPECTL_RUNTIME_EXEC_ADVERSARY_H
#define PIPECTL_RUNTIME_EXEC_ADVERSARY_H

#include "runtime/exec/session.h"

/*
 * Check `unit` on s against `reference`, with at most `groups` workgroups. Only for kernels whose race freedom is
 * proven: of others the data might make a race, which no device could be blamed for.
 *
 * *agreed  1: every byte of every writable binding was the same
 * cause    of a disagreement: the binding, the word and both values
 */
pctl_status pctl_adversary_run(pctl_session *s, pctl_session *reference,
			       const pctl_kernel_module *unit, const uint32_t groups[3],
			       const pctl_call *call, int *agreed, char cause[256]);

/* 1 when this kernel needs the check at all, by class, proof and size. */
int pctl_adversary_applies(const pctl_kernel_module *unit);

/* *due 1: it applies, and `profile` (of the session's device, what pctl_session_profile gave) has not passed it, with this
 * program or with that under range contracts. */
pctl_status pctl_adversary_is_due(pctl_profiles *profiles, const pctl_profile_record *profile,
				  pctl_session *s, const pctl_kernel_module *unit,
				  const pctl_call *call, int *due);
/* Check a kernel for which it is due, for a job of that name, and note that it passed. A difference revokes the profile:
 * PC5216. */
pctl_status pctl_adversary_judge(pctl_profiles *profiles, const pctl_profile_record *profile,
				 pctl_session *s, pctl_session *reference,
				 const pctl_kernel_module *unit, const uint32_t groups[3],
				 const char *job, const pctl_call *call);

#endif
