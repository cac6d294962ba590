/* transformer.rope_table by integers: numbers of 120 binary places, a long pi/2 for the reduction, series for the functions, and a rounding that says
 * where these places do not tell. Nothing of it is the library's other way, and nothing MPFR's. */
#include <math.h>

#include "rope_table.h"

#define PLACES 120
#define DOUBT \
	128 /* units by which a result here may be off: fewer than forty terms of series, each by fewer than three */

__extension__ typedef __int128 fixed;
__extension__ typedef unsigned __int128 ufixed;

static const fixed one = (fixed)1 << PLACES;
static const fixed ln2 = (fixed)0xb17217f7d1cf79u << 64 | 0xabc9e3b39803f2f7u;
/* pi / 2 in digits of 32 bits, the first 2^-224. */
static const uint32_t half_pi[8] = {0x04177d4cu, 0x14cf98e8u, 0x52049c11u, 0x01b839a2u,
				    0x898cc517u, 0x42d18469u, 0x921fb544u, 0x00000001u};

static ufixed times_magnitude(ufixed a, ufixed b)
{
	const uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a, b1 = (uint64_t)(b >> 64),
		       b0 = (uint64_t)b;
	const ufixed low = (ufixed)a0 * b0, cross1 = (ufixed)a1 * b0, cross0 = (ufixed)a0 * b1;
	const ufixed middle = (low >> 64) + (uint64_t)cross1 + (uint64_t)cross0;
	const ufixed high = (ufixed)a1 * b1 + (cross1 >> 64) + (cross0 >> 64) + (middle >> 64);

	return high << (128 - PLACES) | (uint64_t)middle >> (PLACES - 64);
}

static fixed times(fixed a, fixed b)
{
	const ufixed m = times_magnitude((ufixed)(a < 0 ? -a : a), (ufixed)(b < 0 ? -b : b));

	return (a < 0) != (b < 0) ? -(fixed)m : (fixed)m;
}

/* x has more than 2^-121 of these places. */
static fixed fixed_of(double x)
{
	int exponent;
	const int64_t m = (int64_t)ldexp(frexp(x, &exponent), 53);

	exponent += PLACES - 53;
	return exponent < 0 ? (fixed)(m >> -exponent) : (fixed)m * ((fixed)1 << exponent);
}

/* v above 0, to the nearest f32; 1 where its doubt reaches a middle. */
static int nearest(fixed v, float *out)
{
	int top = 126, last;
	fixed rest, half;
	int64_t kept;

	while (top > 0 && !(v >> top & 1))
		top--;
	last = top - 23;
	if (last < 9)
		return 1;
	rest = v & (((fixed)1 << last) - 1);
	half = (fixed)1 << (last - 1);
	kept = (int64_t)(v >> last) + (rest > half);
	*out = (float)ldexp((double)kept, last - PLACES);
	return rest > half - DOUBT && rest < half + DOUBT;
}

/* ---- frequencies ---------------------------------------------------------------------------- */

/* 2 * atanh((m - 1) / (m + 1)) + k * ln 2, of m * 2^k. */
static fixed logarithm(double x)
{
	int k;
	const double m = frexp(x, &k);
	const fixed a = fixed_of(m) - one, b = fixed_of(m) + one;
	fixed z = 0, square, power, sum = 0, rest = a < 0 ? -a : a;

	for (int i = 0; i < PLACES; i++) { /* long division, of what is below 1 */
		rest <<= 1;
		z <<= 1;
		if (rest >= b) {
			rest -= b;
			z |= 1;
		}
	}
	power = a < 0 ? -z : z;
	square = times(z, z);
	for (int n = 1; power != 0; n += 2) {
		sum += power / n;
		power = times(power, square);
	}
	return 2 * sum + (fixed)k * ln2;
}

/* e^x = 2^k * e^r, x at least 0. */
static fixed exponential(fixed x, int *k)
{
	fixed term = one, sum = 0, r;

	*k = (int)(x / ln2);
	r = x - (fixed)*k * ln2;
	for (int n = 1; term != 0; n++) {
		sum += term;
		term = times(term, r) / n;
	}
	return sum;
}

/* base^e; a power of 1 and one with 0 are 1. */
static int power_of(float base, float e, float *out)
{
	int k, doubt;
	const fixed y = exponential(times(fixed_of((double)e), logarithm((double)base)), &k);

	doubt = nearest(y, out);
	*out = ldexpf(*out, k);
	return doubt;
}

/* Of two f32 what an f64 gives rounds to what the exact result rounds to. */
static float div32(float a, float b)
{
	return (float)((double)a / (double)b);
}

static float mul32(float a, float b)
{
	return (float)((double)a * (double)b);
}

static int signed_nearest(fixed v, float *out)
{
	const int doubt = v == 0 ? 0 : nearest(v < 0 ? -v : v, out);

	*out = v == 0 ? 0 : v < 0 ? -*out : *out;
	return doubt;
}

/* dims * ln(original / (turns * 2 pi)) / (2 * ln(base)) */
static int pair_of(const rope_table *t, float turns, float *out)
{
	const float a = div32(t->original, mul32(turns, 6.2831855f));
	float above = 0, below;
	int doubt = a == 1 ? 0 : signed_nearest(logarithm((double)a), &above);

	doubt |= signed_nearest(logarithm((double)t->base), &below);
	*out = div32(mul32((float)(2 * t->pairs), above), mul32(2, below));
	return doubt;
}

static int yarn_of(const rope_table *t, uint32_t pair, float f, float *out)
{
	float fast, slow, s;
	const int doubt = pair_of(t, t->beta_fast, &fast) | pair_of(t, t->beta_slow, &slow);
	const double low = fmax(floor((double)fast), 0),
		     high = fmin(ceil((double)slow), 2 * (double)t->pairs - 1);
	/* Whole numbers, whose differences f64 has: rounded as the steps in f32 are. */
	const float range = (float)((double)(float)high - (double)(float)low);

	s = div32((float)((double)pair - low), range > 0.001f ? range : 0.001f);
	s = s < 0 ? 0 : s > 1 ? 1 : s;
	*out = (float)((double)div32(mul32(s, f), t->factor) +
		       (double)mul32((float)(1 - (double)s), f));
	return doubt;
}

static int frequency_of(const rope_table *t, uint32_t pair, float *out)
{
	float p;
	const int doubt = power_of(t->base, div32((float)(2 * pair), (float)(2 * t->pairs)), &p);
	const float f = div32(1, p), wave = div32(6.2831855f, f);
	const int is_slow = wave > div32(t->original, t->low),
		  is_fast = wave < div32(t->original, t->high);

	*out = t->scaling == ROPE_SCALING_LONGROPE ? div32(1, mul32(t->factors[pair], p)) : f;
	if (t->scaling == ROPE_SCALING_LINEAR ||
	    (t->scaling == ROPE_SCALING_LLAMA3 && is_slow && !is_fast))
		*out = div32(f, t->factor);
	if (t->scaling == ROPE_SCALING_LLAMA3 && !is_slow && !is_fast) {
		const float range = (float)((double)t->high - (double)t->low);
		const float s =
			div32((float)((double)div32(t->original, wave) - (double)t->low), range);
		const float less = (float)(1 - (double)s);

		*out = (float)((double)div32(mul32(less, f), t->factor) + (double)mul32(s, f));
	}
	return t->scaling == ROPE_SCALING_YARN ? doubt | yarn_of(t, pair, f, out) : doubt;
}

/* ---- cosine and sine ------------------------------------------------------------------------ */

/* quarters * pi / 2 + *r = position * f. */
static uint32_t reduce(uint32_t position, float f, fixed *r)
{
	int exponent;
	const uint64_t m = (uint64_t)(int64_t)ldexp((double)frexpf(f, &exponent), 24) * position;
	const double x = ldexp((double)m, exponent - 24);
	const uint32_t quarters = (uint32_t)floor(x / 1.5707963267948966 + 0.5);
	uint32_t digit[8];
	uint64_t carry = 0;
	ufixed v = 0;
	int borrow = 0;

	/* The angle in half_pi's digits: m * 2^(exponent - 24 + 224). */
	for (int i = 0; i < 8; i++) {
		const int from = 32 * i - (exponent + 200);

		digit[i] = from >= 64	? 0
			   : from >= 0	? (uint32_t)(m >> from)
			   : from > -32 ? (uint32_t)(m << -from)
					: 0;
	}
	for (int i = 0; i < 8; i++) {
		const uint64_t product = (uint64_t)half_pi[i] * quarters + carry;
		const int64_t d = (int64_t)digit[i] - (int64_t)(uint32_t)product - borrow;

		carry = product >> 32;
		borrow = d < 0;
		digit[i] = (uint32_t)d;
	}
	/* 120 of the 224 places, and the sign: digits 3 to 7 are bits 96 and on, of which 8 go. */
	for (int i = 7; i >= 4; i--)
		v = v << 32 | digit[i];
	*r = (fixed)(v << 24 | digit[3] >> 8);
	return quarters;
}

static void series(fixed r, fixed *c, fixed *s)
{
	const fixed square = times(r, r);
	fixed even = one, odd = r;

	*c = *s = 0;
	for (int n = 1; even != 0 || odd != 0; n += 2) {
		*c += even;
		*s += odd;
		even = -times(even, square) / (n * (n + 1));
		odd = -times(odd, square) / ((n + 1) * (n + 2));
	}
}

static int turn_of(uint32_t position, float f, float out[2])
{
	fixed r, c, s;
	const uint32_t quarters = reduce(position, f, &r);

	series(r, &c, &s);
	return signed_nearest(quarters % 4 == 0	  ? c
			      : quarters % 4 == 1 ? -s
			      : quarters % 4 == 2 ? -c
						  : s,
			      &out[0]) |
	       signed_nearest(quarters % 4 == 0	  ? s
			      : quarters % 4 == 1 ? c
			      : quarters % 4 == 2 ? -s
						  : -c,
			      &out[1]);
}

pctl_status rope_table_reference(const kit_use *u, const rope_table *t, float *out)
{
	int doubt = 0;

	for (uint32_t pair = 0; pair < t->pairs; pair++) {
		float f = 0;

		doubt |= frequency_of(t, pair, &f);
		for (uint32_t p = 0; p < t->positions; p++) {
			float *to = out + 2 * ((size_t)p * t->pairs + pair);

			doubt |= turn_of(p, f, to);
			to[0] = mul32(to[0], t->magnitude);
			to[1] = mul32(to[1], t->magnitude);
		}
	}
	return doubt ? pctl_refuse(u->call, PC1_INTERNAL,
				   "transformer.rope_table: the reference's places do not tell how "
				   "a number rounds")
		     : PCTL_OK;
}
