/* UTF-8, checked byte by byte. */
#include "chain/messages/text.h"

/* Length of the valid sequence at s of n bytes, 0 when there is none. */
static size_t sequence(const unsigned char *s, size_t n)
{
	size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (length == 0 || length > n || s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

static int is_control(const unsigned char *s)
{
	return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
}

size_t pctl_chain_text_bad(const char *text, size_t n, int plain)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t at = 0;

	while (at < n) {
		const size_t length = sequence(s + at, n - at);

		if (length == 0 || (plain && is_control(s + at)))
			break;
		at += length;
	}
	return at;
}
