/* How the library makes a table: the cosine and sine of a position are those of a multiple of 256 and of the rest, both from MPFR, multiplied as complex
 * numbers in f64; where the bound of what that is off does not tell the f32, MPFR does (SEMANTICS.md 18.2). */
#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

#include "rope_table.h"

#define STEP 256u
/* Factors are off by 2^-54 at most, as are the roundings of two products and of their sum: fewer than six of those, each times at most 1. */
#define OFF 0x1p-50

typedef struct turn {
	double c, s;
} turn;

static float power(float base, float e)
{
	mpfr_t x, y;
	float out;

	mpfr_init2(x, 24);
	mpfr_init2(y, 24);
	mpfr_set_flt(x, base, MPFR_RNDN);
	mpfr_set_flt(y, e, MPFR_RNDN);
	mpfr_pow(x, x, y, MPFR_RNDN);
	out = mpfr_get_flt(x, MPFR_RNDN);
	mpfr_clear(x);
	mpfr_clear(y);
	return out;
}

static float logarithm(float x)
{
	mpfr_t y;
	float out;

	mpfr_init2(y, 24);
	mpfr_set_flt(y, x, MPFR_RNDN);
	mpfr_log(y, y, MPFR_RNDN);
	out = mpfr_get_flt(y, MPFR_RNDN);
	mpfr_clear(y);
	return out;
}

static const float two_pi = 0x1.921fb6p2f;

/* The pair that turns so often within the original positions. */
static float pair_of(const rope_table *t, float turns)
{
	const float a = turns * two_pi;
	const float above = (float)(2 * t->pairs) * logarithm(t->original / a);

	return above / (2.0f * logarithm(t->base));
}

/* Between the pairs that keep their frequency and those whose is divided. */
static float yarn(const rope_table *t, uint32_t pair, float inverse)
{
	const float last = (float)(2 * t->pairs) - 1.0f;
	const float at_fast = floorf(pair_of(t, t->beta_fast)),
		    at_slow = ceilf(pair_of(t, t->beta_slow));
	const float low = at_fast > 0 ? at_fast : 0, high = at_slow < last ? at_slow : last;
	const float range = high - low > 0.001f ? high - low : 0.001f;
	float s = ((float)pair - low) / range, slow, fast;

	s = s < 0 ? 0 : s > 1 ? 1 : s;
	slow = s * inverse;
	slow = slow / t->factor;
	fast = 1.0f - s;
	fast = fast * inverse;
	return slow + fast;
}

/* Each step rounded to f32. */
static float frequency(const rope_table *t, uint32_t pair)
{
	const float e = (float)(2 * pair) / (float)(2 * t->pairs);
	const float whole = power(t->base, e), inverse = 1.0f / whole;
	float wave, smooth, slow, fast;

	if (t->scaling == ROPE_SCALING_NONE)
		return inverse;
	if (t->scaling == ROPE_SCALING_LINEAR)
		return inverse / t->factor;
	if (t->scaling == ROPE_SCALING_YARN)
		return yarn(t, pair, inverse);
	if (t->scaling == ROPE_SCALING_LONGROPE) {
		wave = t->factors[pair] * whole;
		return 1.0f / wave;
	}
	wave = two_pi / inverse;
	if (wave < t->original / t->high)
		return inverse;
	if (wave > t->original / t->low)
		return inverse / t->factor;
	smooth = t->original / wave;
	smooth = smooth - t->low;
	smooth = smooth / (t->high - t->low);
	slow = 1.0f - smooth;
	slow = slow * inverse;
	slow = slow / t->factor;
	fast = smooth * inverse;
	return slow + fast;
}

/* position * f, exactly. */
static void angle(mpfr_t out, uint32_t position, float f)
{
	mpfr_set_flt(out, f, MPFR_RNDN);
	mpfr_mul_ui(out, out, position, MPFR_RNDN);
}

static void turns(turn *out, uint32_t n, uint32_t step, float f)
{
	mpfr_t x, c, s;

	mpfr_init2(x, 64);
	mpfr_init2(c, 53);
	mpfr_init2(s, 53);
	for (uint32_t i = 0; i < n; i++) {
		angle(x, i * step, f);
		mpfr_sin_cos(s, c, x, MPFR_RNDN);
		out[i] = (turn){mpfr_get_d(c, MPFR_RNDN), mpfr_get_d(s, MPFR_RNDN)};
	}
	mpfr_clear(x);
	mpfr_clear(c);
	mpfr_clear(s);
}

static float settled(int (*function)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t), uint32_t position, float f)
{
	mpfr_t x, y;
	float out;

	mpfr_init2(x, 64);
	mpfr_init2(y, 24);
	angle(x, position, f);
	function(y, x, MPFR_RNDN);
	out = mpfr_get_flt(y, MPFR_RNDN);
	mpfr_clear(x);
	mpfr_clear(y);
	return out;
}

/* The f32 nearest to what v is near to. */
static float rounded(double v, int (*function)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t),
		     uint32_t position, float f)
{
	const float low = (float)(v - OFF), high = (float)(v + OFF);

	return low == high ? low : settled(function, position, f);
}

void rope_table_make(const rope_table *t, float *out)
{
	const uint32_t far = t->positions / STEP + 1;
	turn *whole = malloc((far + STEP) * sizeof(*whole));

	for (uint32_t pair = 0; pair < t->pairs; pair++) {
		const float f = frequency(t, pair);
		float *to = out + 2 * (size_t)pair;

		if (whole != NULL) {
			turns(whole, far, STEP, f);
			turns(whole + far, STEP, 1, f);
		}
		for (uint32_t p = 0; p < t->positions; p++, to += 2 * (size_t)t->pairs) {
			if (whole == NULL) { /* no memory makes it slower, and no different */
				to[0] = settled(mpfr_cos, p, f);
				to[1] = settled(mpfr_sin, p, f);
			} else {
				const turn a = whole[p / STEP], b = whole[far + p % STEP];

				to[0] = rounded(a.c * b.c - a.s * b.s, mpfr_cos, p, f);
				to[1] = rounded(a.s * b.c + a.c * b.s, mpfr_sin, p, f);
			}
			to[0] *= t->magnitude;
			to[1] *= t->magnitude;
		}
	}
	free(whole);
	mpfr_free_cache();
}
