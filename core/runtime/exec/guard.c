/* Implementation of guard.h. */
#include "runtime/exec/guard.h"

/* Another byte at every place and for every key, none of them zero: what is copied there shows. */
static uint8_t pattern(uint64_t key, uint64_t at)
{
	const uint64_t h = (key + at) * UINT64_C(0x9e3779b97f4a7c15);

	return (uint8_t)(h >> 56 | 1u);
}

void pctl_guard_fill(uint8_t *bytes, uint64_t n, uint64_t key, uint64_t at)
{
	for (uint64_t i = 0; i < n; i++)
		bytes[i] = pattern(key, at + i);
}

uint64_t pctl_guard_check(const uint8_t *bytes, uint64_t n, uint64_t key, uint64_t at)
{
	uint64_t i = 0;

	while (i < n && bytes[i] == pattern(key, at + i))
		i++;
	return i;
}
