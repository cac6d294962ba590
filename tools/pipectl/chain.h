/* What the verbs of the consensus VM share: the chain of this home, and senders. */
#ifndef PIPECTL_TOOLS_CHAIN_H
#define PIPECTL_TOOLS_CHAIN_H

#include "app.h"
#include "chain/chain.h"

/* Open HOME/chain with the store and kernels of the app and the parameters of HOME/chain/params.cfg, or else
 * conf/chain/params.cfg, for a state that has none. executor may be NULL. Close it with pctl_chain_close before the app
 * is closed. */
pctl_status pctl_app_chain(pctl_app *app, const pctl_executor *executor, pctl_chain **out);

/* The parameters in force for the open block. */
pctl_status pctl_app_params(pctl_app *app, pctl_chain *c, pctl_params *out);

/* The same without opening the chain: those that it would begin with where there is none; --rules asks for another version
 * of the rules (PC5721). from (may be NULL): where the version is from: option, chain, genesis. */
pctl_status pctl_app_rules(pctl_app *app, pctl_params *out, const char **from);

/* An executor over --backend (the policy's order without one), or over the one `selector`. Closed with
 * pctl_executor_close, after the chain and before the app; also after an error. */
pctl_status pctl_app_open_executor(pctl_app *app, const char *selector, pctl_executor *out);

/* --sender (or its older name --from): PC10 without it. */
pctl_status pctl_app_sender(pctl_app *app, const char **out);

/* The CID of a shader: a CID as it is, else what the alias points to (PC5822); in the app's arena. */
pctl_status pctl_app_shader(pctl_app *app, pctl_chain *c, const char *word, const char **out);

/* The option as a number below 2^64; fallback without it. */
pctl_status pctl_app_number(pctl_app *app, const char *option, uint64_t fallback, uint64_t *out);

#endif
