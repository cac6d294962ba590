/* The counter-based mix that all generated numbers of proofs come from: a function of seed, stream and counter. */
#ifndef PIPECTL_EVIDENCE_PROOF_RANDOM_H
#define PIPECTL_EVIDENCE_PROOF_RANDOM_H

#include <stdint.h>

#include "foundation/base/hash.h"

/* splitmix64's finaliser over seed, stream and counter. */
static inline uint64_t pctl_proof_mix(uint64_t seed, uint64_t stream, uint64_t counter)
{
	uint64_t z = seed * PCTL_SPLITMIX_STEP + stream * 0xd1b54a32d192ed03u + counter;

	return pctl_mix64(z);
}

/* Words first .. first + n - 1 of a stream. */
void pctl_proof_words(uint64_t seed, uint64_t stream, uint64_t first, uint64_t n, uint32_t *out);

#endif
