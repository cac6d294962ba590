/* Text that comes from a plugin: a claim of a stranger, which passes here before anybody prints or stores it. It comes out
 * as valid UTF-8 on one line, bounded, and stamped with the id of the plugin that said it. */
#ifndef PIPECTL_RUNTIME_IPC_WORDS_H
#define PIPECTL_RUNTIME_IPC_WORDS_H

#include <stddef.h>

#include "pipectl/host.h"

#define PCTL_WORDS_BYTES \
	1024u /* the longest text that is kept, with its NUL; longer ones end in "..." */

/* 1 when a field of `size` bytes is terminated and holds UTF-8. */
int pctl_words_valid(const char *field, size_t size);

/* A NUL-terminated text made presentable: bytes that are no UTF-8 become U+FFFD; control characters, line and paragraph
 * separators and those that turn the direction of writing become \xHH or \u{HHHH}. size: of out, at least 16. out: may
 * not overlap. */
void pctl_words_clean(const char *text, char *out, size_t size);

/* Pass on what plugin `id` said: cleaned, stamped with `id` whatever it says itself, with a code that exists (PC3119) and
 * at most eight notes. A message of which nothing can be seen is none: nothing is passed on. */
void pctl_words_emit(const char *id, const pctl_diag *d, const pctl_call *call);

#endif
