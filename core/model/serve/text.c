/* Pieces to text; see text.h. */
#include "model/serve/text.h"

#include <string.h>

#include "foundation/base/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

static int is_between(unsigned char c, unsigned char low, unsigned char high)
{
	return c >= low && c <= high;
}

/* 1 when some code point begins with these bytes (n is 1 to 3) and needs more (The Unicode Standard, table 3-7). */
static int is_beginning(const unsigned char *s, uint32_t n)
{
	const uint32_t whole = is_between(s[0], 0xc2, 0xdf)   ? 2
			       : is_between(s[0], 0xe0, 0xef) ? 3
			       : is_between(s[0], 0xf0, 0xf4) ? 4
							      : 0;

	if (n >= whole)
		return 0;
	if (n > 1 && !is_between(s[1],
				 s[0] == 0xe0	? 0xa0
				 : s[0] == 0xf0 ? 0x90
						: 0x80,
				 s[0] == 0xed	? 0x9f
				 : s[0] == 0xf4 ? 0x8f
						: 0xbf))
		return 0;
	return n < 3 || is_between(s[2], 0x80, 0xbf);
}

/* What is decided of the tail goes into the text. */
static void settle_tail(serve_text *t)
{
	while (t->n_tail > 0 && !(t->n_tail < 4 && is_beginning(t->tail, t->n_tail))) {
		uint32_t n = (uint32_t)pctl_utf8_decode((const char *)t->tail, t->n_tail, NULL);

		if (n != 0) {
			pctl_str_add_n(&t->all, (const char *)t->tail, n);
		} else {
			/* The maximal part: the longest beginning, or one byte. */
			for (n = t->n_tail - 1; n > 1 && !is_beginning(t->tail, n);)
				n--;
			n = n == 0 ? 1 : n;
			pctl_str_add(&t->all, REPLACEMENT);
		}
		memmove(t->tail, t->tail + n, t->n_tail - n);
		t->n_tail -= n;
	}
}

/* Stop strings that end in what is new. */
static int find_stop(serve_text *t, const serve_stops *stops)
{
	for (; !t->all.failed && t->n_looked < t->all.n; t->n_looked++) {
		const size_t end = t->n_looked + 1;
		size_t longest = 0;

		for (uint32_t i = 0; i < stops->n; i++) {
			const size_t n = stops->lengths[i];

			if (n <= end && n > longest &&
			    memcmp(t->all.data + end - n, stops->items[i], n) == 0)
				longest = n;
		}
		if (longest != 0) {
			t->all.n = end - longest;
			t->all.data[t->all.n] = '\0';
			t->n_looked = t->all.n;
			t->n_tail = 0;
			return 1;
		}
	}
	return 0;
}

/* Where the character begins that the byte which came last is part of. */
static size_t last_character(const serve_text *t)
{
	size_t at = t->all.n;

	if (t->n_tail != 0 || at == 0)
		return at;
	do
		at--;
	while (at > 0 && ((unsigned char)t->all.data[at] & 0xc0u) == 0x80u);
	return at;
}

int serve_text_add(serve_text *t, const serve_stops *stops, const char *bytes, size_t n)
{
	t->begins = t->all.n;
	for (size_t i = 0; i < n && !t->all.failed; i++) {
		t->tail[t->n_tail++] = (unsigned char)bytes[i];
		settle_tail(t);
		if (i == 0 && !t->all.failed)
			t->begins = last_character(t);
	}
	return find_stop(t, stops);
}

int serve_text_end(serve_text *t, const serve_stops *stops)
{
	if (t->n_tail > 0)
		pctl_str_add(&t->all, REPLACEMENT);
	t->n_tail = 0;
	return find_stop(t, stops);
}

size_t serve_text_settled(const serve_text *t, const serve_stops *stops)
{
	size_t held = 0;

	for (uint32_t i = 0; i < stops->n; i++) {
		size_t n = stops->lengths[i] - 1 < t->all.n ? stops->lengths[i] - 1 : t->all.n;

		for (; n > held; n--) {
			if (memcmp(t->all.data + t->all.n - n, stops->items[i], n) == 0)
				held = n;
		}
	}
	return t->all.n - held;
}

void serve_text_clear(serve_text *t)
{
	pctl_str_drop(&t->all);
	*t = (serve_text){.n_tail = 0};
}
