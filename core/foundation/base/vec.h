/* Growable arrays of plain elements, by the pointer the user declares. One allocation, doubled. */
#ifndef PIPECTL_FOUNDATION_BASE_VEC_H
#define PIPECTL_FOUNDATION_BASE_VEC_H

#include <stddef.h>
#include <stdint.h>

/* Make room for one more element of `size` bytes behind *n of *cap; 1 on success, 0 for lack of
 * memory (nothing changed). *items is released with free(). */
int pctl_vec_reserve(void **items, uint32_t n, uint32_t *cap, size_t size);

/* Declare a vector of T as three members, and push by value: 1 on success. */
#define PCTL_VEC(T)              \
	struct {                 \
		T *items;        \
		uint32_t n, cap; \
	}
#define PCTL_VEC_PUSH(v, value)                                                         \
	(pctl_vec_reserve((void **)&(v)->items, (v)->n, &(v)->cap, sizeof(*(v)->items)) \
		 ? ((v)->items[(v)->n++] = (value), 1)                                  \
		 : 0)

#endif
