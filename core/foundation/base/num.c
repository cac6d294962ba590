/* Strict number parsing: the whole text is a number that fits, or it is not a number. */
#include "foundation/base/num.h"

#include <string.h>

#include "foundation/base/hex.h"

int pctl_num_parse_u64(const char *text, size_t n, uint64_t *out)
{
	uint64_t base = 10, value = 0;
	size_t i = 0;
	int after_digit = 0;

	*out = 0;
	if (n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		i = 2;
	}
	for (; i < n; i++) {
		uint64_t d = (uint64_t)pctl_hex_digit(text[i]);

		if (text[i] == '_' && after_digit && i + 1 < n) {
			after_digit = 0;
			continue;
		}
		if (d >= base || !pctl_num_mul(value, base, &value) ||
		    !pctl_num_add(value, d, &value))
			return 0;
		after_digit = 1;
	}
	if (!after_digit)
		return 0;
	*out = value;
	return 1;
}

int pctl_num_parse_i64(const char *text, size_t n, int64_t *out)
{
	int negative = n > 0 && text[0] == '-';
	uint64_t magnitude, limit = (uint64_t)INT64_MAX + (negative ? 1u : 0u);

	*out = 0;
	if (!pctl_num_parse_u64(text + negative, n - (size_t)negative, &magnitude) ||
	    magnitude > limit)
		return 0;
	*out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	return 1;
}

/* 0 for a character that is no suffix, else its power of 1024. */
static unsigned suffix_power(char c)
{
	static const char suffixes[] = "KMGT";
	const char *s = memchr(suffixes, c, 4);

	return s == NULL ? 0 : (unsigned)(s - suffixes) + 1;
}

int pctl_num_parse_bytes(const char *text, size_t n, uint64_t *out)
{
	int hex = n > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	uint64_t scale = 1;

	*out = 0;
	/* "iB" belongs to a suffix; a bare B is a unit in decimal and a digit in hex. */
	if (n > 2 && memcmp(text + n - 2, "iB", 2) == 0 && suffix_power(text[n - 3]) != 0)
		n -= 2;
	else if (n > 1 && text[n - 1] == 'B' && (!hex || suffix_power(text[n - 2]) != 0))
		n -= 1;
	if (n > 1 && suffix_power(text[n - 1]) != 0) {
		scale = 1ull << (10 * suffix_power(text[n - 1]));
		n--;
	}
	if (!pctl_num_parse_u64(text, n, out) || !pctl_num_mul(*out, scale, out)) {
		*out = 0;
		return 0;
	}
	return 1;
}
