/* The bytes of the store that the chain of a home refers to, for whoever removes others. */
#ifndef PIPECTL_CHAIN_HOME_NAMED_H
#define PIPECTL_CHAIN_HOME_NAMED_H

#include "chain/home/home.h"

/*
 * Show every CID that the state names: blobs, sources of shaders, outputs of jobs, graphs of ranks and their names, evidence of verdicts, and what
 * jobs read, done ones too, so that their blocks can be verified; some of them more than once. A visitor that returns 0 ends it (PC2: it had no memory). Where the home has no
 * chain nothing is shown, and none is made. Errors: those of opening it.
 */
pctl_status pctl_home_named(pctl_installation *in, int (*visit)(void *ctx, const pctl_cid *cid),
			    void *ctx, const pctl_call *call);

#endif
