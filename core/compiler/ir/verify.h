/* State of one verification, shared by its files. Not for third parties. */
#ifndef PIPECTL_COMPILER_IR_VERIFY_H
#define PIPECTL_COMPILER_IR_VERIFY_H

#include "compiler/ir/tables.h"

#define PCTL_VERIFY_ERRORS_MAX 64u

/* What is known of a type beyond its record. */
enum {
	PCTL_TRAIT_CONSTRUCTIBLE = 1, /* fixed size, no atomics: may be a value */
	PCTL_TRAIT_ATOMIC = 2,	      /* holds an atomic somewhere */
	PCTL_TRAIT_RUNTIME = 4,	      /* is or ends in a runtime array */
	PCTL_TRAIT_SPEC = 8,	      /* an array counted by `spec` */
	PCTL_TRAIT_TILE = 16 /* a matrix tile: a value, or a variable of a function, alone */
};

typedef struct pctl_verify {
	const pctl_program *p;
	const pctl_call *call;
	pctl_status status;
	uint32_t n_errors;
	uint8_t *traits; /* of each type */
	uint8_t *depth;	 /* nesting of each type */
	/* The function being checked. */
	const pctl_function *fn;
	uint32_t function;
	uint32_t at;	     /* instruction of the function, PCTL_NONE outside code */
	uint32_t *region_of; /* region each value of the function was defined in */
	uint8_t *open;	     /* by region number: still open */
	uint32_t n_regions;
	uint32_t subgroup_size; /* of the operations seen so far, 0: none */
} pctl_verify;

/* Report a violation at the current instruction (or at no position). Always 0, for `return
 * complain(..)`. */
int pctl_verify_complain(pctl_verify *v, uint32_t code, const char *fmt, ...) PCTL_PRINTF(3, 4);

/* Check the tables before code: their bounds, types, variables. 0: too broken to go on. */
int pctl_verify_tables(pctl_verify *v);
/* Overrides, entry points and maxima; after functions. */
void pctl_verify_rest(pctl_verify *v);
/* Check control flow and every instruction of function f. 0: no memory. */
int pctl_verify_function(pctl_verify *v, uint32_t f);
/* Check the operands and result of v->at, apart from placement. */
void pctl_verify_inst(pctl_verify *v, const pctl_inst *in);
/* The same of a subgroup operation: 1 when operands, size and result agree. */
int pctl_verify_subgroup(pctl_verify *v, const pctl_inst *in);
/* The literals of the switch at v->at (verify_switch.c). */
void pctl_verify_literals(pctl_verify *v);
/* Matrix tiles (verify_tile.c): a type's shape, a product, the place of a load or store, the workgroup. */
int pctl_verify_tile_shape(const pctl_type *t);
int pctl_verify_tile(pctl_verify *v, const pctl_inst *in);
int pctl_verify_tile_place(pctl_verify *v, const pctl_inst *in, const pctl_place *place);
void pctl_verify_tile_workgroup(pctl_verify *v);
/* 1 when the value is defined before v->at in a region still open. */
int pctl_verify_visible(const pctl_verify *v, uint32_t value);

#endif
