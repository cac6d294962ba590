/* Numbers as bytes, the least significant first (le) or last (be), on any machine. n is at most 8; of more, the first 8 are read. */
#ifndef PIPECTL_FOUNDATION_BASE_BYTES_H
#define PIPECTL_FOUNDATION_BASE_BYTES_H

#include <stdint.h>

static inline void pctl_le_put(void *to, uint64_t v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		((uint8_t *)to)[i] = (uint8_t)(v >> (8 * i));
}

static inline void pctl_be_put(void *to, uint64_t v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		((uint8_t *)to)[i] = (uint8_t)(v >> (8 * (n - 1 - i)));
}

static inline uint64_t pctl_le_get(const void *from, uint64_t n)
{
	uint64_t v = 0;

	for (uint64_t i = 0; i < n && i < 8; i++)
		v |= (uint64_t)((const uint8_t *)from)[i] << (8 * i);
	return v;
}

static inline uint64_t pctl_be_get(const void *from, uint64_t n)
{
	uint64_t v = 0;

	for (uint64_t i = 0; i < n && i < 8; i++)
		v = v << 8 | ((const uint8_t *)from)[i];
	return v;
}

#endif
