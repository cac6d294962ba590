/* Parts of tensors, for laws. */
#ifndef PIPECTL_OPS_TRANSFORMER_PARTS_H
#define PIPECTL_OPS_TRANSFORMER_PARTS_H

#include "common/tensors/elements.h"

/* The block of tensor `of` that begins at coordinate `from` of dimension d and has n places there; the other dimensions whole. */
uint32_t part_of(kit_law *l, uint32_t of, uint32_t d, uint64_t from, uint64_t n);
/* A vector of u32. */
uint32_t part_words(kit_law *l, const uint32_t *words, uint64_t n);
/* One more or less of each: element i of a u32 vector and `by`. */
uint32_t part_moved(kit_law *l, uint32_t of, uint32_t by);

#endif
