/* What one run did, as a directory: index.html for people, run.json (the document of the run), gas.json
 * (gas by job and by line of its shader), and trace.json, events in the
 * trace event format that Perfetto and Chrome's tracing read. Times are the host's own; where the policy keeps telemetry
 * for itself none stands there. Not an audit's report, which is signed (evidence/audit/report.h): this one shows, and proves
 * nothing. */
#ifndef PIPECTL_HOST_RUN_REPORT_H
#define PIPECTL_HOST_RUN_REPORT_H

#include "host/load.h"

/* What a report is made of; all of it the caller's. command: what made it, as a person may repeat it. document: run.json. */
typedef struct pctl_run_report {
	const pctl_graph *graph;
	const pctl_run_result *run;
	const pctl_policy *policy;
	const pctl_gas_schedule *schedule;
	const char *command, *document;
} pctl_run_report;

/* Write it: all or nothing, into a directory that is not there or empty (foundation/base/folder.h; PC0024). */
pctl_status pctl_run_report_write(const pctl_run_report *r, const char *dir, const pctl_call *call);

/* Its parts, for the writer alone: filled into a buffer, and as a text that free() releases (NULL: no memory). */
void pctl_run_report_page(const pctl_run_report *r, pctl_str_buf *s);
void pctl_run_report_lines(const pctl_run_report *r, pctl_str_buf *s);
void pctl_run_report_timeline(const pctl_run_report *r, pctl_str_buf *s);
char *pctl_run_report_trace(const pctl_run_report *r);
char *pctl_run_report_gas(const pctl_run_report *r);

#endif
