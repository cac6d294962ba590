/* The builder's state, shared by its two files. Not for third parties. */
#ifndef PIPECTL_COMPILER_IR_BUILDER_H
#define PIPECTL_COMPILER_IR_BUILDER_H

#include "foundation/base/vec.h"
#include "compiler/ir/tables.h"

struct pctl_builder {
	PCTL_VEC(pctl_type) types;
	PCTL_VEC(pctl_member) members;
	PCTL_VEC(pctl_var) vars;
	PCTL_VEC(pctl_override) overrides;
	PCTL_VEC(pctl_function) functions;
	PCTL_VEC(pctl_local) locals;
	PCTL_VEC(pctl_inst) insts;
	PCTL_VEC(uint32_t) words;
	PCTL_VEC(pctl_entry) entries;
	PCTL_VEC(pctl_max) maxima;
	PCTL_VEC(pctl_origin) origins;
	PCTL_VEC(char *) origin_files;
	pctl_strings strings;
	pctl_index type_index;
	pctl_function open; /* the open function; its lists are the tails of the tables */
	pctl_origin origin;
	uint32_t max_dispatch[3];
	uint64_t scale;
	uint32_t max_turns;
	int is_open, has_origins, no_memory;
	const char *broken; /* the first broken rule of use */
};

/* The id of a type that refers to types before it, laid out here. */
uint32_t pctl_builder_type(pctl_builder *b, const pctl_type *t);
/* Keep the first broken rule. */
void pctl_builder_break(pctl_builder *b, const char *why);
/* PCTL_VEC_PUSH that keeps the failure; evaluates to 1 on success. */
#define PCTL_BUILDER_PUSH(b, table, value) \
	(PCTL_VEC_PUSH(&(b)->table, value) ? 1 : ((b)->no_memory = 1, 0))

#endif
