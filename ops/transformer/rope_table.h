/* transformer.rope_table: what a table is of, how the library makes it, and how its reference does (SEMANTICS.md 18.2). */
#ifndef PIPECTL_OPS_TRANSFORMER_ROPE_TABLE_H
#define PIPECTL_OPS_TRANSFORMER_ROPE_TABLE_H

#include "transformer.h"

enum {
	ROPE_SCALING_NONE,
	ROPE_SCALING_LINEAR,
	ROPE_SCALING_LLAMA3,
	ROPE_SCALING_YARN,
	ROPE_SCALING_LONGROPE,
	ROPE_SCALINGS
};

/* Attributes, in the order of all versions. */
enum {
	ROPE_ATTR_DIMS,
	ROPE_ATTR_POSITIONS,
	ROPE_ATTR_BASE,
	ROPE_ATTR_SCALING,
	ROPE_ATTR_FACTOR,
	ROPE_ATTR_LOW,
	ROPE_ATTR_HIGH,
	ROPE_ATTR_ORIGINAL,
	ROPE_ATTR_BETA_FAST,
	ROPE_ATTR_BETA_SLOW,
	ROPE_ATTR_MAGNITUDE,
	ROPE_ATTR_FACTORS
};
#define ROPE_ATTRS 8u	 /* of version 1, which knows nothing of yarn */
#define ROPE_ATTRS_2 11u /* of version 2, which knows nothing of longrope */
#define ROPE_ATTRS_3 12u

/* Sizes are bounded so that a table has at most 64 MiB, frequencies so that no f32 here is subnormal. */
#define ROPE_DIMS_MAX 1024u
#define ROPE_POSITIONS_MAX (1u << 20)
#define ROPE_ELEMENTS_MAX (1u << 24)
#define ROPE_BASE_MAX 0x1p30f
#define ROPE_FACTOR_MAX 64.0f
/* Of a pair's own, with longrope. */
#define ROPE_OWN_MIN 0x1p-4f
#define ROPE_OWN_MAX 4096.0f

/* pairs: half of the rotated dimensions. magnitude: 1 in version 1. factors: of each pair, with longrope. */
typedef struct rope_table {
	uint32_t pairs, positions, scaling;
	float base, factor, low, high, original, beta_fast, beta_slow, magnitude;
	float factors[ROPE_DIMS_MAX / 2];
} rope_table;

/* Rows of attributes that versions have in common; `scalings`: what there is to choose, `factor` and `original`: with which of them these speak. */
#define ROPE_TABLE_ATTRS(scalings, factor, original)                                              \
	{"dims", NULL,	       "rotated dimensions of a head, an even number", PCTL_ATTR_U64, 0,  \
	 0,	 ROPE_DIMS_MAX},                                                                  \
		{"positions", NULL, "rows: positions 0 and on", PCTL_ATTR_U64,                    \
		 0,	      0,    ROPE_POSITIONS_MAX},                                          \
		{"base",                                                                          \
		 "10000",                                                                         \
		 "theta: what is raised to the power, from 1 to 2^30",                            \
		 PCTL_ATTR_STRING,                                                                \
		 0,                                                                               \
		 0,                                                                               \
		 0},                                                                              \
		{"scaling", "none", scalings, PCTL_ATTR_STRING, 0, 0, 0},                         \
		{"factor",                                                                        \
		 "1",                                                                             \
		 "of " factor ": what frequencies are divided by, from 1 to 64",                  \
		 PCTL_ATTR_STRING,                                                                \
		 0,                                                                               \
		 0,                                                                               \
		 0},                                                                              \
		{"low_freq_factor",                                                               \
		 "1",                                                                             \
		 "of llama3: wave lengths above original_positions over this are divided by the " \
		 "factor",                                                                        \
		 PCTL_ATTR_STRING,                                                                \
		 0,                                                                               \
		 0,                                                                               \
		 0},                                                                              \
		{"high_freq_factor",                                                              \
		 "4",                                                                             \
		 "of llama3: wave lengths below original_positions over this stay",               \
		 PCTL_ATTR_STRING,                                                                \
		 0,                                                                               \
		 0,                                                                               \
		 0},                                                                              \
	{                                                                                         \
		"original_positions", "8192",                                                     \
			"of " original ": positions that the model was trained on first",         \
			PCTL_ATTR_U64, 0, 1, 1u << 24                                             \
	}
/* Versions 2 and 3, behind those. */
#define ROPE_TABLE_YARN_ATTRS                                                                  \
	{"beta_fast",                                                                          \
	 "32",                                                                                 \
	 "of yarn: pairs that turn more often within original_positions keep their frequency", \
	 PCTL_ATTR_STRING,                                                                     \
	 0,                                                                                    \
	 0,                                                                                    \
	 0},                                                                                   \
		{"beta_slow",                                                                  \
		 "1",                                                                          \
		 "of yarn: of pairs that turn less often it is divided by the factor",         \
		 PCTL_ATTR_STRING,                                                             \
		 0,                                                                            \
		 0,                                                                            \
		 0},                                                                           \
	{                                                                                      \
		"magnitude", "1",                                                              \
			"what cosines and sines are multiplied with, from 2^-10 to 1024",      \
			PCTL_ATTR_STRING, 0, 0, 0                                              \
	}

/* rope_table_long.c: the attribute `factors` of version 3. */
pctl_status rope_table_factors(const kit_use *u, rope_table *t);

/* rope_table.c: what all versions have. */
pctl_status rope_table_infer(const kit_use *u, pctl_op_result *out);
void rope_table_plan(kit_plan *p);
pctl_status rope_table_refer(const kit_use *u, const pctl_span *in, pctl_span *out);
void rope_table_problem(kit_problem *p, const char *scaling, const char *base, uint64_t original);
/* The same op, with attributes as they are told; NULL: as they are. */
uint32_t rope_table_use(kit_law *l, uint64_t positions, const char *scaling, const char *factor,
			const char *factors);
/* Laws: a table of a third of the positions; every second row of the table with those attributes, whose frequencies are half of this one's; squares. */
void rope_table_law_cut(kit_law *l);
void rope_table_law_halved(kit_law *l, const char *scaling, const char *factor,
			   const char *factors);
void rope_table_law_magnitude(kit_law *l);
extern const pctl_port rope_table_out[1];
extern const char *const rope_table_scalings[ROPE_SCALINGS];

/* rope_table_make.c: cos and sin of every position and pair, [positions, pairs, 2]. */
void rope_table_make(const rope_table *t, float *out);
/* rope_table_reference.c: the same by integers alone. PC1_INTERNAL where its digits do not tell how a number rounds. */
pctl_status rope_table_reference(const kit_use *u, const rope_table *t, float *out);

#endif
