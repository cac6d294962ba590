/* What the files of transformer.attention share (SEMANTICS.md 18.5). */
#ifndef PIPECTL_OPS_TRANSFORMER_ATTENTION_H
#define PIPECTL_OPS_TRANSFORMER_ATTENTION_H

#include "kv.h"

enum { ATTENTION_Q, ATTENTION_K, ATTENTION_V, ATTENTION_START, ATTENTION_COUNT, ATTENTION_PAGES };
enum { ATTENTION_CAUSAL, ATTENTION_WINDOW, ATTENTION_SOFTCAP, ATTENTION_SCALE, ATTENTION_ATTRS };

#define ATTENTION_TILE 64u /* keys of a tile */
#define ATTENTION_CAPACITY_MAX (1u << 20)
#define ATTENTION_D_MAX 512u

/*
 * q is [s.n, s.t, h, d], y [s.n, s.t, h, dv]; group heads of q share one of the cache.
 *
 * window  0: none; cap  0: none
 */
typedef struct attention {
	sequences s;
	kv_cache k, v;
	uint64_t h, d, dv, group, window;
	float scale, cap;
	int causal;
} attention;

pctl_status attention_of(const kit_use *u, attention *a);
/* Nearest to 1 / sqrt(d). */
float attention_scale(uint64_t d);

/* attention_plan.c */
void attention_plan(kit_plan *p);

/* attention_reference.c */
pctl_status attention_reference(const kit_use *u, const pctl_span *in, pctl_span *out);

/* attention_laws.c */
#define ATTENTION_PROBLEMS 72u
void attention_problem(kit_problem *p);
void attention_law_chunks(kit_law *l);
void attention_law_sequence(kit_law *l);
void attention_law_padding(kit_law *l);
void attention_law_paged(kit_law *l);
void attention_law_heads(kit_law *l);
void attention_law_one(kit_law *l);
void attention_law_mixed(kit_law *l);
void attention_law_longer(kit_law *l);

#endif
