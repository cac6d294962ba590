/* What `audit` prints. */
#ifndef PIPECTL_TOOLS_AUDIT_H
#define PIPECTL_TOOLS_AUDIT_H

#include "app.h"
#include "evidence/audit/report.h"
#include "evidence/audit/show.h"

/* As text, and as members of the JSON document; n_quarantined: of the outvoted devices. */
void pctl_audit_print(pctl_app *app, const pctl_audit_result *r, uint32_t n_quarantined);
void pctl_audit_document(pctl_app *app, const pctl_audit_result *r, uint32_t n_quarantined);

#endif
