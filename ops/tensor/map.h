/* Elementwise ends of normalisations: every element of y from that of x and from what was found of its row. */
#ifndef PIPECTL_OPS_TENSOR_MAP_H
#define PIPECTL_OPS_TENSOR_MAP_H

#include "matmul.h"
#include "reduce_axes.h"

#define TENSOR_MAP_SLOTS 6u

/*
 * text   WGSL: variables of bindings 3 and on, and fn value(i: u32, x: f32) -> f32, element i of y from x's; row_of(i) is its row, channel_of(i) its channel
 * slots  bindings 3 and on
 */
typedef struct tensor_map {
	const char *name;
	uint64_t block, inner;	 /* n * inner, inner */
	uint64_t rest, channels; /* element i belongs to channel i / rest % channels */
	const kit_slot *slots;
	uint32_t n_slots;
} tensor_map;

/* The text's beginning, for what `value` is to be added to: w is a new text, m's `inner` is known. */
void tensor_map_text(kit_plan *p, const tensor_map *m, kit_wgsl *w);
/* From input 0 to output 0. The text is used up. */
void tensor_map_run(kit_plan *p, const tensor_map *m, kit_wgsl *w);

#endif
