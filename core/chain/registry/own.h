/* What the registry holds for the chain itself: the account and the shaders of the rank of an epoch (epoch.h). */
#ifndef PIPECTL_CHAIN_REGISTRY_OWN_H
#define PIPECTL_CHAIN_REGISTRY_OWN_H

#include "runtime/cas/cid.h"

#define PCTL_EPOCH_ACCOUNT "rank" /* who submits and pays; anyone may fund it by a transfer */

/* The graph's shaders, as they are registered. */
enum { PCTL_EPOCH_SPREAD = 0, PCTL_EPOCH_SETTLE, PCTL_EPOCH_GATHER, PCTL_EPOCH_SHADERS };
const char *pctl_epoch_shader(int which);
/* Whether a CID is that of one of them. */
pctl_status pctl_epoch_is_shader(const char *cid, const pctl_call *call, int *out);

#endif
