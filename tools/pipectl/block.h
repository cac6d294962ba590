/* What the verbs of blocks share: ranges of heights, lines of an answer. */
#ifndef PIPECTL_TOOLS_BLOCK_H
#define PIPECTL_TOOLS_BLOCK_H

#include "chain.h"

/* "7" or "3..7"; PC0010. */
pctl_status pctl_app_heights(pctl_app *app, const char *text, uint64_t *from, uint64_t *to);

/* A value as a member of the document, or as a line. */
void pctl_app_print_count(pctl_app *app, const char *name, uint64_t value);
void pctl_app_print_word(pctl_app *app, const char *name, const char *value);

#endif
