/* What the verbs of the ledger share; opening the chain is chain.h. */
#ifndef PIPECTL_TOOLS_LEDGER_H
#define PIPECTL_TOOLS_LEDGER_H

#include "app.h"
#include "chain/ledger/ledger.h"

/* A height given with an option, or `fallback`; PC0010 for what is no number. */
pctl_status pctl_app_height(pctl_app *app, const char *option, uint64_t fallback, uint64_t *out);

/* `ledger params calibrate`. */
pctl_status pctl_ledger_calibrate(pctl_app *app);

#endif
