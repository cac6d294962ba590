/* Float literals, from their characters to bits in one exact rounding. The locale has no say. */
#include <stdint.h>
#include <stdio.h>

#include <mpfr.h>

#include "wgsl/float.h"
#include "wgsl/types.h"

/* Digits that can matter: a tie of f64 has at most 767; what follows is told by one more digit. */
#define MAX_DIGITS 800u
/* Far outside every format, far inside what MPFR can hold. */
#define MAX_EXPONENT 100000

struct text {
	const char *s;
	size_t n, at;
};

static int digit_of(char ch, int hex)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	if (hex && (ch | 0x20) >= 'a' && (ch | 0x20) <= 'f')
		return (ch | 0x20) - 'a' + 10;
	return -1;
}

/* "+12" behind e or p. 0 when no digit stands there. Beyond 10^12 nothing changes any more. */
static int exponent(struct text *t, int64_t *out)
{
	int negative = 0;
	size_t first;

	*out = 0;
	if (t->at < t->n && (t->s[t->at] == '+' || t->s[t->at] == '-'))
		negative = t->s[t->at++] == '-';
	for (first = t->at; t->at < t->n && digit_of(t->s[t->at], 0) >= 0; t->at++)
		if (*out < 1000000000000)
			*out = *out * 10 + digit_of(t->s[t->at], 0);
	if (negative)
		*out = -*out;
	return t->at > first;
}

/* The suffix that is left. 0 when it is none. */
static int suffix(const struct text *t, uint32_t *scalar)
{
	const char *s = t->s + t->at;
	size_t n = t->n - t->at;

	*scalar = n == 0				 ? SCALAR_ABSTRACT_FLOAT
		  : n == 1 && *s == 'f'			 ? PCTL_SCALAR_F32
		  : n == 1 && *s == 'h'			 ? PCTL_SCALAR_F16
		  : n == 2 && s[0] == 'l' && s[1] == 'f' ? PCTL_SCALAR_F64
							 : 0;
	return *scalar != 0;
}

static enum float_text result(uint32_t flags, int must_be_exact)
{
	if (flags & FLOAT_OVERFLOW)
		return FLOAT_TEXT_LARGE;
	return must_be_exact && (flags & FLOAT_INEXACT) ? FLOAT_TEXT_INEXACT : FLOAT_TEXT_OK;
}

static enum float_text hexadecimal(struct text *t, uint32_t *scalar, uint64_t *out)
{
	struct float_parts p = {.class = FLOAT_ZERO};
	uint32_t digits = 0, dot = 0, has_exponent = 0;
	int64_t shift = 0, power = 0;
	int sticky = 0, d;

	for (t->at = 2; t->at < t->n; t->at++) {
		if (t->s[t->at] == '.' && !dot) {
			dot = 1;
			continue;
		}
		d = digit_of(t->s[t->at], 1);
		if (d < 0)
			break;
		digits = 1;
		if (p.mant >> 60) {
			sticky |= d != 0;
			shift += 4;
		} else {
			p.mant = p.mant << 4 | (uint64_t)d;
		}
		if (dot)
			shift -= 4;
	}
	if (!digits)
		return FLOAT_TEXT_MALFORMED;
	if (t->at < t->n && (t->s[t->at] | 0x20) == 'p') {
		t->at++;
		has_exponent = 1;
		if (!exponent(t, &power))
			return FLOAT_TEXT_MALFORMED;
	}
	if (!suffix(t, scalar) || (!has_exponent && (!dot || t->at < t->n)))
		return FLOAT_TEXT_MALFORMED;
	if (p.mant)
		p.class = FLOAT_FINITE;
	p.exp = shift + power;
	/* Between 60 and 64 bits are exact, more than any format keeps; what follows is not 0. */
	return result(pctl_wgsl_float_round(*scalar, &p, sticky, out), 1);
}

/* The digits as "ddd..de<power>" without what cannot matter, in buf. */
static enum float_text decimal(struct text *t, uint32_t *scalar, uint64_t *out)
{
	char buf[MAX_DIGITS + 32];
	uint32_t n = 0, dot = 0, has_exponent = 0, rest = 0, digits = 0;
	struct float_parts p = {.class = FLOAT_FINITE};
	int64_t shift = 0, power = 0;
	int ternary;
	mpfr_t x;

	for (; t->at < t->n; t->at++) {
		char ch = t->s[t->at];

		if (ch == '.' && !dot) {
			dot = 1;
			continue;
		}
		if (digit_of(ch, 0) < 0)
			break;
		digits = 1;
		shift -= (int64_t)dot;
		if (n == MAX_DIGITS) {
			rest |= ch != '0';
			shift++;
		} else if (n || ch != '0') {
			buf[n++] = ch;
		}
	}
	if (!digits)
		return FLOAT_TEXT_MALFORMED;
	if (t->at < t->n && (t->s[t->at] | 0x20) == 'e') {
		t->at++;
		has_exponent = 1;
		if (!exponent(t, &power))
			return FLOAT_TEXT_MALFORMED;
	}
	/* Without point and exponent it is an integer's text: no leading zeros, and a suffix. */
	if (!suffix(t, scalar) ||
	    (!dot && !has_exponent && (t->at == t->n || (t->s[0] == '0' && t->at > 1))))
		return FLOAT_TEXT_MALFORMED;
	*out = 0;
	if (!n)
		return FLOAT_TEXT_OK;
	buf[n++] = rest ? '1' : '0';
	power += shift - 1;
	power = power > MAX_EXPONENT ? MAX_EXPONENT : power < -MAX_EXPONENT ? -MAX_EXPONENT : power;
	snprintf(buf + n, sizeof(buf) - n, "e%d", (int)power);
	mpfr_init2(x, 64);
	ternary = mpfr_strtofr(x, buf, NULL, 10, MPFR_RNDZ);
	p.exp = (int64_t)mpfr_get_exp(x) - 64;
	mpfr_mul_2si(x, x, (long)-p.exp, MPFR_RNDN);
	p.mant = mpfr_get_uj(x, MPFR_RNDN);
	mpfr_clear(x);
	return result(pctl_wgsl_float_round(*scalar, &p, ternary != 0, out), 0);
}

enum float_text pctl_wgsl_float_text(const char *s, size_t n, uint32_t *scalar, uint64_t *out)
{
	struct text t = {.s = s, .n = n};

	*scalar = 0;
	*out = 0;
	if (n > 2 && s[0] == '0' && (s[1] | 0x20) == 'x')
		return hexadecimal(&t, scalar, out);
	return decimal(&t, scalar, out);
}
