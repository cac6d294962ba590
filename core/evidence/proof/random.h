/* The counter-based mix that all generated numbers of proofs come from: a function of seed, stream and counter. */
#ifndef PIPECTL_EVIDENCE_PROOF_RANDOM_H
#define PIPECTL_EVIDENCE_PROOF_RANDOM_H

#include <stdint.h>

/* splitmix64's finaliser over seed, stream and counter. */
static inline uint64_t pctl_proof_mix(uint64_t seed, uint64_t stream, uint64_t counter)
{
	uint64_t z = seed * 0x9e3779b97f4a7c15u + stream * 0xd1b54a32d192ed03u + counter;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Words first .. first + n - 1 of a stream. */
void pctl_proof_words(uint64_t seed, uint64_t stream, uint64_t first, uint64_t n, uint32_t *out);

#endif
