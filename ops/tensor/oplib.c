/* The tensor library: reusable plans over whole arrays (scan, stable sort, reductions, matrix products). */
#include "tensor.h"

static const kit_family *const families[] = {
	&tensor_scan_family,	       &tensor_sort_family,    &tensor_reduce_family,
	&tensor_matmul_family,	       &tensor_sum_family,     &tensor_einsum_family,
	&tensor_view_family,	       &tensor_extreme_family, &tensor_gather_family,
	&tensor_move_family,	       &tensor_make_family,    &tensor_pool_family,
	&tensor_conv_family,	       &tensor_scatter_family, &tensor_order_family,
	&tensor_convert_family,	       &tensor_blocks_family,  &tensor_cell_family,
	&tensor_choose_family,	       &tensor_join_family,    &tensor_random_family,
	&tensor_variance_family,       &tensor_softmax_family, &tensor_norm_family,
	&tensor_cumsum_family,	       &tensor_crc32_family,   &tensor_quantize_family,
	&tensor_quantize_scale_family, &tensor_lookup_family,  &tensor_double_family,
};

static const kit_library library = {families, KIT_COUNT(families), 0};

KIT_PLUGIN("tensor", library);
