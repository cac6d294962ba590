/* What submitting and running share: the kernel of an execute message and its uniform block. */
#ifndef PIPECTL_CHAIN_TRANSITION_SUBMIT_H
#define PIPECTL_CHAIN_TRANSITION_SUBMIT_H

#include "chain/chain.h"
#include "chain/registry/rules.h"

/* The program of a registered shader, as it is written, and under the rules; it lives as long as the chain's kernels. */
pctl_status pctl_chain_program(pctl_chain *c, const char *shader_cid, const pctl_params *p,
			       const pctl_call *call, const pctl_program **out);
/* The registered shader of a message, made concrete: consensus rules, its groups, its overrides and, where it has an
 * override `canonical_scale`, the parameter `scale` of `p` (PC5820 when the message gives it). It lives as long as the
 * chain's kernels. The source is read from the store (PC5004). */
pctl_status pctl_chain_unit(pctl_chain *c, const pctl_msg_execute *m, const pctl_params *p,
			    const pctl_call *call, const pctl_kernel_module **out);

/* The bytes of its uniform block, from the CBOR document it names, held against the declared maxima (PC5814), released
 * with free(); *n_out 0 and *out NULL when the entry uses none. PC5813 unless the message names a document exactly then;
 * PC5816. */
pctl_status pctl_chain_uniform(pctl_chain *c, const pctl_msg_execute *m, const pctl_params *p,
			       const pctl_call *call, uint8_t **out, uint64_t *n_out);

/* The source of a shader from the store, kept by the chain. */
pctl_status pctl_chain_source_of(pctl_chain *c, const char *cid, const pctl_call *call,
				 const pctl_chain_source **out);
/* A job to be priced. is_built: it gives overrides, for which devices build a kernel of its own; hops: what it refers to. */
typedef struct pctl_job_shape {
	const pctl_kernel_module *unit;
	uint32_t groups[3], is_built;
	uint64_t input_bytes, output_bytes, uniform_bytes, hops;
} pctl_job_shape;
/* What it costs under these parameters, whose schedule is given; gas_limit is held against the total. */
pctl_status pctl_job_price(const pctl_gas_schedule *schedule, const pctl_params *p,
			   const pctl_job_shape *job, const pctl_call *call, pctl_gas_price *out);

/* What a job costs that every node looked at and nobody ran, from version 2 of the rules on: validation_cost for each byte of
 * its source, at most its gas_limit. */
pctl_status pctl_chain_validation_gas(pctl_chain *c, const pctl_msg_execute *m,
				      const pctl_params *p, const pctl_call *call, uint64_t *out);

#endif
