/* Orders for qsort and bsearch; see order.h. */
#include "foundation/base/order.h"

#include <stdint.h>
#include <string.h>

int pctl_order_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int pctl_order_u32(const void *a, const void *b)
{
	return PCTL_ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

int pctl_order_u64(const void *a, const void *b)
{
	return PCTL_ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}
