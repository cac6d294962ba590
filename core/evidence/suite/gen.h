/* The generator: a seed becomes a valid WGSL kernel of integers and f32 that is free of races by construction,
 * with the dispatches and sizes of buffers it is to be run with in its header (case.h). The files
 * gen*.c share what stands here. */
#ifndef PIPECTL_EVIDENCE_SUITE_GEN_H
#define PIPECTL_EVIDENCE_SUITE_GEN_H

#include "evidence/suite/tree.h"

#define GEN_FLOATS 1u	 /* with f32 */
#define GEN_LARGE 2u	 /* with a part that is large in one way: turns, nesting, an array, steps */
#define GEN_SUBGROUPS 4u /* with subgroup operations; the flag changes no program made without it */
#define GEN_POINTERS 8u	 /* with functions that take pointers */
#define GEN_IN_PLACE \
	16u /* with GEN_POINTERS: the same program without pointers, what they lead to written in place */
#define GEN_TWICE 32u /* with GEN_IN_PLACE: a fault, every index of a pointer is evaluated twice */
#define GEN_TILES 64u /* with matrix tiles; the flag changes no program made without it */
#define GEN_FLOAT_TILES \
	128u /* with GEN_TILES and GEN_FLOATS: mostly tiles of floats, which take drivers without f64 long to build */
#define GEN_BARRIERS \
	256u /* with barriers in functions, in control that a workgroup agrees on; the flag changes no program made without it */
#define GEN_EXITS \
	512u /* a small program of u32 alone: barriers amid early exits; no other flag is asked */
/* Make the program of a seed in the arena. */
node *gen_program(pctl_arena *a, uint64_t seed, uint32_t flags);

/* ---- within the generator ---------------------------------------------------------------------
 */

typedef struct gen gen;

enum { G_SCALAR = 1, G_VECTOR, G_MATRIX, G_ARRAY, G_STRUCT, G_RUNTIME };
enum { S_BOOL, S_I32, S_U32, S_I64, S_U64, S_F32, S_KINDS };

/* A type; two are the same type when their pointers are equal. */
typedef struct gtype {
	const char *name;
	uint32_t kind, scalar, width, columns;
	uint32_t count; /* elements or members */
	uint32_t stride, size, align;
	uint32_t has_bool;
	uint32_t depth;
	const struct gtype *elem; /* of a vector its scalar, of a matrix its column */
	const struct gtype **member;
	const uint32_t *offset;
	const char *leaf; /* a run-time value without free names */
} gtype;

enum { V_WRITABLE = 1, V_CONST = 2 };

typedef struct gvar {
	const char *name;
	const gtype *type;
	uint32_t flags;
} gvar;

typedef struct gfunc {
	const char *name;
	const gtype *result;
	const gtype *param[4];
	uint32_t n_params;
} gfunc;

enum { GP_FUNCTION, GP_PRIVATE, GP_WORKGROUP, GP_OWN, GP_READ, GP_UNIFORM };

/* A pointer parameter: home is the variable of the module it is given parts of. */
typedef struct gpointer {
	const char *name;
	uint32_t space, own; /* own: GP_OWN is the invocation's element of gen.own[own] */
	const gtype *type, *home_type;
	const char *home;
} gpointer;

typedef struct gpfunc {
	const char *name;
	const gtype *result;
	gpointer pointer[2];
	uint32_t n_pointers, n_params;
	const gtype *param[3];
	const char *param_name[3];
	/* In place: the variables of its result and of having returned, and the body's text. */
	const char *value, *returned, *body;
} gpfunc;

/* Tiles of a program: of floats or not; elements of the factors' array, of so many components, as floats or integers with their bits. */
typedef struct gtiles {
	const char *element;
	uint32_t width, n_elements;
	int may_float, is_float, is_wide, as_bits; /* is_wide: factors of f64 */
} gtiles;

#define G_VARS 256u
#define G_TYPES 400u

struct gen {
	pctl_arena *a;
	uint64_t state;
	int wide; /* 64-bit types may be used */
	int floats; /* f32 may be used: programs are smaller then, an operation may be a hundred instructions */
	int elementary; /* functions that may still be called */
	gtype *types[G_TYPES];
	uint32_t n_types;
	gvar vars[G_VARS];
	uint32_t n_vars;
	gfunc funcs[8];
	uint32_t n_funcs;
	const char *atomics[4]; /* "atomicAdd(&at[$], $)" */
	const gtype *atomic_type[4];
	uint32_t n_atomics;
	const char *lengths[6]; /* "arrayLength(&in0)" */
	uint32_t n_lengths;
	gvar buffers[6]; /* that are only read */
	uint32_t n_buffers;
	int touches;	    /* there is fn touch, with an effect */
	const char *gi;	    /* the invocation's own element, in the entry point; else NULL */
	const char *own[6]; /* buffers whose element gi is its own */
	const gtype *own_elem[6];
	uint32_t n_own;
	int fuel, names;
	int loops;		/* nested around this place */
	int breakable, in_loop; /* a break or continue may stand here */
	int may_return;
	const gtype *result;
	int in_place, twice;  /* GEN_IN_PLACE, GEN_TWICE */
	uint32_t invocations; /* of a workgroup */
	gpfunc pfuncs[4];
	uint32_t n_pfuncs;
	const gpfunc *inside; /* whose body is being made */
	uint32_t n_loops;
	gtiles tiles;
	const gtype *meet_type[3]; /* of what functions with barriers exchange */
	uint32_t n_meets;
};

uint64_t gen_u64(gen *g);
uint32_t gen_below(gen *g, uint32_t n);
int gen_chance(gen *g, uint32_t percent);
const char *gen_name(gen *g, const char *stem);
const char *gen_text(gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* gen_type.c */
const gtype *gen_scalar(gen *g, uint32_t scalar);
const gtype *gen_vector(gen *g, uint32_t scalar, uint32_t width);
const gtype *gen_matrix(gen *g, uint32_t scalar, uint32_t columns, uint32_t rows);
const gtype *gen_array(gen *g, const gtype *elem, uint32_t count);
const gtype *gen_struct(gen *g, const char *name, const gtype **member, uint32_t n);
const gtype *gen_shape(gen *g, uint32_t scalar, uint32_t width); /* width 1: the scalar */
uint32_t gen_width(const gtype *t);				 /* 0: neither scalar nor vector */
int gen_is_integer(const gtype *t);
int gen_is_float(const gtype *t); /* a scalar or vector of f32 */
int gen_may_use(const gen *g, uint32_t scalar);
int gen_is_signed(const gtype *t);
uint32_t gen_bits(const gtype *t); /* of its scalar */
uint32_t gen_any_scalar(gen *g, int with_bool);
const gtype *gen_any_simple(gen *g);		   /* scalar or vector */
const gtype *gen_any_type(gen *g, int with_bool);  /* of a value */
const gtype *gen_any_shared(gen *g);		   /* host-shareable */
const gtype *gen_any_whole(gen *g, int with_bool); /* array or struct, also of one another */

/* gen_expr.c */
node *gen_expr(gen *g, const gtype *t, int depth);
node *gen_runtime(gen *g, const gtype *t, int depth); /* never a const-expression */
node *gen_index(gen *g, uint32_t length, int depth);
node *gen_proven(gen *g, uint32_t length, int depth);
node *gen_divisor(gen *g, const char *op, const gtype *t, const gtype *left, int depth);
/* Either may be a const-expression, not both. */
node *gen_two(gen *g, const gtype *t, const char *format, const gtype *a, const gtype *b,
	      int depth);
/* A place reached from variable v, of type *out; NULL when there is none of an allowed kind. */
node *gen_walk(gen *g, const gvar *v, const gtype *wanted, int steps, const gtype **out);
node *gen_node(gen *g, const gtype *t, const char *format, node *a, node *b, node *c);

/* gen_op.c */
node *gen_operation(gen *g, const gtype *t, int depth);

/* gen_float.c: an operation on a scalar or vector of f32 */
node *gen_float_operation(gen *g, const gtype *t, int depth);
const char *gen_float_literal(gen *g);

/* gen_whole.c: a variable of some whole type, its elements stored at dynamic indices, moved as a whole */
node *gen_whole(gen *g);
/* The same, and buffer own[i]'s element gets it, or an element of it. */
node *gen_whole_own(gen *g, uint32_t i);

/* gen_pointer.c: a function that takes pointers, added to the root; a call of one, NULL when none can be made here */
void gen_pointer_function(gen *g, node *root);
node *gen_pointer_call(gen *g);
/* A return under a condition: its format; and what stands behind a loop or switch that it may have left. */
const char *gen_pointer_return(gen *g, int has_value);
const char *gen_pointer_leave(gen *g);

/* What a variable holds becomes part of what is seen at the end. */
const char *gen_seen(gen *g, const char *name, const gtype *t);

/* gen_barrier.c: functions with barriers and their memory; their calls, for a place that all invocations reach; buffer `met` */
void gen_barrier_workgroup(gen *g, uint32_t size[3]);
void gen_barrier_functions(gen *g, node *root, uint32_t invocations);
void gen_barriers(gen *g, node *list);

/* gen_exit.c: the whole program of GEN_EXITS */
void gen_exits(gen *g, node *header, node *root);

/* gen_large.c: the large part; its result goes into buffer `large` */
node *gen_large(gen *g);

/* gen_subgroup.c: operations for a place that all invocations reach; the function that they call */
void gen_subgroups(gen *g, node *list);
const char *gen_subgroup_function(void);

/* gen_tile.c: the same of matrix tiles, in workgroups of so many invocations; the memory they are moved through */
void gen_tiles(gen *g, node *list, uint32_t invocations);
void gen_tile_workgroup(gen *g, uint32_t size[3]);
node *gen_tile_memory(gen *g, uint32_t invocations);
/* gen_tile_float.c: the same of tiles of floats; the memory is made first */
void gen_tiles_float(gen *g, node *list, uint32_t invocations);
node *gen_tile_float_memory(gen *g, uint32_t invocations);

/* gen_stmt.c */
void gen_block(gen *g, node *list, int n, int depth);
void gen_declare(gen *g, const char *name, const gtype *t, uint32_t flags);

#endif
