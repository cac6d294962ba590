/* Amounts of gas: unsigned 64-bit numbers, checked, kept in tables as eight bytes, most significant first. */
#ifndef PIPECTL_CHAIN_STATE_AMOUNT_H
#define PIPECTL_CHAIN_STATE_AMOUNT_H

#include <string.h>

#include "foundation/base/num.h"

#define PCTL_AMOUNT_BYTES 8u
#define PCTL_PPM 1000000u

/* 1 and the sum or difference; 0 when it does not fit, *out then as it was. */
static inline int pctl_amount_add(uint64_t *out, uint64_t by)
{
	uint64_t sum;

	if (!pctl_num_add(*out, by, &sum))
		return 0;
	*out = sum;
	return 1;
}
static inline int pctl_amount_sub(uint64_t *out, uint64_t by)
{
	if (*out < by)
		return 0;
	*out -= by;
	return 1;
}

/* amount * ppm / 10^6, rounded down, exact for every amount; ppm is at most 10^6. */
static inline uint64_t pctl_amount_part(uint64_t amount, uint64_t ppm)
{
	return amount / PCTL_PPM * ppm + amount % PCTL_PPM * ppm / PCTL_PPM;
}
/* The same, rounded up. */
static inline uint64_t pctl_amount_part_up(uint64_t amount, uint64_t ppm)
{
	return amount - pctl_amount_part(amount, PCTL_PPM - ppm);
}

static inline void pctl_amount_put(uint64_t amount, uint8_t out[PCTL_AMOUNT_BYTES])
{
	for (int i = 0; i < 8; i++)
		out[i] = (uint8_t)(amount >> (56 - 8 * i));
}
static inline uint64_t pctl_amount_get(const uint8_t in[PCTL_AMOUNT_BYTES])
{
	uint64_t amount = 0;

	for (int i = 0; i < 8; i++)
		amount = amount << 8 | in[i];
	return amount;
}

/* What a person types: decimal digits, parted by single '_' or not. 1 on success. */
static inline int pctl_amount_parse(const char *text, uint64_t *out)
{
	const size_t n = strlen(text);

	*out = 0;
	return strspn(text, "0123456789_") == n && pctl_num_parse_u64(text, n, out);
}

#endif
