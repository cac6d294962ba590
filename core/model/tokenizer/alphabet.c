/* How files write bytes: the alphabet of byte-level tokenizers, in which each byte is one printable character (GPT-2's: bytes that
 * are printable in Latin-1 stand for themselves, the others for U+0100 on, in their order), and "<0xAB>". */
#include <string.h>

#include "foundation/base/hex.h"
#include "foundation/base/utf8.h"
#include "model/tokenizer/private.h"

static int is_plain(uint32_t byte)
{
	return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte != 0xad);
}

uint32_t alphabet_code(uint8_t byte)
{
	uint32_t others = 0;

	if (is_plain(byte))
		return byte;
	for (uint32_t b = 0; b < byte; b++)
		others += !is_plain(b);
	return 0x100 + others;
}

uint32_t alphabet_write(uint8_t byte, char out[2])
{
	const uint32_t code = alphabet_code(byte);

	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	out[0] = (char)(0xc0 | code >> 6);
	out[1] = (char)(0x80 | (code & 0x3f));
	return 2;
}

int alphabet_read(const char *text, size_t n, char *out, size_t *n_out)
{
	size_t used = 0;
	uint32_t code;

	for (size_t i = 0, step; i < n; i += step) {
		uint32_t byte, others = 0;

		step = pctl_utf8_decode(text + i, n - i, &code);
		if (step == 0 || code >= 0x144)
			return 0;
		if (code < 0x100) {
			if (!is_plain(code))
				return 0;
			out[used++] = (char)code;
			continue;
		}
		for (byte = 0; byte < 256; byte++) {
			if (is_plain(byte))
				continue;
			if (others++ == code - 0x100)
				break;
		}
		out[used++] = (char)byte;
	}
	*n_out = used;
	return 1;
}

/* Of upper case alone: <0xab> is a token as others. */
static int digit(char c)
{
	return c >= 'a' ? -1 : pctl_hex_digit(c);
}

int byte_token(const char *text, size_t n)
{
	if (n != 6 || memcmp(text, "<0x", 3) != 0 || text[5] != '>' || digit(text[3]) < 0 ||
	    digit(text[4]) < 0)
		return -1;
	return digit(text[3]) * 16 + digit(text[4]);
}
