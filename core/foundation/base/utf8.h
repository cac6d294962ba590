/* UTF-8 as the Unicode standard has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef PIPECTL_FOUNDATION_BASE_UTF8_H
#define PIPECTL_FOUNDATION_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the code point that begins at text[0..n), 0 when there is none; *out, which may be NULL, is its number. */
size_t pctl_utf8_decode(const char *text, size_t n, uint32_t *out);

/* Offset of the first byte of text[0..n) that is not part of UTF-8, or of a code point that the flags forbid; n when there
 * is none. */
#define PCTL_UTF8_NO_NUL 1u
#define PCTL_UTF8_PLAIN 2u /* no control characters: U+0000 to U+001F, U+007F to U+009F */
size_t pctl_utf8_bad(const char *text, size_t n, uint32_t flags);

/* The largest length up to `at` at which text, which is longer than `at`, can be cut without parting a code point. */
size_t pctl_utf8_cut(const char *text, size_t at);

#endif
