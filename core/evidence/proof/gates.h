/* Inside of gates*.c, independence.c and collisions.c: checks of an op that need no device. */
#ifndef PIPECTL_EVIDENCE_PROOF_GATES_H
#define PIPECTL_EVIDENCE_PROOF_GATES_H

#include "runtime/graph/type.h"
#include "evidence/proof/law.h"
#include "evidence/proof/providers.h"

/* The checks of one unit under way. */
typedef struct pctl_gate {
	pctl_proof_context *b;
	const pctl_call *call;
	pctl_op_ref op;
	const pctl_op_rules *rules; /* NULL: the op has none */
	pctl_arena *arena;	    /* of the run */
	pctl_hasher *hash;
	pctl_block *out;
	pctl_status status; /* an internal failure: nothing more is checked */
} pctl_gate;

/* One check is made. A failure names the op, the check and why; the first is the block's counterexample. Returns good. */
int pctl_gate_check(pctl_gate *g, const char *name, int good, const char *fmt, ...)
	PCTL_PRINTF(4, 5);
/* An internal failure is kept: the first only. */
void pctl_gate_internal_failure(pctl_gate *g, pctl_status status);

typedef void (*pctl_gate_checks)(pctl_gate *g);
/* Run checks on the op of a unit: arena, digest and counts are seen to. */
pctl_status pctl_gate_run(const pctl_op_ref *op, pctl_gate_checks checks, pctl_proof_context *b,
			  const pctl_call *call, pctl_block *out);

/* The track of an op's class. */
uint32_t pctl_gate_track(const pctl_op_desc *op);

/* 1: its problems, laws and baselines are those of a plan op: it is one, or a function of vectors or of f64. */
int pctl_gate_as_plan(const pctl_op_desc *op);

/* The types that port 0 takes, by its pattern; 0 where it cannot be read. */
uint32_t pctl_gate_dtypes(pctl_gate *g, uint32_t out[PCTL_DTYPES_MAX]);
/* A function op on a dtype; 0: it has no form, infer refuses it, or it is of vectors or f64. */
int pctl_gate_function(const pctl_op_ref *op, uint32_t dtype, pctl_op_function *out);
/* The same, of these too: for its kernel alone. */
int pctl_gate_form(const pctl_op_ref *op, uint32_t dtype, pctl_op_function *out);

/*
 * reference() once: n elements of each operand, out's memory filled with `poison` before. The answer is in the arena;
 * NULL: it refused or wrote past the end.
 */
const uint8_t *pctl_gate_answer(pctl_gate *g, const pctl_op_function *f, const pctl_column *in,
				uint64_t n, const uint8_t *poison, uint64_t *n_bytes);
/* Witnesses of a function: n_in columns of *n elements in the arena: adversarial, then random ones. */
const pctl_column *pctl_gate_witnesses(pctl_gate *g, const pctl_op_function *f, uint64_t *n);

/* ---- kernels (gates_kernel.c) ---------------------------------------------------------------- */

/*
 * The elementwise program of f: by `//# use` (PCTL_GATE_USED), with this text of the function before it
 * (PCTL_GATE_TEXT), or with the function's statements written in place of the call (PCTL_GATE_IN_PLACE). *out lives as
 * long as `kernels`. Not PCTL_OK: `why` says what is wrong.
 */
enum { PCTL_GATE_USED, PCTL_GATE_TEXT, PCTL_GATE_IN_PLACE };
pctl_status pctl_gate_kernel(pctl_kernels *kernels, const pctl_op_function *f, uint32_t form,
			     const char *text, const pctl_program **out, char why[128]);
/* Instructions of the entry point with all calls written out; 0: a function returns before its end, so that a call is
 * left. */
uint64_t pctl_gate_cost(const pctl_program *p);
/* 1 when two programs are the same instruction for instruction, whatever is named how. */
int pctl_gate_same(const pctl_program *a, const pctl_program *b);

/* ---- units ----------------------------------------------------------------------------------- */

void pctl_gate_admission(pctl_gate *g);
/* independence.c: one check a law, one an alternate, one of the oracle. */
void pctl_gate_independence(pctl_gate *g);
/* collisions.c: one check a peer. */
void pctl_gate_collisions(pctl_gate *g);
/* How many ops of the same library, arity and class there are besides. */
uint32_t pctl_gate_peers(const pctl_op_source *ops, const pctl_op_ref *op);

#endif
