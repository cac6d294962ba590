/* What the parts of `synth` share. */
#ifndef PIPECTL_MODEL_SYNTH_PRIVATE_H
#define PIPECTL_MODEL_SYNTH_PRIVATE_H

#include <stdint.h>

/* n elements from `first` on, times scale: four a block, element i of a tensor is word i mod 4 of block i div 4 (SEMANTICS.md 19.3). */
void synth_words(const uint32_t key[2], uint32_t stream, uint32_t layer, uint64_t first, uint64_t n,
		 float scale, float *out);

#endif
