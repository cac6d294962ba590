/* What the files of transformer.rope share. */
#ifndef PIPECTL_OPS_TRANSFORMER_ROPE_H
#define PIPECTL_OPS_TRANSFORMER_ROPE_H

#include "sequences.h"

/* x is [s.n, s.t, h, d], the table [s.positions, pairs, 2]. */
typedef struct rope {
	sequences s;
	uint64_t h, d, pairs;
} rope;

pctl_status rope_of(const kit_use *u, rope *r);

/* rope_laws.c */
#define ROPE_PROBLEMS 36u
void rope_problem(kit_problem *p);
void rope_law_unturned(kit_law *l);
void rope_law_moved(kit_law *l);
void rope_law_token(kit_law *l);
void rope_law_sequence(kit_law *l);
void rope_law_paired(kit_law *l);
void rope_law_padding(kit_law *l);

#endif
