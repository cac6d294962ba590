/* Hashes that spread values and guard nothing: tables, and draws that repeat. What decides whom to believe is SHA-256
 * (runtime/cas/cid.h). */
#ifndef PIPECTL_FOUNDATION_BASE_HASH_H
#define PIPECTL_FOUNDATION_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FNV-1a of 32 and of 64 bits, over n bytes or a text, continuing from h; PCTL_FNV32 or PCTL_FNV64 to begin. */
#define PCTL_FNV32 2166136261u
#define PCTL_FNV64 UINT64_C(0xcbf29ce484222325)
#define PCTL_FNV64_PRIME UINT64_C(0x100000001b3)

static inline uint32_t pctl_fnv32(uint32_t h, const void *data, size_t n)
{
	for (const uint8_t *p = data; n > 0; n--)
		h = (h ^ *p++) * 16777619u;
	return h;
}
static inline uint64_t pctl_fnv64(uint64_t h, const void *data, size_t n)
{
	for (const uint8_t *p = data; n > 0; n--)
		h = (h ^ *p++) * PCTL_FNV64_PRIME;
	return h;
}
static inline uint64_t pctl_fnv64_text(uint64_t h, const char *text)
{
	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * PCTL_FNV64_PRIME;
	return h;
}

/* splitmix64: the step of its counter, and its finaliser (Stafford's variant 13). */
#define PCTL_SPLITMIX_STEP UINT64_C(0x9e3779b97f4a7c15)
static inline uint64_t pctl_mix64(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

#endif
