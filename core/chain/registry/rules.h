/* What the consensus VM accepts: one place that checking, uploading, submitting and running ask. The version of the rules
 * is the parameter `rules`, so a block is judged by those in force where its job was submitted; rules.def lists them. */
#ifndef PIPECTL_CHAIN_REGISTRY_RULES_H
#define PIPECTL_CHAIN_REGISTRY_RULES_H

#include "chain/messages/message.h"
#include "chain/ledger/params.h"
#include "runtime/graph/kernel.h"

#define PCTL_SCALE_OVERRIDE "canonical_scale"
/* WebGPU's default limits, which every node has. */
#define PCTL_CHAIN_INVOCATIONS_MAX 256u
#define PCTL_CHAIN_STORAGE_MAX 8u

enum { PCTL_RULES_RELEASED = 1, PCTL_RULES_DRAFT = 2 };
_Static_assert(PCTL_RULES_DRAFT == PCTL_RULES_KNOWN, "the newest one is known");

/* A shader's text under the name that diagnostics give it: its CID, or a path. */
typedef struct pctl_chain_source {
	const char *name, *text;
	uint64_t n_text;
} pctl_chain_source;

/* PCTL_WGSL_* that the front end is given under these parameters. */
uint32_t pctl_rules_flags(const pctl_params *p);

/* Not specialised. It and the units below live as long as the kernels. Errors: those of the front end. */
pctl_status pctl_rules_compiled(pctl_kernels *k, const pctl_chain_source *source,
				const pctl_params *p, const pctl_call *call,
				const pctl_program **out);
/* Concrete, with the canonical scale of `p` (PC5820 when an override gives it); entry "": the only one, groups NULL: any. */
pctl_status pctl_rules_concrete(pctl_kernels *k, const pctl_chain_source *source, const char *entry,
				const pctl_msg_override *overrides, uint32_t n_overrides,
				const uint32_t *groups, const pctl_params *p, const pctl_call *call,
				const pctl_kernel_module **out);

/* Whether a concrete shader is accepted: class (PC5806), variables (PC5807), sizes (PC5829, accept.h), limits (PC5809),
 * order of atomics and races (PC5808). */
pctl_status pctl_rules_accept(const pctl_kernel_module *u, const pctl_params *p,
			      const pctl_call *call);

/*
 * Whether a source is accepted into the registry: every entry point with its overrides' defaults. Races are proved for
 * every dispatch that the shader declares, or else for every dispatch along x. `visit` (may be NULL) is given each
 * accepted entry point in turn and may refuse. PC5807 without an entry point.
 */
typedef pctl_status (*pctl_rules_visit)(void *ctx, uint32_t entry, const pctl_kernel_module *u,
					const pctl_program *program);
pctl_status pctl_rules_accept_source(pctl_kernels *k, const pctl_chain_source *source,
				     const pctl_params *p, const pctl_call *call,
				     pctl_rules_visit visit, void *ctx);

/* The storage or uniform variable at a slot, or NULL. */
const pctl_var *pctl_chain_var(const pctl_program *p, uint32_t group, uint32_t binding);

#endif
