/* Allocations of a program linked with --wrap=calloc,--wrap=realloc, of which the one with number fails_at finds no memory. */
#ifndef PIPECTL_TESTS_OPENCL_FAILING_H
#define PIPECTL_TESTS_OPENCL_FAILING_H

#include <stdlib.h>

static long fails_at = -1, n_calls; /* -1: none is counted */

void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static int is_refused(void)
{
	return fails_at >= 0 && n_calls++ == fails_at;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return is_refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return is_refused() ? NULL : __real_realloc(p, n);
}

#endif
