/* What WGSL predeclares: types, functions, and the names that are known but refused. One table. */
#ifndef PIPECTL_COMPILER_WGSL_BUILTINS_H
#define PIPECTL_COMPILER_WGSL_BUILTINS_H

#include "pipectl/program.h"

enum builtin_kind {
	BUILTIN_SCALAR,	   /* arg: scalar */
	BUILTIN_VECTOR,	   /* arg: width */
	BUILTIN_VECTOR_OF, /* arg: scalar * 8 + width */
	BUILTIN_MATRIX,	   /* arg: columns * 8 + rows */
	BUILTIN_MATRIX_OF, /* arg: scalar * 64 + columns * 8 + rows */
	BUILTIN_ARRAY,
	BUILTIN_ATOMIC,
	BUILTIN_TILE, /* arg: PCTL_TILE_* */
	BUILTIN_POINTER,
	BUILTIN_REFUSED, /* arg: code */
	/* functions; arg: opcode */
	BUILTIN_ELEMENTWISE, /* all arguments and the result of one integer type; some of floats too
			      */
	BUILTIN_BITS,	     /* extractBits, insertBits */
	BUILTIN_ALL,	     /* all, any */
	BUILTIN_SELECT,
	BUILTIN_DOT,
	BUILTIN_DOT4,
	BUILTIN_PACK, /* vec4 of 32-bit to u32; arg: see PACK_* */
	BUILTIN_UNPACK,
	BUILTIN_TRANSPOSE,
	BUILTIN_BITCAST,
	BUILTIN_MUL_HIGH,
	/* floats only; arg: strict opcode or FC_* */
	BUILTIN_FLOAT,	  /* all arguments and the result of one float type */
	BUILTIN_GEOMETRY, /* vectors and matrices, partly to scalars */
	BUILTIN_LDEXP,
	BUILTIN_SPLIT,	      /* arg: 0 modf, 1 frexp */
	BUILTIN_PACK_FLOAT,   /* arg: FLOAT_* */
	BUILTIN_UNPACK_FLOAT, /* arg: FLOAT_* */
	BUILTIN_ARRAY_LENGTH,
	BUILTIN_ATOMIC_FN,
	BUILTIN_ATOMIC_CAS,
	BUILTIN_BARRIER, /* arg: PCTL_BARRIER_* */
	BUILTIN_UNIFORM_LOAD,
	BUILTIN_SUBGROUP_REDUCE, /* arg: opcode; reductions and scans */
	BUILTIN_SUBGROUP_VOTE,	 /* arg: opcode; bool in */
	BUILTIN_SUBGROUP_MOVE,	 /* arg: opcode or SUBGROUP_* */
	BUILTIN_TILE_LOAD,
	BUILTIN_TILE_STORE,
	BUILTIN_TILE_PRODUCT
};

#define PACK_SIGNED 1u
#define PACK_CLAMP 2u

#define FLOAT_SIGNED 1u
#define FLOAT_8 2u  /* four normalised bytes */
#define FLOAT_16 4u /* two normalised halves */
#define FLOAT_HALF 8u

/* Float functions that are compositions; above all opcodes. */
enum {
	FC_CLAMP = 0x1000,
	FC_SIGN,
	FC_INVERSE_SQRT,
	FC_FRACT,
	FC_SATURATE,
	FC_MIX,
	FC_STEP,
	FC_SMOOTHSTEP,
	FC_DEGREES,
	FC_RADIANS,
	FC_QUANTIZE,
	FC_LENGTH,
	FC_DISTANCE,
	FC_NORMALIZE,
	FC_CROSS,
	FC_REFLECT,
	FC_REFRACT,
	FC_FACE_FORWARD,
	FC_DETERMINANT
};

/* Subgroup functions that are made of others; above all opcodes. */
enum {
	SUBGROUP_FIRST = 0x1000,
	SUBGROUP_QUAD,
	SUBGROUP_SWAP_X,
	SUBGROUP_SWAP_Y,
	SUBGROUP_SWAP_DIAGONAL
};

/* Builtin inputs that are made of others; behind all PCTL_BUILTIN_*. */
enum {
	INPUT_SUBGROUP_SIZE = PCTL_BUILTIN_NUM_WORKGROUPS + 1,
	INPUT_SUBGROUP_INVOCATION_ID,
	INPUT_SUBGROUP_ID,
	INPUT_NUM_SUBGROUPS
};

/* Flags of functions. */
#define BF_ABSTRACT 1u	       /* abstract integers in, abstract out */
#define BF_SIGNED 2u	       /* signed types only */
#define BF_DROPPABLE 4u	       /* may be called for its effect alone */
#define BF_MIX 8u	       /* the last argument may be a scalar beside vectors */
#define BF_F32 16u	       /* f32 only */
#define BF_DROPPABLE_FIRST 32u /* BF_DROPPABLE under version 1 of the consensus rules only */
#define BF_DROPPABLE_LATER 64u /* BF_DROPPABLE but under version 1 */

struct builtin {
	const char *name;
	uint8_t kind;
	uint8_t n_args;
	uint8_t flags;
	uint8_t reserved;
	uint32_t arg;
	const char *text; /* what a function gives, for BUILTINS.md */
};

uint32_t pctl_wgsl_builtin_count(void);
const struct builtin *pctl_wgsl_builtin_at(uint32_t i);

static inline int pctl_wgsl_builtin_is_type(const struct builtin *b)
{
	return b->kind <= BUILTIN_POINTER;
}

/* Functions of the extension subgroups. */
static inline int pctl_wgsl_builtin_is_subgroup(const struct builtin *b)
{
	return b->kind >= BUILTIN_SUBGROUP_REDUCE && b->kind <= BUILTIN_SUBGROUP_MOVE;
}

/* Types and functions of matrix tiles. */
static inline int pctl_wgsl_builtin_is_tile(const struct builtin *b)
{
	return b->kind == BUILTIN_TILE || b->kind >= BUILTIN_TILE_LOAD;
}

/* Functions that know only floats. */
static inline int pctl_wgsl_builtin_is_float(const struct builtin *b)
{
	return b->kind >= BUILTIN_FLOAT && b->kind <= BUILTIN_UNPACK_FLOAT;
}

#endif
