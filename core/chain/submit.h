/* What uploading, submitting and running share: the kernel of an execute message, its uniform block, and the rules of
 * the consensus VM for a concrete shader. */
#ifndef PIPECTL_CHAIN_SUBMIT_H
#define PIPECTL_CHAIN_SUBMIT_H

#include "chain/chain.h"

#define PCTL_SCALE_OVERRIDE "canonical_scale"
/* WebGPU's default limits, which every node has. */
#define PCTL_CHAIN_INVOCATIONS_MAX 256u
#define PCTL_CHAIN_STORAGE_MAX 8u

/* The registered shader of a message, made concrete: consensus rules, its groups, its overrides and, where it has an
 * override `canonical_scale`, the parameter `scale` of `p` (PC5820 when the message gives it). It lives as long as the
 * chain's kernels. The source is read from the store (PC5004). */
pctl_status pctl_chain_unit(pctl_chain *c, const pctl_msg_execute *m, const pctl_params *p,
			    const pctl_call *call, const pctl_kernel_unit **out);

/* The bytes of its uniform block, from the CBOR document it names, held against the declared maxima (PC5814), released
 * with free(); *n_out 0 and *out NULL when the entry uses none. PC5813 unless the message names a document exactly then;
 * PC5816. */
pctl_status pctl_chain_uniform(pctl_chain *c, const pctl_msg_execute *m, const pctl_params *p,
			       const pctl_call *call, uint8_t **out, uint64_t *n_out);

/* A text under the name of its CID. */
typedef struct pctl_chain_source {
	const char *cid, *text;
	uint64_t n_text;
} pctl_chain_source;

/* The source of a shader from the store, kept by the chain. */
pctl_status pctl_chain_source_of(pctl_chain *c, const char *cid, const pctl_call *call,
				 const pctl_chain_source **out);
/* Not specialised. */
pctl_status pctl_chain_compiled(pctl_chain *c, const pctl_chain_source *source,
				const pctl_call *call, const pctl_program **out);
/* Concrete, with the canonical scale of `p`; entry "": the only one, groups NULL: any. */
pctl_status pctl_chain_concrete(pctl_chain *c, const pctl_chain_source *source, const char *entry,
				const pctl_msg_override *overrides, uint32_t n_overrides,
				const uint32_t *groups, const pctl_params *p, const pctl_call *call,
				const pctl_kernel_unit **out);

/* Class (PC5806), limits (PC5809), variables (PC5807), races and order of atomics (PC5808). */
pctl_status pctl_chain_check_unit(const pctl_kernel_unit *u, const pctl_params *p,
				  const pctl_call *call);

/* The storage or uniform variable at a slot, or NULL. */
const pctl_var *pctl_chain_var(const pctl_program *p, uint32_t group, uint32_t binding);

#endif
