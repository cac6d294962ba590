/* What the files of the float pass share. */
#ifndef PIPECTL_COMPILER_LEGALIZE_FLOAT_H
#define PIPECTL_COMPILER_LEGALIZE_FLOAT_H

#include "compiler/legalize/exponent_range.h"
#include "compiler/legalize/legal_parts.h"

/*
 * The plan of one function, made before it is rebuilt. A value is arithmetic when its NaN, should it be one,
 * is the canonical one by its meaning; then it may be kept raw, as the native f32 or f64 value that the device
 * made, and its NaN is put right only where bits are looked at.
 *
 * ARITHMETIC  as said; scalars and vectors of f32 or f64 only
 * LOOSE       moved or with its sign changed, and only native operations use it: nobody sees its NaN
 * RAW         made as a native value
 * NEED_RAW, NEED_BITS  a use wants it so
 */
enum {
	PLAN_ARITHMETIC = 1,
	PLAN_LOOSE = 2,
	PLAN_RAW = 4,
	PLAN_NEED_RAW = 8,
	PLAN_NEED_BITS = 16,
	PLAN_SEEN = 32 /* of LOOSE: has a use */
};

typedef struct legal_floats {
	const pctl_program *module; /* the forms */
	const pctl_program *source; /* the program */
	uint32_t *choice;	    /* by instruction of the program: row, LEGAL_NO_ROW for none */
	uint8_t *how;		    /* LEGAL_SWAPPED, LEGAL_NEGATED */
	uint32_t *row_function;	    /* by row: function of the new program */
	uint8_t *plan;		    /* by value of the open function */
	uint8_t *local_arithmetic;  /* by local of the open function: all that is stored is */
	uint8_t *local_raw;	    /* of a native type */
	uint8_t *
		local_mixed; /* of bits: moved ones, or raw results whose NaN is not right yet, as a tag says */
	uint32_t *local_tag; /* 1 + the tag's local in the new function, 0 not yet */
	uint8_t *has16;	     /* by old type: holds a 16-bit float */
	legal_exponent_ranges exponent_ranges; /* of the program */
	uint32_t raw_types[2][5]; /* f32 and f64, and vectors of them by width; 0 not yet */
} legal_floats;

/* float_type.c */
uint32_t legal_float_type(legal *l, uint32_t type);
uint32_t legal_float_stored(legal *l, uint32_t type);
uint32_t legal_float_local(legal *l, uint32_t local);
/* An old type: a scalar or vector of f32 or f64, which may be a native one; of f64; of a 16-bit float. */
int legal_has_raw(const legal *l, uint32_t type);
int legal_is_f64(const legal *l, uint32_t type);
int legal_is_16(const legal *l, uint32_t type);
/* The native type in the place of an old one that legal_has_raw; of a component of it. */
uint32_t legal_raw_type(legal *l, uint32_t type);
uint32_t legal_raw_scalar(legal *l, uint32_t type);
uint32_t legal_width(const legal *l, uint32_t type);
/* The native type in the place of an old one that legal_may_be_raw. */
uint32_t legal_raw_twin(legal *l, uint32_t type);
/* 1: a local of this type may be native: scalars, vectors and matrices of f32 or f64, and arrays of them. */
int legal_may_be_raw(const legal *l, uint32_t type);
void legal_float_find(legal *l);

/* float_plan.c */
int legal_float_plan(legal *l);
/* 1: the instruction is made as a native operation. */
int legal_is_native(const legal *l, uint32_t v);

/* float_memory.c */
void legal_float_memory(legal *l, uint32_t v, const pctl_inst *in, const pctl_place *place);

/* float_op.c */
/* v has been made as the bits `id` of a mixed local; its tag is 0 where their NaN has to be put right. */
void legal_float_made_mixed(legal *l, uint32_t v, uint32_t id, uint32_t tag);
/* 0: the operation is done on bits everywhere. */
int legal_needs_form(const legal *l, const pctl_inst *in);
void legal_float_strict(legal *l, uint32_t v, const pctl_inst *in);
void legal_float_bitcast(legal *l, uint32_t v, const pctl_inst *in);
/* v has been made, as raw or as bits: make the other, where it is wanted. */
void legal_float_made_raw(legal *l, uint32_t v, uint32_t id);
void legal_float_made_bits(legal *l, uint32_t v, uint32_t id);
uint32_t legal_splat(legal *l, uint32_t type, uint32_t width, uint32_t k);

#endif
