/* Philox4x32 with ten rounds (Salmon, Moraes, Dror and Shaw 2011; SEMANTICS.md 16.9): 128 bits that are a function of a counter and a key.
 * Numbers that repeat everywhere, and guard nothing. */
#ifndef PIPECTL_FOUNDATION_BASE_PHILOX_H
#define PIPECTL_FOUNDATION_BASE_PHILOX_H

#include <stdint.h>

/* The block of a counter and a key (words, the lower first). */
static inline void pctl_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
	uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3];
	uint32_t k = key[0], l = key[1];

	for (uint32_t round = 0; round < 10; round++) {
		const uint64_t p = UINT64_C(0xD2511F53) * a, q = UINT64_C(0xCD9E8D57) * c;

		a = (uint32_t)(q >> 32) ^ b ^ k;
		c = (uint32_t)(p >> 32) ^ d ^ l;
		b = (uint32_t)q;
		d = (uint32_t)p;
		k += 0x9E3779B9u;
		l += 0xBB67AE85u;
	}
	out[0] = a;
	out[1] = b;
	out[2] = c;
	out[3] = d;
}

#endif
