/* A string under construction. Grows as needed; the first lack of memory is remembered and reported
 * by finish. */
#ifndef PIPECTL_FOUNDATION_BASE_STR_H
#define PIPECTL_FOUNDATION_BASE_STR_H

#include <stddef.h>
#include <stdint.h>

typedef struct pctl_str_buf {
	char *data; /* NUL-terminated once anything was added */
	size_t n, cap;
	int failed;
} pctl_str_buf;

#define PCTL_STR_BUF_INIT     \
	{                     \
		NULL, 0, 0, 0 \
	}

void pctl_str_add(pctl_str_buf *s, const char *text);
void pctl_str_add_n(pctl_str_buf *s, const char *text, size_t n);
/* A number in n bytes, at most 8, the most significant first. */
void pctl_str_add_be(pctl_str_buf *s, uint64_t v, uint32_t n);
void pctl_str_addf(pctl_str_buf *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The finished string, released with free(); NULL for lack of memory. The buffer is empty
 * afterwards. */
char *pctl_str_finish(pctl_str_buf *s);
void pctl_str_drop(pctl_str_buf *s);

/* The nearest of n names to `word`: by edit distance, or one that it goes on from (--log of --log-file); NULL: none is near. */
const char *pctl_str_nearest(const char *word, const char *const *names, uint32_t n);

#endif
