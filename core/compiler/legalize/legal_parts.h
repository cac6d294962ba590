/* What the files of the legaliser share: one program being rebuilt into another, instruction by
 * instruction, in up to two passes.
 *
 * The float pass (float_*.c) turns strict programs into what a device does: f32 becomes u32 and f64 u64 wherever
 * their bits can be seen, 16-bit floats u32 as values and u16 in storage and uniform memory; operations
 * become native ones between bitcasts or calls of forms.
 *
 * The wide pass (wide_*.c, soft64_*.c) turns scalars of 64 bits that the device lacks, or does not
 * get right, into vec2<u32>, least significant word first. A vector of them is, as a value, one
 * vec2<u32> a component; in memory, in composites and in calls it is array<vec2<u32>, n> at the very
 * same bytes. Where an array's stride asks for more (vec3), the element is a struct around it whose
 * alignment makes up the difference.
 */
#ifndef PIPECTL_COMPILER_LEGALIZE_LEGAL_PARTS_H
#define PIPECTL_COMPILER_LEGALIZE_LEGAL_PARTS_H

#include "compiler/legalize/legal.h"

/* What a value of the old program has become. Wide pass: one value, or one a component for a vector of
 * wide scalars. Float pass: id[LEGAL_BITS] the bits (and every value that is no f32 or f64),
 * id[LEGAL_RAW] the native value, as far as the plan says that they are made. */
typedef struct legal_value {
	uint32_t id[4];
} legal_value;
enum { LEGAL_BITS = 0, LEGAL_RAW = 1 };

typedef struct legal_flag {
	uint32_t function; /* of the new program */
	uint32_t value;
	uint16_t flags;
} legal_flag;

typedef struct legal legal;

/* What a pass does with the program it reads. */
typedef struct legal_rules {
	/* The new type of an old one; called once a type. */
	uint32_t (*type)(legal *l, uint32_t type);
	/* The same in storage and uniform memory; NULL: no different. */
	uint32_t (*stored)(legal *l, uint32_t type);
	/* The new type of the open function's local. */
	uint32_t (*local)(legal *l, uint32_t local);
	void (*instruction)(legal *l, uint32_t v, const pctl_inst *in);
	/* 1: function f of the source is left out, for nothing calls it any more; may be NULL. */
	int (*left_out)(const legal *l, uint32_t f);
	/* Look at l->fn before it is rebuilt; may be NULL. 0: failed, status is set. */
	int (*plan)(legal *l);
	/* Variables that the new program has besides; may be NULL. */
	void (*variables)(legal *l);
} legal_rules;

typedef struct legal_chooser legal_chooser;
struct flattener;
struct legal_floats;
struct legal_hoister;
struct legal_inliner;
struct legal_loop_versioner;
struct legal_int64;
struct legal_numberer;
struct legal_unroller;
struct legal_subgroups;
struct legal_tiles;
struct legal_native_tiles;
struct legal_turns;
struct legal_blocks;

struct legal {
	const pctl_program *p; /* being read */
	const pctl_call *call;
	const legal_rules *rules;
	pctl_builder *b; /* being written */
	const pctl_function *fn;
	uint32_t function;     /* number of fn in p */
	uint32_t new_function; /* index the open function will have */
	uint32_t *types;       /* old type to new, 0 not yet */
	uint32_t *stored;      /* the same for storage and uniform memory */
	uint8_t *is_int64;     /* an old type: holds a scalar of int64_scalars */
	uint8_t *is_linking;   /* an old function that is being linked */
	uint32_t *functions;   /* old function to new */
	legal_value *values;   /* of the function being read */
	legal_flag *flags;
	uint32_t n_flags, flags_capacity;
	uint32_t int64_scalars; /* set of 1 << PCTL_SCALAR_* */
	const legal_chooser *chooser;
	struct legal_floats *floats; /* of the float pass */
	struct legal_int64 *int64;   /* of the wide pass */
	const struct legal_inliner *inliner;
	struct legal_hoister *hoister;
	struct legal_numberer *numberer;
	struct legal_loop_versioner *versioner;
	struct legal_lengths *lengths;
	struct flattener *flattener;
	struct legal_unroller *unroller;
	struct legal_subgroups *subgroups;
	struct legal_tiles *tiles;
	struct legal_native_tiles *native_tiles;
	struct legal_turns *turns;
	struct legal_blocks *blocks;
	const uint32_t
		*renamed; /* by local of the source: 1 + the one that stands for it; may be NULL */
	const uint32_t *
		variables; /* by module variable of the source: the one that stands for it; NULL: the same number */
	const uint8_t *
		recast; /* by module variable of the source: the PCTL_SCALAR_* of 32 bits whose array stands for it, 0: its own; NULL: of all */
	const uint32_t *
		counts; /* by module variable: elements of the array that stands for a runtime array, or 0; with recast */
	uint32_t
		local_base; /* added to the number of a local of the source: its place in the open function */
	uint32_t t_u32, t_i32, t_bool, t_u2, t_b2;
	uint32_t is_main; /* reading the program itself, not the forms: its positions are kept */
	pctl_status status;
};

/* rebuild.c */
void legal_refuse_memory(legal *l);
/* Read `p` by `rules` from here on, with fresh type and function maps. 0: no memory. */
int legal_source_open(legal *l, const pctl_program *p, const legal_rules *rules,
		      uint32_t int64_scalars);
void legal_source_close(legal *l);
/* Rebuild function f of the source; returns its new index. */
uint32_t legal_function(legal *l, uint32_t f);
uint32_t legal_emit(legal *l, uint16_t op, uint32_t type, const uint32_t *args, uint32_t n);
/* Shorthands; the arguments are made before the call, so that C's order of evaluation never shows. */
uint32_t legal_emit1(legal *l, uint16_t op, uint32_t type, uint32_t a);
uint32_t legal_emit2(legal *l, uint16_t op, uint32_t type, uint32_t a, uint32_t b);
uint32_t legal_emit3(legal *l, uint16_t op, uint32_t type, uint32_t a, uint32_t b, uint32_t c);
uint32_t legal_word(legal *l, uint32_t k); /* a constant u32 */
void legal_keep_flags(legal *l, uint32_t value, uint16_t flags);
/* Copy an instruction whose operands and result stay single values. */
void legal_copy(legal *l, uint32_t v, const pctl_inst *in);
/* The arguments of one instruction under construction. */
typedef struct legal_arguments {
	uint32_t *words;
	uint32_t n;
} legal_arguments;
int legal_arguments_open(legal *l, legal_arguments *a, uint32_t most);
/* Append the place: the same path, with a step into the wrapper where one was put around an element.
 * Returns the proofs that go with it. */
uint16_t legal_place(legal *l, const pctl_inst *in, const pctl_place *place, legal_arguments *a);
void legal_memory(legal *l, uint32_t v, const pctl_inst *in, const pctl_place *place);
/* The operands of an instruction that are values, indices of a place included. Starts with l and in set. */
typedef struct legal_operands {
	const legal *l;
	const pctl_inst *in;
	const char *letter; /* of ops.def, for argument i */
	uint32_t i;	    /* argument to look at next */
	uint32_t type;	    /* of the place, once in the chain */
} legal_operands;
/* The next operand that is a value; 0: no more. *i is its argument number. */
int legal_next_operand(legal_operands *o, uint32_t *i, uint32_t *value);
/* Position of an instruction of the source. */
pctl_pos legal_position(const legal *l, uint32_t v);
/* A new program from p. link: called before p's functions are rebuilt, with p as the source. */
pctl_status legal_rebuild(legal *l, const pctl_program *p, const legal_rules *rules,
			  uint32_t int64_scalars, pctl_status (*link)(legal *l),
			  pctl_program **out);

/* legal_type.c */
uint32_t legal_type(legal *l, uint32_t type);
/* The same for storage and uniform memory, where 16-bit floats are u16. */
uint32_t legal_stored_type(legal *l, uint32_t type);
/* A struct whose members keep their offsets, of types that `part` gives. */
uint32_t legal_struct(legal *l, const pctl_type *t, uint32_t (*part)(legal *l, uint32_t type));

/* int64_type.c */
extern const legal_rules legal_int64_rules;
void legal_int64_instruction(legal *l, uint32_t v, const pctl_inst *in);
int legal_is_int64_scalar(const legal *l, uint32_t type);
int legal_is_int64_vector(const legal *l, uint32_t type);
void legal_find_int64(legal *l);
/* The type an array or matrix of the old type `type` stands for in memory has as its element. */
uint32_t legal_elem_type(legal *l, uint32_t type);
/* 1 when such an element is wrapped in a struct. */
int legal_is_wrapped(const legal *l, uint32_t type);

/* int64.c: the pass over the program, with integer forms from one module and soft doubles from the other. by_softfloat: what
 * is left of 64-bit integers is divided by forms, too. */
pctl_status legal_int64_pass(const pctl_program *p, uint32_t int64_scalars, uint32_t by_softfloat,
			     pctl_softfloat *forms, const pctl_call *call, pctl_program **out);

/* div64.c: the form that divides the 64-bit integers of an instruction which stay what they are; LEGAL_N_INT64: none. */
uint32_t legal_div64_form(const legal *l, const pctl_inst *in);
void legal_div64_divide(legal *l, uint32_t v, const pctl_inst *in);

/* int64_value.c */
/* One new value for the old value v, in the form it has in memory; and the reverse. */
uint32_t legal_packed(legal *l, uint32_t v);
void legal_set_packed(legal *l, uint32_t v, uint32_t id);
/* Component k of the old value v (the value itself for a scalar). */
uint32_t legal_lane(legal *l, uint32_t v, uint32_t k);
/* An instruction on composites, conversions or products that touches wide scalars. */
void legal_int64_data(legal *l, uint32_t v, const pctl_inst *in);

/* int64_op.c */
uint32_t legal_pair(legal *l, uint32_t low, uint32_t high);
uint32_t legal_low(legal *l, uint32_t x);
uint32_t legal_high(legal *l, uint32_t x);
uint32_t legal_int64_add(legal *l, uint32_t a, uint32_t b);
uint32_t legal_int64_mul(legal *l, uint32_t a, uint32_t b);
/* An elementwise instruction with a wide operand or result. */
void legal_int64_elem(legal *l, uint32_t v, const pctl_inst *in);

/* soft64.c */
enum {
	LEGAL_INT64_MUL,
	LEGAL_INT64_UDIV,
	LEGAL_INT64_UMOD,
	LEGAL_INT64_SDIV,
	LEGAL_INT64_SMOD,
	LEGAL_DIV64_UDIV,
	LEGAL_DIV64_UMOD,
	LEGAL_DIV64_SDIV,
	LEGAL_DIV64_SMOD,
	LEGAL_N_INT64
};
enum {
#define LEGAL_SOFT64(NAME, op, result, operand, function) LEGAL_SOFT_##NAME,
#include "compiler/legalize/soft64.def"
#undef LEGAL_SOFT64
	LEGAL_N_SOFT
};
struct legal_int64 {
	pctl_softfloat *forms;
	const pctl_program *source;
	uint32_t scalars;
	uint32_t by_softfloat;	       /* 64-bit integers that stay are divided by forms */
	uint32_t int64[LEGAL_N_INT64]; /* functions of the new program, 0 not linked */
	uint32_t soft[LEGAL_N_SOFT];
};
/* The soft double that an instruction of the source calls; LEGAL_N_SOFT: none. */
uint32_t legal_soft64_form(const legal *l, const pctl_inst *in);
const char *legal_soft64_name(uint32_t form);
/* One component of a native operation on f64. */
uint32_t legal_soft64_op(legal *l, uint16_t op, const uint32_t *args);
uint32_t legal_soft64_convert(legal *l, uint8_t result, uint8_t operand, uint32_t x);

/* softfloat.c */
/* The module of the forms that are about integers of 64 bits, or of all others. */
pctl_status legal_softfloat_int64(pctl_softfloat *f, const pctl_call *call,
				  const pctl_program **out);
pctl_status legal_softfloat_float(pctl_softfloat *f, const pctl_call *call,
				  const pctl_program **out);
uint32_t legal_find_function(const pctl_program *p, const char *name);
/* 1: the text of the forms has such a function. */
uint32_t legal_softfloat_have(const char *name);
/* What a call of function f of the source becomes a call of: f, or its alias. */
uint32_t legal_callee(const legal *l, uint32_t f);
/* Copy function f of the source and what it calls, callees first; returns its new index. A chain of
 * calls is as deep as the text of the forms makes it. */
uint32_t legal_link(legal *l, uint32_t f);

/* choose.c */
#define LEGAL_NO_ROW 0xffffffffu
typedef struct legal_row {
	uint16_t op;
	uint8_t result, operand; /* result: of FCONVERT only */
	uint8_t kind;
	const char *function, *needs;
} legal_row;
/* Which rows are open on a device. module NULL: whether a function is there is seen in the text. */
pctl_status legal_chooser_create(const pctl_profile *profile, const pctl_device_caps *caps,
				 uint32_t flags, const pctl_program *module, const pctl_call *call,
				 legal_chooser **out);
void legal_chooser_destroy(legal_chooser *c);
/* What strict operation `op` takes. how: what to do with operands and result. */
enum { LEGAL_AS_IS = 0, LEGAL_SWAPPED = 1, LEGAL_NEGATED = 2, LEGAL_UNFUSED = 3 };
uint32_t legal_choose(const legal_chooser *c, uint16_t op, uint8_t result, uint8_t operand,
		      uint32_t *how);
/* The native operation, where no subnormal can come near it; LEGAL_NO_ROW: not even then. */
uint32_t legal_choose_subnormal_free(const legal_chooser *c, uint16_t op, uint8_t result,
				     uint8_t operand);
/* A product and a sum of f64 one after the other, both native, where the product is exact; LEGAL_NO_ROW: not here. */
uint32_t legal_choose_unfused(const legal_chooser *c);
const legal_row *legal_row_at(uint32_t row);
uint32_t legal_n_rows(void);
/* The function of the module that row `row` names, 0: none. */
uint32_t legal_row_function(const legal_chooser *c, uint32_t row);
/* What function f of the module is replaced by within other forms: f itself, or an alias of it. */
uint32_t legal_alias(const legal_chooser *c, uint32_t f);
/* 1: every f64 operation that p uses is exact. */
int legal_f64_is_exact(const legal_chooser *c, const pctl_program *p);
int legal_is_approximate(const legal_chooser *c);
pctl_status legal_refuse_operation(const legal *l, uint32_t v, const pctl_inst *in);

/* inline.c: small functions written out where they are called. *out NULL with PCTL_OK: there is nothing to do. */
/* dot4.c */
pctl_status legal_dot4_pass(const pctl_program *p, const pctl_call *call, pctl_program **out);
pctl_status legal_inline_pass(const pctl_program *p, const pctl_call *call, pctl_program **out);

/* subgroup.c: subgroup operations through workgroup memory, but for those of the PCTL_SUBGROUP_* in `kept`. p has one
 * entry point. */
pctl_status legal_subgroup_pass(const pctl_program *p, uint32_t kept, const pctl_call *call,
				pctl_program **out);

/* tile.c: matrix tiles as ordinary code. p has one entry point. */
pctl_status legal_tile_pass(const pctl_program *p, const pctl_call *call, pctl_program **out);
/* tile_native.c: matrix tiles by the device's own. */
pctl_status legal_tile_native_pass(const pctl_program *p, const pctl_call *call,
				   pctl_program **out);
/* Bytes of workgroup memory that either pass adds at most. */
uint64_t legal_tile_bytes(const pctl_program *p, uint32_t exact);

/* loop_version.c: loops written twice, once for values that are not tiny. *out NULL with PCTL_OK: there is nothing to
 * do. assumed: by instruction of *out, the lsb it may be taken to have; the caller frees it. */
pctl_status legal_loop_version_pass(const pctl_program *p, const legal_chooser *chooser,
				    const pctl_call *call, int16_t **assumed, pctl_program **out);

/* hoist.c: what gives the same in every turn of a loop before the loop; number.c: what was computed already not again. *out
 * NULL with PCTL_OK: there is nothing to do. */
pctl_status legal_hoist_pass(const pctl_program *p, const pctl_call *call, pctl_program **out);
pctl_status legal_number_pass(const pctl_program *p, const pctl_call *call, pctl_program **out);

/* lengths.c: loops over runtime arrays twice, one copy without checks. *out NULL with PCTL_OK: there is nothing to do. */
pctl_status legal_lengths_pass(const pctl_program *p, const pctl_call *call, pctl_program **out);

/* unroll.c: loops of few turns written out, where that gives local arrays constant indices. *out NULL with PCTL_OK: there is
 * nothing to do. */
pctl_status legal_unroll_pass(const pctl_program *p, const pctl_call *call, pctl_program **out);

/* flatten.c: conditions one after the other instead of inside each other, where they are more than `limit` levels deep.
 * *out NULL with PCTL_OK: there is nothing to do, or it would not become less deep. */
pctl_status legal_flatten_pass(const pctl_program *p, uint32_t limit,
			       const pctl_analysis_query *known, const pctl_call *call,
			       pctl_program **out);
/* The same however deep it is before and after; NULL: too large. p has one entry point. */
pctl_status legal_flatten(const pctl_program *p, uint32_t limit, const pctl_call *call,
			  pctl_program **out);

/* contract.c: whether all that is guarded in p goes without guards under contracts on these variables. */
struct pctl_contract_proof;
pctl_status legal_contract_prove(const pctl_program *p, const uint8_t *contracts,
				 const legal_chooser *chooser, const pctl_call *call,
				 struct pctl_contract_proof *proof);

/* float.c. assumed: as above, or NULL. contracts: of exponent_range.h, or NULL. */
pctl_status legal_float_pass(const pctl_program *p, const int16_t *assumed,
			     const uint8_t *contracts, const legal_chooser *chooser,
			     const pctl_program *module, const pctl_call *call, pctl_program **out);

#endif
