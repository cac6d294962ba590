/* Inside of functions.c and functions_run.c: what the units of function ops share, and what one unit is. */
#ifndef PIPECTL_EVIDENCE_PROOF_FUNCTIONS_H
#define PIPECTL_EVIDENCE_PROOF_FUNCTIONS_H

#include "evidence/proof/law.h"
#include "evidence/proof/providers.h"

/* Evaluators are made when a unit first runs, one a session, and stay until the list of units goes; so do columns. */
typedef struct pctl_functions {
	pctl_proof_context *b;
	struct {
		pctl_session *s;
		pctl_evaluator *e;
	} devices[4];
	uint32_t n_devices, reserved;
	pctl_evaluator *reference;
	pctl_session *again; /* opened for determinism */
	uint8_t *in[4], *got, *want;
} pctl_functions;

enum { PCTL_AGAIN_REPEAT = 1, PCTL_AGAIN_SHUFFLED, PCTL_AGAIN_SESSION };

/* ctx of a unit. law: of a law. again: of determinism. */
typedef struct pctl_function_unit {
	pctl_functions *shared;
	pctl_op_function f;
	pctl_domain domain;
	const pctl_law_equation *law;
	uint32_t again, reserved;
} pctl_function_unit;

/* pctl_unit.run of each kind. */
pctl_status pctl_function_run_parity(const pctl_unit *u, pctl_proof_context *b, uint64_t block,
				     const pctl_call *call, pctl_block *out);
pctl_status pctl_function_run_law(const pctl_unit *u, pctl_proof_context *b, uint64_t block,
				  const pctl_call *call, pctl_block *out);
pctl_status pctl_function_run_again(const pctl_unit *u, pctl_proof_context *b, uint64_t block,
				    const pctl_call *call, pctl_block *out);
/* Tells why the laws of a function cannot all be checked; never PCTL_OK. */
pctl_status pctl_function_run_unchecked(const pctl_unit *u, pctl_proof_context *b, uint64_t block,
					const pctl_call *call, pctl_block *out);

/* Releases all that was made. ctx: the pctl_functions. */
void pctl_functions_release(void *ctx);

#endif
