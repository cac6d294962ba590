/* Columns of random words, in a loop that becomes vectors: 32-bit multiplications alone. */
#include "proof/random.h"

/* Of words whose counters have the same upper half. A product with an odd number is a permutation of the words, so is
 * each step of the mix: no two of 2^32 are alike, and streams differ in the factor as well as in what is added. */
__attribute__((optimize("O3"))) static void fill(uint32_t low, uint32_t factor, uint32_t add,
						 uint64_t n, uint32_t *restrict out)
{
	for (uint64_t i = 0; i < n; i++) {
		uint32_t x = (low + (uint32_t)i) * factor + add;

		x ^= x >> 16;
		x *= 0x7feb352du;
		x ^= x >> 15;
		x *= 0x846ca68bu;
		out[i] = x ^ (x >> 16);
	}
}

void pctl_proof_words(uint64_t seed, uint64_t stream, uint64_t first, uint64_t n, uint32_t *out)
{
	while (n != 0) {
		const uint64_t left = (UINT64_C(1) << 32) - (first & UINT32_MAX);
		const uint64_t now = n < left ? n : left;
		const uint64_t key = pctl_proof_mix(seed, stream, first >> 32);

		fill((uint32_t)first, (uint32_t)key | 1, (uint32_t)(key >> 32), now, out);
		out += now;
		first += now;
		n -= now;
	}
}
