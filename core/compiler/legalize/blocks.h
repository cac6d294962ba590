/* How often each part of a program runs: the program with counters of its own. Like the turn budget it is no device's business:
 * what comes out is an ordinary program, and whoever runs it (the reference, first of all) counts. */
#ifndef PIPECTL_COMPILER_LEGALIZE_BLOCKS_H
#define PIPECTL_COMPILER_LEGALIZE_BLOCKS_H

#include "pipectl/program.h"

#define PCTL_BLOCKS_GROUP (PCTL_TURNS_GROUP + 1u) /* no text can name it */

/* Instructions first .. end - 1 of a function that run equally often: what stands between them are BLOCK and END_BLOCK. */
typedef struct pctl_basic_block {
	uint32_t function, first, end;
} pctl_basic_block;

/* of: by instruction of the program, 1 + its block; 0 for those that do nothing (parameters, ends of regions). */
typedef struct pctl_basic_blocks {
	pctl_basic_block *at;
	uint32_t *of;
	uint32_t n, reserved;
} pctl_basic_blocks;

/* The basic blocks of a specialised program, in its order. PCTL_E_NOMEM. */
pctl_status pctl_basic_blocks_find(const pctl_program *p, const pctl_call *call,
				   pctl_basic_blocks *out);
void pctl_basic_blocks_clear(pctl_basic_blocks *b);

/* Bytes of the counters: for each block two u32, the low word of its count first. */
#define PCTL_BLOCKS_BYTES(blocks) (8ull * (blocks)->n)

/*
 * A new program that does what p does, and adds to the counters, a storage variable at (PCTL_BLOCKS_GROUP, 0), how often its
 * invocations ran each block. Each counts for itself, in private variables, and adds them when it ends: exact as long as one
 * invocation runs no block 2^32 times. Positions, and proofs of what p had, are kept.
 *
 * Errors: PCTL_E_NOMEM, and what a program may not be (too many instructions).
 */
pctl_status pctl_legal_count_blocks(const pctl_program *p, const pctl_basic_blocks *b,
				    const pctl_call *call, pctl_program **out);

#endif
