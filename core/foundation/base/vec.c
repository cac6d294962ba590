/* Growable arrays; see vec.h. */
#include "foundation/base/vec.h"

#include <stdlib.h>

int pctl_vec_reserve(void **items, uint32_t n, uint32_t *cap, size_t size)
{
	uint32_t want;
	size_t bytes;
	void *grown;

	if (n < *cap)
		return 1;
	if (*cap > UINT32_MAX / 2)
		return 0;
	want = *cap == 0 ? 8 : *cap * 2;
	if (__builtin_mul_overflow((size_t)want, size, &bytes))
		return 0;
	grown = realloc(*items, bytes);
	if (grown == NULL)
		return 0;
	*items = grown;
	*cap = want;
	return 1;
}
