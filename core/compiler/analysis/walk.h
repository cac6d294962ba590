/* The walk over a program as one invocation among many: what is known of values, which control flow
 * is uniform, and the accesses made between barriers. walk.c follows control, walk_value.c computes
 * values, walk_memory.c places, race.c judges pairs of accesses. Not for other modules. */
#ifndef PIPECTL_COMPILER_ANALYSIS_WALK_H
#define PIPECTL_COMPILER_ANALYSIS_WALK_H

#include "foundation/base/vec.h"
#include "compiler/analysis/analyse_parts.h"
#include "compiler/analysis/symbol.h"

#define PCTL_WALK_STEPS_MAX (1u << 19)
#define PCTL_WALK_ACCESSES_MAX 4096u
#define PCTL_WALK_PAIRS_MAX (1u << 16)
#define PCTL_WALK_CALLS_MAX 16u /* calls inside each other */

/* A value: its scalars for a scalar or vector, else a single entry that only tells who agrees on
 * it. */
typedef struct pctl_cell {
	uint32_t n;
	uint32_t reserved;
	const pctl_known *part[4];
} pctl_cell;

/* Numbers of the barrier intervals control may be in, ascending. */
typedef struct pctl_intervals {
	uint32_t n;
	uint32_t number[];
} pctl_intervals;

typedef struct pctl_walk_state {
	const pctl_cell *
		*slots; /* private variables by module variable, then locals of the open calls */
	const pctl_fact *facts;
	const pctl_intervals *intervals;
	int dead;
} pctl_walk_state;

enum { PCTL_ACCESS_KIND_LOAD = 0, PCTL_ACCESS_KIND_STORE = 1, PCTL_ACCESS_KIND_ATOMIC = 2 };

typedef struct pctl_access {
	uint32_t var;
	uint32_t kind;
	uint32_t family; /* of atomics: commuting ones are equal; 0 for those that commute with
			    nothing */
	uint32_t function, inst;
	uint32_t n_chain;
	struct {
		const pctl_known *index; /* NULL: member */
		uint32_t member;
		uint32_t reserved;
	} chain[PCTL_TYPE_DEPTH_MAX + 2];
	const pctl_fact *facts;
	const pctl_intervals *intervals;
} pctl_access;

/* A construct that jumps lead to, and a call: what diverged inside. */
typedef struct pctl_walk_target {
	struct pctl_walk_target *outer;
	uint32_t kind; /* PCTL_OP_LOOP, SWITCH, or CALL */
	int diverged;  /* a jump to its end was taken by some only */
	int continued; /* LOOP: the same for CONTINUE, in this round */
	int has_exit, has_next;
	pctl_walk_state exit; /* joined states of the jumps to its end */
	pctl_walk_state next; /* LOOP: of the CONTINUEs */
	int has_result;
	pctl_cell result; /* CALL */
} pctl_walk_target;

typedef struct pctl_walk {
	pctl_analyser *z;
	const pctl_program *p;
	pctl_symbols symbols;
	pctl_arena *arena; /* scratch */
	const pctl_function *fn;
	uint32_t function;
	const pctl_cell **values; /* of the open call */
	uint32_t n_slots, local_base, n_calls;
	pctl_walk_state state;
	pctl_walk_target *target;
	uint32_t divergent;   /* open conditions that are not uniform */
	uint32_t conditions;  /* open conditions and loops of any kind, and jumps behind us */
	uint8_t round_agrees; /* who is in the same round of all open loops: PCTL_AGREE_* */
	uint32_t dry;	      /* > 0: looking for a fixed point, nothing is recorded */
	/* By interval: the one it is a later part of, when some way on excludes another (a round's
	 * body and the way out of its loop); else PCTL_NONE. Two intervals meet when one is the
	 * other or one of its parents. */
	PCTL_VEC(uint32_t) parents;
	uint32_t steps;
	int gave_up;
	uint8_t *visited;	    /* by instruction */
	const uint8_t *used;	    /* by instruction: its value is used */
	const uint8_t *written;	    /* by module variable */
	const uint8_t *has_barrier; /* by function */
	uint8_t *reported;	    /* by instruction: its barrier was reported */
	PCTL_VEC(pctl_access *) accesses;
	int refuted;
} pctl_walk;

/* Everyone arrives here together, or nobody does. */
int pctl_walk_is_uniform(const pctl_walk *w);

/* Value of an instruction without effect; NULL when the walk must give up. */
const pctl_cell *pctl_walk_value(pctl_walk *w, const pctl_inst *in);
/* Memory instructions: their value, with state and accesses brought up to date. */
const pctl_cell *pctl_walk_memory(pctl_walk *w, const pctl_inst *in, uint32_t v);

/* Who agrees on the place of a memory instruction: PCTL_AGREE_*. */
uint8_t pctl_walk_place_agreement(const pctl_walk *w, const pctl_inst *in);

/* One scalar operation (walk_number.c); NULL: no memory. linear is a + factor*b, logic AND or OR of
 * bools. */
const pctl_known *pctl_known_component(pctl_walk *w, uint16_t op, uint8_t scalar,
				       const pctl_known *const *args, uint32_t n);
const pctl_known *pctl_known_linear(pctl_walk *w, uint8_t scalar, uint16_t op, const pctl_known *a,
				    const pctl_known *b, int64_t factor);
const pctl_known *pctl_known_logic(pctl_walk *w, uint16_t op, const pctl_known *a,
				   const pctl_known *b);

const pctl_cell *pctl_cell_of(pctl_walk *w, const pctl_known *const *parts, uint32_t n);
/* A value of `type` of which nothing is known but who agrees on it. */
const pctl_cell *pctl_cell_fresh(pctl_walk *w, uint32_t type, uint8_t uniform, uint8_t shared);
const pctl_cell *pctl_cell_zero(pctl_walk *w, uint32_t type);
uint8_t pctl_cell_uniform(const pctl_cell *c);
uint8_t pctl_cell_shared(const pctl_cell *c);
uint32_t pctl_walk_parts(const pctl_program *p, uint32_t type);
uint8_t pctl_walk_scalar(const pctl_program *p, uint32_t type);

/* The branch taken, for the facts of a bool that is set on one side only; NULL where there was
 * none. */
typedef struct pctl_walk_choice {
	const pctl_known *condition; /* side a is where it is true; NULL: nothing is known */
	uint8_t uniform, shared;     /* who goes the same way */
} pctl_walk_choice;

static inline int pctl_walk_is_barrier(uint16_t op)
{
	return op == PCTL_OP_BARRIER || op == PCTL_OP_LOAD_UNIFORM;
}

/* What cannot be followed any more: nothing is proven then. */
void pctl_walk_give_up(pctl_walk *w);
/* Walk a region from instruction v on; the index of what ends it. */
uint32_t pctl_walk_region(pctl_walk *w, uint32_t v);
/* Walk the loop at v; the index behind it. */
uint32_t pctl_walk_loop(pctl_walk *w, uint32_t v);
/* Follow a function: its result, or an empty cell. */
const pctl_cell *pctl_walk_function(pctl_walk *w, uint32_t f, const pctl_cell *const *args);
void pctl_walk_assume(pctl_walk *w, const pctl_fact *facts);
void pctl_walk_open_target(pctl_walk *w, pctl_walk_target *t, uint32_t kind);
void pctl_walk_close_target(pctl_walk *w, const pctl_walk_target *t);

/* States (walk_state.c). */
pctl_walk_state pctl_walk_copy(pctl_walk *w, const pctl_walk_state *from);
/* *into becomes what is known of both; a dead one adds nothing. */
void pctl_walk_join(pctl_walk *w, pctl_walk_state *into, const pctl_walk_state *other,
		    const pctl_walk_choice *by);
const pctl_cell *pctl_walk_joined_cell(pctl_walk *w, const pctl_cell *a, const pctl_cell *b,
				       const pctl_walk_choice *by);
const pctl_intervals *pctl_walk_joined_intervals(pctl_walk *w, const pctl_intervals *a,
						 const pctl_intervals *b);
const pctl_intervals *pctl_walk_new_interval(pctl_walk *w);
/* A later part of each of the intervals, that excludes other such parts. */
const pctl_intervals *pctl_walk_later_part(pctl_walk *w, const pctl_intervals *of);

/* Judge the recorded accesses: race and order_dependent of the analysis. */
void pctl_walk_judge(pctl_walk *w);

#endif
