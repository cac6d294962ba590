/* An arena: memory that is freed all at once. Allocation never returns NULL except for lack of
 * memory. */
#ifndef PIPECTL_FOUNDATION_BASE_ARENA_H
#define PIPECTL_FOUNDATION_BASE_ARENA_H

#include <stddef.h>

typedef struct pctl_arena pctl_arena;

/* NULL when memory is short. destroy(NULL) is fine. */
pctl_arena *pctl_arena_create(void);
void pctl_arena_destroy(pctl_arena *a);
/* Take back all that was given; some memory is kept for what comes next. */
void pctl_arena_clear(pctl_arena *a);

/* 1: memory was short at least once. */
int pctl_arena_failed(const pctl_arena *a);

/* n bytes, zeroed, aligned for any object; n = 0 gives a valid pointer. NULL: no memory. */
void *pctl_arena_alloc(pctl_arena *a, size_t n);
/* The same for count elements of `size` bytes, overflow checked. */
void *pctl_arena_array(pctl_arena *a, size_t count, size_t size);
/* Copies that live in the arena. dup of NULL is NULL. */
char *pctl_arena_dup(pctl_arena *a, const char *s);
char *pctl_arena_dup_n(pctl_arena *a, const char *s, size_t n);
/* printf into the arena. */
char *pctl_arena_printf(pctl_arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
