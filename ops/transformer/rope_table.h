/* transformer.rope_table: what a table is of, how the library makes it, and how its reference does (SEMANTICS.md 18.2). */
#ifndef PIPECTL_OPS_TRANSFORMER_ROPE_TABLE_H
#define PIPECTL_OPS_TRANSFORMER_ROPE_TABLE_H

#include "transformer.h"

enum {
	ROPE_SCALING_NONE,
	ROPE_SCALING_LINEAR,
	ROPE_SCALING_LLAMA3,
	ROPE_SCALING_YARN,
	ROPE_SCALINGS
};

/* Sizes are bounded so that a table has at most 64 MiB, frequencies so that no f32 here is subnormal. */
#define ROPE_DIMS_MAX 1024u
#define ROPE_POSITIONS_MAX (1u << 20)
#define ROPE_ELEMENTS_MAX (1u << 24)
#define ROPE_BASE_MAX 0x1p30f
#define ROPE_FACTOR_MAX 64.0f

/* pairs: half of the rotated dimensions. magnitude: 1 in version 1. */
typedef struct rope_table {
	uint32_t pairs, positions, scaling;
	float base, factor, low, high, original, beta_fast, beta_slow, magnitude;
} rope_table;

/* rope_table_make.c: cos and sin of every position and pair, [positions, pairs, 2]. */
void rope_table_make(const rope_table *t, float *out);
/* rope_table_reference.c: the same by integers alone. PC1_INTERNAL where its digits do not tell how a number rounds. */
pctl_status rope_table_reference(const kit_use *u, const rope_table *t, float *out);

#endif
