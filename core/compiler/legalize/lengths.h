/* What the files that write loops over runtime arrays twice share: lengths.c says what for. */
#ifndef PIPECTL_COMPILER_LEGALIZE_LENGTHS_H
#define PIPECTL_COMPILER_LEGALIZE_LENGTHS_H

#include "compiler/ir/tables.h"
#include "compiler/legalize/legal_parts.h"
#include "compiler/legalize/pure.h"

/* A loop, LOOP to END_LOOP. */
typedef struct legal_length_loop {
	uint32_t function, first, test, update, last;
	uint32_t outer;	      /* index of the loop around it, PCTL_NONE: none of this function */
	uint32_t n, n_inside; /* checks that its copy would do without; those in loops inside it */
	uint32_t is_chosen;
	uint32_t otherwise; /* bool of the new program: the loop as it was is to run */
} legal_length_loop;

/* An access whose index into a runtime array is not proven. */
typedef struct legal_length_access {
	pctl_place place;
	uint32_t step, index; /* of the chain; its value */
} legal_length_access;

struct legal_lengths {
	const pctl_program *p;
	legal_purity purity;
	const pctl_function *fn; /* looked at */
	uint32_t function;
	legal_length_loop *loops;
	uint32_t n_loops, first_loop;  /* first_loop: of the function */
	uint32_t *around_all, *around; /* by instruction: the innermost loop; PCTL_NONE */
	uint32_t n_chosen, growth;
	/* Of the bound under way: who writes it, NULL where it is only asked whether there is one; steps that it took. */
	legal *l;
	uint32_t work;
	uint32_t
		holds; /* 1 + a bool of the new program: nothing wrapped and all is inside, so far; 0: nothing was asked */
};

/* 1: instruction v of loop s has an index that is not proven, and a bound of it can be told before the loop. */
int legal_length_checked(struct legal_lengths *x, const legal_length_loop *s, uint32_t v,
			 legal_length_access *out);

/* lengths_bound.c */
/* 1 where there is a bound of value v, used by instruction `at` in loop s, that can be told before s begins. */
uint32_t legal_length_bound(struct legal_lengths *x, const legal_length_loop *s, uint32_t v,
			    uint32_t at);
/* Write, in front of s, that the access of instruction `at` is inside: x->holds. */
void legal_length_require(struct legal_lengths *x, legal *l, const legal_length_loop *s,
			  uint32_t at, const legal_length_access *access);

#endif
