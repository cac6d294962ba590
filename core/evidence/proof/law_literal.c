/* Literals of laws as bits of a dtype. */
#include <string.h>

#include "runtime/graph/type.h"
#include "compiler/eval/float.h"
#include "evidence/proof/law_private.h"
#include "foundation/base/hex.h"

__extension__ typedef unsigned __int128 wide;

/* Digits alone, "0x" before hexadecimal ones; 0 when it is nothing of the kind or over 128 bits. */
static int number(const char *text, size_t n, wide *out, int *is_hex)
{
	const wide most = ~(wide)0;
	uint32_t base = 10;

	*is_hex = n > 2 && text[0] == '0' && text[1] == 'x';
	if (*is_hex) {
		base = 16;
		text += 2;
		n -= 2;
	}
	*out = 0;
	for (size_t i = 0; i < n; i++) {
		const uint32_t d = (uint32_t)pctl_hex_digit(text[i]);

		if (d >= base || *out > (most - d) / base)
			return 0;
		*out = *out * base + d;
	}
	return n != 0;
}

/* Decimals are values, which must be of the type; hexadecimal digits are bits, with a sign in front their negative. */
static int integer(const char *text, size_t n, uint32_t dtype, wide *out)
{
	const uint32_t width = 8 * pctl_dtype_bytes(dtype);
	const wide top = (wide)1 << (width - 1), ones = top - 1 + top;
	const int is_signed = dtype == PCTL_SCALAR_I32 || dtype == PCTL_SCALAR_I64;
	const int minus = n != 0 && text[0] == '-', sign = n != 0 && (minus || text[0] == '+');
	int is_hex;

	if (!number(text + sign, n - (size_t)sign, out, &is_hex))
		return 0;
	if (minus && *out > top)
		return 0;
	if (*out > ones || (is_signed && !minus && !is_hex && *out >= top))
		return 0;
	if (minus)
		*out = (0 - *out) & ones;
	return 1;
}

static int is_text(const char *text, size_t n, const char *what)
{
	return n == strlen(what) && memcmp(text, what, n) == 0;
}

static int real(const char *text, size_t n, uint32_t dtype, wide *out)
{
	const uint8_t scalar = (uint8_t)dtype;
	const wide ones = ((wide)1 << (8 * pctl_dtype_bytes(dtype))) - 1;
	const wide sign = (ones >> 1) + 1;
	uint64_t bits = 0;
	int is_hex;

	if (is_text(text, n, "NaN")) {
		*out = pctl_float_nan(scalar);
		return 1;
	}
	if (number(text, n, out, &is_hex) && is_hex)
		return *out <= ones;
	if (is_text(text, n, "Inf") || is_text(text, n, "+Inf") || is_text(text, n, "-Inf")) {
		if (!pctl_float_parse("1e99999", 7, scalar, &bits, NULL))
			return 0;
		*out = text[0] == '-' ? bits | sign : bits;
		return 1;
	}
	/* A hexadecimal float would be taken for bits by a reader. */
	if (memchr(text, 'x', n) != NULL || memchr(text, 'X', n) != NULL ||
	    !pctl_float_parse(text, n, scalar, &bits, NULL))
		return 0;
	*out = bits;
	return 1;
}

int pctl_law_literal(const char *text, size_t n, uint32_t dtype, uint64_t bits[2])
{
	const uint32_t width = 8 * pctl_dtype_bytes(dtype);
	const int is_float = pctl_float_is(dtype < 32 ? (uint8_t)dtype : 0);
	wide value = 0;
	int good;

	bits[0] = bits[1] = 0;
	if (width == 0)
		return 0;
	if (is_text(text, n, "width")) {
		uint64_t as_float = width;

		good = !is_float || pctl_float_from_f64((uint8_t)dtype, (double)width, &as_float);
		value = as_float;
	} else {
		good = is_float ? real(text, n, dtype, &value) : integer(text, n, dtype, &value);
	}
	bits[0] = (uint64_t)value;
	bits[1] = (uint64_t)(value >> 64);
	return good;
}
