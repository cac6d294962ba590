/* Chosen values: of integers by width, of floats by format and from a list of f32. */
#include "evidence/proof/values.h"

#include <string.h>

#include "evidence/proof/domain.h"

struct list {
	uint8_t (*values)[16];
	uint32_t n, n_bytes;
};

__extension__ typedef unsigned __int128 wide;

static void add(struct list *l, wide v)
{
	uint8_t bytes[16] = {0};

	for (uint32_t k = 0; k < l->n_bytes; k++)
		bytes[k] = (uint8_t)(v >> (8 * k) & 255);
	for (uint32_t i = 0; i < l->n; i++)
		if (memcmp(l->values[i], bytes, 16) == 0)
			return;
	if (l->n < PCTL_VALUES_MAX)
		memcpy(l->values[l->n++], bytes, 16);
}

/* Shifts by the width, carries at the halves, signs at the top. */
static void integers(struct list *l, uint32_t width)
{
	static const uint32_t powers[] = {1, 2, 7, 8, 16, 31, 32, 63, 64, 24, 4, 48, 96, 15, 33};
	const wide one = 1, top = one << (width - 1);
	const wide ones = top - 1 + top;

	add(l, 0);
	add(l, 1);
	add(l, ones);
	add(l, top);
	add(l, top - 1);
	add(l, width);
	add(l, width - 1);
	add(l, width + 1);
	add(l, 2);
	add(l, ones - 1);
	add(l, top + 1);
	add(l, one << (width / 2));
	add(l, (one << (width / 2)) - 1);
	add(l, (one << (width / 2)) + 1);
	add(l, ones / 3);     /* 0101.. */
	add(l, ones / 3 * 2); /* 1010.. */
	add(l, ones / 255 * 15);
	add(l, ones / 5);
	add(l, 3);
	add(l, 2 * width);
	for (uint32_t i = 0; i < sizeof(powers) / sizeof(powers[0]); i++) {
		if (powers[i] >= width)
			continue;
		add(l, one << powers[i]);
		add(l, (one << powers[i]) - 1);
		add(l, (one << powers[i]) + 1);
	}
	add(l, 10);
	add(l, (wide)0x9e3779b97f4a7c15u << 61 ^ 0x12345678u);
}

/* exponent, fraction: bits of these fields. */
static void floats(struct list *l, uint32_t dtype, uint32_t exponent, uint32_t fraction)
{
	static const uint32_t singles[] = {0x40000000, 0x3f000000, 0x40400000,
					   0x3fc00000, 0x40200000, /* 2 0.5 3 1.5 2.5 */
					   0xc0000000, 0xbf000000, 0xbfc00000,
					   0x3eaaaaab, 0x41200000, /* -2 -0.5 -1.5 1/3 10 */
					   0x40490fdb, 0x3fc90fdb, 0x402df854,
					   0x3f317218, 0x42b17218, /* pi pi/2 e ln2 88.7 */
					   0x4f000000, 0xcf000000, 0x4f800000,
					   0x4effffff, 0x43800000, /* 2^31 .. 256 */
					   0x477fe000, 0x477ff000, 0x3727c5ac,
					   0x60000000, 0x1f800000, /* 65504 65520 1e-5 */
					   0xc2b80000, 0x5f000000, 0x3a800000,
					   0x7f000000, 0x00ffffff};
	const uint32_t one_exponent = (1u << (exponent - 1)) - 1;
	const uint32_t one = one_exponent << fraction, sign = 1u << (exponent + fraction);
	const uint32_t infinity = ((1u << exponent) - 1) << fraction, least = 1u << fraction;
	const uint32_t quiet = least >> 1;

	add(l, 0);
	add(l, sign);
	add(l, one);
	add(l, infinity);
	add(l, infinity | quiet);
	add(l, 1); /* the smallest subnormal */
	add(l, infinity - 1);
	add(l, sign | one);
	add(l, sign | infinity);
	add(l, sign | 1);
	add(l, least - 1); /* the largest subnormal */
	add(l, least);
	add(l, one + 1);
	add(l, one - 1);
	add(l, infinity | 1);		     /* a signalling NaN */
	add(l, sign | infinity | quiet | 1); /* a NaN with sign and payload */
	add(l, sign | (infinity - 1));
	add(l, sign | least);
	add(l, sign | (least - 1));
	add(l, quiet);
	/* Sums and products of these are ties: 2^(fraction + 1) and its neighbours, one and a half steps. */
	add(l, (one_exponent + fraction + 1) << fraction);
	add(l, (one_exponent + fraction) << fraction | 1);
	add(l, ((one_exponent + fraction + 1) << fraction) - 1);
	add(l, one + 3);
	add(l, (one_exponent - fraction - 1) << fraction);
	add(l, (one_exponent - fraction) << fraction);
	add(l, (one_exponent - 1) << fraction | (quiet | 1));
	add(l, infinity - least);
	add(l, 2 * least);
	add(l, 3);
	for (uint32_t i = 0; i < sizeof(singles) / sizeof(singles[0]); i++)
		add(l, pctl_proof_from_f32(singles[i], dtype));
}

uint32_t pctl_proof_values(uint32_t dtype, uint8_t (*out)[16])
{
	struct list l = {out, 0, (uint32_t)pctl_proof_dtype_bytes(dtype)};

	switch (dtype) {
	case PCTL_SCALAR_I32:
	case PCTL_SCALAR_U32:
	case PCTL_SCALAR_I64:
	case PCTL_SCALAR_U64:
	case PCTL_DTYPE_U128:
		integers(&l, 8 * l.n_bytes);
		break;
	case PCTL_SCALAR_F16:
		floats(&l, dtype, 5, 10);
		break;
	case PCTL_SCALAR_BF16:
		floats(&l, dtype, 8, 7);
		break;
	case PCTL_SCALAR_F32:
		floats(&l, dtype, 8, 23);
		break;
	default:
		break;
	}
	return l.n;
}
