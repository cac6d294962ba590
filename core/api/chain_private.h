/* The chain as the library has it open, as chain.c and chain_jobs.c share it. */
#ifndef PIPECTL_API_CHAIN_PRIVATE_H
#define PIPECTL_API_CHAIN_PRIVATE_H

#include "api/private.h"
#include "chain/home/signing.h"
#include "chain/home/submit.h"
#include "pipectl/chain.h"

/*
 * arena     what the options named; said: what the last call gave
 * devices   opened when a block first wants them; executor: those, with progress told of what they are given
 * done, total, begun_ns  of the block that ends: jobs, and when
 */
struct pipectl_chain {
	pipectl *p;
	pctl_chain *chain;
	pctl_arena *arena, *said;
	pctl_run_request request;
	const char *account;
	pctl_executor devices, executor;
	pctl_home_signing signing;
	uint64_t done, total, begun_ns;
};

/* A call begins: what the last one gave is forgotten. sends 1: it needs an account (PC0011). */
pctl_status pipectl_chain_begin(pipectl_chain *c, const char *phase, int sends);

/* A text that lives until the next call. */
pctl_status pipectl_chain_text(pctl_arena *arena, const pctl_call *call, const char *text,
			       const char **out);

#endif
