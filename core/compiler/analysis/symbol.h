/* Linear forms over symbols: what the analysis knows of an integer. A form stands for a value
 * modulo 2^width, and, when the value is `exact`, for its very number. Facts are forms known to be
 * at most 0. Not for other modules. */
#ifndef PIPECTL_COMPILER_ANALYSIS_SYMBOL_H
#define PIPECTL_COMPILER_ANALYSIS_SYMBOL_H

#include "foundation/base/arena.h"
#include "pipectl/program.h"
#include "compiler/ir/tables.h"

#define PCTL_AFFINE_TERMS 6u
#define PCTL_PROOF_WORK_MAX (1u << 22)
#define PCTL_FACTS_MAX 24u /* of a list that are looked at */

/* The first symbols are the coordinates: local_id x y z, workgroup_id x y z. */
enum { PCTL_SYMBOL_LOCAL = 0, PCTL_SYMBOL_GROUP = 3, PCTL_SYMBOL_COORDINATES = 6 };

/* Who agrees on a value: nobody need, the invocations of a workgroup, all of the dispatch. */
enum { PCTL_AGREE_NONE = 0, PCTL_AGREE_GROUP = 1, PCTL_AGREE_ALL = 2 };

typedef struct pctl_affine_term {
	uint32_t symbol;
	uint32_t reserved;
	int64_t factor;
} pctl_affine_term;

/* constant + sum of terms, symbols ascending. */
typedef struct pctl_affine {
	int64_t constant;
	uint32_t n;
	uint32_t reserved;
	pctl_affine_term term[PCTL_AFFINE_TERMS];
} pctl_affine;

typedef struct pctl_fact {
	pctl_affine form; /* <= 0 */
	const struct pctl_fact *next;
} pctl_fact;

/*
 * One scalar.
 *
 * exact    1: it equals the form's number and lies in lo .. hi; 0: only the form modulo 2^width is
 *          known
 * uniform  PCTL_AGREE_*: who agrees on it among those who run the same dynamic instance (control
 *          flow)
 * shared   PCTL_AGREE_*: who agrees on it among all accesses of one barrier interval (races); not
 *          from one iteration to the next
 * yes, no  of a bool: facts that hold when it is true, when it is false
 */
typedef struct pctl_absval {
	pctl_affine form;
	int64_t lo, hi;
	uint8_t scalar;
	uint8_t exact;
	uint8_t uniform;
	uint8_t shared;
	uint32_t reserved;
	const pctl_fact *yes, *no;
} pctl_absval;

typedef struct pctl_symbol {
	int64_t lo, hi;
	uint8_t uniform, shared;
	uint16_t op;  /* what made it, 0: nothing that could be made again */
	uint32_t aux; /* further part of its identity */
	uint32_t n_args;
	const pctl_absval *args[4];
	const pctl_fact *facts; /* hold always */
} pctl_symbol;

typedef struct pctl_symbols {
	pctl_arena *arena;
	pctl_symbol *items;
	uint32_t n, cap;
	pctl_index index;
	int no_memory;
	int is_released; /* proofs are those of the consensus VM's released rules */
	uint64_t work;	 /* proof steps taken; past PCTL_PROOF_WORK_MAX nothing more is proven */
} pctl_symbols;

/* ---- forms; 0 when the result does not fit, *out then is unspecified ---- */
int pctl_affine_add(const pctl_affine *a, const pctl_affine *b, int64_t factor,
		    pctl_affine *out); /* a + factor*b */
int pctl_affine_scale(const pctl_affine *a, int64_t factor, pctl_affine *out);
int pctl_affine_same(const pctl_affine *a, const pctl_affine *b);
int64_t pctl_affine_factor(const pctl_affine *a, uint32_t symbol);

/* Range of a form; 0 when it does not fit in 62 bits. Symbol ids at or over symbols->n are second
 * copies of id - n. */
int pctl_affine_range(const pctl_symbols *s, const pctl_affine *f, int64_t *lo, int64_t *hi);

/* 1 when f <= 0 follows from the symbols' ranges and facts, and the facts given. */
int pctl_affine_proven(pctl_symbols *s, const pctl_affine *f, const pctl_fact *facts);

/* Narrow lo .. hi of `symbol` by the facts. */
void pctl_fact_narrow(const pctl_symbols *s, const pctl_fact *facts, uint32_t symbol, int64_t *lo,
		      int64_t *hi);

/* ---- symbols and what is known; NULL and s->no_memory for lack of memory ---- */
const pctl_absval *pctl_absval_number(pctl_symbols *s, uint8_t scalar, uint64_t bits);
/* A symbol of its own. */
const pctl_absval *pctl_absval_fresh(pctl_symbols *s, uint8_t scalar, int64_t lo, int64_t hi,
				     uint8_t uniform, uint8_t shared);
/* The symbol for `op` on these arguments: the same again for the same question. */
const pctl_absval *pctl_absval_made(pctl_symbols *s, uint8_t scalar, int64_t lo, int64_t hi,
				    uint16_t op, uint32_t aux, const pctl_absval *const *args,
				    uint32_t n_args);
/* A form as a value of `scalar`: exact where ranges or facts show that it does not wrap. */
const pctl_absval *pctl_absval_affine(pctl_symbols *s, uint8_t scalar, const pctl_affine *f,
				      uint8_t uniform, uint8_t shared, const pctl_fact *facts);
/* The same value with a form that is its number. */
const pctl_absval *pctl_absval_exact(pctl_symbols *s, const pctl_absval *k);
const pctl_fact *pctl_fact_push(pctl_symbols *s, const pctl_fact *list, const pctl_affine *f);
const pctl_fact *pctl_fact_concat(pctl_symbols *s, const pctl_fact *a, const pctl_fact *b);
int pctl_absval_same(const pctl_absval *a, const pctl_absval *b);
/* Smallest and largest number of a scalar; 64-bit and other ones get a range no proof can use. */
void pctl_scalar_range(uint8_t scalar, int64_t *lo, int64_t *hi);

#endif
