/* The cost profile of a program: how many operations of each kind one invocation performs at most
 * between barriers. It counts with a table of costs by opcode; what a count is worth is gas'
 * business, but the weights are needed here to tell the dearer side of a branch. */
#ifndef PIPECTL_COMPILER_ANALYSIS_PROFILE_H
#define PIPECTL_COMPILER_ANALYSIS_PROFILE_H

#include "foundation/base/arena.h"
#include "compiler/analysis/analyse.h"

#define PCTL_COST_OPS 512u /* opcodes a table has room for; those behind it cost nothing */
#define PCTL_TICKS_MAX 65536u

enum {
	PCTL_COST_NONE = 0,
	PCTL_COST_INTEGER = 1,
	PCTL_COST_DIVISION = 2,
	PCTL_COST_ATOMIC = 3,
	PCTL_COST_FLOAT = 4,
	PCTL_COST_FLOAT_DIVISION = 5,
	PCTL_COST_ELEMENTARY = 6,
	PCTL_COST_UNPRICED = 7 /* the schedule is older than the opcode; counted as nothing */
};

/*
 * One cost table. An instruction costs count[op] operations of kind[op] for each of its units; a
 * unit is a component, and two where it has 64 bits. Units are taken from the operands for
 * comparisons, ALL and ANY, are 2n-1 for a DOT of n and the same for each element of a MATMUL, 1
 * for atomics and ARRAY_LENGTH, and from the result for all else: also for float comparisons, float
 * conversions and LOOKUP; on tiles, a lane's share of the components, for a product times its terms. Memory instructions cost by bytes instead. Native floats and MUL_HIGH,
 * which only legalised programs hold, cost nothing: what is priced is the program as written.
 */
typedef struct pctl_cost_table {
	uint8_t kind[PCTL_COST_OPS]; /* PCTL_COST_* */
	uint8_t count[PCTL_COST_OPS];
	uint64_t memory_ops;  /* integer operations for 4 bytes of workgroup, private and function
				 memory */
	uint64_t index_check; /* integer operations for an index the proof rule does not cover */
	uint64_t
		zero_ops; /* integer operations for 4 bytes of private and function memory that is set to
				 zero: once an invocation, and at each call */
	/* 0: a branch costs its dearer side, as one invocation sees it. 1: where it holds no barrier invocations may part,
	 * and it costs all its sides together; where it does it is uniform, and costs the side that is dearer for the
	 * workgroup. */
	int all_sides;
	/* Weights. */
	uint64_t integer, division, atomic;
	uint64_t float_op, float_division, elementary;
	uint64_t read, write; /* storage and uniform, for 4 bytes */
	uint64_t workgroup_barrier, storage_barrier;
} pctl_cost_table;

/* The table of cybergraph-0.2, structured-2 and structured-3, for the profile in an analysis; a test holds the
 * files under conf/gas to it. */
void pctl_cost_table_default(pctl_cost_table *out);

/* How an opcode is priced by a table: PCTL_COST_*. */
static inline uint8_t pctl_cost_kind(const pctl_cost_table *t, uint16_t op)
{
	return op < PCTL_COST_OPS ? t->kind[op] : (uint8_t)PCTL_COST_NONE;
}

/* 1 for an opcode that a complete schedule must price. */
int pctl_cost_needs_price(uint16_t op);

/* Units of an instruction, as pctl_cost_table says; not for memory instructions. */
uint64_t pctl_cost_units(const pctl_program *p, const pctl_function *fn, const pctl_inst *in);

/* Weight of one tick in one invocation, the barrier included; 0 when it does not fit in 64 bits, with *out
 * UINT64_MAX. */
int pctl_cost_tick(const pctl_cost_table *t, const pctl_tick *tick, uint64_t *out);

/* What loop bounds multiply: everything, later; the loop's own body; that, by bounds with arithmetic on
 * constants carried out. */
enum { PCTL_LOOPS_MULTIPLY_ALL = 0, PCTL_LOOPS_STRUCTURED = 1, PCTL_LOOPS_FOLDED = 2 };

/*
 * Profile the entry point. structured (PCTL_LOOPS_*) 0: loop bodies count once (their tests twice, since a test
 * runs once more than its body); else bodies count bound times, tests once more. The ticks live in
 * `arena`. *overflow is set when a count did not fit (it is then UINT64_MAX) or there are more than
 * PCTL_TICKS_MAX ticks. 0: no memory.
 */
int pctl_profile(const pctl_program *p, const pctl_analysis *a, const pctl_cost_table *t,
		 int structured, pctl_arena *arena, pctl_tick **ticks, uint32_t *n_ticks,
		 uint32_t *overflow);

/*
 * The normative proof rule for indices (semantics section 6): 1 when chain word `value` of fn,
 * stepping into `type` at the place in->..., costs no check: a constant, e % L, e & (L-1), min(e,
 * L-1), or the variable of a loop with a literal bound of at most L, where L is the length (for a
 * runtime array: its own ARRAY_LENGTH, or any constant index).
 */
int pctl_profile_index_proven(const pctl_program *p, const pctl_analysis *a,
			      const pctl_function *fn, const pctl_place *place, uint32_t step,
			      uint32_t type);

#endif
