/* Programs being joined (join.h), shared by the join*.c files. */
#ifndef PIPECTL_COMPILER_LEGALIZE_JOIN_PARTS_H
#define PIPECTL_COMPILER_LEGALIZE_JOIN_PARTS_H

#include "compiler/legalize/join.h"
#include "compiler/legalize/legal_parts.h"
#include "foundation/base/vec.h"

/* A function as it was written: what another must be to be the same. */
typedef struct joined_function {
	uint32_t *words;
	uint32_t n, function;
} joined_function;

/* used_by: of what is bound, and of what stands for it, the slot; else 1 + the last part that has it. */
typedef struct joined_var {
	uint32_t type, space, number; /* of the new program */
	uint32_t used_by;
} joined_var;

#define SPACE_OWN 0x100u /* workgroup memory that stands for what is bound */

typedef struct joiner {
	const pctl_join_part *parts;
	uint32_t n, how, groups, size; /* size: of the workgroup */
	legal l[PCTL_JOIN_PARTS];      /* one a part, of one builder */
	legal_rules rules;
	uint32_t *variables[PCTL_JOIN_PARTS];
	uint8_t *recast[PCTL_JOIN_PARTS];
	uint32_t *counts[PCTL_JOIN_PARTS];
	uint32_t entry[PCTL_JOIN_PARTS]; /* the functions of the new program */
	uint8_t waits[PCTL_JOIN_PARTS];
	PCTL_VEC(joined_function) functions;
	PCTL_VEC(joined_var) vars;
	pctl_builder *b;
	uint32_t t_u32, t_u3, t_bool;
} joiner;

/* Lanes of its workgroup. */
static inline uint32_t join_size(const pctl_program *p)
{
	return p->entries[0].workgroup_size[0];
}

/* 1: a workgroup of the whole does all of the part's. */
static inline int join_is_turned(const joiner *j, uint32_t part)
{
	return j->how == PCTL_JOIN_BEHIND && j->parts[part].groups != j->groups;
}

/* join_variables.c: the variables of a part, once its source is open; then its declared maxima. */
pctl_status join_variables(joiner *j, uint32_t part);
void join_maxima(joiner *j, uint32_t part);
/* Bytes of workgroup memory in the place of what is bound to variable v, or 0. */
uint64_t join_own_bytes(const joiner *j, uint32_t part, uint32_t v);

/* join_main.c: the new entry point, which calls those of the parts. */
void join_main(joiner *j);

#endif
