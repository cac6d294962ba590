/* The arena: a chain of chunks, doubled in size up to a limit, freed together. */
#include "foundation/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"

#define FIRST_CHUNK 4096u
#define LARGEST_CHUNK (1024u * 1024u)
#define ALIGNMENT _Alignof(max_align_t)

struct chunk {
	struct chunk *next;
	size_t cap, used;
	max_align_t data[];
};

struct pctl_arena {
	struct chunk *head;
	size_t next_size;
	int failed;
};

pctl_arena *pctl_arena_create(void)
{
	pctl_arena *a = calloc(1, sizeof(*a));

	if (a != NULL)
		a->next_size = FIRST_CHUNK;
	return a;
}

void pctl_arena_destroy(pctl_arena *a)
{
	if (a == NULL)
		return;
	for (struct chunk *c = a->head, *next; c != NULL; c = next) {
		next = c->next;
		free(c);
	}
	free(a);
}

int pctl_arena_failed(const pctl_arena *a)
{
	return a->failed;
}

void pctl_arena_clear(pctl_arena *a)
{
	struct chunk *kept = NULL, *next;

	for (struct chunk *c = a->head; c != NULL; c = next) {
		next = c->next;
		/* The newest is the largest of those that grew. */
		if (kept == NULL && c->cap <= LARGEST_CHUNK) {
			kept = c;
			continue;
		}
		free(c);
	}
	if (kept != NULL) {
		memset(kept->data, 0, kept->used);
		kept->used = 0;
		kept->next = NULL;
	}
	a->head = kept;
}

static struct chunk *add_chunk(pctl_arena *a, size_t n)
{
	size_t cap = n > a->next_size ? n : a->next_size;
	struct chunk *c;

	if (cap > SIZE_MAX - sizeof(*c))
		return NULL;
	c = calloc(1, sizeof(*c) + cap);
	if (c == NULL)
		return NULL;
	c->cap = cap;
	c->next = a->head;
	a->head = c;
	if (a->next_size < LARGEST_CHUNK)
		a->next_size *= 2;
	return c;
}

void *pctl_arena_alloc(pctl_arena *a, size_t n)
{
	struct chunk *c = a->head;
	void *p;

	if (n > SIZE_MAX - ALIGNMENT)
		return NULL;
	n = (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (c == NULL || c->cap - c->used < n) {
		c = add_chunk(a, n);
		if (c == NULL) {
			a->failed = 1;
			return NULL;
		}
	}
	p = (char *)c->data + c->used;
	c->used += n;
	return p;
}

void *pctl_arena_array(pctl_arena *a, size_t count, size_t size)
{
	size_t n;

	if (__builtin_mul_overflow(count, size, &n))
		return NULL;
	return pctl_arena_alloc(a, n);
}

char *pctl_arena_dup_n(pctl_arena *a, const char *s, size_t n)
{
	char *copy = n < SIZE_MAX ? pctl_arena_alloc(a, n + 1) : NULL;

	if (copy == NULL)
		return NULL;
	if (n != 0)
		memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *pctl_arena_dup(pctl_arena *a, const char *s)
{
	return s == NULL ? NULL : pctl_arena_dup_n(a, s, strlen(s));
}

char *pctl_arena_printf(pctl_arena *a, const char *fmt, ...)
{
	va_list args, again;
	char *out = NULL;
	int n;

	va_start(args, fmt);
	va_copy(again, args);
	n = pctl_num_vprint(NULL, 0, fmt, args);
	if (n >= 0)
		out = pctl_arena_alloc(a, (size_t)n + 1);
	if (out != NULL)
		pctl_num_vprint(out, (size_t)n + 1, fmt, again);
	va_end(again);
	va_end(args);
	return out;
}
