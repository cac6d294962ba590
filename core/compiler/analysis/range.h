/* Ranges of integer values, whatever path is taken and whoever asks: intervals carried through the instructions of a
 * program, through its locals, its calls, and the ways out of its loops. What proves the bounds of loops that are not
 * written as numbers. Nothing here depends on a schedule: the released rules are analyse_loops.c's, and ask none of it. */
#ifndef PIPECTL_COMPILER_ANALYSIS_RANGE_H
#define PIPECTL_COMPILER_ANALYSIS_RANGE_H

#include "compiler/analysis/analyse_parts.h"

/* Both ends included; lo > hi: no value, nothing arrives there. Bools are 0 and 1, u32 are never negative. */
typedef struct pctl_range {
	int64_t lo, hi;
} pctl_range;

#define PCTL_RANGE_NOTHING ((pctl_range){0, -1})

static inline int pctl_range_is_empty(pctl_range r)
{
	return r.lo > r.hi;
}

/* Integers of at most 32 bits, and bool. */
int pctl_range_has(uint8_t scalar);
/* All values of a scalar. */
pctl_range pctl_range_all(uint8_t scalar);
pctl_range pctl_range_join(pctl_range a, pctl_range b);
/* What may pass `a op b`, for op EQ, LT, LE, GT or GE; any other op narrows nothing. */
pctl_range pctl_range_where(pctl_range a, uint16_t op, pctl_range b);
/* The comparison with its sides exchanged, and the one that holds where it does not. */
uint16_t pctl_range_mirrored(uint16_t op);
uint16_t pctl_range_negated(uint16_t op);

/*
 * One component of what an elementwise op, or a conversion, gives. Each operation wraps: a result that may leave the type
 * may be anything of the type.
 *
 * scalar  of the result; operand: of the first operand (of the second for SELECT)
 * args    as many as the op has
 */
pctl_range pctl_range_apply(uint16_t op, uint8_t scalar, uint8_t operand, const pctl_range *args);

/* Elements of a runtime array that begins `offset` bytes into n_bytes: as many as are there whole. */
pctl_range pctl_range_length(uint64_t n_bytes, uint64_t offset, uint64_t stride);

/*
 * A comparison that holds wherever a loop goes on, of a local as it was loaded in this very turn; or, of no loop, wherever
 * a condition does. All numbers are of the function's list.
 *
 * loop          PCTL_NONE: of a condition
 * load, offset  the load, and what is added to it before the comparison
 * at, until     between them the local is still what was compared; empty where it is not even at `at`
 * where         the comparison itself
 * is_late       stands in the body or is looked at in the next turn's test: one turn more has begun when it fails
 * next          the function's next one of the same local, PCTL_NONE: none
 */
typedef struct pctl_range_exit {
	const pctl_function *fn;
	uint32_t loop;
	uint32_t local;
	uint32_t load;
	uint32_t limit;
	uint32_t where;
	uint32_t at, until;
	uint32_t next;
	uint16_t op;
	uint16_t is_late;
	int64_t offset;
} pctl_range_exit;

/* `value op limit` holds between at and until; next: the function's next one of the same value, PCTL_NONE: none. */
typedef struct pctl_range_fact {
	uint32_t limit;
	uint32_t at, until;
	uint32_t next;
	uint32_t op;
} pctl_range_fact;

/*
 * What is known of a program.
 *
 * region          by instruction: what opens the region that it stands in (LOOP, LOOP_TEST, CONTINUING, IF, ELSE, CASE,
 *                 BLOCK), numbered in its function; PCTL_NONE: the function itself
 * loop            by instruction, of LOOP, LOOP_TEST and CONTINUING: the LOOP
 * first_continue  by instruction, of LOOP_TEST: the first jump to that loop's update, PCTL_NONE: none
 * first_store     by local, next_store: by instruction: the stores to a local, in order
 * seen            by local: 1, no load sees the zero that it starts with
 * part, values    by instruction: where the ranges of its components begin in values
 * local_part, locals, grown  the same of locals: what is known, and what the present pass finds
 * params          by PARAM, as values; what the calls looked at so far hand over
 * returns         by function, 4 components each
 * exits           of each function loop by loop, then those of conditions; first_exit by local, loop_exit by LOOP: the first
 *                 of them
 * facts           of conditions, about values; first_fact by instruction
 */
typedef struct pctl_ranges {
	const pctl_analyser *z;
	const pctl_program *p;
	uint32_t *region, *loop, *first_continue, *next_store, *part, *loop_exit, *first_fact;
	uint32_t *first_store, *local_part, *first_exit;
	uint8_t *seen;
	pctl_range *values, *locals, *grown, *params, *returns;
	struct {
		pctl_range_exit *items;
		uint32_t n, cap;
	} exits;
	struct {
		pctl_range_fact *items;
		uint32_t n, cap;
	} facts;
} pctl_ranges;

/* NULL: no memory. */
pctl_ranges *pctl_ranges_create(const pctl_analyser *z);
void pctl_ranges_destroy(pctl_ranges *r);

/* Component `part` of a value of a function; all of its type where nothing is known. */
pctl_range pctl_ranges_value(const pctl_ranges *r, const pctl_function *fn, uint32_t value,
			     uint32_t part);
/* The same where instruction `at` uses it: conditions that hold there narrow it. */
pctl_range pctl_ranges_value_at(const pctl_ranges *r, const pctl_function *fn, uint32_t value,
				uint32_t part, uint32_t at);
/* A scalar local, at any time once it holds what was stored in it. */
pctl_range pctl_ranges_local(const pctl_ranges *r, const pctl_function *fn, uint32_t local);

#define PCTL_RANGE_PATH 4u /* steps of a declared maximum */
/* A value that is, or is taken out of, something that a uniform holds: the variable and the way to it by numbers, at most
 * PCTL_RANGE_PATH. 0: it is none. */
int pctl_range_uniform_path(const pctl_ranges *r, const pctl_function *fn, uint32_t v,
			    uint32_t *var, uint32_t *path, uint32_t *n);
/* What to write where no bound of a loop is proven; NULL: nothing better than to bound it, or no memory. */
const char *pctl_range_missing(const pctl_ranges *r, const pctl_loop_bound *b, pctl_arena *arena);

/* The place of the region of v within the loop at `loop`: LOOP, LOOP_TEST or CONTINUING of the loop where v stands there
 * under conditions at most, and PCTL_NONE where it stands in a loop inside, or outside. */
uint32_t pctl_range_part_of_loop(const pctl_ranges *r, const pctl_function *fn, uint32_t loop,
				 uint32_t v);
/* The local of a load or store of a whole local, PCTL_NONE: it is none. */
uint32_t pctl_range_whole_local(const pctl_program *p, const pctl_function *fn, uint32_t v,
				uint16_t op);
/* Components of a type that are followed; 0: none. */
uint32_t pctl_range_parts(const pctl_program *p, uint32_t type);
/* Make and fill all tables; 0: no memory. */
int pctl_range_open_tables(pctl_ranges *r);
/* Find the ways out of all loops of a function, and what its conditions say; 0: no memory. */
int pctl_range_find_exits(pctl_ranges *r, const pctl_function *fn);

#endif
