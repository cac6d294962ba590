/* What a sanitizing build of the reference saw, told with the WGSL lines it happened at, and the
 * gas it counted. */
#ifndef PIPECTL_RUNTIME_EXEC_SANITIZE_H
#define PIPECTL_RUNTIME_EXEC_SANITIZE_H

#include "runtime/exec/job.h"

/*
 * Ask the session's backend for findings and counts of what ran since the last call, and report
 * each finding: a race (PC5220) and a divergent barrier (PC5221) as errors, an access out of bounds
 * (PC5222) as a warning, the last only where PCTL_BUILD_COUNT was asked for too: who only looks for races does not hear
 * of it. Returns the status of the first error. *counts is added to. Does nothing
 * on sessions that were not opened with PCTL_BUILD_SANITIZE.
 */
pctl_status pctl_sanitize_report(pctl_session *s, const pctl_job_plan *plan, const pctl_call *call,
				 pctl_counts *counts);

#endif
