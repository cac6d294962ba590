/* Sequences of a batch: where their tokens stand and how many of a chunk's are real (SEMANTICS.md 18.1). */
#ifndef PIPECTL_OPS_TRANSFORMER_SEQUENCES_H
#define PIPECTL_OPS_TRANSFORMER_SEQUENCES_H

#include "common/tensors/elements.h"
#include "transformer.h"

#define SEQUENCES_MAX 1024u
#define SEQUENCES_NONE UINT32_MAX
#define SEQUENCES_FOUND 32u /* bytes of what a kernel finds */

/*
 * n          sequences
 * t          tokens of a chunk, padding counted
 * positions  a position at or above is out of range
 * start      port of each sequence's first position
 * count      port of each sequence's real tokens, or SEQUENCES_NONE: all t
 */
typedef struct sequences {
	uint64_t n, t, positions;
	uint32_t start, count;
} sequences;

/* PC4201 unless the ports are u32[n]; PC4204 where there are too many. */
pctl_status sequences_types(const kit_use *u, const sequences *s);

/*
 * WGSL, from binding `first` on: the ports, fn tokens(b: u32, t: u32) -> u32 of real tokens, and where found is not
 * SEQUENCES_NONE (a buffer of SEQUENCES_FOUND bytes) `found` and fn sequences_look(which: u32, n: u32, t: u32, positions: u32), which an
 * invocation calls with its own number, below 2. In front: `steps`, no less than n. The number of slots.
 */
uint32_t sequences_text(const kit_plan *p, kit_wgsl *w, const sequences *s, uint32_t found,
			uint32_t first, kit_slot *slots);
/* The plan fails where `found` says so. */
void sequences_assert(kit_plan *p, const sequences *s, uint32_t found);
/* The same in plain C: PC4205. */
pctl_status sequences_refuse(const kit_use *u, const sequences *s, const pctl_span *in);
/* Of sequence b. */
uint32_t sequences_start(const sequences *s, const pctl_span *in, uint64_t b);
uint32_t sequences_count(const sequences *s, const pctl_span *in, uint64_t b);

/* Starts and counts of a problem, seldom out of range. */
void sequences_problem(kit_problem *p, const sequences *s);

#endif
