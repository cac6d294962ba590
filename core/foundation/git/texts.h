/* The texts a pipeline consists of (its file, what it includes, its shaders), each read once and kept: what was checked,
 * described, signed and run are then the same bytes, whatever happens to the files. */
#ifndef PIPECTL_FOUNDATION_GIT_TEXTS_H
#define PIPECTL_FOUNDATION_GIT_TEXTS_H

#include "foundation/base/vfs.h"

#define PCTL_TEXTS_MAX 4096u

typedef struct pctl_texts pctl_texts;

/* `under`: where texts come from, NULL: files; it outlives this. NULL: no memory. */
pctl_texts *pctl_texts_create(const pctl_vfs *under);
void pctl_texts_destroy(pctl_texts *t);

/* A virtual file system that keeps what is read through it. A text that was read before is given again from memory.
 * Errors: those below, and PC6006 for more than PCTL_TEXTS_MAX texts. */
const pctl_vfs *pctl_texts_vfs(const pctl_texts *t);

/* In the order of the first reading. */
uint32_t pctl_texts_count(const pctl_texts *t);
const char *pctl_texts_name(const pctl_texts *t, uint32_t i);
const char *pctl_texts_bytes(const pctl_texts *t, uint32_t i, uint64_t *n_out);

/* Name of the i-th text as seen from the folder of the first, with "." and ".." taken out: the same wherever the files
 * lie. Released with free(); NULL: no memory. */
char *pctl_texts_relative(const pctl_texts *t, uint32_t i);
/* `path` as seen from the folder of the file `base`; both plain. */
char *pctl_texts_from_folder(const char *base, const char *path);

#endif
