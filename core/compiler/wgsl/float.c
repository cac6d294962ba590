/* Floats of constant expressions: WGSL's rules for literals, and the abstract float laid over the
 * formats of compiler/eval/float.h. */
#include <stdio.h>
#include <string.h>

#include "compiler/eval/float.h"
#include "compiler/wgsl/compile.h"
#include "compiler/wgsl/float.h"

static uint8_t format_of(uint32_t scalar)
{
	return scalar == SCALAR_ABSTRACT_FLOAT ? PCTL_SCALAR_F64 : (uint8_t)scalar;
}

int pctl_wgsl_is_float(uint32_t scalar)
{
	return scalar == SCALAR_ABSTRACT_FLOAT || pctl_float_is((uint8_t)scalar);
}

int pctl_wgsl_float_is_special(uint32_t scalar, uint64_t bits)
{
	return pctl_float_kind(format_of(scalar), bits) != PCTL_FLOAT_FINITE;
}

uint64_t pctl_wgsl_float_from(uint32_t from, uint32_t to, uint64_t leaf)
{
	uint64_t out;
	char text[24];
	int n;

	if (from == SCALAR_ABSTRACT) {
		/* 64 bits, rounded once: by way of digits, which are exact. */
		n = snprintf(text, sizeof(text), "%lld", (long long)(int64_t)leaf);
		pctl_float_parse(text, (size_t)n, format_of(to), &out, NULL);
		return out;
	}
	if (from == PCTL_SCALAR_I32)
		leaf = (uint32_t)leaf;
	pctl_float_eval(PCTL_OP_FCONVERT, format_of(to), format_of(from), &leaf, &out);
	return out;
}

uint64_t pctl_wgsl_float_to_int(uint32_t from, uint32_t to, uint64_t bits)
{
	uint64_t out;

	pctl_float_eval(PCTL_OP_FCONVERT, (uint8_t)to, format_of(from), &bits, &out);
	return to == PCTL_SCALAR_I32 ? (uint64_t)(int64_t)(int32_t)(uint32_t)out : out;
}

int pctl_wgsl_float_exact_int(uint64_t bits, uint64_t *out)
{
	double v;

	memcpy(&v, &bits, sizeof(v));
	*out = 0;
	if (!(v >= -0x1p63 && v < 0x1p63))
		return 0;
	*out = (uint64_t)(int64_t)v;
	return (double)(int64_t)v == v;
}

static int is_compare(uint16_t op)
{
	return op >= PCTL_OP_FEQ && op <= PCTL_OP_FGE;
}

uint64_t pctl_wgsl_float_eval(uint16_t op, uint32_t scalar, const uint64_t *args)
{
	const size_t n = strlen(pctl_op_get(op)->args);
	uint8_t format = format_of(scalar);
	uint64_t in[4] = {0}, out;
	size_t i;

	if (scalar == SCALAR_ABSTRACT_FLOAT && op >= PCTL_OP_FSIN) {
		for (i = 0; i < n; i++)
			in[i] = pctl_wgsl_float_from(scalar, PCTL_SCALAR_F32, args[i]);
		out = pctl_wgsl_float_eval(op, PCTL_SCALAR_F32, in);
		return pctl_wgsl_float_from(PCTL_SCALAR_F32, scalar, out);
	}
	pctl_float_eval(op, is_compare(op) ? PCTL_SCALAR_BOOL : format, format, args, &out);
	return out;
}

/* ---- literals ---- */

static int is_digit(char ch)
{
	return ch >= '0' && ch <= '9';
}

/* What a suffix of n characters says; 0 when it is none. */
static uint32_t suffix(const char *s, size_t n)
{
	if (n == 0)
		return SCALAR_ABSTRACT_FLOAT;
	if (n == 1 && (*s == 'f' || *s == 'h'))
		return *s == 'f' ? PCTL_SCALAR_F32 : PCTL_SCALAR_F16;
	return n == 2 && !memcmp(s, "lf", 2) ? PCTL_SCALAR_F64 : 0;
}

/* Where the suffix begins: behind digits, point and exponent. A hexadecimal literal has one only
 * behind an exponent, since f is a digit. */
static size_t suffix_at(const char *s, size_t n, int hex)
{
	const char *exponent = NULL;
	size_t i = hex ? 2 : 0;

	for (; i < n && !exponent; i++)
		if ((s[i] | 0x20) == (hex ? 'p' : 'e'))
			exponent = s + i;
	if (!exponent && hex)
		return n;
	if (exponent && i < n && (s[i] == '+' || s[i] == '-'))
		i++;
	if (!exponent)
		i = 0;
	while (i < n && (is_digit(s[i]) || (!exponent && s[i] == '.')))
		i++;
	return i;
}

enum float_text pctl_wgsl_float_text(const char *s, size_t n, uint32_t *scalar, uint64_t *out)
{
	const int hex = n > 2 && s[0] == '0' && (s[1] | 0x20) == 'x';
	const size_t end = suffix_at(s, n, hex);
	int inexact = 0;

	*out = 0;
	*scalar = suffix(s + end, n - end);
	if (!*scalar)
		return FLOAT_TEXT_MALFORMED;
	/* "1f" is an integer's text with a suffix, so that it has no leading zeros. */
	if (!hex && end < n && end > 1 && *s == '0' && !memchr(s, '.', end) &&
	    !memchr(s, 'e', end) && !memchr(s, 'E', end))
		return FLOAT_TEXT_MALFORMED;
	if (!pctl_float_parse(s, end, format_of(*scalar), out, &inexact))
		return FLOAT_TEXT_MALFORMED;
	if (pctl_wgsl_float_is_special(*scalar, *out))
		return FLOAT_TEXT_LARGE;
	return hex && inexact ? FLOAT_TEXT_INEXACT : FLOAT_TEXT_OK;
}
