/* The values devices go wrong at. */
#ifndef PIPECTL_EVIDENCE_PROOF_VALUES_H
#define PIPECTL_EVIDENCE_PROOF_VALUES_H

#include <stdint.h>

#define PCTL_VALUES_MAX 64u

/* Values of a dtype, the most telling first, no two alike; 16 bytes each, least significant first. Returns how many,
 * at most PCTL_VALUES_MAX; 0 for a dtype that has none. */
uint32_t pctl_proof_values(uint32_t dtype, uint8_t (*out)[16]);

#endif
