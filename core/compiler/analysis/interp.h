/* The abstract interpreter over a program as one invocation among many: what is known of values, which control flow
 * is uniform, and the accesses made between barriers. interp.c follows control, interp_value.c computes
 * values, interp_memory.c places, race.c judges pairs of accesses. Not for other modules. */
#ifndef PIPECTL_COMPILER_ANALYSIS_INTERP_H
#define PIPECTL_COMPILER_ANALYSIS_INTERP_H

#include "foundation/base/vec.h"
#include "compiler/analysis/analyse_parts.h"
#include "compiler/analysis/symbol.h"

#define PCTL_INTERP_STEPS_MAX (1u << 19)
#define PCTL_INTERP_STEPS_BRIEF (1u << 17) /* with PCTL_ANALYSE_BRIEF */
#define PCTL_INTERP_ACCESSES_MAX 4096u
#define PCTL_INTERP_PAIRS_MAX (1u << 16)
#define PCTL_INTERP_CALLS_MAX 16u	  /* calls inside each other */
#define PCTL_INTERP_WRITES_MAX (1u << 22) /* instructions times variables: room and work */

/* A value: its scalars for a scalar or vector, else a single entry that only tells who agrees on
 * it. */
typedef struct pctl_absvec {
	uint32_t n;
	uint32_t reserved;
	const pctl_absval *part[4];
} pctl_absvec;

/* Numbers of the barrier intervals control may be in, ascending. */
typedef struct pctl_intervals {
	uint32_t n;
	uint32_t number[];
} pctl_intervals;

typedef struct pctl_interp_state {
	const pctl_absvec *
		*slots; /* private variables by module variable, then locals of the open calls */
	const pctl_fact *facts;
	const pctl_intervals *intervals;
	int dead;
} pctl_interp_state;

enum { PCTL_ACCESS_KIND_LOAD = 0, PCTL_ACCESS_KIND_STORE = 1, PCTL_ACCESS_KIND_ATOMIC = 2 };

typedef struct pctl_access {
	uint32_t var;
	uint32_t kind;
	uint32_t family; /* of atomics: commuting ones are equal; 0 for those that commute with
			    nothing */
	uint32_t function, inst;
	uint32_t n_chain;
	struct {
		const pctl_absval *index; /* NULL: member */
		uint32_t member;
		uint32_t reserved;
	} chain[PCTL_TYPE_DEPTH_MAX + 2];
	const pctl_fact *facts;
	const pctl_intervals *intervals;
} pctl_access;

/* A construct that jumps lead to, and a call: what diverged inside. */
typedef struct pctl_interp_target {
	struct pctl_interp_target *outer;
	uint32_t kind; /* PCTL_OP_LOOP, SWITCH, or CALL */
	int diverged;  /* a jump to its end was taken by some only */
	int continued; /* LOOP: the same for CONTINUE, in this round */
	int has_exit, has_next;
	pctl_interp_state exit; /* joined states of the jumps to its end */
	pctl_interp_state next; /* LOOP: of the CONTINUEs */
	int has_result;
	pctl_absvec result; /* CALL */
} pctl_interp_target;

typedef struct pctl_interp {
	pctl_analyser *z;
	const pctl_program *p;
	pctl_symbols symbols;
	pctl_arena *arena; /* scratch */
	const pctl_function *fn;
	uint32_t function;
	const pctl_absvec **values; /* of the open call */
	uint32_t n_slots, local_base, n_calls;
	pctl_interp_state state;
	pctl_interp_target *target;
	uint32_t divergent;   /* open conditions that are not uniform */
	uint32_t conditions;  /* open conditions and loops of any kind, and jumps behind us */
	uint8_t round_agrees; /* who is in the same round of all open loops: PCTL_AGREE_* */
	uint32_t in_fixpoint; /* > 0: looking for a fixed point, nothing is recorded */
	/* By interval: the one it is a later part of, when some way on excludes another (a round's
	 * body and the way out of its loop); else PCTL_NONE. Two intervals meet when one is the
	 * other or one of its parents. */
	PCTL_VEC(uint32_t) parents;
	uint32_t steps;
	int gave_up;
	uint8_t *visited;	/* by instruction */
	const uint8_t *used;	/* by instruction: its value is used */
	const uint8_t *written; /* by module variable */
	const uint8_t
		*writes; /* by function and module variable, with its callees; NULL: not known */
	const uint8_t *has_barrier; /* by function */
	uint8_t *reported;	    /* by instruction: its barrier was reported */
	PCTL_VEC(pctl_access *) accesses;
	int refuted;
} pctl_interp;

/* Everyone arrives here together, or nobody does. */
int pctl_interp_is_uniform(const pctl_interp *w);

/* Value of an instruction without effect; NULL when the interpreter must give up. */
const pctl_absvec *pctl_interp_value(pctl_interp *w, const pctl_inst *in);
const pctl_absval *pctl_interp_local_x(pctl_interp *w); /* local_invocation_id.x */
/* What is known of the result of a subgroup operation that everyone reaches. */
const pctl_absvec *pctl_interp_subgroup(pctl_interp *w, const pctl_inst *in);
/* 1: everyone must arrive at the instruction: subgroup operations, and what makes or moves a tile. */
int pctl_interp_needs_all(const pctl_interp *w, const pctl_inst *in);
/* An operation on tiles; its accesses to elements of the array, or to all of it (n 0). 0 and NULL: the interpreter must give
 * up. */
const pctl_absvec *pctl_interp_tile(pctl_interp *w, const pctl_inst *in, uint32_t v);
int pctl_interp_tile_access(pctl_interp *w, const pctl_inst *in, uint32_t v,
			    const pctl_absval *const *elements, uint32_t n);
/* Memory instructions: their value, with state and accesses brought up to date. */
const pctl_absvec *pctl_interp_memory(pctl_interp *w, const pctl_inst *in, uint32_t v);

/* Who agrees on the place of a memory instruction: PCTL_AGREE_*. */
uint8_t pctl_interp_place_agreement(const pctl_interp *w, const pctl_inst *in);

/* One scalar operation (interp_number.c); NULL: no memory. linear is a + factor*b, logic AND or OR of
 * bools. */
const pctl_absval *pctl_absval_component(pctl_interp *w, uint16_t op, uint8_t scalar,
					 const pctl_absval *const *args, uint32_t n);
const pctl_absval *pctl_absval_linear(pctl_interp *w, uint8_t scalar, uint16_t op,
				      const pctl_absval *a, const pctl_absval *b, int64_t factor);
const pctl_absval *pctl_absval_logic(pctl_interp *w, uint16_t op, const pctl_absval *a,
				     const pctl_absval *b);

const pctl_absvec *pctl_absvec_of(pctl_interp *w, const pctl_absval *const *parts, uint32_t n);
/* A value of `type` of which nothing is known but who agrees on it. */
const pctl_absvec *pctl_absvec_fresh(pctl_interp *w, uint32_t type, uint8_t uniform,
				     uint8_t shared);
const pctl_absvec *pctl_absvec_zero(pctl_interp *w, uint32_t type);
uint8_t pctl_absvec_uniform(const pctl_absvec *c);
uint8_t pctl_absvec_shared(const pctl_absvec *c);
uint32_t pctl_interp_parts(const pctl_program *p, uint32_t type);
uint8_t pctl_interp_scalar(const pctl_program *p, uint32_t type);

/* The branch taken, for the facts of a bool that is set on one side only; NULL where there was
 * none. */
typedef struct pctl_interp_choice {
	const pctl_absval *condition; /* side a is where it is true; NULL: nothing is known */
	uint8_t uniform, shared;      /* who goes the same way */
} pctl_interp_choice;

static inline int pctl_interp_is_barrier(uint16_t op)
{
	return op == PCTL_OP_BARRIER || op == PCTL_OP_LOAD_UNIFORM;
}

/* What cannot be followed any more: nothing is proven then. */
void pctl_interp_give_up(pctl_interp *w);
/* Walk a region from instruction v on; the index of what ends it. */
uint32_t pctl_interp_region(pctl_interp *w, uint32_t v);
/* Walk the loop at v; the index behind it. */
uint32_t pctl_interp_loop(pctl_interp *w, uint32_t v);
/* Follow a function: its result, or an empty cell. */
const pctl_absvec *pctl_interp_function(pctl_interp *w, uint32_t f, const pctl_absvec *const *args);
void pctl_interp_assume(pctl_interp *w, const pctl_fact *facts);
void pctl_interp_open_target(pctl_interp *w, pctl_interp_target *t, uint32_t kind);
void pctl_interp_close_target(pctl_interp *w, const pctl_interp_target *t);

/* States (interp_state.c). */
pctl_interp_state pctl_interp_copy(pctl_interp *w, const pctl_interp_state *from);
/* *into becomes what is known of both; a dead one adds nothing. */
void pctl_interp_join(pctl_interp *w, pctl_interp_state *into, const pctl_interp_state *other,
		      const pctl_interp_choice *by);
const pctl_absvec *pctl_interp_joined_vec(pctl_interp *w, const pctl_absvec *a,
					  const pctl_absvec *b, const pctl_interp_choice *by);
const pctl_intervals *pctl_interp_joined_intervals(pctl_interp *w, const pctl_intervals *a,
						   const pctl_intervals *b);
const pctl_intervals *pctl_interp_new_interval(pctl_interp *w);
/* A later part of each of the intervals, that excludes other such parts. */
const pctl_intervals *pctl_interp_later_part(pctl_interp *w, const pctl_intervals *of);

/* No two different invocations (across: of different workgroups; else of one) touch the same bytes by these accesses. */
int pctl_access_is_apart(pctl_interp *w, const pctl_access *a, const pctl_access *b, int across);
/* Judge the recorded accesses: race and order_dependent of the analysis. */
void pctl_interp_judge(pctl_interp *w);

#endif
