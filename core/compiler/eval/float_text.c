/* Floats as text: reading decimal and hex numbers with one rounding, writing the shortest decimal
 * that reads back the same. The form is checked here; MPFR only converts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/eval/float_mpfr.h"

#include "foundation/base/hex.h"

/* A number taken apart. */
typedef struct numeral {
	int is_hex;
	int is_negative;
	int is_zero;   /* all digits are 0 */
	size_t digits; /* where they start, behind sign and 0x */
	size_t n_digits;
	size_t end;	  /* behind the digits: the letter of the exponent or the end */
	int64_t exponent; /* saturated at +-EXPONENT_MAX */
} numeral;

#define EXPONENT_MAX ((int64_t)1 << 40)

/* The exponent at text[i ..n), which is all of the rest. */
static int scan_exponent(const char *text, size_t n, size_t i, int64_t *out)
{
	int is_negative = 0;
	int64_t value = 0;

	if (i < n && (text[i] == '+' || text[i] == '-'))
		is_negative = text[i++] == '-';
	if (i == n)
		return 0;
	for (; i < n; i++) {
		if (text[i] < '0' || text[i] > '9')
			return 0;
		value = value * 10 + (text[i] - '0');
		if (value > EXPONENT_MAX)
			value = EXPONENT_MAX;
	}
	*out = is_negative ? -value : value;
	return 1;
}

static int scan(const char *text, size_t n, numeral *out)
{
	size_t i = 0;
	int points = 0;

	memset(out, 0, sizeof(*out));
	if (i < n && (text[i] == '+' || text[i] == '-'))
		out->is_negative = text[i++] == '-';
	if (n - i > 2 && text[i] == '0' && (text[i + 1] == 'x' || text[i + 1] == 'X')) {
		out->is_hex = 1;
		i += 2;
	}
	out->is_zero = 1;
	out->digits = i;
	for (; i < n; i++) {
		if (text[i] == '.' && !points) {
			points = 1;
			continue;
		}
		if ((uint32_t)pctl_hex_digit(text[i]) >= (out->is_hex ? 16 : 10))
			break;
		out->n_digits++;
		if (text[i] != '0')
			out->is_zero = 0;
	}
	out->end = i;
	if (!out->n_digits)
		return 0;
	if (i == n)
		return 1;
	if ((text[i] | 0x20) != (out->is_hex ? 'p' : 'e'))
		return 0;
	return scan_exponent(text, n, i + 1, &out->exponent);
}

/* -1: far below every subnormal, 1: far above every number, 0: worth converting. Keeps what is
 * handed to MPFR within exponents that no product of its own can overflow. */
static int out_of_reach(const numeral *v)
{
	const int64_t reach = (int64_t)v->n_digits * 4 + 5000;

	if (v->exponent > reach)
		return 1;
	return v->exponent < -reach ? -1 : 0;
}

/* Digits and exponent as MPFR reads them, NUL-terminated; NULL: no memory. */
static char *numeral_text(const char *text, const numeral *v)
{
	const size_t n = v->end - v->digits;
	char *s = malloc(n + 32);

	if (!s)
		return NULL;
	memcpy(s, text + v->digits, n);
	snprintf(s + n, 32, "%c%" PRId64, v->is_hex ? 'p' : 'e', v->exponent);
	return s;
}

int pctl_float_parse(const char *text, size_t n, uint8_t scalar, uint64_t *out, int *inexact)
{
	const pctl_float_format *f = pctl_float_format_of(scalar);
	pctl_float_range range;
	int far, ternary = 0;
	numeral v;
	mpfr_t x;
	char *s;

	*out = 0;
	if (inexact)
		*inexact = 0;
	if (!f || !scan(text, n, &v))
		return 0;
	range = pctl_float_enter();
	pctl_float_init(f, x);
	far = out_of_reach(&v);
	if (v.is_zero) {
		mpfr_set_zero(x, 1);
	} else if (far) {
		ternary = far;
		if (far > 0)
			mpfr_set_inf(x, 1);
		else
			mpfr_set_zero(x, 1);
	} else {
		s = numeral_text(text, &v);
		if (!s) {
			mpfr_clear(x);
			pctl_float_leave(range);
			return 0;
		}
		ternary = mpfr_strtofr(x, s, NULL, v.is_hex ? 16 : 10, MPFR_RNDN);
		free(s);
	}
	*out = pctl_float_store(f, x, &ternary);
	if (v.is_negative)
		*out |= 1ull << (f->bits - 1);
	if (inexact)
		*inexact = ternary != 0;
	mpfr_clear(x);
	pctl_float_leave(range);
	return 1;
}

/* ---- writing ---- */

static void print_hex(const pctl_float_format *f, uint64_t magnitude, char *out)
{
	const uint64_t biased = magnitude >> f->fraction;
	uint64_t rest = magnitude & ((1ull << f->fraction) - 1);
	int64_t exponent = (int64_t)f->emin - 1 + (int64_t)f->fraction;
	char digits[20];
	size_t n;

	if (!magnitude) {
		strcpy(out, "0x0p+0");
		return;
	}
	if (biased) {
		exponent += (int64_t)biased - 1;
	} else {
		for (; !(rest >> f->fraction); exponent--)
			rest <<= 1;
		rest &= (1ull << f->fraction) - 1;
	}
	snprintf(digits, sizeof(digits), "%016" PRIx64, rest << (64 - f->fraction));
	for (n = 16; n && digits[n - 1] == '0'; n--)
		;
	sprintf(out, "0x1%s%.*sp%+" PRId64, n ? "." : "", (int)n, digits, exponent);
}

/* `n` significant digits, the point before the first of them times 10^exponent, as a number. */
static void place_point(const char *digits, int n, long exponent, char *out)
{
	int i;

	if (exponent > 0 && exponent <= 9) {
		for (i = 0; i < n || i < exponent; i++) {
			if (i == exponent)
				*out++ = '.';
			*out++ = i < n ? digits[i] : '0';
		}
		strcpy(out, n > exponent ? "" : ".0");
	} else if (exponent <= 0 && exponent > -4) {
		sprintf(out, "0.%.*s%.*s", (int)-exponent, "000", n, digits);
	} else {
		sprintf(out, "%c.%.*se%ld", digits[0], n > 1 ? n - 1 : 1, n > 1 ? digits + 1 : "0",
			exponent - 1);
	}
}

static void print_decimal(uint8_t scalar, const pctl_float_format *f, uint64_t magnitude, char *out)
{
	char digits[24];
	uint64_t back = 0;
	pctl_float_range range;
	mpfr_exp_t exponent;
	mpfr_t x;
	int n;

	if (!magnitude) {
		strcpy(out, "0.0");
		return;
	}
	range = pctl_float_enter();
	pctl_float_init(f, x);
	pctl_float_load(f, magnitude, x);
	for (n = 1; n <= 17; n++) {
		mpfr_get_str(digits, &exponent, 10, (size_t)n, x, MPFR_RNDN);
		place_point(digits, n, (long)exponent, out);
		if (pctl_float_parse(out, strlen(out), scalar, &back, NULL) && back == magnitude)
			break;
	}
	mpfr_clear(x);
	pctl_float_leave(range);
}

void pctl_float_print(uint8_t scalar, uint64_t bits, int hex, char *out)
{
	const pctl_float_format *f = pctl_float_format_of(scalar);
	const uint64_t sign = f ? 1ull << (f->bits - 1) : 0;

	out[0] = '\0';
	if (!f)
		return;
	if (pctl_float_kind(scalar, bits) == PCTL_FLOAT_NAN) {
		if (bits == pctl_float_nan(scalar))
			strcpy(out, "nan");
		else
			sprintf(out, "nan:0x%0*" PRIx64, (int)f->bits / 4, bits);
		return;
	}
	if (bits & sign)
		*out++ = '-';
	if (pctl_float_kind(scalar, bits) == PCTL_FLOAT_INFINITE)
		strcpy(out, "inf");
	else if (hex)
		print_hex(f, bits & ~sign, out);
	else
		print_decimal(scalar, f, bits & ~sign, out);
}
