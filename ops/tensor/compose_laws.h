/* Laws of compositions: an op's result by way of other ops of this library and of ieee, each of which the device runs by itself and
 * the host holds against its own reference too (PCTL_LAW_COMPOSED). */
#ifndef PIPECTL_OPS_TENSOR_COMPOSE_LAWS_H
#define PIPECTL_OPS_TENSOR_COMPOSE_LAWS_H

#include "common/kit.h"

#define TENSOR_COMPOSED_LAW(name, words)                                                      \
	{                                                                                     \
		PCTL_LAW_CUSTOM, 0, PCTL_LAW_JUDGED | PCTL_LAW_COMPOSED, 0, name, NULL, words \
	}

/* tensor.matmul: (a b)^T is b^T a^T; rows of a, or columns of b, in two parts. */
void compose_law_factors(kit_law *l);
void compose_law_row_parts(kit_law *l);
void compose_law_column_parts(kit_law *l);
/* tensor.softmax: by its steps (SEMANTICS.md 15.8); rows of scores in two parts, times values. */
void compose_law_softmax_steps(kit_law *l);
void compose_law_attention(kit_law *l);
/* tensor.layer_norm and tensor.rms_norm, by their steps (15.10). */
void compose_law_layer_steps(kit_law *l);
void compose_law_rms_steps(kit_law *l);

#endif
