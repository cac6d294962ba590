/* Prepared code: what a program becomes when it is built for the interpreter. A flat list of
 * instructions over registers that hold one scalar for every lane, with control flow resolved to
 * jumps and masks. Made once by bytecode*.c, read by any number of threads. */
#ifndef PCTL_CPU_CODE_H
#define PCTL_CPU_CODE_H

#include "kernels/kernels.h"
#include "pipectl/backend.h"

#define PCTL_CPU_NONE 0xffffffffu

enum {
	PCTL_CPU_ELEM,	 /* kernel over the active range of lanes */
	PCTL_CPU_ELEM_U, /* the same for one value shared by all lanes */
	PCTL_CPU_MATH, /* d = elementary function `jump` of a, b; scalar in `extra`; active lanes only */
	PCTL_CPU_LOOKUP, /* d = element a of the table at word `jump`, of `extra` elements */
	PCTL_CPU_BLEND,	 /* masked move: d = a where the mask says so; wide, uniform */
	PCTL_CPU_COUNT,	 /* add the active lanes to block counter `jump` */
	PCTL_CPU_CLEAR,	 /* zero n bytes of registers: d, size in `jump` units of 64 */
	PCTL_CPU_LENGTH, /* d = length of the runtime array of binding `jump` */
	PCTL_CPU_LOAD,
	PCTL_CPU_STORE,
	PCTL_CPU_ATOMIC,
	PCTL_CPU_BARRIER, /* `jump` = PCTL_BARRIER_* */
	/* d = subgroup operation `jump` of a, b; `extra` = size, and above it the word of a ballot << 16 */
	PCTL_CPU_SUBGROUP,
	PCTL_CPU_TILE, /* product of tiles: record `extra` of tiles */
	PCTL_CPU_IF,   /* a = condition, c = mask of the other side */
	PCTL_CPU_ELSE,
	PCTL_CPU_END_IF,
	PCTL_CPU_SWITCH, /* a = selector; d = case number of each lane, c = entry mask, e = exit
			    mask */
	PCTL_CPU_CASE,
	PCTL_CPU_END_SWITCH,
	PCTL_CPU_LOOP, /* c = exit mask, e = continue mask */
	PCTL_CPU_LOOP_TEST,
	PCTL_CPU_CONTINUING,
	PCTL_CPU_END_LOOP,
	PCTL_CPU_LEAVE, /* BREAK, CONTINUE: the active lanes go to mask c; RETURN: c is register 0
			 */
	PCTL_CPU_CALL,	/* jump = function number */
	PCTL_CPU_END_FUNCTION
};

#define PCTL_CPU_WIDE 1u    /* 8-byte elements */
#define PCTL_CPU_SIGNED 4u  /* SUBGROUP: of i32 */
#define PCTL_CPU_UNIFORM 2u /* source a is one value for all lanes; MATH and LOOKUP: d too */

/* One instruction. Registers are virtual numbers while code is made, and offsets in units of 8
 * bytes into a batch's memory afterwards; register 0 is never read or written. */
typedef struct pctl_cpu_ins {
	uint16_t kind;
	uint16_t flags;
	uint32_t ir; /* instruction of program.insts it came from */
	uint32_t d, a, b, c, e;
	uint32_t jump;
	uint32_t extra; /* memory record, switch record */
	uint32_t reserved;
	pctl_cpu_kernel *kernel;
} pctl_cpu_ins;

/* One dynamic index of a place. stride: bytes in byte memory, words in lane memory. */
typedef struct pctl_cpu_step {
	uint32_t index;	 /* register */
	uint32_t length; /* elements of this level; runtime arrays take the binding's */
	uint32_t stride;
	uint8_t uniform;
	uint8_t is_signed;
	uint8_t runtime;
	uint8_t reserved;
} pctl_cpu_step;

/* One scalar of an accessed type: where it lies after the place, and its register. */
typedef struct pctl_cpu_leaf {
	uint32_t reg;
	uint32_t off; /* bytes, or words in lane memory */
	uint8_t wide;
	uint8_t is_bool;
	uint8_t uniform;
	uint8_t mem; /* PCTL_CPU_MEM_*, in byte memory */
} pctl_cpu_leaf;

/* A memory access. Lane memory (function, private) has one word column a lane; byte memory is
 * laid out as WGSL says. */
typedef struct pctl_cpu_mem {
	uint8_t space;
	uint8_t uniform;   /* a load whose result is one value for all lanes */
	uint8_t sanitized; /* may take part in a race */
	uint8_t is_signed;
	uint16_t op; /* atomics: the opcode */
	uint16_t n_steps;
	uint32_t root;	 /* as in the instruction */
	uint32_t base;	 /* lane memory: register of word 0; workgroup memory: byte offset of the
			    variable */
	uint64_t offset; /* constant part of the chain, bytes or words */
	uint64_t extent; /* bytes from the place to the end of the access */
	uint32_t first_step;
	uint32_t first_leaf;
	uint32_t n_leaves;
	uint32_t function;
} pctl_cpu_mem;

/* A product of matrix tiles: left m x k, right k x n. Its registers stand in leaves: those of the result it makes, of left,
 * right and the result it adds to. Of k = 0 there are no factors, and the result is what it adds to, NaN made canonical. */
typedef struct pctl_cpu_tile {
	uint32_t first_leaf, n_leaves;
	uint32_t m, n, k;
	uint8_t factor; /* PCTL_SCALAR_* of left and right; f32, f64: in f64 */
} pctl_cpu_tile;

typedef struct pctl_cpu_case {
	uint32_t literal;
	uint32_t number;
} pctl_cpu_case;

/* Literals of a switch in ascending order; numbers count CASE instructions from 0. */
typedef struct pctl_cpu_switch {
	uint32_t first_case; /* in cases[] */
	uint32_t n_literals;
	uint32_t n_cases;
	uint32_t default_number;
	uint32_t first_count; /* in a batch's case counters */
} pctl_cpu_switch;

/* A constant that stands in registers from the start. */
typedef struct pctl_cpu_const {
	uint64_t bits;
	uint32_t reg;
	uint8_t wide;
	uint8_t uniform;
	uint16_t reserved;
} pctl_cpu_const;

/* Static costs of one opcode in a counted block. */
typedef struct pctl_cpu_cost {
	uint32_t block;
	uint32_t op;
	uint64_t units;
} pctl_cpu_cost;

typedef struct pctl_cpu_block {
	uint64_t storage_read, storage_write, other_memory;
	uint32_t checked, n_insts;
} pctl_cpu_block;

/* A uniform or storage variable. */
typedef struct pctl_cpu_slot {
	uint32_t group, binding;
	uint32_t runtime_offset; /* of the runtime array, bytes */
	uint32_t runtime_stride; /* 0: there is none */
	uint64_t fixed_bytes;	 /* bytes of the part with a fixed size */
	uint8_t is_storage, writable;
	uint8_t reserved[6];
} pctl_cpu_slot;

enum {
	PCTL_CPU_REG_LOCAL_ID = 0, /* three each */
	PCTL_CPU_REG_GLOBAL_ID = 3,
	PCTL_CPU_REG_GROUP_ID = 6,
	PCTL_CPU_REG_N_GROUPS = 9,
	PCTL_CPU_REG_LOCAL_INDEX = 12,
	PCTL_CPU_REG_MASK = 13, /* of the entry point */
	PCTL_CPU_N_SPECIAL = 14
};

typedef struct pctl_cpu_code {
	pctl_cpu_ins *ins;
	pctl_cpu_mem *mems;
	pctl_cpu_step *steps;
	pctl_cpu_leaf *leaves;
	pctl_cpu_switch *switches;
	pctl_cpu_tile *tiles;
	pctl_cpu_case *cases;
	pctl_cpu_const *consts;
	pctl_cpu_cost *costs;
	pctl_cpu_block *blocks;
	pctl_cpu_slot *slots;
	uint32_t *function_start; /* first instruction by function */
	uint32_t *function_mask;  /* register of its mask by function */
	uint32_t n_ins, n_mems, n_steps, n_leaves, n_switches, n_tiles, n_cases, n_consts, n_costs,
		n_blocks;
	uint32_t n_slots, n_functions, n_case_counts;
	uint32_t entry_function;
	uint32_t first_inst_of_entry;
	uint32_t special[PCTL_CPU_N_SPECIAL]; /* registers */
	uint32_t local_size[3];
	uint32_t invocations;		     /* of a workgroup */
	uint32_t groups_per_batch;	     /* at most */
	uint32_t lanes;			     /* of a batch, padded to a multiple of 16 */
	uint32_t private_reg, private_units; /* zeroed at the start of a batch */
	uint32_t workgroup_stride;	     /* bytes of one group's workgroup memory */
	uint64_t register_bytes;
	const uint32_t *words; /* of the program, which outlives its code: tables of LOOKUP */
	uint32_t flags;	       /* PCTL_BUILD_* */
	uint32_t
		watch_shift; /* a byte's cell in the shadow: 2, or 1 where elements of 2 bytes are */
} pctl_cpu_code;

/* Make code of a decoded program that pctl_cpu_check accepted. */
pctl_status pctl_cpu_code_create(const pctl_program *p, const pctl_cpu_kernels *k, uint32_t flags,
				 const pctl_call *call, pctl_cpu_code **out);
void pctl_cpu_code_destroy(pctl_cpu_code *code);

/* Can the interpreter run this program? PCTL_OK, or a refusal through `call`. */
pctl_status pctl_cpu_check(const pctl_program *p, const pctl_call *call);

#endif
