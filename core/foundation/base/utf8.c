/* The one reader of UTF-8; see utf8.h. */
#include "foundation/base/utf8.h"

static int continues(char byte)
{
	return ((unsigned char)byte & 0xc0u) == 0x80u;
}

size_t pctl_utf8_decode(const char *text, size_t n, uint32_t *out)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const uint32_t first = n == 0 ? 0xff : (unsigned char)text[0];
	const size_t length = first < 0x80   ? 1
			      : first < 0xc2 ? 0
			      : first < 0xe0 ? 2
			      : first < 0xf0 ? 3
			      : first < 0xf5 ? 4
					     : 0;
	uint32_t c = length == 1 ? first : first & (0x7fu >> length);

	if (length == 0 || length > n)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if (!continues(text[i]))
			return 0;
		c = c << 6 | ((unsigned char)text[i] & 0x3fu);
	}
	if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	if (out != NULL)
		*out = c;
	return length;
}

size_t pctl_utf8_bad(const char *text, size_t n, uint32_t flags)
{
	size_t at = 0;

	while (at < n) {
		uint32_t c = 0;
		const size_t length = pctl_utf8_decode(text + at, n - at, &c);

		if (length == 0 || (c == 0 && (flags & PCTL_UTF8_NO_NUL) != 0) ||
		    ((c < 0x20 || (c >= 0x7f && c < 0xa0)) && (flags & PCTL_UTF8_PLAIN) != 0))
			break;
		at += length;
	}
	return at;
}

size_t pctl_utf8_cut(const char *text, size_t at)
{
	while (at > 0 && continues(text[at]))
		at--;
	return at;
}
