/* What the files of the legaliser share: one program being rebuilt into another, instruction by
 * instruction.
 *
 * 64-bit integers on a device without them (the `wide` family): a scalar is vec2<u32>, least
 * significant word first. A vector of them is, as a value, one vec2<u32> a component; in memory, in
 * composites and in calls it is array<vec2<u32>, n> at the very same bytes. Where an array's stride
 * asks for more (vec3), the element is a struct around it whose alignment makes up the difference.
 */
#ifndef PIPECTL_LEGAL_PARTS_H
#define PIPECTL_LEGAL_PARTS_H

#include "legal/legal.h"

/* What a value of the old program has become: one value, or one a component for a vector of 64-bit
 * integers. */
typedef struct legal_value {
	uint32_t id[4];
} legal_value;

enum { FORM_MUL, FORM_UDIV, FORM_UMOD, FORM_SDIV, FORM_SMOD, N_FORMS };

typedef struct legal_flag {
	uint32_t function; /* of the new program */
	uint32_t value;
	uint16_t flags;
} legal_flag;

typedef struct legal {
	const pctl_program *p; /* being read */
	const pctl_call *call;
	pctl_builder *b; /* being written */
	const pctl_function *fn;
	uint32_t new_function; /* index the open function will have */
	uint32_t *types;       /* old type to new, 0 not yet */
	uint8_t *is_wide;      /* an old type: holds a 64-bit integer that must go */
	uint32_t *functions;   /* old function to new */
	legal_value *values;   /* of the function being read */
	legal_flag *flags;
	uint32_t n_flags, flags_capacity;
	uint32_t forms[N_FORMS]; /* functions of the new program, 0 not linked */
	uint32_t t_u32, t_i32, t_bool, t_u2, t_b2;
	uint32_t is_main; /* reading the program itself, not the forms: its positions are kept */
	pctl_status status;
} legal;

/* legal.c */
void legal_refuse_memory(legal *l);
/* Read `p` from here on, with fresh type and function maps. 0: no memory. */
int legal_source_open(legal *l, const pctl_program *p, int widen);
void legal_source_close(legal *l);
/* Rebuild function f of the source; returns its new index. */
uint32_t legal_function(legal *l, uint32_t f);
uint32_t legal_emit(legal *l, uint16_t op, uint32_t type, const uint32_t *args, uint32_t n);

/* wide_type.c */
int legal_is_wide_scalar(const legal *l, uint32_t type);
int legal_is_wide_vector(const legal *l, uint32_t type);
void legal_find_wide(legal *l);
uint32_t legal_type(legal *l, uint32_t type);
/* The type an array or matrix of the old type `type` stands for in memory has as its element. */
uint32_t legal_elem_type(legal *l, uint32_t type);
/* 1 when such an element is wrapped in a struct. */
int legal_is_wrapped(const legal *l, uint32_t type);

/* wide_value.c */
/* One new value for the old value v, in the form it has in memory; and the reverse. */
uint32_t legal_packed(legal *l, uint32_t v);
void legal_set_packed(legal *l, uint32_t v, uint32_t id);
/* Component k of the old value v (the value itself for a scalar). */
uint32_t legal_lane(legal *l, uint32_t v, uint32_t k);
/* An instruction on composites, conversions or products that touches 64-bit integers. */
void legal_wide_data(legal *l, uint32_t v, const pctl_inst *in);

/* wide_op.c */
uint32_t legal_pair(legal *l, uint32_t low, uint32_t high);
uint32_t legal_low(legal *l, uint32_t x);
uint32_t legal_high(legal *l, uint32_t x);
uint32_t legal_wide_add(legal *l, uint32_t a, uint32_t b);
uint32_t legal_wide_mul(legal *l, uint32_t a, uint32_t b);
/* An elementwise instruction with a 64-bit operand or result. */
void legal_wide_elem(legal *l, uint32_t v, const pctl_inst *in);

/* forms.c: link the forms whose bit is set in `need`. */
pctl_status legal_link_forms(legal *l, uint32_t need);
/* The forms that the program needs. */
uint32_t legal_needed_forms(const legal *l);

#endif
