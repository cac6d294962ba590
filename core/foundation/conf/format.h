/* The canonical layout of a configuration text: two blanks a level, one setting a line, comments where they stood. What was
 * written on one line stays on one line while it fits. */
#ifndef PIPECTL_FOUNDATION_CONF_FORMAT_H
#define PIPECTL_FOUNDATION_CONF_FORMAT_H

#include <stddef.h>

#include "pipectl/host.h"

#define PCTL_CONF_FORMAT_COLUMNS 100u

/*
 * Lay out n bytes. `name` stands in positions. Includes stay as they are and are not read. The result is released with free();
 * it has the values of the text, which is looked at before it is handed out, every comment, and is its own canonical layout.
 *
 * Errors: those of pctl_conf_read_text; PC1026 for an @include inside a setting; PC0001 when the look finds a difference.
 */
pctl_status pctl_conf_format(const char *name, const char *text, size_t n, const pctl_call *call,
			     char **out, size_t *n_out);

#endif
