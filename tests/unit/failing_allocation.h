/* An allocation that fails, for a test that is linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc. Included by one
 * file of it. */
#ifndef PCTL_TESTS_FAILING_ALLOCATION_H
#define PCTL_TESTS_FAILING_ALLOCATION_H

#include <stdint.h>
#include <stdlib.h>

/* The allocation that fails, alone, counted from 1 since it was set: what goes wrong then is not covered by those behind
 * it. 0: none does. Once it failed, 0 again. */
static uint32_t failing_allocation;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static int allocation_fails(void)
{
	return failing_allocation != 0 && --failing_allocation == 0;
}

void *__wrap_malloc(size_t n)
{
	return allocation_fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return allocation_fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return allocation_fails() ? NULL : __real_realloc(p, n);
}

#endif
