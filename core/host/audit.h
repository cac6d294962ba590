/* An audit as a client asks for one: which devices take part, how many voices decide, where the report goes, who is
 * quarantined, and what the verdict means. */
#ifndef PIPECTL_HOST_AUDIT_H
#define PIPECTL_HOST_AUDIT_H

#include "evidence/audit/audit.h"
#include "host/run.h"

/*
 * selectors  devices, where "all" stands for those that compute and can run the pipeline; n 0: "all"
 * repeat     runs a device; 0: two
 * quorum     voices that decide; 0: the policy's, or more than half
 * natives    as in pctl_audit_options
 * keep       1: nobody is quarantined
 * report     a directory, or NULL; command: what asked for it, as a person may repeat it
 * run        of its progress all runs tell, with their device and repeat
 * left_out   told of each device that "all" leaves out, and why; may be NULL
 */
typedef struct pctl_audit_request {
	pctl_run_request run;
	const char *const *selectors;
	uint32_t n_selectors, repeat, quorum, natives, keep, reserved;
	const char *report, *command;
	void (*left_out)(void *ctx, const char *selector, const char *why);
	void *ctx;
} pctl_audit_request;

#define PCTL_AUDIT_REPEATS_MAX 1000u

/*
 * Admit the pipeline, audit it, write the report, quarantine. PCTL_OK whenever there is a result, whatever it says; also
 * with an error *out is the result when the audit itself came to an end. *n: who was quarantined.
 *
 * Errors besides those of pctl_audit: PC0010 (a quorum that cannot be had), those of admission.
 */
pctl_status pctl_audit_pipeline(pctl_installation *in, pctl_loaded_pipeline *p,
				const pctl_audit_request *q, const pctl_call *call,
				pctl_audit_result **out, uint32_t *n);

/* What the verdict means: says why it is no success, and is the status of that. */
pctl_status pctl_audit_judge(const pctl_audit_result *r, const pctl_call *call);

struct pctl_json;
/* The members of the document of an audit. */
void pctl_audit_document(const pctl_audit_result *r, uint32_t n_quarantined, const char *report,
			 struct pctl_json *j);

#endif
