/* Columns of random words, eight at a time in the compiler's vectors: 32-bit multiplications alone. */
#include "evidence/proof/random.h"

#include <string.h>

#define LANES 8u
typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));
/* A function would pass vectors by registers that not every processor has. */
#define MIX(x)                    \
	do {                      \
		x ^= x >> 16;     \
		x *= 0x7feb352du; \
		x ^= x >> 15;     \
		x *= 0x846ca68bu; \
		x ^= x >> 16;     \
	} while (0)

/* Of words whose counters have the same upper half. A product with an odd number is a permutation of the words, so is
 * each step of the mix: no two of 2^32 are alike, and streams differ in the factor as well as in what is added. */
static inline __attribute__((always_inline)) void fill(uint32_t low, uint32_t factor, uint32_t add,
						       uint64_t n, uint32_t *out)
{
	const lanes steps = {0, 1, 2, 3, 4, 5, 6, 7};
	uint64_t i = 0;
	lanes x;

	for (; i + LANES <= n; i += LANES) {
		x = (steps + (low + (uint32_t)i)) * factor + add;
		MIX(x);
		memcpy(out + i, &x, 4 * LANES);
	}
	x = (steps + (low + (uint32_t)i)) * factor + add;
	MIX(x);
	memcpy(out + i, &x, 4 * (n - i));
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void fill_avx2(uint32_t low, uint32_t factor, uint32_t add,
						      uint64_t n, uint32_t *out)
{
	fill(low, factor, add, n, out);
}
#endif

void pctl_proof_words(uint64_t seed, uint64_t stream, uint64_t first, uint64_t n, uint32_t *out)
{
	while (n != 0) {
		const uint64_t left = (UINT64_C(1) << 32) - (first & UINT32_MAX);
		const uint64_t now = n < left ? n : left;
		const uint64_t key = pctl_proof_mix(seed, stream, first >> 32);
		const uint32_t low = (uint32_t)first, factor = (uint32_t)key | 1;

#if defined(__x86_64__)
		if (__builtin_cpu_supports("avx2"))
			fill_avx2(low, factor, (uint32_t)(key >> 32), now, out);
		else
#endif
			fill(low, factor, (uint32_t)(key >> 32), now, out);
		out += now;
		first += now;
		n -= now;
	}
}
