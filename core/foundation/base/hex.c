/* Hexadecimal digits; see hex.h. */
#include "foundation/base/hex.h"

#include <string.h>

static const char digits[] = "0123456789abcdef";

int pctl_hex_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

static int lower_digit(char c)
{
	return c >= 'A' && c <= 'F' ? -1 : pctl_hex_digit(c);
}

static void print_byte(uint8_t byte, char *out)
{
	out[0] = digits[byte >> 4];
	out[1] = digits[byte & 15];
}

char *pctl_hex_print(const void *bytes, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++)
		print_byte(((const uint8_t *)bytes)[i], out + 2 * i);
	out[2 * n] = '\0';
	return out;
}

char *pctl_hex_print_number(const void *bytes, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++)
		print_byte(((const uint8_t *)bytes)[n - 1 - i], out + 2 * i);
	out[2 * n] = '\0';
	return out;
}

void pctl_hex_add(pctl_str_buf *s, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;
	char part[513];

	while (n > 0) {
		const size_t now = n < sizeof(part) / 2 ? n : sizeof(part) / 2;

		pctl_str_add_n(s, pctl_hex_print(at, now, part), 2 * now);
		at += now;
		n -= now;
	}
}

int pctl_hex_parse(const char *text, size_t n, void *out)
{
	uint8_t *bytes = out;

	for (size_t i = 0; i < n; i++) {
		const int high = lower_digit(text[2 * i]);
		const int low = high < 0 ? -1 : lower_digit(text[2 * i + 1]);

		if (low < 0) {
			memset(out, 0, n);
			return 0;
		}
		bytes[i] = (uint8_t)(high << 4 | low);
	}
	return 1;
}

int pctl_hex_is(const char *text, size_t n)
{
	return strspn(text, digits) == n && text[n] == '\0';
}
