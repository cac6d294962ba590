/* Types as the checker sees them: unique, compared by pointer. They know what the IR does not have
 * (abstract numbers, pointers, the error type); the IR's twin of each is made on demand by
 * layout.c. */
#ifndef PIPECTL_COMPILER_WGSL_TYPES_H
#define PIPECTL_COMPILER_WGSL_TYPES_H

#include <stdint.h>

#include "pipectl/program.h"

struct wgsl;
struct expr;
struct structure;

enum type_kind {
	TY_ERROR,
	TY_VOID,
	TY_SCALAR,
	TY_VECTOR,
	TY_MATRIX,
	TY_ARRAY,
	TY_RUNTIME_ARRAY,
	TY_STRUCT,
	TY_ATOMIC,
	TY_POINTER,
	TY_TILE /* scalar, columns, width rows, count PCTL_TILE_* */
};

/* Scalars are PCTL_SCALAR_*, and these two: integers and floats of constant expressions before they
 * get a type. Leaves of floats are their bits; the abstract ones have those of an f64. */
#define SCALAR_ABSTRACT 15u
#define SCALAR_ABSTRACT_FLOAT 14u

/*
 * leaves   scalars in a value, saturating; 0 for what has no values
 * elem     element, column, pointee; NULL otherwise
 * count    elements of an array; 0 when count_expr (an override expression) gives it
 * nesting  levels of composition, WGSL allows 15
 * plain    1: constructible: values of it exist (no atomic, no runtime array and no override count
 *          inside)
 * shared   1: host-shareable
 * ir       1 + id of the type in the program being built, 0: not yet
 */
struct type {
	uint8_t kind;
	uint8_t scalar;
	uint8_t width;
	uint8_t columns;
	uint8_t space, access; /* of a pointer */
	uint8_t nesting;
	uint8_t plain;
	uint8_t shared;
	uint8_t has_runtime; /* a runtime array is inside */
	uint32_t leaves;
	uint32_t count;
	uint32_t ir;
	const struct type *elem;
	struct expr *count_expr;
	struct structure *structure;
	const char *name;
};

/* Types that always exist. */
struct type_table {
	struct type error, none;
	struct type scalar[16];
	struct type vector[16][5];
	struct type matrix[16][5][5]; /* [scalar][columns][rows] */
	struct type atomic[16];
	struct type tile[4][16][4][4]; /* [role][scalar][columns][rows], sizes 4, 8, 16, 32 */
	struct type *cas_result[16];
	struct type *split_result[2][16][5]; /* of modf and frexp: [which][scalar][width] */
	struct type **others;		     /* hash table of arrays and pointers */
	uint32_t n_others, cap_others;
};

void pctl_wgsl_types_init(struct wgsl *c);
const struct type *pctl_wgsl_vector(struct wgsl *c, uint32_t scalar, uint32_t width);
/* scalar for width 1, else vector */
const struct type *pctl_wgsl_shape(struct wgsl *c, uint32_t scalar, uint32_t width);
const struct type *pctl_wgsl_matrix(struct wgsl *c, uint32_t scalar, uint32_t columns,
				    uint32_t rows);
/* count 0 without count_expr: runtime array */
const struct type *pctl_wgsl_array(struct wgsl *c, const struct type *elem, uint32_t count,
				   struct expr *count_expr);
const struct type *pctl_wgsl_pointer(struct wgsl *c, const struct type *to, uint32_t space,
				     uint32_t access);
/* A matrix tile; sizes are 8, 16 or 32. */
const struct type *pctl_wgsl_tile(struct wgsl *c, uint32_t scalar, uint32_t role, uint32_t columns,
				  uint32_t rows);
/* The result of atomicCompareExchangeWeak. */
const struct type *pctl_wgsl_cas_result(struct wgsl *c, uint32_t scalar);
/* The result of modf (which 0) and frexp (which 1). */
const struct type *pctl_wgsl_split_result(struct wgsl *c, uint32_t which, const struct type *t);
struct type *pctl_wgsl_struct(struct wgsl *c, struct structure *s);

/* As WGSL writes it; lives as long as the compile. */
const char *pctl_wgsl_type_name(struct wgsl *c, const struct type *t);

/* The type with its scalar replaced (scalars, vectors, matrices, arrays of those). */
const struct type *pctl_wgsl_with_scalar(struct wgsl *c, const struct type *t, uint32_t scalar);
/* Abstract numbers inside? Then the type it gets when nothing decides otherwise: i32 for integers, f32
 * for floats. */
int pctl_wgsl_is_abstract(const struct type *t);
const struct type *pctl_wgsl_concrete(struct wgsl *c, const struct type *t);
/* Scalar of a scalar, vector, matrix or array of those; 0 for others. */
uint32_t pctl_wgsl_scalar_of(const struct type *t);
/* 1 for a scalar or vector, with its number of components. */
static inline uint32_t pctl_wgsl_width(const struct type *t)
{
	return t->kind == TY_SCALAR ? 1 : t->kind == TY_VECTOR ? t->width : 0;
}
int pctl_wgsl_is_integer(uint32_t scalar);
/* Integers and floats, abstract ones too. */
int pctl_wgsl_is_number(uint32_t scalar);
int pctl_wgsl_is_abstract_scalar(uint32_t scalar);
/* Number of parts one step down, and the type of part i. */
uint32_t pctl_wgsl_parts(const struct type *t);
const struct type *pctl_wgsl_part(const struct type *t, uint32_t i);
/* First leaf of part i. */
uint32_t pctl_wgsl_part_leaf(const struct type *t, uint32_t i);

/* ---- layout.c ---- */
/* Id of the type in the program being built. Types with an override count: only while lowering. */
uint32_t pctl_wgsl_ir_type(struct wgsl *c, const struct type *t);
/* WGSL's SizeOf and AlignOf, 64-bit so that nothing wraps. */
uint64_t pctl_wgsl_size_of(struct wgsl *c, const struct type *t);

#endif
