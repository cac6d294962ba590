/* Codes of single elements: what number a code is, and the nearest code of a number. */
#include <string.h>

#include "foundation/base/bytes.h"
#include "foundation/dtype/dtype.h"

/* ---- bits in memory ---- */

static uint64_t mask(uint32_t bits)
{
	return bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
}

static uint64_t load(const void *data, uint64_t i, uint32_t bits)
{
	const uint8_t *at = data;

	if (bits < 8)
		return (uint64_t)at[i * bits / 8] >> i * bits % 8 & mask(bits);
	return pctl_le_get(at + i * (bits / 8), bits / 8);
}

static void store(void *data, uint64_t i, uint32_t bits, uint64_t code)
{
	uint8_t *at = data;

	if (bits < 8) {
		at += i * bits / 8;
		*at = (uint8_t)((*at & ~(mask(bits) << i * bits % 8)) | code << i * bits % 8);
		return;
	}
	pctl_le_put(at + i * (bits / 8), code, bits / 8);
}

/* ---- floats ---- */

static int32_t bias(const pctl_dtype *t)
{
	return (int32_t)(1u << (t->exponent - 1)) - 1;
}

/* The largest code of a finite number, without its sign. */
static uint64_t largest(const pctl_dtype *t)
{
	const uint64_t ones = mask(t->bits - 1);

	switch (t->specials) {
	case PCTL_DTYPE_SPECIALS_IEEE:
		return (mask(t->exponent) << t->fraction) - 1;
	case PCTL_DTYPE_SPECIALS_FINITE:
		return ones - 1;
	default:
		return ones;
	}
}

static pctl_exact read_float(const pctl_dtype *t, uint64_t code)
{
	const uint64_t magnitude = code & mask(t->bits - 1);
	const uint64_t fraction = code & mask(t->fraction);
	const uint32_t exponent = (uint32_t)(magnitude >> t->fraction);
	pctl_exact v = {PCTL_EXACT_FINITE, (uint32_t)(code >> (t->bits - 1)), fraction, 0};

	if (magnitude > largest(t)) {
		if (t->specials == PCTL_DTYPE_SPECIALS_IEEE && fraction == 0)
			return (pctl_exact){PCTL_EXACT_INFINITE, v.negative, 0, 0};
		return (pctl_exact){PCTL_EXACT_NAN, 0, 0, 0};
	}
	if (exponent != 0)
		v.magnitude |= 1ull << t->fraction;
	v.exponent = (exponent != 0 ? (int32_t)exponent : 1) - bias(t) - (int32_t)t->fraction;
	return v;
}

/* The canonical NaN: quiet, positive, no payload. Returns 0 where the type has none. */
static int nan_code(const pctl_dtype *t, uint64_t *code)
{
	if (t->specials == PCTL_DTYPE_SPECIALS_NONE)
		return 0;
	*code = t->specials == PCTL_DTYPE_SPECIALS_FINITE
			? mask(t->bits - 1)
			: (mask(t->exponent + 1) << (t->fraction - 1));
	return 1;
}

static uint64_t beyond(const pctl_dtype *t, pctl_dtype_overflow overflow)
{
	uint64_t code = largest(t);

	if (overflow == PCTL_DTYPE_OVERFLOW_SATURATE)
		return code;
	if (t->specials == PCTL_DTYPE_SPECIALS_IEEE)
		return code + 1;
	(void)nan_code(t, &code);
	return code;
}

/* Codes of magnitudes stand in the order of the numbers: what is rounded with an unbounded exponent has a code too, and is
 * beyond the type where that is above the largest. */
static int write_float(const pctl_dtype *t, pctl_exact v, pctl_dtype_overflow overflow,
		       uint64_t *code)
{
	const int32_t least = 1 - bias(t) - (int32_t)t->fraction; /* of the last bit */
	const uint64_t hidden = 1ull << t->fraction;
	const uint64_t sign = (uint64_t)v.negative << (t->bits - 1);
	uint64_t m = v.magnitude;
	int32_t unit = least;

	if (v.kind == PCTL_EXACT_NAN)
		return nan_code(t, code);
	if (v.kind == PCTL_EXACT_INFINITE) {
		*code = beyond(t, overflow);
	} else {
		if (m != 0) {
			const int32_t top = v.exponent + 63 - __builtin_clzll(m);

			if (top - (int32_t)t->fraction > unit)
				unit = top - (int32_t)t->fraction;
			m = pctl_exact_round(m, v.exponent, unit);
		}
		/* A magnitude that was rounded up to the next power of two carries into the exponent, as it should. */
		*code = m < hidden ? m
				   : ((uint64_t)(int64_t)(unit - least + 1) << t->fraction) +
					     (m - hidden);
		if (m >= hidden && unit - least + 1 >= 1 << (t->exponent + 1))
			*code = UINT64_MAX; /* too far for the sum */
		if (*code > largest(t))
			*code = beyond(t, overflow);
	}
	/* A NaN that stands for what is beyond has no sign. */
	if (!(overflow == PCTL_DTYPE_OVERFLOW_IEEE && t->specials == PCTL_DTYPE_SPECIALS_FINITE &&
	      *code > largest(t)))
		*code |= sign;
	return 1;
}

/* ---- integers ---- */

static uint64_t write_integer(pctl_exact v, int64_t low, uint64_t high)
{
	const uint64_t most = v.negative ? 0 - (uint64_t)low : high;
	uint64_t m;

	if (v.kind == PCTL_EXACT_NAN)
		return 0;
	m = v.kind == PCTL_EXACT_INFINITE ? UINT64_MAX
					  : pctl_exact_round(v.magnitude, v.exponent, 0);
	m = m < most ? m : most;
	return v.negative ? 0 - m : m;
}

static int below_zero(pctl_exact v)
{
	return v.kind != PCTL_EXACT_NAN && v.negative &&
	       (v.kind == PCTL_EXACT_INFINITE || v.magnitude != 0);
}

int pctl_dtype_read(const pctl_dtype *t, const void *data, uint64_t i, pctl_exact *out)
{
	uint64_t code;

	*out = (pctl_exact){PCTL_EXACT_NAN, 0, 0, 0};
	if (t->kind == PCTL_DTYPE_KIND_OPAQUE)
		return 0;
	if (t->kind == PCTL_DTYPE_KIND_BLOCK) {
		*out = pctl_dtype_block_read(t,
					     (const uint8_t *)data + i / t->block * (t->bits / 8),
					     (uint32_t)(i % t->block));
		return 1;
	}
	code = load(data, i, t->bits);
	switch (t->kind) {
	case PCTL_DTYPE_KIND_FLOAT:
		*out = read_float(t, code);
		return 1;
	case PCTL_DTYPE_KIND_BINARY:
		*out = pctl_exact_integer(code ? 1 : -1);
		return 1;
	case PCTL_DTYPE_KIND_INT:
	case PCTL_DTYPE_KIND_TERNARY:
		if (t->kind == PCTL_DTYPE_KIND_TERNARY && code == 2)
			return 0;
		if (code >> (t->bits - 1))
			code |= ~mask(t->bits);
		*out = pctl_exact_integer((int64_t)code);
		return 1;
	default:
		if (t->kind == PCTL_DTYPE_KIND_BOOL && code > 1)
			return 0;
		*out = (pctl_exact){PCTL_EXACT_FINITE, 0, code, 0};
		return 1;
	}
}

int pctl_dtype_write(const pctl_dtype *t, pctl_exact v, pctl_dtype_overflow overflow, void *data,
		     uint64_t i)
{
	uint64_t code = 0;

	switch (t->kind) {
	case PCTL_DTYPE_KIND_FLOAT:
		if (!write_float(t, v, overflow, &code))
			return 0;
		break;
	case PCTL_DTYPE_KIND_BOOL:
		code = v.kind != PCTL_EXACT_FINITE || v.magnitude != 0;
		break;
	case PCTL_DTYPE_KIND_BINARY:
		code = !below_zero(v);
		break;
	case PCTL_DTYPE_KIND_TERNARY:
		code = write_integer(v, -1, 1);
		break;
	case PCTL_DTYPE_KIND_UINT:
		code = below_zero(v) ? 0 : write_integer(v, 0, mask(t->bits));
		break;
	case PCTL_DTYPE_KIND_INT:
		code = write_integer(v, t->bits == 64 ? INT64_MIN : -((int64_t)1 << (t->bits - 1)),
				     mask(t->bits - 1));
		break;
	default:
		return 0;
	}
	store(data, i, t->bits, code & mask(t->bits));
	return 1;
}
