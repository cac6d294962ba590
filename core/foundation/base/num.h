/* Checked unsigned arithmetic, strict number parsing, and numbers as text whatever locale the program has set. */
#ifndef PIPECTL_FOUNDATION_BASE_NUM_H
#define PIPECTL_FOUNDATION_BASE_NUM_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "pipectl/abi.h"

/* 1 and *out, or 0 on overflow (*out is then UINT64_MAX). */
static inline int pctl_num_add(uint64_t a, uint64_t b, uint64_t *out)
{
	if (!__builtin_add_overflow(a, b, out))
		return 1;
	*out = UINT64_MAX;
	return 0;
}
static inline int pctl_num_mul(uint64_t a, uint64_t b, uint64_t *out)
{
	if (!__builtin_mul_overflow(a, b, out))
		return 1;
	*out = UINT64_MAX;
	return 0;
}
static inline uint64_t pctl_num_div_up(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}
/* a rounded up to a multiple of the power of two `align`; the caller knows it cannot overflow. */
static inline uint64_t pctl_num_align(uint64_t a, uint64_t align)
{
	return (a + align - 1) & ~(align - 1);
}

/* 1 when [a, a + n_a) and [b, b + n_b) have something in common; neither sum overflows. */
static inline int pctl_num_overlap(uint64_t a, uint64_t n_a, uint64_t b, uint64_t n_b)
{
	return a < b + n_b && b < a + n_a;
}

/* Parse all of text[0..n): decimal, or 0x hex, digits may be parted by single '_'. 1 on success. */
int pctl_num_parse_u64(const char *text, size_t n, uint64_t *out);
int pctl_num_parse_i64(const char *text, size_t n, int64_t *out);
/* A size: as parse_u64 with an optional suffix K M G T (powers of 1024), optionally followed by iB
 * or B; B alone stands behind decimal digits only (0x1B is 27). */
int pctl_num_parse_bytes(const char *text, size_t n, uint64_t *out);

/* The "C" locale, made once for the process, or 0 where there was no memory for it. A program that uses libpipectl may have set a locale
 * whose decimal point is a comma: what is read, stored or handed out must not change with it. */
locale_t pctl_num_locale(void);
/* strtod, vsnprintf and snprintf in that locale. */
double pctl_num_parse_double(const char *text, char **end);
int pctl_num_vprint(char *out, size_t n, const char *fmt, va_list args);
int pctl_num_print(char *out, size_t n, const char *fmt, ...) PCTL_PRINTF(3, 4);

#endif
