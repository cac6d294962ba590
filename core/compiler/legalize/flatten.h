/* What the files that flatten conditions share: one walk over the entry point, made twice. The first time nothing is
 * written: it finds which values are needed where they are no longer visible. The second time it writes. */
#ifndef PIPECTL_COMPILER_LEGALIZE_FLATTEN_H
#define PIPECTL_COMPILER_LEGALIZE_FLATTEN_H

#include "compiler/legalize/legal_parts.h"

#define LEGAL_FLAT_DEPTH 2048u /* regions inside each other, through calls that are written out */
#define LEGAL_FLAT_LARGEST (1u << 18) /* instructions that are written */

/* A function being written into the entry point. By value: its id in the new program is good while group[v] is open;
 * kept[v] is 1 + the local that keeps it longer. */
typedef struct flat_frame {
	const pctl_function *fn;
	legal_value *values;
	uint32_t *group, *kept;
	uint32_t local_base;
	uint32_t result; /* 1 + local of what the function returns */
	struct flat_frame *caller;
} flat_frame;

enum {
	FLAT_ARM, /* of an if or a switch */
	FLAT_CASE,
	FLAT_LOOP,     /* a loop's body */
	FLAT_STRAIGHT, /* a loop's test or update: no jump leaves it */
	FLAT_BLOCK,    /* a block: part of the region around it */
	FLAT_FUNCTION
};

/* A region of the source that is written in pieces, all at the level of the loop that holds it.
 *
 * flag     1 + the local that is true while control is in the region; 0: it always is
 * leave    FLAT_LOOP: 1 + the local that ends the loop, 0
 * end      instruction behind its last
 * guarded  what follows stands under the flag
 * more     something follows the construct that is being written
 */
typedef struct flat_region {
	struct flat_region *outer;
	uint32_t kind;
	uint32_t flag, leave;
	uint32_t end;
	int guarded, more;
} flat_region;

/* What the source is like; by instruction of the program.
 *
 * next     of what opens or parts a construct: what parts or closes it
 * levels   pctl_program_levels
 * escapes  a jump in the construct leads out of it
 * broken   a loop is left by a jump
 * spilled  the value is needed where it is not visible
 * called   by function: a call of it stays
 */
struct flattener {
	legal *l;
	const pctl_program *p;
	uint32_t entry, limit;
	uint32_t *next, *levels;
	uint8_t *escapes, *broken, *spilled, *called;
	int is_dry;
	flat_frame *frame;
	uint32_t *groups; /* open ones */
	uint32_t n_groups, last_group;
	uint32_t guard;	 /* flag of the if that is open around what is being written, 0 */
	uint32_t level;	 /* of loops, and ifs around them, that are open */
	uint32_t *spare; /* flags that may be used again; false, as all that are not in use */
	uint32_t n_spare, n_flags;
	uint32_t depth, size;
	int has_failed;
};
typedef struct flattener flattener;

/* flatten_plan.c */
/* Fill the tables that the program alone gives. Errors: PCTL_E_NOMEM. */
pctl_status flat_open(flattener *x, const pctl_program *p, uint32_t limit, const pctl_call *call);
void flat_close(flattener *x);

/* flatten_value.c: what is written, and what is visible there */
const pctl_inst *flat_inst(const flattener *x, uint32_t v); /* of the frame's function */
int flat_frame_open(flattener *x, flat_frame *f, const pctl_function *fn);
void flat_frame_close(flat_frame *f);
/* The frame that instructions are read from. */
void flat_enter(flattener *x, flat_frame *f);
void flat_group_open(flattener *x);
void flat_group_close(flattener *x);
/* 1 more instruction; a dry run only counts. */
uint32_t flat_emit(flattener *x, uint16_t op, uint32_t type, const uint32_t *args, uint32_t n);
/* Instruction v as it is; its value is good in the open group. */
void flat_copy(flattener *x, uint32_t v);
/* The same, and it is kept where it is needed for longer. */
void flat_define(flattener *x, uint32_t v);
void flat_keep(flattener *x, uint32_t v);
/* Make value v visible; the operands of v that come from before instruction `from`. */
void flat_want(flattener *x, uint32_t v);
void flat_want_operands(flattener *x, uint32_t v, uint32_t from);
uint32_t flat_value(const flattener *x, uint32_t v);

uint32_t flat_flag_take(flattener *x);
void flat_flag_set(flattener *x, uint32_t flag, int is_true);
/* Cleared and free for others. */
void flat_flag_give(flattener *x, uint32_t flag);
uint32_t flat_flag_load(flattener *x, uint32_t flag);
void flat_store_local(flattener *x, uint32_t value, uint32_t local);

#endif
