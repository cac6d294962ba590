/* Extents: what a program needs in sizes, counted as if every call were written out where it stands, because that is
 * what drivers do. The one count that policies, device limits and the consensus rules are compared with. Not prices
 * (profile.h) and not bytes of buffers, which a plan knows. */
#ifndef PIPECTL_COMPILER_ANALYSIS_EXTENTS_H
#define PIPECTL_COMPILER_ANALYSIS_EXTENTS_H

#include "compiler/analysis/analyse.h"

/* Rows of extents.def. */
enum {
#define PCTL_EXTENT(NAME, key, unit, doc) PCTL_EXTENT_##NAME,
#include "compiler/analysis/extents.def"
#undef PCTL_EXTENT
	PCTL_N_EXTENTS
};

/*
 * What one entry point needs.
 *
 * need      saturates at UINT64_MAX, which is also the number of turns where a loop has no bound that can be proved. A
 *           loop of n rounds makes n + 1 turns: in the last one it is left, and drivers count that one too
 * function, inst  where the largest share of each comes from, as numbers of the program; 0, 0 where that says nothing
 */
typedef struct pctl_extents {
	uint64_t need[PCTL_N_EXTENTS];
	uint32_t function[PCTL_N_EXTENTS], inst[PCTL_N_EXTENTS];
} pctl_extents;

/* The most that somebody takes of each; 0: any. */
typedef struct pctl_extent_limits {
	uint64_t most[PCTL_N_EXTENTS];
} pctl_extent_limits;

const char *pctl_extent_key(uint32_t extent);
const char *pctl_extent_unit(uint32_t extent);
const char *pctl_extent_doc(uint32_t extent);

/*
 * Count a specialised program, as written or legalised. Every function is looked at once, so the time goes with the
 * text and not with what it unfolds to.
 *
 * known  the dispatch it is for, which the turns of its loops may hang on; NULL: any. Its flags are not looked at
 *
 * Errors: PC2052 (overrides, or not one entry point), PCTL_E_NOMEM.
 */
pctl_status pctl_program_extents(const pctl_program *p, const pctl_analysis_query *known,
				 const pctl_call *call, pctl_extents *out);

/*
 * Of the nesting alone: out[i] is what instruction i of the program takes by itself when it opens an if, a switch, a
 * loop or a block (levels from it down to the deepest place inside) or calls a function, else 0. out has n_insts places.
 * A jump that leaves a construct adds to what stands behind the construct, which its own number does not say.
 */
pctl_status pctl_program_levels(const pctl_program *p, const pctl_call *call, uint32_t *out);

/*
 * How many functions are open at once at most, the entry point among them: 1 where nothing is called. function, inst: of a
 * call that leads there. An entry point alone, as for extents.
 *
 * Errors: PC2 for lack of memory.
 */
pctl_status pctl_program_depth(const pctl_program *p, const pctl_call *call, uint64_t *depth,
			       uint32_t *function, uint32_t *inst);

/* The first extent that is over its limit, PCTL_N_EXTENTS when all are within. */
uint32_t pctl_extents_over(const pctl_extents *x, const pctl_extent_limits *l);

/* The smaller of two limits everywhere, where 0 means none. */
void pctl_extent_limits_least(pctl_extent_limits *a, const pctl_extent_limits *b);

/* Where the largest share of an extent comes from; without file when the program has no origins. */
pctl_pos pctl_extents_position(const pctl_program *p, const pctl_extents *x, uint32_t extent);

#endif
