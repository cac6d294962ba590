/* An audit's report: report.json for programs, index.html for people (one file, no script from elsewhere, plots as
 * SVG), and manifest.cfg, a sealed text that names the SHA-256 of every file in the directory. */
#ifndef PIPECTL_EVIDENCE_AUDIT_REPORT_H
#define PIPECTL_EVIDENCE_AUDIT_REPORT_H

#include "evidence/audit/audit.h"
#include "runtime/cas/sign.h"

/*
 * Write the report into dir (made when needed; files of an earlier report there are replaced). command: what made it,
 * for the page.
 */
pctl_status pctl_audit_report(const pctl_audit_result *r, const char *command, const char *dir,
			      const pctl_signer *signer, const pctl_call *call);

/* The JSON document's members, into an open object (`audit --json` prints the same). */
struct pctl_json;
void pctl_audit_json(const pctl_audit_result *r, struct pctl_json *j);

/* 1 when the verdict is good: all runs agreed; of an audit of natives, all strict runs. */
int pctl_strict_agreed(const pctl_audit_result *r);

/* Check a report directory: the seal, and every file's digest. Errors: PC5012, PC5611, PC5610 (a file changed, is missing, or
 * is not listed). key: who signed. */
pctl_status pctl_audit_verify(const char *dir, const pctl_call *call,
			      char key[PCTL_PUBLIC_KEY_TEXT]);

#endif
