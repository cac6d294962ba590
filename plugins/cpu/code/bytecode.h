/* The state of making prepared code (code.h) from a program, shared by the bytecode_*.c files. */
#ifndef PCTL_CPU_BYTECODE_H
#define PCTL_CPU_BYTECODE_H

#include "code/code.h"

/* A growing array; PCTL_CPU_PUSH keeps the first failure in f->status. */
#define PCTL_CPU_LIST(T)         \
	struct {                 \
		T *at;           \
		uint32_t n, cap; \
	}

enum {
	PCTL_CPU_REG_TEMP = 0, /* lives from its definition to its last use */
	PCTL_CPU_REG_FIXED,    /* n_words columns for the whole run */
	PCTL_CPU_REG_ALIAS,    /* column `word` of the fixed register `base` */
	PCTL_CPU_REG_UNIFORM   /* one value for all lanes, for the whole run */
};

typedef struct pctl_cpu_reg {
	uint8_t kind;
	uint8_t wide;
	uint8_t is_const;
	uint8_t reserved;
	uint32_t def, last; /* instructions */
	uint32_t base, word;
	uint32_t n_words;
	uint32_t off;	/* the result: units of 8 bytes */
	uint32_t splat; /* constants: the register with the value in every lane, or 0 */
	uint64_t bits;	/* constants */
} pctl_cpu_reg;

typedef struct pctl_cpu_region {
	uint32_t op;	  /* PCTL_OP_IF, SWITCH, LOOP, or 0 for the function */
	uint32_t pending; /* instructions that jump to the next marker, linked through `jump` */
	uint32_t mask[3]; /* registers of its masks */
	uint32_t switch_index; /* in code->switches */
	uint32_t n_cases;
} pctl_cpu_region;

/* Facts of one instruction of the open function, found before it is flattened. */
typedef struct pctl_cpu_fact {
	uint32_t last_use;   /* last instruction that may read the value, loops included */
	uint32_t loop;	     /* innermost loop around it, number of the LOOP instruction, or NONE */
	uint32_t region_end; /* instruction that ends its innermost region */
} pctl_cpu_fact;

typedef struct pctl_cpu_bytecode {
	const pctl_program *p;
	const pctl_cpu_kernels *k;
	const pctl_call *call;
	pctl_cpu_code *code;
	pctl_status status; /* the first failure; everything after it does nothing of use */
	PCTL_CPU_LIST(pctl_cpu_ins) ins;
	PCTL_CPU_LIST(pctl_cpu_mem) mems;
	PCTL_CPU_LIST(pctl_cpu_step) steps;
	PCTL_CPU_LIST(pctl_cpu_leaf) leaves;
	PCTL_CPU_LIST(pctl_cpu_switch) switches;
	PCTL_CPU_LIST(pctl_cpu_tile) tiles;
	PCTL_CPU_LIST(pctl_cpu_case) cases;
	PCTL_CPU_LIST(pctl_cpu_cost) costs;
	PCTL_CPU_LIST(pctl_cpu_block) blocks;
	PCTL_CPU_LIST(pctl_cpu_reg) regs;
	PCTL_CPU_LIST(uint32_t) parts; /* registers of the values of the open function */
	PCTL_CPU_LIST(uint32_t) edges; /* registers of parameters and results of all functions */
	PCTL_CPU_LIST(pctl_cpu_region) regions;
	PCTL_CPU_LIST(uint32_t) masks;	    /* of the open function, three a depth */
	uint64_t *type_leaves, *type_words; /* by type, saturating */
	uint64_t *type_bytes;		    /* the same: of its scalars, without gaps */
	uint32_t *const_table;		    /* open-addressed: registers of uniform constants */
	uint32_t const_cap, n_consts;
	uint32_t *local_reg;	/* by program.locals index: fixed register */
	uint64_t *var_place;	/* by module variable: word (private) or byte (workgroup) */
	uint32_t *param_first;	/* by function, in edges */
	uint32_t *return_first; /* by function, in edges */
	uint32_t private_reg;
	uint32_t special[PCTL_CPU_N_SPECIAL];
	uint64_t next_unit; /* of a batch's memory */
	/* The open function. */
	const pctl_function *fn;
	uint32_t fn_number;
	uint32_t first_ins, first_reg;
	uint32_t ir;	       /* instruction being flattened, in program.insts */
	uint32_t block;	       /* open counted block or NONE */
	uint32_t *value_first; /* by value: in parts */
	pctl_cpu_fact *facts;
} pctl_cpu_bytecode;

int pctl_cpu_grow(pctl_cpu_bytecode *f, void *list, size_t element_bytes);
#define PCTL_CPU_PUSH(f, list, value)                            \
	(pctl_cpu_grow(f, &(f)->list, sizeof(*(f)->list.at))     \
		 ? (void)((f)->list.at[(f)->list.n++] = (value)) \
		 : (void)0)

/* ---- bytecode.c: registers, types ---- */
void pctl_cpu_bytecode_limit(pctl_cpu_bytecode *f, const char *what);
uint32_t pctl_cpu_bytecode_reg(pctl_cpu_bytecode *f, uint8_t kind, uint8_t wide);
uint32_t pctl_cpu_bytecode_fixed(pctl_cpu_bytecode *f, uint64_t n_words);
uint32_t pctl_cpu_bytecode_column(pctl_cpu_bytecode *f, uint32_t fixed, uint64_t word,
				  uint8_t wide);
uint32_t pctl_cpu_bytecode_const(pctl_cpu_bytecode *f, uint64_t bits, uint8_t wide);
uint32_t pctl_cpu_bytecode_special(pctl_cpu_bytecode *f, uint32_t which);
uint32_t pctl_cpu_bytecode_part(const pctl_cpu_bytecode *f, uint32_t type,
				uint32_t i); /* leaves before it */
static inline int pctl_cpu_bytecode_is_uniform(const pctl_cpu_bytecode *f, uint32_t reg)
{
	return f->regs.at[reg].kind == PCTL_CPU_REG_UNIFORM;
}
static inline uint8_t pctl_cpu_scalar_wide(uint8_t scalar)
{
	return scalar == PCTL_SCALAR_I64 || scalar == PCTL_SCALAR_U64 || scalar == PCTL_SCALAR_F64;
}
static inline uint8_t pctl_cpu_scalar_mem(uint8_t scalar)
{
	if (scalar == PCTL_SCALAR_F16 || scalar == PCTL_SCALAR_BF16 || scalar == PCTL_SCALAR_U16)
		return PCTL_CPU_MEM_2;
	return pctl_cpu_scalar_wide(scalar) ? PCTL_CPU_MEM_8 : PCTL_CPU_MEM_4;
}
/* The type's scalar at the bottom of a vector, matrix, scalar or atomic. */
static inline uint8_t pctl_cpu_type_scalar(const pctl_program *p, uint32_t type)
{
	return p->types[type].scalar;
}

/* ---- bytecode_value.c: emission and everything that has no memory and no control ---- */
uint32_t pctl_cpu_emit(pctl_cpu_bytecode *f, const pctl_cpu_ins *in);
uint32_t pctl_cpu_emit_elem(pctl_cpu_bytecode *f, uint16_t op, uint8_t scalar, uint8_t wide,
			    const uint32_t *args, uint32_t n_args);
uint32_t pctl_cpu_emit_kernel(pctl_cpu_bytecode *f, pctl_cpu_kernel *k, uint8_t wide,
			      const uint32_t *args, uint32_t n_args);
uint32_t pctl_cpu_emit_vary(pctl_cpu_bytecode *f, uint32_t reg);
void pctl_cpu_emit_move(pctl_cpu_bytecode *f, uint32_t d, uint32_t a,
			uint8_t wide); /* whole range */
void pctl_cpu_emit_blend(pctl_cpu_bytecode *f, uint32_t d, uint32_t a,
			 uint8_t wide); /* active lanes */
uint32_t *pctl_cpu_value(pctl_cpu_bytecode *f, uint32_t value);
/* Room for the registers of the value being made; NULL after a failure. */
uint32_t *pctl_cpu_value_new(pctl_cpu_bytecode *f, uint32_t value, uint32_t type);
void pctl_cpu_bytecode_data(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in);

/* ---- bytecode_memory.c ---- */
void pctl_cpu_bytecode_load(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in);
void pctl_cpu_bytecode_store(pctl_cpu_bytecode *f, const pctl_inst *in);
void pctl_cpu_bytecode_atomic(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in);
void pctl_cpu_bytecode_length(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in);
/* Element `index` (a register, u32) of the array that the place of `in` ends at: loaded to a new register, or stored from
 * `reg`. Outside: zero, or nothing. */
uint32_t pctl_cpu_bytecode_load_element(pctl_cpu_bytecode *f, const pctl_inst *in, uint32_t index);
void pctl_cpu_bytecode_store_element(pctl_cpu_bytecode *f, const pctl_inst *in, uint32_t index,
				     uint32_t reg);
void pctl_cpu_bytecode_barrier(pctl_cpu_bytecode *f, uint32_t bits);
void pctl_cpu_bytecode_clear_locals(pctl_cpu_bytecode *f);

/* ---- bytecode_subgroup.c ---- */
void pctl_cpu_bytecode_subgroup(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in);

/* ---- bytecode_tile.c ---- */
void pctl_cpu_bytecode_tile(pctl_cpu_bytecode *f, uint32_t value, const pctl_inst *in);

/* ---- bytecode_fact.c: what must be known of a function before it is flattened ---- */
void pctl_cpu_bytecode_facts(pctl_cpu_bytecode *f);
/* 1 when the loaded value may stand for the variable itself until its last use. */
int pctl_cpu_bytecode_may_alias(const pctl_cpu_bytecode *f, uint32_t value, uint32_t root);
/* dirty[l] becomes 1 unless every access of local l follows a store of the whole local in its own
 * region. Both arrays have an element for each local of the function, zero at first; end is
 * scratch. */
void pctl_cpu_bytecode_find_dirty(const pctl_cpu_bytecode *f, uint32_t *end, uint8_t *dirty);

/* ---- bytecode_flow.c: control, calls, functions ---- */
void pctl_cpu_bytecode_function(pctl_cpu_bytecode *f, uint32_t number);

/* ---- bytecode_count.c: static costs for PCTL_BUILD_COUNT ---- */
void pctl_cpu_bytecode_count(pctl_cpu_bytecode *f, const pctl_inst *in);

/* ---- bytecode_assign.c: registers to memory ---- */
void pctl_cpu_bytecode_assign_function(pctl_cpu_bytecode *f);
void pctl_cpu_bytecode_assign_fixed(pctl_cpu_bytecode *f);
void pctl_cpu_bytecode_rewrite(pctl_cpu_bytecode *f);

#endif
