/* What the verbs of the consensus VM share: options and words of theirs; what they decide is core/chain/home. */
#ifndef PIPECTL_TOOLS_CHAIN_H
#define PIPECTL_TOOLS_CHAIN_H

#include "app.h"
#include "chain/home/home.h"
#include "chain/node/peers.h"

/* pctl_home_chain of the app's installation. */
pctl_status pctl_app_chain(pctl_app *app, const pctl_executor *executor, pctl_chain **out);

/* pctl_home_executor with --backend and the other options of a run. */
pctl_status pctl_app_open_executor(pctl_app *app, const char *selector, pctl_executor *out);

/* The chain asks the nodes of --peer for bytes that are lacking. peers outlives the chain. */
pctl_status pctl_app_peers(pctl_app *app, pctl_chain *c, pctl_peers *peers);

/* --sender (or its older name --from): PC10 without it. */
pctl_status pctl_app_sender(pctl_app *app, const char **out);

/* The CID of a shader: a CID as it is, else what the alias points to (PC5822); in the app's arena. */
pctl_status pctl_app_shader(pctl_app *app, pctl_chain *c, const char *word, const char **out);

/* The option as a number below 2^64; fallback without it. */
pctl_status pctl_app_number(pctl_app *app, const char *option, uint64_t fallback, uint64_t *out);

#endif
