/* Real functions of floats by MPFR: computed towards zero with bits to spare and a note of what was
 * cut off, so that one rounding to the format is the correct one, whatever its subnormals. */
#include "ieee.h"

#define PRECISION 60

void ieee_reals_open(ieee_reals *r)
{
	r->emin = mpfr_get_emin();
	r->emax = mpfr_get_emax();
	mpfr_set_emin(mpfr_get_emin_min());
	mpfr_set_emax(mpfr_get_emax_max());
	for (uint32_t i = 0; i < 3; i++)
		mpfr_init2(r->in[i], 24);
	mpfr_init2(r->out, PRECISION);
}

void ieee_reals_close(ieee_reals *r)
{
	for (uint32_t i = 0; i < 3; i++)
		mpfr_clear(r->in[i]);
	mpfr_clear(r->out);
	mpfr_free_cache();
	mpfr_set_emin(r->emin);
	mpfr_set_emax(r->emax);
}

void ieee_real_set(mpfr_ptr y, uint32_t bits, const ieee_format *f)
{
	const ieee_number x = ieee_take(bits, f);

	if (x.kind == IEEE_NAN)
		mpfr_set_nan(y);
	else if (x.kind == IEEE_INFINITE)
		mpfr_set_inf(y, 1);
	else if (x.mantissa == 0)
		mpfr_set_zero(y, 1);
	else
		mpfr_set_ui_2exp(y, (unsigned long)x.mantissa, (mpfr_exp_t)x.exponent, MPFR_RNDZ);
	if (x.kind != IEEE_NAN)
		mpfr_setsign(y, y, (int)x.negative, MPFR_RNDZ);
}

uint32_t ieee_real_get(ieee_reals *r, int ternary, const ieee_format *f)
{
	ieee_number y = {.kind = IEEE_FINITE, .inexact = ternary != 0};

	if (mpfr_nan_p(r->out)) {
		y.kind = IEEE_NAN;
		return ieee_give(&y, f);
	}
	y.negative = mpfr_signbit(r->out) ? 1u : 0u;
	if (mpfr_inf_p(r->out)) {
		y.kind = IEEE_INFINITE;
	} else if (!mpfr_zero_p(r->out)) {
		/* The significand, which MPFR sees in [1/2, 1), as an integer. */
		y.exponent = (int64_t)mpfr_get_exp(r->out) - PRECISION;
		mpfr_set_exp(r->out, PRECISION);
		mpfr_abs(r->out, r->out, MPFR_RNDZ);
		y.mantissa = mpfr_get_uj(r->out, MPFR_RNDZ);
	}
	return ieee_give(&y, f);
}

uint32_t ieee_real_1(ieee_reals *r, ieee_real1 fn, const uint32_t *x, const ieee_format *f)
{
	ieee_real_set(r->in[0], x[0], f);
	return ieee_real_get(r, fn(r->out, r->in[0], MPFR_RNDZ), f);
}

uint32_t ieee_real_2(ieee_reals *r, ieee_real2 fn, const uint32_t *x, const ieee_format *f)
{
	ieee_real_set(r->in[0], x[0], f);
	ieee_real_set(r->in[1], x[1], f);
	return ieee_real_get(r, fn(r->out, r->in[0], r->in[1], MPFR_RNDZ), f);
}

uint32_t ieee_real_fma(ieee_reals *r, const uint32_t *x, const ieee_format *f)
{
	for (uint32_t i = 0; i < 3; i++)
		ieee_real_set(r->in[i], x[i], f);
	return ieee_real_get(r, mpfr_fma(r->out, r->in[0], r->in[1], r->in[2], MPFR_RNDZ), f);
}

uint32_t ieee_eval_real1(const ieee_ask *a)
{
	return ieee_real_1(a->reals, a->row->real1, a->x, a->form);
}

uint32_t ieee_eval_real2(const ieee_ask *a)
{
	return ieee_real_2(a->reals, a->row->real2, a->x, a->form);
}
