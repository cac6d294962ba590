/* A growing string for generated source. The first lack of memory is remembered; the writer goes
 * on. */
#ifndef PCTL_OPENCL_TEXT_H
#define PCTL_OPENCL_TEXT_H

#include <stddef.h>

#include "pipectl/abi.h"

typedef struct text {
	char *s; /* NUL-terminated once anything was written, else NULL */
	size_t n;
	size_t capacity;
	int no_memory;
} text;

void text_add(text *t, const char *s);
void text_addn(text *t, const char *s, size_t n);
void text_printf(text *t, const char *fmt, ...) PCTL_PRINTF(2, 3);
/* Make it empty and keep the memory. */
void text_clear(text *t);
/* Back to its first n characters. */
void text_cut(text *t, size_t n);
void text_free(text *t);
/* What was written; "" when nothing was. */
const char *text_str(const text *t);

#endif
