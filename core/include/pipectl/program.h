/* The program: pipectl's typed, structured intermediate representation of one compute kernel, its
 * canonical wire form, and the helpers a backend needs to read it. Not here: how a program comes
 * about (core/compiler/wgsl) or what is proved of it (core/compiler/analysis/analyse.h).
 *
 * A program is a set of flat tables. A function body is a flat list of instructions in which
 * control is marked by bracketing opcodes (IF .. ELSE .. END_IF), so every reader is one loop with
 * a stack and none needs recursion. An instruction that yields a value *is* that value: its id is
 * its index in the function's list. A value is visible from its definition to the end of the region
 * that holds it. All change goes through variables and memory (LOAD, STORE, ATOMIC_*); there are no
 * pointers.
 */
#ifndef PIPECTL_PROGRAM_H
#define PIPECTL_PROGRAM_H

#include "pipectl/host.h"

PCTL_C_BEGIN

#define PCTL_PROGRAM_MAJOR 1 /* a reader refuses any other major */
#define PCTL_PROGRAM_MINOR 0

/* ---- types -------------------------------------------------------------------------------- */

/* Scalars. The float and narrow ones have their number and layout from the first version on. */
enum {
	PCTL_SCALAR_NONE = 0,
	PCTL_SCALAR_BOOL = 1, /* u32 0 or 1 when in memory */
	PCTL_SCALAR_I32 = 2,
	PCTL_SCALAR_U32 = 3,
	PCTL_SCALAR_I64 = 4,
	PCTL_SCALAR_U64 = 5,
	PCTL_SCALAR_F16 = 6,
	PCTL_SCALAR_F32 = 7,
	PCTL_SCALAR_BF16 = 8,
	PCTL_SCALAR_F64 = 9,
	PCTL_SCALAR_I8 = 10,
	PCTL_SCALAR_U8 = 11,
	PCTL_SCALAR_I16 = 12,
	PCTL_SCALAR_U16 = 13
};

enum {
	PCTL_TYPE_VOID = 0, /* type 0 of every program */
	PCTL_TYPE_SCALAR = 1,
	PCTL_TYPE_VECTOR = 2, /* width 2..4 of a scalar */
	PCTL_TYPE_MATRIX = 3, /* columns 2..4 of vectors of width 2..4 (rows) */
	PCTL_TYPE_ARRAY = 4,
	PCTL_TYPE_RUNTIME_ARRAY = 5,
	PCTL_TYPE_STRUCT = 6,
	PCTL_TYPE_ATOMIC = 7, /* of i32 or u32 */
	PCTL_TYPE_TILE = 8    /* a matrix that the lanes of a subgroup hold together */
};

/* What a tile is in a product: left (M rows, K columns) * right (K rows, N columns) -> result (M rows, N columns). */
enum { PCTL_TILE_LEFT = 1, PCTL_TILE_RIGHT = 2, PCTL_TILE_RESULT = 3 };
#define PCTL_TILE_LANES 32u /* of a subgroup; workgroups are one-dimensional and a multiple of it */

/*
 * One type. Types are unique in a program and refer only to types before them.
 *
 * scalar   the scalar of a scalar, vector, matrix, atomic or tile (left, right: i8 or u8; result: i32 or u32. Of floats: left, right
 *          f32 or f64; result f64)
 * width    components of a vector; rows of a matrix or tile
 * columns  columns of a matrix or tile; M and N are 8 or 16, K is 16 or 32. Of floats: N is 8, K is 4, 8 or 16
 * elem     element type of an array or runtime array; column type of a matrix; scalar type of a
 *          vector or atomic
 * count    elements of an array; members of a struct; PCTL_TILE_* of a tile
 * count_spec  1 + the value id in function `spec` that gives an array's count (workgroup memory
 *             only), else 0. Absent from a specialised program.
 * stride   bytes from one array element or matrix column to the next, WGSL's layout rules
 * size, align  bytes, WGSL's SizeOf and AlignOf; size 0 for runtime arrays; bool counts as 4; of a tile, what one lane
 *              holds of it
 * first_member  index into program.members
 */
typedef struct pctl_type {
	uint8_t kind;
	uint8_t scalar;
	uint8_t width;
	uint8_t columns;
	uint32_t elem;
	uint32_t count;
	uint32_t count_spec;
	uint32_t stride;
	uint32_t size;
	uint32_t align;
	uint32_t first_member;
} pctl_type;

typedef struct pctl_member {
	uint32_t name; /* offset in program.strings */
	uint32_t type;
	uint32_t offset; /* bytes from the start of the struct */
	uint32_t flags;	 /* PCTL_MEMBER_* */
} pctl_member;

#define PCTL_MEMBER_EXPLICIT_SIZE 1u  /* @size was written */
#define PCTL_MEMBER_EXPLICIT_ALIGN 2u /* @align was written */

/* ---- variables ---------------------------------------------------------------------------- */

enum {
	PCTL_SPACE_FUNCTION = 1,  /* one function invocation; zero at entry */
	PCTL_SPACE_PRIVATE = 2,	  /* one invocation; zero at start */
	PCTL_SPACE_WORKGROUP = 3, /* one workgroup; zero at start */
	PCTL_SPACE_UNIFORM = 4,
	PCTL_SPACE_STORAGE = 5
};

enum { PCTL_ACCESS_READ = 1, PCTL_ACCESS_WRITE = 2, PCTL_ACCESS_READ_WRITE = 3 };

/* A module-scope variable. Uniform and storage variables are sorted first, by (group, binding),
 * then the others in order of declaration. */
typedef struct pctl_var {
	uint32_t name;
	uint32_t type;
	uint8_t space;
	uint8_t access;
	uint16_t reserved;
	uint32_t group;
	uint32_t binding;
} pctl_var;

/* A value the host may set before a program is specialised. `has_default`: value id
 * default_value of function `spec` gives it when it is not set. id is the @id, or 0xffffffff. */
typedef struct pctl_override {
	uint32_t name;
	uint32_t id;
	uint32_t type; /* a scalar type */
	uint32_t has_default;
	uint32_t default_value;
} pctl_override;

/* ---- code --------------------------------------------------------------------------------- */

enum {
#define PCTL_OPCODE(number, NAME, result, args, kind) PCTL_OP_##NAME = number,
#include "pipectl/ops.def"
#undef PCTL_OPCODE
};

enum {
	PCTL_BUILTIN_GLOBAL_ID = 1,	/* vec3<u32> */
	PCTL_BUILTIN_LOCAL_ID = 2,	/* vec3<u32> */
	PCTL_BUILTIN_LOCAL_INDEX = 3,	/* u32, x + y*sx + z*sx*sy */
	PCTL_BUILTIN_WORKGROUP_ID = 4,	/* vec3<u32> */
	PCTL_BUILTIN_NUM_WORKGROUPS = 5 /* vec3<u32> */
};

#define PCTL_BARRIER_WORKGROUP 1u /* workgroup memory; every invocation of the workgroup arrives */
#define PCTL_BARRIER_STORAGE 2u	  /* storage memory, within the workgroup */
/* Workgroup memory, within a subgroup of PCTL_TILE_LANES whose lanes all arrive. Alone; of legalised programs with tiles only. */
#define PCTL_BARRIER_SUBGROUP 4u

/*
 * One instruction. Its arguments are program.words[first_arg .. first_arg + n_args).
 *
 * A place (root g, chain c): the root word is a module variable's index, or PCTL_PLACE_LOCAL |
 * index of a variable of the function. Each chain word steps one level down: for a struct the
 * member's number (a literal); for an array, runtime array, vector or matrix a *value id* of type
 * i32 or u32. The type the chain ends at is the type loaded or stored; it may be composite, and a
 * vector in memory is moved whole. An index outside its array, vector or matrix at any level makes
 * the whole access miss: a load gives zero of the type, a store or atomic does nothing, an atomic
 * returns 0. (A negative i32 is outside.) In-bounds is index < length of that very level; for a
 * runtime array the length is (bound bytes - offset of the array) / stride, where `bound bytes`
 * travels as a parameter.
 *
 * flags  bit i (PCTL_INST_PROVEN(i)) of LOAD, STORE, ARRAY_LENGTH and atomics: chain word i is
 *        proven in bounds by the host and needs no check. Front ends write 0; the legaliser sets
 *        them; the reference ignores them. PCTL_INST_WHOLE of moves of tiles.
 */
typedef struct pctl_inst {
	uint16_t op;
	uint16_t flags;
	uint32_t type; /* result type, 0 for none */
	uint32_t first_arg;
	uint32_t n_args;
} pctl_inst;

#define PCTL_SUBGROUP_SIZE_MIN 4u /* whole quads; WGSL's own range */
#define PCTL_SUBGROUP_SIZE_MAX 128u
#define PCTL_PLACE_LOCAL 0x80000000u
#define PCTL_LOOKUP_WORDS_MAX 16384u /* of a LOOKUP's table: 64 KiB, what every device can hold */
#define PCTL_INST_PROVEN(i) (1u << (i)) /* i < 16; deeper words are always checked */
/* Of TILE_LOAD_* and TILE_STORE_* (whose chains are shorter): all lanes of the subgroup bring the same offset and stride, both
 * are multiples of 16 bytes, and all components are inside. Devices other than the reference take no other ones. */
#define PCTL_INST_WHOLE (1u << 15)

typedef struct pctl_local {
	uint32_t name;
	uint32_t type; /* constructible: no atomics, no runtime arrays */
} pctl_local;

/* A function: instructions [first_inst, first_inst + n_insts) of program.insts. The first
 * n_params of them are PARAM. Value id v is instruction first_inst + v. A function calls only
 * functions before it. */
typedef struct pctl_function {
	uint32_t name;
	uint32_t return_type;
	uint32_t first_inst;
	uint32_t n_insts;
	uint32_t n_params;
	uint32_t first_local;
	uint32_t n_locals;
} pctl_function;

/* An entry point. workgroup_size_spec[i] is 1 + the value id in `spec` that gives the size, else
 * 0. */
typedef struct pctl_entry {
	uint32_t name;
	uint32_t function;
	uint32_t workgroup_size[3];
	uint32_t workgroup_size_spec[3];
} pctl_entry;

/* Declared maximum of a scalar in a uniform (`//# max uniforms.n = 64`): the path from the variable, by numbers of members,
 * components and elements. */
typedef struct pctl_max {
	uint32_t var;
	uint32_t n_path;
	uint32_t path[4];
	uint64_t value;
} pctl_max;

/* Where an instruction comes from. Not part of the wire form. */
typedef struct pctl_origin {
	uint32_t file; /* 0 the kernel itself, else 1 + number of the used function op */
	uint32_t line;
	uint32_t column;
	uint32_t end_column;
} pctl_origin;

/* Capabilities a program needs (bit set `caps`), found by verify, never claimed. */
#define PCTL_CAP_I64 (1ull << 0)
#define PCTL_CAP_F16 (1ull << 1)
#define PCTL_CAP_F32 (1ull << 2)
#define PCTL_CAP_BF16 (1ull << 3)
#define PCTL_CAP_F64 (1ull << 4)
#define PCTL_CAP_NARROW (1ull << 5)    /* 8- and 16-bit integers */
#define PCTL_CAP_OVERRIDES (1ull << 6) /* not specialised yet: no backend takes it */
/* Subgroup operations. A device that claims it takes programs whose subgroup size divides its own (subgroup_size of
 * pctl_device_caps; 0: any size), in workgroups of a multiple of its own; the host probes each size before it relies on one, and
 * writes the operations through workgroup memory elsewhere. */
#define PCTL_CAP_SUBGROUPS (1ull << 7)
/* Matrix tiles. Which shapes a device has is what it says of programs with them; the host asks for their results before it
 * relies on one, sees to PCTL_INST_WHOLE, and writes them as ordinary code elsewhere. */
#define PCTL_CAP_TILES (1ull << 8)
#define PCTL_CAP_BINDING_SPLIT (1ull << 9) /* reserved: a binding wider than the device's range */
#define PCTL_CAP_STRICT_FLOAT (1ull << 10) /* strict opcodes present: only the reference takes it */
#define PCTL_CAP_STORE16 (1ull << 11) /* u16 in storage memory: LOAD, STORE, CAST to and from u32 */
#define PCTL_CAP_NATIVE_FLOAT (1ull << 12) /* native opcodes present: never for the reference */
/* Of devices only: with 64-bit integers come their quotients and remainders. Where it is missing the host writes those
 * by the other operations before a backend sees the program. */
#define PCTL_CAP_I64_DIV (1ull << 13)
/* Of devices only: DOT4_I8 and DOT4_U8 are instructions of its own, which the host asks for by a probe first. */
#define PCTL_CAP_DOT4 (1ull << 14)
#define PCTL_CAP_KNOWN \
	((1ull << 15) - 1) /* all of them; a backend that claims another bit is refused */

/*
 * The whole. Function 0 is `spec`: straight-line constant code (CONST, OVERRIDE, elementwise ops,
 * conversions) that computes override defaults, workgroup sizes and array counts; it is empty in a
 * specialised program. One arena owns all tables; strings are NUL-terminated UTF-8 back to back,
 * offset 0 is "".
 */
typedef struct pctl_program {
	pctl_type *types;
	pctl_member *members;
	pctl_var *vars;
	pctl_override *overrides;
	pctl_function *functions;
	pctl_local *locals;
	pctl_inst *insts;
	uint32_t *words;
	pctl_entry *entries;
	pctl_max *maxima;
	char *strings;
	pctl_origin *origins; /* n_insts of them, or NULL */
	char **origin_files;  /* NULL, or n_origin_files names */
	uint32_t n_types, n_members, n_vars, n_overrides, n_functions, n_locals, n_insts, n_words;
	uint32_t n_entries, n_maxima, n_strings /* bytes */, n_origin_files;
	uint32_t max_dispatch[3]; /* declared maximum, 0 where none */
	/* Declared maximum of turns (`//# max turns = N`), 0 where none: what the host makes of it is in the code. Not part of
	 * the wire form. */
	uint32_t max_turns;
	uint64_t scale; /* declared fixed-point scale, 0 where none */
	uint64_t caps;	/* PCTL_CAP_*; computed by verify and decode */
	void *arena;	/* owner of everything above */
} pctl_program;

/* Free a program and all its tables. NULL is fine. */
void pctl_program_destroy(pctl_program *p);

/* ---- wire form ---------------------------------------------------------------------------- */

/*
 * Encode: the canonical byte string of a verified program (little-endian, sections in a fixed
 * order). *out is released with free(). Positions are not in it.
 */
pctl_status pctl_program_encode(const pctl_program *p, const pctl_call *call, uint8_t **out,
				uint64_t *n_out);

/*
 * Decode and verify. Survives any bytes; whatever is not the canonical encoding of a valid program
 * is refused (PC20xx) with the offset. Limits: 16 MiB of wire, 1,048,576 instructions, region depth
 * 256.
 */
pctl_status pctl_program_decode(const uint8_t *wire, uint64_t n, const pctl_call *call,
				pctl_program **out);

/* Check every rule of this header and compute caps. All violations are reported, up to 64. */
pctl_status pctl_program_verify(pctl_program *p, const pctl_call *call);

/* Readable text of a program (for people, tests and goldens), released with free(). NULL: no
 * memory. */
char *pctl_program_print(const pctl_program *p);
/* The same of one type, structs with their members: "array<{ at: vec4<f32>, mass: f32 }>". */
char *pctl_program_print_type(const pctl_program *p, uint32_t type);

/* ---- reading helpers ---------------------------------------------------------------------- */

/* The number of a strict float operation, of a native one; their distance. */
#define PCTL_STRICT_FIRST 0x100u
#define PCTL_NATIVE_FIRST 0x180u
#define PCTL_NATIVE_LAST 0x1ffu
#define PCTL_NATIVE_OF(op) ((uint16_t)((op) + (PCTL_NATIVE_FIRST - PCTL_STRICT_FIRST)))
#define PCTL_IS_STRICT(op) ((op) >= PCTL_STRICT_FIRST && (op) < PCTL_NATIVE_FIRST)
#define PCTL_IS_NATIVE(op) ((op) >= PCTL_NATIVE_FIRST && (op) <= PCTL_NATIVE_LAST)

/* Static facts of an opcode, from ops.def. name is NULL for an unknown opcode. */
typedef struct pctl_op_info {
	const char *name;
	const char *args;
	uint8_t yields; /* 1: defines a value */
	uint8_t kind;	/* PCTL_OPKIND_* */
} pctl_op_info;
enum {
	PCTL_OPKIND_const,
	PCTL_OPKIND_elem,
	PCTL_OPKIND_bool,
	PCTL_OPKIND_convert,
	PCTL_OPKIND_data,
	PCTL_OPKIND_memory,
	PCTL_OPKIND_atomic,
	PCTL_OPKIND_control,
	PCTL_OPKIND_subgroup,
	PCTL_OPKIND_tile
};
const pctl_op_info *pctl_op_get(uint16_t op);

/* The size that the program's subgroup operations are of; 0: it has none. */
uint32_t pctl_program_subgroup_size(const pctl_program *p);

/* Argument i of an instruction (a raw word). */
static inline uint32_t pctl_arg(const pctl_program *p, const pctl_inst *in, uint32_t i)
{
	return p->words[in->first_arg + i];
}

/* The string at `offset`. */
static inline const char *pctl_str(const pctl_program *p, uint32_t offset)
{
	return p->strings + offset;
}

/* A memory instruction taken apart. */
typedef struct pctl_place {
	uint32_t root;	/* as in the instruction */
	uint32_t chain; /* index into program.words of the first chain word */
	uint32_t n_chain;
	uint32_t root_type;
	uint32_t end_type; /* type at the end of the chain (ARRAY_LENGTH: the runtime array) */
	uint8_t space;	   /* PCTL_SPACE_* of the root */
	uint8_t n_values;  /* value arguments before the root: 0 load, 1 store, 2 ATOMIC_CAS */
	uint16_t reserved;
} pctl_place;

/* 1 and *out for an instruction with a place, else 0. `fn` is the function that holds it. */
int pctl_place_get(const pctl_program *p, const pctl_function *fn, const pctl_inst *in,
		   pctl_place *out);

/* 1: the instruction's place is written to. Atomics are told by their kind. */
int pctl_op_stores(uint16_t op);

/* The tile that TILE_LOAD_* and TILE_STORE_* move; 0: it is none of them. */
uint32_t pctl_tile_moved(const pctl_program *p, const pctl_function *fn, const pctl_inst *in);
/* Of a tile type: are its components floats. */
int pctl_tile_is_float(const pctl_type *t);

/* The type one step below `type`: word is the member number of a struct, ignored for the others.
 * 0: cannot. */
uint32_t pctl_type_step(const pctl_program *p, uint32_t type, uint32_t word);

/* Bytes from the start of a vector, matrix, array or struct to its part number i. */
uint64_t pctl_type_part_offset(const pctl_program *p, uint32_t type, uint32_t i);

/*
 * Turns of loops that nothing bounds. The host gives a program that has such loops a variable at (PCTL_TURNS_GROUP, 0), an
 * atomic u32 in storage, which no text can name: an invocation that goes over its budget makes it 1. The count is in private
 * variables; all of this is ordinary code, which backends take as any other. See SEMANTICS.md.
 */
#define PCTL_TURNS_GROUP 0x10000u  /* texts have groups up to 65535 */
#define PCTL_TURNS_MAX 0x7fffffffu /* that can be declared */
#define PCTL_TURNS_DEFAULT 32768u  /* below every known driver's limit */

/* The module variable that is the flag, or 0xffffffff. */
static inline uint32_t pctl_program_turn_flag(const pctl_program *p)
{
	for (uint32_t i = 0; i < p->n_vars; i++)
		if (p->vars[i].space == PCTL_SPACE_STORAGE && p->vars[i].group == PCTL_TURNS_GROUP)
			return i;
	return 0xffffffffu;
}

/* Type of a value of the function. */
static inline uint32_t pctl_value_type(const pctl_program *p, const pctl_function *fn,
				       uint32_t value)
{
	return p->insts[fn->first_inst + value].type;
}

/* Width of a scalar in bits as a value (bool 1, i32 32 ..), and in bytes in memory (bool 4). */
uint32_t pctl_scalar_bits(uint8_t scalar);
uint32_t pctl_scalar_bytes(uint8_t scalar);
int pctl_scalar_is_signed(uint8_t scalar);
const char *pctl_scalar_name(uint8_t scalar);

/* ---- building (front ends, the legaliser, tests) ------------------------------------------ */

typedef struct pctl_builder pctl_builder;

/* A builder makes one program. Functions below return an id and never fail visibly: the first
 * lack of memory or broken rule is kept and reported by finish. Types are made unique and laid
 * out here. */
pctl_builder *pctl_builder_create(void);
void pctl_builder_destroy(pctl_builder *b);

uint32_t pctl_build_string(pctl_builder *b, const char *s);
uint32_t pctl_build_scalar(pctl_builder *b, uint8_t scalar);
uint32_t pctl_build_vector(pctl_builder *b, uint8_t scalar, uint32_t width);
uint32_t pctl_build_matrix(pctl_builder *b, uint8_t scalar, uint32_t columns, uint32_t rows);
/* count_spec as in pctl_type; count 0 with count_spec 0 makes a runtime array. */
uint32_t pctl_build_array(pctl_builder *b, uint32_t elem, uint32_t count, uint32_t count_spec);
uint32_t pctl_build_atomic(pctl_builder *b, uint8_t scalar);
/* role: PCTL_TILE_* */
uint32_t pctl_build_tile(pctl_builder *b, uint8_t scalar, uint32_t role, uint32_t columns,
			 uint32_t rows);
/* A member as the source gives it: size and align 0 where no attribute was written. Offsets are
 * computed by WGSL's rules, or taken from offset where it is not PCTL_OFFSET_AUTO. */
typedef struct pctl_member_spec {
	const char *name;
	uint32_t type;
	uint32_t size;
	uint32_t align;
	uint32_t offset;
} pctl_member_spec;
#define PCTL_OFFSET_AUTO 0xffffffffu
/* Structs are unique by name and members. */
uint32_t pctl_build_struct(pctl_builder *b, const pctl_member_spec *members, uint32_t n);

/* Read back what was built so far. */
const pctl_type *pctl_build_type_at(const pctl_builder *b, uint32_t type);
const pctl_member *pctl_build_member_at(const pctl_builder *b, uint32_t type, uint32_t i);
const char *pctl_build_string_at(const pctl_builder *b, uint32_t offset);
const pctl_inst *pctl_build_inst_at(const pctl_builder *b,
				    uint32_t value);		       /* of the open function */
uint32_t pctl_build_value_type(const pctl_builder *b, uint32_t value); /* of the open function */

uint32_t pctl_build_var(pctl_builder *b, const pctl_var *v, const char *name);
uint32_t pctl_build_override(pctl_builder *b, const char *name, uint32_t id, uint32_t type);
void pctl_build_override_default(pctl_builder *b, uint32_t override_index, uint32_t spec_value);

/* Open function `spec` (index 0; must come first, may stay empty) or another; one is open at a
 * time. Parameters are the types given; their values are 0 .. n_params-1. */
void pctl_build_spec_begin(pctl_builder *b);
void pctl_build_function_begin(pctl_builder *b, const char *name, const uint32_t *params,
			       uint32_t n_params, uint32_t return_type);
uint32_t pctl_build_function_end(pctl_builder *b); /* its index */
uint32_t pctl_build_local(pctl_builder *b, const char *name, uint32_t type);
/* Position of the instructions that follow. */
void pctl_build_origin(pctl_builder *b, const pctl_origin *o);
void pctl_build_origin_file(pctl_builder *b, uint32_t file, const char *name);
/* Append an instruction; returns its value id (meaningful when the op yields). */
uint32_t pctl_build_inst(pctl_builder *b, uint16_t op, uint32_t type, const uint32_t *args,
			 uint32_t n_args);
uint32_t pctl_build_const(pctl_builder *b, uint32_t scalar_type, uint64_t bits);
uint32_t pctl_build_op(pctl_builder *b, uint16_t op, uint32_t type, uint32_t a0,
		       uint32_t a1); /* unary, binary: 2nd ignored for unary */

void pctl_build_entry(pctl_builder *b, const pctl_entry *e, const char *name);
void pctl_build_max(pctl_builder *b, const pctl_max *m);
void pctl_build_meta(pctl_builder *b, const uint32_t max_dispatch[3], uint64_t scale);
void pctl_build_turns(pctl_builder *b, uint32_t max_turns);

/* Sort vars, drop unused types, verify, hand over. The builder is empty afterwards and must be
 * destroyed. */
pctl_status pctl_builder_finish(pctl_builder *b, const pctl_call *call, pctl_program **out);

PCTL_C_END

#endif
