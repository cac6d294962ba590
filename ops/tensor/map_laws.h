/* Laws of ops whose y has x's shape and that work along one axis, their attribute `axis`, or number 0. */
#ifndef PIPECTL_OPS_TENSOR_MAP_LAWS_H
#define PIPECTL_OPS_TENSOR_MAP_LAWS_H

#include "common/kit.h"

void map_law_permuted(kit_law *l);
void map_law_transposed(kit_law *l);
void map_law_alone(kit_law *l);
void map_law_padded(kit_law *l);

#endif
