/* What the files of the analysis share: where constructs go on, positions, and the parts that
 * pctl_program_analyse calls in turn. Not for other modules. */
#ifndef PIPECTL_COMPILER_ANALYSIS_ANALYSE_PARTS_H
#define PIPECTL_COMPILER_ANALYSIS_ANALYSE_PARTS_H

#include "foundation/base/arena.h"
#include "compiler/analysis/analyse.h"
#include "compiler/analysis/profile.h"
#include "compiler/ir/tables.h"

typedef struct pctl_analyser {
	const pctl_program *p;
	const pctl_call *call;
	const uint32_t *groups; /* NULL: any */
	const pctl_known_binding *bindings;
	uint32_t n_bindings;
	uint32_t flags;	   /* PCTL_ANALYSE_* */
	pctl_arena *arena; /* of the result */
	pctl_analysis *a;
	/* For an opening or parting instruction (absolute index): the next parting or the closing
	 * one. */
	uint32_t *next;
	uint32_t *loop_of; /* for LOOP (absolute index): its number in a->loops */
	pctl_status status;
} pctl_analyser;

/* Position of an instruction (absolute index), without file when the program has no origins. */
pctl_pos pctl_analyse_position(const pctl_program *p, uint32_t inst);
/* Take what a query says, NULL: nothing. */
void pctl_analyse_ask(pctl_analyser *z, const pctl_analysis_query *query);
/* Keep the first failure. */
void pctl_analyse_fail(pctl_analyser *z, pctl_status status);

/* Does every step of a place name a member, so that its words are the path that `//# max` writes? */
int pctl_place_is_of_members(const pctl_program *p, const pctl_place *pl);

/* Fill next. 0: no memory. */
int pctl_analyse_constructs(pctl_analyser *z);
/* The number an integer instruction gives whatever happens, where its operands are constants. */
typedef struct pctl_folded {
	uint64_t bits;
	uint32_t known;
	uint32_t reserved;
} pctl_folded;
/* One for each instruction of a function. */
void pctl_analyse_fold(const pctl_program *p, const pctl_function *fn, pctl_folded *out);

/* Fill a->loops; reports every loop without a bound, or counts it where the flags ask for that. */
void pctl_analyse_loops(pctl_analyser *z);
/* Ranges of values, for the loops where the rules of old give nothing of use. */
void pctl_analyse_ranges(pctl_analyser *z);
/* Loops left without a bound that count their turns: PCTL_BOUND_BUDGET. */
void pctl_analyse_turns(pctl_analyser *z);
/* Uniformity of barriers, races, bounds for emission. */
void pctl_analyse_interp(pctl_analyser *z);

#endif
