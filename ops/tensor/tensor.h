/* The families of the tensor library. */
#ifndef PIPECTL_OPS_TENSOR_H
#define PIPECTL_OPS_TENSOR_H

#include "common/tensors/format.h"

extern const kit_family tensor_scan_family;
extern const kit_family tensor_sort_family;
extern const kit_family tensor_reduce_family;
extern const kit_family tensor_matmul_family;
extern const kit_family tensor_sum_family;
extern const kit_family tensor_einsum_family;
extern const kit_family tensor_view_family;
extern const kit_family tensor_extreme_family;
extern const kit_family tensor_gather_family;
extern const kit_family tensor_lookup_family;
extern const kit_family tensor_move_family;
extern const kit_family tensor_cell_family;
extern const kit_family tensor_choose_family;
extern const kit_family tensor_join_family;
extern const kit_family tensor_random_family;
extern const kit_family tensor_make_family;
extern const kit_family tensor_pool_family;
extern const kit_family tensor_conv_family;
extern const kit_family tensor_scatter_family;
extern const kit_family tensor_order_family;
extern const kit_family tensor_blocks_family;
extern const kit_family tensor_convert_family;
extern const kit_family tensor_double_family;
extern const kit_family tensor_quantize_family;
extern const kit_family tensor_quantize_scale_family;
extern const kit_family tensor_variance_family;
extern const kit_family tensor_softmax_family;
extern const kit_family tensor_norm_family;
extern const kit_family tensor_cumsum_family;
extern const kit_family tensor_crc32_family;

/* laws.c */
void tensor_law_largest(kit_law *l);
void tensor_law_permuted(kit_law *l);
void tensor_law_inclusive(kit_law *l);
void tensor_law_exclusive(kit_law *l);
void tensor_law_permutation(kit_law *l);
void tensor_law_stable(kit_law *l);
void tensor_law_idempotent(kit_law *l);

#endif
