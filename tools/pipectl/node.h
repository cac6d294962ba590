/* What the ways of `pipectl node` share. */
#ifndef PIPECTL_TOOLS_NODE_H
#define PIPECTL_TOOLS_NODE_H

#include "chain.h"
#include "chain/engine/decide.h"
#include "chain/home/signing.h"

/* An internal failure is told when it happens: the diagnostics of this process come at its end. ctx: the app. */
void pctl_node_report(void *ctx, uint32_t code, const char *text);
/* What serving ended with as the verb's status: to be told to stop is how it ends. */
pctl_status pctl_node_ended(pctl_app *app, pctl_status status);
/* A counted row of what was served, of n names and values. */
typedef struct pctl_node_count {
	const char *name;
	uint64_t value;
} pctl_node_count;
void pctl_node_print(pctl_app *app, const pctl_node_count *rows, size_t n);

/* The home behind an engine: its chain with a decider, whose blocks are signed here, and its reader. */
typedef struct pctl_node_home {
	pctl_app *app;
	pctl_executor executor;
	pctl_chain *chain, *reader;
	pctl_decider *decider;
	pctl_home_signing signing;
} pctl_node_home;

/* --engine abci --listen ADDRESS. */
pctl_status pctl_node_abci(pctl_app *app);
/* --order SERVICE. */
pctl_status pctl_node_order(pctl_app *app);

#endif
