/* The laws of the reductions: their recurrences, put together on the device from smaller problems, and how far from the
 * exact result an approximate one may be, measured with exact sums and products. */
#include <math.h>
#include <stdio.h>

#include <mpfr.h>

#include "ieee.h"

static uint64_t elements(const kit_law *l)
{
	return kit_elements(&l->use.q->in[0]);
}

static pctl_attr op_of(const kit_law *l)
{
	return (pctl_attr){"op", kit_law_attr(l, "op"), 0};
}

/* Elements first .. first + n - 1 of x as a tensor. */
static uint32_t part(kit_law *l, uint64_t first, uint64_t n)
{
	const pctl_tensor_type t = kit_vector(l->use.q->in[0].dtype, n);

	return kit_law_tensor(l, &t, kit_law_data(l, 0) + first * kit_dtype_bytes(t.dtype));
}

static uint32_t reduced(kit_law *l, const char *op, uint64_t first, uint64_t n)
{
	const uint32_t x = part(l, first, n);
	const pctl_attr attr = op_of(l);

	return kit_law_use(l, op, &x, 1, &attr, 1, 1);
}

/* Two values by the function op. */
static uint32_t combined(kit_law *l, uint32_t a, uint32_t b)
{
	char name[64];

	snprintf(name, sizeof(name), "ieee.%.20s", kit_law_attr(l, "op"));
	return kit_law_use(l, name, (uint32_t[]){a, b}, 2, NULL, 0, 1);
}

void ieee_law_one_more(kit_law *l)
{
	const uint64_t n = elements(l);

	if (n < 2)
		return;
	const uint32_t before = reduced(l, "ieee.reduce_strict", 0, n - 1);

	kit_law_equal(l, kit_law_out(l, 0), combined(l, before, part(l, n - 1, 1)));
}

void ieee_law_two_parts(kit_law *l)
{
	const uint64_t n = elements(l);
	uint32_t left, right;
	uint64_t m = 1;

	if (n < 2)
		return;
	while (2 * m < n)
		m *= 2;
	left = reduced(l, "ieee.reduce_tree", 0, m);
	right = reduced(l, "ieee.reduce_tree", m, n - m);
	kit_law_equal(l, kit_law_out(l, 0), combined(l, left, right));
}

void ieee_law_one_element(kit_law *l)
{
	if (elements(l) == 1)
		kit_law_equal(l, kit_law_out(l, 0), 0);
}

static int is_extreme(const kit_law *l)
{
	const char *op = kit_law_attr(l, "op");

	return strcmp(op, "min") == 0 || strcmp(op, "max") == 0;
}

void ieee_law_as_strict(kit_law *l)
{
	if (is_extreme(l))
		kit_law_equal(l, kit_law_out(l, 0),
			      reduced(l, "ieee.reduce_strict", 0, elements(l)));
}

/* ---- the tolerance ---------------------------------------------------------------------------- */

/* Exponent and mantissa bits of a dtype. */
typedef struct layout {
	int e, m, bytes;
} layout;

static layout layout_of(uint32_t dtype)
{
	return dtype == PCTL_SCALAR_F32	  ? (layout){8, 23, 4}
	       : dtype == PCTL_SCALAR_F16 ? (layout){5, 10, 2}
					  : (layout){8, 7, 2};
}

/* All these formats are exact in double. 0 for an infinity or a NaN. */
static int value_of(const layout *f, const uint8_t *at, double *out)
{
	const int bias = (1 << (f->e - 1)) - 1;
	uint32_t bits = 0, exponent, mantissa;

	memcpy(&bits, at, (size_t)f->bytes);
	exponent = bits >> f->m & ((1u << f->e) - 1);
	mantissa = bits & ((1u << f->m) - 1);
	if (exponent == (1u << f->e) - 1)
		return 0;
	*out = exponent == 0 ? ldexp(mantissa, 1 - bias - f->m)
			     : ldexp(mantissa | 1u << f->m, (int)exponent - bias - f->m);
	if (bits >> (f->e + f->m) & 1)
		*out = -*out;
	return 1;
}

/* Sums of up to 2^31 f32 are exact in 400 bits. A product of as many is not: 2000 bits leave it exact to far below any
 * tolerance. Sizes of elements in *size: their sum, or their product. 0: the law does not speak of these. */
static int exact(const kit_law *l, const layout *f, int is_product, mpfr_t total, mpfr_t size)
{
	const double most = ldexp(1.0, (1 << (f->e - 1)) - 1),
		     least = ldexp(1.0, 2 - (1 << (f->e - 1)));
	double above = 0, below = 0;

	mpfr_set_si(total, is_product, MPFR_RNDN);
	mpfr_set_si(size, is_product, MPFR_RNDN);
	for (uint64_t i = 0; i < elements(l); i++) {
		double x;

		if (!value_of(f, kit_law_data(l, 0) + i * (uint64_t)f->bytes, &x) ||
		    (is_product && x == 0))
			return 0;
		if (!is_product) {
			mpfr_add_d(total, total, x, MPFR_RNDN);
			mpfr_add_d(size, size, fabs(x), MPFR_RNDN);
			continue;
		}
		mpfr_mul_d(total, total, x, MPFR_RNDN);
		above += x > 1 || x < -1 ? log2(fabs(x)) : 0;
		below += x < 1 && x > -1 ? log2(fabs(x)) : 0;
	}
	if (!is_product) /* no partial sum is above the sum of sizes */
		return mpfr_cmp_d(size, most) < 0;
	/* Any product of some of them lies between these, and roundings move it by little. */
	mpfr_abs(size, total, MPFR_RNDN);
	return above < log2(most) - 1 && below > log2(least) + 1;
}

/* The unit in the last place of |v|: of the smallest normal number for all below it. */
static void ulp_of(const layout *f, mpfr_t v, mpfr_t out)
{
	const long low = 2 - (1 << (f->e - 1)); /* exponent of the smallest normal number */
	long e = mpfr_zero_p(v) ? low : (long)mpfr_get_exp(v) - 1;

	e = e < low ? low : e;
	mpfr_set_si_2exp(out, 1, e - f->m, MPFR_RNDN);
}

/* What was found of y[0], given the exact result, the size of an error and the tolerance. */
static void judge(kit_law *l, const layout *f, mpfr_t total, mpfr_t ulp)
{
	char got[128] = "y[0] is no number", want[128];
	mpfr_t tolerance, error;
	int holds = 0;
	double y;

	mpfr_inits2(2000, tolerance, error, (mpfr_ptr)0);
	mpfr_set_str(tolerance, kit_law_attr(l, "ulps"), 10, MPFR_RNDN);
	mpfr_mul(tolerance, tolerance, ulp, MPFR_RNDN);
	if (value_of(f, kit_law_data(l, kit_law_out(l, 0)), &y)) {
		mpfr_d_sub(error, y, total, MPFR_RNDN);
		mpfr_abs(error, error, MPFR_RNDN);
		holds = mpfr_cmp(error, tolerance) <= 0;
		mpfr_div(error, error, ulp, MPFR_RNDN);
		snprintf(got, sizeof(got), "y[0] = %a, off by %.4g ulp", y,
			 mpfr_get_d(error, MPFR_RNDU));
	}
	mpfr_snprintf(want, sizeof(want), "%.17Rg within %.30s ulp", total,
		      kit_law_attr(l, "ulps"));
	if (holds)
		kit_law_holds(l);
	else
		kit_law_says(l, got, want);
	mpfr_clears(tolerance, error, (mpfr_ptr)0);
}

void ieee_law_within(kit_law *l)
{
	const layout f = layout_of(l->use.q->in[0].dtype);
	mpfr_t total, size, ulp;

	if (is_extreme(l) || elements(l) == 0)
		return;
	mpfr_inits2(2000, total, size, ulp, (mpfr_ptr)0);
	if (exact(l, &f, strcmp(kit_law_attr(l, "op"), "mul") == 0, total, size)) {
		ulp_of(&f, size, ulp);
		judge(l, &f, total, ulp);
	}
	mpfr_clears(total, size, ulp, (mpfr_ptr)0);
}
