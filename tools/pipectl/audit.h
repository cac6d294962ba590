/* What `audit` prints. */
#ifndef PIPECTL_TOOLS_AUDIT_H
#define PIPECTL_TOOLS_AUDIT_H

#include "app.h"
#include "evidence/audit/report.h"
#include "evidence/audit/show.h"
#include "host/audit.h"

/* As text; n_quarantined: of the outvoted devices. */
void pctl_audit_print(pctl_app *app, const pctl_audit_result *r, uint32_t n_quarantined);

#endif
