/* State shared by the files that write OpenCL C. How values look in C:
 *   bool          uint, 0 or 1            vecN<bool>        uintN, each component 0 or all ones
 *   i32, u32      uint                    i64, u64          ulong  (signed operations cast for themselves)
 *   f32, f64      float, double           f16               half
 *   u16           uint below 0x10000      vectors           uintN, ulongN, floatN ..
 *   structs       struct { T0 m0; .. }    arrays, matrices  struct { T a[n]; }
 *   tiles         struct { uint a[n]; }, of f64 ulong   (tile.c, tile_float.c)
 * These last are wholes: variables that are filled in place and go by pointer (whole.c), never values of C.
 * In memory a u16 is a ushort. Storage, uniform and workgroup memory are bytes with computed offsets, so
 * WGSL's layout holds exactly; private and function variables are C variables of the value types.
 */
#ifndef PCTL_OPENCL_EMIT_INTERNAL_H
#define PCTL_OPENCL_EMIT_INTERNAL_H

#include "clc/emit.h"

/* A constant table: the words of its elements, each of `bits` bits. */
typedef struct emit_table {
	const uint32_t *words;
	uint32_t n_words;
	uint32_t bits;
} emit_table;

/* A region that is being written (control.c). */
typedef struct emit_region {
	uint16_t op;	    /* IF (of both sides), SWITCH, CASE, LOOP, BLOCK */
	uint8_t is_flat;    /* it is no block of C: its parts are labels */
	uint8_t is_inlined; /* a function that inline.c wrote out */
	uint32_t loop;	    /* the number of CONTINUING's label */
	uint32_t end;	    /* where it is flat: that of its end */
	uint32_t
		other; /* and of ELSE, EMIT_NO_LABEL once it stands; of the next CASE; the tick of a turn's begin */
	uint64_t late; /* late.c: a bit for each variable that is ready here */
} emit_region;

/* Which variables a function needs, as one byte a variable. */
typedef struct emitter {
	const pctl_program *p;
	const pctl_call *call;
	uint8_t *reached;     /* a function */
	uint8_t *has_barrier; /* a function */
	uint8_t *uses;	      /* function * n_vars + variable */
	uint8_t *is_value;    /* a type: 1 when a C variable can have it (no atomics, no runtime
				 arrays) */
	uint8_t *helper_have; /* emit_helper_slots() of them */
	emit_table *tables;
	uint32_t n_tables;
	uint32_t integer_have; /* float.c: conversions to integers written so far */
	text types;
	text helpers;
	text code;
	text scratch; /* of one memory access */
	text cond;
	const pctl_function *fn;
	uint32_t fn_index;
	uint32_t indent;
	emit_region *open; /* stack of open regions */
	uint32_t n_open;
	uint64_t late; /* late.c: as of a region, where the function begins */
	uint32_t next_label;
	uint32_t by_ticks;	/* ticks.c; of what `before` and `declared` are, too */
	uint32_t n_ticks;	/* barriers so far */
	text before;		/* what the body comes behind, while it is written */
	text declared;		/* variables for its values */
	uint32_t whole_loops;	/* open ones of emit_fill */
	uint32_t extend_have;	/* a bit a width */
	uint32_t subgroup_have; /* 1: the functions of subgroup.c are written */
	uint32_t flags;		/* EMIT_* of emit.h */
	/* What spmd/ sets while it writes one component of a value of all lanes: how many lanes, and how a value looks then.
	 * Scalars and single components are then vectors of so many lanes, bools all ones or zero. */
	uint32_t
		whole_groups; /* a work-item runs all invocations of a workgroup: nobody is waited for */
	uint32_t lanes;
	void (*lane_value)(const struct emitter *e, text *t, uint32_t v);
	const uint8_t *by_step; /* NULL, or a local: 1 where spmd/ keeps one for each step */
	pctl_status status;
} emitter;

#define EMIT_NO_LABEL 0xffffffffu

/* type.c */
void emit_find_value_types(emitter *e); /* fills e->is_value */
int emit_is_scalar_bool(const pctl_program *p, uint32_t type);
int emit_is_vector_bool(const pctl_program *p, uint32_t type);
/* The C name of a value type, in buf (at least 24 bytes). */
const char *emit_type_name(const emitter *e, uint32_t type, char *buf);
const char *emit_scalar_name(uint8_t scalar); /* uint, ulong, float, double or half */
int emit_is_float(uint8_t scalar);
void emit_types(emitter *e);
/* Arrays of at most this many elements are made and moved without a loop: rusticl (Mesa 22.3) crashes
 * on some loops over arrays in private memory, and computes others wrongly. */
#define EMIT_UNROLL 16u

/* Components of a value as it is being written, and what stands behind a C type of so many. */
uint32_t emit_width(const emitter *e, const pctl_type *t);
const char *emit_suffix(uint32_t width);
/* An expression for zero of a scalar or vector type. */
void emit_zero(emitter *e, text *t, uint32_t type);
/* Parts of a composite or vector. */
uint32_t emit_part_count(const pctl_program *p, uint32_t type);
/* ".s1", ".a[1]" or ".m1" */
void emit_part(const emitter *e, text *t, uint32_t type, uint32_t i);

/* memory.c: load or store of a scalar or vector `type` at the byte pointer expression `at` of address
 * space "global" or "local". */
void emit_load_at(emitter *e, text *t, uint32_t type, int local, const char *at);
void emit_store_at(emitter *e, text *t, uint32_t type, int local, const char *at,
		   const char *value);
void emit_memory(emitter *e, uint32_t v, const pctl_inst *in, const pctl_place *place);
/* A load of a binding that nothing uses: its bytes are asked for, which is a hint and no access, wherever they lie. */
void emit_ahead(emitter *e, const pctl_inst *in, const pctl_place *place);
/* The C variable of local i. */
void emit_local_name(const emitter *e, text *t, uint32_t i);

uint32_t emit_helper_slots(void);
/* helper.c */
/* p_extend<width>: 32 bits to 64 by the sign. Written out, because rusticl (Mesa 22.3) takes a
 * comparison of the C conversion for one of unsigned values. */
void emit_extend(emitter *e, uint32_t width);
/* The name of the helper function for an elementwise op at a scalar type and width, written to
 * e->helpers on first use. NULL when the op needs none. */
const char *emit_helper(emitter *e, uint16_t op, uint8_t scalar, uint32_t width, char *buf);

/* value.c: the C expression of a value id: a literal for constants, else its variable. */
void emit_value(const emitter *e, text *t, uint32_t v);
/* 1 and the value when v is a constant. */
int emit_constant(const emitter *e, uint32_t v, uint64_t *out);
/* The right-hand side of an instruction that computes (kinds const, elem, bool, convert, data). */
void emit_compute(emitter *e, uint32_t v, const pctl_inst *in);
/* The same without the variable: operations on scalars and vectors. */
void emit_expression(emitter *e, const pctl_inst *in);

/* whole.c: what a whole is filled with or from. The path is a C lvalue, or the expression of a byte pointer
 * in memory; nothing for zeros. */
enum { EMIT_ZEROS, EMIT_VALUE, EMIT_GLOBAL, EMIT_LOCAL };
typedef struct emit_side {
	uint32_t kind;
	text path;
} emit_side;

int emit_is_whole(const emitter *e, uint32_t type); /* matrix, array, struct or tile */
/* Statements that give `to` what `from` holds, leaf by leaf; of any type, also a single leaf. Not from memory to
 * memory. The paths come back as they were. */
void emit_fill(emitter *e, uint32_t type, emit_side *to, emit_side *from);
/* The C lvalue `to` from zeros, or from value v. */
void emit_fill_zero(emitter *e, uint32_t type, const char *to);
void emit_fill_value(emitter *e, uint32_t type, const char *to, uint32_t v);
/* "\tT v7;" */
void emit_declare(emitter *e, uint32_t v, uint32_t type);
/* Instructions that compute a whole from others. 0: this is none. */
int emit_whole(emitter *e, uint32_t v, const pctl_inst *in);

/* float.c: native operations, as an expression; pragmas for a program's floats. */
void emit_float(emitter *e, const pctl_inst *in);
void emit_float_pragmas(const pctl_program *p, text *t);
/* What stands around an expression of float type `type` that the compiler might know; nothing unless
 * EMIT_NOFOLD_FLOATS asks for it. The zero itself, written first of all. */
void emit_nofold_open(const emitter *e, text *t, uint32_t type);
void emit_nofold_close(const emitter *e, text *t, uint32_t type);
/* Argument `arg` of a choice, so that the compiler does not know both sides. */
void emit_nofold_choice(emitter *e, const pctl_inst *in, uint32_t arg);
void emit_hidden_zero(const emitter *e, text *t);

/* table.c: constant tables are found once, written before everything else, and read. */
pctl_status emit_tables_find(emitter *e);
uint64_t emit_table_bytes(const emitter *e);
void emit_tables(emitter *e);
/* The index is the instruction's where it is NULL here. */
void emit_lookup_at(emitter *e, const pctl_inst *in, const char *index);

/* subgroup.c: the right-hand side of a subgroup operation. */
void emit_subgroup(emitter *e, const pctl_inst *in);

/* tile.c: words of a tile that each lane has; a product; a load or store, whose condition and address memory.c has written
 * to e->cond and e->scratch. */
/* One move of a tile under way. */
typedef struct emit_move {
	const pctl_type *t;
	const char *space, *offset, *stride, *at; /* C expressions; of memory, the address */
	int by_rows, is_load;
} emit_move;
/* Inside a block that declares g and t. blocks: lines of factors are behind each other in workgroup memory, everyone is here. */
void emit_tile_float_move(emitter *e, const emit_move *m, const char *tile, int blocks);
void emit_tile_float_product(emitter *e, uint32_t v, const pctl_inst *in);
uint32_t emit_tile_words(const pctl_type *t);
void emit_tile_product(emitter *e, uint32_t v, const pctl_inst *in);
void emit_tile_move(emitter *e, uint32_t v, const pctl_inst *in, int local);

/* Argument i of an instruction, as emit_value writes it, to e->code. */
void emit_arg(emitter *e, const pctl_inst *in, uint32_t i);

/* emit.c */
pctl_status emit_open(emitter *e, const pctl_program *p, const pctl_call *call);
void emit_close(emitter *e);
/* Which variables function f reaches, a byte each. */
uint8_t *emit_uses(const emitter *e, uint32_t f);
void emit_function(emitter *e, uint32_t f);
/* From the kernel's head to its variables, without private ones where `whole_groups` is set. */
void emit_kernel_open(emitter *e);
/* What stands before the functions; and everything that was written, in order. */
void emit_program_begin(emitter *e, text *out);
pctl_status emit_program_end(emitter *e, text *out);
void emit_indent(emitter *e);
/* Workgroups of one invocation wait for nobody: their barriers are left out (PoCL 3.1 crashes while
 * it compiles such a barrier in a loop). */
int emit_is_alone(const emitter *e);
/* "\tT v7 = " */
void emit_define(emitter *e, uint32_t v, uint32_t type);
int emit_is_binding(const pctl_var *v);
int emit_opens_region(uint16_t op);
int emit_closes_region(uint16_t op);

/* control.c: an instruction of control. */
void emit_control(emitter *e, uint32_t v, const pctl_inst *in);

/* ticks.c: what a function needs at its beginning, around its body; a barrier with those fences; the end of the kernel. */
void emit_control_begin(emitter *e);
void emit_body_begin(emitter *e);
void emit_body_end(emitter *e);
void emit_barrier(emitter *e, const char *fences);
void emit_last_tick(emitter *e);
/* A new tick, where label t<tick> is to be written; and to it at once, without a barrier. */
uint32_t emit_tick(emitter *e);
void emit_to_tick(emitter *e, uint32_t tick);
/* A zero that hangs on the invocation (loop.c). */
#define EMIT_LANE_ZERO "lane_zero"
/* Is the region that instruction v of the function opens written flat? */
int emit_region_is_flat(const emitter *e, uint32_t v);
const pctl_inst *emit_inst(const emitter *e, uint32_t i);
/* A flag of BLOCK: a function that inline.c wrote out; of RETURN: from there. */
#define EMIT_INLINED 0x8000u

/* loop.c: what a function's loops need, at its beginning; LOOP_TEST, instruction v, with the statement that leaves. */
void emit_loop_zero(emitter *e);
void emit_loop_test(emitter *e, uint32_t v, const pctl_inst *in, const char *leave);

/* late.c: private arrays that are made zero late, with a flag z<number> beside q<number>. emit_late writes that for those which the function names from
 * instruction i on, within the region and under no condition of its own, and gives all that are ready then. */
int emit_is_late(const emitter *e, uint32_t v);
uint64_t emit_late(emitter *e, uint32_t i);
/* 1: a store of zero to the whole of one that is not ready here was written, as the flag. */
int emit_begins_again(emitter *e, const pctl_inst *in, const pctl_place *place);

/* call.c: the program's variables that a function uses, as parameters or as arguments. */
void emit_call_variables(emitter *e, text *t, uint32_t function, const char *separator,
			 int declare);
void emit_call(emitter *e, uint32_t v, const pctl_inst *in);
void emit_return(emitter *e, const pctl_inst *in);
void emit_function_head(emitter *e, uint32_t f);

#endif
