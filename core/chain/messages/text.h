/* Text that enters state or a message: valid UTF-8 without control characters. */
#ifndef PIPECTL_CHAIN_MESSAGES_TEXT_H
#define PIPECTL_CHAIN_MESSAGES_TEXT_H

#include <stddef.h>

/* Offset of the first byte of text[0..n) that is not part of valid UTF-8 (no overlong forms, no surrogates) or, with
 * `plain`, of a control character (U+0000 to U+001F, U+007F to U+009F); n when there is none. */
size_t pctl_chain_text_bad(const char *text, size_t n, int plain);

#endif
