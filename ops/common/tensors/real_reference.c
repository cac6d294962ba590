/* Correctly rounded functions of f32 by MPFR, in f32's range of exponents, subnormals too; see real_reference.h. */
#include "common/tensors/real_reference.h"

#include <mpfr.h>

static float function(int (*f)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t), float x)
{
	const mpfr_exp_t least = mpfr_get_emin(), most = mpfr_get_emax();
	mpfr_t y, in;
	float out;
	int ternary;

	mpfr_init2(in, 24);
	mpfr_init2(y, 24);
	mpfr_set_flt(in, x, MPFR_RNDN);
	mpfr_set_emin(-148);
	mpfr_set_emax(128);
	ternary = f(y, in, MPFR_RNDN);
	mpfr_subnormalize(y, ternary, MPFR_RNDN);
	out = mpfr_get_flt(y, MPFR_RNDN);
	mpfr_set_emin(least);
	mpfr_set_emax(most);
	mpfr_clear(y);
	mpfr_clear(in);
	return out;
}

float tensor_exp(float x)
{
	return function(mpfr_exp, x);
}

float tensor_log(float x)
{
	return function(mpfr_log, x);
}

float tensor_tanh(float x)
{
	return function(mpfr_tanh, x);
}
