/* A pipeline as jobs of the chain: what becomes of its shaders, data, edges and numbers, and whether the policy lets it in. */
#ifndef PIPECTL_CHAIN_HOME_PIPELINE_H
#define PIPECTL_CHAIN_HOME_PIPELINE_H

#include "chain/home/home.h"
#include "host/load.h"

/*
 * sender     of every message
 * gas_limit  of every job
 * ins        data of inputs by name: a file, or a CID of the store
 * sets       parameters by name, as the pipeline was loaded with
 * source     told of each shader's text by the name that refusals of it say; may be NULL
 * taken      told of each job that was taken in, by its name in the pipeline, before the batch is committed; another status than PCTL_OK ends it. May be
 *            NULL
 */
typedef struct pctl_home_submit {
	const char *sender;
	uint64_t gas_limit;
	const pctl_setting *ins, *sets;
	uint32_t n_ins, n_sets;
	void (*source)(void *ctx, const char *name, const char *text, uint64_t n);
	pctl_status (*taken)(void *ctx, const char *name, const pctl_chain_job *job);
	void *ctx;
} pctl_home_submit;

/*
 * Admit a loaded pipeline (pctl_admit) and submit every job of it in one batch, all or none. Shaders that are not
 * registered are uploaded: the texts that were admitted. Errors: of admission; PC5827 (the chain has no such thing: an op,
 * a repeat, a size that is known only when the job runs), PC5816 (no such CID), PC10 (no such input or parameter), of
 * taking in.
 */
pctl_status pctl_home_submit_pipeline(pctl_installation *in, pctl_chain *c, pctl_loaded_pipeline *p,
				      const pctl_home_submit *o, const pctl_call *call);

/* Overrides as somebody wrote them, read by the types of the message's shader, sorted, into the message; they lie in the
 * arena, names are borrowed. Errors: of reading the values. */
pctl_status pctl_home_overrides(pctl_installation *in, pctl_chain *c,
				const pctl_override_value *given, uint32_t n, pctl_arena *arena,
				const pctl_call *call, pctl_msg_execute *m);

#endif
