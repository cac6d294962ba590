/* The growing string of text.h. Knows nothing of OpenCL. */
#include "clc/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int reserve(text *t, size_t more)
{
	size_t capacity = t->capacity ? t->capacity : 256;
	char *s;

	if (t->no_memory)
		return 0;
	if (more < t->capacity - t->n)
		return 1;
	while (capacity - t->n <= more) {
		if (capacity > SIZE_MAX / 2) {
			t->no_memory = 1;
			return 0;
		}
		capacity *= 2;
	}
	s = realloc(t->s, capacity);
	if (!s) {
		t->no_memory = 1;
		return 0;
	}
	t->s = s;
	t->capacity = capacity;
	return 1;
}

void text_addn(text *t, const char *s, size_t n)
{
	if (!reserve(t, n))
		return;
	memcpy(t->s + t->n, s, n);
	t->n += n;
	t->s[t->n] = '\0';
}

void text_add(text *t, const char *s)
{
	text_addn(t, s, strlen(s));
}

void text_printf(text *t, const char *fmt, ...)
{
	char small[256];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(small, sizeof(small), fmt, args);
	va_end(args);
	if (n < 0)
		return;
	if ((size_t)n < sizeof(small)) {
		text_addn(t, small, (size_t)n);
		return;
	}
	if (!reserve(t, (size_t)n))
		return;
	va_start(args, fmt);
	vsnprintf(t->s + t->n, (size_t)n + 1, fmt, args);
	va_end(args);
	t->n += (size_t)n;
}

void text_clear(text *t)
{
	t->n = 0;
	if (t->s)
		t->s[0] = '\0';
}

void text_cut(text *t, size_t n)
{
	if (t->s && n <= t->n) {
		t->n = n;
		t->s[n] = '\0';
	}
}

void text_free(text *t)
{
	free(t->s);
	*t = (text){0};
}

const char *text_str(const text *t)
{
	return t->s ? t->s : "";
}
