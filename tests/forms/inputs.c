/* Operands, adversarial and random: limits and subnormals, few bits set, numbers near 1, and triples that
 * cancel, tie or nearly tie. See forms.h. */
#include "forms.h"

#include <math.h>

/* A stream of words for one case. */
typedef struct source {
	uint64_t seed, counter, n;
} source;

static uint64_t draw(source *s)
{
	return rig_random(s->seed + s->n++ * 0x51ull, s->counter);
}

/* The bits of a float with p bits of significand and e of exponent. */
typedef struct shape {
	int p, e;
} shape;

static const shape shape_f16 = {11, 5}, shape_bf16 = {8, 8}, shape_f32 = {24, 8},
		   shape_f64 = {53, 11};

static uint64_t corner(const shape *f, uint64_t k)
{
	const uint64_t one = (uint64_t)((1 << (f->e - 1)) - 1) << (f->p - 1);
	const uint64_t unit = 1ull << (f->p - 1), infinity = (uint64_t)((1 << f->e) - 1)
							     << (f->p - 1);
	const uint64_t at[] = {0,
			       unit,
			       one,
			       2 * unit,
			       infinity,
			       infinity + unit / 2,
			       one - unit,
			       one + unit,
			       one + (uint64_t)(f->p - 1) * unit,
			       unit / 2,
			       one + 31 * unit,
			       one + 32 * unit,
			       infinity - unit,
			       (uint64_t)f->p * unit};
	const uint64_t v = at[k % (sizeof(at) / sizeof(at[0]))];

	/* The number itself and its neighbours. */
	return v + (k >> 8) % 5 - (v ? 2 : 0);
}

static uint64_t number(const shape *f, source *s)
{
	const int width = f->p + f->e;
	const uint64_t all = width == 64 ? UINT64_MAX : (1ull << width) - 1;
	const uint64_t k = draw(s), r = draw(s) & all;
	const uint64_t fraction = (1ull << (f->p - 1)) - 1, sign = 1ull << (width - 1);
	const uint64_t one = (uint64_t)((1 << (f->e - 1)) - 1) << (f->p - 1);

	switch (k & 7) {
	case 0:
		return (corner(f, k >> 8) ^ (k >> 63 ? sign : 0)) & all;
	case 1: /* subnormal, of any length */
		return (r & sign) | (r & fraction) >> (k >> 8) % (uint64_t)f->p;
	case 2: /* near 1 */
		return (one + (r & (4 * fraction + 3)) - 2 * fraction) ^ (k >> 63 ? sign : 0);
	case 3: /* near the least normal number */
		return (r & (sign | fraction)) | ((k >> 8) % (uint64_t)(2 * f->p)) % (1u << f->e)
							 << (f->p - 1);
	case 4: /* few bits of the fraction */
		return r & ~(fraction >> (k >> 8) % (uint64_t)f->p);
	case 5: /* a long run of ones */
		return r | (fraction >> (k >> 8) % (uint64_t)f->p & ~1ull);
	default:
		return r;
	}
}

/* Products and quotients in double, good enough to aim with. */
static double as_double(const shape *f, uint64_t v)
{
	const int bias = (1 << (f->e - 1)) - 1;
	const int e = (int)(v >> (f->p - 1)) & ((1 << f->e) - 1);
	const double m =
		(double)((v & ((1ull << (f->p - 1)) - 1)) | (uint64_t)(e != 0) << (f->p - 1));

	return (v >> (f->p + f->e - 1) & 1 ? -1.0 : 1.0) *
	       ldexp(m, (e ? e : 1) - bias - (f->p - 1));
}

static uint64_t near_double(const shape *f, double d)
{
	const int bias = (1 << (f->e - 1)) - 1;
	const uint64_t sign = signbit(d) ? 1ull << (f->p + f->e - 1) : 0;
	uint64_t bits;
	int e;

	if (!isfinite(d) || d == 0)
		return sign;
	frexp(d, &e);
	if (e + bias - 1 < 1)
		e = 2 - bias;
	bits = (uint64_t)trunc(ldexp(fabs(d), f->p - e));
	bits += (uint64_t)(e + bias - 2) << (f->p - 1);
	return sign | (bits & ((1ull << (f->p + f->e - 1)) - 1));
}

/* Three operands; some are made to stand in a relation. */
static void related(const shape *f, source *s, forms_triple *t)
{
	const uint64_t sign = 1ull << (f->p + f->e - 1);
	const uint64_t fraction = (1ull << (f->p - 1)) - 1;
	const uint64_t k = draw(s);
	double product;

	for (int i = 0; i < 3; i++)
		t->x[i] = number(f, s);
	switch (k & 15) {
	case 0: /* equal but for the last bits or the sign */
		t->x[1] = t->x[0] ^ (k >> 8 & 3) ^ (k >> 63 ? sign : 0);
		break;
	case 1: /* an addend that cancels the product, nearly */
		product = as_double(f, t->x[0]) * as_double(f, t->x[1]);
		t->x[2] = near_double(f, -product) + (k >> 8 & 3) - 1;
		break;
	case 2: /* an addend about a significand away */
		product = as_double(f, t->x[0]) * as_double(f, t->x[1]);
		t->x[2] =
			near_double(f, ldexp(product, (int)(k >> 8 & 127) % (4 * f->p) - 2 * f->p));
		t->x[2] ^= k >> 63 ? sign : 0;
		break;
	case 3: /* a product with few bits, so that it ties, and a small addend */
		t->x[0] &= ~(fraction >> 1 >> (f->p / 2));
		t->x[1] &= ~(fraction >> 1 >> ((f->p + 1) / 2 - 1));
		t->x[2] = (t->x[2] & (sign | fraction)) >> (k >> 8) % (uint64_t)f->p;
		break;
	case 4: /* one exponent apart: cancellation */
		t->x[1] = (t->x[0] & ~(sign | fraction)) | (t->x[1] & (sign | fraction));
		t->x[1] += ((k >> 8) % 3) << (f->p - 1);
		t->x[1] &= sign | (sign - 1);
		break;
	case 5: /* a dividend that is a multiple of the divisor, or nearly */
		t->x[0] = near_double(f, as_double(f, t->x[1]) * (double)((k >> 8 & 0xfff) + 1)) +
			  (k >> 40) % 3 - 1;
		t->x[0] &= sign | (sign - 1);
		break;
	default:
		break;
	}
	for (int i = 0; i < 3; i++)
		t->x[i] &= sign | (sign - 1);
}

static double f64_of(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

static uint64_t bits_of(double d)
{
	uint64_t bits;

	memcpy(&bits, &d, sizeof(d));
	return bits;
}

/* A double with an exponent in [low, high). */
static uint64_t ranged(source *s, int low, int high)
{
	const uint64_t e = (uint64_t)(1023 + low + (int)(draw(s) % (uint64_t)(high - low)));

	return (number(&shape_f64, s) & 0x800fffffffffffffu) | e << 52;
}

/* A number of a narrower format or a tie between two, or a unit of f64 beside. */
static uint64_t narrow(source *s)
{
	static const shape *const shapes[] = {&shape_f32, &shape_f16, &shape_bf16};
	const uint64_t k = draw(s);
	const shape *f = shapes[k % 3];
	const double d = as_double(f, number(f, s)), half = as_double(f, number(f, s));
	uint64_t v;

	if (k >> 4 & 1)
		return number(&shape_f64, s);
	/* Halve the last bit: numbers twice as fine hold all ties. */
	v = bits_of(d + (k >> 5 & 1 ? ldexp(d, -f->p) : 0));
	if (k >> 6 & 1)
		v = bits_of(ldexp(nearbyint(ldexp(half, 1 - 2 * (int)(k >> 8 & 15))),
				  -(1 << (f->e - 1)) - f->p + 2));
	return (k >> 7 & 1) && v << 1 && v << 1 < 0xffe0000000000000u ? v + (k >> 32) % 3 - 1 : v;
}

static void odd(source *s, forms_triple *t)
{
	const uint64_t k = draw(s);
	const double hi = f64_of(number(&shape_f64, s));
	double ulp, lo;

	t->x[0] = bits_of(hi);
	t->x[1] = bits_of(0);
	if (!isfinite(hi) || hi == 0)
		return;
	ulp = nextafter(fabs(hi), HUGE_VAL) - fabs(hi);
	lo = ulp / 2 * ldexp((double)(draw(s) >> 11), -53);
	if (k & 1)
		lo = ulp / 2;
	if (k & 2)
		lo = ldexp(lo, -(int)(k >> 8 & 1023));
	if (k & 4)
		lo = 0;
	t->x[1] = bits_of(k & 8 ? -lo : lo);
	/* Beyond the greatest number there is nothing to round to. */
	if (fabs(hi) >= 0x1.fffffffffffffp1023)
		t->x[1] = bits_of(k & 8 ? -0.0 : 0.0);
}

static void sum(source *s, forms_triple *t, int is_ordered)
{
	related(&shape_f64, s, t);
	for (int i = 0; i < 2; i++)
		if ((t->x[i] >> 52 & 0x7ff) >= 2045)
			t->x[i] ^= 1ull << 61;
	if (is_ordered && t->x[0] << 1 < t->x[1] << 1) {
		const uint64_t x = t->x[0];

		t->x[0] = t->x[1];
		t->x[1] = x;
	}
}

void forms_input(forms_inputs kind, uint64_t seed, uint64_t counter, forms_triple *out)
{
	source s = {.seed = seed, .counter = counter};
	int e;

	memset(out, 0, sizeof(*out));
	switch (kind) {
	case IN_F32:
		related(&shape_f32, &s, out);
		break;
	case IN_F64:
		related(&shape_f64, &s, out);
		break;
	case IN_F16:
		related(&shape_f16, &s, out);
		break;
	case IN_BF16:
		related(&shape_bf16, &s, out);
		break;
	case IN_F16_EACH:
	case IN_BF16_EACH:
		out->x[0] = counter & 0xffff;
		break;
	case IN_WORD:
		out->x[0] = (uint32_t)draw(&s) >> (draw(&s) & 31);
		if (draw(&s) & 1)
			out->x[0] &= ~(0xffffffffu >> (draw(&s) & 31));
		out->x[0] = (out->x[0] + (draw(&s) & 1)) & 0xffffffffu;
		break;
	case IN_NARROW:
		out->x[0] = narrow(&s);
		break;
	case IN_ODD:
		odd(&s, out);
		break;
	case IN_SUM:
		sum(&s, out, 0);
		break;
	case IN_ORDERED:
		sum(&s, out, 1);
		break;
	case IN_PRODUCT:
		out->x[0] = ranged(&s, -480, 990);
		e = (int)(out->x[0] >> 52 & 0x7ff) - 1023;
		out->x[1] = ranged(&s, -968 - e < -990 ? -990 : -968 - e,
				   1019 - e > 990 ? 990 : 1019 - e);
		break;
	default:
		fail_msg("no such inputs");
	}
}
