/* See exponent_range_rules.h. */
#include "compiler/legalize/exponent_range_rules.h"

const legal_exponent_range legal_range_unknown = {LEGAL_LSB_LEAST, LEGAL_LSB_LEAST, LEGAL_TOP_MOST,
						  0};
const legal_exponent_range legal_range_nothing = {LEGAL_LSB_MOST, LEGAL_LSB_MOST, -LEGAL_LSB_MOST,
						  1};

static int16_t between(int least, int x, int most)
{
	return (int16_t)(x < least ? least : x > most ? most : x);
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

static int most(int a, int b)
{
	return a > b ? a : b;
}

/* What is rounded to an f32 of at least 2^low has 23 places below its first. */
static legal_exponent_range with_low(int lsb, int low, int top)
{
	lsb = between(LEGAL_LSB_LEAST, most(lsb, low - 23), LEGAL_LSB_MOST);
	return (legal_exponent_range){(int16_t)lsb, between(lsb, low, LEGAL_LSB_MOST),
				      between(-LEGAL_LSB_MOST, top, LEGAL_TOP_MOST),
				      top <= LEGAL_TOP_MOST};
}

legal_exponent_range legal_range_made(int lsb, int top)
{
	return with_low(lsb, lsb, top);
}

legal_exponent_range legal_range_at_least(int low, int top)
{
	return with_low(low - 23, low, top);
}

legal_exponent_range legal_range_either(legal_exponent_range a, legal_exponent_range b)
{
	return (legal_exponent_range){(int16_t)least(a.lsb, b.lsb), (int16_t)least(a.low, b.low),
				      (int16_t)most(a.top, b.top), a.is_finite && b.is_finite};
}

legal_exponent_range legal_range_product(legal_exponent_range a, legal_exponent_range b)
{
	return (legal_exponent_range){between(2 * LEGAL_LSB_LEAST, a.lsb + b.lsb, LEGAL_LSB_MOST),
				      between(2 * LEGAL_LSB_LEAST, a.low + b.low, LEGAL_LSB_MOST),
				      between(-LEGAL_LSB_MOST, a.top + b.top, LEGAL_TOP_MOST),
				      a.is_finite && b.is_finite &&
					      a.top + b.top <= LEGAL_TOP_MOST};
}

legal_exponent_range legal_range_of_bits(uint32_t bits)
{
	const uint32_t fraction = bits & 0x7fffffu, exponent = (bits >> 23) & 0xffu;
	int zeros = 0;

	if (!(bits << 1))
		return legal_range_nothing;
	if (exponent == 0xff)
		return (legal_exponent_range){LEGAL_LSB_MOST, LEGAL_LSB_MOST, -LEGAL_LSB_MOST, 0};
	while (zeros < 23 && !((fraction >> zeros) & 1u))
		zeros++;
	if (!exponent)
		return legal_range_made(-149 + zeros, -126);
	return with_low((int)exponent - 150 + zeros, (int)exponent - 127, (int)exponent - 126);
}

/* exp2 of |x| < 2^top lies between 2^-n and 2^n; e^x, 10^x likewise with their factors. */
static legal_exponent_range power(const legal_exponent_range *a, int numerator, int denominator)
{
	int n;

	if (a->top > 7)
		return legal_range_unknown;
	n = a->top < 0 ? 1 : (1 << a->top);
	n = (n * numerator + denominator - 1) / denominator;
	return legal_range_at_least(-n - 1, n + 1);
}

legal_exponent_range legal_range_from(uint8_t scalar)
{
	switch (scalar) {
	case PCTL_SCALAR_I32:
	case PCTL_SCALAR_U32:
		return legal_range_made(0, 33);
	case PCTL_SCALAR_F16:
		return (legal_exponent_range){-24, -24, 16, 0};
	case PCTL_SCALAR_BF16:
		return (legal_exponent_range){-133, -133, LEGAL_TOP_MOST, 0};
	default:
		return legal_range_unknown;
	}
}

/* Half of a lsb, rounded down. */
static int half(int lsb)
{
	return lsb >= 0 ? lsb / 2 : -((1 - lsb) / 2);
}

/* The result of a strict operation that yields f32; a is its operands. Elementary functions: next to
 * log's zero lie 1 - 2^-24 and 1 + 2^-23, whose logarithms are 2^-24 and more (2^-26 for log10). No f32
 * beyond 1 comes nearer to a zero of sin or cos than that their value is 2^-30 (all of them were tried;
 * the least is cos(0x1.f37c8ap+95), 0x1.bbddp-30). */
static legal_exponent_range result(uint16_t op, const legal_exponent_range *a)
{
	switch (op) {
	case PCTL_OP_FADD:
	case PCTL_OP_FSUB:
		return legal_range_made(least(a[0].lsb, a[1].lsb), most(a[0].top, a[1].top) + 1);
	case PCTL_OP_FMUL:
		return with_low(a[0].lsb + a[1].lsb, a[0].low + a[1].low, a[0].top + a[1].top + 1);
	case PCTL_OP_FFMA:
		return legal_range_made(least(a[0].lsb + a[1].lsb, a[2].lsb),
					most(a[0].top + a[1].top, a[2].top) + 2);
	case PCTL_OP_FDIV:
		return legal_range_at_least(a[0].low - a[1].top, a[0].top - a[1].low + 1);
	case PCTL_OP_FSQRT:
		return legal_range_at_least(half(a[0].low), most(0, a[0].top) / 2 + 1);
	case PCTL_OP_FNEG:
	case PCTL_OP_FABS:
		return a[0];
	case PCTL_OP_FMIN:
	case PCTL_OP_FMAX:
		return legal_range_either(a[0], a[1]);
	case PCTL_OP_FFLOOR:
	case PCTL_OP_FCEIL:
	case PCTL_OP_FTRUNC:
	case PCTL_OP_FROUND:
		/* what is 2^24 or more is itself */
		return legal_range_made(most(a[0].lsb, 0),
					least(most(a[0].top, 0) + 1, LEGAL_TOP_MOST));
	case PCTL_OP_FEXP:
		return power(a, 3, 2);
	case PCTL_OP_FEXP2:
		return power(a, 1, 1);
	case PCTL_OP_FEXP10:
		return power(a, 7, 2);
	case PCTL_OP_FLOG:
	case PCTL_OP_FLOG2:
		return legal_range_at_least(-24, 8);
	case PCTL_OP_FLOG10:
		return legal_range_at_least(-26, 6);
	case PCTL_OP_FRSQRT:
		return legal_range_at_least(-64, 76);
	case PCTL_OP_FCBRT:
		return legal_range_at_least(-50, 44);
	case PCTL_OP_FCOS:
		return legal_range_at_least(-30, 1);
	case PCTL_OP_FSIN:
		return legal_range_at_least(least(a[0].lsb - 1, -30), 1);
	case PCTL_OP_FTAN:
		return legal_range_at_least(least(a[0].lsb - 1, -30), 31);
	case PCTL_OP_FATAN:
		return legal_range_at_least(least(a[0].lsb - 1, -1), 1);
	case PCTL_OP_FTANH:
		return legal_range_made(LEGAL_LSB_LEAST, 1);
	default:
		return legal_range_unknown;
	}
}

/* Operations that make a NaN or an infinity of finite operands, whatever their ranges. */
static int has_poles(uint16_t op)
{
	switch (op) {
	case PCTL_OP_FDIV:
	case PCTL_OP_FSQRT:
	case PCTL_OP_FLOG:
	case PCTL_OP_FLOG2:
	case PCTL_OP_FLOG10:
	case PCTL_OP_FRSQRT:
		return 1;
	default:
		return 0;
	}
}

legal_exponent_range legal_range_operation(uint16_t op, const legal_exponent_range *a, uint32_t n)
{
	legal_exponent_range r = result(op, a);

	r.is_finite = r.is_finite && !has_poles(op);
	for (uint32_t i = 0; i < n; i++)
		r.is_finite = r.is_finite && a[i].is_finite;
	return r;
}
