/* Laws of reductions along axes, as equations between tensors, and the problems that they are tried on; by code that knows neither
 * kernels nor references. */
#ifndef PIPECTL_OPS_TENSOR_REDUCE_LAWS_H
#define PIPECTL_OPS_TENSOR_REDUCE_LAWS_H

#include "common/kit.h"

/* Shapes with axes, of an op whose first attributes are `axes` or `axis`, and `keep`. */
extern const pctl_op_problems reduce_problems;
void reduce_problem(kit_problem *p);

void reduce_law_permuted(kit_law *l);
void reduce_law_split(kit_law *l);
void reduce_law_transposed(kit_law *l);
void reduce_law_alone(kit_law *l);
void reduce_law_neutral(kit_law *l);
void reduce_law_repeated(kit_law *l);
void index_law_found(kit_law *l);
void index_law_lowest(kit_law *l);

/* An element for a law: kinds of numbers that go wrong. */
enum { TENSOR_SMALL, TENSOR_ANY, TENSOR_EQUAL, TENSOR_SPECIAL, TENSOR_KINDS };
void tensor_problem_element(uint32_t dtype, uint32_t kind, uint64_t random, void *to);

#endif
