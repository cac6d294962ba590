/* Growth of a payload under construction; see wire.h. */
#include "runtime/ipc/wire.h"

#include <stdlib.h>

int pctl_ipc_reserve(pctl_ipc_out *o, size_t n)
{
	size_t need, cap;
	uint8_t *data;

	if (o->failed || __builtin_add_overflow(o->n, n, &need)) {
		o->failed = 1;
		return 0;
	}
	if (need <= o->cap)
		return 1;
	cap = o->cap ? o->cap : 256;
	while (cap < need) {
		if (__builtin_mul_overflow(cap, (size_t)2, &cap)) {
			o->failed = 1;
			return 0;
		}
	}
	data = realloc(o->data, cap);
	if (!data) {
		o->failed = 1;
		return 0;
	}
	o->data = data;
	o->cap = cap;
	return 1;
}

void pctl_ipc_out_drop(pctl_ipc_out *o)
{
	free(o->data);
	memset(o, 0, sizeof(*o));
}
