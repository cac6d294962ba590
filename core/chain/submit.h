/* What submitting and running a job share: the kernel of an execute message and the bytes bound to it. */
#ifndef PIPECTL_CHAIN_SUBMIT_H
#define PIPECTL_CHAIN_SUBMIT_H

#include "chain/chain.h"

/* The registered shader of a message, made concrete: consensus rules, its groups, its overrides and, where it has an
 * override `canonical_scale`, the parameter `scale` of `p`. It lives as long as the chain's kernels. */
pctl_status pctl_chain_unit(pctl_chain *c, const pctl_msg_execute *m, const pctl_params *p,
			    const pctl_call *call, const pctl_kernel_unit **out);

/* The bytes of its uniform block, from the CBOR document it names, released with free(); *n_out 0 and *out NULL when the
 * program has none. */
pctl_status pctl_chain_uniform(pctl_chain *c, const pctl_msg_execute *m, const pctl_params *p,
			       const pctl_call *call, uint8_t **out, uint64_t *n_out);

#endif
