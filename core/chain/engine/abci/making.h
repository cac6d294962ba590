/* A snapshot that is due (snapshots.h), made beside the blocks by a thread and a connection of its own: of the moment in which it was begun, whatever blocks
 * become final meanwhile. One at a time. */
#ifndef PIPECTL_CHAIN_ENGINE_ABCI_MAKING_H
#define PIPECTL_CHAIN_ENGINE_ABCI_MAKING_H

#include "chain/engine/abci/serve.h"

typedef struct pctl_abci_making pctl_abci_making;
pctl_status pctl_abci_making_open(const pctl_call *call, pctl_abci_making **out);
/* Waits for what is under way. */
void pctl_abci_making_close(pctl_abci_making *m);

/*
 * Begin with what is due (what->due, which is none afterwards), while no block is under way and nothing else is being made. What cannot be begun, or
 * made, is told of (what->told) and stops nobody. `call` lives until it has ended, and ends it early when it is cancelled.
 */
void pctl_abci_making_begin(pctl_abci_making *m, pctl_abci *what, const pctl_call *call);
int pctl_abci_making_is_busy(const pctl_abci_making *m);
/* 1: it has ended (waits: when it has) since this was asked last. */
int pctl_abci_making_ended(pctl_abci_making *m, int waits);

#endif
