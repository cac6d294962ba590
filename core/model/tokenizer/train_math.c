/* log by the series of atanh, exp by Taylor's, digamma by recurrence and its asymptotic series; see train_math.h. */
#include "model/tokenizer/train_math.h"

#include <math.h>

#define LN2_HIGH 0x1.62e42feep-1 /* 32 bits of ln 2, and the rest */
#define LN2_LOW 0x1.a39ef35793c76p-33

double train_log(double x)
{
	int e;
	double m = frexp(x, &e), s, s2, sum = 0.0;

	if (m < 0x1.6a09e667f3bcdp-1) {
		m *= 2.0;
		e--;
	}
	s = (m - 1.0) / (m + 1.0);
	s2 = s * s;
	for (int k = 23; k >= 3; k -= 2)
		sum = (sum + 1.0 / (double)k) * s2;
	return (double)e * LN2_HIGH + (2.0 * s * (1.0 + sum) + (double)e * LN2_LOW);
}

double train_exp(double x)
{
	double k, r, sum = 1.0;

	if (!(x > -700.0))
		return 0.0;
	k = floor(x * 0x1.71547652b82fep0 + 0.5);
	r = (x - k * LN2_HIGH) - k * LN2_LOW;
	for (int n = 14; n >= 1; n--)
		sum = 1.0 + sum * r / (double)n;
	return ldexp(sum, (int)k);
}

double train_digamma(double x)
{
	double below = 0.0, y, y2;

	for (; x < 7.0; x += 1.0)
		below += 1.0 / x;
	y = 1.0 / x;
	y2 = y * y;
	return train_log(x) - 0.5 * y -
	       y2 * (1.0 / 12.0 -
		     y2 * (1.0 / 120.0 - y2 * (1.0 / 252.0 - y2 * (1.0 / 240.0 - y2 / 132.0)))) -
	       below;
}

train_number train_number_of(double x)
{
	train_number out = {0.0, 0};

	if (x != 0.0)
		out.m = frexp(x, &out.e);
	return out;
}

void train_add(train_number *sum, train_number a, double factor)
{
	train_number term = train_number_of(a.m * factor);

	if (term.m == 0.0)
		return;
	term.e += a.e;
	if (sum->m == 0.0) {
		*sum = term;
		return;
	}
	/* At the larger exponent; what is below 2^-1000 of it is nothing. */
	if (term.e > sum->e) {
		const train_number before = *sum;

		*sum = term;
		term = before;
	}
	if (sum->e - term.e < 1000) {
		const int e = sum->e;

		*sum = train_number_of(sum->m + ldexp(term.m, term.e - e));
		sum->e += e;
	}
}

double train_share(train_number a, double b, train_number c, train_number whole)
{
	const double m = a.m * b * c.m;
	const int e = a.e + c.e - whole.e;

	return m == 0.0 || whole.m == 0.0 || e < -1000 ? 0.0 : ldexp(m / whole.m, e);
}
