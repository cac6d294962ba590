/* The text of an answer as it grows: bytes of pieces become UTF-8 (what is none becomes U+FFFD, one for each maximal part, as the
 * Unicode standard recommends), and a stop string ends it wherever it lies across pieces. The stop string that is complete first
 * counts, the longest of those that end at one byte; it and what follows is not part of the text. */
#ifndef PIPECTL_MODEL_SERVE_TEXT_H
#define PIPECTL_MODEL_SERVE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "foundation/base/str.h"

#define SERVE_STOPS_MAX 4u

typedef struct serve_stops {
	const char *items[SERVE_STOPS_MAX];
	size_t lengths[SERVE_STOPS_MAX];
	uint32_t n;
} serve_stops;

/* all.n bytes of UTF-8; tail: the beginning of a code point that is not whole yet; n_looked: bytes in which stop strings that end
 * there were looked for; begins: where the character lies that the last piece begins with, or in the midst of. Zeroed at first, released
 * with serve_text_clear. */
typedef struct serve_text {
	pctl_str_buf all;
	size_t n_looked, begins;
	uint32_t n_tail;
	unsigned char tail[4];
} serve_text;

/* Add the bytes of a piece: 1 when a stop string is complete, which ends the text. all.failed: no memory. */
int serve_text_add(serve_text *t, const serve_stops *stops, const char *bytes, size_t n);
/* Nothing follows: what is in the tail becomes U+FFFD, in which a stop string may be complete (1). */
int serve_text_end(serve_text *t, const serve_stops *stops);
/* The bytes that stay whatever follows: all but the longest end that a stop string begins with. */
size_t serve_text_settled(const serve_text *t, const serve_stops *stops);
void serve_text_clear(serve_text *t);

#endif
