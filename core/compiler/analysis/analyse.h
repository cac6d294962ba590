/* What can be proved of a program before it runs: determinism class, loop bounds, uniformity of
 * barriers, order dependence of atomics, race freedom, indices in bounds, and the cost profile that
 * gas is priced from. Works on specialised programs (specialise.h). Rules: semantics sections 1, 5
 * and 6. */
#ifndef PIPECTL_COMPILER_ANALYSIS_ANALYSE_H
#define PIPECTL_COMPILER_ANALYSIS_ANALYSE_H

#include "pipectl/program.h"

enum { PCTL_PROOF_UNPROVEN = 0, PCTL_PROOF_PROVEN = 1, PCTL_PROOF_REFUTED = 2 };

/* What proves the bound of a loop, from what holds everywhere to what holds outside of released schedules only. */
enum {
	PCTL_BOUND_NONE = 0,	  /* nothing does */
	PCTL_BOUND_SYNTACTIC = 1, /* the released rule */
	PCTL_BOUND_FOLDED = 2,	  /* that rule, with arithmetic on constants carried out */
	PCTL_BOUND_RANGE =
		3, /* the ranges of values: gas schedule structured-3, not in consensus */
	/* nothing: the count of turns that the host wrote into it (compiler/legalize/turns.h), which all loops with the same
	 * counter share; priced as the one before */
	PCTL_BOUND_BUDGET = 4
};

/* What limits a loop (index = number of the LOOP in the function order of the program). */
typedef struct pctl_loop_bound {
	uint32_t function;
	uint32_t inst;	     /* of LOOP */
	uint32_t bound_kind; /* PCTL_BOUND_* */
	uint32_t
		local; /* the loop variable, an index of the function's locals; PCTL_NONE where no rule names one */
	uint64_t max_iterations; /* UINT64_MAX without a bound */
	uint32_t test, update;	 /* of LOOP_TEST and CONTINUING */
	/* The literal that the variable is below in the body (unsigned, going up from its start), 0
	 * when there is none. */
	uint64_t literal_below;
	uint32_t step_op; /* PCTL_OP_ADD, SUB, SHL, SHR, MUL or DIV_WGSL: how the variable moves */
	uint32_t counter; /* of PCTL_BOUND_BUDGET: the module variable that counts */
	uint64_t step;
	uint64_t
		folded_iterations; /* the bound for structured-3: constants folded, ranges taken; never larger */
	const char *missing; /* without a bound: what to write, NULL where that is not known */
} pctl_loop_bound;

/* Cost between two barriers, of one invocation's worst path; TickProfile of the Cybergraph
 * document. */
typedef struct pctl_tick {
	uint64_t integer_ops; /* without divisions; includes memory of other spaces (per 4 bytes)
				 and checked accesses */
	uint64_t division_ops;
	uint64_t atomic_ops;
	uint64_t storage_read_bytes;
	uint64_t storage_write_bytes;
	uint64_t float_ops; /* without divisions and roots */
	uint64_t float_division_ops;
	uint64_t elementary_ops; /* correctly rounded functions */
	uint32_t barrier;	 /* PCTL_BARRIER_* that ends it, 0 for the last */
	uint32_t line;		 /* where it ends */
	uint64_t barriers; /* how often that barrier is counted: 1, or with loops multiplied in
			      structured-1 */
} pctl_tick;

typedef struct pctl_analysis {
	uint32_t determinism;	   /* PCTL_CLASS_* of oplib.h; approximate where an order shows */
	uint32_t race;		   /* PCTL_PROOF_* */
	uint32_t barriers_uniform; /* PCTL_PROOF_* */
	uint32_t order_dependent;  /* 1: atomics whose order could be seen */
	/* Two instructions that race when refuted, or the first pair that could not be proved; else
	 * 0s. */
	uint32_t race_function[2], race_inst[2];
	/* Of a refuted program: two invocations, numbered within the first workgroup, and the byte of the variable that
	 * both write. */
	uint32_t race_var, race_reserved;
	uint64_t race_invocation[2], race_address;
	uint32_t order_function, order_inst;
	pctl_loop_bound *loops;
	uint32_t n_loops;
	uint32_t n_unbounded; /* of them, those without a bound: 0 unless they were asked for */
	uint32_t n_ticks;     /* of ticks[0] */
	uint32_t reserved;
	/* The profile by the default cost table (profile.h), in both schedules: [0] cybergraph-0.1
	 * (every tick times max_loop_iterations later), loop bodies counted once; [1] structured-1,
	 * bodies counted bound times. */
	pctl_tick *ticks[2];
	uint64_t max_loop_iterations; /* product of all loop bounds, saturating */
	uint32_t product_lost;	      /* 1: that product did not fit in 64 bits */
	/* A workgroupUniformLoad of a pointer on which a workgroup need not agree: PCTL_PROOF_UNPROVEN
	 * and the first; else PCTL_PROOF_PROVEN. */
	uint32_t loads_uniform;
	uint32_t load_function, load_inst;
	uint64_t workgroup_bytes;
	uint64_t invocations; /* of a workgroup */
	uint8_t *proven; /* n_insts bit sets (u16) would be wasteful: one byte, bit i = chain word i
			    in bounds for *emission* */
	uint32_t overflow;	     /* 1: a count did not fit in 64 bits and was saturated */
	uint32_t n_structured_ticks; /* of ticks[1]; n_ticks are those of ticks[0] */
	void *arena;
} pctl_analysis;

void pctl_analysis_destroy(pctl_analysis *a);

/* List loops without a bound (bound_kind PCTL_BOUND_NONE, max_iterations UINT64_MAX, counts saturated) in place of
 * refusing them. */
#define PCTL_ANALYSE_UNBOUNDED 1u
/* Prove of races and indices what the consensus VM's released rules prove, and nothing that was learnt later: what a block
 * may hold never depends on the age of a node. */
#define PCTL_ANALYSE_RELEASED 2u
/* Give up earlier on loops in loops, of which each doubles what there is to look at: a stranger's message is refused for next to nothing. */
#define PCTL_ANALYSE_BRIEF 4u

/* How many bytes are bound to a variable. */
typedef struct pctl_known_binding {
	uint32_t group, binding;
	uint64_t n_bytes;
} pctl_known_binding;

/*
 * What the caller knows of the dispatch, and what it asks for.
 *
 * groups    the dispatch the proof is for; NULL: any of at most 65535 groups a dimension (fewer where
 *           the program declares a maximum)
 * bindings  what the dispatch binds, as far as that is known: lengths of arrays follow. Of the rest nothing is taken
 * flags     PCTL_ANALYSE_*
 */
typedef struct pctl_analysis_query {
	const uint32_t *groups;
	const pctl_known_binding *bindings;
	uint32_t n_bindings;
	uint32_t flags;
} pctl_analysis_query;

/*
 * Analyse. query NULL: any dispatch, no flags. Emits errors for unbounded loops (PC2050), divergent
 * barriers (PC2051) and subgroup operations (PC2055), all of them, and nothing for what is merely unproven: the caller's
 * policy decides on those. With an error *out is NULL.
 */
pctl_status pctl_program_analyse(const pctl_program *p, const pctl_analysis_query *query,
				 const pctl_call *call, pctl_analysis **out);

/* Write the analysis' emission proofs into the PCTL_INST_PROVEN flags of a specialised program (for
 * device backends). */
void pctl_program_mark_proven(pctl_program *p, const pctl_analysis *a);

#endif
