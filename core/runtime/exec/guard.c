/* Implementation of guard.h. */
#include "runtime/exec/guard.h"

#define STEP UINT64_C(0x9e3779b97f4a7c15)

/* Another byte at every place and for every key, none of them zero: what is copied there shows. `h` is STEP times key and place,
 * kept as a sum, for zones are written and compared in every run. */
static uint8_t pattern(uint64_t h)
{
	return (uint8_t)(h >> 56 | 1u);
}

void pctl_guard_fill(uint8_t *bytes, uint64_t n, uint64_t key, uint64_t at)
{
	uint64_t h = (key + at) * STEP;

	for (uint64_t i = 0; i < n; i++, h += STEP)
		bytes[i] = pattern(h);
}

uint64_t pctl_guard_check(const uint8_t *bytes, uint64_t n, uint64_t key, uint64_t at)
{
	uint64_t h = (key + at) * STEP, i = 0;

	for (; i < n && bytes[i] == pattern(h); h += STEP)
		i++;
	return i;
}
