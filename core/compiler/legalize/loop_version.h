/* What the files that write loops twice share. */
#ifndef PIPECTL_COMPILER_LEGALIZE_LOOP_VERSION_H
#define PIPECTL_COMPILER_LEGALIZE_LOOP_VERSION_H

#include "compiler/legalize/float.h"

/* |x| >= 2^-40 is a multiple of 2^-63, the product of two of them one of 2^-126. */
#define LEGAL_INPUT_LSB (-63)
#define LEGAL_INPUT_TINY 0x2b800000u
/* |x| >= 2^-103 is a multiple of 2^-126: what goes into a sum of such products. */
#define LEGAL_ENTRY_TINY 0x0c000000u

#define LEGAL_DEEPEST_LOCAL 8u /* arrays in arrays */

/* A loop of p, LOOP to END_LOOP; in the new program, the values of its fast copy. */
typedef struct legal_loop {
	uint32_t function, first, last;
	uint32_t is_open; /* still a candidate */
	uint32_t is_chosen;
	uint32_t fast_function, fast_first, fast_end;
	uint32_t least; /* local: the least of what was tested */
} legal_loop;

/* What a loop does with a local. */
enum { LOCAL_STORED = 1, LOCAL_FIRST = 2, LOCAL_SEEN = 4, LOCAL_LATE = 8, LOCAL_OUTSIDE = 16 };

/* A value of the new program that is taken to be a multiple of 2^lsb. */
typedef struct legal_lsb {
	uint32_t function, value;
	int16_t lsb;
} legal_lsb;

struct legal_loop_versioner {
	const pctl_program *p;
	const legal_chooser *chooser;
	legal_exponent_ranges exponent_ranges;
	legal_loop *loops;
	uint32_t n_loops;
	uint8_t *locals;   /* by local of the function under way: LOCAL_* */
	uint32_t *renamed; /* 1 + local of the fast copy */
	uint32_t *fast_id; /* by value: what stands for it in the fast copy, 1 + id */
	legal_lsb *lsbs;
	uint32_t n_lsbs, capacity;
};

/* loop_version_loop.c: what a loop does. Those of a legal_loop_versioner speak of the function of legal_loop_locals's last call. */
const pctl_inst *legal_loop_inst(const pctl_program *p, const legal_loop *s, uint32_t v);
int legal_type_is_f32(const pctl_program *p, uint32_t type);
uint32_t legal_type_width(const pctl_program *p, uint32_t type);
/* Note what is done with each local, in the loop and elsewhere. */
void legal_loop_locals(struct legal_loop_versioner *x, const legal_loop *s);
/* 1: the local is a new one to every pass through the loop, and nobody sees it elsewhere. */
int legal_loop_owns(const struct legal_loop_versioner *x, uint32_t local);
/* 1: in the fast copy, a value of the loop that nothing is known of unless it is tested. */
int legal_loop_source(const struct legal_loop_versioner *x, const legal_loop *s, uint32_t v);
/* 1: a value from before the loop that is tested at its beginning. */
int legal_loop_live(const struct legal_loop_versioner *x, const legal_loop *s, uint32_t v);
/* 1: an operation whose guard goes where no subnormal can be. */
int legal_loop_guarded(const struct legal_loop_versioner *x, const pctl_program *p,
		       const pctl_function *fn, const pctl_inst *in);
/* 1: a fast copy may be made of the loop, and would pay. */
int legal_loop_pays(struct legal_loop_versioner *x, const legal_loop *s);

/* loop_version_write.c: the instructions of a program, chosen loops twice. */
void legal_loop_version_instruction(legal *l, uint32_t v, const pctl_inst *in);

#endif
