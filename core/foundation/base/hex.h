/* Bytes as hexadecimal digits. What is written is lower case; what stands for bytes is read in lower case alone, so that one
 * value has one spelling. */
#ifndef PIPECTL_FOUNDATION_BASE_HEX_H
#define PIPECTL_FOUNDATION_BASE_HEX_H

#include <stddef.h>
#include <stdint.h>

#include "foundation/base/str.h"

/* The value of a digit of either case, -1 for anything else. */
int pctl_hex_digit(char c);
/* 2 * n digits and a NUL; returns out. */
char *pctl_hex_print(const void *bytes, size_t n, char *out);
/* The same, last byte first: an element of a little-endian array as a number. */
char *pctl_hex_print_number(const void *bytes, size_t n, char *out);
void pctl_hex_add(pctl_str_buf *s, const void *bytes, size_t n);
/* The n bytes that the 2 * n lower-case digits at text stand for, whatever follows them; 0, with out zeroed, when others
 * stand there. Nothing behind the first wrong one is read. */
int pctl_hex_parse(const char *text, size_t n, void *out);
/* 1 when text is n lower-case digits and nothing else. */
int pctl_hex_is(const char *text, size_t n);

#endif
