/* What WGSL predeclares: types, functions, and the names that are known but refused. One table. */
#ifndef PIPECTL_WGSL_BUILTINS_H
#define PIPECTL_WGSL_BUILTINS_H

#include <stdint.h>

enum builtin_kind {
	BUILTIN_SCALAR,	   /* arg: scalar */
	BUILTIN_VECTOR,	   /* arg: width */
	BUILTIN_VECTOR_OF, /* arg: scalar * 8 + width */
	BUILTIN_MATRIX,	   /* arg: columns * 8 + rows */
	BUILTIN_ARRAY,
	BUILTIN_ATOMIC,
	BUILTIN_POINTER,
	BUILTIN_REFUSED, /* arg: code */
	/* functions; arg: opcode */
	BUILTIN_ELEMENTWISE, /* all arguments and the result of one integer type */
	BUILTIN_BITS,	     /* extractBits, insertBits */
	BUILTIN_ALL,	     /* all, any */
	BUILTIN_SELECT,
	BUILTIN_DOT,
	BUILTIN_DOT4,
	BUILTIN_PACK, /* vec4 of 32-bit to u32; arg: see PACK_* */
	BUILTIN_UNPACK,
	BUILTIN_TRANSPOSE,
	BUILTIN_BITCAST,
	BUILTIN_ARRAY_LENGTH,
	BUILTIN_ATOMIC_FN,
	BUILTIN_ATOMIC_CAS,
	BUILTIN_BARRIER, /* arg: PCTL_BARRIER_* */
	BUILTIN_UNIFORM_LOAD
};

#define PACK_SIGNED 1u
#define PACK_CLAMP 2u

/* Flags of functions. */
#define BF_ABSTRACT 1u	/* abstract integers in, abstract out */
#define BF_SIGNED 2u	/* signed types only */
#define BF_DROPPABLE 4u /* may be called for its effect alone */

struct builtin {
	const char *name;
	uint8_t kind;
	uint8_t n_args;
	uint8_t flags;
	uint8_t reserved;
	uint32_t arg;
};

uint32_t pctl_wgsl_builtin_count(void);
const struct builtin *pctl_wgsl_builtin_at(uint32_t i);

static inline int pctl_wgsl_builtin_is_type(const struct builtin *b)
{
	return b->kind <= BUILTIN_POINTER;
}

#endif
