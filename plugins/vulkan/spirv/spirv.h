/* The SPIR-V writer of the vulkan backend: one specialised program in, the words of one SPIR-V 1.3
 * module out. It knows nothing of Vulkan objects; kernel.c turns its words into a pipeline.
 *
 * Three representation choices run through every file of it. Integers are OpTypeInt with signedness 0
 * throughout (the instruction says whether an operation is signed), so that i32 and u32 share one
 * type and a bitcast between them is no instruction at all. A composite type has two forms: an `explicit_layout`
 * with offsets and strides for uniform and storage blocks, `plain` without for everything else;
 * values are plain, and a composite crosses between the two leaf by leaf, which also never touches
 * padding. A u16 is 16 bits in a block alone: as a value it is a 32-bit one below 0x10000, because a
 * device that stores 16 bits need not compute with them.
 */
#ifndef PIPECTL_VULKAN_SPIRV_H
#define PIPECTL_VULKAN_SPIRV_H

#include <spirv/unified1/spirv.h>
#include <spirv/unified1/GLSL.std.450.h>

#include <stdlib.h>

#include "pipectl/program.h"

#define PCTL_SPV_MAX_BINDINGS 64u
/* Arrays with more leaves than this are moved by a loop. */
#define PCTL_SPV_UNROLL 64u
/* The most instructions one value may take to be moved or made. */
#define PCTL_SPV_MAX_INSTRUCTIONS 16384u

typedef struct pctl_spv_words {
	uint32_t *at;
	uint32_t n;
	uint32_t capacity;
} pctl_spv_words;

/* Sets of float widths: PCTL_SPV_WIDTH(16), (32), (64). */
#define PCTL_SPV_WIDTH(bits) ((bits) >> 4)

/* Where two widths of a program must not differ in a mode. The numbers are Vulkan's. */
enum { PCTL_SPV_TIED_16_64 = 0, PCTL_SPV_TIED_NONE = 1, PCTL_SPV_TIED_ALL = 2 };

/* What the device promises to keep of floats when asked (SPV_KHR_float_controls), as sets of widths:
 * signed zeros, infinities and NaN; subnormals; rounding to nearest even. */
typedef struct pctl_spv_controls {
	uint32_t signed_zero;
	uint32_t denormals;
	uint32_t nearest;
	uint32_t denormals_tied; /* PCTL_SPV_TIED_* */
	uint32_t nearest_tied;
} pctl_spv_controls;

/*
 * What the device lets the writer use.
 *
 * memory_model   the Vulkan memory model may be declared, its device scope too
 * dot4           it has packed 4x8-bit dot products (SPV_KHR_integer_dot_product)
 * subgroup       lanes of its subgroups, which are consecutive local indices; 0: it has none for us
 * reconverges    they meet again wherever control flow as it is written does (SPV_KHR_maximal_reconvergence)
 * uniform_flow   lanes of a subgroup that parted meet again where the construct ends at which they did (SPV_KHR_subgroup_uniform_control_flow)
 * uniform_bytes  largest uniform block, 0: none at all; a larger uniform becomes a read-only
 *                storage block
 * null_vars      bit v: variable v is bound to nothing, every access to it misses
 */
typedef struct pctl_spv_options {
	uint32_t memory_model;
	uint32_t dot4;
	uint32_t uniform_bytes;
	uint64_t null_vars;
	uint32_t opaque_constants; /* opaque.c: the driver must not find constants */
	uint32_t opaque_floats;	   /* nofold.c: widths whose constants it must not find */
	uint32_t subgroup;
	uint32_t uniform_flow;
	uint32_t reconverges;
	uint32_t int64; /* the device has 64-bit integers */
	uint32_t
		rest_leaves; /* entry.c: what fills up the last vector of a workgroup is told to leave */
	pctl_spv_controls controls;
} pctl_spv_options;

/*
 * What one uniform or storage variable asks of its binding; its index is the variable's and the
 * number of its descriptor in set 0.
 *
 * uniform      1: a uniform block, 0: a storage block
 * fixed_bytes  bytes before the runtime array, or of the whole type
 * stride       of the runtime array's elements, 0 where there is none
 * length_slot  word of the push constants that carries the runtime array's length
 */
typedef struct pctl_spv_binding {
	uint32_t group;
	uint32_t binding;
	uint32_t uniform;
	uint32_t writable;
	uint32_t fixed_bytes;
	uint32_t stride;
	uint32_t length_slot;
} pctl_spv_binding;

typedef struct pctl_spv_interface {
	pctl_spv_binding bindings[PCTL_SPV_MAX_BINDINGS];
	uint32_t n_bindings;
	uint32_t n_lengths;
	uint32_t has_tables; /* descriptor n_bindings is the storage block of the constant tables */
} pctl_spv_interface;

/* The interface of the program's variables. 0 when there are more than PCTL_SPV_MAX_BINDINGS. */
int pctl_spv_interface_get(const pctl_program *p, const pctl_spv_options *opt,
			   pctl_spv_interface *out);

/* The most instructions or operands that moving or making one value of the program takes,
 * saturating. A program over PCTL_SPV_MAX_INSTRUCTIONS is not to be written. */
uint32_t pctl_spv_instruction_count(const pctl_program *p);

/*
 * Write the module of the program's first entry point, named "main". out->at is released with
 * free(). Errors: PCTL_E_NOMEM; PCTL_E_UNSUPPORTED for an opcode or type that this writer does not
 * know (pctl_vk_supports refuses those programs first).
 */
pctl_status pctl_spv_write(const pctl_program *p, const pctl_spv_options *opt, pctl_spv_words *out);

/* What the block of tables holds, *n words; released with free(). NULL: no memory. */
uint32_t *pctl_spv_table_block(const pctl_program *p, uint32_t *n);

/* ---- between the files of the writer ---- */

typedef struct pctl_spv_entry {
	uint32_t key[4];
	uint32_t id;
} pctl_spv_entry;

/* A constant table of the program: the words of its elements of `bits` bits, and where the block of
 * all tables has them, counted in elements. */
typedef struct pctl_spv_table {
	const uint32_t *words;
	uint32_t n_words;
	uint32_t bits;
	uint32_t base;
} pctl_spv_table;

enum { PCTL_SPV_IF, PCTL_SPV_LOOP, PCTL_SPV_SWITCH };

/* One open region. next: the ELSE label of an IF, the header of a LOOP, the next CASE label. */
typedef struct pctl_spv_region {
	uint32_t kind;
	uint32_t merge;
	uint32_t next;
	uint32_t go_on; /* continue target of a LOOP */
} pctl_spv_region;

typedef struct pctl_spv {
	const pctl_program *p;
	const pctl_spv_options *opt;
	pctl_spv_interface interface;
	const pctl_function *fn;  /* being written */
	pctl_status status;	  /* the first failure; nothing is appended after it */
	uint32_t bound;		  /* next free id */
	uint32_t glsl;		  /* the imported GLSL.std.450 */
	uint32_t block;		  /* label of the open block, 0: none is open */
	uint32_t vulkan_model;	  /* the module declares the Vulkan memory model */
	uint32_t storage_barrier; /* the program holds a storage barrier */
	pctl_spv_words decorations, globals, functions, variables, body, inputs;
	pctl_spv_words opening; /* what fn does before its own code */
	pctl_spv_entry *map;	/* ids of types and constants by what they are */
	uint32_t n_map, map_capacity;
	uint32_t *plain, *explicit_layout; /* by type */
	uint32_t *vars;			   /* by module variable */
	uint32_t *fns;			   /* by function */
	uint32_t *values;		   /* by value of fn */
	uint32_t *locals;		   /* by local of fn */
	uint32_t *leaves;		   /* by type: scalars and vectors in it, saturating */
	uint32_t lengths[PCTL_SPV_MAX_BINDINGS]; /* loaded at the entry of fn, by variable */
	uint32_t push;				 /* the push constant block */
	uint32_t uses_dot;
	uint32_t subgroup_caps; /* bit i: SpvCapabilityGroupNonUniform + i */
	uint32_t is_flat;	/* subgroup.c: local indices are those of the first dimension */
	uint32_t float_widths;	/* of the native operations */
	pctl_spv_table *tables;
	uint32_t n_tables;
	uint32_t table_words, table_pairs; /* the block of tables as u32 and as vec2<u32> */
	uint32_t builtins[8];
	uint32_t opaque_zero[5], opaque_false[5]; /* by width, of fn */
	uint32_t hidden_zero[2][5];		  /* 32 and 64 bits, by width, of fn */
	uint32_t uses_int64;
	pctl_spv_region *regions, nowhere; /* nowhere: what is opened without memory */
	uint32_t n_regions, regions_capacity;
} pctl_spv;

/* words.c: ids, words, blocks. */
uint32_t pctl_spv_id(pctl_spv *e);
void pctl_spv_fail(pctl_spv *e, pctl_status status);
void pctl_spv_append(pctl_spv *e, pctl_spv_words *w, const uint32_t *words, uint32_t n);
void pctl_spv_inst(pctl_spv *e, pctl_spv_words *w, SpvOp op, const uint32_t *operands, uint32_t n);
uint32_t pctl_spv_value(pctl_spv *e, SpvOp op, uint32_t type, const uint32_t *operands, uint32_t n);
void pctl_spv_effect(pctl_spv *e, SpvOp op, const uint32_t *operands, uint32_t n);
void pctl_spv_label(pctl_spv *e, uint32_t label);
void pctl_spv_branch(pctl_spv *e, uint32_t label); /* nothing when no block is open */
void pctl_spv_branch_if(pctl_spv *e, uint32_t condition, uint32_t yes, uint32_t no, uint32_t merge);
int pctl_spv_string(pctl_spv *e, const char *s, uint32_t *words, uint32_t capacity, uint32_t *n);

#define PCTL_SPV_N(...) (uint32_t)(sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))
#define PCTL_SPV_PUT(e, w, op, ...) \
	pctl_spv_inst(e, w, op, (const uint32_t[]){__VA_ARGS__}, PCTL_SPV_N(__VA_ARGS__))
#define PCTL_SPV_VALUE(e, op, type, ...) \
	pctl_spv_value(e, op, type, (const uint32_t[]){__VA_ARGS__}, PCTL_SPV_N(__VA_ARGS__))
#define PCTL_SPV_EFFECT(e, op, ...) \
	pctl_spv_effect(e, op, (const uint32_t[]){__VA_ARGS__}, PCTL_SPV_N(__VA_ARGS__))
#define PCTL_SPV_GLSL(e, type, inst, ...) \
	PCTL_SPV_VALUE(e, SpvOpExtInst, type, (e)->glsl, (uint32_t)(inst), __VA_ARGS__)

/* types.c: types and constants, each declared once. bits is 1 (bool), 32 or 64, in a float also
 * 16; width 1..4. is_narrow: u16, whose values have 32 bits. */
typedef struct pctl_spv_shape {
	uint32_t bits;
	uint32_t width;
	uint32_t is_signed;
	uint32_t is_float;
	uint32_t is_narrow;
} pctl_spv_shape;
int pctl_spv_types_declare(pctl_spv *e);
int pctl_spv_shape_get(const pctl_program *p, uint32_t type,
		       pctl_spv_shape *out);	    /* 0: a composite */
int pctl_spv_blocks_hold_16(const pctl_program *p); /* u16 or f16 in uniform or storage memory */
int pctl_spv_is_block(const pctl_program *p,
		      uint32_t type); /* a struct that ends in a runtime array */
uint32_t pctl_spv_void(pctl_spv *e);
uint32_t pctl_spv_type(pctl_spv *e, uint32_t bits, uint32_t width); /* of integers */
uint32_t pctl_spv_shape_type(pctl_spv *e, pctl_spv_shape s);
uint32_t pctl_spv_pointer(pctl_spv *e, SpvStorageClass class, uint32_t type);
uint32_t pctl_spv_const(pctl_spv *e, uint32_t bits, uint32_t width, uint64_t value);
uint32_t pctl_spv_shape_const(pctl_spv *e, pctl_spv_shape s, uint64_t bits); /* in every lane */
uint32_t pctl_spv_null(pctl_spv *e, uint32_t type);
uint32_t pctl_spv_intern(pctl_spv *e, SpvOp op, uint32_t a, uint32_t b, uint32_t c, int *fresh);
static inline uint32_t pctl_spv_u32(pctl_spv *e, uint32_t value)
{
	return pctl_spv_const(e, 32, 1, value);
}

/* elem.c, bits.c, data.c: instructions that compute. */
uint32_t pctl_spv_arg(const pctl_spv *e, const pctl_inst *in,
		      uint32_t i); /* id of value argument i */
uint32_t pctl_spv_select(pctl_spv *e, pctl_spv_shape s, uint32_t condition, uint32_t yes,
			 uint32_t no);
/* The lanes of a value made of literals alone; their number, or 0. */
uint32_t pctl_spv_literal(const pctl_spv *e, uint32_t value, uint64_t out[4]);
uint32_t pctl_spv_elem(pctl_spv *e, const pctl_inst *in);
uint32_t pctl_spv_bits(pctl_spv *e, const pctl_inst *in);
uint32_t pctl_spv_data(pctl_spv *e, const pctl_inst *in);
uint32_t pctl_spv_choose(pctl_spv *e, uint32_t type, uint32_t condition, uint32_t yes, uint32_t no);

/* float.c: native operations; the widths that a program uses; execution modes for them. */
uint32_t pctl_spv_float(pctl_spv *e, const pctl_inst *in);
uint32_t pctl_spv_float_widths(const pctl_program *p);
int pctl_spv_mode_capabilities(pctl_spv *e, pctl_spv_words *out); /* 0: there are none */
void pctl_spv_mode_declare(pctl_spv *e, pctl_spv_words *out, uint32_t main_id);

/* subgroup.c: the size of a program's subgroups (0: it has none); capabilities, once all is written. A program with
 * subgroups has its workgroup laid out in one dimension, so that full subgroups may be asked of Vulkan. */
uint32_t pctl_spv_subgroup(pctl_spv *e, const pctl_inst *in);
uint32_t pctl_spv_subgroup_size(const pctl_program *p);
void pctl_spv_subgroup_capabilities(pctl_spv *e, pctl_spv_words *out);

/* table.c: constant tables. find: 0 when there is no memory. */
int pctl_spv_tables_find(const pctl_program *p, pctl_spv_table **out, uint32_t *n_out);
uint32_t pctl_spv_lookup(pctl_spv *e, const pctl_inst *in);

/* opaque.c: begin once a function; the same value, unknown to the driver where it must be. */
void pctl_spv_opaque_begin(pctl_spv *e);
uint32_t pctl_spv_opaque(pctl_spv *e, pctl_spv_shape s, uint32_t value);
void pctl_spv_opaque_value(pctl_spv *e, uint32_t index);

/* nofold.c: begin once a function, before the locals; then every value of it. */
void pctl_spv_nofold_begin(pctl_spv *e);
void pctl_spv_nofold_locals(pctl_spv *e);
void pctl_spv_nofold_value(pctl_spv *e, uint32_t index);
/* One side of a choice between integers, such that the driver does not know both. */
uint32_t pctl_spv_nofold_choice(pctl_spv *e, const pctl_inst *in, pctl_spv_shape s, uint32_t value);

/* tile.c: matrix tiles as cooperative matrices, in modules that declare the Vulkan memory model. The word at which a move
 * begins; the move itself, through a pointer to that word. */
uint32_t pctl_spv_tile_type(pctl_spv *e, const pctl_type *t);
uint32_t pctl_spv_tile_zero(pctl_spv *e, uint32_t type); /* by its number in the program */
uint32_t pctl_spv_tile_product(pctl_spv *e, const pctl_inst *in);
uint32_t pctl_spv_tile_index(pctl_spv *e, const pctl_inst *in);
uint32_t pctl_spv_tile_move(pctl_spv *e, const pctl_inst *in, uint32_t pointer,
			    SpvStorageClass class);

/* place.c, tree.c: memory. */
uint32_t pctl_spv_memory_operand(const pctl_spv *e, SpvStorageClass class);
SpvStorageClass pctl_spv_class(const pctl_spv *e, uint32_t var);
uint32_t pctl_spv_memory(pctl_spv *e, const pctl_inst *in);
void pctl_spv_barrier(pctl_spv *e, uint32_t mask);
uint32_t pctl_spv_raw_load(pctl_spv *e, uint32_t type, uint32_t pointer, SpvStorageClass class);
void pctl_spv_raw_store(pctl_spv *e, uint32_t pointer, uint32_t value, SpvStorageClass class);
uint32_t pctl_spv_tree_load(pctl_spv *e, uint32_t type, uint32_t pointer, SpvStorageClass class);
void pctl_spv_tree_store(pctl_spv *e, uint32_t type, uint32_t pointer, uint32_t value,
			 SpvStorageClass class);
uint32_t pctl_spv_variable(pctl_spv *e, uint32_t type, uint32_t initial); /* function memory */

/* A counted loop written by the writer itself: i from `first`, step `step`, while i < limit. */
typedef struct pctl_spv_counted {
	uint32_t i;
	uint32_t next;
	uint32_t step;
	uint32_t header, go_on, merge;
} pctl_spv_counted;
void pctl_spv_for(pctl_spv *e, uint32_t first, uint32_t limit, uint32_t step,
		  pctl_spv_counted *out);
void pctl_spv_end_for(pctl_spv *e, const pctl_spv_counted *c);

/* flow.c, entry.c. */
void pctl_spv_function(pctl_spv *e, uint32_t index, int is_entry);
void pctl_spv_control(pctl_spv *e, uint32_t index, const pctl_inst *in);
uint32_t pctl_spv_builtin(pctl_spv *e, uint32_t builtin);
void pctl_spv_globals_declare(pctl_spv *e);
void pctl_spv_prologue(pctl_spv *e);

#endif
