/* Which form the strict operations of a pipeline take on each device, and what that costs there. */
#ifndef PIPECTL_EVIDENCE_AUDIT_FORMS_H
#define PIPECTL_EVIDENCE_AUDIT_FORMS_H

#include "evidence/audit/audit.h"

/* Note the strict float operations of a plan that runs on a session, each with the form its profile admits, as `device`.
 * The reference runs programs as written: nothing is noted. Rows are kept by device, operation, type. Errors: PC0002. */
pctl_status pctl_forms_note(pctl_audit_result *r, uint32_t device, const pctl_job_plan *plan,
			    const pctl_session *s, const pctl_call *call);

/*
 * Measure the rows of r: one elementwise kernel of the function of library `ieee` that is the operation, 2^20 elements,
 * strict and native, the median of a few runs by the device's clock or else the host's. What cannot be run, and what
 * comes after budget_ms on a device, stays 0. Fails only when the caller cancels.
 */
pctl_status pctl_forms_measure(pctl_audit_result *r, const pctl_run_options *o, uint32_t budget_ms,
			       const pctl_call *call);

#endif
