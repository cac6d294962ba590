/* What the files of transformer.sample share. */
#ifndef PIPECTL_OPS_TRANSFORMER_SAMPLE_H
#define PIPECTL_OPS_TRANSFORMER_SAMPLE_H

#include "shared.h"

enum {
	SAMPLE_LOGITS,
	SAMPLE_TEMPERATURE,
	SAMPLE_TOP_K,
	SAMPLE_TOP_P,
	SAMPLE_MIN_P,
	SAMPLE_KEY,
	SAMPLE_POSITION,
	SAMPLE_PORTS
};
#define SAMPLE_TOKENS_MOST (1ull << 18)

/* sample_reference.c */
pctl_status sample_reference(const kit_use *u, const pctl_span *in, pctl_span *out);
/* sample_laws.c */
extern const pctl_op_problems sample_problems;
void sample_problem(kit_problem *p);
void sample_law_rows(kit_law *l);
void sample_law_greedy(kit_law *l);
void sample_law_one(kit_law *l);
void sample_law_padded(kit_law *l);
void sample_law_all(kit_law *l);

#endif
