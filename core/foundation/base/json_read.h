/* Texts of others that are to be JSON, looked at before an easy-going reader (cJSON) sees them, which takes numbers with leading zeros,
 * control characters and other blanks, ends strings at U+0000 and minds nothing that stands behind. */
#ifndef PIPECTL_FOUNDATION_BASE_JSON_READ_H
#define PIPECTL_FOUNDATION_BASE_JSON_READ_H

#include <stddef.h>

#define PCTL_JSON_DEPTH_MAX 512u /* objects and lists in each other */

/* 1: text[0..n) is one document as RFC 8259 has it, of UTF-8, in which no string holds U+0000 or half a pair of surrogates. 0: *at is the
 * byte at which it is none, *why says it in words, "this is no JSON". Names that stand twice in an object are the caller's affair. */
int pctl_json_good(const char *text, size_t n, size_t *at, const char **why);

#endif
