/* What the verbs of the ledger share: the state in HOME/chain, one transaction a command. */
#ifndef PIPECTL_TOOLS_LEDGER_H
#define PIPECTL_TOOLS_LEDGER_H

#include "app.h"
#include "chain/ledger.h"

/*
 * Open HOME/chain inside a transaction. A state without parameters takes those of HOME/chain/params.cfg, or else of
 * the installation's conf/chain/params.cfg. *out is NULL on error.
 */
pctl_status pctl_app_open_chain(pctl_app *app, pctl_chain_state **out);
/* Commit when `status` is PCTL_OK, else roll back; close. The status of all of it. NULL is fine. */
pctl_status pctl_app_close_chain(pctl_app *app, pctl_chain_state *s, pctl_status status);

/* A height given with an option, or `fallback`; PC0010 for what is no number. */
pctl_status pctl_app_height(pctl_app *app, const char *option, uint64_t fallback, uint64_t *out);

/* `ledger params calibrate`. */
pctl_status pctl_ledger_calibrate(pctl_app *app);

#endif
