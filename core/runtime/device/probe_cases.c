/* The operands of the probe: all combinations of the values at which floats change their behaviour, then numbers drawn
 * from distributions that make subnormals, cancellation, ties and products near the smallest normal likely. A case is
 * a function of its number alone. */
#include "runtime/device/probe_private.h"

#include "foundation/base/hash.h"

/* Finalizer of a 64-bit counter: Stafford's variant 13. */
uint64_t probe_random(uint64_t counter)
{
	uint64_t z = counter * PCTL_SPLITMIX_STEP + 0x632be59bd9b4e019u;

	return pctl_mix64(z);
}

struct format {
	uint32_t bits, mantissa;
};

static struct format format_of(uint8_t scalar)
{
	switch (scalar) {
	case PCTL_SCALAR_F16:
		return (struct format){16, 10};
	case PCTL_SCALAR_F64:
		return (struct format){64, 52};
	case PCTL_SCALAR_F32:
		return (struct format){32, 23};
	default: /* integers that are converted to floats */
		return (struct format){32, 0};
	}
}

static uint64_t bias(struct format f)
{
	return (1ull << (f.bits - f.mantissa - 2)) - 1;
}

/* sign, biased exponent, mantissa */
static uint64_t pack(struct format f, uint64_t sign, uint64_t exponent, uint64_t mantissa)
{
	return sign << (f.bits - 1) | exponent << f.mantissa | mantissa;
}

#define N_SPECIAL 24u

static uint64_t special(struct format f, uint32_t k)
{
	const uint64_t all = (1ull << f.mantissa) - 1, top = 2 * bias(f) + 1, one = bias(f);
	const uint64_t values[N_SPECIAL / 2] = {
		0,
		1,		  /* smallest subnormal */
		all,		  /* largest subnormal */
		pack(f, 0, 1, 0), /* smallest normal */
		pack(f, 0, 1, 1),
		pack(f, 0, one, 0),			       /* 1 */
		pack(f, 0, one, 1),			       /* 1 + ulp */
		pack(f, 0, one - 1, all),		       /* 1 - ulp/2 */
		pack(f, 0, one + f.mantissa, 1),	       /* odd integers begin to matter */
		pack(f, 0, top - 1, all),		       /* largest */
		pack(f, 0, top, 0),			       /* infinity */
		pack(f, 0, top, 1ull << (f.mantissa - 1) | 5), /* a NaN with a payload */
	};

	return values[k / 2] | (uint64_t)(k & 1) << (f.bits - 1);
}

static uint64_t integer(uint32_t i, uint32_t k)
{
	const uint64_t r = probe_random(0x1f00000000u + (uint64_t)i * 4 + k);

	if (i < 66)
		return ((i & 1 ? 0u - 1u : 0u) + (1u << (i / 2 & 31))) & 0xffffffffu;
	return (r & 0xffffffffu) >> (r >> 59);
}

static uint64_t drawn(struct format f, uint32_t set, uint32_t i, uint32_t k)
{
	const uint64_t r = probe_random((uint64_t)i * 4 + k + (set == PROBE_CALM ? 1ull << 40 : 0));
	const uint64_t mask = (1ull << f.mantissa) - 1, one = bias(f), sign = r >> 63;
	const uint64_t mantissa = r & mask, small = r >> 56 & 7;

	if (set == PROBE_CALM)
		return pack(f, sign, one + small - 4, mantissa);
	switch (i & 7) {
	case 0: /* any bits */
		return f.bits == 64 ? r : r >> 7 & ((1ull << f.bits) - 1);
	case 1: /* near 1 */
		return pack(f, sign, one + small - 4, mantissa);
	case 2: /* subnormals and their neighbours */
		return pack(f, sign, small < 5 ? 0 : small - 4, mantissa >> (r >> 58 & 15));
	case 3: /* products and quotients that land near the smallest normal */
		return pack(f, sign, k == 1 ? one - one / 2 - small : one - one / 2 + small,
			    mantissa);
	case 4: /* few bits set: ties */
		return pack(f, sign, one + small - 4,
			    mantissa & mantissa << 3 & ~(mask >> (f.mantissa / 2)));
	case 5: /* one tiny operand */
		return pack(f, sign, k == 2 ? 0 : one + (r >> 50 & 15) - 8, mantissa);
	case 6: /* sums near the smallest normal */
		return pack(f, sign, 1 + small / 2, mantissa);
	default: /* close to each other: cancellation */
		return pack(f, sign, one + (k & 1), (probe_random(i) & mask & ~15ull) | small);
	}
}

void probe_operands(uint8_t scalar, uint32_t set, uint32_t i, uint64_t out[3])
{
	const struct format f = format_of(scalar);
	const uint32_t step[3] = {1, N_SPECIAL, N_SPECIAL * N_SPECIAL},
		       cube = N_SPECIAL * N_SPECIAL * N_SPECIAL;
	/* 5437 has no factor of the cube: the first few cases are spread over all combinations. */
	const uint32_t at = i / 2 * 5437u % cube;

	for (uint32_t k = 0; k < 3; k++) {
		if (scalar == PCTL_SCALAR_I32 || scalar == PCTL_SCALAR_U32)
			out[k] = integer(i, k);
		else if (set == PROBE_ANY && i % 2 == 0 && i / 2 < cube)
			out[k] = special(f, at / step[k] % N_SPECIAL);
		else
			out[k] = drawn(f, set, i, k);
	}
}
